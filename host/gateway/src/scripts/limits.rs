//! What one run of a script may use.

use std::time::Duration;

/// Text of a script, in bytes.
pub const SCRIPT_BYTES_MAX: usize = 256 << 10;
/// Arguments of a script as JSON, in bytes.
pub const ARGUMENTS_BYTES_MAX: usize = 1 << 20;
/// Runs of a page of the list.
pub const LIST_LIMIT_MAX: u32 = 100;
/// Steps that one run asks for.
pub(super) const STEPS_MAX: u32 = 200;
/// Steps of one run that run at one time.
pub(super) const STEPS_AT_ONCE_MAX: usize = 8;
/// Arguments of all steps of one run, in bytes of their JSON.
pub(super) const ASKED_BYTES_MAX: usize = 16 << 20;
/// Outcomes of all steps of one run, in bytes of their JSON.
pub(super) const JOURNAL_BYTES_MAX: usize = 32 << 20;
/// Wall clock of one run, or of one resume of it.
pub(super) const RUN_TIMEOUT: Duration = Duration::from_secs(120);
/// Time on the processor, all turns together.
pub(super) const PROCESSOR_TIME_MAX: Duration = Duration::from_secs(10);
/// Guest memory of a script.
pub(super) const MEMORY_BYTES_MAX: usize = 64 << 20;
/// All that one run logs, in bytes.
pub(super) const LOG_BYTES_MAX: usize = 1 << 20;
/// Lines that one run logs.
pub(super) const LOG_LINES_MAX: usize = 10_000;
/// One sleep of a script, in milliseconds.
pub(super) const SLEEP_MS_MAX: i64 = 60_000;
/// Reports of progress that a run passes on.
pub(super) const PROGRESS_MAX: usize = 1_000;
/// Characters of the message of such a report.
pub(super) const PROGRESS_CHARS_MAX: usize = 500;
/// Runs of one process at one time.
pub(super) const RUNS_MAX: usize = 64;
/// Runs of one workspace at one time in one process.
pub(super) const RUNS_PER_WORKSPACE_MAX: usize = 16;
/// Runs of one user at one time in one process.
pub(super) const RUNS_PER_USER_MAX: usize = 4;
/// How long a run and its journal are kept from its beginning. As long as an idempotency key is known: as long as the
/// journal says that a step has begun, its key tells whether a write was done.
pub(super) const KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
const _: () = assert!(KEPT_MS <= crate::tools::idempotency::KEPT_MS);
/// How long a run takes its key, or what a member has granted its app, to be as it was when it was looked at, where nobody
/// has changed one: both expire by themselves.
pub(super) const CALLER_KNOWN_MS: i64 = 10_000;
/// How long a process has a run for itself, unless it renews that.
pub(super) const LEASE_MS: i64 = 30_000;
/// How often it does.
pub(super) const LEASE_RENEWED_EVERY: Duration = Duration::from_secs(10);
/// How soon a run that another request works on may be resumed.
pub(super) const RETRY_AFTER_S: u64 = 2;
/// Between two tries of a turn for which there was no place.
pub(super) const PLACE_AGAIN_AFTER: Duration = Duration::from_millis(200);
/// Tools whose types one request asks for.
pub(super) const TYPES_MAX: usize = 600;
