//! What a provider said, and what answers a repeated request, sealed before either leaves the memory of the process.

use crate::row_seals::{RowPlace, RowSeals};
use crate::{Error, Gateway};
use toolgate_core::text::Text;
use toolgate_store::{ExecutionRow, RequestAnswer, SealedColumn};
use toolgate_vault::Vault;

impl RowSeals {
    /// Seals what a failed call was answered. Where the vault cannot be used the receipt goes without it, which is logged.
    pub(super) fn seal_receipt(&self, row: &mut ExecutionRow) {
        let Some(clear) = row.result.take_if(|text| Vault::key_id_of(text).is_err()) else {
            return;
        };
        let place = RowPlace::new(SealedColumn::Receipt, &row.workspace_id, &row.id);
        match self.seal(&place, &clear) {
            Ok(sealed) => row.result = Some(Text::from(sealed)),
            Err(cause) => {
                tracing::error!(execution_id = %row.id, error = %cause, "receipts.text_not_sealed");
            }
        }
    }

    /// `None`, which is logged, where the vault cannot be used: then the outcome of the request is unknown to a
    /// repetition.
    pub(super) fn sealed_answer(&self, answer: RequestAnswer) -> Option<RequestAnswer> {
        let place = RowPlace::new(SealedColumn::Answer, &answer.workspace_id, &answer.key);
        match self.seal(&place, &answer.answer) {
            Ok(sealed) => Some(RequestAnswer {
                answer: sealed,
                ..answer
            }),
            Err(cause) => {
                let execution_id = &answer.execution_id;
                tracing::error!(execution_id, error = %cause, "idempotency.answer_not_sealed");
                None
            }
        }
    }
}

impl Gateway {
    pub(super) fn opened_receipt(&self, mut row: ExecutionRow) -> Result<ExecutionRow, Error> {
        if let Some(kept) = row.result.take() {
            let place = RowPlace::new(SealedColumn::Receipt, &row.workspace_id, &row.id);
            let opened = RowSeals::new(&self.vault).open(&place, kept.to_string())?;
            row.result = Some(opened.into());
        }
        Ok(row)
    }
}
