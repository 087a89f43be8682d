-- MCP clients that members let in by OAuth: who the clients are, what they ask for, what was granted.

-- Registered by themselves, or read from the metadata document at the address that is their id.
CREATE TABLE app_clients (
    id             TEXT NOT NULL PRIMARY KEY,
    kind           TEXT NOT NULL,
    name           TEXT NOT NULL,
    redirect_uris  TEXT NOT NULL,
    auth_method    TEXT NOT NULL,
    secret_hash    TEXT,
    created_at_ms  INTEGER NOT NULL,
    -- Of a metadata document: when it has to be read again.
    fresh_until_ms INTEGER,
    -- When a member has last let it in.
    used_at_ms     INTEGER
);
CREATE INDEX app_clients_age ON app_clients (created_at_ms);

-- Authorization requests that wait for a member's decision.
CREATE TABLE app_requests (
    id            TEXT NOT NULL PRIMARY KEY,
    client_id     TEXT NOT NULL REFERENCES app_clients (id) ON DELETE CASCADE,
    redirect_uri  TEXT NOT NULL,
    state         TEXT,
    challenge     TEXT NOT NULL,
    resource      TEXT NOT NULL,
    scopes        TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
);
CREATE INDEX app_requests_expiry ON app_requests (expires_at_ms);

-- What a member has granted a client; one row is one family of tokens, and begins as a code.
CREATE TABLE app_grants (
    workspace_id       TEXT NOT NULL,
    id                 TEXT NOT NULL,
    member_id          TEXT NOT NULL,
    client_id          TEXT NOT NULL,
    client_name        TEXT NOT NULL,
    scopes             TEXT NOT NULL,
    resource           TEXT NOT NULL,
    redirect_uri       TEXT NOT NULL,
    challenge          TEXT NOT NULL,
    code_hash          TEXT NOT NULL CONSTRAINT app_grants_code UNIQUE,
    code_expires_at_ms INTEGER NOT NULL,
    -- When the code was exchanged: from then on the grant is a connected app.
    code_used_at_ms    INTEGER,
    created_at_ms      INTEGER NOT NULL,
    last_used_at_ms    INTEGER,
    expires_at_ms      INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX app_grants_of_member ON app_grants (workspace_id, member_id);
CREATE INDEX app_grants_of_client ON app_grants (client_id);
CREATE INDEX app_grants_expiry ON app_grants (expires_at_ms);

-- Tokens by their hash. A refresh token that was used stays, so that its second use is noticed.
CREATE TABLE app_tokens (
    hash          TEXT NOT NULL PRIMARY KEY,
    workspace_id  TEXT NOT NULL,
    grant_id      TEXT NOT NULL,
    kind          TEXT NOT NULL,
    scopes        TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    used_at_ms    INTEGER,
    FOREIGN KEY (workspace_id, grant_id) REFERENCES app_grants (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX app_tokens_of_grant ON app_tokens (workspace_id, grant_id);
CREATE INDEX app_tokens_expiry ON app_tokens (expires_at_ms);

-- Clients that a workspace has switched off.
CREATE TABLE app_blocks (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    client_id     TEXT NOT NULL,
    client_name   TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, client_id)
);
