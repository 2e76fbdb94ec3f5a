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
INSERT INTO "acts" VALUES(1,'979e442b0a1a','restart_service','web','6550908e-99b2-4dff-93c3-ca594a4aeb78',84269.10182422,1.79481837658826065065e+09,'4fbf157a64ff','{"target":"web","timeout":60.0}','recovered',1.79481837714434504507e+09,'{"exitCode":0,"problem":"","output":"","seconds":0.053,"state":"up","detail":"HTTP 200"}');
INSERT INTO "acts" VALUES(2,'7d8a715ff1d6','spawn_agent','team-sntgreen001','6550908e-99b2-4dff-93c3-ca594a4aeb78',84269.770773759,1.79481837725721144675e+09,NULL,'{"agent":"team-sntgreen001","generation":1,"host":"vm","boot":"6550908e-99b2-4dff-93c3-ca594a4aeb78","space":"pid:[4026531836]"}','started',1.79481837727809405329e+09,'{"pid":"12930"}');
INSERT INTO "acts" VALUES(3,'aef9f1434af9','stop_agent','team-sntgreen001','6550908e-99b2-4dff-93c3-ca594a4aeb78',84269.917878082,1.79481837740431571012e+09,NULL,'{"agent":"team-sntgreen001"}','signalled',1.79481837740680789947e+09,'{}');
CREATE TABLE claims (key TEXT PRIMARY KEY, at REAL NOT NULL);
INSERT INTO "claims" VALUES('agent:team-sntgreen001:1',1.79481837725721144675e+09);
CREATE TABLE conditions (
    domain  TEXT NOT NULL,
    subject TEXT NOT NULL,
    state   TEXT NOT NULL,
    since   REAL NOT NULL,
    PRIMARY KEY (domain, subject)
);
INSERT INTO "conditions" VALUES('services','web','up',1.79481837714417982103e+09);
INSERT INTO "conditions" VALUES('services','database','down',1.7948183759875981808e+09);
INSERT INTO "conditions" VALUES('services','paused','down',1.79481837608740711206e+09);
CREATE TABLE cursors (name TEXT PRIMARY KEY, n INTEGER NOT NULL, sending INTEGER NOT NULL);
CREATE TABLE documents (
    domain TEXT NOT NULL,
    id     TEXT NOT NULL,
    live   INTEGER NOT NULL,
    data   TEXT NOT NULL,
    PRIMARY KEY (domain, id)
);
INSERT INTO "documents" VALUES('agents','team-sntgreen001',0,'{"id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"state":"removed","since":1794818377.4148123,"born":1794818377.2572114,"origin":"daemon","config":"SNTGreen","project":"/tmp/argus-lived","folder":"","task":"SEC-1: make a key","status":"","doing":"","session":"","resumes":false,"process":{"host":"vm","boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","pid":12930,"started":"8426978","space":"pid:[4026531836]","shim_pid":12929,"shim_started":"8426977"},"seen":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84269.791542448,"wall":1794818377.2779796},"spawned":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84269.791542448,"wall":1794818377.2779796},"nonce":"d1feda1b24d3","died":null,"wait":0.0,"tries":0,"waited":0.0,"stop":"shutdown_requested","gate":"","escalated":false,"exit_status":null,"reason":"shutdown_requested","terminal":null,"warned":false}');
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
INSERT INTO "incidents" VALUES(1,'5ce7b9a9f02b','service_outage','database',1.79481837598808312414e+09,NULL,'connection refused','{"restarts":0,"restarted":false,"gate":"no restart configured","told":true,"escalated":false}');
INSERT INTO "incidents" VALUES(2,'aaf6c661defd','service_outage','paused',1.79481837608767533297e+09,NULL,'connection refused','{"restarts":0,"restarted":false,"gate":"maintenance","told":false,"escalated":false}');
INSERT INTO "incidents" VALUES(3,'4fbf157a64ff','service_outage','web',1.79481837658799123769e+09,1.79481837714444231982e+09,'connection refused','{"restarts":1,"restarted":true,"gate":null,"told":true,"escalated":false}');
CREATE TABLE journal (
    n         INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp INTEGER NOT NULL,
    channel   TEXT NOT NULL,
    type      TEXT NOT NULL,
    subject   TEXT NOT NULL,
    incident  TEXT,
    data      TEXT NOT NULL
);
INSERT INTO "journal" VALUES(1,1794818375504,'system','argus_started','',NULL,'{"version":"0.1.0","pid":12920,"services":["database","paused","web"],"config":"/tmp/argus-lived/argus.yaml"}');
INSERT INTO "journal" VALUES(2,1794818375587,'services','state_changed','web',NULL,'{"service":"web","from":null,"to":"up","detail":"HTTP 200"}');
INSERT INTO "journal" VALUES(3,1794818375699,'services','service_paused','paused',NULL,'{"service":"paused","by":"cli","until":"2036-11-13T08:39:35.699Z"}');
INSERT INTO "journal" VALUES(4,1794818375787,'system','autonomy_changed','',NULL,'{"from":"observe","to":"moderate","by":"cli"}');
INSERT INTO "journal" VALUES(5,1794818375988,'services','service_down','database','5ce7b9a9f02b','{"service":"database","failures":3,"lastCheck":"2026-11-16T08:39:35.987Z","lastCheckAt":1794818375987,"place":"Port 1","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"none","gate":"no restart configured","hint":"no restart is configured for database","incident":"5ce7b9a9f02b","told":true}');
INSERT INTO "journal" VALUES(6,1794818376087,'services','service_down','paused','aaf6c661defd','{"service":"paused","failures":3,"lastCheck":"2026-11-16T08:39:36.087Z","lastCheckAt":1794818376087,"place":"Port 1","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"none","gate":"maintenance","hint":"in maintenance; argus services resume paused ends a pause","incident":"aaf6c661defd","told":false}');
INSERT INTO "journal" VALUES(7,1794818376588,'services','service_down','web','4fbf157a64ff','{"service":"web","failures":3,"lastCheck":"2026-11-16T08:39:36.587Z","lastCheckAt":1794818376587,"place":"Port 16678","cause":"connection refused","detail":"connection refused","code":"SERVICE_DOWN","autonomy":"moderate","action":"restart","target":"web","incident":"4fbf157a64ff","told":true}');
INSERT INTO "journal" VALUES(8,1794818376588,'services','restart_started','web','4fbf157a64ff','{"service":"web","act":"979e442b0a1a","incident":"4fbf157a64ff","by":"argus","target":"web","timeout":60.0}');
INSERT INTO "journal" VALUES(9,1794818377144,'services','restart_finished','web','4fbf157a64ff','{"service":"web","act":"979e442b0a1a","incident":"4fbf157a64ff","outcome":"recovered","exitCode":0,"problem":"","output":"","seconds":0.053,"state":"up","detail":"HTTP 200"}');
INSERT INTO "journal" VALUES(10,1794818377144,'services','service_recovered','web','4fbf157a64ff','{"service":"web","incident":"4fbf157a64ff","downSeconds":0.556,"restarted":true,"told":true}');
INSERT INTO "journal" VALUES(11,1794818377259,'agents','spawn_started','team-sntgreen001',NULL,'{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"spawning","act":"7d8a715ff1d6","by":"cli","project_path":"/tmp/argus-lived"}');
INSERT INTO "journal" VALUES(12,1794818377279,'agents','agent_spawned','team-sntgreen001',NULL,'{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"alive","act":"7d8a715ff1d6","pid":12930}');
INSERT INTO "journal" VALUES(13,1794818377404,'agents','stop_started','team-sntgreen001',NULL,'{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"alive","act":"aef9f1434af9","by":"cli"}');
INSERT INTO "journal" VALUES(14,1794818377406,'agents','stop_finished','team-sntgreen001',NULL,'{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"alive","act":"aef9f1434af9","outcome":"signalled"}');
INSERT INTO "journal" VALUES(15,1794818377414,'agents','agent_removed','team-sntgreen001',NULL,'{"agent_id":"team-sntgreen001","lineage":"team-sntgreen001","generation":1,"config_name":"SNTGreen","task":"SEC-1: make a key","state":"removed","reason":"shutdown_requested","by":"cli","exit_status":null}');
INSERT INTO "journal" VALUES(16,1794818377594,'services','service_paused','web',NULL,'{"service":"web","by":"cli","until":"2036-11-13T08:39:37.594Z"}');
INSERT INTO "journal" VALUES(17,1794818377829,'system','argus_stopped','',NULL,'{"pid":12920}');
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "settings" VALUES('journal.pruned','0');
INSERT INTO "settings" VALUES('epoch','"4c9f9ca0"');
INSERT INTO "settings" VALUES('services.paused','{"paused":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84268.212916051,"wall":1794818375.699354,"seconds":315360000.0},"web":{"boot_id":"6550908e-99b2-4dff-93c3-ca594a4aeb78","boot":84270.107927277,"wall":1794818377.5943646,"seconds":315360000.0}}');
INSERT INTO "settings" VALUES('autonomy','{"level":"moderate","file":"observe"}');
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
INSERT INTO "tallies" VALUES(3600,1794816000,'services','database',0,0,12,0,0,0.0,0.0);
INSERT INTO "tallies" VALUES(3600,1794816000,'services','paused',0,0,11,0,0,0.0,0.0);
INSERT INTO "tallies" VALUES(3600,1794816000,'services','web',8,0,5,0,8,1.05403130146441981196e-02,3.15279600908979773521e-03);
INSERT INTO "tallies" VALUES(86400,1794787200,'services','database',0,0,12,0,0,0.0,0.0);
INSERT INTO "tallies" VALUES(86400,1794787200,'services','paused',0,0,11,0,0,0.0,0.0);
INSERT INTO "tallies" VALUES(86400,1794787200,'services','web',8,0,5,0,8,1.05403130146441981196e-02,3.15279600908979773521e-03);
CREATE INDEX journal_incident ON journal (incident, n) WHERE incident IS NOT NULL;
CREATE INDEX acts_open ON acts (n) WHERE outcome IS NULL;
CREATE INDEX acts_kind ON acts (kind, n);
CREATE INDEX incidents_open ON incidents (n) WHERE closed IS NULL;
CREATE INDEX documents_live ON documents (domain) WHERE live;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('journal',17);
INSERT INTO "sqlite_sequence" VALUES('incidents',4);
INSERT INTO "sqlite_sequence" VALUES('acts',3);
COMMIT;
