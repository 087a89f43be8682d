//! One client at work: a process that makes the calls it is told, one line of JSON each way.
//!
//! It says `{"done": value}` or `{"failed": {...}}` for a call. Before that it may say
//! `{"sleep_ms": n}` where it would wait, or `{"shown": url}` where it would show something to a
//! user, and goes on when it is told so: nothing waits, and time is the test's.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use toolgate_tests::gateway::PATIENCE;

pub struct Driver {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    said: String,
    log: PathBuf,
}

impl Driver {
    /// `clean`: what `prepare.sh` made; it holds a program `drive`.
    pub fn start(clean: &Path, mode: &str) -> Self {
        // A pipe would fill up, and the driver with it.
        let log = clean.join(format!("{mode}.log"));
        let mut child = Command::new(clean.join("drive"))
            .arg(mode)
            .current_dir(clean)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).expect("the folder can be written"))
            .kill_on_drop(true)
            .spawn()
            .expect("prepare.sh made `drive`");
        let stdin = child.stdin.take().expect("a pipe was asked for");
        let stdout = child.stdout.take().expect("a pipe was asked for");
        Self {
            child,
            stdin,
            lines: BufReader::new(stdout).lines(),
            said: String::new(),
            log,
        }
    }

    pub async fn tell(&mut self, message: &Value) -> anyhow::Result<()> {
        let line = format!("{message}\n");
        self.stdin.write_all(line.as_bytes()).await?;
        Ok(self.stdin.flush().await?)
    }

    pub async fn go_on(&mut self) -> anyhow::Result<()> {
        self.tell(&json!({"go": true})).await
    }

    pub async fn hear(&mut self) -> anyhow::Result<Value> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let Some(line) = line.context("the driver says nothing")?? else {
            let complaints = std::fs::read_to_string(&self.log)?;
            anyhow::bail!("the driver ended: {complaints}");
        };
        self.said += &line;
        serde_json::from_str(&line).with_context(|| format!("the driver said {line}"))
    }

    /// Ends the process and answers everything it said, on whichever way out.
    pub async fn end(mut self) -> String {
        drop(self.stdin);
        self.child.wait().await.expect("the driver ends");
        let log = std::fs::read_to_string(&self.log).expect("the log is text");
        self.said + &log
    }
}
