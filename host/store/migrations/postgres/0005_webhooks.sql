-- Webhooks: endpoints, the events that somebody wants (the outbox), and one delivery for each
-- endpoint that wants one. Columns named sealed hold boxes that only the vault opens.

CREATE TABLE webhooks (
    id                TEXT COLLATE "C" PRIMARY KEY,
    workspace_id      TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    url               TEXT COLLATE "C" NOT NULL,
    description       TEXT COLLATE "C" NOT NULL,
    events            TEXT COLLATE "C" NOT NULL,
    filters           TEXT COLLATE "C" NOT NULL,
    enabled           BOOLEAN NOT NULL,
    disabled_reason   TEXT COLLATE "C",
    disabled_at_ms    BIGINT,
    sealed            TEXT COLLATE "C" NOT NULL,
    sealed_previous   TEXT COLLATE "C",
    previous_until_ms BIGINT,
    failures          BIGINT NOT NULL,
    failing_since_ms  BIGINT,
    retry_at_ms       BIGINT,
    lease_owner       TEXT COLLATE "C",
    lease_until_ms    BIGINT,
    created_at_ms     BIGINT NOT NULL,
    updated_at_ms     BIGINT NOT NULL
);
CREATE INDEX webhooks_of_workspace ON webhooks (workspace_id, created_at_ms);

CREATE TABLE webhook_events (
    id            TEXT COLLATE "C" PRIMARY KEY,
    workspace_id  TEXT COLLATE "C" NOT NULL,
    type          TEXT COLLATE "C" NOT NULL,
    payload       TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL
);
CREATE INDEX webhook_events_oldest ON webhook_events (created_at_ms);

-- No foreign keys: an endpoint that goes while a change is written must not undo the change.
CREATE TABLE webhook_deliveries (
    seq                BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                 TEXT COLLATE "C" NOT NULL CONSTRAINT webhook_deliveries_id UNIQUE,
    workspace_id       TEXT COLLATE "C" NOT NULL,
    webhook_id         TEXT COLLATE "C" NOT NULL,
    event_id           TEXT COLLATE "C" NOT NULL,
    type               TEXT COLLATE "C" NOT NULL,
    state              TEXT COLLATE "C" NOT NULL,
    attempts           BIGINT NOT NULL,
    next_attempt_at_ms BIGINT NOT NULL,
    last_attempt_at_ms BIGINT,
    response_status    BIGINT,
    duration_ms        BIGINT,
    last_error         TEXT COLLATE "C",
    created_at_ms      BIGINT NOT NULL
);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, seq) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (webhook_id, created_at_ms, id);
CREATE INDEX webhook_deliveries_oldest ON webhook_deliveries (created_at_ms);
CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries (event_id);

-- The end of a token that subscribers have been told of.
ALTER TABLE connections ADD COLUMN expiry_told_ms BIGINT;

-- Where providers send their events: one address for a connection, with the secret that signs them.
CREATE TABLE hooks (
    connection_id       TEXT COLLATE "C" PRIMARY KEY,
    workspace_id        TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id             TEXT COLLATE "C" NOT NULL,
    service             TEXT COLLATE "C" NOT NULL,
    sealed              TEXT COLLATE "C" NOT NULL,
    accepted            BIGINT NOT NULL,
    refused             BIGINT NOT NULL,
    last_accepted_at_ms BIGINT,
    last_refused_at_ms  BIGINT,
    last_refusal        TEXT COLLATE "C",
    created_at_ms       BIGINT NOT NULL,
    updated_at_ms       BIGINT NOT NULL
);

-- What has been taken already, so that nothing is taken twice.
CREATE TABLE hook_deliveries (
    connection_id TEXT COLLATE "C" NOT NULL,
    delivery      TEXT COLLATE "C" NOT NULL,
    at_ms         BIGINT NOT NULL,
    PRIMARY KEY (connection_id, delivery)
);
CREATE INDEX hook_deliveries_oldest ON hook_deliveries (at_ms);
