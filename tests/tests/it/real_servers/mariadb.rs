//! MariaDB for the servers that need it, each with one of its own.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::process::Command;
use toolgate_tests::ports::free_port;
use toolgate_tests::process::wait;

use super::server::{RealServer, installed};

pub(super) const USER: &str = "ada";
pub(super) const PASSWORD: &str = "0123456789abcdef";

/// Starts MariaDB beside a server, with a database, and answers its port.
pub(super) async fn start(server: &mut RealServer, database: &str) -> u16 {
    let port = free_port();
    let data = server.path("database");
    let mut tables = Command::new(installed().join("bin/mariadb-install-db"));
    // The script takes no path with a space, in which a checkout may lie.
    let programs = server.path("mariadb");
    std::os::unix::fs::symlink(installed().join("root/usr"), &programs).unwrap();
    tables.arg(format!("--basedir={}", programs.display()));
    tables.arg(format!("--datadir={}", data.display())).args([
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--force",
    ]);
    server.finish(&mut tables).await;
    let first = format!(
        "CREATE DATABASE {database} CHARACTER SET utf8mb4;\nCREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}';\n\
         GRANT ALL ON *.* TO {USER}@'%';\n"
    );
    let first = server.write("first.sql", first);
    let mut command = Command::new(installed().join("bin/mariadbd"));
    command
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--init-file={}", first.display()))
        .args([
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            "--socket=socket",
        ])
        // What it holds ends with the test.
        .args([
            "--debug-no-sync",
            "--innodb-flush-method=nosync",
            "--innodb-flush-log-at-trx-commit=0",
        ])
        .arg(format!("--port={port}"));
    server.spawn(&mut command);
    // It says its version first.
    wait("MariaDB to answer", async || {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)).await else {
            return false;
        };
        let mut byte = [0];
        let read = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut byte));
        matches!(read.await, Ok(Ok(1)))
    })
    .await;
    port
}
