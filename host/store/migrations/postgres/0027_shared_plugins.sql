-- The plugins folder of an installation of several machines: which file has which content, and the contents.
CREATE TABLE plugin_sources (
    file_name      TEXT COLLATE "C" NOT NULL,
    sha256         TEXT COLLATE "C" NOT NULL,
    put_at_ms      BIGINT NOT NULL,
    -- NULL: the content that the file has now. Others are remembered, so that a machine that still has one in
    -- its folder does not bring it back.
    replaced_at_ms BIGINT,
    PRIMARY KEY (file_name, sha256)
);
CREATE UNIQUE INDEX plugin_sources_now ON plugin_sources (file_name) WHERE replaced_at_ms IS NULL;

CREATE TABLE plugin_bytes (
    sha256       TEXT COLLATE "C" PRIMARY KEY,
    bytes        BYTEA NOT NULL,
    stored_at_ms BIGINT NOT NULL
);
-- Components are compressed badly, and read whole.
ALTER TABLE plugin_bytes ALTER COLUMN bytes SET STORAGE EXTERNAL;
