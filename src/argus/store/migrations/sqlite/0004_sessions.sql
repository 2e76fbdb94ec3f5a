-- What is known of sessions and of the work they gave away, under the names that people's own queries use.
-- Times are UTC, as SQLite's own functions write them. `data` is what Argus itself goes on with.
CREATE TABLE ps_sessions (
    id                    INTEGER PRIMARY KEY AUTOINCREMENT,
    project               VARCHAR(50) UNIQUE NOT NULL,
    session_type          VARCHAR(10),
    session_id            VARCHAR(100),
    started_at            TIMESTAMP,
    last_activity         TIMESTAMP,
    last_context_check    TIMESTAMP,
    context_usage         FLOAT,
    estimated_tokens_used INT,
    data                  TEXT NOT NULL
);

CREATE TABLE active_spawns (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    project            VARCHAR(50) NOT NULL,
    task_id            VARCHAR(100) NOT NULL,
    task_type          VARCHAR(50),
    description        TEXT,
    spawn_time         TIMESTAMP,
    last_output_change TIMESTAMP,
    output_file        TEXT,
    status             VARCHAR(20) DEFAULT 'running',
    data               TEXT NOT NULL,
    UNIQUE (project, task_id)
);
CREATE INDEX active_spawns_status ON active_spawns (status);

CREATE TABLE health_checks (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    project      VARCHAR(50) NOT NULL,
    check_time   TIMESTAMP,
    check_type   VARCHAR(50),
    status       VARCHAR(20),
    details      TEXT,
    action_taken TEXT
);
CREATE INDEX health_checks_project ON health_checks (project, id);
