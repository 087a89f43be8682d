//! `toolgate doctor` and `toolgate config check`: what is wrong with an installation, and the next step.

use std::path::Path;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde::Serialize;
use url::Url;

use super::output::{OutputFormat, ReportedFailure, counted, table};
use crate::config::{Config, Settings};
use crate::doctor::{self, DoctorFinding, DoctorOptions, FindingStatus};
use toolgate_core::clock::Clock;

/// The upstream that is asked where none is named: a gateway without any route out shows here.
const DEFAULT_UPSTREAM: &str = "https://api.github.com/";

#[derive(Debug, Args)]
#[command(after_help = "\
Run it as the user of the gateway and with the gateway's settings, whether the gateway serves or not.
Nothing is changed. Exit status 1 if a check failed.")]
pub(super) struct Doctor {
    #[arg(
        long,
        value_name = "URL",
        help = "Address that the gateway has to reach by HTTPS (repeatable) [default: https://api.github.com/]"
    )]
    upstream: Vec<Url>,
    /// Do not contact upstreams, the model or the sign-in provider
    #[arg(long, conflicts_with = "upstream")]
    offline: bool,
    /// Free space that the data folder should have, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    disk_free_min: u64,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Check flags, environment and settings file, and the files that they name, without starting anything
    Check,
}

#[derive(Serialize)]
struct DoctorReport {
    healthy: bool,
    checks: Vec<DoctorFinding>,
}

impl Doctor {
    /// Settings that cannot be used are a finding too.
    pub(super) async fn run(
        self,
        settings: Settings,
        file: Option<&Path>,
        output: OutputFormat,
    ) -> anyhow::Result<()> {
        let config = match settings.resolve(file) {
            Ok(config) => config,
            Err(cause) => return report(vec![unusable(&cause)], output),
        };
        let mut upstreams = self.upstream;
        if upstreams.is_empty() {
            upstreams.push(DEFAULT_UPSTREAM.parse().context("an address")?);
        }
        let options = DoctorOptions {
            disk_free_min_bytes: self.disk_free_min.saturating_mul(1 << 20),
            upstreams,
            offline: self.offline,
        };
        let variables = super::variables();
        let mut findings = vec![usable(&config)];
        findings.extend(doctor::examine(&config, &variables, &options, &Clock::system()).await);
        report(findings, output)
    }
}

impl ConfigCommand {
    pub(super) fn run(
        self,
        settings: Settings,
        file: Option<&Path>,
        output: OutputFormat,
    ) -> anyhow::Result<()> {
        let Self::Check = self;
        let config = match settings.resolve(file) {
            Ok(config) => config,
            Err(cause) => return report(vec![unusable(&cause)], output),
        };
        let mut findings = vec![usable(&config)];
        findings.extend(doctor::settings::examine(&config, &super::variables()));
        report(findings, output)
    }
}

fn usable(config: &Config) -> DoctorFinding {
    DoctorFinding::ok(
        "settings",
        format!(
            "the gateway listens on {}, its data is in {}",
            config.listen,
            config.gateway.data_dir.display()
        ),
    )
}

fn unusable(cause: &anyhow::Error) -> DoctorFinding {
    DoctorFinding::failed("settings", format!("{cause:#}"))
        .next("Correct the setting; `toolgate serve --help` lists all of them.")
}

fn report(checks: Vec<DoctorFinding>, output: OutputFormat) -> anyhow::Result<()> {
    let failed = checks
        .iter()
        .filter(|one| one.status == FindingStatus::Failed)
        .count();
    let report = DoctorReport {
        healthy: failed == 0,
        checks,
    };
    output.print(&report, |report| text(&report.checks))?;
    if failed > 0 {
        let sum = format!("{} failed", counted(failed, "check"));
        return Err(ReportedFailure(sum).into());
    }
    Ok(())
}

/// The checks as a table, each with its next step below it.
fn text(checks: &[DoctorFinding]) -> String {
    let mut rows = Vec::new();
    for one in checks {
        let (check, status) = (one.check.to_owned(), one.status.as_str().to_owned());
        // A mistake in a file is shown with its line below it.
        let mut lines = one.found.lines();
        let first = lines.next().unwrap_or_default().to_owned();
        rows.push(vec![status, check, first]);
        let step = one.next_step.as_ref().map(|step| format!("-> {step}"));
        for line in lines.map(str::to_owned).chain(step) {
            rows.push(vec![String::new(), String::new(), line]);
        }
    }
    table(&["STATUS", "CHECK", "FOUND"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_in_the_file_is_shown_line_by_line_and_nothing_in_it_is_hidden() {
        let file = "listen = \"127.0.0.1:1\"\nlistn\u{202e} = 1\n";
        let cause = toml::from_str::<Settings>(file).expect_err("a key that is none");
        let cause = anyhow::Error::new(cause).context("the settings file has a mistake");
        let shown = text(&[unusable(&cause)]);
        assert!(!shown.contains("\\u{a}"), "{shown}");
        assert!(shown.contains("\\u{202e}"), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].starts_with("failed"), "{shown}");
        // The line of the file stands on a line of its own, below the sentence, under FOUND.
        let column = lines[0].find("FOUND").expect("a column");
        let marked = lines
            .iter()
            .find(|line| line.trim().starts_with('^') || line.contains("| "));
        let marked = marked.expect("the place of the mistake");
        assert!(marked[..column].trim().is_empty(), "{shown}");
    }
}
