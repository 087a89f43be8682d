//! A private PostgreSQL: the distribution's server on a unix socket in a temporary folder, with
//! nothing on the network unless a test asks for TLS ([`Secure`]).
//!
//! One cluster serves all tests of a process, each with a database of its own ([`fresh_url`]). It
//! goes when the process does: a small shell waits for the end of its standard input, which the
//! kernel closes however the process ends, and then stops the server and removes the folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result, bail, ensure};

/// The URL of a database that nobody else uses and that holds nothing.
///
/// # Panics
/// When the server cannot be started, with the reason; never skips.
pub fn fresh_url() -> String {
    cluster()
        .create_database()
        .unwrap_or_else(|error| panic!("PostgreSQL: {error:#}"))
}

/// What `pg_dump` writes of a database of [`fresh_url`].
///
/// # Panics
/// When it cannot, with the reason.
pub fn dump(url: &str) -> Vec<u8> {
    let output = cluster()
        .command("pg_dump")
        .args(["--inserts", "--dbname", url])
        .output()
        .expect("pg_dump runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "pg_dump: {said}");
    output.stdout
}

/// Runs what [`dump`] wrote on an empty database.
///
/// # Panics
/// When it cannot, with the reason.
pub fn load(url: &str, dump: &[u8]) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), dump).expect("written");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(file.path(), open).expect("the server's user reads it");
    let output = cluster()
        .command("psql")
        .args([
            "--quiet",
            "--set",
            "ON_ERROR_STOP=1",
            "--dbname",
            url,
            "--file",
        ])
        .arg(file.path())
        .output()
        .expect("psql runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "psql: {said}");
}

/// What one statement answers, as `psql` prints it: columns parted by `|`.
///
/// # Panics
/// When it fails, with the reason.
pub fn ask(url: &str, statement: &str) -> String {
    let output = cluster()
        .command("psql")
        .args(["--quiet", "--no-align", "--tuples-only", "--dbname", url])
        .args(["--command", statement])
        .output()
        .expect("psql runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "psql: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start().unwrap_or_else(|error| panic!("PostgreSQL: {error:#}")))
}

/// A cluster of its own that takes only TLS, on loopback, with a certificate that it signed itself.
#[derive(Debug)]
pub struct Secure {
    /// `postgres://` of an empty database, without parameters.
    pub url: String,
    /// The certificate, for `localhost`, as PEM.
    pub certificate: PathBuf,
    /// Another one.
    pub wrong_certificate: PathBuf,
}

/// Starts a cluster with TLS.
///
/// # Panics
/// When it cannot be started, with the reason; never skips.
pub fn secure() -> Secure {
    Cluster::start_secure().unwrap_or_else(|error| panic!("PostgreSQL: {error:#}"))
}

/// A cluster of its own, which a test may start late, freeze and let go on.
#[derive(Debug)]
pub struct Own {
    /// Its database `postgres`, also while the server does not run.
    pub url: String,
    cluster: Cluster,
}

impl Own {
    /// Prepares a server that does not run yet.
    ///
    /// # Panics
    /// When it cannot be prepared, with the reason; never skips. So do the others.
    pub fn prepare() -> Self {
        let cluster = Cluster::prepare().unwrap_or_else(|error| panic!("PostgreSQL: {error:#}"));
        Self {
            url: format!(
                "postgres://postgres@localhost/postgres?host={}",
                cluster.folder.display()
            ),
            cluster,
        }
    }

    /// Starts the server, which then stops when this process ends.
    pub fn start(&self) {
        let started = self.cluster.launch("-c listen_addresses=");
        started.unwrap_or_else(|error| panic!("PostgreSQL: {error:#}"));
    }

    /// Starts the server, which takes this many connections, three of them from superusers alone.
    pub fn start_small(&self, connections: u32) {
        let options = format!("-c listen_addresses= -c max_connections={connections}");
        let started = self.cluster.launch(&options);
        started.unwrap_or_else(|error| panic!("PostgreSQL: {error:#}"));
    }

