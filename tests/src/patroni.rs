//! PostgreSQL as operators run it for the day that a machine is lost: two nodes under Patroni with
//! synchronous replication, etcd for their agreement, and HAProxy in front, which leads to the primary.
//!
//! A shell starts all of it, waits for the end of its standard input, which the kernel closes however the
//! test ends, and then kills what is left and removes the folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ports::free_port;
use crate::postgres;
use crate::process::wait;

const NODES: [&str; 2] = ["one", "two"];
/// Patroni takes no less.
const LEASE_S: u32 = 20;
/// How long a primary tries to reach etcd before it steps down: the longest that Patroni allows with this lease,
/// because a write to etcd can take seconds on a busy machine. Failover does not wait for it.
const RETRY_S: u32 = 9;
/// How many lines of each log a failed test prints.
const LOG_LINES_MAX: usize = 60;

const SCRIPT: &str = r#"
etcd --name e --data-dir etcd --listen-client-urls "$ETCD" --advertise-client-urls "$ETCD" \
    --listen-peer-urls "$PEER" --initial-advertise-peer-urls "$PEER" --initial-cluster "e=$PEER" > etcd.log 2>&1 &
echo $! > etcd.pid
/usr/sbin/haproxy -db -f haproxy.cfg > haproxy.log 2>&1 &
echo $! > haproxy.pid
for node in one two; do
    patroni $node/patroni.yml > $node/log 2>&1 &
    echo $! > $node/patroni.pid
done
cat > /dev/null
kill -9 $(cat ./*.pid ./*/patroni.pid)
for file in ./*/data/postmaster.pid; do kill -9 "$(head -n 1 "$file")"; done
cd / && rm -rf "$FOLDER"
"#;

/// Two nodes, one of which is the primary.
pub struct Patroni {
    /// Leads to the primary, whichever node that is.
    pub url: String,
    folder: PathBuf,
    /// Of the nodes' Patroni.
    ports: [u16; 2],
    client: reqwest::Client,
    _shell: std::process::Child,
}

impl Patroni {
    /// Starts the nodes and waits until the second one follows the first synchronously.
    ///
    /// # Panics
    /// When a program is missing, with how to install it, or does not start.
    pub async fn start() -> Self {
        for program in ["/usr/bin/patroni", "/usr/bin/etcd", "/usr/sbin/haproxy"] {
            assert!(
                Path::new(program).exists(),
                "{program} is missing: `make setup` installs it"
            );
        }
        let folder = tempfile::Builder::new()
            .prefix("toolgate-patroni-")
            .tempdir()
            .expect("a folder")
            .keep();
        let port = free_port();
        let etcd = format!("127.0.0.1:{}", free_port());
        let ports = NODES.map(|_| free_port());
        let databases = NODES.map(|_| free_port());
        for (n, name) in NODES.iter().enumerate() {
            std::fs::create_dir(folder.join(name)).expect("a folder");
            let text = node(&folder.join(name), name, &etcd, ports[n], databases[n]);
            std::fs::write(folder.join(name).join("patroni.yml"), text).expect("written");
        }
        std::fs::write(folder.join("haproxy.cfg"), balancer(port, ports, databases))
            .expect("written");
        postgres::give_to_server(&folder).expect("another owner");
        let shell = postgres::as_server("sh")
            .args(["-c", SCRIPT])
            .env("ETCD", format!("http://{etcd}"))
            .env("PEER", format!("http://127.0.0.1:{}", free_port()))
            .env("FOLDER", &folder)
            .env("LC_ALL", "C.UTF-8")
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let patroni = Self {
            url: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
            folder,
            ports,
            client: crate::gateway::client(),
            _shell: shell,
        };
        wait(
            "a primary, and a second node that follows it synchronously",
            async || {
                let mut answers = Vec::new();
                for port in patroni.ports {
                    answers.push((
                        patroni.is(port, "primary").await,
                        patroni.is(port, "sync").await,
                    ));
                }
                answers.sort_unstable();
                answers == [(false, true), (true, false)]
            },
        )
        .await;
        patroni
    }

    /// Whether a node is in this part.
    async fn is(&self, port: u16, part: &str) -> bool {
        let answer = self.client.get(format!("http://127.0.0.1:{port}/{part}"));
        answer
            .send()
            .await
            .is_ok_and(|answer| answer.status() == 200)
    }

    /// Kills the primary's server and its Patroni, as the loss of its machine does.
    pub async fn lose_primary(&self) {
        for (name, port) in NODES.iter().zip(self.ports) {
            if !self.is(port, "primary").await {
                continue;
            }
            for file in ["patroni.pid", "data/postmaster.pid"] {
                let text =
                    std::fs::read_to_string(self.folder.join(name).join(file)).expect("a number");
                let process = text.lines().next().expect("a number").to_owned();
                let killed = Command::new("kill").args(["-KILL", &process]).status();
                assert!(killed.expect("kill runs").success());
            }
            return;
        }
        panic!("no node is the primary");
    }
}

impl Drop for Patroni {
    /// Prints the end of each log when the test fails: the shell deletes the files afterwards.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for log in ["etcd.log", "haproxy.log", "one/log", "two/log"] {
            let text = std::fs::read(self.folder.join(log)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let skipped = text.lines().count().saturating_sub(LOG_LINES_MAX);
            let shown: Vec<&str> = text.lines().skip(skipped).collect();
            eprintln!("--- the end of {log}\n{}", shown.join("\n"));
        }
    }
}

/// The configuration of one node, without `fsync`: tests kill processes, not machines.
fn node(folder: &Path, name: &str, etcd: &str, port: u16, database: u16) -> String {
    let binaries = postgres::find_binaries().expect("PostgreSQL is installed");
    let (folder, binaries) = (folder.display(), binaries.display());
    format!(
        "scope: toolgate
name: {name}
restapi: {{ listen: '127.0.0.1:{port}', connect_address: '127.0.0.1:{port}' }}
etcd3: {{ hosts: '{etcd}' }}
bootstrap:
  dcs:
    ttl: {LEASE_S}
    loop_wait: 1
    retry_timeout: {RETRY_S}
    synchronous_mode: true
    postgresql: {{ parameters: {{ max_connections: 200 }} }}
  initdb: [{{ encoding: UTF8 }}, {{ auth: trust }}]
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
postgresql:
  listen: 127.0.0.1:{database}
  connect_address: 127.0.0.1:{database}
  data_dir: {folder}/data
  bin_dir: {binaries}
  pgpass: {folder}/pgpass
  parameters: {{ unix_socket_directories: '{folder}', fsync: 'off' }}
  authentication: {{ superuser: {{ username: postgres }}, replication: {{ username: postgres }} }}
"
    )
}

fn balancer(port: u16, patroni: [u16; 2], databases: [u16; 2]) -> String {
    format!(
        "defaults
    mode tcp
    timeout connect 2s
    timeout client 30m
    timeout server 30m
    timeout check 10s
listen primary
    bind 127.0.0.1:{port}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
    server one 127.0.0.1:{} port {}
    server two 127.0.0.1:{} port {}
",
        databases[0], patroni[0], databases[1], patroni[1]
    )
}
