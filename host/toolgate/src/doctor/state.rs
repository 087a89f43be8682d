//! Database, clock, disk and limits: what this machine gives the gateway.

use std::path::Path;

use rustix::fs::statvfs;
use rustix::process::{Resource, getrlimit};

use super::{DoctorFinding, DoctorOptions};
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_gateway::connections::callback::CallbackAddress;
use toolgate_store::snapshot::{self, DatabaseState};
use toolgate_store::{DatabaseKind, OAuthApp, StoreError};

/// A clock that is off by more refuses signed requests and tokens that are good.
pub(super) const CLOCK_MS_MAX: i64 = 60_000;
/// Open files below which connections become few.
const FILES_MIN: u64 = 4_096;

pub(super) async fn examine(
    config: &Config,
    options: &DoctorOptions,
    clock: &Clock,
) -> Vec<DoctorFinding> {
    let looked = snapshot::inspect(&config.gateway.database_url).await;
    let mut findings = vec![database(&looked)];
    if let Ok(Some(state)) = &looked {
        findings.push(clock_of(state, clock.now_ms()));
        findings.extend(plugins(state));
        findings.push(callbacks(&state.applications));
    }
    findings.push(disk(&config.gateway.data_dir, options.disk_free_min_bytes));
    findings.push(open_files());
    findings
}

fn database(looked: &Result<Option<DatabaseState>, StoreError>) -> DoctorFinding {
    const CHECK: &str = "database";
    let state = match looked {
        Ok(Some(state)) => state,
        Ok(None) => return DoctorFinding::ok(CHECK, "the database is made by the first start"),
        Err(cause) => {
            let step = match cause {
                StoreError::Damaged(_) => {
                    "Stop the gateway, keep the damaged file, and restore a backup."
                }
                StoreError::UnknownUrl => "Correct --database-url.",
                _ => {
                    "Check that the server of --database-url runs, and its user, password and certificate."
                }
            };
            return DoctorFinding::failed(CHECK, super::with_causes(cause)).next(step);
        }
    };
    if let Err(cause) = state.check_version() {
        return DoctorFinding::failed(CHECK, cause.to_string()).next(
            "Install the newer toolgate again, or restore the backup from before its first start.",
        );
    }
    let kind = match state.kind {
        DatabaseKind::Sqlite => "the SQLite file is whole",
        DatabaseKind::Postgres => "PostgreSQL answers",
    };
    let version = match state.migration {
        None => "the first start fills it".to_owned(),
        Some(found) if found < state.known => {
            format!(
                "the next start migrates it from {found} to {}; make a backup before",
                state.known
            )
        }
        Some(found) => format!("migration {found} is the newest"),
    };
    DoctorFinding::ok(CHECK, format!("{kind}; {version}"))
}

fn clock_of(state: &DatabaseState, now_ms: i64) -> DoctorFinding {
    const CHECK: &str = "clock";
    let step = "Synchronize the clock of this machine (timedatectl set-ntp true).";
    if let Some(server_ms) = state.server_time_ms
        && (server_ms - now_ms).abs() > CLOCK_MS_MAX
    {
        let seconds = (server_ms - now_ms) / 1_000;
        return DoctorFinding::failed(
            CHECK,
            format!("the clock of the database is {seconds} s ahead of this machine's"),
        )
        .next(step);
    }
    if let Some(newest_ms) = state.newest_entry_ms
        && newest_ms - now_ms > CLOCK_MS_MAX
    {
        let seconds = (newest_ms - now_ms) / 1_000;
        return DoctorFinding::failed(
            CHECK,
            format!("the newest entry of the audit log was written {seconds} s later than now"),
        )
        .next(step);
    }
    DoctorFinding::ok(CHECK, "the clock agrees with the database")
}

/// Plugin files that the gateway refused.
fn plugins(state: &DatabaseState) -> Vec<DoctorFinding> {
    const CHECK: &str = "plugins";
    if state.refused_files.is_empty() {
        return vec![DoctorFinding::ok(CHECK, "no plugin file is quarantined")];
    }
    let refused = |(file, reason): &(String, String)| {
        DoctorFinding::warning(CHECK, format!("{file} is quarantined: {reason}"))
            .next("Correct what the reason names. The gateway tries the file again by itself, within five minutes.")
    };
    state.refused_files.iter().map(refused).collect()
}

