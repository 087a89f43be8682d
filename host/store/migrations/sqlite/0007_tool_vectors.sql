-- What the texts of tools mean, by content: a text that has its vector is not embedded again.
CREATE TABLE tool_vectors (
    model       TEXT NOT NULL,
    text_sha256 TEXT NOT NULL,
    vector      BLOB NOT NULL,
    made_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (model, text_sha256)
);
