-- Files of users: those that they uploaded, and those that a tool returned. The content is sealed in pieces, whose key is
-- in sealed_key; it comes last, so that lists do not read it.
CREATE TABLE files (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    -- The call that returned it; NULL: it was uploaded.
    execution_id  TEXT,
    name          TEXT,
    media_type    TEXT NOT NULL,
    size_bytes    INTEGER NOT NULL,
    sha256        TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    sealed_key    TEXT NOT NULL,
    content       BLOB NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX files_newest ON files (workspace_id, created_at_ms, id);
CREATE INDEX files_of_user ON files (workspace_id, user_id, created_at_ms, id);
CREATE INDEX files_expiry ON files (expires_at_ms);