/// Applications whose codes a hostile plugin may receive (RFC 9700, section 4.4).
fn callbacks(applications: &[OAuthApp]) -> DoctorFinding {
    const CHECK: &str = "callbacks";
    let mut shared: Vec<&str> = applications
        .iter()
        .filter(|app| CallbackAddress::from_app(app) == CallbackAddress::SharedUnproven)
        .map(|app| app.service.as_str())
        .collect();
    shared.dedup();
    if shared.is_empty() {
        let found = "each OAuth application has a redirect address that tells providers apart";
        return DoctorFinding::ok(CHECK, found);
    }
    let named = shared.join(", ");
    DoctorFinding::warning(
        CHECK,
        format!(
            "these services share the redirect address /oauth/callback and take answers that do not say who sent them, so that a hostile plugin can receive the authorization codes of another service: {named}"
        ),
    )
    .next(
        "For each, register /oauth/callback/SERVICE at the provider in place of /oauth/callback, and run `toolgate service configure SERVICE --callback service` (with --workspace where the application is of one workspace).",
    )
}

fn disk(data_dir: &Path, free_min_bytes: u64) -> DoctorFinding {
    const CHECK: &str = "disk";
    let folder = data_dir.ancestors().find(|folder| folder.exists());
    let folder = folder.unwrap_or(Path::new("."));
    let about = match statvfs(folder) {
        Ok(about) => about,
        Err(cause) => {
            let shown = folder.display();
            return DoctorFinding::failed(CHECK, format!("{shown} cannot be looked at: {cause}"));
        }
    };
    let free_bytes = about.f_bavail.saturating_mul(about.f_frsize);
    let found = format!(
        "{} MiB are free where {} is",
        free_bytes >> 20,
        data_dir.display()
    );
    if free_bytes < free_min_bytes {
        return DoctorFinding::failed(CHECK, found).next(format!(
            "Make room for {} MiB: shorten --keep-receipts-days, or move the data folder.",
            free_min_bytes >> 20
        ));
    }
    DoctorFinding::ok(CHECK, found)
}

fn open_files() -> DoctorFinding {
    const CHECK: &str = "open_files";
    match getrlimit(Resource::Nofile).maximum {
        Some(files) if files < FILES_MIN => DoctorFinding::warning(
            CHECK,
            format!("this process may open {files} files, so it serves fewer connections"),
        )
        .next("Raise the hard limit (LimitNOFILE= in the unit, ulimit -n in the shell)."),
        Some(files) => DoctorFinding::ok(CHECK, format!("this process may open {files} files")),
        None => DoctorFinding::ok(CHECK, "open files have no limit"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::FindingStatus;
    use super::*;

    #[test]
    fn a_clock_beside_the_database_is_told_in_both_directions() {
        let state = |newest_entry_ms, server_time_ms| DatabaseState {
            kind: DatabaseKind::Sqlite,
            migration: None,
            known: 1,
            newest_entry_ms,
            server_time_ms,
            refused_files: Vec::new(),
            applications: Vec::new(),
        };
        let now_ms = 1_000_000_000;
        for (newest, server, expected) in [
            (None, None, FindingStatus::Ok),
            (Some(now_ms - 9_000_000), None, FindingStatus::Ok),
            (Some(now_ms + CLOCK_MS_MAX), None, FindingStatus::Ok),
            (Some(now_ms + CLOCK_MS_MAX + 1), None, FindingStatus::Failed),
            (None, Some(now_ms - CLOCK_MS_MAX - 1), FindingStatus::Failed),
            (None, Some(now_ms + CLOCK_MS_MAX + 1), FindingStatus::Failed),
        ] {
            let found = clock_of(&state(newest, server), now_ms);
            assert_eq!(found.status, expected, "{newest:?} {server:?}");
        }
    }

    #[test]
    fn each_quarantined_file_is_a_finding_with_its_reason() {
        let mut state = DatabaseState {
            kind: DatabaseKind::Sqlite,
            migration: None,
            known: 1,
            newest_entry_ms: None,
            server_time_ms: None,
            applications: Vec::new(),
            refused_files: Vec::new(),
        };
        assert_eq!(plugins(&state)[0].status, FindingStatus::Ok);
        let refused = ("notes.wasm", "no space; the gateway tries again by itself");
        state.refused_files = vec![(refused.0.into(), refused.1.into())];
        let found = plugins(&state);
        assert_eq!(found[0].status, FindingStatus::Warning);
        assert!(found[0].found.contains(refused.0) && found[0].found.contains(refused.1));
    }

    #[test]
    fn a_disk_with_too_little_room_is_told() {
        let here = std::env::temp_dir();
        assert_eq!(disk(&here, 1).status, FindingStatus::Ok);
        assert_eq!(disk(&here, u64::MAX).status, FindingStatus::Failed);
    }
}
