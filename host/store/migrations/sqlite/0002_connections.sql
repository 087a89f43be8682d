-- What a user has connected, what is on its way to be, and the operator's OAuth applications.
-- Columns named sealed hold boxes that only the vault opens.

CREATE TABLE connections (
    workspace_id     TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id               TEXT NOT NULL,
    user_id          TEXT NOT NULL,
    service          TEXT NOT NULL,
    slot             TEXT NOT NULL,
    auth_type        TEXT NOT NULL,
    account          TEXT,
    scopes           TEXT NOT NULL,
    parameters       TEXT NOT NULL,
    sealed           TEXT NOT NULL,
    generation       INTEGER NOT NULL,
    version          INTEGER NOT NULL,
    state            TEXT NOT NULL,
    state_since_ms   INTEGER NOT NULL,
    token_expires_at_ms INTEGER,
    refreshable      BOOLEAN NOT NULL,
    failures         INTEGER NOT NULL,
    next_retry_at_ms INTEGER,
    last_error       TEXT,
    lease_owner      TEXT,
    lease_since_ms   INTEGER,
    lease_until_ms   INTEGER,
    created_at_ms    INTEGER NOT NULL,
    updated_at_ms    INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX connections_of_user ON connections (workspace_id, user_id, service, created_at_ms);
CREATE INDEX connections_due ON connections (token_expires_at_ms);

CREATE TABLE connect_flows (
    id                TEXT PRIMARY KEY,
    token_hash        TEXT NOT NULL CONSTRAINT connect_flows_token UNIQUE,
    workspace_id      TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id           TEXT NOT NULL,
    service           TEXT NOT NULL,
    slot              TEXT NOT NULL,
    connection_id     TEXT NOT NULL,
    scopes            TEXT NOT NULL,
    tool_name         TEXT,
    confirm_url       TEXT,
    state             TEXT NOT NULL,
    oauth_state_hash  TEXT CONSTRAINT connect_flows_oauth_state UNIQUE,
    cookie_hash       TEXT,
    confirm_hash      TEXT,
    sealed            TEXT,
    last_error        TEXT,
    created_at_ms     INTEGER NOT NULL,
    expires_at_ms     INTEGER NOT NULL,
    state_since_ms    INTEGER NOT NULL
);
CREATE INDEX connect_flows_expiry ON connect_flows (expires_at_ms);

-- workspace_id '' means every workspace, so no foreign key.
CREATE TABLE oauth_apps (
    workspace_id  TEXT NOT NULL,
    service       TEXT NOT NULL,
    client_id     TEXT NOT NULL,
    sealed        TEXT,
    scopes        TEXT,
    settings      TEXT NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, service)
);
