-- What users and providers wrote is sealed from here on. The key of bytes of which a part is read at a time; NULL: these
-- were written in clear by an earlier version.
ALTER TABLE results ADD COLUMN sealed_key TEXT;
ALTER TABLE session_kv ADD COLUMN sealed_key TEXT;
-- Of what is sealed; NULL: it is not.
ALTER TABLE session_kv ADD COLUMN value_bytes BIGINT;
ALTER TABLE session_messages ADD COLUMN chars BIGINT;
