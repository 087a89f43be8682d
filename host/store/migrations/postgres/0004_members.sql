-- People: members of workspaces, the links that let them in, where they are signed in.

CREATE TABLE members (
    workspace_id    TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id              TEXT COLLATE "C" NOT NULL,
    email           TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    role            TEXT COLLATE "C" NOT NULL,
    password_hash   TEXT COLLATE "C",
    oidc_subject    TEXT COLLATE "C",
    created_at_ms   BIGINT NOT NULL,
    last_seen_at_ms BIGINT,
    PRIMARY KEY (workspace_id, id),
    CONSTRAINT members_email UNIQUE (workspace_id, email)
);
CREATE INDEX members_by_email ON members (email);

CREATE TABLE member_links (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT COLLATE "C" NOT NULL,
    token_hash    TEXT COLLATE "C" NOT NULL CONSTRAINT member_links_token UNIQUE,
    kind          TEXT COLLATE "C" NOT NULL,
    email         TEXT COLLATE "C",
    role          TEXT COLLATE "C" NOT NULL,
    member_id     TEXT COLLATE "C",
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE TABLE member_sign_ins (
    workspace_id    TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    member_id       TEXT COLLATE "C" NOT NULL,
    refresh_hash    TEXT COLLATE "C" NOT NULL CONSTRAINT member_sign_ins_refresh UNIQUE,
    previous_hash   TEXT COLLATE "C" CONSTRAINT member_sign_ins_previous UNIQUE,
    rotated_at_ms   BIGINT NOT NULL,
    created_at_ms   BIGINT NOT NULL,
    last_seen_at_ms BIGINT NOT NULL,
    expires_at_ms   BIGINT NOT NULL,
    address         TEXT COLLATE "C",
    user_agent      TEXT COLLATE "C",
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX member_sign_ins_of_member ON member_sign_ins (workspace_id, member_id);
CREATE INDEX member_sign_ins_expiry ON member_sign_ins (expires_at_ms);

-- From where a change was made, and in which request.
ALTER TABLE audit_log ADD COLUMN address TEXT COLLATE "C";
ALTER TABLE audit_log ADD COLUMN request_id TEXT COLLATE "C";
