-- Refused sign-ins of one account from one address, or from one device that has signed in before.
CREATE TABLE sign_in_attempts (
    subject          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    failures         BIGINT NOT NULL,
    blocked_until_ms BIGINT NOT NULL,
    last_at_ms       BIGINT NOT NULL
);
CREATE INDEX sign_in_attempts_age ON sign_in_attempts (last_at_ms);

-- Whether the operator, or the provider itself, has said whose address it is. Nobody has of an invited
-- address: whoever held the link could have taken it.
ALTER TABLE members ADD COLUMN vouched BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE member_links ADD COLUMN vouched BOOLEAN NOT NULL DEFAULT FALSE;
