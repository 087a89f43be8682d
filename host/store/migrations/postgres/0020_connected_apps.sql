-- MCP clients that members let in by OAuth: who the clients are, what they ask for, what was granted.

-- Registered by themselves, or read from the metadata document at the address that is their id.
CREATE TABLE app_clients (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind           TEXT COLLATE "C" NOT NULL,
    name           TEXT COLLATE "C" NOT NULL,
    redirect_uris  TEXT COLLATE "C" NOT NULL,
    auth_method    TEXT COLLATE "C" NOT NULL,
    secret_hash    TEXT COLLATE "C",
    created_at_ms  BIGINT NOT NULL,
    -- Of a metadata document: when it has to be read again.
    fresh_until_ms BIGINT,
    -- When a member has last let it in.
    used_at_ms     BIGINT
);
CREATE INDEX app_clients_age ON app_clients (created_at_ms);

-- Authorization requests that wait for a member's decision.
CREATE TABLE app_requests (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id     TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id) ON DELETE CASCADE,
    redirect_uri  TEXT COLLATE "C" NOT NULL,
    state         TEXT COLLATE "C",
    challenge     TEXT COLLATE "C" NOT NULL,
    resource      TEXT COLLATE "C" NOT NULL,
    scopes        TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX app_requests_expiry ON app_requests (expires_at_ms);

-- What a member has granted a client; one row is one family of tokens, and begins as a code.
CREATE TABLE app_grants (
    workspace_id       TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    member_id          TEXT COLLATE "C" NOT NULL,
    client_id          TEXT COLLATE "C" NOT NULL,
    client_name        TEXT COLLATE "C" NOT NULL,
    scopes             TEXT COLLATE "C" NOT NULL,
    resource           TEXT COLLATE "C" NOT NULL,
    redirect_uri       TEXT COLLATE "C" NOT NULL,
    challenge          TEXT COLLATE "C" NOT NULL,
    code_hash          TEXT COLLATE "C" NOT NULL CONSTRAINT app_grants_code UNIQUE,
    code_expires_at_ms BIGINT NOT NULL,
    -- When the code was exchanged: from then on the grant is a connected app.
    code_used_at_ms    BIGINT,
    created_at_ms      BIGINT NOT NULL,
    last_used_at_ms    BIGINT,
    expires_at_ms      BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX app_grants_of_member ON app_grants (workspace_id, member_id);
CREATE INDEX app_grants_of_client ON app_grants (client_id);
CREATE INDEX app_grants_expiry ON app_grants (expires_at_ms);

-- Tokens by their hash. A refresh token that was used stays, so that its second use is noticed.
CREATE TABLE app_tokens (
    hash          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id  TEXT COLLATE "C" NOT NULL,
    grant_id      TEXT COLLATE "C" NOT NULL,
    kind          TEXT COLLATE "C" NOT NULL,
    scopes        TEXT COLLATE "C" NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    used_at_ms    BIGINT,
    FOREIGN KEY (workspace_id, grant_id) REFERENCES app_grants (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX app_tokens_of_grant ON app_tokens (workspace_id, grant_id);
CREATE INDEX app_tokens_expiry ON app_tokens (expires_at_ms);

-- Clients that a workspace has switched off.
CREATE TABLE app_blocks (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    client_id     TEXT COLLATE "C" NOT NULL,
    client_name   TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, client_id)
);
