//! A server that nobody here wrote, from its own description to its users: built, dropped in,
//! connected in a browser, called over MCP.

use serde_json::json;
use toolgate_tests::jupyterhub::{CLIENT_ID, CLIENT_SECRET, JupyterHub, description, overlay};
use toolgate_tests::mcp::{Call, Client, Job, converse};
use toolgate_tests::process::{Installation, wait};

const TOOL: &str = "jupyter_hub_get_users";

#[tokio::test(flavor = "multi_thread")]
async fn jupyterhub_works_from_its_own_description_through_its_own_sign_in() {
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let gateway = installation.serve(&[]).await;
    let hub = JupyterHub::start(&gateway.url("/oauth/callback/jupyter_hub"))
        .await
        .unwrap();

    let (description, overlay) = (description().unwrap(), overlay());
    let plugin = installation.folder.join("plugins/jupyter_hub.wasm");
    let words = [&description, &overlay, &plugin].map(|path| path.to_str().unwrap());
    let build = [
        "plugin",
        "build",
        words[0],
        "--overlay",
        words[1],
        "-o",
        words[2],
    ];
    installation.run(&build).await;
    wait("the new tools", async || {
        let schema = gateway.get(&format!("/v1/tools/{TOOL}/schema")).await;
        schema.status == 200
    })
    .await;
    let secret = installation.folder.join("secret");
    std::fs::write(&secret, CLIENT_SECRET).unwrap();
    let base = format!("api_base={}/hub/api", hub.url);
    let configure = [
        &["service", "configure", "jupyter_hub", "--set", &base][..],
        &["--client-id", CLIENT_ID, "--base-url", &hub.url],
        &["--client-secret-file", secret.to_str().unwrap()],
    ];
    installation.run(&configure.concat()).await;

    let url = gateway.url("/mcp");
    let say = async || {
        let job = Job {
            url: &url,
            key: &gateway.key,
            command: None,
            skills: false,
            opens_urls: false,
            calls: vec![Call {
                name: "svc_execute_tool",
                arguments: json!({ "tool_name": TOOL, "arguments": "{}" }),
            }],
        };
        let said = converse(Client::JavaScript("2026-07-28"), &job).await;
        said.unwrap().results[0].text().to_owned()
    };
    let asked = say().await;
    assert!(asked.contains("Authentication Required"), "{asked}");
    let at = asked.find(&gateway.url("/connect/")).expect(&asked);
    let link: String = asked[at..]
        .chars()
        .take_while(|c| !c.is_whitespace() && !")>\"".contains(*c))
        .collect();
    let page = hub.connect(&link, "ada").await.unwrap();
    assert!(page.contains("JupyterHub"), "{page}");
    let users = say().await;
    assert!(
        users.contains("\"name\": \"ada\"") || users.contains("\"name\":\"ada\""),
        "{users}"
    );
    assert!(!users.contains(CLIENT_SECRET), "{users}");
}
