use toolgate::store::{Kind, Store, StoreError};

use super::{Empty, on_both, workspace};

on_both!(
    reopening_keeps_everything,
    a_newer_schema_is_refused,
    two_openings_at_once_migrate_once
);

async fn reopening_keeps_everything(at: Empty) {
    let made = workspace(&at.store, "acme").await;
    at.store.ping().await.unwrap();
    at.store.close().await;
    let again = Store::open(&at.url).await.unwrap();
    assert_eq!(again.first_workspace().await.unwrap(), Some(made));
}

async fn a_newer_schema_is_refused(at: Empty) {
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (9999, 'from the future', TRUE, $1, 0)";
    let checksum = [7_u8; 48].as_slice();
    match at.store.kind() {
        Kind::Sqlite => {
            let pool = sqlx::SqlitePool::connect(&at.url).await.unwrap();
            sqlx::query(newer)
                .bind(checksum)
                .execute(&pool)
                .await
                .unwrap();
        }
        Kind::Postgres => {
            let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
            sqlx::query(newer)
                .bind(checksum)
                .execute(&pool)
                .await
                .unwrap();
        }
    }
    let refusal = Store::open(&at.url).await.unwrap_err();
    assert!(
        matches!(refusal, StoreError::NewerSchema { found: 9999, .. }),
        "{refusal:?}"
    );
    assert!(
        refusal.to_string().contains("written by a newer toolgate"),
        "{refusal}"
    );
}

async fn two_openings_at_once_migrate_once(at: Empty) {
    let fresh = match at.store.kind() {
        Kind::Sqlite => at.url.replace("toolgate.db", "other.db"),
        Kind::Postgres => tokio::task::spawn_blocking(toolgate_tests::postgres::fresh_url)
            .await
            .unwrap(),
    };
    let (one, two) = tokio::join!(Store::open(&fresh), Store::open(&fresh));
    one.unwrap().ping().await.unwrap();
    two.unwrap().ping().await.unwrap();
}

#[tokio::test]
async fn the_sqlite_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("toolgate.db");
    let store = Store::open(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    workspace(&store, "acme").await;
    let mut seen = 0;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(
            file.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{:?}",
            file.file_name()
        );
        seen += 1;
    }
    assert!(seen >= 2, "the database and its log");
}

#[tokio::test]
async fn an_unknown_kind_of_database_is_refused() {
    for url in ["", "mysql://localhost/x", "/var/lib/toolgate.db"] {
        assert!(
            matches!(Store::open(url).await, Err(StoreError::UnknownUrl)),
            "{url}"
        );
    }
}
