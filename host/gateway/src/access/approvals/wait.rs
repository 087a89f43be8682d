//! Waiting for a decision: a question that is answered once somebody has decided, or when the time is over.

use std::time::Duration;

use tokio::time::Instant;

use crate::{Caller, Error, Gateway};
use toolgate_core::states::ApprovalStatus;
use toolgate_store as store;

/// Longest wait of one request.
pub const WAIT_S_MAX: usize = 60;
/// How often the question is read.
const LOOK_EVERY: Duration = Duration::from_millis(500);

impl Gateway {
    /// The question once nothing is open about it, or as it is when the time is over or the gateway stops; and the caller
    /// as its key is by then.
    ///
    /// # Errors
    /// `overloaded` where too many requests wait ([`crate::waiters`]); since the wait began, `invalid_api_key` where the
    /// caller may not call any more, and `scope_denied` where it may not read the question any more.
    pub(super) async fn decided(
        &self,
        caller: &Caller,
        mut row: store::ApprovalRow,
        wait_s: usize,
    ) -> Result<(Caller, store::ApprovalRow), Error> {
        let is_open = |row: &store::ApprovalRow| {
            row.state == ApprovalStatus::Pending && row.expires_at_ms > self.clock.now_ms()
        };
        let ends = Instant::now() + Duration::from_secs(wait_s.min(WAIT_S_MAX) as u64);
        let mut place = None;
        while is_open(&row) && Instant::now() < ends {
            if place.is_none() {
                place = Some(self.waiters.enter(&caller.workspace_id)?);
            }
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = tokio::time::sleep_until((Instant::now() + LOOK_EVERY).min(ends)) => {}
            }
            row = self.question_of(caller, &row.id).await?;
        }
        if place.is_none() {
            return Ok((caller.clone(), row));
        }
        let caller = self.caller_after_wait(caller).await?;
        let row = self.question_of(&caller, &row.id).await?;
        Ok((caller, row))
    }
}
