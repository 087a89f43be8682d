//! What others see of a request while it is on its way.

use std::sync::atomic::AtomicBool;

use super::cancel_notice::CallUnderWay;
use super::progress::ProgressReport;

/// One for each request that a plugin asks for, whatever its attempts.
#[derive(Clone, Copy)]
pub(super) struct SendingWatch<'r> {
    /// Set once a provider may have seen anything of it.
    pub(super) sent: &'r AtomicBool,
    /// Present: the caller hears of progress that the answer reports.
    pub(super) progress: Option<ProgressReport<'r>>,
    /// Holds the notice for the server if the caller cancels the call that it works on.
    pub(super) under_way: &'r CallUnderWay,
}