    /// Runs a statement as the superuser.
    pub fn run(&self, statement: &str) {
        let mut psql = self.cluster.command("psql");
        psql.args(["--quiet", "--dbname", &self.url, "--command", statement]);
        run(&mut psql).unwrap_or_else(|error| panic!("PostgreSQL: {error:#}"));
    }

    /// Stops the server at once, without a checkpoint and without a word to its clients' transactions.
    pub fn stop(&self) {
        let mut stop = self.cluster.command("pg_ctl");
        let data = self.cluster.folder.join("data");
        let stopped = run(stop.args(["stop", "-m", "immediate", "-w", "-D"]).arg(data));
        stopped.unwrap_or_else(|error| panic!("PostgreSQL: {error:#}"));
    }

    /// The server takes connections and answers nothing, as behind a network that has gone, until what this
    /// answers is dropped.
    pub fn freeze(&self) -> Frozen<'_> {
        self.signal("STOP");
        Frozen(self)
    }

    /// To the server and to each process that it has started.
    fn signal(&self, name: &str) {
        let file = self.cluster.folder.join("data/postmaster.pid");
        let text = std::fs::read_to_string(file).expect("the server runs");
        let server = text.lines().next().expect("its process").to_owned();
        let kill = |processes: &[&str]| {
            let mut kill = Command::new("kill");
            run(kill.arg(format!("-{name}")).args(processes))
        };
        // First the one that starts others.
        kill(&[&server]).expect("the server runs");
        let children = Command::new("pgrep").args(["-P", &server]).output();
        let children = children.expect("pgrep runs").stdout;
        let children = String::from_utf8(children).expect("numbers");
        for child in children.lines() {
            // It may have ended meanwhile.
            let _ = kill(&[child]);
        }
    }
}

/// A server that is stopped in its tracks.
#[derive(Debug)]
pub struct Frozen<'a>(&'a Own);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        self.0.signal("CONT");
    }
}

#[derive(Debug)]
struct Cluster {
    binaries: PathBuf,
    folder: PathBuf,
    databases: AtomicU32,
}

impl Cluster {
    fn start() -> Result<Self> {
        Self::start_with(|_| Ok("-c listen_addresses=".to_owned()))
    }

    fn start_secure() -> Result<Secure> {
        let port = crate::ports::free_port();
        let cluster = Self::start_with(|cluster| {
            let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
            let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
            let rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
            cluster.write("data/pg_hba.conf", rules)?;
            cluster.write("data/server.key", &made.signing_key.serialize_pem())?;
            cluster.write("server.crt", &made.cert.pem())?;
            cluster.write("other.crt", &other.cert.pem())?;
            let certificate = cluster.folder.join("server.crt");
            Ok(format!(
                "-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on -c ssl_key_file=server.key \
                 -c ssl_cert_file={}",
                certificate.display()
            ))
        })?;
        run(cluster
            .command("createdb")
            .arg("--host")
            .arg(&cluster.folder)
            .args(["--username=postgres", "--port", &port.to_string(), "t"]))?;
        Ok(Secure {
            url: format!("postgres://postgres@localhost:{port}/t"),
            certificate: cluster.folder.join("server.crt"),
            wrong_certificate: cluster.folder.join("other.crt"),
        })
    }

