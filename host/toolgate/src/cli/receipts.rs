//! `toolgate receipts`: what was executed, in a file.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Subcommand;
use serde_json::json;

use super::output::{OutputFormat, counted, note};
use crate::config::Config;
use toolgate_core::clock::{Clock, parse_rfc3339};
use toolgate_gateway::executions::export::{self, ExportRange};

#[derive(Debug, Subcommand)]
pub(super) enum ReceiptsCommand {
    /// Write receipts as JSON Lines: one execution a line, newest first, with every request that left
    #[command(after_help = "\
A gateway may serve meanwhile. A line is what GET /v1/executions lists, and the name of its workspace.
Arguments and results are not part of a receipt.

  toolgate receipts export --since 2026-11-01 --until 2026-12-01 --out november.jsonl")]
    Export {
        /// Name of the workspace [default: all]
        #[arg(long, value_name = "NAME")]
        workspace: Option<String>,
        /// Only executions that began at this time or later: 2026-11-01, or RFC 3339
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        since: Option<i64>,
        /// Only executions that began before this time
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        until: Option<i64>,
        /// File to write, which must not exist yet [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

impl ReceiptsCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let Self::Export {
            workspace,
            since,
            until,
            out,
        } = self;
        let store = super::open_store(config).await?;
        let now_ms = Clock::system().now_ms();
        let workspaces = match workspace {
            Some(name) => vec![super::workspace(&store, Some(&name), now_ms).await?],
            None => store.list_workspaces().await?,
        };
        let range = ExportRange {
            from_ms: since,
            before_ms: until,
        };
        let file: Box<dyn Write + Send> = match &out {
            None => Box::new(io::stdout()),
            Some(path) => {
                let mut options = OpenOptions::new();
                let opened = options.write(true).create_new(true).mode(0o600).open(path);
                Box::new(opened.with_context(|| format!("{} cannot be made", path.display()))?)
            }
        };
        let mut file = BufWriter::new(file);
        let mut written = 0;
        for workspace in &workspaces {
            let exported = export::export(&store, workspace, range, now_ms, |line| {
                serde_json::to_writer(&mut file, line)?;
                file.write_all(b"\n")
            });
            match exported.await {
                Ok(count) => written += count,
                // A reader that has seen enough closes the pipe.
                Err(toolgate_gateway::Error::Internal(cause)) if is_closed(&cause) => return Ok(()),
                Err(cause) => return Err(cause.into()),
            }
        }
        match file.flush() {
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            flushed => flushed?,
        }
        let said = counted(usize::try_from(written)?, "receipt");
        match out {
            Some(path) => output.print(&json!({ "receipts": written, "file": path }), |_| {
                format!("{said} in {}", path.display())
            }),
            None => {
                note(&said);
                Ok(())
            }
        }
    }
}

fn is_closed(cause: &anyhow::Error) -> bool {
    let cause = cause.downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// A day begins at midnight UTC.
fn parse_time(text: &str) -> Result<i64, String> {
    parse_rfc3339(text)
        .or_else(|| parse_rfc3339(&format!("{text}T00:00:00Z")))
        .ok_or_else(|| "use a day, 2026-11-01, or a time, 2026-11-01T09:30:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_its_midnight_in_utc_and_a_time_has_an_offset() {
        let midnight = 1_793_491_200_000;
        assert_eq!(parse_time("2026-11-01"), Ok(midnight));
        assert_eq!(parse_time("2026-11-01T01:00:00+01:00"), Ok(midnight));
        for wrong in ["", "yesterday", "2026-13-01", "2026-11-01 09:30"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
