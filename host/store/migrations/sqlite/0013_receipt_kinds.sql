-- What the gateway itself sends for a connection leaves receipts too.
ALTER TABLE executions ADD COLUMN kind TEXT NOT NULL DEFAULT 'tool';
-- Receipts that were begun and have not ended: few at any time.
CREATE INDEX executions_running ON executions (started_at_ms) WHERE status = 'running';
