//! Accounts of an OpenID Connect provider whose groups decide what members may do: the tokens by which
//! the provider is asked again, sealed, and since when its answer holds.

use super::changes::bump;
use super::{Store, StoreError, Topic, Writer, portable};
use crate::columns::select;

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct OidcAccount {
    /// `<issuer> <subject>`.
    pub subject: String,
    /// The provider's tokens in the vault's box.
    pub sealed: String,
    pub confirmed_at_ms: i64,
    /// Until when a process asks the provider.
    pub checking_until_ms: i64,
}

impl Store {
    /// Keeps what a sign-in has brought, over what was there.
    pub async fn put_oidc_account(&self, account: &OidcAccount) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "INSERT INTO oidc_accounts (subject, sealed, confirmed_at_ms, checking_until_ms) \
                 VALUES ($1, $2, $3, $4) ON CONFLICT (subject) DO UPDATE SET sealed = excluded.sealed, \
                 confirmed_at_ms = excluded.confirmed_at_ms, checking_until_ms = excluded.checking_until_ms",
            )
            .bind(&account.subject)
            .bind(&account.sealed)
            .bind(account.confirmed_at_ms)
            .bind(account.checking_until_ms)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    pub async fn find_oidc_account(
        &self,
        subject: &str,
    ) -> Result<Option<OidcAccount>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(oidc_accounts, "WHERE subject = $1"))
                .bind(subject)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Takes the turn to ask the provider, until `until_ms`. `false`: another process has it, or the
    /// account was confirmed since it was read.
    pub async fn claim_oidc_account(
        &self,
        read: &OidcAccount,
        until_ms: i64,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let done = sqlx::query(
                "UPDATE oidc_accounts SET checking_until_ms = $4 \
                 WHERE subject = $1 AND sealed = $2 AND confirmed_at_ms = $3 AND checking_until_ms <= $5",
            )
            .bind(&read.subject)
            .bind(&read.sealed)
            .bind(read.confirmed_at_ms)
            .bind(until_ms)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?;
            done.rows_affected() == 1
        }))
    }

    /// Puts new tokens in the place of those that were used. `false`: a sign-in has brought others.
    pub async fn renew_oidc_account(
        &self,
        subject: &str,
        used: &str,
        sealed: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let done = sqlx::query("UPDATE oidc_accounts SET sealed = $3 WHERE subject = $1 AND sealed = $2")
                .bind(subject)
                .bind(used)
                .bind(sealed)
                .execute(&mut *tx)
                .await?;
            done.rows_affected() == 1
        }))
    }

    /// Gives the turn back. `confirmed_at_ms`: since when the provider's answer holds, where it gave one.
    pub async fn release_oidc_account(
        &self,
        subject: &str,
        confirmed_at_ms: Option<i64>,
    ) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE oidc_accounts SET checking_until_ms = 0, \
                 confirmed_at_ms = CASE WHEN confirmed_at_ms < $2 THEN $2 ELSE confirmed_at_ms END WHERE subject = $1",
            )
            .bind(subject)
            .bind(confirmed_at_ms.unwrap_or_default())
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// Forgets tokens that the provider takes no more. `false`: a sign-in has brought others.
    pub async fn delete_oidc_account(
        &self,
        subject: &str,
        sealed: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let done = sqlx::query("DELETE FROM oidc_accounts WHERE subject = $1 AND sealed = $2")
                .bind(subject)
                .bind(sealed)
                .execute(&mut *tx)
                .await?;
            done.rows_affected() == 1
        }))
    }

    /// Forgets accounts that are no longer members.
    pub async fn purge_oidc_accounts(&self) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM oidc_accounts WHERE NOT EXISTS \
                 (SELECT 1 FROM members WHERE members.oidc_subject = oidc_accounts.subject)",
            )
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }
}

impl Writer {
    /// Ends where a member is signed in, and the apps that the member has let in. `false`: there were none.
    pub async fn end_member_access(
        &self,
        workspace_id: &str,
        member_id: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let sign_ins = sqlx::query("DELETE FROM member_sign_ins WHERE workspace_id = $1 AND member_id = $2")
                .bind(workspace_id)
                .bind(member_id)
                .execute(&mut *tx)
                .await?;
            let apps = sqlx::query("DELETE FROM app_grants WHERE workspace_id = $1 AND member_id = $2")
                .bind(workspace_id)
                .bind(member_id)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Keys);
            sign_ins.rows_affected() + apps.rows_affected() > 0
        }))
    }
}
