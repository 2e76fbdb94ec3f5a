-- Up to which number the journal was pruned. What lies below belongs to open incidents, and is read as their story only.
INSERT INTO settings (key, value) VALUES ('journal.pruned', '0');

-- What checks saw, counted in buckets of `span` seconds. In the order in which they are written, summed up and pruned.
CREATE TABLE tallies (
    span     INTEGER NOT NULL,
    start    INTEGER NOT NULL,
    domain   TEXT NOT NULL,
    subject  TEXT NOT NULL,
    up       INTEGER NOT NULL,
    degraded INTEGER NOT NULL,
    down     INTEGER NOT NULL,
    unknown  INTEGER NOT NULL,
    timed    INTEGER NOT NULL,
    latency  REAL NOT NULL,
    slowest  REAL NOT NULL,
    PRIMARY KEY (span, start, domain, subject)
) WITHOUT ROWID;
