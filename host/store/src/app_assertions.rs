//! Assertions of issuers and of clients, each of which is good once.

use super::app_grants::insert_token;
use super::text::Json;
use super::{AppGrant, AppToken, Store, StoreError, Writer, portable};

/// An assertion by what it is known by, and until when it could be presented again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedAssertion {
    /// SHA-256 of issuer and id.
    pub hash: String,
    pub expires_at_ms: i64,
}

impl Store {
    /// Notes that an assertion was used to authenticate a client. `false`: it was used before.
    pub async fn use_app_assertion(&self, assertion: &UsedAssertion) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let fresh = sqlx::query(
                "INSERT INTO app_assertions (hash, expires_at_ms) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING",
            )
            .bind(&assertion.hash)
            .bind(assertion.expires_at_ms)
            .execute(&mut *tx)
            .await?;
            fresh.rows_affected() == 1
        }))
    }
}

impl Writer {
    /// Exchanges an assertion for a token. What the same client got for the same member before is one grant:
    /// `grant.code_hash` says which. `false`: the assertion was used before.
    pub async fn exchange_app_assertion(
        &self,
        assertion: &UsedAssertion,
        grant: &AppGrant,
        token: &AppToken,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let fresh = sqlx::query(
                "INSERT INTO app_assertions (hash, expires_at_ms) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING",
            )
            .bind(&assertion.hash)
            .bind(assertion.expires_at_ms)
            .execute(&mut *tx)
            .await?;
            if fresh.rows_affected() != 1 {
                return Ok(false);
            }
            sqlx::query("UPDATE app_clients SET used_at_ms = $2 WHERE id = $1")
                .bind(&grant.client_id)
                .bind(grant.created_at_ms)
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "INSERT INTO app_grants (workspace_id, id, member_id, client_id, client_name, scopes, resource, \
                 redirect_uri, challenge, code_hash, code_expires_at_ms, code_used_at_ms, created_at_ms, expires_at_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, '', '', $8, $9, $9, $9, $10) ON CONFLICT (code_hash) DO UPDATE SET \
                 client_name = excluded.client_name, scopes = excluded.scopes, expires_at_ms = excluded.expires_at_ms",
            )
            .bind(&grant.workspace_id)
            .bind(&grant.id)
            .bind(&grant.member_id)
            .bind(&grant.client_id)
            .bind(&grant.client_name)
            .bind(Json(&grant.scopes))
            .bind(&grant.resource)
            .bind(&grant.code_hash)
            .bind(grant.created_at_ms)
            .bind(grant.expires_at_ms)
            .execute(&mut *tx)
            .await?;
            let grant_id: String = sqlx::query_scalar("SELECT id FROM app_grants WHERE code_hash = $1")
                .bind(&grant.code_hash)
                .fetch_one(&mut *tx)
                .await?;
            let token = AppToken { grant_id, ..token.clone() };
            insert_token!(tx, &token);
            true
        }))
    }
}
