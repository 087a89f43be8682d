-- Origins of applications that connect links may lead to, as admins have registered them.
CREATE TABLE page_origins (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT NOT NULL,
    origin        TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    CONSTRAINT page_origins_origin UNIQUE (workspace_id, origin)
);

-- Whether the link makes a first connection only: beside another one of the slot its user has to be asked.
ALTER TABLE connect_flows ADD COLUMN first_only BOOLEAN NOT NULL DEFAULT FALSE;
-- Credentials of its form that the provider refused.
ALTER TABLE connect_flows ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
