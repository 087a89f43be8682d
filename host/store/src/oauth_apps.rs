//! OAuth applications: how the operator has registered the gateway at a provider.

use serde_json::{Map, Value};

use super::changes::bump;
use super::{Store, StoreError, Topic, Writer, portable};
use crate::columns::select;

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct OAuthApp {
    /// A workspace id or [`super::ALL_WORKSPACES`].
    pub workspace_id: String,
    pub service: String,
    pub client_id: String,
    /// The client secret in the vault's box; absent for a public client.
    pub sealed: Option<String>,
    /// In place of the manifest's default scopes, as a JSON array.
    pub scopes: Option<String>,
    /// JSON object of further settings, for example addresses of an on-premise server.
    pub settings: String,
    pub updated_at_ms: i64,
}

/// A box somewhere in the database, for moving all of them under a new master key.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct SealedBox {
    /// `connection`, `connect_flow`, `oauth_app`, `webhook`, `webhook_previous`, `hook` or `oidc_account`.
    pub kind: String,
    pub workspace_id: String,
    pub user_id: String,
    pub service: String,
    pub id: String,
    pub sealed: String,
}

impl Store {
    /// The registration that holds for a workspace: its own, else the one for all.
    pub async fn find_oauth_app(
        &self,
        workspace_id: &str,
        service: &str,
    ) -> Result<Option<OAuthApp>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(
                    oauth_apps,
                    "WHERE service = $2 AND workspace_id IN ('', $1) ORDER BY workspace_id DESC LIMIT 1"
                ),
            )
            .bind(workspace_id)
            .bind(service)
            .fetch_optional(db)
            .await?
        }))
    }

    /// Whether a registration of any workspace has this client id.
    pub async fn has_oauth_client(&self, client_id: &str) -> Result<bool, StoreError> {
        let found: Option<String> = portable!(read self, db => {
            sqlx::query_scalar("SELECT service FROM oauth_apps WHERE client_id = $1 LIMIT 1")
                .bind(client_id)
                .fetch_optional(db)
                .await?
        });
        Ok(found.is_some())
    }

    /// Every registration of every workspace: what a running gateway caches.
    pub async fn list_oauth_apps(&self) -> Result<Vec<OAuthApp>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(oauth_apps, "ORDER BY service, workspace_id")).fetch_all(db).await?
        }))
    }

    /// Every box there is but those of kept bodies, which are many ([`Store::list_sealed_payloads`]).
    pub async fn list_sealed(&self) -> Result<Vec<SealedBox>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT 'connection' AS kind, workspace_id, user_id, service, id, sealed FROM connections \
                 UNION ALL SELECT 'connect_flow', workspace_id, user_id, service, id, sealed FROM connect_flows \
                 WHERE sealed IS NOT NULL \
                 UNION ALL SELECT 'oauth_app', workspace_id, '', service, '', sealed FROM oauth_apps \
                 WHERE sealed IS NOT NULL \
                 UNION ALL SELECT 'webhook', workspace_id, '', '', id, sealed FROM webhooks \
                 UNION ALL SELECT 'webhook_previous', workspace_id, '', '', id, sealed_previous FROM webhooks \
                 WHERE sealed_previous IS NOT NULL \
                 UNION ALL SELECT 'hook', workspace_id, user_id, service, connection_id, sealed FROM hooks \
                 UNION ALL SELECT 'oidc_account', '', '', '', subject, sealed FROM oidc_accounts",
            )
            .fetch_all(db)
            .await?
        }))
    }

    /// Replaces one box by the same content under another key. `false`: the box has changed since
    /// it was read, and somebody has sealed it anew.
    pub async fn reseal(&self, old: &SealedBox, sealed: &str) -> Result<bool, StoreError> {
        let statement = match old.kind.as_str() {
            "connection" => {
                "UPDATE connections SET sealed = $5 WHERE workspace_id = $1 AND service = $2 AND id = $3 AND sealed = $4"
            }
            "connect_flow" => {
                "UPDATE connect_flows SET sealed = $5 \
                 WHERE workspace_id = $1 AND service = $2 AND id = $3 AND sealed = $4"
            }
            "webhook" => {
                "UPDATE webhooks SET sealed = $5 WHERE workspace_id = $1 AND $2 = '' AND id = $3 AND sealed = $4"
            }
            "webhook_previous" => {
                "UPDATE webhooks SET sealed_previous = $5 \
                 WHERE workspace_id = $1 AND $2 = '' AND id = $3 AND sealed_previous = $4"
            }
            "payload" => {
                "UPDATE execution_payloads SET sealed = $5 \
                 WHERE workspace_id = $1 AND $2 = '' AND id = $3 AND sealed = $4"
            }
            "oidc_account" => {
                "UPDATE oidc_accounts SET sealed = $5 WHERE $1 = '' AND $2 = '' AND subject = $3 AND sealed = $4"
            }
            "hook" => {
                "UPDATE hooks SET sealed = $5 \
                 WHERE workspace_id = $1 AND service = $2 AND connection_id = $3 AND sealed = $4"
            }
            _ => {
                "UPDATE oauth_apps SET sealed = $5 WHERE workspace_id = $1 AND service = $2 AND $3 = '' AND sealed = $4"
            }
        };
        Ok(portable!(write self, tx => {
            let done = sqlx::query(statement)
                .bind(&old.workspace_id)
                .bind(&old.service)
                .bind(&old.id)
                .bind(&old.sealed)
                .bind(sealed)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Services);
            bump!(tx, Topic::Connections);
            done.rows_affected() == 1
        }))
    }
}

