//! Lists of connections.
//!
//! Each combination of filters is a statement of its own. SQLite plans a statement before it knows the
//! values, so with `($2 IS NULL OR user_id = $2)` it would read every connection of the workspace, at
//! each call of a connected user.

use super::Connection;
use crate::columns::select;
use crate::page::one_more;
use crate::{Cursor, Page, Store, StoreError, portable};
use toolgate_core::states::ConnectionHealth;

macro_rules! newest_first {
    ($filter:literal) => {
        concat!(
            select!(connections, "WHERE workspace_id = $1"),
            $filter,
            " ORDER BY created_at_ms DESC, id DESC"
        )
    };
}

/// A page of them, after the row of `$2` and `$3`.
macro_rules! page_of {
    ($filter:literal) => {
        concat!(
            select!(
                connections,
                "WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3)"
            ),
            $filter,
            " ORDER BY created_at_ms DESC, id DESC LIMIT $4"
        )
    };
}

/// How many there are, by service and state at `$2`.
macro_rules! counted {
    ($filter:literal) => {
        concat!(
            "SELECT service, CASE WHEN lease_since_ms IS NOT NULL AND lease_until_ms > $2 \
             THEN 'refreshing' ELSE state END AS state_now, COUNT(*) AS connections \
             FROM connections WHERE workspace_id = $1",
            $filter,
            " GROUP BY service, state_now ORDER BY service, state_now"
        )
    };
}

/// Connections of one service in one state.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ConnectionCount {
    pub service: String,
    #[sqlx(rename = "state_now", try_from = "&'a str")]
    pub state: ConnectionHealth,
    #[sqlx(try_from = "i64")]
    pub connections: usize,
}

impl Store {
    /// Newest first, of one user or service or of all.
    pub async fn list_connections(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        service: Option<&str>,
    ) -> Result<Vec<Connection>, StoreError> {
        let statement = match (user_id, service) {
            (None, None) => newest_first!(""),
            (Some(_), None) => newest_first!(" AND user_id = $2"),
            (None, Some(_)) => newest_first!(" AND service = $2"),
            (Some(_), Some(_)) => newest_first!(" AND user_id = $2 AND service = $3"),
        };
        Ok(portable!(read self, db => {
            let mut query = sqlx::query_as(statement).bind(workspace_id);
            for value in [user_id, service].into_iter().flatten() {
                query = query.bind(value);
            }
            query.fetch_all(db).await?
        }))
    }

    /// How many connections there are, of one user or of all, as their states are at `now_ms`.
    pub async fn count_connections(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        now_ms: i64,
    ) -> Result<Vec<ConnectionCount>, StoreError> {
        let statement = match user_id {
            None => counted!(""),
            Some(_) => counted!(" AND user_id = $3"),
        };
        Ok(portable!(read self, db => {
            let mut query = sqlx::query_as(statement).bind(workspace_id).bind(now_ms);
            if let Some(user_id) = user_id {
                query = query.bind(user_id);
            }
            query.fetch_all(db).await?
        }))
    }

    /// A page of [`Self::list_connections`].
    pub async fn page_connections(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        service: Option<&str>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Connection>, StoreError> {
        let statement = match (user_id, service) {
            (None, None) => page_of!(""),
            (Some(_), None) => page_of!(" AND user_id = $5"),
            (None, Some(_)) => page_of!(" AND service = $5"),
            (Some(_), Some(_)) => page_of!(" AND user_id = $5 AND service = $6"),
        };
        let (at_ms, id) = Cursor::bound(after);
        let rows = portable!(read self, db => {
            let mut query = sqlx::query_as(statement)
                .bind(workspace_id)
                .bind(at_ms)
                .bind(&id)
                .bind(one_more(limit));
            for value in [user_id, service].into_iter().flatten() {
                query = query.bind(value);
            }
            query.fetch_all(db).await?
        });
        Ok(Page::cut(rows, limit, |row: &Connection| {
            (row.created_at_ms, &row.id)
        }))
    }
}
