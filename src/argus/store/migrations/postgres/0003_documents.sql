-- What a part keeps of its own things, as that part writes it: agents, requests to stop.
-- `live` is what the part still works with; the rest is kept to be known again (tombstones), and never pruned.
CREATE TABLE argus.documents (
    domain TEXT NOT NULL,
    id     TEXT NOT NULL,
    live   BOOLEAN NOT NULL,
    data   TEXT NOT NULL,
    PRIMARY KEY (domain, id)
);
CREATE INDEX documents_live ON argus.documents (domain) WHERE live;

-- Something that may be done once, whoever does it. Never pruned.
CREATE TABLE argus.claims (key TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL);
