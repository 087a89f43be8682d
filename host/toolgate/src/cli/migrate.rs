//! `toolgate migrate`: whether the next start changes the database, and the change without a start.

use serde::Serialize;

use super::output::{OutputFormat, ReportedFailure};
use crate::config::Config;
use toolgate_store::{Store, snapshot};

#[derive(Debug, clap::Args)]
pub(super) struct Migrate {
    /// Change nothing; exit status 1 if the next start would migrate the database
    #[arg(long)]
    check: bool,
}

/// What was found, and what is there now.
#[derive(Debug, Serialize)]
struct MigrationReport {
    /// The newest migration that the database had; none where no toolgate has used it yet.
    found: Option<i64>,
    /// The newest that this program knows.
    known: i64,
    /// Whether the next start migrates.
    pending: bool,
}

impl Migrate {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let url = &config.gateway.database_url;
        if !self.check {
            toolgate_gateway::make_private_dir(&config.gateway.data_dir)?;
        }
        let state = snapshot::inspect(url).await?;
        if let Some(state) = &state {
            state.check_version()?;
        }
        let found = state.and_then(|state| state.migration);
        let known = snapshot::newest_known();
        let pending = found.is_none_or(|found| found < known);
        if self.check {
            let report = MigrationReport {
                found,
                known,
                pending,
            };
            output.print(&report, said)?;
            if pending {
                let sum = "the next start migrates the database; make a backup before";
                anyhow::bail!(ReportedFailure(sum.to_owned()));
            }
            return Ok(());
        }
        if pending {
            Store::open(url).await?.close().await;
        }
        let report = MigrationReport {
            found,
            known,
            pending: false,
        };
        output.print(&report, said)
    }
}

fn said(report: &MigrationReport) -> String {
    let found = report
        .found
        .map_or("none".to_owned(), |found| found.to_string());
    match (report.pending, report.found == Some(report.known)) {
        (true, _) => format!(
            "The newest migration of the database is {found}; the next start brings it to {}.",
            report.known
        ),
        (false, true) => format!("The database has migration {}, the newest.", report.known),
        (false, false) => format!("The database was brought from {found} to {}.", report.known),
    }
}
