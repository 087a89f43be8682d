-- Webhooks: endpoints, the events that somebody wants (the outbox), and one delivery for each
-- endpoint that wants one. Columns named sealed hold boxes that only the vault opens.

CREATE TABLE webhooks (
    id                TEXT PRIMARY KEY,
    workspace_id      TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    url               TEXT NOT NULL,
    description       TEXT NOT NULL,
    events            TEXT NOT NULL,
    filters           TEXT NOT NULL,
    enabled           BOOLEAN NOT NULL,
    disabled_reason   TEXT,
    disabled_at_ms    INTEGER,
    sealed            TEXT NOT NULL,
    sealed_previous   TEXT,
    previous_until_ms INTEGER,
    failures          INTEGER NOT NULL,
    failing_since_ms  INTEGER,
    retry_at_ms       INTEGER,
    lease_owner       TEXT,
    lease_until_ms    INTEGER,
    created_at_ms     INTEGER NOT NULL,
    updated_at_ms     INTEGER NOT NULL
);
CREATE INDEX webhooks_of_workspace ON webhooks (workspace_id, created_at_ms);

CREATE TABLE webhook_events (
    id            TEXT PRIMARY KEY,
    workspace_id  TEXT NOT NULL,
    type          TEXT NOT NULL,
    payload       TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
);
CREATE INDEX webhook_events_oldest ON webhook_events (created_at_ms);

-- No foreign keys: an endpoint that goes while a change is written must not undo the change.
CREATE TABLE webhook_deliveries (
    seq                INTEGER PRIMARY KEY AUTOINCREMENT,
    id                 TEXT NOT NULL CONSTRAINT webhook_deliveries_id UNIQUE,
    workspace_id       TEXT NOT NULL,
    webhook_id         TEXT NOT NULL,
    event_id           TEXT NOT NULL,
    type               TEXT NOT NULL,
    state              TEXT NOT NULL,
    attempts           INTEGER NOT NULL,
    next_attempt_at_ms INTEGER NOT NULL,
    last_attempt_at_ms INTEGER,
    response_status    INTEGER,
    duration_ms        INTEGER,
    last_error         TEXT,
    created_at_ms      INTEGER NOT NULL
);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, seq) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (webhook_id, created_at_ms, id);
CREATE INDEX webhook_deliveries_oldest ON webhook_deliveries (created_at_ms);
CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries (event_id);

-- The end of a token that subscribers have been told of.
ALTER TABLE connections ADD COLUMN expiry_told_ms INTEGER;

-- Where providers send their events: one address for a connection, with the secret that signs them.
CREATE TABLE hooks (
    connection_id       TEXT PRIMARY KEY,
    workspace_id        TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id             TEXT NOT NULL,
    service             TEXT NOT NULL,
    sealed              TEXT NOT NULL,
    accepted            INTEGER NOT NULL,
    refused             INTEGER NOT NULL,
    last_accepted_at_ms INTEGER,
    last_refused_at_ms  INTEGER,
    last_refusal        TEXT,
    created_at_ms       INTEGER NOT NULL,
    updated_at_ms       INTEGER NOT NULL
);

-- What has been taken already, so that nothing is taken twice.
CREATE TABLE hook_deliveries (
    connection_id TEXT NOT NULL,
    delivery      TEXT NOT NULL,
    at_ms         INTEGER NOT NULL,
    PRIMARY KEY (connection_id, delivery)
);
CREATE INDEX hook_deliveries_oldest ON hook_deliveries (at_ms);
