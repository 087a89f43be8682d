-- When the MCP server of a plugin was asked for its tools, with what outcome, and when it is asked next.
CREATE TABLE mcp_servers (
    service        TEXT PRIMARY KEY,
    due_at_ms      INTEGER NOT NULL,
    asked_at_ms    INTEGER,
    -- Of the last time; not_asked before the first.
    outcome        TEXT NOT NULL,
    -- The last failure, which stays when the server answers again.
    failure        TEXT,
    failed_at_ms   INTEGER,
    -- Hash of what was put into the plugins folder last, so that it is put there once.
    offered        TEXT,
    lease_owner    TEXT,
    lease_until_ms INTEGER
);
CREATE INDEX mcp_servers_due ON mcp_servers (due_at_ms, service);
