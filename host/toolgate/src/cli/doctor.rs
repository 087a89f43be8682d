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
    output.print(&report, |report| {
        let mut rows = Vec::new();
        for one in &report.checks {
            let (check, status) = (one.check.to_owned(), one.status.as_str().to_owned());
            rows.push(vec![status, check, one.found.clone()]);
            if let Some(step) = &one.next_step {
                rows.push(vec![String::new(), String::new(), format!("-> {step}")]);
            }
        }
        table(&["STATUS", "CHECK", "FOUND"], &rows)
    })?;
    if failed > 0 {
        let sum = format!("{} failed", counted(failed, "check"));
        return Err(ReportedFailure(sum).into());
    }
    Ok(())
}
