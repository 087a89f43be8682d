-- What the receipts of one day have in common: the tool, the plugin file and the key. Its id is a digest of the rest.
CREATE TABLE execution_contexts (
    workspace_id   TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id             BYTEA NOT NULL,
    day            BIGINT NOT NULL,
    tool_name      TEXT COLLATE "C" NOT NULL,
    service        TEXT COLLATE "C" NOT NULL,
    key_id         TEXT COLLATE "C" NOT NULL,
    key_name       TEXT COLLATE "C" NOT NULL,
    key_prefix     TEXT COLLATE "C" NOT NULL,
    plugin_version TEXT COLLATE "C" NOT NULL,
    plugin_sha256  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
INSERT INTO execution_contexts
    SELECT workspace_id, decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), day, tool_name, service, key_id,
        key_name, key_prefix, plugin_version, plugin_sha256
    FROM (SELECT DISTINCT workspace_id, started_at_ms / 86400000 AS day, tool_name, service, key_id, key_name, key_prefix,
        plugin_version, plugin_sha256 FROM executions) AS found;

-- Ids sort by time, so the primary key serves the lists. Without a session_id the session is the one of the id.
DROP INDEX executions_newest;
DROP INDEX executions_of_user;
ALTER TABLE executions ADD COLUMN context BYTEA;
UPDATE executions AS e SET context = c.id FROM execution_contexts AS c
    WHERE c.workspace_id = e.workspace_id AND c.day = e.started_at_ms / 86400000 AND c.tool_name = e.tool_name
    AND c.service = e.service AND c.key_id = e.key_id AND c.key_name = e.key_name AND c.key_prefix = e.key_prefix
    AND c.plugin_version = e.plugin_version AND c.plugin_sha256 = e.plugin_sha256;
ALTER TABLE executions
    ALTER COLUMN context SET NOT NULL,
    ALTER COLUMN session_id DROP NOT NULL,
    DROP COLUMN tool_name,
    DROP COLUMN service,
    DROP COLUMN key_id,
    DROP COLUMN key_name,
    DROP COLUMN key_prefix,
    DROP COLUMN plugin_version,
    DROP COLUMN plugin_sha256;
CREATE INDEX executions_of_user ON executions (workspace_id, user_id, id);
