-- The journal: changes of state, intents, outcomes, commands and deliveries; never single checks or beats.
CREATE TABLE journal (
    n         INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER NOT NULL,
    channel   TEXT NOT NULL,
    type      TEXT NOT NULL,
    subject   TEXT NOT NULL,
    incident  TEXT,
    data      TEXT NOT NULL
);
CREATE INDEX journal_incident ON journal (incident, n) WHERE incident IS NOT NULL;

-- Acts stand apart from the journal, so that its retention cannot refill a budget.
CREATE TABLE acts (
    n        INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT NOT NULL UNIQUE,
    kind     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    boot_id  TEXT NOT NULL,
    boot     REAL NOT NULL,
    wall     REAL NOT NULL,
    incident TEXT,
    intent   TEXT NOT NULL,
    outcome  TEXT,
    ended    REAL,
    detail   TEXT NOT NULL
);
CREATE INDEX acts_open ON acts (n) WHERE outcome IS NULL;
CREATE INDEX acts_kind ON acts (kind, n);

CREATE TABLE incidents (
    n       INTEGER PRIMARY KEY AUTOINCREMENT,
    id      TEXT NOT NULL UNIQUE,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    opened  REAL NOT NULL,
    closed  REAL,
    cause   TEXT NOT NULL,
    data    TEXT NOT NULL
);
CREATE INDEX incidents_open ON incidents (n) WHERE closed IS NULL;

CREATE TABLE conditions (
    domain  TEXT NOT NULL,
    subject TEXT NOT NULL,
    state   TEXT NOT NULL,
    since   REAL NOT NULL,
    PRIMARY KEY (domain, subject)
);

CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE cursors (name TEXT PRIMARY KEY, n INTEGER NOT NULL, sending INTEGER NOT NULL);
