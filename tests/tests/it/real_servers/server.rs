//! A server with its folder and port on loopback, from its start to its end.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::process::{Child, Command};
use toolgate_tests::gateway::{PATIENCE, client};
use toolgate_tests::ports::free_port;
use toolgate_tests::tools;

/// A running server with its folder; ends with this.
pub(super) struct RealServer {
    pub url: String,
    pub folder: TempDir,
    children: Vec<Child>,
}

impl RealServer {
    /// With a free port, nothing started yet.
    pub fn new() -> Self {
        Self {
            url: format!("http://127.0.0.1:{}", free_port()),
            folder: TempDir::new().unwrap(),
            children: Vec::new(),
        }
    }

    pub fn port(&self) -> &str {
        self.url.rsplit(':').next().unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Starts a program in a process group of its own.
    pub fn spawn(&mut self, command: &mut Command) {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.path("log"))
            .unwrap();
        let child = command
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        self.children.push(child);
    }

    /// Runs a program of the server to its end and answers what it prints.
    pub async fn finish(&self, command: &mut Command) -> String {
        let done = command
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{command:?}: {said}{errors}");
        said
    }

    /// Waits until this path answers; 401 is an answer too.
    pub async fn answers(&self, path: &str) {
        self.answers_within(PATIENCE, path).await;
    }

    /// The same for a server that prepares itself for longer.
    pub async fn answers_within(&self, patience: Duration, path: &str) {
        let (url, client) = (format!("{}{path}", self.url), client());
        let waited = tokio::time::timeout(patience, async {
            loop {
                let asked = client.get(&url).send().await;
                if asked.is_ok_and(|got| got.status() == 401 || got.status().is_success()) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        assert!(waited.await.is_ok(), "{url} did not answer in {patience:?}");
    }
}

impl Drop for RealServer {
    /// Ends the programs with those that they started; a test that fails shows what they said last.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
            let lines: Vec<&str> = log.lines().rev().take(40).collect();
            for line in lines.iter().rev() {
                println!("{line}");
            }
        }
        for id in self.children.iter().filter_map(Child::id) {
            // A group that has ended needs no signal.
            let _ = std::process::Command::new("kill")
                .args(["-KILL", "--", &format!("-{id}")])
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// The folder of the servers.
pub(super) fn installed() -> PathBuf {
    tools::installed("real_servers", "real_servers")
        .unwrap()
        .canonicalize()
        .unwrap()
}

/// A program of one of the Debian packages.
pub(super) fn program(name: &str) -> Command {
    Command::new(installed().join("root/usr/bin").join(name))
}

/// The folder of one of the large servers, which `make real-servers` runs and `make test` does not: their set-up takes
/// minutes. A run without them writes so to the process's standard error, because the harness captures what a test prints.
pub(super) fn large(name: &str) -> Option<PathBuf> {
    if std::env::var_os("TOOLGATE_TEST_LARGE_SERVERS").is_none() {
        let words = format!(
            "not run: {name}; `make real-servers` runs it, by TOOLGATE_TEST_LARGE_SERVERS=1\n"
        );
        std::io::stderr().write_all(words.as_bytes()).unwrap();
        return None;
    }
    let folder = tools::installed(&format!("real_servers_large/{name}"), "real_servers/large");
    Some(folder.unwrap().canonicalize().unwrap())
}
