//! What can go wrong below an operation. Callers branch on [`StoreError::Taken`] and
//! [`StoreError::NoSuchParent`]; the rest is an internal error to them.

use sqlx::migrate::MigrateError;

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
    #[error("the database refused a statement")]
    Database(#[source] sqlx::Error),
}

impl From<sqlx::Error> for StoreError {
    fn from(cause: sqlx::Error) -> Self {
        if let sqlx::Error::Database(error) = &cause {
            if error.is_foreign_key_violation() {
                return Self::NoSuchParent;
            }
            // SQLSTATE character_not_in_repertoire (PostgreSQL, appendix A).
            if error.code().as_deref() == Some("22021") {
                return Self::UnstorableText;
            }
        }
        Self::Database(cause)
    }
}

/// Turns "nothing was inserted" into the name that was in the way.
pub(super) fn inserted(rows: u64, name: &'static str) -> Result<(), StoreError> {
    if rows == 0 {
        Err(StoreError::Taken(name))
    } else {
        Ok(())
    }
}
