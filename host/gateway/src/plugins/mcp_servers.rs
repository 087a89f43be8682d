//! Asking the MCP servers of plugins for their tools again, while nobody calls.
//!
//! Every process looks; the lease of a server's row sees to it that one asks. What a server offers otherwise than the
//! plugin that serves is put into the folder, where it is reviewed as every upgrade. A server that gives no usable answer
//! changes nothing: its plugin keeps its tools, and the row says why.

mod again;
mod offer;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rand::RngExt as _;

use super::hastened::HASTENED_AFTER_MS;
use super::{ServingPlugin, Snapshot};
use crate::{Error, Gateway};
pub use again::check_address;
use toolgate_catalog::lint::TOOL_NAME_CHARS_MAX;
use toolgate_catalog::manifest::Manifest;
use toolgate_catalog::mcp_calls;
use toolgate_core::ids;
use toolgate_core::visible::visible_line;
use toolgate_runtime::{PluginError, RefusalKind};
use toolgate_store::{AskedServer, Lease, McpServerRow, PluginState, ServerOutcome};

/// How often is looked for servers that are due, unless they are asked more often than that.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// The same before the files that were there at the start have been judged.
const SCANNED_LOOK: Duration = Duration::from_millis(500);
/// How long a process that has died keeps a server from the others. An answer takes less
/// ([`BUILD_TIME_MAX`](toolgate_mcp_upstream::client::BUILD_TIME_MAX)).
const LEASE_MS: i64 = 10 * 60 * 1_000;
/// Longest failure that is stored, in characters.
const FAILURE_CHARS_MAX: usize = 500;
/// What servers answer where they do not know a tool, or no such method: JSON-RPC 2.0, section 5.1.
const UNKNOWN_TOOL_CODES: [&str; 2] = ["-32601", "-32602"];

/// Runs until the gateway stops. A failing round is logged and repeated.
pub(crate) async fn run(gateway: Arc<Gateway>, every: Duration) {
    let owner = ids::ulid("mcp");
    loop {
        // Until then a plugin that is missing may still be on its way.
        let scanned = gateway.scanned.load(Ordering::Relaxed);
        if scanned && let Err(cause) = gateway.ask_due_servers(&owner, every).await {
            tracing::error!(error = %cause, "mcp_servers.round_failed");
        }
        let rest = match scanned {
            true => LOOK_EVERY.min(every),
            false => SCANNED_LOOK,
        };
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(rest) => {}
            () = gateway.plugins.server_is_due.notified() => {}
        }
    }
}

impl Gateway {
    async fn ask_due_servers(self: &Arc<Self>, owner: &str, every: Duration) -> Result<(), Error> {
        self.enter_servers(every).await?;
        while !self.stop.is_cancelled() {
            let now_ms = self.clock.now_ms();
            let lease = Lease {
                owner,
                now_ms,
                until_ms: now_ms + LEASE_MS,
            };
            let Some(row) = self.store.lease_mcp_server(lease).await? else {
                break;
            };
            self.ask_due_server(&row, owner, every).await?;
        }
        Ok(())
    }

    /// Adds the servers of plugins that have begun to serve, and forgets those of plugins that are gone.
    async fn enter_servers(&self, every: Duration) -> Result<(), Error> {
        let known = self.store.list_mcp_servers().await?;
        let snapshot = self.snapshot();
        for service in of_servers(&snapshot) {
            if !known.iter().any(|row| row.service == service) {
                // Spread, so that the servers of one folder are not all asked at once.
                let due_at_ms = self.clock.now_ms() + share(every, rand::rng().random());
                self.store.add_mcp_server(service, due_at_ms).await?;
            }
        }
        for row in known {
            let serves = of_servers(&snapshot).any(|service| service == row.service);
            // Another process may have put it into service already.
            if !serves && !self.is_active(&row.service).await? {
                self.store.forget_mcp_server(&row.service).await?;
            }
        }
        Ok(())
    }

    async fn is_active(&self, service: &str) -> Result<bool, Error> {
        let row = self.store.find_plugin(service).await?;
        Ok(row.is_some_and(|row| row.state == PluginState::Active))
    }

