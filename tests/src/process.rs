//! The program itself, as an operator runs it: flags, files, signals.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use reqwest::Method;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::gateway::{Answer, PATIENCE, built_plugin, client};
use crate::ports::free_port;

/// The program, as `tests/run.sh` names it or as cargo leaves it.
///
/// # Panics
/// When it has not been built.
pub fn program() -> PathBuf {
    let program = std::env::var_os("TOOLGATE").map_or_else(
        || {
            let test = std::env::current_exe().expect("a test is a file");
            let folder = test.parent().and_then(Path::parent).expect("in a folder");
            folder.join("toolgate")
        },
        PathBuf::from,
    );
    assert!(
        program.exists(),
        "{} is missing: run `cargo build` first",
        program.display()
    );
    program
}

/// Starts the program with one plugin file and further arguments, and answers it with its first words.
pub async fn serve_with(
    folder: &Path,
    name: &str,
    plugin: &[u8],
    arguments: &[&str],
) -> (Child, Value) {
    let plugins = folder.join("plugins");
    std::fs::create_dir_all(&plugins).expect("a folder");
    std::fs::write(plugins.join(name), plugin).expect("written");
    serve_as(Command::new(program()), folder, arguments).await
}

/// Lets a command that stands for the program serve what is in the folder.
pub async fn serve_as(mut command: Command, folder: &Path, arguments: &[&str]) -> (Child, Value) {
    let mut child = command
        .args(["serve", "--dev", "--json", "--listen", "127.0.0.1:0"])
        .arg("--data-dir")
        .arg(folder.join("data"))
        .arg("--plugins-dir")
        .arg(folder.join("plugins"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let stdout = child.stdout.take().expect("a pipe was asked for");
    let first = first_words(&mut BufReader::new(stdout)).await;
    (child, first.expect("the process ended"))
}

/// What a starting `serve --json` prints; `None`: it ended before.
async fn first_words(lines: &mut BufReader<ChildStdout>) -> Option<Value> {
    let mut text = String::new();
    while !text.ends_with("\n}\n") {
        let read = lines.read_line(&mut text).await.expect("a pipe");
        if read == 0 {
            return None;
        }
    }
    Some(serde_json::from_str(&text).expect("--json prints JSON"))
}

/// What every command of one installation is given.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Holds `data`, `plugins` and the log.
    pub folder: PathBuf,
    /// Kept from start to start, as links and callbacks name it.
    pub port: u16,
    /// SQLite in the data folder where absent.
    pub database_url: Option<String>,
    /// Shared by installations with one database; in the data folder where absent.
    pub master_key_file: Option<PathBuf>,
    /// `HOST=URL`.
    pub allow_upstream: Vec<String>,
    /// `TOOLGATE_LOG`, and the like.
    pub environment: Vec<(String, String)>,
    /// A command that becomes the program: it is given the program's path and arguments. None if empty.
    pub launcher: Vec<String>,
}

impl Installation {
    /// With these plugins, as they were built.
    pub fn new(folder: &Path, services: &[&str]) -> Self {
        let plugins = folder.join("plugins");
        std::fs::create_dir_all(&plugins).expect("a folder");
        for service in services {
            let component = built_plugin(service).expect("the plugin was built");
            std::fs::write(plugins.join(format!("{service}.wasm")), component).expect("written");
        }
        Self {
            folder: folder.to_owned(),
            port: free_port(),
            database_url: None,
            master_key_file: None,
            allow_upstream: Vec::new(),
            environment: Vec::new(),
            launcher: Vec::new(),
        }
    }

    /// Everything that was written to standard error so far.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.folder.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = match self.launcher.split_first() {
            None => Command::new(program()),
            Some((launcher, first)) => {
                let mut command = Command::new(launcher);
                command.args(first).arg(program());
                command
            }
        };
        command
            .args(arguments)
            .args(["--json", "--listen", &format!("127.0.0.1:{}", self.port)])
            .arg("--data-dir")
            .arg(self.folder.join("data"))
            .arg("--plugins-dir")
            .arg(self.folder.join("plugins"))
            .current_dir(&self.folder)
            // Tests read the metrics there.
            .env("TOOLGATE_METRICS_PUBLIC", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(self.log_file())
            .kill_on_drop(true);
        if let Some(url) = &self.database_url {
            command.arg("--database-url").arg(url);
        }
        if let Some(file) = &self.master_key_file {
            command.arg("--master-key-file").arg(file);
        }
        for upstream in &self.allow_upstream {
            command.arg("--allow-upstream").arg(upstream);
        }
        command.envs(self.environment.iter().cloned());
        command
    }

    /// From now on its processes write their standard error into the named pipe that this answers.
    pub fn log_into_pipe(&mut self) -> PathBuf {
        let pipe = self.folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        let into_pipe = "exec \"$0\" \"$@\" 2>pipe";
        self.launcher = ["sh", "-c", into_pipe].map(str::to_owned).into();
        pipe
    }

    pub(crate) fn log_file(&self) -> File {
        std::fs::create_dir_all(&self.folder).expect("a folder");
        let mut options = File::options();
        let log = options.create(true).append(true);
        log.open(self.folder.join("log")).expect("a file")
    }

    /// Standard output alone: `Command::output` would take standard error away from the log.
    async fn output(&self, arguments: &[&str]) -> Output {
        let child = self.command(arguments).spawn().expect("it runs");
        child.wait_with_output().await.expect("it runs")
    }

    /// Runs one command and answers what it printed.
    pub async fn run(&self, arguments: &[&str]) -> Value {
        let output = self.output(arguments).await;
        assert!(output.status.success(), "{arguments:?}: {}", self.log());
        serde_json::from_slice(&output.stdout).expect("--json prints JSON")
    }

    /// Runs one command that has to fail and answers the message of its error.
    pub async fn refused(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let output = tokio::time::timeout(PATIENCE, output).await;
        let output = output.expect("the command ends");
        // Failed, refused, failed at a provider, unreachable; 2 would be a wrong command line.
        let status = output.status.code();
        assert!(
            matches!(status, Some(1 | 3..=5)),
            "{status:?}: {arguments:?}"
        );
        let said: Value = serde_json::from_slice(&output.stdout).expect("--json prints JSON");
        let message = said["error"]["message"].as_str();
        message.expect("an error has a message").to_owned()
    }

    /// Starts `serve` and waits until these tools are there.
    pub async fn serve(&self, tools: &[&str]) -> Process {
        let mut child = self.command(&["serve", "--dev"]).spawn().expect("it runs");
        let stdout = child.stdout.take().expect("a pipe was asked for");
        let mut lines = BufReader::new(stdout);
        let first = first_words(&mut lines).await;
        let first = first.unwrap_or_else(|| panic!("the process ended: {}", self.log()));
        let kept = self.folder.join("key");
        if let Some(key) = first["key"].as_str() {
            std::fs::write(&kept, key).expect("written");
        }
        let process = Process {
            base: format!("http://127.0.0.1:{}", self.port),
            key: std::fs::read_to_string(&kept).unwrap_or_default(),
            client: client(),
            child,
            _stdout: lines,
        };
        for tool in tools {
            let path = format!("/v1/tools/{tool}/schema");
            wait(&format!("{tool} to be there"), async || {
                process.get(&path).await.status == 200
            })
            .await;
        }
        process
    }
}

