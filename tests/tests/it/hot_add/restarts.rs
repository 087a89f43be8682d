//! What a start finds in the folders of an earlier one.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_warm_start_compiles_nothing_and_serves_at_once() {
    let (folders, plugins) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = || Options {
        data_dir: Some(folders.path().to_owned()),
        plugins_dir: Some(plugins.path().to_owned()),
        ..Options::default()
    };
    let first = TestGateway::start(options()).await;
    first.drop_file("warm.wasm", &Fixture::new("warm").build());
    first.wait_for_file("warm.wasm", "active").await;
    first.stop().await;
    // A file that was just written settles first; age it as a real restart would find it.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let file = std::fs::File::options()
        .write(true)
        .open(plugins.path().join("warm.wasm"))
        .unwrap();
    file.set_modified(old).unwrap();
    let again = TestGateway::start(options()).await;
    assert!(
        search_finds(&again, "warm_run").await,
        "ready when the start returns"
    );
    assert_eq!(
        again.execute("warm_run", json!({})).await["status"],
        "success"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_changed_while_the_gateway_was_away_is_read_again() {
    let (folders, plugins) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = || Options {
        data_dir: Some(folders.path().to_owned()),
        plugins_dir: Some(plugins.path().to_owned()),
        ..Options::default()
    };
    let version = |version: &str| Fixture::new("sly").with("version", json!(version)).build();
    let (one, two) = (version("1.0.0"), version("2.0.0"));
    assert_eq!(one.len(), two.len());
    let path = plugins.path().join("sly.wasm");
    let first = TestGateway::start(options()).await;
    first.drop_file("sly.wasm", &one);
    first.wait_for_file("sly.wasm", "active").await;
    first.stop().await;

    // Unchanged, it is not read again: what is noted of it keeps its time.
    let known = TestGateway::start(options()).await;
    let noted = async |gateway: &TestGateway| {
        let mut files = gateway.gateway.store().list_plugin_files().await.unwrap();
        files.pop().unwrap()
    };
    let before = noted(&known).await;
    assert!(before.fingerprint.is_some());
    known.stop().await;
    let again = TestGateway::start(options()).await;
    assert_eq!(noted(&again).await, before);
    again.stop().await;

    // The same size, the same file, the same time of its last writing.
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, &two).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(modified).unwrap();
    let changed = TestGateway::start(options()).await;
    changed
        .wait("the other content to serve", async || {
            let row = changed.gateway.store().find_plugin("sly").await.unwrap();
            row.unwrap().active_version.as_deref() == Some("2.0.0")
                && noted(&changed).await.sha256 != before.sha256
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compiled_code_that_was_touched_is_compiled_again_and_never_run() {
    let (folders, plugins) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = || Options {
        data_dir: Some(folders.path().to_owned()),
        plugins_dir: Some(plugins.path().to_owned()),
        ..Options::default()
    };
    let first = TestGateway::start(options()).await;
    first.drop_file("safe.wasm", &Fixture::new("safe").build());
    first.wait_for_file("safe.wasm", "active").await;
    first.stop().await;
    let mut touched = Vec::new();
    for entry in std::fs::read_dir(folders.path().join("code")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "cwasm") {
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 0xff;
        std::fs::write(&path, &bytes).unwrap();
        touched.push((path, bytes));
    }
    assert_eq!(touched.len(), 1, "one image");
    let again = TestGateway::start(options()).await;
    again
        .wait("the plugin to serve", async || {
            search_finds(&again, "safe_run").await
        })
        .await;
    assert_eq!(
        again.execute("safe_run", json!({})).await["status"],
        "success"
    );
    for (path, bytes) in touched {
        let now = std::fs::read(&path).unwrap();
        assert!(now != bytes, "{} is written anew", path.display());
    }
}
