//! Members: who may sign in to a workspace's dashboard. A password is kept as its Argon2id hash.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};

use super::changes::bump;
use super::error::inserted;
use super::{Store, StoreError, Topic, Writer, portable};
use crate::columns::select;

/// What a member may do, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Role {
    Member,
    Admin,
    Owner,
}

/// One person in one workspace.
#[derive(Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Member {
    pub workspace_id: String,
    /// `mem_<ULID>`.
    pub id: String,
    /// In lower case; once in a workspace.
    pub email: String,
    pub name: String,
    #[sqlx(try_from = "&'a str")]
    pub role: Role,
    /// Argon2id in PHC form; absent for a member who signs in with an OpenID Connect provider only.
    pub password_hash: Option<String>,
    /// `<issuer> <subject>` of the account that has signed in as this member.
    pub oidc_subject: Option<String>,
    pub created_at_ms: i64,
    pub last_seen_at_ms: Option<i64>,
    /// Whether the operator or the provider has said whose address it is.
    pub vouched: bool,
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member")
            .field("workspace_id", &self.workspace_id)
            .field("id", &self.id)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// The outcome of a change that must not take the last owner away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberChange {
    Done,
    LastOwner,
    /// The member has another role than the one that the caller saw: whether the caller may make the change is
    /// to be asked again.
    OtherRole,
    NotFound,
}

/// The owners of a workspace; on PostgreSQL nobody changes them before this transaction ends.
macro_rules! lock_owners {
    ($tx:ident, $store:expr, $workspace_id:expr) => {{
        let statement = match $store.kind() {
            super::DatabaseKind::Sqlite => {
                "SELECT id FROM members WHERE workspace_id = $1 AND role = 'owner'"
            }
            super::DatabaseKind::Postgres => {
                "SELECT id FROM members WHERE workspace_id = $1 AND role = 'owner' ORDER BY id FOR UPDATE"
            }
        };
        sqlx::query_scalar(statement)
            .bind($workspace_id)
            .fetch_all(&mut *$tx)
            .await?
    }};
}

/// Why nothing was changed: no row had the id and the role that the caller saw.
macro_rules! not_changed {
    ($tx:ident, $workspace_id:expr, $id:expr) => {{
        let found: Option<String> =
            sqlx::query_scalar("SELECT id FROM members WHERE workspace_id = $1 AND id = $2")
                .bind($workspace_id)
                .bind($id)
                .fetch_optional(&mut *$tx)
                .await?;
        match found {
            Some(_) => MemberChange::OtherRole,
            None => MemberChange::NotFound,
        }
    }};
}

/// Ends the open links of a member.
macro_rules! delete_links {
    ($tx:ident, $workspace_id:expr, $id:expr) => {
        sqlx::query("DELETE FROM member_links WHERE workspace_id = $1 AND member_id = $2")
            .bind($workspace_id)
            .bind($id)
            .execute(&mut *$tx)
            .await?
    };
}

impl Store {
    /// Whether anybody can sign in at all.
    pub async fn has_members(&self) -> Result<bool, StoreError> {
        let found: Option<String> = portable!(read self, db => {
            sqlx::query_scalar("SELECT id FROM members LIMIT 1").fetch_optional(db).await?
        });
        Ok(found.is_some())
    }

