//! What the receipts of one day have in common: the tool, the plugin file and the key. It is most of a
//! receipt and the same for all calls of a tool with a key, so it is a row of its own.
//!
//! The id of such a row is a digest of the rest: the writer of a receipt knows it without asking the
//! database. With the day in it, rows go when the receipts of their day have gone.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::ExecutionRow;
use super::batch::Statement;
use toolgate_core::clock::utc_day;

const ID_BYTES: usize = 16;

pub(super) static INSERT_CONTEXTS: Statement = Statement::new(
    "INSERT INTO execution_contexts (workspace_id, id, day, tool_name, service, key_id, key_name, key_prefix, \
     plugin_version, plugin_sha256) VALUES ",
    10,
    " ON CONFLICT (workspace_id, id) DO NOTHING",
);

/// The id of a row.
pub(super) type ContextId = [u8; ID_BYTES];

/// One row; its other values are those of each receipt that has it.
pub(super) struct ContextRow<'a> {
    pub(super) id: ContextId,
    pub(super) receipt: &'a ExecutionRow,
}

fn context_id(row: &ExecutionRow) -> ContextId {
    let mut digest = Sha256::new();
    digest.update(utc_day(row.started_at_ms).to_le_bytes());
    for text in [
        &row.tool_name,
        &row.service,
        &row.key_id,
        &row.key_name,
        &row.key_prefix,
        &row.plugin_version,
        &row.plugin_sha256,
    ] {
        // Lengths, so that a character that moves from one text to the next is another digest.
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text.as_bytes());
    }
    let digest = digest.finalize();
    let mut id = [0; ID_BYTES];
    id.copy_from_slice(&digest[..ID_BYTES]);
    id
}

/// The id of each receipt's context, and each of them once, in the order of the primary key.
pub(super) fn contexts(rows: &[ExecutionRow]) -> (Vec<ContextId>, Vec<ContextRow<'_>>) {
    let ids: Vec<ContextId> = rows.iter().map(context_id).collect();
    let all = rows
        .iter()
        .zip(&ids)
        .map(|(receipt, id)| ((receipt.workspace_id.as_str(), *id), receipt));
    let all: BTreeMap<_, _> = all.collect();
    let once = all
        .into_iter()
        .map(|((_, id), receipt)| ContextRow { id, receipt })
        .collect();
    (ids, once)
}

/// Inserts those that are not there yet; as many as [`super::batch::statements`] puts into one statement.
macro_rules! insert_contexts {
    ($tx:ident, $contexts:expr) => {{
        let contexts = $contexts;
        let sql = $crate::execution_contexts::INSERT_CONTEXTS.text_for(&$tx, contexts.len());
        let mut insert = sqlx::query(sql);
        for context in contexts {
            let receipt = context.receipt;
            insert = insert
                .bind($crate::shared_text::SqlText::from(&receipt.workspace_id))
                .bind(context.id.to_vec())
                .bind(toolgate_core::clock::utc_day(receipt.started_at_ms))
                .bind($crate::shared_text::SqlText::from(&receipt.tool_name))
                .bind($crate::shared_text::SqlText::from(&receipt.service))
                .bind($crate::shared_text::SqlText::from(&receipt.key_id))
                .bind($crate::shared_text::SqlText::from(&receipt.key_name))
                .bind($crate::shared_text::SqlText::from(&receipt.key_prefix))
                .bind($crate::shared_text::SqlText::from(&receipt.plugin_version))
                .bind($crate::shared_text::SqlText::from(&receipt.plugin_sha256));
        }
        insert.execute(&mut *$tx).await?;
    }};
}
pub(super) use insert_contexts;
