-- Named choices of tools, services and Skills, each listed to MCP clients at an address of its own.
CREATE TABLE toolsets (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name          TEXT NOT NULL,
    title         TEXT NOT NULL,
    description   TEXT NOT NULL,
    -- JSON arrays of names of tools, names of services and ids of Skills.
    tools         TEXT NOT NULL,
    services      TEXT NOT NULL,
    skills        TEXT NOT NULL,
    -- Whether the tools of the main address are listed too.
    generic_tools BOOLEAN NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

INSERT INTO changes (topic, version) VALUES ('toolsets', 1);
