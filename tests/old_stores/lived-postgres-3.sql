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
INSERT INTO argus.acts OVERRIDING SYSTEM VALUE VALUES (1, '4d3b95dcd59d', 'restart_service', 'web', '6550908e-99b2-4dff-93c3-ca594a4aeb78', 84273.001218842, 1794818380.487655, '301b5b0d4726', '{"target":"web","timeout":60.0}', 'recovered', 1794818381.0294821, '{"exitCode":0,"problem":"","output":"","seconds":0.036,"state":"up","detail":"HTTP 200"}');
INSERT INTO argus.acts OVERRIDING SYSTEM VALUE VALUES (2, '5284bab6fcac', 'spawn_agent', 'team-sntgreen001', '6550908e-99b2-4dff-93c3-ca594a4aeb78', 84273.644537207, 1794818381.1309748, NULL, '{"agent":"team-sntgreen001","generation":1,"host":"vm","boot":"6550908e-99b2-4dff-93c3-ca594a4aeb78","space":"pid:[4026531836]"}', 'started', 1794818381.1526985, '{"pid":"12999"}');
INSERT INTO argus.acts OVERRIDING SYSTEM VALUE VALUES (3, '288b74cace9b', 'stop_agent', 'team-sntgreen001', '6550908e-99b2-4dff-93c3-ca594a4aeb78', 84273.77133733, 1794818381.2577748, NULL, '{"agent":"team-sntgreen001"}', 'signalled', 1794818381.2626941, '{}');
INSERT INTO argus.claims VALUES ('agent:team-sntgreen001:1', 1794818381.1309748);
INSERT INTO argus.conditions VALUES ('services', 'database', 'down', 1794818379.9876182);
INSERT INTO argus.conditions VALUES ('services', 'paused', 'down', 1794818379.987721);
INSERT INTO argus.conditions VALUES ('services', 'web', 'up', 1794818381.0293183);
INSERT INTO argus.documents VALUES ('agents', 'team-sntgreen001', false, '{"id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"state":"removed","since":1794818381.2703583,"born":1794818381.1309748,"origin":"daemon","config":"SNTGreen","project":"/tmp/argus-lived","folder":"","task":"SEC-1: make a key","status":"","doing":"","session":"","resumes":false,"process":{"host":"vm","boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","pid":12999,"started":"8427366","space":"pid:[4026531836]","shim_pid":12998,"shim_started":"8427365"},"seen":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84273.666143552,"wall":1794818381.1525815},"spawned":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84273.666143552,"wall":1794818381.1525815},"nonce":"024bc450f839","died":null,"wait":0.0,"tries":0,"waited":0.0,"stop":"shutdown_requested","gate":"","escalated":false,"exit_status":null,"reason":"shutdown_requested","terminal":null,"warned":false}');
INSERT INTO argus.incidents OVERRIDING SYSTEM VALUE VALUES (1, 'bb416ebbe0e5', 'service_outage', 'database', 1794818379.987953, NULL, 'connection refused', '{"restarts":0,"restarted":false,"gate":"no restart configured","told":true,"escalated":false}');
INSERT INTO argus.incidents OVERRIDING SYSTEM VALUE VALUES (2, 'fd0ae19c76f4', 'service_outage', 'paused', 1794818379.9912217, NULL, 'connection refused', '{"restarts":0,"restarted":false,"gate":"maintenance","told":false,"escalated":false}');
INSERT INTO argus.incidents OVERRIDING SYSTEM VALUE VALUES (3, '301b5b0d4726', 'service_outage', 'web', 1794818380.4874249, 1794818381.0295897, 'connection refused', '{"restarts":1,"restarted":true,"gate":null,"told":true,"escalated":false}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (1, 1794818379466, 'system', 'argus_started', '', NULL, '{"version":"0.1.0","pid":12939,"services":["database","paused","web"],"config":"/tmp/argus-lived/argus.yaml"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (2, 1794818379509, 'services', 'state_changed', 'web', NULL, '{"service":"web","from":null,"to":"up","detail":"HTTP 200"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (3, 1794818379636, 'services', 'service_paused', 'paused', NULL, '{"service":"paused","by":"cli","until":"2036-11-13T08:39:39.636Z"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (4, 1794818379720, 'system', 'autonomy_changed', '', NULL, '{"from":"observe","to":"moderate","by":"cli"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (5, 1794818379988, 'services', 'service_down', 'database', 'bb416ebbe0e5', '{"service":"database","failures":3,"lastCheck":"2026-11-16T08:39:39.987Z","lastCheckAt":1794818379987,"place":"Port 1","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"none","gate":"no restart configured","hint":"no restart is configured for database","incident":"bb416ebbe0e5","told":true}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (6, 1794818379991, 'services', 'service_down', 'paused', 'fd0ae19c76f4', '{"service":"paused","failures":3,"lastCheck":"2026-11-16T08:39:39.987Z","lastCheckAt":1794818379987,"place":"Port 1","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"none","gate":"maintenance","hint":"in maintenance; argus services resume paused ends a pause","incident":"fd0ae19c76f4","told":false}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (7, 1794818380487, 'services', 'service_down', 'web', '301b5b0d4726', '{"service":"web","failures":3,"lastCheck":"2026-11-16T08:39:40.487Z","lastCheckAt":1794818380487,"place":"Port 29512","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"restart","target":"web","incident":"301b5b0d4726","told":true}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (8, 1794818380487, 'services', 'restart_started', 'web', '301b5b0d4726', '{"service":"web","act":"4d3b95dcd59d","incident":"301b5b0d4726","by":"argus","target":"web","timeout":60.0}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (9, 1794818381029, 'services', 'restart_finished', 'web', '301b5b0d4726', '{"service":"web","act":"4d3b95dcd59d","incident":"301b5b0d4726","outcome":"recovered","exitCode":0,"problem":"","output":"","seconds":0.036,"state":"up","detail":"HTTP 200"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (10, 1794818381029, 'services', 'service_recovered', 'web', '301b5b0d4726', '{"service":"web","incident":"301b5b0d4726","downSeconds":0.542,"restarted":true,"told":true}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (11, 1794818381131, 'agents', 'spawn_started', 'team-sntgreen001', NULL, '{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"spawning","act":"5284bab6fcac","by":"cli","project_path":"/tmp/argus-lived"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (12, 1794818381152, 'agents', 'agent_spawned', 'team-sntgreen001', NULL, '{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"alive","act":"5284bab6fcac","pid":12999}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (13, 1794818381258, 'agents', 'stop_started', 'team-sntgreen001', NULL, '{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"alive","act":"288b74cace9b","by":"cli"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (14, 1794818381262, 'agents', 'stop_finished', 'team-sntgreen001', NULL, '{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"alive","act":"288b74cace9b","outcome":"signalled"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (15, 1794818381270, 'agents', 'agent_removed', 'team-sntgreen001', NULL, '{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"removed","reason":"shutdown_requested","by":"cli","exit_status":null}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (16, 1794818381408, 'services', 'service_paused', 'web', NULL, '{"service":"web","by":"cli","until":"2036-11-13T08:39:41.407Z"}');
INSERT INTO argus.journal OVERRIDING SYSTEM VALUE VALUES (17, 1794818381640, 'system', 'argus_stopped', '', NULL, '{"pid":12939}');
INSERT INTO argus.settings VALUES ('journal.pruned', '0');
INSERT INTO argus.settings VALUES ('epoch', '"081fdac7"');
INSERT INTO argus.settings VALUES ('autonomy', '{"level":"moderate","file":"observe"}');
INSERT INTO argus.settings VALUES ('services.paused', '{"paused":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84272.149671134,"wall":1794818379.636108,"seconds":315360000.0},"web":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84273.921550307,"wall":1794818381.4079876,"seconds":315360000.0}}');
INSERT INTO argus.tallies VALUES (3600, 1794816000, 'services', 'paused', 0, 0, 11, 0, 0, 0, 0);
INSERT INTO argus.tallies VALUES (3600, 1794816000, 'services', 'database', 0, 0, 11, 0, 0, 0, 0);
INSERT INTO argus.tallies VALUES (3600, 1794816000, 'services', 'web', 8, 0, 4, 0, 8, 0.005406735988799483, 0.0011128999904030934);
INSERT INTO argus.tallies VALUES (86400, 1794787200, 'services', 'paused', 0, 0, 11, 0, 0, 0, 0);
INSERT INTO argus.tallies VALUES (86400, 1794787200, 'services', 'database', 0, 0, 11, 0, 0, 0, 0);
INSERT INTO argus.tallies VALUES (86400, 1794787200, 'services', 'web', 8, 0, 4, 0, 8, 0.005406735988799483, 0.0011128999904030934);
INSERT INTO argus.version VALUES (3);
SELECT pg_catalog.setval('argus.acts_n_seq', 3, true);
SELECT pg_catalog.setval('argus.incidents_n_seq', 4, true);
SELECT pg_catalog.setval('argus.journal_n_seq', 17, true);
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
