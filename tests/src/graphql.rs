//! A real GraphQL server, as `tests/graphql/setup.sh` installs it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

use crate::tools;

/// Longest wait for the server to listen.
const START_MAX: Duration = Duration::from_secs(120);

/// A server of notes that ends with this.
pub struct GraphqlServer {
    port: u16,
    _child: Child,
}

impl GraphqlServer {
    /// `closed`: it answers no introspection query.
    pub async fn start(closed: bool) -> anyhow::Result<Self> {
        let folder = tools::installed("graphql", "graphql")?;
        ensure!(
            folder.join(".installed").exists(),
            "{} is not whole",
            folder.display()
        );
        let mut command = tools::node()?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("graphql/notes.mjs");
        command.arg(script).arg(folder);
        if closed {
            command.arg("closed");
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let out = child.stdout.take().context("a pipe was asked for")?;
        let mut lines = BufReader::new(out).lines();
        let first = tokio::time::timeout(START_MAX, lines.next_line()).await??;
        let port = first.context("the server has ended")?.parse()?;
        Ok(Self {
            port,
            _child: child,
        })
    }

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn endpoint(&self) -> String {
        format!("{}/graphql", self.origin())
    }
}
