//! Where members are signed in. A refresh token is kept as its SHA-256 and is good once; the one
//! before it is remembered, so that its second use tells of a thief.

use super::{Member, Store, StoreError, Writer, portable};
use crate::columns::select;

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct SignIn {
    pub workspace_id: String,
    /// `sin_<ULID>`.
    pub id: String,
    pub member_id: String,
    pub refresh_hash: String,
    pub previous_hash: Option<String>,
    pub rotated_at_ms: i64,
    pub created_at_ms: i64,
    pub last_seen_at_ms: i64,
    pub expires_at_ms: i64,
    pub address: Option<String>,
    pub user_agent: Option<String>,
}

/// What a member has just proven who they are with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInProof {
    Password,
    /// At a provider.
    Account,
}

impl Store {
    /// A sign-in that is not over, and its member.
    pub async fn find_sign_in(
        &self,
        workspace_id: &str,
        id: &str,
        now_ms: i64,
    ) -> Result<Option<(SignIn, Member)>, StoreError> {
        let sign_in: Option<SignIn> = portable!(read self, db => {
            sqlx::query_as(select!(member_sign_ins, "WHERE workspace_id = $1 AND id = $2 AND expires_at_ms > $3"))
                .bind(workspace_id)
                .bind(id)
                .bind(now_ms)
                .fetch_optional(db)
                .await?
        });
        let Some(sign_in) = sign_in else {
            return Ok(None);
        };
        let member = self.find_member(workspace_id, &sign_in.member_id).await?;
        Ok(member.map(|member| (sign_in, member)))
    }

    /// The sign-in that a refresh token belongs or belonged to. The token is the key, so no
    /// workspace is named.
    pub async fn find_sign_in_by_refresh(
        &self,
        hash: &str,
        now_ms: i64,
    ) -> Result<Option<SignIn>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(member_sign_ins, "WHERE (refresh_hash = $1 OR previous_hash = $1) AND expires_at_ms > $2"),
            )
            .bind(hash)
            .bind(now_ms)
            .fetch_optional(db)
            .await?
        }))
    }

    /// Whether a member with this e-mail address has come from this address and is remembered so.
    pub async fn has_signed_in_from(&self, email: &str, address: &str) -> Result<bool, StoreError> {
        let found: Option<i64> = portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT CAST(1 AS BIGINT) FROM member_sign_ins s JOIN members m \
                 ON m.workspace_id = s.workspace_id AND m.id = s.member_id \
                 WHERE m.email = $1 AND s.address = $2 LIMIT 1",
            )
            .bind(email)
            .bind(address)
            .fetch_optional(db)
            .await?
        });
        Ok(found.is_some())
    }

    /// Puts a new refresh token in the place of `old`. `false`: somebody else has done it.
    pub async fn rotate_sign_in(
        &self,
        old: &SignIn,
        refresh_hash: &str,
        expires_at_ms: i64,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            // The member before the sign-in, as by whatever else changes a member: in any other order two of them
            // wait for each other.
            sqlx::query("UPDATE members SET last_seen_at_ms = $3 WHERE workspace_id = $1 AND id = $2")
                .bind(&old.workspace_id)
                .bind(&old.member_id)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            let done = sqlx::query(
                "UPDATE member_sign_ins SET previous_hash = refresh_hash, refresh_hash = $4, rotated_at_ms = $5, \
                 last_seen_at_ms = $5, expires_at_ms = $6 WHERE workspace_id = $1 AND id = $2 AND refresh_hash = $3",
            )
            .bind(&old.workspace_id)
            .bind(&old.id)
            .bind(&old.refresh_hash)
            .bind(refresh_hash)
            .bind(now_ms)
            .bind(expires_at_ms)
            .execute(&mut *tx)
            .await?;
            done.rows_affected() == 1
        }))
    }

    /// Newest first.
    pub async fn list_sign_ins(
        &self,
        workspace_id: &str,
        member_id: &str,
        now_ms: i64,
    ) -> Result<Vec<SignIn>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(
                    member_sign_ins,
                    "WHERE workspace_id = $1 AND member_id = $2 AND expires_at_ms > $3 \
                     ORDER BY created_at_ms DESC, id DESC LIMIT 100"
                ),
            )
            .bind(workspace_id)
            .bind(member_id)
            .bind(now_ms)
            .fetch_all(db)
            .await?
        }))
    }

    /// Deletes sign-ins that are over.
    pub async fn purge_sign_ins(&self, now_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query("DELETE FROM member_sign_ins WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}

impl Writer {
    /// Keeps a new sign-in of `checked`, the member as it was read for the check of `proof`. `false`: the member is
    /// gone, or has another password or account by now, and what has changed it has ended its sign-ins already.
    pub async fn insert_sign_in(
        &self,
        sign_in: &SignIn,
        checked: &Member,
        proof: SignInProof,
    ) -> Result<bool, StoreError> {
        let (statement, proven) = match proof {
            SignInProof::Password => (
                "UPDATE members SET last_seen_at_ms = $3 WHERE workspace_id = $1 AND id = $2 AND password_hash = $4",
                &checked.password_hash,
            ),
            SignInProof::Account => (
                "UPDATE members SET last_seen_at_ms = $3 WHERE workspace_id = $1 AND id = $2 AND oidc_subject = $4",
                &checked.oidc_subject,
            ),
        };
        Ok(portable!(write self, tx => {
            // Locks the member: a change that is under way on PostgreSQL is waited for, and one that comes later
            // finds the sign-in. A condition of the INSERT alone would read the member as before the change.
            let still = sqlx::query(statement)
                .bind(&sign_in.workspace_id)
                .bind(&sign_in.member_id)
                .bind(sign_in.created_at_ms)
                .bind(proven)
                .execute(&mut *tx)
                .await?;
            if still.rows_affected() == 0 {
                return Ok(false);
            }
            sqlx::query(
                "INSERT INTO member_sign_ins (workspace_id, id, member_id, refresh_hash, previous_hash, rotated_at_ms, \
                 created_at_ms, last_seen_at_ms, expires_at_ms, address, user_agent) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            )
            .bind(&sign_in.workspace_id)
            .bind(&sign_in.id)
            .bind(&sign_in.member_id)
            .bind(&sign_in.refresh_hash)
            .bind(&sign_in.previous_hash)
            .bind(sign_in.rotated_at_ms)
            .bind(sign_in.created_at_ms)
            .bind(sign_in.last_seen_at_ms)
            .bind(sign_in.expires_at_ms)
            .bind(&sign_in.address)
            .bind(&sign_in.user_agent)
            .execute(&mut *tx)
            .await?;
            true
        }))
    }

    /// Ends a sign-in. `false`: the member has none with this id.
    pub async fn delete_sign_in(
        &self,
        workspace_id: &str,
        member_id: &str,
        id: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query("DELETE FROM member_sign_ins WHERE workspace_id = $1 AND member_id = $2 AND id = $3")
                .bind(workspace_id)
                .bind(member_id)
                .bind(id)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }
}
