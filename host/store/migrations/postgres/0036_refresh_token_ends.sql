-- When a connection's refresh token ends, where the provider says it.

ALTER TABLE connections ADD COLUMN refresh_expires_at_ms BIGINT;
-- When it is renewed for the sake of the refresh token. NULL: not known, or done and the end stayed.
ALTER TABLE connections ADD COLUMN refresh_due_at_ms BIGINT;
-- The end that subscribers were told.
ALTER TABLE connections ADD COLUMN refresh_expiry_told_ms BIGINT;
CREATE INDEX connections_refresh_due ON connections (refresh_due_at_ms) WHERE refresh_due_at_ms IS NOT NULL;
CREATE INDEX connections_refresh_expiry ON connections (refresh_expires_at_ms) WHERE refresh_expires_at_ms IS NOT NULL;
