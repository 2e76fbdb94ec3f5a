PRAGMA application_id = 1095911253;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
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
INSERT INTO "acts" VALUES(1,'a-closed','restart_service','api','7c1f',5011.0,1790000011.0,'i-over','{"action":"command","command":["/opt/api/restart.sh","--now"]}','recovered',1790000095.5,'{"exit":0,"output":"started\n"}');
INSERT INTO "acts" VALUES(2,'a-open','restart_service','datenbank-ü','7c1f',5201.0,1790000201.0,'i-open','{"action":"command","command":["/opt/api/restart.sh","--now"]}',NULL,NULL,'{}');
CREATE TABLE claims (key TEXT PRIMARY KEY, at REAL NOT NULL);
INSERT INTO "claims" VALUES('coder:2',1790000020.0);
CREATE TABLE conditions (
    domain  TEXT NOT NULL,
    subject TEXT NOT NULL,
    state   TEXT NOT NULL,
    since   REAL NOT NULL,
    PRIMARY KEY (domain, subject)
);
INSERT INTO "conditions" VALUES('services','api','up',1790000095.5);
INSERT INTO "conditions" VALUES('services','datenbank-ü','down',1790000200.0);
INSERT INTO "conditions" VALUES('agents','green','working',1790000001.0);
CREATE TABLE cursors (name TEXT PRIMARY KEY, n INTEGER NOT NULL, sending INTEGER NOT NULL);
INSERT INTO "cursors" VALUES('notify:json-1a2b3c4d',3,0);
INSERT INTO "cursors" VALUES('notify:ntfy-99aa88bb',2,3);
CREATE TABLE documents (
    domain TEXT NOT NULL,
    id     TEXT NOT NULL,
    live   INTEGER NOT NULL,
    data   TEXT NOT NULL,
    PRIMARY KEY (domain, id)
);
INSERT INTO "documents" VALUES('agents','team-green001',1,'{"task":"SEC-1: ''quoted'' \u00fc","generation":1}');
INSERT INTO "documents" VALUES('agents','team-green000',0,'{"task":""}');
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
INSERT INTO "incidents" VALUES(1,'i-over','outage','api',1790000010.0,1790000095.5,'connection refused','{"restarts":1,"told":true}');
INSERT INTO "incidents" VALUES(2,'i-open','outage','datenbank-ü',1790000200.0,NULL,'timeout','{"restarts":1,"gate":null}');
INSERT INTO "incidents" VALUES(3,'i-event','infrastructure_event','',1790000300.0,1790000400.0,'3 at once','{"services":["a","b"]}');
CREATE TABLE journal (
    n         INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER NOT NULL,
    channel   TEXT NOT NULL,
    type      TEXT NOT NULL,
    subject   TEXT NOT NULL,
    incident  TEXT,
    data      TEXT NOT NULL
);
INSERT INTO "journal" VALUES(1,1790000000000,'system','argus_started','',NULL,'{"version":"0.1.0","pid":4711,"services":["api"]}');
INSERT INTO "journal" VALUES(2,1790000001000,'services','service_down','api','i-over','{"service":"api","incident":"i-over","cause":"connection refused","failures":3}');
INSERT INTO "journal" VALUES(3,1790000002000,'services','restart_started','api','i-over','{"service":"api","incident":"i-over","act":"a-closed"}');
INSERT INTO "journal" VALUES(4,1790000003000,'services','service_recovered','api','i-over','{"service":"api","incident":"i-over","seconds":85.5}');
INSERT INTO "journal" VALUES(5,1790000004000,'services','service_down','datenbank-ü','i-open','{"service":"datenbank-\u00fc","incident":"i-open","cause":"\u2028 ''quoted'' \"twice\" \u0000; -- $$"}');
INSERT INTO "journal" VALUES(6,1790000005000,'services','restart_started','datenbank-ü','i-open','{"service":"datenbank-\u00fc","incident":"i-open","act":"a-open"}');
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "settings" VALUES('journal.pruned','0');
INSERT INTO "settings" VALUES('epoch','"5eed5eed"');
INSERT INTO "settings" VALUES('autonomy','{"level":"moderate","by":"cli"}');
INSERT INTO "settings" VALUES('services.pauses','{"api":1790003600.0}');
INSERT INTO "settings" VALUES('odd','"\u0000\ud800"');
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
INSERT INTO "tallies" VALUES(3600,1789999200,'services','api',55,2,3,0,57,1.5,0.25);
INSERT INTO "tallies" VALUES(3600,1789999200,'services','datenbank-ü',0,0,60,1,0,0.0,0.0);
INSERT INTO "tallies" VALUES(86400,1789948800,'services','api',55,2,3,0,57,1.5,0.25);
CREATE INDEX journal_incident ON journal (incident, n) WHERE incident IS NOT NULL;
CREATE INDEX acts_open ON acts (n) WHERE outcome IS NULL;
CREATE INDEX acts_kind ON acts (kind, n);
CREATE INDEX incidents_open ON incidents (n) WHERE closed IS NULL;
CREATE INDEX documents_live ON documents (domain) WHERE live;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('journal',6);
INSERT INTO "sqlite_sequence" VALUES('incidents',3);
INSERT INTO "sqlite_sequence" VALUES('acts',2);
COMMIT;
