//! Receipts on disk before they are rows of the database.
//!
//! With SQLite a call that sent something answers once its receipt is in this log: one append by the
//! thread that runs the call, where a transaction would wait for another thread and for every write
//! before it. The writer inserts the rows in batches and then releases their entries. What a killed
//! process leaves in its log, the next start inserts.
//!
//! An entry survives the end of the process at any moment. After a loss of power the newest entries may
//! be missing, as with the rows of receipts, which the database syncs at checkpoints.
//!
//! Each process has two files, so that one can be emptied while entries are appended to the other. They
//! hold what receipts hold: no body and no secret.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use toolgate_store::{ExecutionRow, SessionRow};

/// The file that is appended to gives way to the other beyond this size.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// Processes that share a data folder.
const PROCESSES_MAX: usize = 64;
/// Hexadecimal digits of the checksum before each entry, and a space.
const CHECKSUM_CHARS: usize = 9;

/// The log of this process.
pub(crate) struct ReceiptLog {
    files: Mutex<LogFiles>,
    /// Held while the process runs: the next holder finds what a process left behind.
    _locks: Vec<File>,
}

struct LogFiles {
    /// Which one is appended to: 0 or 1.
    active: usize,
    /// The two of this process, then those of processes that are gone.
    files: Vec<LogFile>,
}

struct LogFile {
    file: File,
    bytes: u64,
    /// Entries whose rows are not in the database yet.
    entries: usize,
    /// Half an entry follows the first `bytes`, and could not be cut off.
    torn: bool,
}

/// The file that an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogFileIndex(usize);

/// One entry.
#[derive(Debug, Deserialize, Serialize)]
struct Entry<R, S> {
    receipt: R,
    session: S,
}

/// A receipt that an earlier process left in its log, in the order in which it was written.
pub(crate) struct LeftReceipt {
    pub(crate) receipt: ExecutionRow,
    pub(crate) session: Option<SessionRow>,
    pub(crate) logged: LogFileIndex,
}

impl ReceiptLog {
    /// Opens a log in `folder`, and answers what earlier processes left there.
    pub(crate) fn open(folder: &Path) -> io::Result<(Self, Vec<LeftReceipt>)> {
        let mut private = std::fs::DirBuilder::new();
        private.recursive(true).mode(0o700).create(folder)?;
        let (mut files, mut locks, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for process in 0..PROCESSES_MAX {
            let lock_path = folder.join(format!("{process}.lock"));
            // The first that is free is this process's own; further ones only where some process was.
            if !files.is_empty() && !lock_path.exists() {
                break;
            }
            let lock = open_file(&lock_path)?;
            match lock.try_lock() {
                Ok(()) => locks.push(lock),
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(cause)) => return Err(cause),
            }
            let first = files.len();
            for half in 0..2 {
                let file = open_file(&folder.join(format!("{process}-{half}.log")))?;
                let logged = LogFileIndex(first + half);
                let before = left.len();
                let bytes = read_entries(&file, logged, &mut left)?;
                let entries = left.len() - before;
                let torn = file.metadata()?.len() > bytes;
                let mut file = LogFile {
                    file,
                    bytes,
                    entries,
                    torn,
                };
                if entries == 0 {
                    file.clear()?;
                }
                files.push(file);
            }
        }
        if files.is_empty() {
            return Err(io::Error::other(format!(
                "more than {PROCESSES_MAX} processes share this data folder"
            )));
        }
        // The newest of a call comes last, in whichever files they are: requests are only added while it
        // runs, and the receipt of its end is the last.
        left.sort_by(|one, other| {
            let age =
                |one: &LeftReceipt| (one.receipt.status != *"running", one.receipt.requests.len());
            let (id, other_id) = (&one.receipt.id, &other.receipt.id);
            id.cmp(other_id).then_with(|| age(one).cmp(&age(other)))
        });
        let log = Self {
            files: Mutex::new(LogFiles { active: 0, files }),
            _locks: locks,
        };
        Ok((log, left))
    }

