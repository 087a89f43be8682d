-- What the OpenID Connect provider gave at the last sign-in of an account, by which its groups are asked for
-- again. Kept where groups of the provider decide who is a member.
CREATE TABLE oidc_accounts (
    -- Issuer, a space, the provider's name for the account: as in members.
    subject           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sealed            TEXT COLLATE "C" NOT NULL,
    -- Since when what its members may do is as the provider says.
    confirmed_at_ms   BIGINT NOT NULL,
    -- Until when a process asks the provider.
    checking_until_ms BIGINT NOT NULL
);
CREATE INDEX members_by_oidc_subject ON members (oidc_subject);
