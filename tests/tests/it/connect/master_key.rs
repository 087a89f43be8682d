//! The master key and the database belong together: another key, none, and one that is lost for good.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use toolgate_tests::process::Installation;
use toolgate_tests::provider::Provider;

use super::TOOL;
use super::processes::installation;
use super::real::{configure, connect, run};

fn put_key(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

async fn refuses(installation: &Installation, said: &str) {
    for command in [
        &["serve"][..],
        &["vault", "rotate"],
        &["service", "configure", "github", "--client-id", "another"],
    ] {
        let refused = installation.refused(command).await;
        assert!(refused.contains(said), "{command:?}: {refused}");
        assert!(
            refused.contains("toolgate vault adopt"),
            "no next step: {refused}"
        );
    }
}

/// An installation with a connected user, stopped.
async fn connected(folder: &Path, provider: &Provider) -> Installation {
    let installation = installation(folder, provider);
    let process = installation.serve(&[TOOL]).await;
    configure(&installation).await;
    connect(&process, provider, "ada").await;
    assert_eq!(run(&process, "ada").await["status"], "success");
    process.kill().await;
    installation
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_without_the_key_of_the_database_is_refused_and_changes_nothing() {
    let (provider, folder) = (Provider::start().await, TempDir::new().unwrap());
    let installation = connected(folder.path(), &provider).await;
    let file = folder.path().join("data/master.key");
    let key = std::fs::read(&file).unwrap();

    put_key(&file, &[7; 32]);
    refuses(&installation, "does not belong to this database").await;
    assert_eq!(std::fs::read(&file).unwrap(), [7; 32]);
    std::fs::remove_file(&file).unwrap();
    refuses(&installation, "is missing").await;
    assert!(!file.exists(), "no key is made in its place");

    // A database of an earlier version names no key; what is sealed there does.
    let database = folder.path().join("data/toolgate.db");
    let url = format!("sqlite://{}", database.display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    let forgotten = sqlx::query("DELETE FROM installation WHERE name = 'master_key'");
    assert_eq!(forgotten.execute(&pool).await.unwrap().rows_affected(), 1);
    pool.close().await;
    refuses(&installation, "is missing").await;
    put_key(&file, &[7; 32]);
    refuses(&installation, "does not belong to this database").await;

    put_key(&file, &key);
    let process = installation.serve(&[TOOL]).await;
    assert_eq!(run(&process, "ada").await["status"], "success");

    // A second process with a key of its own on the same database.
    let mut second = Installation::new(&folder.path().join("second"), &["github"]);
    second.database_url = Some(url);
    let refused = second.refused(&["serve"]).await;
    assert!(refused.contains("is missing"), "{refused}");
    process.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_key_is_given_up_by_a_command_and_users_connect_again() {
    let (provider, folder) = (Provider::start().await, TempDir::new().unwrap());
    let installation = connected(folder.path(), &provider).await;
    let file = folder.path().join("data/master.key");
    std::fs::remove_file(&file).unwrap();

    let adopted = installation.run(&["vault", "adopt"]).await;
    assert_eq!(adopted["connections"], 1, "{adopted}");
    assert_eq!(adopted["other_secrets"], 1, "the client secret: {adopted}");
    let process = installation.serve(&[TOOL]).await;
    configure(&installation).await;
    let ran = run(&process, "ada").await;
    assert_eq!(ran["status"], "auth_expired", "{ran}");
    let connections = process.get("/v1/connections").await.data();
    assert_eq!(
        connections["connections"][0]["state"],
        json!("reauth_needed")
    );
    connect(&process, &provider, "ada").await;
    assert_eq!(run(&process, "ada").await["status"], "success");
    process.kill().await;

    // With the key that it made, adopting changes nothing.
    let again = installation.run(&["vault", "adopt"]).await;
    assert_eq!(again["connections"], 0, "{again}");
    assert_eq!(again["key_id"], adopted["key_id"]);
}
