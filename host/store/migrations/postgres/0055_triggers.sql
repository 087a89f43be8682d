-- Triggers: reading tools that are polled for new items. config and cursor are sealed.
CREATE TABLE triggers (
    workspace_id      TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id                TEXT COLLATE "C" NOT NULL,
    user_id           TEXT COLLATE "C" NOT NULL,
    service           TEXT COLLATE "C" NOT NULL,
    event             TEXT COLLATE "C" NOT NULL,
    -- NULL: the one that a call would choose.
    connection_id     TEXT COLLATE "C",
    config            TEXT COLLATE "C" NOT NULL,
    interval_ms       BIGINT NOT NULL,
    since_ms          BIGINT,
    state             TEXT COLLATE "C" NOT NULL,
    failures          BIGINT NOT NULL,
    last_error        TEXT COLLATE "C",
    last_poll_at_ms   BIGINT,
    last_item_at_ms   BIGINT,
    items_found       BIGINT NOT NULL,
    -- NULL: what is there has not been read to its end yet.
    watching_since_ms BIGINT,
    -- Items of this time and older were there before.
    floor_ms          BIGINT,
    -- The page at which the next poll goes on.
    cursor            TEXT COLLATE "C",
    pages_read        BIGINT NOT NULL,
    reads_all         BOOLEAN NOT NULL,
    next_poll_at_ms   BIGINT NOT NULL,
    lease_owner       TEXT COLLATE "C",
    lease_until_ms    BIGINT,
    created_at_ms     BIGINT NOT NULL,
    updated_at_ms     BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX triggers_newest ON triggers (workspace_id, created_at_ms, id);
CREATE INDEX triggers_of_user ON triggers (workspace_id, user_id, created_at_ms, id);
CREATE INDEX triggers_due ON triggers (next_poll_at_ms) WHERE state <> 'paused';

-- What has been seen, by the id of its event.
CREATE TABLE trigger_items (
    workspace_id TEXT COLLATE "C" NOT NULL,
    trigger_id   TEXT COLLATE "C" NOT NULL,
    item         TEXT COLLATE "C" NOT NULL,
    seen_at_ms   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, trigger_id, item),
    FOREIGN KEY (workspace_id, trigger_id) REFERENCES triggers (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX trigger_items_newest ON trigger_items (workspace_id, trigger_id, seen_at_ms, item);
