-- Knowledge, and what is said in sessions.

-- The text of a document as it was read; what is searched is made from it. Never changed.
CREATE TABLE knowledge_documents (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    id            TEXT NOT NULL,
    title         TEXT NOT NULL,
    media_type    TEXT NOT NULL,
    sha256        TEXT NOT NULL,
    bytes         INTEGER NOT NULL,
    chars         INTEGER NOT NULL,
    -- Where each page begins, in characters; a JSON array, empty where there are no pages.
    pages         TEXT NOT NULL,
    content       TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX knowledge_newest ON knowledge_documents (workspace_id, created_at_ms, id);

-- One row for every step of a conversation, in the order in which it was taken.
CREATE TABLE session_messages (
    workspace_id  TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    seq           INTEGER NOT NULL,
    id            TEXT NOT NULL,
    role          TEXT NOT NULL,
    content       TEXT NOT NULL,
    -- What the step is beside its text; a JSON object.
    details       TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, session_id, seq),
    FOREIGN KEY (workspace_id, session_id) REFERENCES sessions (workspace_id, id) ON DELETE CASCADE
);

-- Who is taking steps in a session now. A holder that died is replaced once its time is over.
CREATE TABLE session_turns (
    workspace_id   TEXT NOT NULL,
    session_id     TEXT NOT NULL,
    turn_id        TEXT NOT NULL,
    deadline_ms    INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, session_id),
    FOREIGN KEY (workspace_id, session_id) REFERENCES sessions (workspace_id, id) ON DELETE CASCADE
);

INSERT INTO changes (topic, version) VALUES ('knowledge', 1);
