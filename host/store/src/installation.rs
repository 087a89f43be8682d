//! What belongs to the installation as a whole.

use super::{Store, StoreError, Writer, portable};

/// When the last probe wrote, in milliseconds.
const WRITTEN_AT: &str = "written_at";
/// The name of the master key that the boxes of this database are under.
const MASTER_KEY: &str = "master_key";

impl Store {
    /// The name of the master key that this database was written with; `None`: no process has named one.
    pub async fn master_key_id(&self) -> Result<Option<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar("SELECT value FROM installation WHERE name = $1")
                .bind(MASTER_KEY)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Names the master key unless another process has, and answers the name that is there now.
    pub async fn claim_master_key_id(&self, key_id: &str) -> Result<String, StoreError> {
        let named: Option<String> = portable!(write unnoticed self, tx => {
            sqlx::query("INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
                .bind(MASTER_KEY)
                .bind(key_id)
                .execute(&mut *tx)
                .await?;
            sqlx::query_scalar("SELECT value FROM installation WHERE name = $1")
                .bind(MASTER_KEY)
                .fetch_optional(&mut *tx)
                .await?
        });
        Ok(named.unwrap_or_else(|| key_id.to_owned()))
    }

    /// One box, whichever; `None`: nothing is sealed.
    pub async fn any_sealed(&self) -> Result<Option<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT sealed FROM connections \
                 UNION ALL SELECT sealed FROM oauth_apps WHERE sealed IS NOT NULL \
                 UNION ALL SELECT sealed FROM webhooks \
                 UNION ALL SELECT sealed FROM hooks \
                 UNION ALL SELECT sealed FROM execution_payloads \
                 UNION ALL SELECT sealed FROM oidc_accounts \
                 LIMIT 1",
            )
            .fetch_optional(db)
            .await?
        }))
    }

    /// Writes one row, which proves that the database takes writes: that it answers says nothing of a
    /// full disk or of a server that has become a standby.
    ///
    /// One statement without a transaction around it: a process that stops in between holds no lock that
    /// other processes would wait for.
    pub async fn prove_write(&self, now_ms: i64) -> Result<(), StoreError> {
        const STATEMENT: &str = "INSERT INTO installation (name, value) VALUES ($1, $2) \
                                 ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        portable!(one self, db => {
            let query = sqlx::query(STATEMENT).bind(WRITTEN_AT);
            query.bind(now_ms.to_string()).execute(db).await?.rows_affected()
        });
        Ok(())
    }
}

impl Writer {
    /// Names another master key: every box is under it now, or those that are not are given up.
    pub async fn put_master_key_id(&self, key_id: &str) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "INSERT INTO installation (name, value) VALUES ($1, $2) \
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )
            .bind(MASTER_KEY)
            .bind(key_id)
            .execute(&mut *tx)
            .await?
            .rows_affected()
        });
        Ok(())
    }
}
