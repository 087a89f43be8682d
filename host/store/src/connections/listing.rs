//! Lists of connections.
//!
//! Each combination of filters is a statement of its own. SQLite plans a statement before it knows the
//! values, so with `($2 IS NULL OR user_id = $2)` it would read every connection of the workspace, at
//! each call of a connected user.

use super::Connection;
use crate::page::one_more;
use crate::{Cursor, Page, Store, StoreError, portable};

macro_rules! newest_first {
    ($filter:literal) => {
        concat!(
            "SELECT * FROM connections WHERE workspace_id = $1",
            $filter,
            " ORDER BY created_at_ms DESC, id DESC"
        )
    };
}

/// A page of them, after the row of `$2` and `$3`.
macro_rules! page_of {
    ($filter:literal) => {
        concat!(
            "SELECT * FROM connections WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3)",
            $filter,
            " ORDER BY created_at_ms DESC, id DESC LIMIT $4"
        )
    };
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
    /// A page of the same.
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