    /// Returns when the receipt has been handed to the operating system.
    pub(crate) fn append(
        &self,
        receipt: &ExecutionRow,
        session: Option<&SessionRow>,
    ) -> io::Result<LogFileIndex> {
        let mut line = vec![b' '; CHECKSUM_CHARS];
        serde_json::to_writer(&mut line, &Entry { receipt, session })?;
        let checksum = format!("{:08x}", crc32fast::hash(&line[CHECKSUM_CHARS..]));
        line[..checksum.len()].copy_from_slice(checksum.as_bytes());
        line.push(b'\n');
        let mut files = self.files();
        files.switch_if_full();
        let active = files.active;
        files.files[active].append(&line)?;
        Ok(LogFileIndex(active))
    }

    /// The rows of these entries are in the database.
    pub(crate) fn release(&self, entries: &[LogFileIndex]) {
        let mut files = self.files();
        let mut counts = vec![0; files.files.len()];
        for entry in entries {
            counts[entry.0] += 1;
        }
        for (file, released) in files.files.iter_mut().zip(counts) {
            file.entries = file.entries.saturating_sub(released);
            if released > 0
                && file.entries == 0
                && let Err(cause) = file.clear()
            {
                tracing::error!(error = %cause, "receipts.log_not_emptied");
            }
        }
    }

    fn files(&self) -> MutexGuard<'_, LogFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogFiles {
    fn switch_if_full(&mut self) {
        let other = 1 - self.active;
        if self.files[self.active].bytes > FILE_BYTES_MAX && self.files[other].entries == 0 {
            self.active = other;
        }
    }
}

impl LogFile {
    /// All of the line or nothing of it: half an entry would hide the next one.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.bytes)?;
            self.torn = false;
        }
        if let Err(cause) = self.file.write_all(line) {
            self.torn = self.file.set_len(self.bytes).is_err();
            return Err(cause);
        }
        self.bytes += line.len() as u64;
        self.entries += 1;
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.bytes = 0;
        self.torn = false;
        Ok(())
    }
}

fn open_file(path: &Path) -> io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    options.open(path)
}

/// Answers where the last whole line ends. Entries that cannot be read are left out: the last may be half
/// written, since its call had no answer.
fn read_entries(file: &File, logged: LogFileIndex, left: &mut Vec<LeftReceipt>) -> io::Result<u64> {
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    let mut whole = 0;
    while lines.read_until(b'\n', &mut line)? > 0 {
        match read_entry(&line) {
            Some(Entry { receipt, session }) => left.push(LeftReceipt {
                receipt,
                session,
                logged,
            }),
            None => tracing::warn!(bytes = line.len(), "receipts.log_entry_unreadable"),
        }
        if line.ends_with(b"\n") {
            whole += line.len() as u64;
        }
        line.clear();
    }
    Ok(whole)
}

