-- What a user has connected, what is on its way to be, and the operator's OAuth applications.
-- Columns named sealed hold boxes that only the vault opens.

CREATE TABLE connections (
    workspace_id     TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id               TEXT COLLATE "C" NOT NULL,
    user_id          TEXT COLLATE "C" NOT NULL,
    service          TEXT COLLATE "C" NOT NULL,
    slot             TEXT COLLATE "C" NOT NULL,
    auth_type        TEXT COLLATE "C" NOT NULL,
    account          TEXT COLLATE "C",
    scopes           TEXT COLLATE "C" NOT NULL,
    parameters       TEXT COLLATE "C" NOT NULL,
    sealed           TEXT COLLATE "C" NOT NULL,
    generation       BIGINT NOT NULL,
    version          BIGINT NOT NULL,
    state            TEXT COLLATE "C" NOT NULL,
    state_since_ms   BIGINT NOT NULL,
    token_expires_at_ms BIGINT,
    refreshable      BOOLEAN NOT NULL,
    failures         BIGINT NOT NULL,
    next_retry_at_ms BIGINT,
    last_error       TEXT COLLATE "C",
    lease_owner      TEXT COLLATE "C",
    lease_since_ms   BIGINT,
    lease_until_ms   BIGINT,
    created_at_ms    BIGINT NOT NULL,
    updated_at_ms    BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX connections_of_user ON connections (workspace_id, user_id, service, created_at_ms);
CREATE INDEX connections_due ON connections (token_expires_at_ms);

CREATE TABLE connect_flows (
    id                TEXT COLLATE "C" PRIMARY KEY,
    token_hash        TEXT COLLATE "C" NOT NULL CONSTRAINT connect_flows_token UNIQUE,
    workspace_id      TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id           TEXT COLLATE "C" NOT NULL,
    service           TEXT COLLATE "C" NOT NULL,
    slot              TEXT COLLATE "C" NOT NULL,
    connection_id     TEXT COLLATE "C" NOT NULL,
    scopes            TEXT COLLATE "C" NOT NULL,
    tool_name         TEXT COLLATE "C",
    confirm_url       TEXT COLLATE "C",
    state             TEXT COLLATE "C" NOT NULL,
    oauth_state_hash  TEXT COLLATE "C" CONSTRAINT connect_flows_oauth_state UNIQUE,
    cookie_hash       TEXT COLLATE "C",
    confirm_hash      TEXT COLLATE "C",
    sealed            TEXT COLLATE "C",
    last_error        TEXT COLLATE "C",
    created_at_ms     BIGINT NOT NULL,
    expires_at_ms     BIGINT NOT NULL,
    state_since_ms    BIGINT NOT NULL
);
CREATE INDEX connect_flows_expiry ON connect_flows (expires_at_ms);

-- workspace_id '' means every workspace, so no foreign key.
CREATE TABLE oauth_apps (
    workspace_id  TEXT COLLATE "C" NOT NULL,
    service       TEXT COLLATE "C" NOT NULL,
    client_id     TEXT COLLATE "C" NOT NULL,
    sealed        TEXT COLLATE "C",
    scopes        TEXT COLLATE "C",
    settings      TEXT COLLATE "C" NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, service)
);
