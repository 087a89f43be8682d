//! `toolgate plugin build --mcp` and what it says.

use serde_json::{Value, json};
use toolgate_tests::mcp_upstream;
use toolgate_tests::process::Installation;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_built_and_its_report_says_what_it_becomes() {
    let server = mcp_upstream::fast_python().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let url = server.mcp();
    let report = installation
        .run(&["plugin", "build", "--mcp", &url, "--effect", "divide=read"])
        .await;
    assert_eq!(report["service"], "fast_python", "{report}");
    let tools: Vec<(&str, &str, &str)> = report["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let text = |key: &str| tool[key].as_str().unwrap();
            (text("name"), text("upstream"), text("effect"))
        })
        .collect();
    assert_eq!(
        tools,
        [
            ("fast_python_word_count", "word_count", "read"),
            ("fast_python_divide", "divide", "read"),
        ]
    );
    assert_eq!(
        (&report["auth"], &report["hosts"]),
        (&json!("none"), &json!([]))
    );
    assert_eq!(report["settings"], json!(["server_url"]));
    let next = report["next"].to_string();
    assert!(next.contains(&format!("server_url={url}")), "{next}");
    let file = folder.path().join("fast_python.wasm").display().to_string();
    let checked = installation.run(&["plugin", "check", &file]).await;
    assert_eq!(checked[0]["errors"], json!([]), "{checked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_list_is_built_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let saved = folder.path().join("tools.json");
    let list = json!({"tools": [{"name": "find", "description": "Finds things by name.", "inputSchema": {"type": "object"}}]});
    std::fs::write(&saved, list.to_string()).unwrap();
    let saved = saved.display().to_string();
    let mcp = "https://mcp.example.com/mcp";
    let build = ["plugin", "build", "--mcp", mcp, "--tools", &saved, "--auth"];
    let report = installation.run(&[&build[..], &["bearer"]].concat()).await;
    assert_eq!(
        (&report["auth"], &report["hosts"]),
        (&json!("bearer"), &json!(["mcp.example.com"]))
    );
    let report = installation
        .run(&[&build[..], &["header:X-Api-Key"]].concat())
        .await;
    assert_eq!(report["auth"], "api_key", "{report}");
    let file = folder.path().join(report["file"].as_str().unwrap());
    let first = std::fs::read(&file).unwrap();
    installation
        .run(&[&build[..], &["header:X-Api-Key"]].concat())
        .await;
    assert!(first == std::fs::read(&file).unwrap(), "two builds differ");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_remote_server_is_refused_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let cases: [(&[&str], &str); 4] = [
        (&["--mcp", "npx -y some-server"], "supergateway"),
        (&["--mcp", "https://user@mcp.example.com/"], "no user"),
        (&["--mcp", "http://127.0.0.1:9/mcp"], "127.0.0.1"),
        (
            &[
                "--mcp",
                "https://mcp.example.com/",
                "--tools",
                "absent.json",
            ],
            "absent.json",
        ),
    ];
    for (arguments, expected) in cases {
        let said = installation
            .refused(&[&["plugin", "build"], arguments].concat())
            .await;
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let entries: Vec<Value> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| json!(entry.unwrap().file_name().to_string_lossy()))
        .filter(|name| name.as_str().unwrap().ends_with(".wasm"))
        .collect();
    assert_eq!(entries, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_at_an_address_is_found_out() {
    let server = mcp_upstream::fast_npm(false).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let report = installation
        .run(&["plugin", "new", "--from", &server.mcp()])
        .await;
    assert_eq!(report["service"], "fast_npm", "{report}");
    assert!(folder.path().join("fast_npm.wasm").is_file());
    let nothing = format!("{}/nothing", server.url());
    let said = installation
        .refused(&["plugin", "new", "--from", &nothing])
        .await;
    assert!(said.contains("no Streamable HTTP"), "{said}");
}
