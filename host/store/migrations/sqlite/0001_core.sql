-- What the main job keeps: tenants, keys, plugins, operator settings, sessions, receipts.
-- Ids are text, times are milliseconds since the Unix epoch, JSON is text.

-- One row for each kind of thing that processes cache; bumped in the transaction that changes it.
CREATE TABLE changes (
    topic   TEXT PRIMARY KEY,
    version INTEGER NOT NULL
);
INSERT INTO changes (topic, version) VALUES
    ('keys', 1), ('services', 1), ('plugins', 1), ('permissions', 1), ('connections', 1), ('members', 1);

CREATE TABLE workspaces (
    id            TEXT PRIMARY KEY,
    name          TEXT NOT NULL CONSTRAINT workspaces_name UNIQUE,
    plan          TEXT NOT NULL,
    rpm           INTEGER,
    settings      TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
);

CREATE TABLE api_keys (
    id              TEXT PRIMARY KEY,
    workspace_id    TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    hash            TEXT NOT NULL CONSTRAINT api_keys_hash UNIQUE,
    prefix          TEXT NOT NULL,
    scopes          TEXT NOT NULL,
    default_user    TEXT NOT NULL,
    rpm             INTEGER,
    rpd             INTEGER,
    expires_at_ms   INTEGER,
    ip_allowlist    TEXT NOT NULL,
    created_at_ms   INTEGER NOT NULL,
    revoked_at_ms   INTEGER,
    last_used_at_ms INTEGER
);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, created_at_ms);

CREATE TABLE manifests (
    sha256          TEXT PRIMARY KEY,
    service         TEXT NOT NULL,
    manifest        TEXT NOT NULL,
    imports         TEXT NOT NULL,
    wasm_bytes      INTEGER NOT NULL,
    inspector       TEXT NOT NULL,
    inspected_at_ms INTEGER NOT NULL
);

CREATE TABLE plugins (
    service                 TEXT PRIMARY KEY,
    state                   TEXT NOT NULL,
    reason                  TEXT,
    file_name               TEXT,
    active_sha256           TEXT,
    active_version          TEXT,
    approved                TEXT,
    pending_sha256          TEXT,
    pending_version         TEXT,
    pending_difference      TEXT,
    approve_sha256          TEXT,
    approve_requested_at_ms INTEGER,
    updated_at_ms           INTEGER NOT NULL
);

CREATE TABLE plugin_versions (
    service         TEXT NOT NULL REFERENCES plugins (service) ON DELETE CASCADE,
    sha256          TEXT NOT NULL,
    version         TEXT NOT NULL,
    activated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (service, sha256)
);

CREATE TABLE plugin_files (
    file_name     TEXT PRIMARY KEY,
    sha256        TEXT,
    service       TEXT,
    state         TEXT NOT NULL,
    reason        TEXT,
    updated_at_ms INTEGER NOT NULL
);

-- workspace_id '' means every workspace, so no foreign key.
CREATE TABLE service_config (
    workspace_id  TEXT NOT NULL,
    service       TEXT NOT NULL,
    key           TEXT NOT NULL,
    value         TEXT NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, service, key)
);

CREATE TABLE sessions (
    workspace_id      TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id                TEXT NOT NULL,
    user_id           TEXT NOT NULL,
    prompt            TEXT,
    created_at_ms     INTEGER NOT NULL,
    last_active_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX sessions_newest ON sessions (workspace_id, created_at_ms, id);
CREATE INDEX sessions_idle ON sessions (last_active_at_ms);

-- No foreign key to sessions: a plugin may write before its session's row is flushed.
CREATE TABLE session_kv (
    workspace_id  TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    service       TEXT NOT NULL,
    key           TEXT NOT NULL,
    value         BLOB NOT NULL,
    version       INTEGER NOT NULL,
    expires_at_ms INTEGER,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, session_id, service, key)
);

CREATE TABLE executions (
    workspace_id   TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id             TEXT NOT NULL,
    tool_name      TEXT NOT NULL,
    service        TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    key_id         TEXT NOT NULL,
    key_name       TEXT NOT NULL,
    key_prefix     TEXT NOT NULL,
    session_id     TEXT NOT NULL,
    connection_id  TEXT,
    status         TEXT NOT NULL,
    reason         TEXT,
    started_at_ms  INTEGER NOT NULL,
    duration_ms    INTEGER NOT NULL,
    plugin_version TEXT NOT NULL,
    plugin_sha256  TEXT NOT NULL,
    requests       TEXT NOT NULL,
    arguments      TEXT,
    result         TEXT,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX executions_newest ON executions (workspace_id, started_at_ms, id);
CREATE INDEX executions_of_user ON executions (workspace_id, user_id, started_at_ms, id);
