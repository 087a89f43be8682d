-- Triggers: reading tools that are polled for new items. config and cursor are sealed.
CREATE TABLE triggers (
    workspace_id      TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id                TEXT NOT NULL,
    user_id           TEXT NOT NULL,
    service           TEXT NOT NULL,
    event             TEXT NOT NULL,
    -- NULL: the one that a call would choose.
    connection_id     TEXT,
    config            TEXT NOT NULL,
    interval_ms       INTEGER NOT NULL,
    since_ms          INTEGER,
    state             TEXT NOT NULL,
    failures          INTEGER NOT NULL,
    last_error        TEXT,
    last_poll_at_ms   INTEGER,
    last_item_at_ms   INTEGER,
    items_found       INTEGER NOT NULL,
    -- NULL: what is there has not been read to its end yet.
    watching_since_ms INTEGER,
    -- Items of this time and older were there before.
    floor_ms          INTEGER,
    -- The page at which the next poll goes on.
    cursor            TEXT,
    pages_read        INTEGER NOT NULL,
    reads_all         BOOLEAN NOT NULL,
    next_poll_at_ms   INTEGER NOT NULL,
    lease_owner       TEXT,
    lease_until_ms    INTEGER,
    created_at_ms     INTEGER NOT NULL,
    updated_at_ms     INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX triggers_newest ON triggers (workspace_id, created_at_ms, id);
CREATE INDEX triggers_of_user ON triggers (workspace_id, user_id, created_at_ms, id);
CREATE INDEX triggers_due ON triggers (next_poll_at_ms) WHERE state <> 'paused';

-- What has been seen, by the id of its event.
CREATE TABLE trigger_items (
    workspace_id TEXT NOT NULL,
    trigger_id   TEXT NOT NULL,
    item         TEXT NOT NULL,
    seen_at_ms   INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, trigger_id, item),
    FOREIGN KEY (workspace_id, trigger_id) REFERENCES triggers (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX trigger_items_newest ON trigger_items (workspace_id, trigger_id, seen_at_ms, item);