fn read_entry(line: &[u8]) -> Option<Entry<ExecutionRow, Option<SessionRow>>> {
    let (checksum, entry) = line.strip_suffix(b"\n")?.split_at_checked(CHECKSUM_CHARS)?;
    let checksum = u32::from_str_radix(str::from_utf8(checksum).ok()?.trim_end(), 16).ok()?;
    if checksum != crc32fast::hash(entry) {
        return None;
    }
    serde_json::from_slice(entry).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn receipt(id: &str, status: &str) -> ExecutionRow {
        ExecutionRow {
            workspace_id: "ws".into(),
            id: id.into(),
            kind: "tool".into(),
            tool_name: "echo_say".into(),
            service: "echo".into(),
            user_id: "ada".into(),
            key_id: "key".into(),
            key_name: "dev".into(),
            key_prefix: "tg_".into(),
            session_id: Some("tool_1".into()),
            connection_id: Some("con_1".into()),
            parent_execution_id: None,
            status: status.into(),
            reason: None,
            started_at_ms: 7,
            duration_ms: 8,
            plugin_version: "1.0.0".into(),
            plugin_sha256: "00".into(),
            requests: "[{\"method\":\"GET\"}]".into(),
            arguments: None,
            result: None,
            payloads: Vec::new(),
        }
    }

    fn ids(left: &[LeftReceipt]) -> Vec<(&str, &str)> {
        let ids = left.iter();
        ids.map(|one| (one.receipt.id.as_str(), one.receipt.status.as_str()))
            .collect()
    }

    #[test]
    fn what_was_not_released_is_there_after_the_process_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (log, left) = ReceiptLog::open(folder.path()).unwrap();
        assert!(left.is_empty());
        log.append(&receipt("exe_2", "success"), None).unwrap();
        log.append(&receipt("exe_1", "running"), None).unwrap();
        log.append(&receipt("exe_1", "success"), None).unwrap();
        drop(log);
        let (log, left) = ReceiptLog::open(folder.path()).unwrap();
        let expected = [
            ("exe_1", "running"),
            ("exe_1", "success"),
            ("exe_2", "success"),
        ];
        assert_eq!(ids(&left), expected);
        assert_eq!(left[1].receipt, receipt("exe_1", "success"));
        log.release(&left.iter().map(|one| one.logged).collect::<Vec<_>>());
        drop(log);
        assert!(ReceiptLog::open(folder.path()).unwrap().1.is_empty());
    }

    #[test]
    fn an_entry_of_an_earlier_version_is_read_and_the_run_of_a_call_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = ReceiptLog::open(folder.path()).unwrap();
        let of_run = ExecutionRow {
            parent_execution_id: Some("exe_0".into()),
            ..receipt("exe_2", "success")
        };
        log.append(&receipt("exe_1", "success"), None).unwrap();
        log.append(&of_run, None).unwrap();
        drop(log);
        let text = std::fs::read_to_string(folder.path().join("0-0.log")).unwrap();
        let named: Vec<bool> = text
            .lines()
            .map(|line| line.contains("parent_execution_id"))
            .collect();
        assert_eq!(named, [false, true], "{text}");
        let (_log, left) = ReceiptLog::open(folder.path()).unwrap();
        assert_eq!(left[0].receipt, receipt("exe_1", "success"));
        assert_eq!(left[1].receipt, of_run);
    }

    #[test]
    fn the_receipt_with_the_most_requests_comes_last() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = ReceiptLog::open(folder.path()).unwrap();
        let second = ExecutionRow {
            requests: "[{\"method\":\"GET\"},{\"method\":\"POST\"}]".into(),
            ..receipt("exe_1", "running")
        };
        // As where the files took turns between the two.
        log.append(&second, None).unwrap();
        log.append(&receipt("exe_1", "running"), None).unwrap();
        drop(log);
        let (_log, left) = ReceiptLog::open(folder.path()).unwrap();
        assert_eq!(left[1].receipt, second);
    }

    #[test]
    fn a_torn_or_changed_entry_is_left_out_and_the_next_ones_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = ReceiptLog::open(folder.path()).unwrap();
        log.append(&receipt("exe_1", "success"), None).unwrap();
        log.append(&receipt("exe_2", "success"), None).unwrap();
        drop(log);
        let file = folder.path().join("0-0.log");
        let mut text = std::fs::read_to_string(&file).unwrap();
        text = text.replacen("exe_1", "exe_9", 1);
        text.push_str("00000000 {\"rec");
        std::fs::write(&file, text).unwrap();
        let (_log, left) = ReceiptLog::open(folder.path()).unwrap();
        assert_eq!(ids(&left), [("exe_2", "success")]);
    }

    #[test]
    fn an_entry_after_a_torn_one_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = ReceiptLog::open(folder.path()).unwrap();
        log.append(&receipt("exe_1", "success"), None).unwrap();
        drop(log);
        let file = folder.path().join("0-0.log");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text + "00000000 {\"rec").unwrap();
        // The process that finds it goes on writing to the same file.
        let (log, _) = ReceiptLog::open(folder.path()).unwrap();
        log.append(&receipt("exe_2", "success"), None).unwrap();
        drop(log);
        let (_log, left) = ReceiptLog::open(folder.path()).unwrap();
        assert_eq!(ids(&left), [("exe_1", "success"), ("exe_2", "success")]);
    }

    /// A device that takes no byte, and cannot be cut either.
    #[test]
    fn what_a_full_disk_refused_is_not_in_the_log_and_what_follows_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0-0.log");
        let mut log = LogFile {
            file: open_file(Path::new("/dev/full")).unwrap(),
            bytes: 0,
            entries: 0,
            torn: false,
        };
        let refused = log.append(b"one\n").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        assert!(log.torn && log.entries == 0);
        assert!(
            log.append(b"one\n").is_err(),
            "nothing follows half an entry"
        );
        // As a disk leaves it that took a part.
        std::fs::write(&path, "on").unwrap();
        log.file = open_file(&path).unwrap();
        log.append(b"two\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(log.entries, 1);
    }

    #[test]
    fn processes_that_run_at_the_same_time_have_logs_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let (first, _) = ReceiptLog::open(folder.path()).unwrap();
        let (second, left) = ReceiptLog::open(folder.path()).unwrap();
        assert!(left.is_empty());
        first.append(&receipt("exe_1", "success"), None).unwrap();
        second.append(&receipt("exe_2", "success"), None).unwrap();
        let (_third, left) = ReceiptLog::open(folder.path()).unwrap();
        assert!(left.is_empty(), "both are in use");
        drop(second);
        let (fourth, left) = ReceiptLog::open(folder.path()).unwrap();
        assert_eq!(ids(&left), [("exe_2", "success")]);
        drop((first, fourth));
    }

    #[test]
    fn the_files_take_turns_so_that_each_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = ReceiptLog::open(folder.path()).unwrap();
        let large = ExecutionRow {
            requests: "x".repeat(1 << 20).into(),
            ..receipt("exe_1", "success")
        };
        let mut unreleased = Vec::new();
        for _ in 0..100 {
            unreleased.push(log.append(&large, None).unwrap());
            // The writer is three entries behind.
            if unreleased.len() > 3 {
                log.release(&[unreleased.remove(0)]);
            }
        }
        let bytes = |half: usize| log.files().files[half].file.metadata().unwrap().len();
        assert!(bytes(0) + bytes(1) < 2 * FILE_BYTES_MAX + (8 << 20));
        log.release(&unreleased);
        assert_eq!((bytes(0), bytes(1)), (0, 0));
    }

    #[test]
    fn the_process_beyond_the_limit_is_told_why_it_has_no_log() {
        let folder = tempfile::tempdir().unwrap();
        let open = || ReceiptLog::open(folder.path());
        let mut logs: Vec<_> = (0..PROCESSES_MAX).map(|_| open().unwrap().0).collect();
        let refused = open().map(drop).unwrap_err().to_string();
        assert_eq!(refused, "more than 64 processes share this data folder");
        logs.pop();
        open().unwrap();
    }

    /// A file that takes only so much, as on a full disk: the test runs itself in a process with a limit.
    #[test]
    fn an_entry_that_does_not_fit_is_taken_back_and_the_next_one_is_read() {
        const FOLDER: &str = "TOOLGATE_TEST_FULL_LOG";
        const MODULE: &str = "executions::receipt_log::tests";
        let small = receipt("exe_2", "success");
        let large = ExecutionRow {
            requests: "x".repeat(6_000).into(),
            ..receipt("exe_1", "success")
        };
        if let Some(folder) = std::env::var_os(FOLDER) {
            let (log, _) = ReceiptLog::open(Path::new(&folder)).unwrap();
            log.append(&large, None).unwrap();
            let full = log.append(&large, None).unwrap_err();
            assert_eq!(full.kind(), io::ErrorKind::FileTooLarge);
            log.append(&small, None).unwrap();
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let limited = std::process::Command::new("sh")
            // In units of 512 bytes; without the trap the limit ends the process.
            .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args([
                "--exact",
                &format!(
                    "{MODULE}::an_entry_that_does_not_fit_is_taken_back_and_the_next_one_is_read"
                ),
            ])
            .env(FOLDER, folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&limited.stdout);
        assert!(limited.status.success(), "{said}");
        assert!(said.contains("1 passed"), "{said}");
        let (_log, left) = ReceiptLog::open(folder.path()).unwrap();
        assert_eq!(ids(&left), [("exe_1", "success"), ("exe_2", "success")]);
    }

    /// Writes fail from now on, as on a full disk.
    pub(crate) fn fill(log: &ReceiptLog, folder: &Path) {
        let mut files = log.files();
        let active = files.active;
        files.files[active].file = File::open(folder.join(format!("0-{active}.log"))).unwrap();
    }
}
