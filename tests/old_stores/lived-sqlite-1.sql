PRAGMA application_id = 1095911253;
PRAGMA user_version = 1;
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
INSERT INTO "acts" VALUES(1,'1741aa5faf16','restart_service','web','6550908e-99b2-4dff-93c3-ca594a4aeb78',84258.601200666,1.79481836608763694763e+09,'2489d526def9','{"target":"web"}','recovered',1.79481836662044191357e+09,'{"exitCode":0,"problem":"","output":"","seconds":0.029,"state":"up","detail":"HTTP 200"}');
CREATE TABLE conditions (
    domain  TEXT NOT NULL,
    subject TEXT NOT NULL,
    state   TEXT NOT NULL,
    since   REAL NOT NULL,
    PRIMARY KEY (domain, subject)
);
INSERT INTO "conditions" VALUES('services','web','up',1.7948183666203107834e+09);
INSERT INTO "conditions" VALUES('services','database','down',1.79481836558725523951e+09);
INSERT INTO "conditions" VALUES('services','paused','down',1.79481836558732366559e+09);
CREATE TABLE cursors (name TEXT PRIMARY KEY, n INTEGER NOT NULL, sending INTEGER NOT NULL);
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
INSERT INTO "incidents" VALUES(1,'9b316a703f8c','service_outage','database',1.79481836558745241165e+09,NULL,'connection refused','{"restarts":0,"gate":"no restart configured","told":true,"escalated":false}');
INSERT INTO "incidents" VALUES(2,'b27c1ed19cdd','service_outage','paused',1.79481836559481763839e+09,NULL,'connection refused','{"restarts":0,"gate":"maintenance","told":false,"escalated":false}');
INSERT INTO "incidents" VALUES(3,'2489d526def9','service_outage','web',1.79481836608740615846e+09,1.79481836662052845953e+09,'connection refused','{"restarts":1,"gate":null,"told":true,"escalated":false}');
CREATE TABLE journal (
    n         INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER NOT NULL,
    channel   TEXT NOT NULL,
    type      TEXT NOT NULL,
    subject   TEXT NOT NULL,
    incident  TEXT,
    data      TEXT NOT NULL
);
INSERT INTO "journal" VALUES(1,1794818365051,'system','argus_started','',NULL,'{"version":"0.1.0","pid":12818,"services":["database","paused","web"],"config":"/tmp/argus-lived/argus.yaml"}');
INSERT INTO "journal" VALUES(2,1794818365057,'services','state_changed','web',NULL,'{"service":"web","from":null,"to":"up","detail":"HTTP 200"}');
INSERT INTO "journal" VALUES(3,1794818365176,'services','service_paused','paused',NULL,'{"service":"paused","by":"cli","until":"2036-11-13T08:39:25.176Z"}');
INSERT INTO "journal" VALUES(4,1794818365297,'system','autonomy_changed','',NULL,'{"from":"observe","to":"moderate","by":"cli"}');
INSERT INTO "journal" VALUES(5,1794818365587,'services','service_down','database','9b316a703f8c','{"service":"database","failures":3,"lastCheck":"2026-11-16T08:39:25.587Z","lastCheckAt":1794818365587,"place":"Port 1","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"none","gate":"no restart configured","hint":"no restart is configured for database","incident":"9b316a703f8c","told":true}');
INSERT INTO "journal" VALUES(6,1794818365594,'services','service_down','paused','b27c1ed19cdd','{"service":"paused","failures":3,"lastCheck":"2026-11-16T08:39:25.587Z","lastCheckAt":1794818365587,"place":"Port 1","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"none","gate":"maintenance","hint":"paused; argus services resume paused ends that","incident":"b27c1ed19cdd","told":false}');
INSERT INTO "journal" VALUES(7,1794818366088,'services','service_down','web','2489d526def9','{"service":"web","failures":3,"lastCheck":"2026-11-16T08:39:26.087Z","lastCheckAt":1794818366087,"place":"Port 24821","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"restart","target":"web","incident":"2489d526def9","told":true}');
INSERT INTO "journal" VALUES(8,1794818366088,'services','restart_started','web','2489d526def9','{"service":"web","act":"1741aa5faf16","incident":"2489d526def9","by":"argus","target":"web"}');
INSERT INTO "journal" VALUES(9,1794818366621,'services','restart_finished','web','2489d526def9','{"service":"web","act":"1741aa5faf16","incident":"2489d526def9","outcome":"recovered","exitCode":0,"problem":"","output":"","seconds":0.029,"state":"up","detail":"HTTP 200"}');
INSERT INTO "journal" VALUES(10,1794818366621,'services','service_recovered','web','2489d526def9','{"service":"web","incident":"2489d526def9","downSeconds":0.533,"restarted":true,"told":true}');
INSERT INTO "journal" VALUES(11,1794818366712,'services','service_paused','web',NULL,'{"service":"web","by":"cli","until":"2036-11-13T08:39:26.711Z"}');
INSERT INTO "journal" VALUES(12,1794818366930,'system','argus_stopped','',NULL,'{"pid":12818}');
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "settings" VALUES('epoch','"bc0cf3f1"');
INSERT INTO "settings" VALUES('services.paused','{"paused":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84257.689665207,"wall":1794818365.1761026,"seconds":315360000.0},"web":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84259.225442182,"wall":1794818366.71188,"seconds":315360000.0}}');
INSERT INTO "settings" VALUES('autonomy','{"level":"moderate","file":"observe"}');
CREATE INDEX journal_incident ON journal (incident, n) WHERE incident IS NOT NULL;
CREATE INDEX acts_open ON acts (n) WHERE outcome IS NULL;
CREATE INDEX acts_kind ON acts (kind, n);
CREATE INDEX incidents_open ON incidents (n) WHERE closed IS NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('journal',12);
INSERT INTO "sqlite_sequence" VALUES('incidents',4);
INSERT INTO "sqlite_sequence" VALUES('acts',1);
COMMIT;
