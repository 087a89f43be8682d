-- A plugin's values belong to the connection that its call ran with: what was read from one account is
-- not shown to a call for another. Values of before stay with calls that have none.
ALTER TABLE session_kv ADD COLUMN connection_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE session_kv ALTER COLUMN connection_id DROP DEFAULT;
ALTER TABLE session_kv DROP CONSTRAINT session_kv_pkey;
ALTER TABLE session_kv ADD PRIMARY KEY (workspace_id, session_id, service, connection_id, key);
