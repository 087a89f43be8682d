//! The plugins folder of an installation of several machines: which file has which content, and the contents
//! by their hash.

use super::changes::bump;
use super::{Store, StoreError, Topic, portable};

/// Earlier contents of one file that are remembered.
const REPLACED_MAX: i64 = 50;

/// A file of the shared folder.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PluginSource {
    pub file_name: String,
    pub sha256: String,
    pub put_at_ms: i64,
}

/// What came of putting a file into the shared folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourcePut {
    Done,
    /// The file has this content.
    Known,
    /// The file had this content once, and nobody wrote it again.
    Superseded,
}

impl Store {
    /// The files of the shared folder, by name.
    pub async fn list_plugin_sources(&self) -> Result<Vec<PluginSource>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT file_name, sha256, put_at_ms FROM plugin_sources WHERE replaced_at_ms IS NULL \
                 ORDER BY file_name",
            )
            .fetch_all(db)
            .await?
        }))
    }

    /// Gives a file of the shared folder a content that [`Store::put_plugin_bytes`] has stored. `again`:
    /// somebody has written the file, so that it counts though it had this content before.
    pub async fn put_plugin_source(
        &self,
        file_name: &str,
        sha256: &str,
        again: bool,
        now_ms: i64,
    ) -> Result<SourcePut, StoreError> {
        Ok(portable!(write self, tx => {
            let known: Vec<(String, Option<i64>)> =
                sqlx::query_as("SELECT sha256, replaced_at_ms FROM plugin_sources WHERE file_name = $1")
                    .bind(file_name)
                    .fetch_all(&mut *tx)
                    .await?;
            match known.iter().find(|(known, _)| known == sha256) {
                Some((_, None)) => return Ok(SourcePut::Known),
                Some(_) if !again => return Ok(SourcePut::Superseded),
                _ => {}
            }
            sqlx::query("UPDATE plugin_sources SET replaced_at_ms = $2 WHERE file_name = $1 AND replaced_at_ms IS NULL")
                .bind(file_name)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "INSERT INTO plugin_sources (file_name, sha256, put_at_ms) VALUES ($1, $2, $3) \
                 ON CONFLICT (file_name, sha256) DO UPDATE SET put_at_ms = excluded.put_at_ms, replaced_at_ms = NULL",
            )
            .bind(file_name)
            .bind(sha256)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "DELETE FROM plugin_sources WHERE file_name = $1 AND replaced_at_ms IS NOT NULL AND sha256 NOT IN \
                 (SELECT sha256 FROM plugin_sources WHERE file_name = $1 AND replaced_at_ms IS NOT NULL \
                 ORDER BY replaced_at_ms DESC, sha256 LIMIT $2)",
            )
            .bind(file_name)
            .bind(REPLACED_MAX)
            .execute(&mut *tx)
            .await?;
            bump!(tx, Topic::Plugins);
            SourcePut::Done
        }))
    }

    /// Takes a file out of the shared folder, if it has this content. `false`: it has another one by now, or
    /// is not there.
    pub async fn withdraw_plugin_source(
        &self,
        file_name: &str,
        sha256: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query(
                "UPDATE plugin_sources SET replaced_at_ms = $3 \
                 WHERE file_name = $1 AND sha256 = $2 AND replaced_at_ms IS NULL",
            )
            .bind(file_name)
            .bind(sha256)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?;
            let withdrawn = done.rows_affected() == 1;
            if withdrawn {
                bump!(tx, Topic::Plugins);
            }
            withdrawn
        }))
    }

    /// Stores the content with this hash, unless it is there.
    pub async fn put_plugin_bytes(
        &self,
        sha256: &str,
        bytes: &[u8],
        now_ms: i64,
    ) -> Result<(), StoreError> {
        // Named again, it is not about to be deleted.
        let there = portable!(one self, db => {
            sqlx::query("UPDATE plugin_bytes SET stored_at_ms = $2 WHERE sha256 = $1")
                .bind(sha256)
                .bind(now_ms)
                .execute(db)
                .await?
                .rows_affected()
        });
        if there > 0 {
            return Ok(());
        }
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "INSERT INTO plugin_bytes (sha256, bytes, stored_at_ms) VALUES ($1, $2, $3) \
                 ON CONFLICT (sha256) DO UPDATE SET stored_at_ms = excluded.stored_at_ms",
            )
            .bind(sha256)
            .bind(bytes)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    pub async fn plugin_bytes(&self, sha256: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar("SELECT bytes FROM plugin_bytes WHERE sha256 = $1")
                .bind(sha256)
                .fetch_optional(db)
                .await?
        }))
    }

    /// The hashes that versions, approvals and files of services name: what serves, what may be rolled back to,
    /// what waits.
    pub async fn needed_plugins(&self) -> Result<Vec<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT sha256 FROM plugin_versions \
                 UNION SELECT active_sha256 FROM plugins WHERE active_sha256 IS NOT NULL \
                 UNION SELECT pending_sha256 FROM plugins WHERE pending_sha256 IS NOT NULL \
                 UNION SELECT approve_sha256 FROM plugins WHERE approve_sha256 IS NOT NULL \
                 UNION SELECT sha256 FROM plugin_files WHERE sha256 IS NOT NULL \
                 UNION SELECT sha256 FROM plugin_sources WHERE replaced_at_ms IS NULL",
            )
            .fetch_all(db)
            .await?
        }))
    }

    /// Deletes what is remembered of files that were inspected before and that nothing names any more.
    pub async fn purge_manifests(&self, before_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM manifests WHERE inspected_at_ms < $1 \
                 AND sha256 NOT IN (SELECT sha256 FROM plugin_versions) \
                 AND sha256 NOT IN (SELECT active_sha256 FROM plugins WHERE active_sha256 IS NOT NULL) \
                 AND sha256 NOT IN (SELECT pending_sha256 FROM plugins WHERE pending_sha256 IS NOT NULL) \
                 AND sha256 NOT IN (SELECT approve_sha256 FROM plugins WHERE approve_sha256 IS NOT NULL) \
                 AND sha256 NOT IN (SELECT sha256 FROM plugin_files WHERE sha256 IS NOT NULL) \
                 AND sha256 NOT IN (SELECT sha256 FROM plugin_sources WHERE replaced_at_ms IS NULL)",
            )
            .bind(before_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }

    /// Deletes contents that were stored before and that no file, version or approval names any more.
    pub async fn purge_plugin_bytes(&self, before_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM plugin_bytes WHERE stored_at_ms < $1 \
                 AND NOT EXISTS (SELECT 1 FROM plugin_sources s \
                     WHERE s.sha256 = plugin_bytes.sha256 AND s.replaced_at_ms IS NULL) \
                 AND NOT EXISTS (SELECT 1 FROM plugin_versions v WHERE v.sha256 = plugin_bytes.sha256) \
                 AND NOT EXISTS (SELECT 1 FROM plugins p WHERE plugin_bytes.sha256 \
                     IN (p.active_sha256, p.pending_sha256, p.approve_sha256))",
            )
            .bind(before_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }
}
