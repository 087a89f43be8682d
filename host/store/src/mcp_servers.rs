//! When the MCP servers of plugins were asked for their tools, with what outcome, and when they are asked next.
//!
//! One process asks a server at a time: it takes the row's lease, and stores the outcome only while it has it.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};

use super::{Lease, Store, StoreError, Writer, portable};
use crate::columns::{columns, select};

/// What the last question for the tools of a server has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ServerOutcome {
    NotAsked,
    /// It has listed its tools.
    Answered,
    /// There was no answer.
    Unreachable,
    /// It lists its tools to signed-in users alone.
    AsksForSignIn,
    /// No plugin can be made of its answer.
    Unusable,
}

/// The MCP server of one plugin.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct McpServerRow {
    pub service: String,
    pub due_at_ms: i64,
    pub asked_at_ms: Option<i64>,
    #[sqlx(try_from = "&'a str")]
    pub outcome: ServerOutcome,
    /// The last failure as a sentence, which stays when the server answers again.
    pub failure: Option<String>,
    pub failed_at_ms: Option<i64>,
    /// Hash of what was put into the plugins folder last.
    pub offered: Option<String>,
}

/// How a server was asked by the holder of its lease.
#[derive(Clone, Copy, Debug)]
pub struct AskedServer<'a> {
    pub service: &'a str,
    pub owner: &'a str,
    pub outcome: ServerOutcome,
    /// Absent where the outcome is an answer.
    pub failure: Option<&'a str>,
    pub now_ms: i64,
    pub due_at_ms: i64,
}

/// Nobody asks the server at `$1`. A lease that is longer than a quarter of an hour is of a clock that was ahead.
macro_rules! free {
    () => {
        "(lease_until_ms IS NULL OR lease_until_ms <= $1 OR lease_until_ms - 900000 > $1)"
    };
}

impl Store {
    /// By service.
    pub async fn list_mcp_servers(&self) -> Result<Vec<McpServerRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(mcp_servers, "ORDER BY service")).fetch_all(db).await?
        }))
    }

    /// Adds a server that is to be asked at `due_at_ms`, unless it is there.
    pub async fn add_mcp_server(&self, service: &str, due_at_ms: i64) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "INSERT INTO mcp_servers (service, due_at_ms, outcome) VALUES ($1, $2, $3) \
                 ON CONFLICT (service) DO NOTHING",
            )
            .bind(service)
            .bind(due_at_ms)
            .bind(ServerOutcome::NotAsked.into_str())
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// Forgets a server whose plugin is gone.
    pub async fn forget_mcp_server(&self, service: &str) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM mcp_servers WHERE service = $1")
                .bind(service)
                .execute(&mut *tx)
                .await?;
        });
        Ok(())
    }

    /// Leases the server that has been due for the longest time and that nobody asks.
    pub async fn lease_mcp_server(
        &self,
        lease: Lease<'_>,
    ) -> Result<Option<McpServerRow>, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query_as(concat!(
                "UPDATE mcp_servers SET lease_owner = $2, lease_until_ms = $3 WHERE service = \
                 (SELECT service FROM mcp_servers WHERE due_at_ms <= $1 AND ",
                free!(),
                " ORDER BY due_at_ms, service LIMIT 1) AND ",
                // Again: on PostgreSQL another process may have taken it since.
                free!(),
                " RETURNING ",
                columns!(mcp_servers)
            ))
            .bind(lease.now_ms)
            .bind(lease.owner)
            .bind(lease.until_ms)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }

    /// Stores how a server was asked and gives its lease back. `false`: the lease is not this owner's any more.
    pub async fn note_asked_server(&self, asked: AskedServer<'_>) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE mcp_servers SET asked_at_ms = $3, due_at_ms = $4, outcome = $5, \
                 failure = COALESCE($6, failure), \
                 failed_at_ms = CASE WHEN $6 IS NULL THEN failed_at_ms ELSE $3 END, \
                 lease_owner = NULL, lease_until_ms = NULL WHERE service = $1 AND lease_owner = $2",
            )
            .bind(asked.service)
            .bind(asked.owner)
            .bind(asked.now_ms)
            .bind(asked.due_at_ms)
            .bind(asked.outcome.into_str())
            .bind(asked.failure)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Has a server asked at `due_at_ms` at the latest, unless it was asked after `asked_before_ms`.
    pub async fn hasten_mcp_server(
        &self,
        service: &str,
        due_at_ms: i64,
        asked_before_ms: i64,
    ) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE mcp_servers SET due_at_ms = $2 WHERE service = $1 AND due_at_ms > $2 \
                 AND (asked_at_ms IS NULL OR asked_at_ms <= $3)",
            )
            .bind(service)
            .bind(due_at_ms)
            .bind(asked_before_ms)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }
}

impl Writer {
    /// Notes what is put into the plugins folder after a server was asked. `false`: the server is not known.
    pub async fn note_server_offer(
        &self,
        service: &str,
        offered: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("UPDATE mcp_servers SET offered = $2 WHERE service = $1")
                .bind(service)
                .bind(offered)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }
}
