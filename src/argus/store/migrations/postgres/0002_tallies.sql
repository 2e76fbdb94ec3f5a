-- Up to which number the journal was pruned. What lies below belongs to open incidents, and is read as their story only.
INSERT INTO argus.settings (key, value) VALUES ('journal.pruned', '0');

-- What checks saw, counted in buckets of `span` seconds. In the order in which they are written, summed up and pruned.
CREATE TABLE argus.tallies (
    span     BIGINT NOT NULL,
    start    BIGINT NOT NULL,
    domain   TEXT NOT NULL,
    subject  TEXT NOT NULL,
    up       BIGINT NOT NULL,
    degraded BIGINT NOT NULL,
    down     BIGINT NOT NULL,
    unknown  BIGINT NOT NULL,
    timed    BIGINT NOT NULL,
    latency  DOUBLE PRECISION NOT NULL,
    slowest  DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (span, start, domain, subject)
);