    pub async fn find_member(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<Member>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(members, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Members of all workspaces with this address, oldest first: who signs in has not said which
    /// workspace yet.
    pub async fn members_with_email(
        &self,
        email: &str,
        limit: i64,
    ) -> Result<Vec<Member>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(members, "WHERE email = $1 ORDER BY created_at_ms, id LIMIT $2"))
                .bind(email)
                .bind(limit)
                .fetch_all(db)
                .await?
        }))
    }

    /// Oldest first.
    pub async fn list_members(&self, workspace_id: &str) -> Result<Vec<Member>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(members, "WHERE workspace_id = $1 ORDER BY created_at_ms, id"))
                .bind(workspace_id)
                .fetch_all(db)
                .await?
        }))
    }

    pub async fn member_with_email(
        &self,
        workspace_id: &str,
        email: &str,
    ) -> Result<Option<Member>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(members, "WHERE workspace_id = $1 AND email = $2"))
                .bind(workspace_id)
                .bind(email)
                .fetch_optional(db)
                .await?
        }))
    }

    /// The members that an account of a provider signs in as, oldest first: who signs in has not said
    /// which workspace.
    pub async fn members_with_oidc(
        &self,
        subject: &str,
        limit: i64,
    ) -> Result<Vec<Member>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(members, "WHERE oidc_subject = $1 ORDER BY created_at_ms, id LIMIT $2"))
                .bind(subject)
                .bind(limit)
                .fetch_all(db)
                .await?
        }))
    }
}

impl Writer {
    /// Keeps a new member. An owner ends the link at which the first one is made.
    ///
    /// # Errors
    /// [`StoreError::Taken`] when the workspace has a member with this address.
    pub async fn insert_member(&self, member: &Member) -> Result<(), StoreError> {
        portable!(write self, tx => {
            let done = sqlx::query(
                "INSERT INTO members (workspace_id, id, email, name, role, password_hash, oidc_subject, \
                 created_at_ms, last_seen_at_ms, vouched) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                 ON CONFLICT (workspace_id, email) DO NOTHING",
            )
            .bind(&member.workspace_id)
            .bind(&member.id)
            .bind(&member.email)
            .bind(&member.name)
            .bind(member.role.into_str())
            .bind(&member.password_hash)
            .bind(&member.oidc_subject)
            .bind(member.created_at_ms)
            .bind(member.last_seen_at_ms)
            .bind(member.vouched)
            .execute(&mut *tx)
            .await?;
            inserted(done.rows_affected(), "e-mail address of a member")?;
            // One whom a provider's groups make an owner may hold the link for the first owner, and uses it next:
            // `take_member_link` decides then.
            if member.role == Role::Owner && member.oidc_subject.is_none() {
                sqlx::query("DELETE FROM member_links WHERE workspace_id = $1 AND kind = 'setup'")
                    .bind(&member.workspace_id)
                    .execute(&mut *tx)
                    .await?;
            }
            bump!(tx, Topic::Members);
        });
        Ok(())
    }

