-- The run whose call this was; NULL: the caller itself asked for it.
ALTER TABLE executions ADD COLUMN parent_execution_id TEXT COLLATE "C";
-- Partial, so that all other receipts are written as before.
CREATE INDEX executions_of_parent ON executions (workspace_id, parent_execution_id, id)
    WHERE parent_execution_id IS NOT NULL;