    async fn ask_due_server(
        self: &Arc<Self>,
        row: &McpServerRow,
        owner: &str,
        every: Duration,
    ) -> Result<(), Error> {
        let asked = tokio::select! {
            asked = Box::pin(self.ask_again(&row.service)) => asked,
            // The lease ends by itself.
            () = self.stop.cancelled() => return Ok(()),
        };
        let failure = match asked {
            Ok(None) => None,
            Ok(Some(offer)) => self.put_offer(offer, row.offered.as_deref()).await.err(),
            Err(failure) => Some(failure),
        };
        let outcome = failure
            .as_ref()
            .map_or(ServerOutcome::Answered, |failure| failure.outcome);
        let failure = failure.map(|failure| shortened(&failure.message));
        if let Some(failure) = &failure {
            let service = &row.service;
            tracing::warn!(
                plugin.service = service,
                "mcp_servers.not_refreshed: {failure}"
            );
        }
        let now_ms = self.clock.now_ms();
        let asked = AskedServer {
            service: &row.service,
            owner,
            outcome,
            failure: failure.as_deref(),
            now_ms,
            due_at_ms: next_ms(now_ms, every, rand::rng().random()),
        };
        self.store.note_asked_server(asked).await?;
        Ok(())
    }

    /// The service of an MCP server that has had a tool of this name and serves without it.
    pub(crate) async fn withdrawn_by(&self, tool_name: &str) -> Result<Option<String>, Error> {
        // Any other text is no tool's, and some would not be one of the database's either.
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if tool_name.len() > TOOL_NAME_CHARS_MAX || !tool_name.bytes().all(is_word) {
            return Ok(None);
        }
        let owner = self.store.tool_owner(tool_name).await?;
        let snapshot = self.snapshot();
        let serves = |service: &String| {
            let serving = snapshot.serving.get(service);
            serving.is_some_and(|one| is_of_server(&one.manifest))
        };
        Ok(owner.filter(serves))
    }

    /// A call that the server of the plugin refused as one that it does not know: its list may be another one by now.
    /// What the server says is no reason to change anything, only to ask for its list before it is due.
    pub(crate) fn note_unknown_tool(&self, serving: &ServingPlugin, said: &PluginError) {
        let kind = matches!(
            said.kind,
            RefusalKind::InvalidArguments | RefusalKind::NotFound
        );
        let code = said.code.as_deref();
        let unknown = kind && code.is_some_and(|code| UNKNOWN_TOOL_CODES.contains(&code));
        if !unknown || !is_of_server(&serving.manifest) {
            return;
        }
        let now_ms = self.clock.now_ms();
        if !self.plugins.hastened.begin(&serving.service, now_ms) {
            return;
        }
        let (store, service) = (self.store.clone(), serving.service.clone());
        let due = self.plugins.server_is_due.clone();
        self.running.spawn(async move {
            let before_ms = now_ms - HASTENED_AFTER_MS;
            let hastened = store.hasten_mcp_server(&service, now_ms, before_ms);
            match hastened.await {
                Ok(()) => due.notify_one(),
                Err(cause) => tracing::error!(error = %cause, "mcp_servers.not_hastened"),
            }
        });
    }
}

/// The services of plugins that were made of MCP servers.
fn of_servers(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    let serving = snapshot.serving.iter();
    serving
        .filter(|(_, one)| is_of_server(&one.manifest))
        .map(|(service, _)| service.as_str())
}

fn is_of_server(manifest: &Manifest) -> bool {
    let mut requests = manifest.tools.iter().map(|tool| tool.request.as_ref());
    requests.any(|request| request.is_some_and(|request| mcp_calls::tool_of(request).is_some()))
}

/// When a server is asked again: after nine to eleven tenths of the time.
fn next_ms(now_ms: i64, every: Duration, random: f64) -> i64 {
    let tenth = every / 10;
    now_ms + share(every - tenth, 1.0) + share(2 * tenth, random)
}

/// A part of a time, in milliseconds.
fn share(of: Duration, part: f64) -> i64 {
    let millis = of.mul_f64(part.clamp(0.0, 1.0)).as_millis();
    i64::try_from(millis).unwrap_or(i64::MAX)
}

/// A failure may repeat words of the server.
fn shortened(failure: &str) -> String {
    let start: String = failure.chars().take(FAILURE_CHARS_MAX).collect();
    visible_line(&start).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_asked_again_about_when_it_is_due() {
        let every = Duration::from_secs(1_000);
        for (random, expected) in [(0.0, 900_000), (0.5, 1_000_000), (1.0, 1_100_000)] {
            assert_eq!(next_ms(0, every, random), expected, "{random}");
        }
        assert_eq!(share(every, 2.0), 1_000_000);
    }

    #[test]
    fn a_failure_is_short_and_has_no_invisible_characters() {
        let said = shortened(&format!("a\u{200b}{}", "x".repeat(10_000)));
        assert!(said.starts_with("a\\u{200b}x"), "{said}");
        assert!(said.len() < FAILURE_CHARS_MAX + 20, "{}", said.len());
    }
}
