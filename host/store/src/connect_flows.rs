//! Connect flows: the state of a connect link, from its making to the stored connection.
//!
//! `pending -> started -> completed [-> awaiting_confirmation] -> consumed`, or `failed`, or from
//! `completed` back to `pending` for another try. Each step is one conditional update that happens at most once, so a replayed link, state or callback
//! finds nothing to move. Tokens, OAuth states and cookies are kept as SHA-256, hexadecimal.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};

use super::changes::bump;
use super::connections::connect;
use super::error::inserted;
use super::text::Json;
use super::{NewConnection, Store, StoreError, Topic, Writer, portable};
use crate::columns::{returning, select};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum FlowState {
    Pending,
    /// The browser was sent to the provider with an OAuth state.
    Started,
    /// The provider's answer, or the form, was accepted; nobody else's will be.
    Completed,
    /// The application that asked for the link has to confirm the browser's user.
    AwaitingConfirmation,
    Consumed,
    Failed,
}

#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct ConnectFlow {
    pub id: String,
    /// Of the link's one-time token.
    pub token_hash: String,
    pub workspace_id: String,
    pub user_id: String,
    pub service: String,
    pub slot: String,
    /// Of the connection that will be made or renewed.
    pub connection_id: String,
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub scopes: Vec<String>,
    /// The tool whose call asked for the link.
    pub tool_name: Option<String>,
    pub confirm_url: Option<String>,
    /// The page of the application to which the browser returns, however the flow ends.
    pub return_url: Option<String>,
    /// The origin of the page that opened the link in a popup, which is sent how the flow ended.
    pub popup_origin: Option<String>,
    #[sqlx(try_from = "&'a str")]
    pub state: FlowState,
    pub oauth_state_hash: Option<String>,
    pub cookie_hash: Option<String>,
    pub confirm_hash: Option<String>,
    /// In the vault's box: the PKCE verifier, later the credential that awaits confirmation.
    pub sealed: Option<String>,
    pub last_error: Option<String>,
    pub created_at_ms: i64,
    pub expires_at_ms: i64,
    pub state_since_ms: i64,
    /// Nobody who may add or replace connections asked for it: it makes the first one of its slot, or its user is
    /// asked.
    pub first_only: bool,
}

impl Store {
    /// Keeps a new, pending flow.
    pub async fn insert_flow(&self, flow: &ConnectFlow) -> Result<(), StoreError> {
        portable!(write self, tx => {
            let done = sqlx::query(
                "INSERT INTO connect_flows (id, token_hash, workspace_id, user_id, service, slot, connection_id, \
                 scopes, tool_name, confirm_url, state, created_at_ms, expires_at_ms, state_since_ms, return_url, \
                 popup_origin, first_only) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', $11, $12, $11, $13, $14, $15) \
                 ON CONFLICT (token_hash) DO NOTHING",
            )
            .bind(&flow.id)
            .bind(&flow.token_hash)
            .bind(&flow.workspace_id)
            .bind(&flow.user_id)
            .bind(&flow.service)
            .bind(&flow.slot)
            .bind(&flow.connection_id)
            .bind(Json(&flow.scopes))
            .bind(&flow.tool_name)
            .bind(&flow.confirm_url)
            .bind(flow.created_at_ms)
            .bind(flow.expires_at_ms)
            .bind(&flow.return_url)
            .bind(&flow.popup_origin)
            .bind(flow.first_only)
            .execute(&mut *tx)
            .await?;
            inserted(done.rows_affected(), "connect token")?;
        });
        Ok(())
    }

