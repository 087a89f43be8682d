-- A delivery that a person asks for does not wait until its webhook has rested.
ALTER TABLE webhook_deliveries ADD COLUMN at_once BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX webhook_deliveries_at_once ON webhook_deliveries (webhook_id, seq) WHERE at_once;
-- The execution that the event tells of.
ALTER TABLE webhook_deliveries ADD COLUMN execution_id TEXT;