    /// A file that the server takes for its own: nobody else may read it.
    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        std::fs::write(&path, text)?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, mode)?;
        give_to_server(&path)
    }

    /// `listens`: prepares the new cluster and answers the options that say where it listens.
    fn start_with(listens: impl FnOnce(&Self) -> Result<String>) -> Result<Self> {
        let cluster = Self::prepare()?;
        let listens = listens(&cluster)?;
        cluster.launch(&listens)?;
        Ok(cluster)
    }

    fn prepare() -> Result<Self> {
        let binaries = find_binaries()?;
        let folder = tempfile::Builder::new()
            .prefix("toolgate-pg-")
            .tempdir()?
            .keep();
        give_to_server(&folder)?;
        let cluster = Self {
            binaries,
            folder,
            databases: AtomicU32::new(0),
        };
        let data = cluster.folder.join("data");
        run(cluster
            .command("initdb")
            .args([
                "--auth=trust",
                "--username=postgres",
                "--encoding=UTF8",
                "--no-sync",
                "--no-instructions",
            ])
            .args([
                "--locale-provider=icu",
                "--icu-locale=en-US",
                "--locale=C.UTF-8",
                "-D",
            ])
            .arg(&data))?;
        Ok(cluster)
    }

    /// `listens`: the options that say where.
    fn launch(&self, listens: &str) -> Result<()> {
        let options = format!(
            "-c max_connections=400 {listens} -c unix_socket_directories={} -c fsync=off -c synchronous_commit=off \
             -c full_page_writes=off -c shared_preload_libraries=pg_stat_statements",
            self.folder.display()
        );
        run(self
            .command("pg_ctl")
            .args(["start", "--wait", "--silent", "-D"])
            .arg(self.folder.join("data"))
            .arg("-l")
            .arg(self.folder.join("log"))
            .args(["-o", &options]))?;
        self.stop_when_this_process_ends()
    }

    fn create_database(&self) -> Result<String> {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::Relaxed));
        run(self
            .command("createdb")
            .arg("--host")
            .arg(&self.folder)
            .args(["--username=postgres", &name]))?;
        Ok(format!(
            "postgres://postgres@localhost/{name}?host={}",
            self.folder.display()
        ))
    }

    /// A program of the distribution, run as the server's user.
    fn command(&self, program: &str) -> Command {
        let mut command = as_server(self.binaries.join(program));
        command.current_dir(&self.folder).env("LC_ALL", "C.UTF-8");
        command
    }

    fn stop_when_this_process_ends(&self) -> Result<()> {
        let script = "cat >/dev/null; \"$@\" stop --mode=immediate --silent -D \"$FOLDER/data\"; rm -rf \"$FOLDER\"";
        let stop = self.command("pg_ctl");
        let mut watcher = Command::new("setsid")
            .args(["sh", "-c", script, "stop-postgres"])
            .arg(stop.get_program())
            .args(stop.get_args())
            .env("FOLDER", &self.folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("setsid does not run")?;
        // Kept open until the process ends.
        std::mem::forget(watcher.stdin.take());
        Ok(())
    }
}

/// A program that runs as the server's user, since the server refuses to run as root.
pub(crate) fn as_server(program: impl AsRef<OsStr>) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let user = ["--reuid=postgres", "--regid=postgres", "--init-groups"];
    command.args(user).arg("--").arg(program);
    command
}

/// Makes the server's user the owner of a folder or a file, and of what is in it.
pub(crate) fn give_to_server(path: &Path) -> Result<()> {
    if is_root() {
        run(Command::new("chown").args(["-R", "postgres"]).arg(path))?;
    }
    Ok(())
}

/// The newest installed server's programs.
pub(crate) fn find_binaries() -> Result<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let version = path.file_name()?.to_str()?.parse().ok()?;
            let binaries = path.join("bin");
            binaries
                .join("initdb")
                .exists()
                .then_some((version, binaries))
        })
        .collect();
    versions.sort();
    match versions.pop() {
        Some((_, binaries)) => Ok(binaries),
        None => bail!("no server is installed; run: apt-get install postgresql"),
    }
}

fn is_root() -> bool {
    static ROOT: OnceLock<bool> = OnceLock::new();
    *ROOT.get_or_init(|| {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(Path::new("/proc/self")).is_ok_and(|me| me.uid() == 0)
    })
}

fn run(command: &mut Command) -> Result<()> {
    // A server that outlives pg_ctl would hold a pipe open, so its output goes to a file.
    let mut said = tempfile::tempfile()?;
    let status = command
        .stdin(Stdio::null())
        .stdout(said.try_clone()?)
        .stderr(said.try_clone()?)
        .status()
        .with_context(|| format!("{:?} does not run", command.get_program()))?;
    if !status.success() {
        use std::io::{Read as _, Seek as _};
        let mut text = String::new();
        said.rewind()?;
        said.read_to_string(&mut text)?;
        ensure!(status.success(), "{command:?} failed: {}", text.trim());
    }
    Ok(())
}