    /// `false`: no such member.
    pub async fn rename_member(
        &self,
        workspace_id: &str,
        id: &str,
        name: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("UPDATE members SET name = $3 WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .bind(name)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Members);
            done.rows_affected() == 1
        }))
    }

    /// Gives a member whose role is `from` another role, unless that would leave the workspace without an owner.
    /// Ends the member's open links: who made one saw its address, and may have been allowed to for the role before
    /// only.
    pub async fn set_member_role(
        &self,
        workspace_id: &str,
        id: &str,
        from: Role,
        to: Role,
    ) -> Result<MemberChange, StoreError> {
        Ok(portable!(write self, tx => {
            let owners: Vec<String> = lock_owners!(tx, self, workspace_id);
            // An owner who is not among the locked ones would be changed without the check for the last owner.
            let is_owner = owners.iter().any(|owner| owner == id);
            if is_owner != (from == Role::Owner) {
                return Ok(not_changed!(tx, workspace_id, id));
            }
            if to != Role::Owner && owners == [id] {
                return Ok(MemberChange::LastOwner);
            }
            // The condition is in the statement: on PostgreSQL it is checked again after the wait for another
            // transaction that changes the member.
            let done = sqlx::query("UPDATE members SET role = $4 WHERE workspace_id = $1 AND id = $2 AND role = $3")
                .bind(workspace_id)
                .bind(id)
                .bind(from.into_str())
                .bind(to.into_str())
                .execute(&mut *tx)
                .await?;
            if done.rows_affected() == 0 {
                return Ok(not_changed!(tx, workspace_id, id));
            }
            delete_links!(tx, workspace_id, id);
            bump!(tx, Topic::Members);
            MemberChange::Done
        }))
    }

    /// Removes a member whose role is `role`, and ends where they are signed in and the links that would let them in
    /// again, unless it is the last owner.
    pub async fn delete_member(
        &self,
        workspace_id: &str,
        id: &str,
        role: Role,
    ) -> Result<MemberChange, StoreError> {
        Ok(portable!(write self, tx => {
            let owners: Vec<String> = lock_owners!(tx, self, workspace_id);
            // As in `set_member_role`.
            let is_owner = owners.iter().any(|owner| owner == id);
            if is_owner != (role == Role::Owner) {
                return Ok(not_changed!(tx, workspace_id, id));
            }
            if owners == [id] {
                return Ok(MemberChange::LastOwner);
            }
            let email: Option<String> = sqlx::query_scalar(
                "DELETE FROM members WHERE workspace_id = $1 AND id = $2 AND role = $3 RETURNING email",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(role.into_str())
            .fetch_optional(&mut *tx)
            .await?;
            let Some(email) = email else {
                return Ok(not_changed!(tx, workspace_id, id));
            };
            delete_links!(tx, workspace_id, id);
            // An invitation from before they were a member, which they became by another way.
            sqlx::query("DELETE FROM member_links WHERE workspace_id = $1 AND email = $2")
                .bind(workspace_id)
                .bind(&email)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Members);
            MemberChange::Done
        }))
    }

    /// Sets a password and ends every sign-in but `keep`, and the member's open links. `false`: no such member.
    pub async fn set_member_password(
        &self,
        workspace_id: &str,
        id: &str,
        password_hash: &str,
        keep: Option<&str>,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("UPDATE members SET password_hash = $3 WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .bind(password_hash)
                .execute(&mut *tx)
                .await?;
            sqlx::query("DELETE FROM member_sign_ins WHERE workspace_id = $1 AND member_id = $2 AND id <> $3")
                .bind(workspace_id)
                .bind(id)
                .bind(keep.unwrap_or_default())
                .execute(&mut *tx)
                .await?;
            delete_links!(tx, workspace_id, id);
            bump!(tx, Topic::Members);
            done.rows_affected() == 1
        }))
    }

    /// Ties a member to an account of a provider, and ends the member's open links. A member for whose address
    /// nobody has vouched loses the password, the sign-ins and the connected apps that somebody else may have
    /// made. `false`: it is gone, or tied to another account.
    pub async fn link_member_oidc(
        &self,
        workspace_id: &str,
        id: &str,
        subject: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            // Locks the member first, as by whatever else changes one: in any other order two of them wait for
            // each other.
            sqlx::query("UPDATE members SET vouched = vouched WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "DELETE FROM member_sign_ins WHERE workspace_id = $1 AND member_id = $2 AND EXISTS \
                 (SELECT 1 FROM members WHERE workspace_id = $1 AND id = $2 AND NOT vouched AND oidc_subject IS NULL)",
            )
            .bind(workspace_id)
            .bind(id)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "DELETE FROM app_grants WHERE workspace_id = $1 AND member_id = $2 AND EXISTS \
                 (SELECT 1 FROM members WHERE workspace_id = $1 AND id = $2 AND NOT vouched AND oidc_subject IS NULL)",
            )
            .bind(workspace_id)
            .bind(id)
            .execute(&mut *tx)
            .await?;
            let done = sqlx::query(
                "UPDATE members SET password_hash = CASE WHEN vouched THEN password_hash ELSE NULL END, \
                 oidc_subject = $3, vouched = TRUE WHERE workspace_id = $1 AND id = $2 AND oidc_subject IS NULL",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(subject)
            .execute(&mut *tx)
            .await?;
            if done.rows_affected() == 1 {
                delete_links!(tx, workspace_id, id);
            }
            bump!(tx, Topic::Members);
            done.rows_affected() == 1
        }))
    }
}
