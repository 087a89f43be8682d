-- A refresh token's place in the chain of its grant, and when a token was issued. NULL: issued before this migration.
ALTER TABLE app_tokens ADD COLUMN generation BIGINT;
ALTER TABLE app_tokens ADD COLUMN issued_at_ms BIGINT;
-- Where a client publishes the keys that its assertions are signed with.
ALTER TABLE app_clients ADD COLUMN jwks_uri TEXT COLLATE "C";
-- The issuer as the client knows it. NULL: by the public address.
ALTER TABLE app_requests ADD COLUMN issuer TEXT COLLATE "C";
