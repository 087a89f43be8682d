//! A database looked at from outside: copied while it is used, and judged before it is opened.
//!
//! Nothing here applies a migration, so that a backup can be made by the new program before it
//! upgrades the database.

use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use super::migrations::{POSTGRES, SQLITE};
use super::postgres::options;
use super::{DatabaseKind, OAuthApp, StoreError};
use crate::columns::select;

/// How long a statement waits for another process's write, and a server's answer is waited for.
const WAIT: Duration = Duration::from_secs(10);
const APPLICATIONS: &str = select!(oauth_apps, "ORDER BY service, workspace_id");

const REFUSED_FILES: &str = "SELECT file_name, COALESCE(reason, '') FROM plugin_files \
     WHERE state = 'quarantined' ORDER BY file_name LIMIT 20";

/// A database as it is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseState {
    pub kind: DatabaseKind,
    /// The newest migration that it has; none where no toolgate has used it yet.
    pub migration: Option<i64>,
    /// The newest that this program knows.
    pub known: i64,
    /// When the newest entry of the audit log was written: a later time than now means that the
    /// clock was put back.
    pub newest_entry_ms: Option<i64>,
    /// The time of the database server, where it has one of its own.
    pub server_time_ms: Option<i64>,
    /// Plugin files that are quarantined, with their reasons; a few.
    pub refused_files: Vec<(String, String)>,
    /// How the gateway is registered at providers.
    pub applications: Vec<OAuthApp>,
}

impl DatabaseState {
    /// # Errors
    /// [`StoreError::NewerSchema`] when a later program has changed the database.
    pub fn check_version(&self) -> Result<(), StoreError> {
        check_migration(self.kind, self.migration)
    }
}

/// Whether this program can open a database of this kind whose newest migration is `found`.
///
/// # Errors
/// [`StoreError::NewerSchema`] when a later program has changed the database.
pub fn check_migration(kind: DatabaseKind, found: Option<i64>) -> Result<(), StoreError> {
    let known = newest(match kind {
        DatabaseKind::Sqlite => &SQLITE,
        DatabaseKind::Postgres => &POSTGRES,
    });
    match found {
        Some(found) if found > known => Err(StoreError::NewerSchema { found, known }),
        _ => Ok(()),
    }
}

/// The file of a `sqlite://` address; none for another database, and for one in memory.
pub fn sqlite_file(url: &str) -> Option<std::path::PathBuf> {
    if !url.starts_with("sqlite:") || url.contains(":memory:") {
        return None;
    }
    let options = SqliteConnectOptions::from_str(url).ok()?;
    Some(options.get_filename().to_owned())
}

/// Looks at a database without changing it. `None`: the SQLite file is not there.
///
/// # Errors
/// [`StoreError::Damaged`] when the SQLite file fails its own check.
pub async fn inspect(url: &str) -> Result<Option<DatabaseState>, StoreError> {
    if let Some(file) = sqlite_file(url) {
        if !file.exists() {
            return Ok(None);
        }
        return inspect_sqlite(&file).await.map(Some);
    }
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err(StoreError::UnknownUrl);
    }
    let looked = tokio::time::timeout(WAIT, inspect_postgres(url)).await;
    let late = |_elapsed| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
    looked.map_err(late)?.map(Some)
}

/// Looks at the SQLite file at `path`.
///
/// # Errors
/// [`StoreError::Damaged`] when it fails its own check, or is not a database.
pub async fn inspect_sqlite(path: &Path) -> Result<DatabaseState, StoreError> {
    let mut db = connect(path).await.map_err(damaged)?;
    let found: String = sqlx::query_scalar("PRAGMA quick_check(1)")
        .fetch_one(&mut db)
        .await
        .map_err(damaged)?;
    if found != "ok" {
        return Err(StoreError::Damaged(found));
    }
    let has_table = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = $1";
    let mut state = DatabaseState {
        kind: DatabaseKind::Sqlite,
        migration: None,
        known: newest(&SQLITE),
        newest_entry_ms: None,
        server_time_ms: None,
        refused_files: Vec::new(),
        applications: Vec::new(),
    };
    let migrated: i64 = sqlx::query_scalar(has_table)
        .bind("_sqlx_migrations")
        .fetch_one(&mut db)
        .await?;
    if migrated > 0 {
        state.migration = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
            .fetch_one(&mut db)
            .await?;
    }
    let audited: i64 = sqlx::query_scalar(has_table)
        .bind("audit_log")
        .fetch_one(&mut db)
        .await?;
    if audited > 0 {
        state.newest_entry_ms = sqlx::query_scalar("SELECT max(at_ms) FROM audit_log")
            .fetch_one(&mut db)
            .await?;
    }
    let has_plugins: i64 = sqlx::query_scalar(has_table)
        .bind("plugin_files")
        .fetch_one(&mut db)
        .await?;
    if has_plugins > 0 {
        state.refused_files = sqlx::query_as(REFUSED_FILES).fetch_all(&mut db).await?;
    }
    let registered: i64 = sqlx::query_scalar(has_table)
        .bind("oauth_apps")
        .fetch_one(&mut db)
        .await?;
    if registered > 0 {
        state.applications = sqlx::query_as(APPLICATIONS).fetch_all(&mut db).await?;
    }
    db.close().await?;
    Ok(state)
}

