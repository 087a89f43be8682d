-- What the receipts of one day have in common: the tool, the plugin file and the key. Its id is a digest of the rest.
CREATE TABLE execution_contexts (
    workspace_id   TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id             BLOB NOT NULL,
    day            INTEGER NOT NULL,
    tool_name      TEXT NOT NULL,
    service        TEXT NOT NULL,
    key_id         TEXT NOT NULL,
    key_name       TEXT NOT NULL,
    key_prefix     TEXT NOT NULL,
    plugin_version TEXT NOT NULL,
    plugin_sha256  TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id)
) WITHOUT ROWID;
INSERT INTO execution_contexts
    SELECT workspace_id, randomblob(16), day, tool_name, service, key_id, key_name, key_prefix, plugin_version, plugin_sha256
    FROM (SELECT DISTINCT workspace_id, started_at_ms / 86400000 AS day, tool_name, service, key_id, key_name, key_prefix,
        plugin_version, plugin_sha256 FROM executions);

-- Ids sort by time, so the primary key serves the lists, and without a rowid the table is that index.
-- Without a session_id the session is the one of the id.
ALTER TABLE executions RENAME TO executions_before;
CREATE TABLE executions (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT NOT NULL,
    kind          TEXT NOT NULL,
    context       BLOB NOT NULL,
    user_id       TEXT NOT NULL,
    session_id    TEXT,
    connection_id TEXT,
    status        TEXT NOT NULL,
    reason        TEXT,
    started_at_ms INTEGER NOT NULL,
    duration_ms   INTEGER NOT NULL,
    requests      TEXT NOT NULL,
    arguments     TEXT,
    result        TEXT,
    PRIMARY KEY (workspace_id, id)
) WITHOUT ROWID;
INSERT INTO executions
    SELECT e.workspace_id, e.id, e.kind, c.id, e.user_id, e.session_id, e.connection_id, e.status, e.reason,
        e.started_at_ms, e.duration_ms, e.requests, e.arguments, e.result
    FROM executions_before AS e JOIN execution_contexts AS c
    ON c.workspace_id = e.workspace_id AND c.day = e.started_at_ms / 86400000 AND c.tool_name = e.tool_name
    AND c.service = e.service AND c.key_id = e.key_id AND c.key_name = e.key_name AND c.key_prefix = e.key_prefix
    AND c.plugin_version = e.plugin_version AND c.plugin_sha256 = e.plugin_sha256
    ORDER BY e.workspace_id, e.id;

-- The foreign key of the bodies followed the table to its new name.
CREATE TABLE execution_payloads_of_receipts (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    sealed       TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, execution_id) REFERENCES executions (workspace_id, id) ON DELETE CASCADE
);
INSERT INTO execution_payloads_of_receipts SELECT workspace_id, id, execution_id, sealed FROM execution_payloads;
DROP TABLE execution_payloads;
DROP TABLE executions_before;
ALTER TABLE execution_payloads_of_receipts RENAME TO execution_payloads;
CREATE INDEX execution_payloads_of ON execution_payloads (workspace_id, execution_id);
CREATE INDEX executions_of_user ON executions (workspace_id, user_id, id);
-- Receipts that were begun and have not ended: few at any time.
CREATE INDEX executions_running ON executions (started_at_ms) WHERE status = 'running';
