//! The outcome of each file of the plugins folder.

use std::collections::HashMap;

use serde_json::json;

use super::events::emit;
use super::plugins::PluginState;
use super::{Event, EventType, Store, StoreError, portable};
use crate::columns::select;

/// One file in the plugins folder.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PluginFile {
    pub file_name: String,
    pub sha256: Option<String>,
    pub service: Option<String>,
    #[sqlx(try_from = "&'a str")]
    pub state: PluginState,
    pub reason: Option<String>,
    /// What was seen of the file when its content had this hash; unchanged, it need not be read again.
    pub fingerprint: Option<String>,
    pub updated_at_ms: i64,
}

impl PluginFile {
    /// The same but for the time.
    fn says_what(&self, other: &Self) -> bool {
        Self {
            updated_at_ms: other.updated_at_ms,
            ..self.clone()
        } == *other
    }
}

impl Store {
    /// Notes how far files have come. What is known already is not written again, and keeps its time:
    /// on a start that is all of them.
    pub async fn put_plugin_files(&self, files: &[PluginFile]) -> Result<(), StoreError> {
        if files.is_empty() {
            return Ok(());
        }
        let known = self.list_plugin_files().await?;
        let known: HashMap<&str, &PluginFile> = known
            .iter()
            .map(|file| (file.file_name.as_str(), file))
            .collect();
        let is_known = |file: &PluginFile| {
            let known = known.get(file.file_name.as_str());
            known.is_some_and(|known| known.says_what(file))
        };
        let mut files: Vec<&PluginFile> = files.iter().filter(|file| !is_known(file)).collect();
        if files.is_empty() {
            return Ok(());
        }
        // In order, so that two processes never wait for one another.
        files.sort_by(|a, b| a.file_name.cmp(&b.file_name));
        portable!(write self, tx => {
            for file in &files {
                let before: Option<PluginFile> = sqlx::query_as(select!(plugin_files, "WHERE file_name = $1"))
                    .bind(&file.file_name)
                    .fetch_optional(&mut *tx)
                    .await?;
                sqlx::query(
                    "INSERT INTO plugin_files (file_name, sha256, service, state, reason, fingerprint, updated_at_ms) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (file_name) DO UPDATE SET \
                     sha256 = excluded.sha256, service = excluded.service, state = excluded.state, \
                     reason = excluded.reason, fingerprint = excluded.fingerprint, \
                     updated_at_ms = excluded.updated_at_ms",
                )
                .bind(&file.file_name)
                .bind(&file.sha256)
                .bind(&file.service)
                .bind(file.state.into_str())
                .bind(&file.reason)
                .bind(&file.fingerprint)
                .bind(file.updated_at_ms)
                .execute(&mut *tx)
                .await?;
                let known = before.is_some_and(|before| (before.state, &before.sha256) == (file.state, &file.sha256));
                if file.state == PluginState::Quarantined && !known {
                    let data = json!({
                        "service": file.service,
                        "file_name": file.file_name,
                        "sha256": file.sha256,
                        "reason": file.reason,
                    });
                    emit!(tx, self, &[Event::for_all(EventType::PluginQuarantined, file.updated_at_ms, data)]);
                }
            }
        });
        Ok(())
    }

    /// By file name.
    pub async fn list_plugin_files(&self) -> Result<Vec<PluginFile>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(plugin_files, "ORDER BY file_name")).fetch_all(db).await?
        }))
    }

    /// Forgets a file that is gone. `false`: it was not known.
    pub async fn delete_plugin_file(&self, file_name: &str) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query("DELETE FROM plugin_files WHERE file_name = $1")
                .bind(file_name)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }
}
