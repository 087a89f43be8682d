//! What members have granted MCP clients, and the tokens of it. A grant is one family of tokens:
//! with it go all of them. Codes and tokens are kept as their SHA-256.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};

use super::changes::bump;
use super::text::Json;
use super::{AppRequest, Store, StoreError, Topic, Writer, portable};
use crate::columns::select;

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum AppTokenKind {
    Access,
    Refresh,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct AppGrant {
    pub workspace_id: String,
    /// `app_<ULID>`.
    pub id: String,
    pub member_id: String,
    pub client_id: String,
    pub client_name: String,
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub scopes: Vec<String>,
    /// The address that its tokens are for.
    pub resource: String,
    pub redirect_uri: String,
    pub challenge: String,
    pub code_hash: String,
    pub code_expires_at_ms: i64,
    /// When the code was exchanged: from then on the grant is a connected app.
    pub code_used_at_ms: Option<i64>,
    pub created_at_ms: i64,
    pub last_used_at_ms: Option<i64>,
    pub expires_at_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct AppToken {
    pub hash: String,
    pub workspace_id: String,
    pub grant_id: String,
    #[sqlx(try_from = "&'a str")]
    pub kind: AppTokenKind,
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub scopes: Vec<String>,
    pub expires_at_ms: i64,
    /// When a refresh token was first exchanged.
    pub used_at_ms: Option<i64>,
    /// Of a refresh token: how many exchanges lie between it and the code. `None`: it was issued before this
    /// was written down.
    pub generation: Option<i64>,
    pub issued_at_ms: Option<i64>,
}

/// What the chain of a grant says of a refresh token that is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshUses {
    /// When this token was first exchanged.
    pub own_ms: Option<i64>,
    /// When the first token of its generation was.
    pub generation_ms: Option<i64>,
    /// Whether a token of the next generation was.
    pub successor_used: bool,
}

/// How many tokens of one grant are kept, the newest.
#[derive(Clone, Copy, Debug)]
pub struct GrantTokensMax {
    pub access: i64,
    pub refresh: i64,
    /// Refresh tokens that were exchanged.
    pub used: i64,
}

/// A client that a workspace has switched off.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct AppBlock {
    pub workspace_id: String,
    pub client_id: String,
    pub client_name: String,
    pub created_at_ms: i64,
}

