CREATE SCHEMA argus;
CREATE TABLE argus.acts (
    n bigint NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    boot_id text NOT NULL,
    boot double precision NOT NULL,
    wall double precision NOT NULL,
    incident text,
    intent text NOT NULL,
    outcome text,
    ended double precision,
    detail text NOT NULL
);
ALTER TABLE argus.acts ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME argus.acts_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE argus.claims (
    key text NOT NULL,
    at double precision NOT NULL
);
CREATE TABLE argus.conditions (
    domain text NOT NULL,
    subject text NOT NULL,
    state text NOT NULL,
    since double precision NOT NULL
);
CREATE TABLE argus.cursors (
    name text NOT NULL,
    n bigint NOT NULL,
    sending bigint NOT NULL
);
CREATE TABLE argus.documents (
    domain text NOT NULL,
    id text NOT NULL,
    live boolean NOT NULL,
    data text NOT NULL
);
CREATE TABLE argus.incidents (
    n bigint NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    opened double precision NOT NULL,
    closed double precision,
    cause text NOT NULL,
    data text NOT NULL
);
ALTER TABLE argus.incidents ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME argus.incidents_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE argus.journal (
    n bigint NOT NULL,
    "timestamp" bigint NOT NULL,
    channel text NOT NULL,
    type text NOT NULL,
    subject text NOT NULL,
    incident text,
    data text NOT NULL
);
ALTER TABLE argus.journal ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME argus.journal_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE argus.settings (
    key text NOT NULL,
    value text NOT NULL
);
CREATE TABLE argus.tallies (
    span bigint NOT NULL,
    start bigint NOT NULL,
    domain text NOT NULL,
    subject text NOT NULL,
    up bigint NOT NULL,
    degraded bigint NOT NULL,
    down bigint NOT NULL,
    unknown bigint NOT NULL,
    timed bigint NOT NULL,
    latency double precision NOT NULL,
    slowest double precision NOT NULL
);
CREATE TABLE argus.version (
    version integer NOT NULL
);
INSERT INTO argus.acts OVERRIDING SYSTEM VALUE VALUES (1, 'a-closed', 'restart_service', 'api', '7c1f', 5011, 1790000011, 'i-over', '{"action":"command","command":["/opt/api/restart.sh","--now"]}', 'recovered', 1790000095.5, '{"exit":0,"output":"started\n"}');
INSERT INTO argus.acts OVERRIDING SYSTEM VALUE VALUES (2, 'a-open', 'restart_service', 'datenbank-ü', '7c1f', 5201, 1790000201, 'i-open', '{"action":"command","command":["/opt/api/restart.sh","--now"]}', NULL, NULL, '{}');
INSERT INTO argus.claims VALUES ('coder:2', 1790000020);
INSERT INTO argus.conditions VALUES ('services', 'api', 'up', 1790000095.5);
INSERT INTO argus.conditions VALUES ('services', 'datenbank-ü', 'down', 1790000200);
INSERT INTO argus.conditions VALUES ('agents', 'green', 'working', 1790000001);
INSERT INTO argus.cursors VALUES ('notify:json-1a2b3c4d', 3, 0);
INSERT INTO argus.cursors VALUES ('notify:ntfy-99aa88bb', 2, 3);
INSERT INTO argus.documents VALUES ('agents', 'team-green001', true, '{"task":"SEC-1: ''quoted'' \u00fc","generation":1}');
INSERT INTO argus.documents VALUES ('agents', 'team-green000', false, '{"task":""}');
INSERT INTO argus.incidents OVERRIDING SYSTEM VALUE VALUES (1, 'i-over', 'outage', 'api', 1790000010, 1790000095.5, 'connection refused', '{"restarts":1,"told":true}');
INSERT INTO argus.incidents OVERRIDING SYSTEM VALUE VALUES (2, 'i-open', 'outage', 'datenbank-ü', 1790000200, NULL, 'timeout', '{"restarts":1,"gate":null}');
INSERT INTO argus.incidents OVERRIDING SYSTEM VALUE VALUES (3, 'i-event', 'infrastructure_event', '', 1790000300, 1790000400, '3 at once', '{"services":["a","b"]}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (1, 1790000000000, 'system', 'argus_started', '', NULL, '{"version":"0.1.0","pid":4711,"services":["api"]}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (2, 1790000001000, 'services', 'service_down', 'api', 'i-over', '{"service":"api","incident":"i-over","cause":"connection refused","failures":3}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (3, 1790000002000, 'services', 'restart_started', 'api', 'i-over', '{"service":"api","incident":"i-over","act":"a-closed"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (4, 1790000003000, 'services', 'service_recovered', 'api', 'i-over', '{"service":"api","incident":"i-over","seconds":85.5}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (5, 1790000004000, 'services', 'service_down', 'datenbank-ü', 'i-open', '{"service":"datenbank-\u00fc","incident":"i-open","cause":"\u2028 ''quoted'' \"twice\" \u0000; -- $$"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (6, 1790000005000, 'services', 'restart_started', 'datenbank-ü', 'i-open', '{"service":"datenbank-\u00fc","incident":"i-open","act":"a-open"}');
INSERT INTO argus.settings VALUES ('journal.pruned', '0');
INSERT INTO argus.settings VALUES ('epoch', '"5eed5eed"');
INSERT INTO argus.settings VALUES ('autonomy', '{"level":"moderate","by":"cli"}');
INSERT INTO argus.settings VALUES ('services.pauses', '{"api":1790003600.0}');
INSERT INTO argus.settings VALUES ('odd', '"\u0000\ud800"');
INSERT INTO argus.tallies VALUES (3600, 1789999200, 'services', 'api', 55, 2, 3, 0, 57, 1.5, 0.25);
INSERT INTO argus.tallies VALUES (86400, 1789948800, 'services', 'api', 55, 2, 3, 0, 57, 1.5, 0.25);
INSERT INTO argus.tallies VALUES (3600, 1789999200, 'services', 'datenbank-ü', 0, 0, 60, 1, 0, 0, 0);
INSERT INTO argus.version VALUES (3);
SELECT pg_catalog.setval('argus.acts_n_seq', 2, true);
SELECT pg_catalog.setval('argus.incidents_n_seq', 3, true);
SELECT pg_catalog.setval('argus.journal_n_seq', 6, true);
ALTER TABLE ONLY argus.acts
    ADD CONSTRAINT acts_id_key UNIQUE (id);
ALTER TABLE ONLY argus.acts
    ADD CONSTRAINT acts_pkey PRIMARY KEY (n);
ALTER TABLE ONLY argus.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (key);
ALTER TABLE ONLY argus.conditions
    ADD CONSTRAINT conditions_pkey PRIMARY KEY (domain, subject);
ALTER TABLE ONLY argus.cursors
    ADD CONSTRAINT cursors_pkey PRIMARY KEY (name);
ALTER TABLE ONLY argus.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (domain, id);
ALTER TABLE ONLY argus.incidents
    ADD CONSTRAINT incidents_id_key UNIQUE (id);
ALTER TABLE ONLY argus.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (n);
ALTER TABLE ONLY argus.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (n);
ALTER TABLE ONLY argus.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);
ALTER TABLE ONLY argus.tallies
    ADD CONSTRAINT tallies_pkey PRIMARY KEY (span, start, domain, subject);
CREATE INDEX acts_kind ON argus.acts USING btree (kind, n);
CREATE INDEX acts_open ON argus.acts USING btree (n) WHERE (outcome IS NULL);
CREATE INDEX documents_live ON argus.documents USING btree (domain) WHERE live;
CREATE INDEX incidents_open ON argus.incidents USING btree (n) WHERE (closed IS NULL);
CREATE INDEX journal_incident ON argus.journal USING btree (md5(incident), n) WHERE (incident IS NOT NULL);
