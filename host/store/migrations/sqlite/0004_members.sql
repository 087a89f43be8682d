-- People: members of workspaces, the links that let them in, where they are signed in.

CREATE TABLE members (
    workspace_id    TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id              TEXT NOT NULL,
    email           TEXT NOT NULL,
    name            TEXT NOT NULL,
    role            TEXT NOT NULL,
    password_hash   TEXT,
    oidc_subject    TEXT,
    created_at_ms   INTEGER NOT NULL,
    last_seen_at_ms INTEGER,
    PRIMARY KEY (workspace_id, id),
    CONSTRAINT members_email UNIQUE (workspace_id, email)
);
CREATE INDEX members_by_email ON members (email);

CREATE TABLE member_links (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT NOT NULL,
    token_hash    TEXT NOT NULL CONSTRAINT member_links_token UNIQUE,
    kind          TEXT NOT NULL,
    email         TEXT,
    role          TEXT NOT NULL,
    member_id     TEXT,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE TABLE member_sign_ins (
    workspace_id    TEXT NOT NULL,
    id              TEXT NOT NULL,
    member_id       TEXT NOT NULL,
    refresh_hash    TEXT NOT NULL CONSTRAINT member_sign_ins_refresh UNIQUE,
    previous_hash   TEXT CONSTRAINT member_sign_ins_previous UNIQUE,
    rotated_at_ms   INTEGER NOT NULL,
    created_at_ms   INTEGER NOT NULL,
    last_seen_at_ms INTEGER NOT NULL,
    expires_at_ms   INTEGER NOT NULL,
    address         TEXT,
    user_agent      TEXT,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX member_sign_ins_of_member ON member_sign_ins (workspace_id, member_id);
CREATE INDEX member_sign_ins_expiry ON member_sign_ins (expires_at_ms);

-- From where a change was made, and in which request.
ALTER TABLE audit_log ADD COLUMN address TEXT;
ALTER TABLE audit_log ADD COLUMN request_id TEXT;
