//! What workspaces executed after which searches.

use super::{Store, StoreError, Writer, portable};

/// How often a tool was executed after searches with a word.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct SearchUse {
    pub word: String,
    pub tool_name: String,
    pub times: i64,
    pub used_at_ms: i64,
}

impl Store {
    /// The uses of a workspace, the latest first.
    pub async fn list_search_uses(
        &self,
        workspace_id: &str,
        limit: usize,
    ) -> Result<Vec<SearchUse>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT word, tool_name, times, used_at_ms FROM search_uses \
                 WHERE workspace_id = $1 ORDER BY used_at_ms DESC, word, tool_name LIMIT $2",
            )
            .bind(workspace_id)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(db)
            .await?
        }))
    }

    /// Adds uses to what is there.
    pub async fn add_search_uses(
        &self,
        workspace_id: &str,
        uses: &[SearchUse],
    ) -> Result<(), StoreError> {
        // In order, so that two processes never wait for one another.
        let mut uses: Vec<&SearchUse> = uses.iter().collect();
        uses.sort_by(|a, b| (&a.word, &a.tool_name).cmp(&(&b.word, &b.tool_name)));
        portable!(write unnoticed self, tx => {
            for one in &uses {
                sqlx::query(
                    "INSERT INTO search_uses (workspace_id, word, tool_name, times, used_at_ms) \
                     VALUES ($1, $2, $3, $4, $5) \
                     ON CONFLICT (workspace_id, word, tool_name) DO UPDATE \
                     SET times = search_uses.times + excluded.times, used_at_ms = excluded.used_at_ms",
                )
                .bind(workspace_id)
                .bind(&one.word)
                .bind(&one.tool_name)
                .bind(one.times)
                .bind(one.used_at_ms)
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }

    /// Deletes the uses that were not repeated since.
    pub async fn purge_search_uses(&self, before_ms: i64) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM search_uses WHERE used_at_ms < $1")
                .bind(before_ms)
                .execute(&mut *tx)
                .await?;
        });
        Ok(())
    }
}

impl Writer {
    /// Forgets all uses of a workspace.
    pub async fn forget_search_uses(&self, workspace_id: &str) -> Result<(), StoreError> {
        portable!(write self, tx => {
            sqlx::query("DELETE FROM search_uses WHERE workspace_id = $1")
                .bind(workspace_id)
                .execute(&mut *tx)
                .await?;
        });
        Ok(())
    }
}
