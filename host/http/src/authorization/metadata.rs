//! What clients read first: which authorization server the MCP endpoint has (RFC 9728), and where its
//! endpoints are and what they take (RFC 8414).

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde_json::json;

use super::answers;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::apps::APP_SCOPES;
use toolgate_gateway::toolsets::check::is_name;

/// How a client learns that identity assertions are taken
/// (draft-ietf-oauth-identity-assertion-authz-grant, section 7.2).
const ID_JAG_PROFILE: &str = "urn:ietf:params:oauth:grant-profile:id-jag";

pub(super) async fn resource(State(gateway): State<Arc<Gateway>>) -> Response {
    described(&gateway, &gateway.mcp_resource())
}

/// The same for any text that can be the name of a toolset: which there are is not for strangers.
pub(super) async fn toolset(
    State(gateway): State<Arc<Gateway>>,
    name: Result<Path<String>, PathRejection>,
) -> Response {
    match name {
        Ok(Path(name)) if is_name(&name) => described(&gateway, &gateway.toolset_resource(&name)),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn described(gateway: &Gateway, resource: &str) -> Response {
    answers::metadata(&json!({
        "resource": resource,
        "resource_name": "toolgate",
        "authorization_servers": [gateway.app_issuer()],
        "scopes_supported": APP_SCOPES.map(<&str>::from),
        "bearer_methods_supported": ["header"],
    }))
}

pub(super) async fn issuer(State(gateway): State<Arc<Gateway>>) -> Response {
    let issuer = gateway.app_issuer();
    let clients = gateway.app_clients();
    let at = |path: &str| format!("{issuer}/{path}");
    let methods = ["none", "client_secret_basic", "client_secret_post"];
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": at("authorize"),
        "token_endpoint": at("token"),
        "revocation_endpoint": at("revoke"),
        "scopes_supported": APP_SCOPES.map(<&str>::from),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": gateway.grant_types(),
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": clients.documents,
        "protected_resources": [gateway.mcp_resource()],
    });
    if clients.registration {
        metadata["registration_endpoint"] = json!(at("register"));
    }
    if !clients.id_jag_issuers.is_empty() {
        metadata["authorization_grant_profiles_supported"] = json!([ID_JAG_PROFILE]);
    }
    answers::metadata(&metadata)
}
