//! HAProxy in front of several gateways, round robin and without sticky sessions, as
//! `deploy/proxies/haproxy-replicas.cfg` configures it.

use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::ports::free_port;
use crate::process::wait;

/// A balancer that ends with the test.
pub struct Balancer {
    /// `http://127.0.0.1:PORT`.
    pub base: String,
    _child: Child,
    _folder: TempDir,
}

impl Balancer {
    /// Starts it in front of these ports of loopback, whether somebody listens there by now or not.
    ///
    /// # Panics
    /// When HAProxy is not installed, with how to install it.
    pub async fn start(ports: [u16; 3]) -> Self {
        let file = "deploy/proxies/haproxy-replicas.cfg";
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut text = std::fs::read_to_string(root.join(file)).expect("a configuration");
        let port = free_port();
        let bind = ":443 ssl crt /etc/ssl/private/tools.example.com.pem alpn h2,http/1.1";
        let mut changes = vec![(bind.to_owned(), format!("127.0.0.1:{port}"))];
        for (n, port) in (1..).zip(ports) {
            changes.push((format!("10.0.0.{n}:8080"), format!("127.0.0.1:{port}")));
        }
        for (from, to) in &changes {
            assert!(text.contains(from), "{from} in {file}");
            text = text.replace(from, to);
        }
        let folder = TempDir::new().expect("a folder");
        let file = folder.path().join("haproxy.cfg");
        std::fs::write(&file, text).expect("written");
        let child = Command::new("/usr/sbin/haproxy")
            .arg("-db")
            .arg("-f")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let child = child.expect("HAProxy is installed (apt install haproxy)");
        wait("HAProxy to listen", async || {
            let address = ("127.0.0.1", port);
            tokio::net::TcpStream::connect(address).await.is_ok()
        })
        .await;
        Self {
            base: format!("http://127.0.0.1:{port}"),
            _child: child,
            _folder: folder,
        }
    }
}
