//! What can go wrong below an operation. Callers branch on [`StoreError::Taken`],
//! [`StoreError::NoSuchParent`] and [`StoreError::is_unavailable`]; the rest is an internal error to them.

use sqlx::migrate::MigrateError;
use sqlx::sqlite::SqliteError;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database URL must start with sqlite:// or postgres://")]
    UnknownUrl,
    #[error("the database file {path} cannot be prepared")]
    File {
        path: String,
        #[source]
        cause: std::io::Error,
    },
    #[error(
        "the database was written by a newer toolgate: it has migration {found}, this program knows up to {known}; \
         start the newer program or restore a copy from before the upgrade"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error("migration {0} was applied in another form than this program knows")]
    ForeignSchema(i64),
    /// What SQLite's own check found.
    #[error("the database file is damaged ({0}); restore a backup")]
    Damaged(String),
    #[error("the database schema cannot be brought up to date")]
    Migrate(#[source] MigrateError),
    #[error("the file beside the database that tells other processes of changes cannot be written")]
    SharedVersion(#[source] std::io::Error),
    /// Somebody else has this name already.
    #[error("the {0} is already taken")]
    Taken(&'static str),
    /// The row would belong to something (a workspace, a plugin) that is not there.
    #[error("what the row belongs to does not exist")]
    NoSuchParent,
    /// PostgreSQL cannot hold the character NUL.
    #[error("a text holds a character that the database cannot store")]
    UnstorableText,
    /// The same statement may work later: no connection, no space, a server that stops or only reads.
    #[error("the database does not answer or does not accept writes")]
    Unavailable(#[source] sqlx::Error),
    #[error("the database gave no answer in time")]
    NoAnswer,
    #[error("another process has been setting up the database for minutes; end it and start again")]
    SetUpTakesLong,
    #[error(
        "the pooler in front of PostgreSQL loses prepared statements: PgBouncer needs pool_mode = session, or version 1.21 \
         or later with max_prepared_statements above 0"
    )]
    PreparedStatementLost(#[source] sqlx::Error),
    #[error("the database refused a statement")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// Whether the same may work later, since nothing is wrong with it.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::NoAnswer)
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(cause: sqlx::Error) -> Self {
        if let sqlx::Error::Database(error) = &cause {
            if error.is_foreign_key_violation() {
                return Self::NoSuchParent;
            }
            // SQLSTATE (PostgreSQL, appendix A).
            const CHARACTER_NOT_IN_REPERTOIRE: &str = "22021";
            const INVALID_SQL_STATEMENT_NAME: &str = "26000";
            const DUPLICATE_PREPARED_STATEMENT: &str = "42P05";
            match error.code().as_deref() {
                Some(CHARACTER_NOT_IN_REPERTOIRE) => return Self::UnstorableText,
                Some(INVALID_SQL_STATEMENT_NAME | DUPLICATE_PREPARED_STATEMENT) => {
                    return Self::PreparedStatementLost(cause);
                }
                _ => {}
            }
        }
        match is_unavailable(&cause) {
            true => Self::Unavailable(cause),
            false => Self::Database(cause),
        }
    }
}

fn is_unavailable(cause: &sqlx::Error) -> bool {
    match cause {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        // A balancer that knows no primary ends the connection in the middle of its first words.
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            match error.try_downcast_ref::<SqliteError>() {
                Some(_) => sqlite_is_unavailable(&code),
                None => postgres_is_unavailable(&code),
            }
        }
        _ => false,
    }
}

/// The primary result code is the lowest byte (sqlite.org/rescode.html).
fn sqlite_is_unavailable(code: &str) -> bool {
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const READ_ONLY: u32 = 8;
    const IO: u32 = 10;
    const FULL: u32 = 13;
    const CANNOT_OPEN: u32 = 14;
    let primary = code.parse::<u32>().map(|code| code & 0xff);
    matches!(
        primary,
        Ok(BUSY | LOCKED | READ_ONLY | IO | FULL | CANNOT_OPEN)
    )
}

/// SQLSTATE (PostgreSQL, appendix A): the first two characters are the class.
fn postgres_is_unavailable(code: &str) -> bool {
    const READ_ONLY_TRANSACTION: &str = "25006";
    const LOCK_NOT_AVAILABLE: &str = "55P03";
    // Connection exception, transaction rollback, insufficient resources, operator intervention, system error.
    let class = ["08", "40", "53", "57", "58"];
    code == READ_ONLY_TRANSACTION
        || code == LOCK_NOT_AVAILABLE
        || class.iter().any(|class| code.starts_with(class))
}

/// Turns "nothing was inserted" into the name that was in the way.
pub(super) fn inserted(rows: u64, name: &'static str) -> Result<(), StoreError> {
    if rows == 0 {
        Err(StoreError::Taken(name))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_a_database_that_may_work_later_are_told_from_mistakes() {
        // FULL, IOERR_WRITE, BUSY_SNAPSHOT; CONSTRAINT_UNIQUE, ERROR.
        for (code, unavailable) in [
            ("13", true),
            ("778", true),
            ("517", true),
            ("2067", false),
            ("1", false),
        ] {
            assert_eq!(sqlite_is_unavailable(code), unavailable, "{code}");
        }
        // disk_full, admin_shutdown, query_canceled, deadlock_detected, read only; unique_violation, undefined_table.
        for (code, unavailable) in [
            ("53100", true),
            ("40P01", true),
            ("57P01", true),
            ("57014", true),
            ("25006", true),
            ("23505", false),
            ("42P01", false),
        ] {
            assert_eq!(postgres_is_unavailable(code), unavailable, "{code}");
        }
        let cut_off = sqlx::Error::Protocol("unexpected response from SSLRequest: 0x00".to_owned());
        assert!(is_unavailable(&cut_off));
        assert!(!is_unavailable(&sqlx::Error::RowNotFound));
    }
}
