//! The one line that a person sees while plugins are loaded, below the lines of the log.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tokio::time::sleep;

use super::super::output::OutputFormat;
use crate::config::LogFormat;
use crate::log::LogOutput;
use toolgate_gateway::{Gateway, PluginLoading};

/// The line is drawn anew this often.
const EVERY: Duration = Duration::from_millis(100);
/// Characters of the bar.
const BAR: usize = 30;
/// A person looks on: standard output and standard error are a terminal.
pub(super) struct Progress(());

impl Progress {
    /// None where a program reads the output or the log.
    pub(super) fn on_terminal(output: OutputFormat, log: LogFormat) -> Option<Self> {
        let text = !output.json && log == LogFormat::Text;
        let terminal = io::stdout().is_terminal() && io::stderr().is_terminal();
        (text && terminal).then_some(Self(()))
    }

    /// Draws the line until every plugin file that was there at the start has been loaded or refused.
    pub(super) async fn until_loaded(&self, gateway: &Gateway, log: &LogOutput) {
        loop {
            let now = gateway.plugin_loading();
            if now.all_judged {
                return;
            }
            log.progress(&line(now));
            sleep(EVERY).await;
        }
    }
}

fn line(now: PluginLoading) -> String {
    let all = now.services + now.loading;
    let done = BAR * now.services / all.max(1);
    format!(
        "Loading plugins [{}{}] {} of {all}",
        "#".repeat(done),
        " ".repeat(BAR - done),
        now.services
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_a_terminal_and_ends_full() {
        let at = |services, loading| {
            line(PluginLoading {
                services,
                tools: 0,
                loading,
                all_judged: false,
            })
        };
        assert!(at(0, 0).contains("0 of 0"));
        let some = at(150, 150);
        assert!(
            some.contains(&"#".repeat(BAR / 2)) && some.contains("150 of 300"),
            "{some}"
        );
        assert!(at(9_999, 0).contains(&"#".repeat(BAR)));
        assert!(at(9_999, 9_999).len() < 80);
    }
}
