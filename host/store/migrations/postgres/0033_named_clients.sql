-- Clients that an admin has named: for members of their workspace alone.
ALTER TABLE app_clients ADD COLUMN workspace_id TEXT COLLATE "C" REFERENCES workspaces (id) ON DELETE CASCADE;
-- The user that such a client gets tokens for by its secret alone.
ALTER TABLE app_clients ADD COLUMN acts_for TEXT COLLATE "C";
-- What such a client may have at most.
ALTER TABLE app_clients ADD COLUMN scopes TEXT COLLATE "C" NOT NULL DEFAULT '[]';
CREATE INDEX app_clients_of_workspace ON app_clients (workspace_id);

-- Access tokens of clients that act for a user by themselves, by their hash.
CREATE TABLE app_client_tokens (
    hash          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id     TEXT COLLATE "C" NOT NULL REFERENCES app_clients (id) ON DELETE CASCADE,
    scopes        TEXT COLLATE "C" NOT NULL,
    resource      TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX app_client_tokens_of_client ON app_client_tokens (client_id, created_at_ms);
CREATE INDEX app_client_tokens_expiry ON app_client_tokens (expires_at_ms);

-- Identity assertions that were exchanged for a token, by a digest of issuer and id, until they are over: each
-- is good once.
CREATE TABLE app_assertions (
    hash          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    expires_at_ms BIGINT NOT NULL
);
CREATE INDEX app_assertions_expiry ON app_assertions (expires_at_ms);
