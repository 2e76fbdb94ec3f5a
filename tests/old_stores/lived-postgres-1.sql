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
CREATE TABLE argus.version (
    version integer NOT NULL
);
INSERT INTO argus.acts OVERRIDING SYSTEM VALUE VALUES (1, '5f6bced589e6', 'restart_service', 'web', '6550908e-99b2-4dff-93c3-ca594a4aeb78', 84261.601927668, 1794818369.0883644, '3843f9c1571f', '{"target":"web"}', 'recovered', 1794818369.622339, '{"exitCode":0,"problem":"","output":"","seconds":0.027,"state":"up","detail":"HTTP 200"}');
INSERT INTO argus.conditions VALUES ('services', 'database', 'down', 1794818368.4878256);
INSERT INTO argus.conditions VALUES ('services', 'paused', 'down', 1794818368.5865912);
INSERT INTO argus.conditions VALUES ('services', 'web', 'up', 1794818369.6221905);
INSERT INTO argus.incidents OVERRIDING SYSTEM VALUE VALUES (1, 'f80eceb7f45f', 'service_outage', 'database', 1794818368.4882812, NULL, 'connection refused', '{"restarts":0,"gate":"no restart configured","told":true,"escalated":false}');
INSERT INTO argus.incidents OVERRIDING SYSTEM VALUE VALUES (2, 'e9bf65f5a705', 'service_outage', 'paused', 1794818368.5868332, NULL, 'connection refused', '{"restarts":0,"gate":"maintenance","told":false,"escalated":false}');
INSERT INTO argus.incidents OVERRIDING SYSTEM VALUE VALUES (3, '3843f9c1571f', 'service_outage', 'web', 1794818369.0880845, 1794818369.6224182, 'connection refused', '{"restarts":1,"gate":null,"told":true,"escalated":false}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (1, 1794818368007, 'system', 'argus_started', '', NULL, '{"version":"0.1.0","pid":12847,"services":["database","paused","web"],"config":"/tmp/argus-lived/argus.yaml"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (2, 1794818368015, 'services', 'state_changed', 'web', NULL, '{"service":"web","from":null,"to":"up","detail":"HTTP 200"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (3, 1794818368149, 'services', 'service_paused', 'paused', NULL, '{"service":"paused","by":"cli","until":"2036-11-13T08:39:28.149Z"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (4, 1794818368228, 'system', 'autonomy_changed', '', NULL, '{"from":"observe","to":"moderate","by":"cli"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (5, 1794818368488, 'services', 'service_down', 'database', 'f80eceb7f45f', '{"service":"database","failures":3,"lastCheck":"2026-11-16T08:39:28.487Z","lastCheckAt":1794818368487,"place":"Port 1","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"none","gate":"no restart configured","hint":"no restart is configured for database","incident":"f80eceb7f45f","told":true}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (6, 1794818368587, 'services', 'service_down', 'paused', 'e9bf65f5a705', '{"service":"paused","failures":3,"lastCheck":"2026-11-16T08:39:28.586Z","lastCheckAt":1794818368586,"place":"Port 1","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"none","gate":"maintenance","hint":"paused; argus services resume paused ends that","incident":"e9bf65f5a705","told":false}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (7, 1794818369088, 'services', 'service_down', 'web', '3843f9c1571f', '{"service":"web","failures":3,"lastCheck":"2026-11-16T08:39:29.087Z","lastCheckAt":1794818369087,"place":"Port 23389","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"restart","target":"web","incident":"3843f9c1571f","told":true}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (8, 1794818369088, 'services', 'restart_started', 'web', '3843f9c1571f', '{"service":"web","act":"5f6bced589e6","incident":"3843f9c1571f","by":"argus","target":"web"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (9, 1794818369622, 'services', 'restart_finished', 'web', '3843f9c1571f', '{"service":"web","act":"5f6bced589e6","incident":"3843f9c1571f","outcome":"recovered","exitCode":0,"problem":"","output":"","seconds":0.027,"state":"up","detail":"HTTP 200"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (10, 1794818369622, 'services', 'service_recovered', 'web', '3843f9c1571f', '{"service":"web","incident":"3843f9c1571f","downSeconds":0.534,"restarted":true,"told":true}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (11, 1794818369765, 'services', 'service_paused', 'web', NULL, '{"service":"web","by":"cli","until":"2036-11-13T08:39:29.765Z"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (12, 1794818369980, 'system', 'argus_stopped', '', NULL, '{"pid":12847}');
INSERT INTO argus.settings VALUES ('epoch', '"d3419a1d"');
INSERT INTO argus.settings VALUES ('autonomy', '{"level":"moderate","file":"observe"}');
INSERT INTO argus.settings VALUES ('services.paused', '{"paused":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84260.663053047,"wall":1794818368.1494906,"seconds":315360000.0},"web":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84262.278949981,"wall":1794818369.765387,"seconds":315360000.0}}');
INSERT INTO argus.version VALUES (1);
SELECT pg_catalog.setval('argus.acts_n_seq', 1, true);
SELECT pg_catalog.setval('argus.incidents_n_seq', 4, true);
SELECT pg_catalog.setval('argus.journal_n_seq', 12, true);
ALTER TABLE ONLY argus.acts
    ADD CONSTRAINT acts_id_key UNIQUE (id);
ALTER TABLE ONLY argus.acts
    ADD CONSTRAINT acts_pkey PRIMARY KEY (n);
ALTER TABLE ONLY argus.conditions
    ADD CONSTRAINT conditions_pkey PRIMARY KEY (domain, subject);
ALTER TABLE ONLY argus.cursors
    ADD CONSTRAINT cursors_pkey PRIMARY KEY (name);
ALTER TABLE ONLY argus.incidents
    ADD CONSTRAINT incidents_id_key UNIQUE (id);
ALTER TABLE ONLY argus.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (n);
ALTER TABLE ONLY argus.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (n);
ALTER TABLE ONLY argus.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);
CREATE INDEX acts_kind ON argus.acts USING btree (kind, n);
CREATE INDEX acts_open ON argus.acts USING btree (n) WHERE (outcome IS NULL);
CREATE INDEX incidents_open ON argus.incidents USING btree (n) WHERE (closed IS NULL);
CREATE INDEX journal_incident ON argus.journal USING btree (md5(incident), n) WHERE (incident IS NOT NULL);
