use toolgate_store::{DatabaseKind, Store, StoreError};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    reopening_keeps_everything,
    a_newer_schema_is_refused,
    two_openings_at_once_migrate_once
);

async fn reopening_keeps_everything(at: Empty) {
    let made = workspace(&at.store, "acme").await;
    at.store.prove_write(NOW_MS).await.unwrap();
    at.store.close().await;
    let again = Store::open(&at.url).await.unwrap();
    assert_eq!(again.first_workspace().await.unwrap(), Some(made));
}

async fn a_newer_schema_is_refused(at: Empty) {
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (9999, 'from the future', TRUE, $1, 0)";
    let checksum = [7_u8; 48].as_slice();
    match at.store.kind() {
        DatabaseKind::Sqlite => {
            let pool = sqlx::SqlitePool::connect(&at.url).await.unwrap();
            sqlx::query(newer)
                .bind(checksum)
                .execute(&pool)
                .await
                .unwrap();
        }
        DatabaseKind::Postgres => {
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
        DatabaseKind::Sqlite => at.url.replace("toolgate.db", "other.db"),
        DatabaseKind::Postgres => tokio::task::spawn_blocking(toolgate_tests::postgres::fresh_url)
            .await
            .unwrap(),
    };
    let (one, two) = tokio::join!(Store::open(&fresh), Store::open(&fresh));
    one.unwrap().prove_write(NOW_MS).await.unwrap();
    two.unwrap().prove_write(NOW_MS).await.unwrap();
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

#[tokio::test]
async fn postgresql_is_spoken_to_over_tls_with_a_trusted_certificate_only() {
    let secure = tokio::task::spawn_blocking(toolgate_tests::postgres::secure)
        .await
        .unwrap();
    let with = |mode: &str, root: &std::path::Path| {
        let root = root.display();
        format!("{}?sslmode={mode}&sslrootcert={root}", secure.url)
    };
    let trusted = with("verify-full", &secure.certificate);
    let store = Store::open(&trusted).await.unwrap();
    store.prove_write(NOW_MS).await.unwrap();
    let pool = sqlx::PgPool::connect(&trusted).await.unwrap();
    let tls: String =
        sqlx::query_scalar("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            .fetch_one(&pool)
            .await
            .unwrap();
    assert_eq!(tls, "TLSv1.3");
    let elsewhere = trusted.replace("@localhost", "@127.0.0.1");
    for refused in [
        with("verify-full", &secure.wrong_certificate),
        with("verify-ca", &secure.wrong_certificate),
        with("disable", &secure.certificate),
        // The certificate is for another name.
        elsewhere,
    ] {
        let outcome = Store::open(&refused).await;
        assert!(outcome.is_err(), "{refused}");
    }
}
