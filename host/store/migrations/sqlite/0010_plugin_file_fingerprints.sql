-- What was seen of a file when its content had its hash: a start does not read it again.
ALTER TABLE plugin_files ADD COLUMN fingerprint TEXT;
