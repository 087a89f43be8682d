-- A plugin's values belong to the connection that its call ran with: what was read from one account is
-- not shown to a call for another. Values of before stay with calls that have none.
CREATE TABLE session_kv_of_connections (
    workspace_id  TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    service       TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    key           TEXT NOT NULL,
    value         BLOB NOT NULL,
    version       INTEGER NOT NULL,
    expires_at_ms INTEGER,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, session_id, service, connection_id, key)
);
INSERT INTO session_kv_of_connections
    SELECT workspace_id, session_id, service, '', key, value, version, expires_at_ms, updated_at_ms FROM session_kv;
DROP TABLE session_kv;
ALTER TABLE session_kv_of_connections RENAME TO session_kv;
