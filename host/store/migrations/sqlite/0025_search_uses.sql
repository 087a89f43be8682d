-- What a workspace executed after which searches, by the words of the searches.
CREATE TABLE search_uses (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    word         TEXT NOT NULL,
    tool_name    TEXT NOT NULL,
    times        INTEGER NOT NULL,
    used_at_ms   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, word, tool_name)
) WITHOUT ROWID;
CREATE INDEX search_uses_age ON search_uses (used_at_ms);
