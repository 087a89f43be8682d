//! Adding an integration from the address of an MCP server, in a real browser.

use serde_json::json;

use super::{World, dist};
use crate::mcp_upstreams::hostile::{one_tool, result, server};

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_adds_an_integration_from_an_address_in_the_browser() {
    dist();
    let server = server(
        |_| one_tool(),
        |_, message| {
            let text = json!({"content": [{"type": "text", "text": "done"}]});
            result(message, &text)
        },
    )
    .await;
    let upstream = format!("mcp.example.net={}", server.url());
    let world = World::start_with(&[], &["--allow-upstream", &upstream]).await;
    let address = json!({ "address": "https://mcp.example.net/mcp" });
    let printed = world.walk("address.mjs", address).await;
    assert_eq!(printed.lines().count(), 4, "{printed}");
}
