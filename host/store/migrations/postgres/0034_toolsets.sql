-- Named choices of tools, services and Skills, each listed to MCP clients at an address of its own.
CREATE TABLE toolsets (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    name          TEXT COLLATE "C" NOT NULL,
    title         TEXT COLLATE "C" NOT NULL,
    description   TEXT COLLATE "C" NOT NULL,
    -- JSON arrays of names of tools, names of services and ids of Skills.
    tools         TEXT COLLATE "C" NOT NULL,
    services      TEXT COLLATE "C" NOT NULL,
    skills        TEXT COLLATE "C" NOT NULL,
    -- Whether the tools of the main address are listed too.
    generic_tools BOOLEAN NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

INSERT INTO changes (topic, version) VALUES ('toolsets', 1);