    /// The flow behind a link, in whatever state and however old: the page says what is wrong.
    pub async fn find_flow(&self, token_hash: &str) -> Result<Option<ConnectFlow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(connect_flows, "WHERE token_hash = $1"))
                .bind(token_hash)
                .fetch_optional(db)
                .await?
        }))
    }

    /// The flow that waits for this OAuth state, in whatever state and however old.
    pub async fn find_flow_by_oauth_state(
        &self,
        oauth_state_hash: &str,
    ) -> Result<Option<ConnectFlow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(connect_flows, "WHERE oauth_state_hash = $1"))
                .bind(oauth_state_hash)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Sends the browser off: binds the flow to a fresh OAuth state and cookie. Starting again
    /// replaces them, and the earlier state leads nowhere. `false`: used or expired.
    pub async fn start_flow(
        &self,
        id: &str,
        oauth_state_hash: &str,
        cookie_hash: &str,
        sealed: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query(
                "UPDATE connect_flows SET state = 'started', oauth_state_hash = $2, cookie_hash = $3, sealed = $4, \
                 state_since_ms = $5 WHERE id = $1 AND state IN ('pending', 'started') AND expires_at_ms > $5",
            )
            .bind(id)
            .bind(oauth_state_hash)
            .bind(cookie_hash)
            .bind(sealed)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Accepts the provider's answer, once, from the browser that was sent off.
    pub async fn complete_flow(
        &self,
        oauth_state_hash: &str,
        cookie_hash: &str,
        now_ms: i64,
    ) -> Result<Option<ConnectFlow>, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query_as(
                returning!(
                    connect_flows,
                    "UPDATE connect_flows SET state = 'completed', state_since_ms = $3 WHERE oauth_state_hash = $1 \
                     AND cookie_hash = $2 AND state = 'started' AND expires_at_ms > $3"
                ),
            )
            .bind(oauth_state_hash)
            .bind(cookie_hash)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }

    /// Accepts a filled form, once, for a slot without OAuth.
    pub async fn complete_form_flow(
        &self,
        token_hash: &str,
        now_ms: i64,
    ) -> Result<Option<ConnectFlow>, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query_as(
                returning!(
                    connect_flows,
                    "UPDATE connect_flows SET state = 'completed', state_since_ms = $2 \
                     WHERE token_hash = $1 AND state = 'pending' AND expires_at_ms > $2"
                ),
            )
            .bind(token_hash)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }

    /// Lets a completed flow be tried again: the provider refused what was in the form, or the user did not
    /// agree there. The OAuth state of the try that ended leads nowhere any more.
    pub async fn reopen_flow(
        &self,
        id: &str,
        last_error: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query(
                "UPDATE connect_flows SET state = 'pending', oauth_state_hash = NULL, cookie_hash = NULL, sealed = NULL, \
                 last_error = $2, state_since_ms = $3 WHERE id = $1 AND state = 'completed'",
            )
            .bind(id)
            .bind(last_error)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// The same after the provider refused what was in the form. `false`: that was the last of `refused_max`, and the
    /// flow has ended.
    pub async fn reopen_refused_flow(
        &self,
        id: &str,
        last_error: &str,
        refused_max: i64,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let state: Option<String> = sqlx::query_scalar(
                "UPDATE connect_flows SET refused = refused + 1, \
                 state = CASE WHEN refused + 1 >= $4 THEN 'failed' ELSE 'pending' END, \
                 oauth_state_hash = NULL, cookie_hash = NULL, sealed = NULL, last_error = $2, state_since_ms = $3 \
                 WHERE id = $1 AND state = 'completed' RETURNING state",
            )
            .bind(id)
            .bind(last_error)
            .bind(now_ms)
            .bind(refused_max)
            .fetch_optional(&mut *tx)
            .await?;
            state.is_none_or(|state| state == "pending")
        }))
    }

    /// Keeps the credential in its box until the application confirms the browser's user with the
    /// code behind `confirm_hash`, or the user answers in the dashboard, and at most until `until_ms`. `false`: the
    /// flow was not just completed.
    pub async fn await_confirmation(
        &self,
        id: &str,
        confirm_hash: &str,
        sealed: &str,
        until_ms: i64,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query(
                "UPDATE connect_flows SET state = 'awaiting_confirmation', confirm_hash = $2, sealed = $3, \
                 state_since_ms = $4, expires_at_ms = $5 WHERE id = $1 AND state = 'completed'",
            )
            .bind(id)
            .bind(confirm_hash)
            .bind(sealed)
            .bind(now_ms)
            .bind(until_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// The flow that a confirmation code of this workspace is for, while it waits.
    pub async fn find_flow_to_confirm(
        &self,
        workspace_id: &str,
        confirm_hash: &str,
        now_ms: i64,
    ) -> Result<Option<ConnectFlow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(
                    connect_flows,
                    "WHERE workspace_id = $1 AND confirm_hash = $2 \
                     AND state = 'awaiting_confirmation' AND expires_at_ms > $3"
                ),
            )
            .bind(workspace_id)
            .bind(confirm_hash)
            .bind(now_ms)
            .fetch_optional(db)
            .await?
        }))
    }

    /// Ends the flow without a connection. `false`: it has ended already.
    pub async fn fail_flow(
        &self,
        id: &str,
        last_error: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query(
                "UPDATE connect_flows SET state = 'failed', sealed = NULL, last_error = $2, state_since_ms = $3 \
                 WHERE id = $1 AND state NOT IN ('consumed', 'failed')",
            )
            .bind(id)
            .bind(last_error)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// The ids of at most `limit` flows whose confirmation did not come in time, the oldest first.
    pub async fn list_unconfirmed_flows(
        &self,
        now_ms: i64,
        limit: i64,
    ) -> Result<Vec<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT id FROM connect_flows WHERE expires_at_ms <= $1 AND state = 'awaiting_confirmation' \
                 ORDER BY expires_at_ms, id LIMIT $2",
            )
            .bind(now_ms)
            .bind(limit)
            .fetch_all(db)
            .await?
        }))
    }

    /// Ends one of these flows and answers it with the credential that waited, which is stored no longer.
    /// `None`: it is confirmed or ended already, by this process or another one.
    pub async fn take_unconfirmed_flow(
        &self,
        id: &str,
        now_ms: i64,
    ) -> Result<Option<ConnectFlow>, StoreError> {
        Ok(portable!(write self, tx => {
            let taken: Option<ConnectFlow> = sqlx::query_as(
                returning!(
                    connect_flows,
                    "UPDATE connect_flows SET state = 'failed', last_error = 'not confirmed in time', \
                     state_since_ms = $2 \
                     WHERE id = $1 AND state = 'awaiting_confirmation' AND expires_at_ms <= $2"
                ),
            )
            .bind(id)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?;
            if taken.is_some() {
                // A statement of its own: what an update returns is what it has written.
                sqlx::query("UPDATE connect_flows SET sealed = NULL WHERE id = $1")
                    .bind(id)
                    .execute(&mut *tx)
                    .await?;
            }
            taken
        }))
    }

    /// Deletes flows that expired before `before_ms`; until then their page can say what happened. One that awaits
    /// confirmation stays until [`Store::take_unconfirmed_flow`] has ended it: only its row knows its tokens.
    pub async fn purge_flows(&self, before_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query("DELETE FROM connect_flows WHERE expires_at_ms < $1 AND state <> 'awaiting_confirmation'")
                .bind(before_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}

impl Writer {
    /// Ends the flow and keeps its connection, both or neither. `false`: the flow was in another state than `from`, or
    /// it makes a first connection, nobody was asked, and its user has one of the slot now; nothing was stored.
    pub async fn finish_flow(
        &self,
        id: &str,
        from: FlowState,
        connection: &NewConnection,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query(
                "UPDATE connect_flows SET state = 'consumed', sealed = NULL, state_since_ms = $3 \
                 WHERE id = $1 AND state = $2 AND state IN ('completed', 'awaiting_confirmation') \
                 AND workspace_id = $4 AND user_id = $5 AND connection_id = $6 \
                 AND NOT (first_only AND state = 'completed' AND EXISTS (SELECT 1 FROM connections AS other \
                 WHERE other.workspace_id = $4 AND other.user_id = $5 AND other.service = $7 AND other.slot = $8 \
                 AND other.id <> $6))",
            )
            .bind(id)
            .bind(from.into_str())
            .bind(now_ms)
            .bind(&connection.workspace_id)
            .bind(&connection.user_id)
            .bind(&connection.id)
            .bind(&connection.service)
            .bind(&connection.slot)
            .execute(&mut *tx)
            .await?;
            if done.rows_affected() == 0 {
                return Ok(false);
            }
            connect!(tx, self, connection, now_ms);
            true
        }))
    }
}
