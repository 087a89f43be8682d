-- Whether the account's name was cleaned before it was stored; the next start looks at those that were not.
ALTER TABLE connections ADD COLUMN account_clean BOOLEAN NOT NULL DEFAULT FALSE;
