-- Clients that an admin has named: for members of their workspace alone.
ALTER TABLE app_clients ADD COLUMN workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE;
-- The user that such a client gets tokens for by its secret alone.
ALTER TABLE app_clients ADD COLUMN acts_for TEXT;
-- What such a client may have at most.
ALTER TABLE app_clients ADD COLUMN scopes TEXT NOT NULL DEFAULT '[]';
CREATE INDEX app_clients_of_workspace ON app_clients (workspace_id);

-- Access tokens of clients that act for a user by themselves, by their hash.
CREATE TABLE app_client_tokens (
    hash          TEXT NOT NULL PRIMARY KEY,
    client_id     TEXT NOT NULL REFERENCES app_clients (id) ON DELETE CASCADE,
    scopes        TEXT NOT NULL,
    resource      TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
);
CREATE INDEX app_client_tokens_of_client ON app_client_tokens (client_id, created_at_ms);
CREATE INDEX app_client_tokens_expiry ON app_client_tokens (expires_at_ms);

-- Identity assertions that were exchanged for a token, by a digest of issuer and id, until they are over: each
-- is good once.
CREATE TABLE app_assertions (
    hash          TEXT NOT NULL PRIMARY KEY,
    expires_at_ms INTEGER NOT NULL
);
CREATE INDEX app_assertions_expiry ON app_assertions (expires_at_ms);
