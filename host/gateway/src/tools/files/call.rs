//! Files that the arguments of a call name: read before the plugin begins, so that it opens them by their handles.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::{FILE_BYTES_MAX, find_handle};
use crate::waiters::WaiterPermit;
use crate::{Caller, Error, Gateway};
use toolgate_core::ids::UserId;
use toolgate_core::memory::HeldMemory;
use toolgate_runtime::CallFile;

/// Files of one call.
pub(super) const CALL_FILES_MAX: usize = 20;

/// The files of one call, in memory while it runs.
#[derive(Default)]
pub(crate) struct HeldFiles {
    pub files: Arc<[CallFile]>,
    /// Their place in memory; a call without files needs no place.
    _place: Option<WaiterPermit>,
    _memory: Vec<HeldMemory>,
}

impl Gateway {
    /// The files of the user that the arguments name. A text that has the form of a handle and names no file of the
    /// user is left to the plugin, which is refused it if it opens it.
    ///
    /// # Errors
    /// `invalid_request` for more files, or larger ones, than a call can hold; `overloaded` where the process or the
    /// workspace has no place or memory left; as [`Gateway::stored_result`] for a file that a tool returned.
    pub(crate) async fn call_files(
        &self,
        caller: &Caller,
        user: &UserId,
        arguments: &Value,
    ) -> Result<HeldFiles, Error> {
        let mut handles = BTreeSet::new();
        find_handles(arguments, &mut handles);
        if handles.is_empty() {
            return Ok(HeldFiles::default());
        }
        if handles.len() > CALL_FILES_MAX {
            return Err(Error::InvalidRequest(format!(
                "a call takes at most {CALL_FILES_MAX} files, not {}",
                handles.len()
            )));
        }
        let place = self.file_places.enter(&caller.workspace_id)?;
        let (mut files, mut memory, mut bytes) = (Vec::new(), Vec::new(), 0);
        for handle in handles {
            let now_ms = self.clock.now_ms();
            let found = self
                .store
                .find_file(&caller.workspace_id, handle, now_ms)
                .await?;
            let Some(row) = found.filter(|row| row.user_id == user.as_str()) else {
                continue;
            };
            self.check_file_access(caller, &row).await?;
            let size = usize::try_from(row.size_bytes).unwrap_or(usize::MAX);
            bytes += size;
            if bytes > FILE_BYTES_MAX {
                return Err(Error::InvalidRequest(format!(
                    "the files of a call have at most {FILE_BYTES_MAX} bytes together"
                )));
            }
            memory.extend(self.take_memory(caller, size).await?);
            let content = self.read_file(&row, 0, size).await?;
            files.push(CallFile {
                handle: row.id,
                media_type: row.media_type,
                name: row.name,
                content: content.into(),
            });
        }
        Ok(HeldFiles {
            files: files.into(),
            _place: Some(place),
            _memory: memory,
        })
    }
}

/// Texts anywhere in the arguments that have the form of a handle.
fn find_handles<'a>(value: &'a Value, handles: &mut BTreeSet<&'a str>) {
    match value {
        Value::String(text) => handles.extend(find_handle(text)),
        Value::Array(items) => items.iter().for_each(|item| find_handles(item, handles)),
        Value::Object(fields) => fields.values().for_each(|item| find_handles(item, handles)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
