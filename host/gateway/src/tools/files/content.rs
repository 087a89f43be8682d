//! The content of files in the database: sealed in pieces, of which a reader gets those that it asked for.

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::row_seals::{RowPlace, internal};
use crate::stored_quota::Stored;
use crate::{Caller, Error, Gateway};
use toolgate_core::file_name;
use toolgate_core::ids::{self, UserId};
use toolgate_runtime::Blob;
use toolgate_store::{FileRow, SealedColumn};
use toolgate_vault::pieces::sealed_range;

use super::{LIFETIME_S, StoredFile, expiry, shown};

impl Gateway {
    pub(super) async fn insert_file(&self, row: &FileRow, content: &Bytes) -> Result<(), Error> {
        let (vault, row, content) = (self.vault.clone(), row.clone(), content.clone());
        // Sealing 32 MiB computes for long enough to hold up others.
        let sealing = move || {
            let place = RowPlace::new(SealedColumn::File, &row.workspace_id, &row.id);
            let sealed = vault.seal_pieces(&place.context(), &content);
            (sealed, row)
        };
        let sealed = tokio::task::spawn_blocking(sealing).await;
        let (sealed, row) = sealed.map_err(|cause| Error::Internal(cause.into()))?;
        let sealed = sealed.map_err(internal)?;
        let kept = self.store.insert_file(&row, (&sealed.key, &sealed.bytes));
        Ok(kept.await?)
    }

    /// At most `limit` bytes from `offset`.
    pub(crate) async fn read_file(
        &self,
        row: &FileRow,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<u8>, Error> {
        let size = usize::try_from(row.size_bytes).unwrap_or_default();
        if offset >= size {
            return Ok(Vec::new());
        }
        let limit = limit.min(size - offset);
        let (from, count) = sealed_range(offset, limit);
        let part = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let now_ms = self.clock.now_ms();
        let found = self
            .store
            .read_file(
                &row.workspace_id,
                &row.id,
                (part(from), part(count)),
                now_ms,
            )
            .await?;
        let found = found.ok_or_else(|| super::unknown(&row.id))?;
        let (vault, row) = (self.vault.clone(), row.clone());
        let opening = move || {
            let place = RowPlace::new(SealedColumn::File, &row.workspace_id, &row.id);
            let sealed_bytes = usize::try_from(found.sealed_bytes).unwrap_or_default();
            vault.unseal_pieces(
                &place.context(),
                &found.sealed_key,
                &found.piece,
                sealed_bytes,
                (offset, limit),
            )
        };
        let opened = tokio::task::spawn_blocking(opening).await;
        opened
            .map_err(|cause| Error::Internal(cause.into()))?
            .map_err(internal)
    }

    /// Keeps the files that a tool returned. `None` for one that has no place: the call has happened, so that is no
    /// reason to fail.
    pub(crate) async fn keep_result_files(
        &self,
        caller: &Caller,
        user: &UserId,
        execution_id: &str,
        files: &[Blob],
    ) -> Vec<Option<StoredFile>> {
        let mut kept = Vec::with_capacity(files.len());
        for file in files {
            let one = self.keep_result_file(caller, user, execution_id, file);
            kept.push(one.await.unwrap_or_else(|cause| {
                tracing::warn!(execution_id, error = %cause, "files.not_kept");
                None
            }));
        }
        kept
    }

    async fn keep_result_file(
        &self,
        caller: &Caller,
        user: &UserId,
        execution_id: &str,
        file: &Blob,
    ) -> Result<Option<StoredFile>, Error> {
        let workspace_id = &caller.workspace_id;
        let bytes = file.data.len();
        let _place = match self.take_stored(Stored::Files, workspace_id, bytes).await {
            Err(Error::Conflict(_)) => return Ok(None),
            taken => taken?,
        };
        let now_ms = self.clock.now_ms();
        let row = FileRow {
            workspace_id: workspace_id.to_string(),
            id: ids::ulid_at("file", now_ms),
            user_id: user.as_str().to_owned(),
            execution_id: Some(execution_id.to_owned()),
            name: file.name.as_deref().and_then(file_name::safe),
            media_type: file.media_type.clone(),
            size_bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
            sha256: hex::encode(Sha256::digest(&file.data)),
            created_at_ms: now_ms,
            expires_at_ms: expiry(now_ms, LIFETIME_S),
        };
        self.insert_file(&row, &file.data).await?;
        Ok(Some(shown(row)))
    }
}