/// Adds a token inside the open transaction.
macro_rules! insert_token {
    ($tx:ident, $token:expr) => {{
        let token: &AppToken = $token;
        sqlx::query(
            "INSERT INTO app_tokens (hash, workspace_id, grant_id, kind, scopes, expires_at_ms, used_at_ms, generation, \
             issued_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(&token.hash)
        .bind(&token.workspace_id)
        .bind(&token.grant_id)
        .bind(token.kind.into_str())
        .bind(Json(&token.scopes))
        .bind(token.expires_at_ms)
        .bind(token.used_at_ms)
        .bind(token.generation)
        .bind(token.issued_at_ms)
        .execute(&mut *$tx)
        .await?
    }};
}
pub(super) use insert_token;

/// Grants whose code was exchanged and that last beyond `$2`.
macro_rules! grants_of {
    ($filter:literal) => {
        concat!(
            select!(
                app_grants,
                "WHERE workspace_id = $1 AND code_used_at_ms IS NOT NULL AND expires_at_ms > $2"
            ),
            $filter,
            " ORDER BY created_at_ms DESC, id DESC LIMIT $3"
        )
    };
}

impl Store {
    /// The grant that a code belongs or belonged to. The code is the key, so no workspace is named.
    pub async fn find_app_grant_by_code(
        &self,
        code_hash: &str,
    ) -> Result<Option<AppGrant>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(app_grants, "WHERE code_hash = $1"))
                .bind(code_hash)
                .fetch_optional(db)
                .await?
        }))
    }

    /// A token and its grant, in whatever state. The token is the key, so no workspace is named.
    pub async fn find_app_token(
        &self,
        hash: &str,
    ) -> Result<Option<(AppToken, AppGrant)>, StoreError> {
        let token: Option<AppToken> = portable!(read self, db => {
            sqlx::query_as(select!(app_tokens, "WHERE hash = $1")).bind(hash).fetch_optional(db).await?
        });
        let Some(token) = token else { return Ok(None) };
        let grant = self.find_app_grant(&token.workspace_id, &token.grant_id);
        Ok(grant.await?.map(|grant| (token, grant)))
    }

    pub async fn find_app_grant(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<AppGrant>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(app_grants, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Exchanges a refresh token for new tokens, if `may_rotate` agrees with what the chain says of it. All
    /// exchanges of one grant come one after the other. `false`: it does not, or the grant is gone.
    pub async fn rotate_app_tokens(
        &self,
        used: &AppToken,
        tokens: [&AppToken; 2],
        expires_at_ms: i64,
        now_ms: i64,
        kept: GrantTokensMax,
        may_rotate: fn(&RefreshUses, i64) -> bool,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            // First, so that the row's lock makes exchanges of the grant wait for one another.
            let grant = sqlx::query("UPDATE app_grants SET expires_at_ms = $3 WHERE workspace_id = $1 AND id = $2")
                .bind(&used.workspace_id)
                .bind(&used.grant_id)
                .bind(expires_at_ms)
                .execute(&mut *tx)
                .await?;
            let own: Option<Option<i64>> = sqlx::query_scalar("SELECT used_at_ms FROM app_tokens WHERE hash = $1")
                .bind(&used.hash)
                .fetch_optional(&mut *tx)
                .await?;
            let (1, Some(own_ms)) = (grant.rows_affected(), own) else {
                return Ok(false);
            };
            let mut uses = RefreshUses { own_ms, generation_ms: own_ms, successor_used: true };
            if let Some(generation) = used.generation {
                let first = "SELECT MIN(used_at_ms) FROM app_tokens \
                     WHERE workspace_id = $1 AND grant_id = $2 AND kind = 'refresh' AND generation = $3";
                uses.generation_ms = sqlx::query_scalar(first)
                    .bind(&used.workspace_id)
                    .bind(&used.grant_id)
                    .bind(generation)
                    .fetch_one(&mut *tx)
                    .await?;
                let next: Option<i64> = sqlx::query_scalar(first)
                    .bind(&used.workspace_id)
                    .bind(&used.grant_id)
                    .bind(generation + 1)
                    .fetch_one(&mut *tx)
                    .await?;
                uses.successor_used = next.is_some();
            }
            if !may_rotate(&uses, now_ms) {
                return Ok(false);
            }
            sqlx::query("UPDATE app_tokens SET used_at_ms = COALESCE(used_at_ms, $2) WHERE hash = $1")
                .bind(&used.hash)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            for token in tokens {
                insert_token!(tx, token);
            }
            for (kind, is_used, most) in [
                (AppTokenKind::Access, 0, kept.access),
                (AppTokenKind::Refresh, 0, kept.refresh),
                (AppTokenKind::Refresh, 1, kept.used),
            ] {
                sqlx::query(
                    "DELETE FROM app_tokens WHERE hash IN (SELECT hash FROM app_tokens \
                     WHERE workspace_id = $1 AND grant_id = $2 AND kind = $3 \
                     AND (CASE WHEN used_at_ms IS NULL THEN 0 ELSE 1 END) = $4 \
                     ORDER BY COALESCE(issued_at_ms, 0) DESC, hash LIMIT 1000 OFFSET $5)",
                )
                .bind(&used.workspace_id)
                .bind(&used.grant_id)
                .bind(kind.into_str())
                .bind(is_used)
                .bind(most)
                .execute(&mut *tx)
                .await?;
            }
            true
        }))
    }

    /// Grants whose code was exchanged and that are not over, newest first; of one member, or of all.
    pub async fn list_app_grants(
        &self,
        workspace_id: &str,
        member_id: Option<&str>,
        now_ms: i64,
        limit: i64,
    ) -> Result<Vec<AppGrant>, StoreError> {
        let statement = match member_id {
            None => grants_of!(""),
            Some(_) => grants_of!(" AND member_id = $4"),
        };
        Ok(portable!(read self, db => {
            let mut query = sqlx::query_as(statement)
                .bind(workspace_id)
                .bind(now_ms)
                .bind(limit);
            if let Some(member_id) = member_id {
                query = query.bind(member_id);
            }
            query.fetch_all(db).await?
        }))
    }

    /// Notes when grants were last used: `(grant id, time)`. Never moves a time backwards and does not
    /// make caches stale.
    pub async fn touch_app_grants(&self, used: &[(String, i64)]) -> Result<(), StoreError> {
        // In order, so that two processes never wait for one another.
        let mut used: Vec<&(String, i64)> = used.iter().collect();
        used.sort();
        portable!(write unnoticed self, tx => {
            for (id, at_ms) in &used {
                sqlx::query(
                    "UPDATE app_grants SET last_used_at_ms = $2 \
                     WHERE id = $1 AND (last_used_at_ms IS NULL OR last_used_at_ms < $2)",
                )
                .bind(id)
                .bind(at_ms)
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }

    /// Clients that a workspace has switched off, newest first.
    pub async fn list_app_blocks(&self, workspace_id: &str) -> Result<Vec<AppBlock>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(app_blocks, "WHERE workspace_id = $1 ORDER BY created_at_ms DESC, client_id LIMIT 1000"),
            )
            .bind(workspace_id)
            .fetch_all(db)
            .await?
        }))
    }

    /// Whether a workspace has switched a client off.
    pub async fn is_app_blocked(
        &self,
        workspace_id: &str,
        client_id: &str,
    ) -> Result<bool, StoreError> {
        let found: Option<String> = portable!(read self, db => {
            sqlx::query_scalar("SELECT client_id FROM app_blocks WHERE workspace_id = $1 AND client_id = $2")
                .bind(workspace_id)
                .bind(client_id)
                .fetch_optional(db)
                .await?
        });
        Ok(found.is_some())
    }

    /// Deletes grants and tokens that are over.
    pub async fn purge_app_grants(&self, now_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM app_tokens WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            sqlx::query("DELETE FROM app_grants WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}

impl Writer {
    /// Makes a grant of a request, which is over with it. `false`: somebody else has decided it.
    pub async fn grant_app_request(
        &self,
        request: &AppRequest,
        grant: &AppGrant,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let taken = sqlx::query("DELETE FROM app_requests WHERE id = $1")
                .bind(&request.id)
                .execute(&mut *tx)
                .await?;
            if taken.rows_affected() != 1 {
                return Ok(false);
            }
            sqlx::query("UPDATE app_clients SET used_at_ms = $2 WHERE id = $1")
                .bind(&grant.client_id)
                .bind(grant.created_at_ms)
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "INSERT INTO app_grants (workspace_id, id, member_id, client_id, client_name, scopes, resource, \
                 redirect_uri, challenge, code_hash, code_expires_at_ms, code_used_at_ms, created_at_ms, \
                 last_used_at_ms, expires_at_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
            )
            .bind(&grant.workspace_id)
            .bind(&grant.id)
            .bind(&grant.member_id)
            .bind(&grant.client_id)
            .bind(&grant.client_name)
            .bind(Json(&grant.scopes))
            .bind(&grant.resource)
            .bind(&grant.redirect_uri)
            .bind(&grant.challenge)
            .bind(&grant.code_hash)
            .bind(grant.code_expires_at_ms)
            .bind(grant.code_used_at_ms)
            .bind(grant.created_at_ms)
            .bind(grant.last_used_at_ms)
            .bind(grant.expires_at_ms)
            .execute(&mut *tx)
            .await?;
            true
        }))
    }

    /// Exchanges the code of a grant for its first tokens. `false`: the code was used before.
    pub async fn redeem_app_code(
        &self,
        grant: &AppGrant,
        tokens: [&AppToken; 2],
        expires_at_ms: i64,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query(
                "UPDATE app_grants SET code_used_at_ms = $3, expires_at_ms = $4 \
                 WHERE workspace_id = $1 AND id = $2 AND code_used_at_ms IS NULL",
            )
            .bind(&grant.workspace_id)
            .bind(&grant.id)
            .bind(now_ms)
            .bind(expires_at_ms)
            .execute(&mut *tx)
            .await?;
            if done.rows_affected() != 1 {
                return Ok(false);
            }
            for token in tokens {
                insert_token!(tx, token);
            }
            true
        }))
    }

    /// Ends a grant with all its tokens. `false`: it does not exist.
    pub async fn delete_app_grant(&self, workspace_id: &str, id: &str) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("DELETE FROM app_grants WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Keys);
            done.rows_affected() == 1
        }))
    }

    /// Ends one token and leaves its grant. `false`: it does not exist.
    pub async fn delete_app_token(&self, hash: &str) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("DELETE FROM app_tokens WHERE hash = $1").bind(hash).execute(&mut *tx).await?;
            bump!(tx, Topic::Keys);
            done.rows_affected() == 1
        }))
    }

    /// Switches a client off for a workspace, and ends all that its members have granted it. `false`:
    /// it was off before.
    pub async fn block_app_client(&self, block: &AppBlock) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query(
                "INSERT INTO app_blocks (workspace_id, client_id, client_name, created_at_ms) \
                 VALUES ($1, $2, $3, $4) ON CONFLICT (workspace_id, client_id) DO NOTHING",
            )
            .bind(&block.workspace_id)
            .bind(&block.client_id)
            .bind(&block.client_name)
            .bind(block.created_at_ms)
            .execute(&mut *tx)
            .await?;
            sqlx::query("DELETE FROM app_grants WHERE workspace_id = $1 AND client_id = $2")
                .bind(&block.workspace_id)
                .bind(&block.client_id)
                .execute(&mut *tx)
                .await?;
            // Those that a named client got by its secret are of no grant.
            sqlx::query(
                "DELETE FROM app_client_tokens WHERE client_id IN \
                 (SELECT id FROM app_clients WHERE id = $2 AND workspace_id = $1)",
            )
            .bind(&block.workspace_id)
            .bind(&block.client_id)
            .execute(&mut *tx)
            .await?;
            bump!(tx, Topic::Keys);
            done.rows_affected() == 1
        }))
    }

    /// Lets members of a workspace grant a client something again. `false`: it was not off.
    pub async fn unblock_app_client(
        &self,
        workspace_id: &str,
        client_id: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("DELETE FROM app_blocks WHERE workspace_id = $1 AND client_id = $2")
                .bind(workspace_id)
                .bind(client_id)
                .execute(&mut *tx)
                .await?;
            done.rows_affected() == 1
        }))
    }
}