/// A running `toolgate serve`; is killed with this.
pub struct Process {
    /// `http://127.0.0.1:PORT`.
    pub base: String,
    pub key: String,
    pub client: reqwest::Client,
    child: Child,
    _stdout: BufReader<ChildStdout>,
}

/// Memory of a process, in pages of its own and of mapped files.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// A page that is mapped more than once counts once, one that other processes map too in part.
    pub bytes: u64,
    /// Each mapping counts, as `ps` shows it.
    pub resident_bytes: u64,
}

impl Process {
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let mut request = self
            .client
            .request(method, self.url(path))
            .header("authorization", format!("Bearer {}", self.key));
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        Answer::read(request.send().await.expect("the process answers")).await
    }

    /// While it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// What the process holds of the machine's memory now.
    pub fn memory(&self) -> anyhow::Result<Memory> {
        let id = self.child.id().context("it runs")?;
        let mapped = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup"))?;
        let bytes = |name: &'static str| -> anyhow::Result<u64> {
            let line = mapped.lines().find(|line| line.starts_with(name));
            let kib = line.and_then(|line| line.split_whitespace().nth(1));
            Ok(kib.context(name)?.parse::<u64>()? << 10)
        };
        Ok(Memory {
            bytes: bytes("Pss:")?,
            resident_bytes: bytes("Rss:")?,
        })
    }

    /// A signal to the process, by name.
    pub async fn signal(&self, name: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let mut kill = Command::new("kill");
        kill.args([&format!("-{name}"), &id]);
        assert!(kill.status().await.expect("kill runs").success());
    }

    /// How large a file of the process may become; a write beyond fails as on a full disk, except that the
    /// error is another one. `unlimited` gives the space back.
    pub async fn limit_files(&self, bytes: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let mut prlimit = Command::new("prlimit");
        // The limit that a process may raise again; the other one stays.
        prlimit.args(["--pid", &id, &format!("--fsize={bytes}:")]);
        assert!(prlimit.status().await.expect("prlimit runs").success());
    }

    /// SIGKILL: no handler runs, nothing is flushed.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("killed");
    }

    /// Waits for the end that a signal brings.
    pub async fn ended(mut self) {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("the process ends").expect("it ran");
    }
}

/// Waits until `holds`; a test that waits too long fails with what it waited for.
pub async fn wait(what: &str, holds: impl AsyncFn() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(
        waited.await.is_ok(),
        "waited {} s in vain for {what}",
        PATIENCE.as_secs()
    );
}
