//! Questions in the database: what the caller wrote, and what would be sent, is sealed.

use crate::row_seals::{RowPlace, RowSeals};
use crate::{Error, Gateway};
use toolgate_store::{ApprovalRow, SealedColumn};

impl Gateway {
    /// The question as it is kept.
    pub(super) fn sealed_question(&self, question: ApprovalRow) -> Result<ApprovalRow, Error> {
        changed(question, |place, text| {
            RowSeals::new(&self.vault).seal(place, &text)
        })
    }

    /// The question as it was asked.
    pub(super) fn opened_question(&self, kept: ApprovalRow) -> Result<ApprovalRow, Error> {
        changed(kept, |place, text| {
            RowSeals::new(&self.vault).open(place, text)
        })
    }
}

fn changed(
    row: ApprovalRow,
    change: impl Fn(&RowPlace<'_>, String) -> Result<String, Error>,
) -> Result<ApprovalRow, Error> {
    let of = |column, text| change(&RowPlace::new(column, &row.workspace_id, &row.id), text);
    let arguments = of(SealedColumn::ApprovalArguments, row.arguments.clone())?;
    let requests = of(SealedColumn::ApprovalRequests, row.requests.clone())?;
    let plan = of(SealedColumn::ApprovalPlan, row.plan.clone())?;
    Ok(ApprovalRow {
        arguments,
        requests,
        plan,
        ..row
    })
}
