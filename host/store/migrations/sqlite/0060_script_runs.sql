-- Runs of scripts, and what each of their steps came to: a run that paused or whose process died is resumed from here.
-- The sealed texts come last, so that lists do not read them.
CREATE TABLE script_runs (
    workspace_id   TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id             TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    session_id     TEXT,
    -- The key that asked.
    actor          TEXT NOT NULL,
    -- The receipt of the run itself, the parent of those of its calls.
    execution_id   TEXT NOT NULL,
    script_sha256  TEXT NOT NULL,
    engine_sha256  TEXT NOT NULL,
    state          TEXT NOT NULL,
    steps          INTEGER NOT NULL,
    dry_run        BOOLEAN NOT NULL,
    created_at_ms  INTEGER NOT NULL,
    updated_at_ms  INTEGER NOT NULL,
    expires_at_ms  INTEGER NOT NULL,
    -- The process that runs it; NULL: none does.
    lease_owner    TEXT,
    lease_until_ms INTEGER NOT NULL,
    pause_sealed   TEXT,
    start_sealed   TEXT NOT NULL,
    end_sealed     TEXT,
    PRIMARY KEY (workspace_id, id)
);
-- Not unique: SQLite would read one where the workspace is named too.
CREATE INDEX script_runs_by_id ON script_runs (id);
CREATE INDEX script_runs_of_user ON script_runs (workspace_id, user_id, id);
CREATE INDEX script_runs_expiry ON script_runs (expires_at_ms);

CREATE TABLE script_steps (
    workspace_id   TEXT NOT NULL,
    run_id         TEXT NOT NULL,
    step           INTEGER NOT NULL,
    kind           TEXT NOT NULL,
    fingerprint    TEXT NOT NULL,
    name           TEXT NOT NULL,
    line           INTEGER NOT NULL,
    execution_id   TEXT,
    -- The place in the order in which the script learned the outcomes; NULL until then.
    settled_order  INTEGER,
    -- The time that the script was told with the outcome.
    now_ms         INTEGER,
    status         TEXT,
    began_at_ms    INTEGER NOT NULL,
    ended_at_ms    INTEGER,
    outcome_sealed TEXT,
    PRIMARY KEY (run_id, step),
    FOREIGN KEY (workspace_id, run_id) REFERENCES script_runs (workspace_id, id) ON DELETE CASCADE
);
-- Two outcomes with one place would be two runs.
CREATE UNIQUE INDEX script_steps_settled ON script_steps (run_id, settled_order);
