//! What belongs to the installation as a whole.

use super::{Db, Store, StoreError, portable};

/// When the last probe wrote, in milliseconds.
const WRITTEN_AT: &str = "written_at";

impl Store {
    /// Writes one row, which proves that the database takes writes: that it answers says nothing of a
    /// full disk or of a server that has become a standby.
    ///
    /// One statement without a transaction around it: a process that stops in between holds no lock that
    /// other processes would wait for.
    pub async fn prove_write(&self, now_ms: i64) -> Result<(), StoreError> {
        const STATEMENT: &str = "INSERT INTO installation (name, value) VALUES ($1, $2) \
                                 ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        match &self.db {
            Db::Sqlite { write, .. } => {
                let query = sqlx::query(STATEMENT).bind(WRITTEN_AT);
                query.bind(now_ms.to_string()).execute(write).await?;
            }
            Db::Postgres(pool) => {
                let query = sqlx::query(STATEMENT).bind(WRITTEN_AT);
                query.bind(now_ms.to_string()).execute(pool).await?;
            }
        }
        Ok(())
    }
}
