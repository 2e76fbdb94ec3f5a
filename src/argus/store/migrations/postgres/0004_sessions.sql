-- What is known of sessions and of the work they gave away, under the names that people's own queries use.
-- `data` is what Argus itself goes on with.
CREATE TABLE argus.ps_sessions (
    id                    SERIAL PRIMARY KEY,
    project               VARCHAR(50) UNIQUE NOT NULL,
    session_type          VARCHAR(10),
    session_id            VARCHAR(100),
    started_at            TIMESTAMPTZ,
    last_activity         TIMESTAMPTZ,
    last_context_check    TIMESTAMPTZ,
    context_usage         FLOAT,
    estimated_tokens_used INT,
    data                  TEXT NOT NULL
);

CREATE TABLE argus.active_spawns (
    id                 SERIAL PRIMARY KEY,
    project            VARCHAR(50) NOT NULL,
    task_id            VARCHAR(100) NOT NULL,
    task_type          VARCHAR(50),
    description        TEXT,
    spawn_time         TIMESTAMPTZ,
    last_output_change TIMESTAMPTZ,
    output_file        TEXT,
    status             VARCHAR(20) DEFAULT 'running',
    data               TEXT NOT NULL,
    UNIQUE (project, task_id)
);
CREATE INDEX active_spawns_status ON argus.active_spawns (status);

CREATE TABLE argus.health_checks (
    id           SERIAL PRIMARY KEY,
    project      VARCHAR(50) NOT NULL,
    check_time   TIMESTAMPTZ,
    check_type   VARCHAR(50),
    status       VARCHAR(20),
    details      JSONB,
    action_taken TEXT
);
CREATE INDEX health_checks_project ON argus.health_checks (project, id);

-- People ask without naming a schema. Where the names are free and it is allowed, they find them so; else `argus.` leads there.
DO $$
DECLARE name TEXT;
BEGIN
    IF NOT has_schema_privilege('public', 'CREATE') THEN RETURN; END IF;
    FOREACH name IN ARRAY ARRAY['ps_sessions', 'active_spawns', 'health_checks'] LOOP
        IF to_regclass('public.' || name) IS NULL THEN
            EXECUTE format('CREATE VIEW public.%I AS SELECT * FROM argus.%I', name, name);
        END IF;
    END LOOP;
EXCEPTION WHEN invalid_schema_name OR undefined_object THEN
    NULL; -- a database without a schema `public`
END $$;
