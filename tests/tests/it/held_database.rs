//! The SQLite database of a gateway, which cannot write to it while another connection does.

use std::path::Path;

use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use toolgate_tests::gateway::PATIENCE;

/// A transaction that writes and does not end by itself.
pub(crate) struct HeldDatabase(SqliteConnection);

impl HeldDatabase {
    /// Waits for the transactions of the gateway.
    pub(crate) async fn hold(data_dir: &Path) -> Self {
        let options = SqliteConnectOptions::new()
            .filename(data_dir.join("toolgate.db"))
            .busy_timeout(PATIENCE);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let begin = sqlx::query("BEGIN IMMEDIATE");
        begin.execute(&mut connection).await.unwrap();
        Self(connection)
    }

    pub(crate) async fn release(mut self) {
        let end = sqlx::query("ROLLBACK");
        end.execute(&mut self.0).await.unwrap();
        self.0.close().await.unwrap();
    }
}
