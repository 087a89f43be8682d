//! PgBouncer in front of a database.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::ports::free_port;
use crate::postgres;
use crate::process::wait;
use crate::tools::installed;

/// A pooler that ends with the test.
pub struct Pooler {
    /// The same database through the pooler.
    pub url: String,
    child: Child,
    _folder: TempDir,
}

impl Pooler {
    /// Starts the machine's PgBouncer in session mode. `database_url`: of [`postgres::fresh_url`].
    ///
    /// # Panics
    /// When PgBouncer is missing, with how to install it, or does not start.
    pub async fn start(database_url: &str) -> Self {
        let program = Path::new("/usr/sbin/pgbouncer");
        assert!(
            program.exists(),
            "{} is missing: `make setup` installs it",
            program.display()
        );
        let folder = TempDir::new().expect("a folder");
        Self::start_in(folder, program, database_url, "pool_mode = session").await
    }

    /// Starts PgBouncer 1.21 or later in transaction mode: after each transaction a session may have another connection of the server.
    /// `prepared_max`: how many prepared statements it keeps for each of these.
    ///
    /// # Panics
    /// As [`Pooler::start`].
    pub async fn start_in_transaction_mode(database_url: &str, prepared_max: u32) -> Self {
        let installed = installed("pgbouncer", "pgbouncer").expect("PgBouncer");
        let folder = TempDir::new().expect("a folder");
        // It does not run as root, who may be the only one to read what is installed.
        let copied = Command::new("cp")
            .arg("-r")
            .arg(&installed)
            .arg(folder.path())
            .status();
        assert!(copied.expect("cp runs").success());
        let program = folder.path().join("pgbouncer/pgbouncer");
        let settings = format!("pool_mode = transaction\nmax_prepared_statements = {prepared_max}");
        Self::start_in(folder, &program, database_url, &settings).await
    }

    async fn start_in(folder: TempDir, program: &Path, database_url: &str, settings: &str) -> Self {
        let (path, host) = database_url.split_once("?host=").expect("a unix socket");
        let (_, name) = path.rsplit_once('/').expect("a database");
        let port = free_port();
        let text = format!(
            "[databases]
{name} = host={host} dbname={name} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
{settings}
default_pool_size = 100
"
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, text).expect("written");
        postgres::give_to_server(folder.path()).expect("another owner");
        let child = postgres::as_server(program)
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("PgBouncer");
        wait("PgBouncer to listen", async || {
            let address = ("127.0.0.1", port);
            tokio::net::TcpStream::connect(address).await.is_ok()
        })
        .await;
        Self {
            url: format!("postgres://postgres@127.0.0.1:{port}/{name}"),
            child,
            _folder: folder,
        }
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
