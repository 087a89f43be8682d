-- Skills, permissions, approvals, idempotency, kept results, shared limits, the audit log.

CREATE TABLE skills (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    summary       TEXT COLLATE "C" NOT NULL,
    instructions  TEXT COLLATE "C" NOT NULL,
    searched      TEXT COLLATE "C" NOT NULL,
    version       BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX skills_newest ON skills (workspace_id, created_at_ms, id);

CREATE TABLE skill_versions (
    workspace_id  TEXT COLLATE "C" NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    version       BIGINT NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    summary       TEXT COLLATE "C" NOT NULL,
    instructions  TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id, version),
    FOREIGN KEY (workspace_id, id) REFERENCES skills (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE permission_rules (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id       TEXT COLLATE "C" NOT NULL,
    kind          TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    rule          TEXT COLLATE "C" NOT NULL,
    expires_at_ms BIGINT,
    max_calls     BIGINT,
    used          BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, user_id, kind, name)
);

CREATE TABLE approvals (
    workspace_id   TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id             TEXT COLLATE "C" NOT NULL,
    user_id        TEXT COLLATE "C" NOT NULL,
    tool_name      TEXT COLLATE "C" NOT NULL,
    arguments_hash TEXT COLLATE "C" NOT NULL,
    requests       TEXT COLLATE "C" NOT NULL,
    session_id     TEXT COLLATE "C",
    state          TEXT COLLATE "C" NOT NULL,
    decided_by     TEXT COLLATE "C",
    decided_at_ms  BIGINT,
    created_at_ms  BIGINT NOT NULL,
    expires_at_ms  BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX approvals_newest ON approvals (workspace_id, created_at_ms, id);
-- One open approval for one call, however often the call is repeated meanwhile.
CREATE UNIQUE INDEX approvals_open ON approvals (workspace_id, user_id, tool_name, arguments_hash)
    WHERE state IN ('pending', 'approved');

CREATE TABLE idempotency (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    key           TEXT COLLATE "C" NOT NULL,
    request_hash  TEXT COLLATE "C" NOT NULL,
    execution_id  TEXT COLLATE "C" NOT NULL,
    sent          BOOLEAN NOT NULL,
    deadline_ms   BIGINT NOT NULL,
    answer        TEXT COLLATE "C",
    expires_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_expiry ON idempotency (expires_at_ms);

CREATE TABLE results (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT COLLATE "C" NOT NULL,
    execution_id  TEXT COLLATE "C" NOT NULL,
    content       BYTEA NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX results_expiry ON results (expires_at_ms);

CREATE TABLE rate_counts (
    subject      TEXT COLLATE "C" NOT NULL,
    span_ms      BIGINT NOT NULL,
    starts_at_ms BIGINT NOT NULL,
    used         BIGINT NOT NULL,
    PRIMARY KEY (subject, span_ms, starts_at_ms)
);

CREATE TABLE audit_log (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id           TEXT COLLATE "C" NOT NULL,
    at_ms        BIGINT NOT NULL,
    actor        TEXT COLLATE "C" NOT NULL,
    action       TEXT COLLATE "C" NOT NULL,
    subject      TEXT COLLATE "C" NOT NULL,
    details      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX audit_log_newest ON audit_log (workspace_id, at_ms, id);