impl Writer {
    /// Keeps a registration over the one that is there, but for its client secret where `keeps_secret`, and for its
    /// settings of the names `kept_settings`. These are the ones at the time of the write: a change at the same time
    /// that gives them is not taken back.
    pub async fn change_oauth_app(
        &self,
        app: &OAuthApp,
        keeps_secret: bool,
        kept_settings: &[&str],
    ) -> Result<(), StoreError> {
        portable!(write self, tx => {
            // The write comes first: it locks the row, so that the settings it answers are those that the change
            // before left.
            let before: String = sqlx::query_scalar(
                "INSERT INTO oauth_apps (workspace_id, service, client_id, sealed, scopes, settings, updated_at_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (workspace_id, service) DO UPDATE SET \
                 client_id = excluded.client_id, \
                 sealed = CASE WHEN $8 THEN oauth_apps.sealed ELSE excluded.sealed END, \
                 scopes = excluded.scopes, updated_at_ms = excluded.updated_at_ms RETURNING settings",
            )
            .bind(&app.workspace_id)
            .bind(&app.service)
            .bind(&app.client_id)
            .bind(&app.sealed)
            .bind(&app.scopes)
            .bind(&app.settings)
            .bind(app.updated_at_ms)
            .bind(keeps_secret)
            .fetch_one(&mut *tx)
            .await?;
            sqlx::query("UPDATE oauth_apps SET settings = $3 WHERE workspace_id = $1 AND service = $2")
                .bind(&app.workspace_id)
                .bind(&app.service)
                .bind(with_kept(&app.settings, &before, kept_settings))
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Services);
        });
        Ok(())
    }

    /// Puts a registration in the place of `old`, with its scopes. `false`: `old` is not there any more.
    pub async fn replace_oauth_app(
        &self,
        old: &OAuthApp,
        new: &OAuthApp,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query(
                "UPDATE oauth_apps SET client_id = $5, sealed = $6, settings = $7, updated_at_ms = $8 \
                 WHERE workspace_id = $1 AND service = $2 AND client_id = $3 AND settings = $4",
            )
            .bind(&old.workspace_id)
            .bind(&old.service)
            .bind(&old.client_id)
            .bind(&old.settings)
            .bind(&new.client_id)
            .bind(&new.sealed)
            .bind(&new.settings)
            .bind(new.updated_at_ms)
            .execute(&mut *tx)
            .await?;
            bump!(tx, Topic::Services);
            done.rows_affected() == 1
        }))
    }

    /// `false`: nothing is registered there.
    pub async fn delete_oauth_app(
        &self,
        workspace_id: &str,
        service: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("DELETE FROM oauth_apps WHERE workspace_id = $1 AND service = $2")
                .bind(workspace_id)
                .bind(service)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Services);
            done.rows_affected() == 1
        }))
    }
}

/// `settings`, in which those of the names `kept` are as in `before`.
fn with_kept(settings: &str, before: &str, kept: &[&str]) -> String {
    let object = |json: &str| serde_json::from_str::<Map<String, Value>>(json).unwrap_or_default();
    let (mut settings, before) = (object(settings), object(before));
    for name in kept {
        match before.get(*name) {
            Some(value) => settings.insert((*name).to_owned(), value.clone()),
            None => settings.remove(*name),
        };
    }
    Value::Object(settings).to_string()
}

impl OAuthApp {
    /// The operator's scopes, if they replace the manifest's.
    pub fn scopes(&self) -> Option<Vec<String>> {
        self.scopes
            .as_deref()
            .and_then(|json| serde_json::from_str(json).ok())
    }

    /// Scopes as the column wants them.
    pub fn scopes_json(scopes: &[String]) -> String {
        serde_json::json!(scopes).to_string()
    }
}
