-- Skills, permissions, approvals, idempotency, kept results, shared limits, the audit log.

CREATE TABLE skills (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT NOT NULL,
    name          TEXT NOT NULL,
    summary       TEXT NOT NULL,
    instructions  TEXT NOT NULL,
    searched      TEXT NOT NULL,
    version       INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX skills_newest ON skills (workspace_id, created_at_ms, id);

CREATE TABLE skill_versions (
    workspace_id  TEXT NOT NULL,
    id            TEXT NOT NULL,
    version       INTEGER NOT NULL,
    name          TEXT NOT NULL,
    summary       TEXT NOT NULL,
    instructions  TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id, version),
    FOREIGN KEY (workspace_id, id) REFERENCES skills (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE permission_rules (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id       TEXT NOT NULL,
    kind          TEXT NOT NULL,
    name          TEXT NOT NULL,
    rule          TEXT NOT NULL,
    expires_at_ms INTEGER,
    max_calls     INTEGER,
    used          INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, user_id, kind, name)
);

CREATE TABLE approvals (
    workspace_id   TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id             TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    tool_name      TEXT NOT NULL,
    arguments_hash TEXT NOT NULL,
    requests       TEXT NOT NULL,
    session_id     TEXT,
    state          TEXT NOT NULL,
    decided_by     TEXT,
    decided_at_ms  INTEGER,
    created_at_ms  INTEGER NOT NULL,
    expires_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX approvals_newest ON approvals (workspace_id, created_at_ms, id);
-- One open approval for one call, however often the call is repeated meanwhile.
CREATE UNIQUE INDEX approvals_open ON approvals (workspace_id, user_id, tool_name, arguments_hash)
    WHERE state IN ('pending', 'approved');

CREATE TABLE idempotency (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    key           TEXT NOT NULL,
    request_hash  TEXT NOT NULL,
    execution_id  TEXT NOT NULL,
    sent          BOOLEAN NOT NULL,
    deadline_ms   INTEGER NOT NULL,
    answer        TEXT,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_expiry ON idempotency (expires_at_ms);

CREATE TABLE results (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT NOT NULL,
    execution_id  TEXT NOT NULL,
    content       BLOB NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX results_expiry ON results (expires_at_ms);

CREATE TABLE rate_counts (
    subject      TEXT NOT NULL,
    span_ms      INTEGER NOT NULL,
    starts_at_ms INTEGER NOT NULL,
    used         INTEGER NOT NULL,
    PRIMARY KEY (subject, span_ms, starts_at_ms)
);

CREATE TABLE audit_log (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id           TEXT NOT NULL,
    at_ms        INTEGER NOT NULL,
    actor        TEXT NOT NULL,
    action       TEXT NOT NULL,
    subject      TEXT NOT NULL,
    details      TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX audit_log_newest ON audit_log (workspace_id, at_ms, id);
