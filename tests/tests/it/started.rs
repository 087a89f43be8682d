//! A description that starts from requests that were sent: written without values, and built.

use serde_json::{Value, json};
use toolgate_tests::process::Installation;

const COMMAND: &str = "curl -X POST 'https://api.notes.io/v1/notes?api_key=PLANTED-1' -H 'Authorization: Bearer PLANTED-2' \
    -d '{\"text\": \"PLANTED-3\", \"pinned\": true}'";

/// Starts a plugin's folder from `source`, builds it, and answers the report of the build.
async fn built(installation: &Installation, source: &str) -> Value {
    let started = ["plugin", "new", "--from", source, "--service", "notes"];
    let report = installation.run(&started).await;
    assert_eq!(report["operations"], 1, "{report}");
    let folder = installation.folder.join("plugins/notes");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("PLANTED"), "{text}");
    }
    let build = ["plugin", "build", "plugins/notes/openapi.json"];
    let overlay = ["--overlay", "plugins/notes/overlay.yaml"];
    let report = installation.run(&[&build[..], &overlay].concat()).await;
    std::fs::remove_dir_all(folder).unwrap();
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_an_archive_and_a_collection_become_plugins_without_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let by_command = built(&installation, COMMAND).await;
    assert_eq!(by_command["tools"], 1, "{by_command}");

    let archive = json!({ "log": { "version": "1.2", "entries": [{
        "request": { "method": "GET", "url": "https://api.notes.io/v1/notes/17",
            "headers": [{ "name": "X-Team", "value": "PLANTED-4" }] },
        "response": { "status": 200, "content": { "mimeType": "application/json" } },
    }] } });
    let file = folder.path().join("session.har").display().to_string();
    std::fs::write(&file, archive.to_string()).unwrap();
    let by_archive = built(&installation, &file).await;
    assert_eq!(by_archive["tools"], 1, "{by_archive}");
    let said = installation.refused(&["plugin", "build", &file]).await;
    assert!(said.contains("plugin new --from"), "{said}");

    let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
    let collection = json!({
        "info": { "name": "Notes", "schema": schema },
        "variable": [{ "key": "token", "value": "PLANTED-5" }],
        "item": [{ "name": "List notes", "request": { "method": "GET", "url": "https://api.notes.io/v1/notes" } }],
    });
    std::fs::write(&file, collection.to_string()).unwrap();
    let by_collection = built(&installation, &file).await;
    assert_eq!(by_collection["tools"], 1, "{by_collection}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_no_known_kind_is_refused_with_the_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let file = folder.path().join("notes.json").display().to_string();
    std::fs::write(&file, json!({ "notes": [] }).to_string()).unwrap();
    let build = ["plugin", "build", &file];
    let start = ["plugin", "new", "--from", &file];
    for arguments in [&build[..], &start[..]] {
        let said = installation.refused(arguments).await;
        for kind in ["OpenAPI 3.0 to 3.2", "Google discovery", "Postman"] {
            assert!(said.contains(kind), "{kind}: {said}");
        }
    }
}
