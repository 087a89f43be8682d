-- Workspaces whose events can be read. The log is on from its first read until nobody has read it for a week.
CREATE TABLE event_logs (
    workspace_id TEXT COLLATE "C" PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
    enabled      BOOLEAN NOT NULL,
    -- Of the newest numbered event.
    last_seq     BIGINT NOT NULL,
    -- Events up to this number are deleted, or were not written.
    dropped_seq  BIGINT NOT NULL,
    read_at_ms   BIGINT NOT NULL
);

-- Events of workspaces whose log is on. No foreign key: as in webhook_events.
CREATE TABLE logged_events (
    -- The order in which they were written, which is not the order in which their transactions were committed.
    written       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id  TEXT COLLATE "C" NOT NULL,
    -- The place in the log, given after the commit; NULL until then.
    seq           BIGINT,
    id            TEXT COLLATE "C" NOT NULL,
    type          TEXT COLLATE "C" NOT NULL,
    user_id       TEXT COLLATE "C",
    payload       TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL
);
CREATE UNIQUE INDEX logged_events_seq ON logged_events (workspace_id, seq);
-- Unique as the one before it is, or SQLite would take that one for the events of one user.
CREATE UNIQUE INDEX logged_events_of_user ON logged_events (workspace_id, user_id, seq);
CREATE INDEX logged_events_unnumbered ON logged_events (workspace_id, written) WHERE seq IS NULL;
