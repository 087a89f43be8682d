//! MCP clients that admins name for their workspace, the tokens that they get by their secret alone, and
//! the identity assertions that were exchanged for a token.

use super::changes::bump;
use super::text::Json;
use super::{AppClient, AppClientKind, Store, StoreError, Topic, Writer, portable};
use crate::columns::select;

/// An access token of a client that acts for a user by itself.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ClientToken {
    pub hash: String,
    pub client_id: String,
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub scopes: Vec<String>,
    /// The address that it is for.
    pub resource: String,
    pub created_at_ms: i64,
    pub expires_at_ms: i64,
}

impl Store {
    /// Clients of a workspace, newest first.
    pub async fn list_named_clients(
        &self,
        workspace_id: &str,
    ) -> Result<Vec<AppClient>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(app_clients, "WHERE workspace_id = $1 ORDER BY created_at_ms DESC, id DESC LIMIT 1000"),
            )
            .bind(workspace_id)
            .fetch_all(db)
            .await?
        }))
    }

    /// Keeps a token; of one client the newest `most` stay.
    pub async fn insert_client_token(
        &self,
        token: &ClientToken,
        most: i64,
    ) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM app_client_tokens WHERE hash IN (SELECT hash FROM app_client_tokens \
                 WHERE client_id = $1 ORDER BY created_at_ms DESC, hash LIMIT 1000 OFFSET $2)",
            )
            .bind(&token.client_id)
            .bind(most - 1)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "INSERT INTO app_client_tokens (hash, client_id, scopes, resource, created_at_ms, expires_at_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(&token.hash)
            .bind(&token.client_id)
            .bind(Json(&token.scopes))
            .bind(&token.resource)
            .bind(token.created_at_ms)
            .bind(token.expires_at_ms)
            .execute(&mut *tx)
            .await?;
            sqlx::query("UPDATE app_clients SET used_at_ms = $2 WHERE id = $1")
                .bind(&token.client_id)
                .bind(token.created_at_ms)
                .execute(&mut *tx)
                .await?;
        });
        Ok(())
    }

    /// A token and its client. The token is the key, so no workspace is named.
    pub async fn find_client_token(
        &self,
        hash: &str,
    ) -> Result<Option<(ClientToken, AppClient)>, StoreError> {
        let token: Option<ClientToken> = portable!(read self, db => {
            sqlx::query_as(select!(app_client_tokens, "WHERE hash = $1")).bind(hash).fetch_optional(db).await?
        });
        let Some(token) = token else { return Ok(None) };
        let client = self.find_app_client(&token.client_id).await?;
        Ok(client.map(|client| (token, client)))
    }

    /// Deletes tokens and assertions that are over.
    pub async fn purge_client_tokens(&self, now_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM app_assertions WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            sqlx::query("DELETE FROM app_client_tokens WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}

impl Writer {
    /// Keeps a client of a workspace. `false`: the workspace has `most` already.
    pub async fn insert_named_client(
        &self,
        client: &AppClient,
        most: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query(
                "INSERT INTO app_clients (id, kind, name, redirect_uris, auth_method, secret_hash, created_at_ms, \
                 workspace_id, acts_for, scopes) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 \
                 WHERE (SELECT COUNT(*) FROM app_clients WHERE workspace_id = $8) < $11",
            )
            .bind(&client.id)
            .bind(AppClientKind::Named.into_str())
            .bind(&client.name)
            .bind(Json(&client.redirect_uris))
            .bind(client.auth_method.into_str())
            .bind(&client.secret_hash)
            .bind(client.created_at_ms)
            .bind(&client.workspace_id)
            .bind(&client.acts_for)
            .bind(Json(&client.scopes))
            .bind(most)
            .execute(&mut *tx)
            .await?;
            done.rows_affected() == 1
        }))
    }

    /// Ends a client of a workspace with all that was granted to it. `false`: it does not exist.
    pub async fn delete_named_client(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("DELETE FROM app_clients WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?;
            sqlx::query("DELETE FROM app_grants WHERE workspace_id = $1 AND client_id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Keys);
            done.rows_affected() == 1
        }))
    }

    /// Ends one token. `false`: it does not exist.
    pub async fn delete_client_token(&self, hash: &str) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("DELETE FROM app_client_tokens WHERE hash = $1").bind(hash).execute(&mut *tx).await?;
            bump!(tx, Topic::Keys);
            done.rows_affected() == 1
        }))
    }
}
