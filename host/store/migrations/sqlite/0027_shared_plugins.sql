-- The plugins folder of an installation of several machines, of which a database in a file is none: empty here.
CREATE TABLE plugin_sources (
    file_name      TEXT NOT NULL,
    sha256         TEXT NOT NULL,
    put_at_ms      INTEGER NOT NULL,
    replaced_at_ms INTEGER,
    PRIMARY KEY (file_name, sha256)
) WITHOUT ROWID;
CREATE UNIQUE INDEX plugin_sources_now ON plugin_sources (file_name) WHERE replaced_at_ms IS NULL;

CREATE TABLE plugin_bytes (
    sha256       TEXT PRIMARY KEY,
    bytes        BLOB NOT NULL,
    stored_at_ms INTEGER NOT NULL
);
