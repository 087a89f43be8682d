//! The migrations of both databases, and what one that fails means.

use std::sync::LazyLock;

use sqlx::migrate::{MigrateError, Migrator};

use super::StoreError;

pub(super) static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
pub(super) static POSTGRES: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrator = sqlx::migrate!("migrations/postgres");
    // The lock of set-up is held meanwhile.
    migrator.set_locking(false);
    migrator
});

/// Says what a failed migration means to the operator.
pub(super) fn migrated(
    outcome: Result<(), MigrateError>,
    known: &Migrator,
) -> Result<(), StoreError> {
    outcome.map_err(|error| match error {
        MigrateError::VersionMissing(found) => StoreError::NewerSchema {
            found,
            known: known
                .iter()
                .map(|migration| migration.version)
                .max()
                .unwrap_or(0),
        },
        MigrateError::VersionMismatch(version) => StoreError::ForeignSchema(version),
        MigrateError::Execute(cause) => match StoreError::from(cause) {
            StoreError::Database(cause) => StoreError::Migrate(MigrateError::Execute(cause)),
            other => other,
        },
        other => StoreError::Migrate(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_databases_have_the_same_migrations() {
        let names = |migrator: &Migrator| -> Vec<_> {
            migrator
                .iter()
                .map(|migration| (migration.version, migration.description.to_string()))
                .collect()
        };
        assert_eq!(names(&SQLITE), names(&POSTGRES));
        let numbers: Vec<_> = SQLITE.iter().map(|migration| migration.version).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    }
}
