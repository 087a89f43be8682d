-- What the main job keeps: tenants, keys, plugins, operator settings, sessions, receipts.
-- Ids are text, times are milliseconds since the Unix epoch, JSON is text.

-- One row for each kind of thing that processes cache; bumped in the transaction that changes it.
CREATE TABLE changes (
    topic   TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO changes (topic, version) VALUES
    ('keys', 1), ('services', 1), ('plugins', 1), ('permissions', 1), ('connections', 1), ('members', 1);

CREATE TABLE workspaces (
    id            TEXT COLLATE "C" PRIMARY KEY,
    name          TEXT COLLATE "C" NOT NULL CONSTRAINT workspaces_name UNIQUE,
    plan          TEXT COLLATE "C" NOT NULL,
    rpm           BIGINT,
    settings      TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id              TEXT COLLATE "C" PRIMARY KEY,
    workspace_id    TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    hash            TEXT COLLATE "C" NOT NULL CONSTRAINT api_keys_hash UNIQUE,
    prefix          TEXT COLLATE "C" NOT NULL,
    scopes          TEXT COLLATE "C" NOT NULL,
    default_user    TEXT COLLATE "C" NOT NULL,
    rpm             BIGINT,
    rpd             BIGINT,
    expires_at_ms   BIGINT,
    ip_allowlist    TEXT COLLATE "C" NOT NULL,
    created_at_ms   BIGINT NOT NULL,
    revoked_at_ms   BIGINT,
    last_used_at_ms BIGINT
);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, created_at_ms);

CREATE TABLE manifests (
    sha256          TEXT COLLATE "C" PRIMARY KEY,
    service         TEXT COLLATE "C" NOT NULL,
    manifest        TEXT COLLATE "C" NOT NULL,
    imports         TEXT COLLATE "C" NOT NULL,
    wasm_bytes      BIGINT NOT NULL,
    inspector       TEXT COLLATE "C" NOT NULL,
    inspected_at_ms BIGINT NOT NULL
);

CREATE TABLE plugins (
    service                 TEXT COLLATE "C" PRIMARY KEY,
    state                   TEXT COLLATE "C" NOT NULL,
    reason                  TEXT COLLATE "C",
    file_name               TEXT COLLATE "C",
    active_sha256           TEXT COLLATE "C",
    active_version          TEXT COLLATE "C",
    approved                TEXT COLLATE "C",
    pending_sha256          TEXT COLLATE "C",
    pending_version         TEXT COLLATE "C",
    pending_difference      TEXT COLLATE "C",
    approve_sha256          TEXT COLLATE "C",
    approve_requested_at_ms BIGINT,
    updated_at_ms           BIGINT NOT NULL
);

CREATE TABLE plugin_versions (
    service         TEXT COLLATE "C" NOT NULL REFERENCES plugins (service) ON DELETE CASCADE,
    sha256          TEXT COLLATE "C" NOT NULL,
    version         TEXT COLLATE "C" NOT NULL,
    activated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (service, sha256)
);

CREATE TABLE plugin_files (
    file_name     TEXT COLLATE "C" PRIMARY KEY,
    sha256        TEXT COLLATE "C",
    service       TEXT COLLATE "C",
    state         TEXT COLLATE "C" NOT NULL,
    reason        TEXT COLLATE "C",
    updated_at_ms BIGINT NOT NULL
);

-- workspace_id '' means every workspace, so no foreign key.
CREATE TABLE service_config (
    workspace_id  TEXT COLLATE "C" NOT NULL,
    service       TEXT COLLATE "C" NOT NULL,
    key           TEXT COLLATE "C" NOT NULL,
    value         TEXT COLLATE "C" NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, service, key)
);

CREATE TABLE sessions (
    workspace_id      TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id                TEXT COLLATE "C" NOT NULL,
    user_id           TEXT COLLATE "C" NOT NULL,
    prompt            TEXT COLLATE "C",
    created_at_ms     BIGINT NOT NULL,
    last_active_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX sessions_newest ON sessions (workspace_id, created_at_ms, id);
CREATE INDEX sessions_idle ON sessions (last_active_at_ms);

-- No foreign key to sessions: a plugin may write before its session's row is flushed.
CREATE TABLE session_kv (
    workspace_id  TEXT COLLATE "C" NOT NULL,
    session_id    TEXT COLLATE "C" NOT NULL,
    service       TEXT COLLATE "C" NOT NULL,
    key           TEXT COLLATE "C" NOT NULL,
    value         BYTEA NOT NULL,
    version       BIGINT NOT NULL,
    expires_at_ms BIGINT,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, session_id, service, key)
);

CREATE TABLE executions (
    workspace_id   TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id             TEXT COLLATE "C" NOT NULL,
    tool_name      TEXT COLLATE "C" NOT NULL,
    service        TEXT COLLATE "C" NOT NULL,
    user_id        TEXT COLLATE "C" NOT NULL,
    key_id         TEXT COLLATE "C" NOT NULL,
    key_name       TEXT COLLATE "C" NOT NULL,
    key_prefix     TEXT COLLATE "C" NOT NULL,
    session_id     TEXT COLLATE "C" NOT NULL,
    connection_id  TEXT COLLATE "C",
    status         TEXT COLLATE "C" NOT NULL,
    reason         TEXT COLLATE "C",
    started_at_ms  BIGINT NOT NULL,
    duration_ms    BIGINT NOT NULL,
    plugin_version TEXT COLLATE "C" NOT NULL,
    plugin_sha256  TEXT COLLATE "C" NOT NULL,
    requests       TEXT COLLATE "C" NOT NULL,
    arguments      TEXT COLLATE "C",
    result         TEXT COLLATE "C",
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX executions_newest ON executions (workspace_id, started_at_ms, id);
CREATE INDEX executions_of_user ON executions (workspace_id, user_id, started_at_ms, id);
