-- The same tables as in SQLite, in a schema of their own: the database may hold other things.
-- JSON is kept as text: PostgreSQL's own types refuse what JSON in Python may hold (\u0000, half characters, Infinity).

-- The journal: changes of state, intents, outcomes, commands and deliveries; never single checks or beats.
CREATE TABLE argus.journal (
    n         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    timestamp BIGINT NOT NULL,
    channel   TEXT NOT NULL,
    type      TEXT NOT NULL,
    subject   TEXT NOT NULL,
    incident  TEXT,
    data      TEXT NOT NULL
);
-- Where an incident's name is very long, an index over the name itself would refuse the row.
CREATE INDEX journal_incident ON argus.journal (md5(incident), n) WHERE incident IS NOT NULL;

-- Acts stand apart from the journal, so that its retention cannot refill a budget.
CREATE TABLE argus.acts (
    n        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    kind     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    boot_id  TEXT NOT NULL,
    boot     DOUBLE PRECISION NOT NULL,
    wall     DOUBLE PRECISION NOT NULL,
    incident TEXT,
    intent   TEXT NOT NULL,
    outcome  TEXT,
    ended    DOUBLE PRECISION,
    detail   TEXT NOT NULL
);
CREATE INDEX acts_open ON argus.acts (n) WHERE outcome IS NULL;
CREATE INDEX acts_kind ON argus.acts (kind, n);

CREATE TABLE argus.incidents (
    n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    opened  DOUBLE PRECISION NOT NULL,
    closed  DOUBLE PRECISION,
    cause   TEXT NOT NULL,
    data    TEXT NOT NULL
);
CREATE INDEX incidents_open ON argus.incidents (n) WHERE closed IS NULL;

CREATE TABLE argus.conditions (
    domain  TEXT NOT NULL,
    subject TEXT NOT NULL,
    state   TEXT NOT NULL,
    since   DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (domain, subject)
);

CREATE TABLE argus.settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE argus.cursors (name TEXT PRIMARY KEY, n BIGINT NOT NULL, sending BIGINT NOT NULL);
