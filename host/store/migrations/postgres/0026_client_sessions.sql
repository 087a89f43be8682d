-- Sessions of the session protocols that are open: what a sealed session id refers to, in whatever process.
CREATE TABLE client_sessions (
    id         TEXT COLLATE "C" PRIMARY KEY,
    key_id     TEXT COLLATE "C" NOT NULL,
    used_at_ms BIGINT NOT NULL
);
CREATE INDEX client_sessions_of_key ON client_sessions (key_id, used_at_ms, id);
CREATE INDEX client_sessions_age ON client_sessions (used_at_ms);

-- What one process has for the others that hold the same session: its end, and messages of the client that
-- arrived at the wrong one.
CREATE TABLE client_session_messages (
    id           TEXT COLLATE "C" PRIMARY KEY,
    session_id   TEXT COLLATE "C" NOT NULL,
    -- NULL: the session has ended.
    message      TEXT COLLATE "C",
    from_process TEXT COLLATE "C" NOT NULL,
    -- NULL: whichever process.
    to_process   TEXT COLLATE "C",
    sent_at_ms   BIGINT NOT NULL
);
CREATE INDEX client_session_messages_age ON client_session_messages (sent_at_ms);

INSERT INTO changes (topic, version) VALUES ('client_sessions', 1);
