//! MCP clients that ask members to let them in by OAuth, and what they ask for before a member has
//! decided. Only a client that an admin has named belongs to a workspace: the others are there before
//! anybody has signed in.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};

use super::text::Json;
use super::{Store, StoreError, Writer, portable};
use crate::columns::select;

/// How a client became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum AppClientKind {
    /// Its id is the address of its metadata document, whose host has vouched for it.
    Document,
    /// It registered itself; nobody has checked what it says of itself.
    Registered,
    /// An admin has named it, for the members of one workspace.
    Named,
}

/// How a client proves at the token endpoint who it is (RFC 7591, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum AppClientAuth {
    /// By the code verifier alone: it can keep no secret.
    None,
    #[serde(rename = "client_secret_basic")]
    #[strum(serialize = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    #[strum(serialize = "client_secret_post")]
    Post,
    /// By an assertion that it has signed with a key of its `jwks_uri` (RFC 7523, section 2.2).
    #[serde(rename = "private_key_jwt")]
    #[strum(serialize = "private_key_jwt")]
    PrivateKeyJwt,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct AppClient {
    /// The `client_id`.
    pub id: String,
    #[sqlx(try_from = "&'a str")]
    pub kind: AppClientKind,
    pub name: String,
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub redirect_uris: Vec<String>,
    #[sqlx(try_from = "&'a str")]
    pub auth_method: AppClientAuth,
    /// SHA-256 of its secret.
    pub secret_hash: Option<String>,
    pub created_at_ms: i64,
    /// Of a metadata document: when it has to be read again.
    pub fresh_until_ms: Option<i64>,
    /// When a member has last let it in.
    pub used_at_ms: Option<i64>,
    /// Whose it is that was named by an admin.
    pub workspace_id: Option<String>,
    /// The user that it gets tokens for by its secret alone.
    pub acts_for: Option<String>,
    /// What a client that was named may have at most.
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub scopes: Vec<String>,
    /// Where it publishes the keys that its assertions are signed with.
    pub jwks_uri: Option<String>,
}

/// An authorization request that waits for a member's decision.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct AppRequest {
    /// `areq_` and 128 random bits.
    pub id: String,
    pub client_id: String,
    pub redirect_uri: String,
    pub state: Option<String>,
    /// Of PKCE, S256.
    pub challenge: String,
    pub resource: String,
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub scopes: Vec<String>,
    pub created_at_ms: i64,
    pub expires_at_ms: i64,
    /// The issuer as the client knows it. `None`: by the public address.
    pub issuer: Option<String>,
}

impl Store {
    /// Keeps a client that registered itself. Where `unused_max` wait for their first use, the oldest
    /// of them is forgotten.
    pub async fn insert_app_client(
        &self,
        client: &AppClient,
        unused_max: i64,
    ) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM app_clients WHERE id IN (SELECT id FROM app_clients \
                 WHERE kind = $2 AND used_at_ms IS NULL ORDER BY created_at_ms DESC, id DESC LIMIT 1000 OFFSET $1)",
            )
            .bind(unused_max - 1)
            .bind(AppClientKind::Registered.into_str())
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "INSERT INTO app_clients (id, kind, name, redirect_uris, auth_method, secret_hash, created_at_ms, \
                 fresh_until_ms, used_at_ms, jwks_uri) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            )
            .bind(&client.id)
            .bind(client.kind.into_str())
            .bind(&client.name)
            .bind(Json(&client.redirect_uris))
            .bind(client.auth_method.into_str())
            .bind(&client.secret_hash)
            .bind(client.created_at_ms)
            .bind(client.fresh_until_ms)
            .bind(client.used_at_ms)
            .bind(&client.jwks_uri)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// Keeps what a metadata document says, in the place of what it said before.
    pub async fn put_app_document(&self, client: &AppClient) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "INSERT INTO app_clients (id, kind, name, redirect_uris, auth_method, created_at_ms, fresh_until_ms, \
                 jwks_uri) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET name = $3, \
                 redirect_uris = $4, auth_method = $5, fresh_until_ms = $7, jwks_uri = $8 \
                 WHERE app_clients.kind = $2",
            )
            .bind(&client.id)
            .bind(AppClientKind::Document.into_str())
            .bind(&client.name)
            .bind(Json(&client.redirect_uris))
            .bind(client.auth_method.into_str())
            .bind(client.created_at_ms)
            .bind(client.fresh_until_ms)
            .bind(&client.jwks_uri)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    pub async fn find_app_client(&self, id: &str) -> Result<Option<AppClient>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(app_clients, "WHERE id = $1")).bind(id).fetch_optional(db).await?
        }))
    }

    pub async fn insert_app_request(&self, request: &AppRequest) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "INSERT INTO app_requests (id, client_id, redirect_uri, state, challenge, resource, scopes, \
                 created_at_ms, expires_at_ms, issuer) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            )
            .bind(&request.id)
            .bind(&request.client_id)
            .bind(&request.redirect_uri)
            .bind(&request.state)
            .bind(&request.challenge)
            .bind(&request.resource)
            .bind(Json(&request.scopes))
            .bind(request.created_at_ms)
            .bind(request.expires_at_ms)
            .bind(&request.issuer)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// A request that nobody has decided and that is not over.
    pub async fn find_app_request(
        &self,
        id: &str,
        now_ms: i64,
    ) -> Result<Option<AppRequest>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(app_requests, "WHERE id = $1 AND expires_at_ms > $2"))
                .bind(id)
                .bind(now_ms)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Deletes requests that are over and clients that nobody has used: registrations made before
    /// `unused_before_ms`, and any client without a grant whose last use was before `used_before_ms`.
    pub async fn purge_app_clients(
        &self,
        now_ms: i64,
        unused_before_ms: i64,
        used_before_ms: i64,
    ) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM app_requests WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "DELETE FROM app_clients WHERE created_at_ms < $1 AND (used_at_ms IS NULL OR used_at_ms < $2) \
                 AND workspace_id IS NULL AND NOT EXISTS (SELECT 1 FROM app_grants WHERE app_grants.client_id = app_clients.id)",
            )
            .bind(unused_before_ms)
            .bind(used_before_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }
}

impl Writer {
    /// Ends a request without a grant. `false`: somebody else has decided it.
    pub async fn refuse_app_request(&self, id: &str) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("DELETE FROM app_requests WHERE id = $1").bind(id).execute(&mut *tx).await?;
            done.rows_affected() == 1
        }))
    }
}
