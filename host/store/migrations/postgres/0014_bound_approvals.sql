-- An approval belongs to who asked, the connection, the plugin and the planned requests. What was open
-- before says nothing of these, and is asked about again.
ALTER TABLE approvals ADD COLUMN asker TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN asker_name TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN approvers TEXT COLLATE "C" NOT NULL DEFAULT 'admins';
ALTER TABLE approvals ADD COLUMN connection_id TEXT COLLATE "C";
ALTER TABLE approvals ADD COLUMN account TEXT COLLATE "C";
ALTER TABLE approvals ADD COLUMN plugin_version TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN plugin_sha256 TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN title TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN arguments TEXT COLLATE "C" NOT NULL DEFAULT '{}';
-- The plan that the run is held to: digests of requests, the clock and the random bytes of the plugin.
ALTER TABLE approvals ADD COLUMN plan TEXT COLLATE "C" NOT NULL DEFAULT '{}';
-- The run that used it.
ALTER TABLE approvals ADD COLUMN execution_id TEXT COLLATE "C";
UPDATE approvals SET state = 'expired' WHERE state IN ('pending', 'approved');

-- Who decides about the calls of a rule that asks.
ALTER TABLE permission_rules ADD COLUMN approvers TEXT COLLATE "C" NOT NULL DEFAULT 'admins';

-- When a user last connected the account: a renewed link may name another one.
ALTER TABLE connections ADD COLUMN connected_at_ms BIGINT NOT NULL DEFAULT 0;
CREATE INDEX approvals_of_executions ON approvals (workspace_id, execution_id) WHERE execution_id IS NOT NULL;
