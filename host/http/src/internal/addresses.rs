//! `/internal/addresses`: an operator pastes the address of a service. What is there is found out: an MCP server becomes a
//! plugin file, and a description goes on at [`super::descriptions`].

use std::sync::Arc;

use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::Method;
use serde::{Deserialize, Serialize};

use super::access::{Access, SignedInMember};
use super::descriptions;
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::plugins::from_address::{
    AskedAddress, FoundAddress, ServerPlugin, ServerSummary,
};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_vault::Secret;

pub(super) fn routes(routes: &mut Routes) {
    let path = "/internal/addresses/read";
    routes.add(Method::POST, path, Access::Operator, read);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddressBody {
    url: String,
    #[serde(default)]
    service: Option<String>,
    #[serde(default)]
    enters_token: bool,
    /// Used for the list of tools alone.
    #[serde(default)]
    token: Option<String>,
}

/// What is at the address.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum AddressAnswer {
    McpServer {
        server: Box<ServerSummary>,
        wasm_base64: String,
    },
    Description {
        text: String,
    },
}

async fn read(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<AddressBody>,
) -> Result<Success<AddressAnswer>, ApiFailure> {
    let asked = AskedAddress {
        url: body.url,
        service: body.service,
        enters_token: body.enters_token,
        token: body.token.map(Secret::new),
    };
    let found = Box::pin(gateway.ask_address(member.caller(), asked)).await?;
    let answer = match found {
        FoundAddress::Server(plugin) => {
            let ServerPlugin { about, wasm } = *plugin;
            AddressAnswer::McpServer {
                server: Box::new(about),
                wasm_base64: BASE64.encode(&wasm),
            }
        }
        FoundAddress::Text { text, problem } => {
            let Some(text) = descriptions::checked(text).await? else {
                return Err(ApiFailure::Request {
                    field: Some("url".to_owned()),
                    message: format!("nothing can be made of this address: {problem}"),
                    hint: Some(
                        "Paste the address of an MCP server, or of an OpenAPI description."
                            .to_owned(),
                    ),
                });
            };
            AddressAnswer::Description { text }
        }
    };
    Ok(Success::new(member.caller(), answer))
}
