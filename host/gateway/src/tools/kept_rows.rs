//! Kept results and answers in the database, sealed. Results are in pieces, of which a reader gets those asked for.

use crate::row_seals::{RowPlace, RowSeals, internal};
use crate::{Caller, Error, Gateway};
use toolgate_core::ids::UserId;
use toolgate_store::{ResultPiece, SealedColumn};
use toolgate_vault::pieces::{plain_bytes, sealed_range};

impl Gateway {
    /// What answers a repeated request, as it is kept. `key`: the claimed one.
    pub(super) fn sealed_answer(
        &self,
        caller: &Caller,
        key: &str,
        answer: &str,
    ) -> Result<String, Error> {
        let place = RowPlace::new(SealedColumn::Answer, &caller.workspace_id, key);
        RowSeals::new(&self.vault).seal(&place, answer)
    }

    pub(super) fn opened_answer(
        &self,
        caller: &Caller,
        key: &str,
        kept: String,
    ) -> Result<String, Error> {
        let place = RowPlace::new(SealedColumn::Answer, &caller.workspace_id, key);
        RowSeals::new(&self.vault).open(&place, kept)
    }

    pub(super) async fn put_result(
        &self,
        caller: &Caller,
        (result_id, execution_id): (&str, &str),
        user: &UserId,
        text: &str,
        expires_at_ms: i64,
    ) -> Result<(), Error> {
        let workspace_id = &caller.workspace_id;
        let place = RowPlace::new(SealedColumn::Result, workspace_id, result_id);
        let sealed = self.vault.seal_pieces(&place.context(), text.as_bytes());
        let sealed = sealed.map_err(internal)?;
        let content = (Some(&*sealed.key), &*sealed.bytes);
        let put = self.store.put_result(
            workspace_id,
            result_id,
            execution_id,
            user.as_str(),
            content,
            expires_at_ms,
        );
        Ok(put.await?)
    }

    /// At most `count` bytes of the result's text from `offset`; empty past the end. `None`: unknown or expired.
    pub(super) async fn read_result(
        &self,
        caller: &Caller,
        result_id: &str,
        (offset, count): (usize, usize),
    ) -> Result<Option<ResultPiece>, Error> {
        let workspace_id = &caller.workspace_id;
        let now_ms = self.clock.now_ms();
        let read = async |from: usize, count: usize| {
            let part = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
            let (from, count) = (part(from), part(count));
            let found = self
                .store
                .read_result(workspace_id, result_id, from, count, now_ms);
            found.await
        };
        let (from, most) = sealed_range(offset, count);
        let Some(mut found) = read(from, most).await? else {
            return Ok(None);
        };
        let Some(key) = &found.sealed_key else {
            return Ok(read(offset, count).await?);
        };
        let sealed_bytes = usize::try_from(found.bytes_total).unwrap_or_default();
        let bytes_total = plain_bytes(sealed_bytes);
        found.piece = if offset < bytes_total {
            let place = RowPlace::new(SealedColumn::Result, workspace_id, result_id);
            let part = (offset, count);
            self.vault
                .unseal_pieces(&place.context(), key, &found.piece, sealed_bytes, part)
                .map_err(internal)?
        } else {
            Vec::new()
        };
        found.bytes_total = i64::try_from(bytes_total).unwrap_or(i64::MAX);
        Ok(Some(found))
    }
}