async fn inspect_postgres(url: &str) -> Result<DatabaseState, StoreError> {
    let mut db: PgConnection = options(url)?.connect().await?;
    let mut state = DatabaseState {
        kind: DatabaseKind::Postgres,
        migration: None,
        known: newest(&POSTGRES),
        newest_entry_ms: None,
        server_time_ms: None,
        refused_files: Vec::new(),
        applications: Vec::new(),
    };
    let has_table = "SELECT to_regclass($1) IS NOT NULL";
    let migrated: bool = sqlx::query_scalar(has_table)
        .bind("_sqlx_migrations")
        .fetch_one(&mut db)
        .await?;
    if migrated {
        state.migration = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
            .fetch_one(&mut db)
            .await?;
    }
    let audited: bool = sqlx::query_scalar(has_table)
        .bind("audit_log")
        .fetch_one(&mut db)
        .await?;
    if audited {
        state.newest_entry_ms = sqlx::query_scalar("SELECT max(at_ms) FROM audit_log")
            .fetch_one(&mut db)
            .await?;
    }
    let has_plugins: bool = sqlx::query_scalar(has_table)
        .bind("plugin_files")
        .fetch_one(&mut db)
        .await?;
    if has_plugins {
        state.refused_files = sqlx::query_as(REFUSED_FILES).fetch_all(&mut db).await?;
    }
    let registered: bool = sqlx::query_scalar(has_table)
        .bind("oauth_apps")
        .fetch_one(&mut db)
        .await?;
    if registered {
        state.applications = sqlx::query_as(APPLICATIONS).fetch_all(&mut db).await?;
    }
    let server_time_ms: i64 =
        sqlx::query_scalar("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
            .fetch_one(&mut db)
            .await?;
    state.server_time_ms = Some(server_time_ms);
    db.close().await?;
    Ok(state)
}

/// Writes what the SQLite file `from` holds at this moment to `to`, a file that is not there yet,
/// while others go on to read and write. The copy is one compact file, readable by its owner alone.
pub async fn copy_sqlite(from: &Path, to: &Path) -> Result<DatabaseState, StoreError> {
    let prepared = |cause| StoreError::File {
        path: to.display().to_string(),
        cause,
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(to).map_err(prepared)?;
    let target = to.to_str().ok_or(StoreError::UnstorableText)?;
    let mut db = connect(from).await?;
    // Reads one snapshot and writes into the empty file (https://www.sqlite.org/lang_vacuum.html).
    sqlx::query("VACUUM INTO $1")
        .bind(target)
        .execute(&mut db)
        .await?;
    db.close().await?;
    inspect_sqlite(to).await
}

async fn connect(path: &Path) -> Result<SqliteConnection, sqlx::Error> {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(WAIT)
        .connect()
        .await
}

fn damaged(cause: sqlx::Error) -> StoreError {
    match &cause {
        // SQLITE_NOTADB and SQLITE_CORRUPT (https://www.sqlite.org/rescode.html).
        sqlx::Error::Database(error) if matches!(error.code().as_deref(), Some("26" | "11")) => {
            StoreError::Damaged(error.message().to_owned())
        }
        _ => StoreError::Database(cause),
    }
}

/// The newest migration that this program knows, of either kind.
pub fn newest_known() -> i64 {
    newest(&SQLITE)
}

fn newest(migrator: &Migrator) -> i64 {
    let versions = migrator.iter().map(|migration| migration.version);
    versions.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Store};

    async fn store(path: &Path) -> Store {
        let url = format!("sqlite://{}", path.display());
        Store::open(&url).await.expect("opened")
    }

    #[tokio::test]
    async fn a_copy_holds_what_was_committed_before_it_while_the_database_is_open() {
        let dir = tempfile::tempdir().expect("a folder");
        let (from, to) = (dir.path().join("from.db"), dir.path().join("to.db"));
        let open = store(&from).await;
        open.create_workspace("before", Plan::Free, None, 1)
            .await
            .expect("made");
        let copied = copy_sqlite(&from, &to).await.expect("copied");
        open.create_workspace("after", Plan::Free, None, 2)
            .await
            .expect("made");
        assert_eq!(copied.migration, Some(copied.known));
        let mode = std::fs::metadata(&to).expect("there").permissions();
        let mode = std::os::unix::fs::PermissionsExt::mode(&mode);
        assert_eq!(mode & 0o777, 0o600);
        let names: Vec<String> = store(&to)
            .await
            .list_workspaces()
            .await
            .expect("listed")
            .into_iter()
            .map(|one| one.name)
            .collect();
        assert_eq!(names, ["before"]);
    }

    #[tokio::test]
    async fn a_copy_replaces_no_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let (from, to) = (dir.path().join("from.db"), dir.path().join("to.db"));
        let _open = store(&from).await;
        std::fs::write(&to, "mine").expect("written");
        let refused = copy_sqlite(&from, &to).await;
        assert!(matches!(refused, Err(StoreError::File { .. })));
        assert_eq!(std::fs::read(&to).expect("read"), b"mine");
    }

    #[tokio::test]
    async fn a_newer_database_and_a_damaged_one_are_told_apart() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.db");
        store(&path).await.close().await;
        let known = inspect_sqlite(&path).await.expect("whole");
        known.check_version().expect("as new as this program");
        let mut db = connect(&path).await.expect("opened");
        sqlx::query(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES (9999, 'later', true, x'00', 0)",
        )
        .execute(&mut db)
        .await
        .expect("inserted");
        db.close().await.expect("closed");
        let newer = inspect_sqlite(&path).await.expect("whole");
        assert!(matches!(
            newer.check_version(),
            Err(StoreError::NewerSchema { found: 9999, .. })
        ));
        std::fs::write(&path, "this is not a database, whatever its name says").expect("written");
        let damaged = inspect_sqlite(&path).await;
        assert!(
            matches!(damaged, Err(StoreError::Damaged(_))),
            "{damaged:?}"
        );
    }

    #[tokio::test]
    async fn a_file_that_is_not_there_is_not_made() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("none.db");
        let url = format!("sqlite://{}", path.display());
        assert_eq!(inspect(&url).await.expect("looked"), None);
        assert!(!path.exists());
    }
}
