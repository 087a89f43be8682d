//! One-use links that let a person in: the first owner, an invited member, a forgotten password.
//! Only the SHA-256 of a link's token is kept.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};

use super::changes::bump;
use super::{Member, Role, Store, StoreError, Topic, Writer, portable};
use crate::columns::{returning, select};

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum LinkKind {
    /// The first owner of an installation.
    Setup,
    /// A new member.
    Join,
    /// A new password for a member.
    Reset,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct MemberLink {
    pub workspace_id: String,
    /// `inv_<ULID>`.
    pub id: String,
    pub token_hash: String,
    #[sqlx(try_from = "&'a str")]
    pub kind: LinkKind,
    /// The address that was invited; the first owner names their own.
    pub email: Option<String>,
    #[sqlx(try_from = "&'a str")]
    pub role: Role,
    /// Whose password is set.
    pub member_id: Option<String>,
    pub created_at_ms: i64,
    pub expires_at_ms: i64,
    /// Made by the operator, who says whose address it is.
    pub vouched: bool,
}

impl Store {
    /// The link with this token, if it may still be used. The token is the key, so no workspace is
    /// named.
    pub async fn find_member_link(
        &self,
        token_hash: &str,
        now_ms: i64,
    ) -> Result<Option<MemberLink>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(member_links, "WHERE token_hash = $1 AND expires_at_ms > $2"))
                .bind(token_hash)
                .bind(now_ms)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Uses a link up: of two that try, one gets it. One for the first owner makes no second: where the workspace
    /// has an owner it is deleted, and not answered.
    pub async fn take_member_link(
        &self,
        token_hash: &str,
        now_ms: i64,
    ) -> Result<Option<MemberLink>, StoreError> {
        Ok(portable!(write self, tx => {
            let taken: Option<MemberLink> = sqlx::query_as(returning!(
                member_links,
                "DELETE FROM member_links WHERE token_hash = $1 AND expires_at_ms > $2"
            ))
                .bind(token_hash)
                .bind(now_ms)
                .fetch_optional(&mut *tx)
                .await?;
            let owner: Option<String> = match &taken {
                Some(link) if link.kind == LinkKind::Setup => {
                    sqlx::query_scalar("SELECT id FROM members WHERE workspace_id = $1 AND role = 'owner' LIMIT 1")
                        .bind(&link.workspace_id)
                        .fetch_optional(&mut *tx)
                        .await?
                }
                _ => None,
            };
            taken.filter(|_| owner.is_none())
        }))
    }

    /// Open invitations, newest first.
    pub async fn list_invitations(
        &self,
        workspace_id: &str,
        now_ms: i64,
    ) -> Result<Vec<MemberLink>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(
                    member_links,
                    "WHERE workspace_id = $1 AND kind = 'join' AND expires_at_ms > $2 \
                     ORDER BY created_at_ms DESC, id DESC"
                ),
            )
            .bind(workspace_id)
            .bind(now_ms)
            .fetch_all(db)
            .await?
        }))
    }

    /// Deletes links that can no longer be used.
    pub async fn purge_member_links(&self, now_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query("DELETE FROM member_links WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}

impl Writer {
    /// Keeps a link; one for the same member, address or the set-up takes the place of the one before.
    pub async fn put_member_link(&self, link: &MemberLink) -> Result<(), StoreError> {
        portable!(write self, tx => {
            sqlx::query(
                "DELETE FROM member_links WHERE workspace_id = $1 AND kind = $2 \
                 AND COALESCE(email, '') = COALESCE($3, '') AND COALESCE(member_id, '') = COALESCE($4, '')",
            )
            .bind(&link.workspace_id)
            .bind(link.kind.into_str())
            .bind(&link.email)
            .bind(&link.member_id)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "INSERT INTO member_links (workspace_id, id, token_hash, kind, email, role, member_id, \
                 created_at_ms, expires_at_ms, vouched) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            )
            .bind(&link.workspace_id)
            .bind(&link.id)
            .bind(&link.token_hash)
            .bind(link.kind.into_str())
            .bind(&link.email)
            .bind(link.role.into_str())
            .bind(&link.member_id)
            .bind(link.created_at_ms)
            .bind(link.expires_at_ms)
            .bind(link.vouched)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// Uses up the link at which a member sets a new password, and ends every sign-in of theirs. `None`: the link
    /// is over, or the member has another role than the one that it was made for, which ends it.
    pub async fn reset_member_password(
        &self,
        token_hash: &str,
        password_hash: &str,
        now_ms: i64,
    ) -> Result<Option<Member>, StoreError> {
        Ok(portable!(write self, tx => {
            let found: Option<MemberLink> = sqlx::query_as(select!(
                member_links,
                "WHERE token_hash = $1 AND expires_at_ms > $2 AND kind = 'reset'"
            ))
                .bind(token_hash)
                .bind(now_ms)
                .fetch_optional(&mut *tx)
                .await?;
            let Some(link) = found else {
                return Ok(None);
            };
            // The member before the link, as by whatever else changes a member: in any other order two of them
            // wait for each other.
            let member: Option<Member> = sqlx::query_as(returning!(
                members,
                "UPDATE members SET password_hash = $4 WHERE workspace_id = $1 AND id = $2 AND role = $3"
            ))
                .bind(&link.workspace_id)
                .bind(&link.member_id)
                .bind(link.role.into_str())
                .bind(password_hash)
                .fetch_optional(&mut *tx)
                .await?;
            let taken = sqlx::query("DELETE FROM member_links WHERE token_hash = $1")
                .bind(token_hash)
                .execute(&mut *tx)
                .await?;
            if taken.rows_affected() == 0 {
                // Somebody else was faster: what was set goes with the transaction.
                return Ok(None);
            }
            if let Some(member) = &member {
                sqlx::query("DELETE FROM member_sign_ins WHERE workspace_id = $1 AND member_id = $2")
                    .bind(&member.workspace_id)
                    .bind(&member.id)
                    .execute(&mut *tx)
                    .await?;
                bump!(tx, Topic::Members);
            }
            member
        }))
    }

    /// Takes an invitation back. `None`: no such id.
    pub async fn delete_invitation(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<MemberLink>, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query_as(returning!(
                member_links,
                "DELETE FROM member_links WHERE workspace_id = $1 AND id = $2 AND kind = 'join'"
            ))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(&mut *tx)
                .await?
        }))
    }
}
