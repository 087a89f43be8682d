-- The newest of what a workspace has kept, found without reading what the others have: its quotas are counted by these.
CREATE INDEX results_by_age ON results (workspace_id, expires_at_ms);
CREATE INDEX idempotency_by_age ON idempotency (workspace_id, expires_at_ms);
