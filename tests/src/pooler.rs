//! PgBouncer in front of a database, in session mode and otherwise as it comes.

use std::path::Path;
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::postgres;
use crate::process::{free_port, wait};

/// A pooler that ends with the test.
pub struct Pooler {
    /// The same database through the pooler.
    pub url: String,
    child: Child,
    _folder: TempDir,
}

impl Pooler {
    /// `database_url`: of [`postgres::fresh_url`].
    ///
    /// # Panics
    /// When PgBouncer is missing, with how to install it, or does not start.
    pub async fn start(database_url: &str) -> Self {
        let program = "/usr/sbin/pgbouncer";
        assert!(
            Path::new(program).exists(),
            "{program} is missing: `make setup` installs it"
        );
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
pool_mode = session
default_pool_size = 100
"
        );
        let folder = TempDir::new().expect("a folder");
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
