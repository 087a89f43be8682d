//! What clients read first: which authorization server the MCP endpoint has (RFC 9728), and where its
//! endpoints are and what they take (RFC 8414).

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};

use super::answers;
use toolgate_core::ids::is_toolset_name;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::apps::{APP_SCOPES, MCP_PATH, client_assertion_algorithms};
use toolgate_http_kit::client::host_of;

/// Where the keys of ID tokens would be, below the issuer.
pub(super) const KEYS: &str = "jwks";

/// How a client learns that identity assertions are taken
/// (draft-ietf-oauth-identity-assertion-authz-grant, section 7.2).
const ID_JAG_PROFILE: &str = "urn:ietf:params:oauth:grant-profile:id-jag";

pub(super) async fn resource(
    State(gateway): State<Arc<Gateway>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    described(
        &gateway,
        &host_of(&uri, &headers),
        &gateway.identity().mcp_resource(),
    )
}

/// The same for any text that can be the name of a toolset: which there are is not for strangers.
pub(super) async fn toolset(
    State(gateway): State<Arc<Gateway>>,
    name: Result<Path<String>, PathRejection>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    match name {
        Ok(Path(name)) if is_toolset_name(&name) => {
            let resource = gateway.identity().toolset_resource(&name);
            described(&gateway, &host_of(&uri, &headers), &resource)
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn described(gateway: &Gateway, host: &Option<String>, resource: &str) -> Response {
    let base = gateway.identity().public_url_at(host.as_deref());
    let path = resource.strip_prefix(gateway.public_url());
    answers::metadata(&json!({
        "resource": format!("{base}{}", path.unwrap_or(MCP_PATH)),
        "resource_name": "toolgate",
        "authorization_servers": [gateway.identity().app_issuer_at(host.as_deref())],
        "scopes_supported": APP_SCOPES.map(<&str>::from),
        "bearer_methods_supported": ["header"],
    }))
}

pub(super) async fn issuer(
    State(gateway): State<Arc<Gateway>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    answers::metadata(&issuer_metadata(&gateway, &host_of(&uri, &headers)))
}

/// The same in the form of OpenID Connect, which some clients look for alone. Members of the form that are about ID
/// tokens are there because clients refuse a document without them; the gateway issues none, since it grants no
/// `openid`.
pub(super) async fn openid(
    State(gateway): State<Arc<Gateway>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let host = host_of(&uri, &headers);
    let mut metadata = issuer_metadata(&gateway, &host);
    let issuer = gateway.identity().app_issuer_at(host.as_deref());
    metadata["jwks_uri"] = json!(format!("{issuer}/{KEYS}"));
    metadata["subject_types_supported"] = json!(["public"]);
    metadata["id_token_signing_alg_values_supported"] = json!(["RS256"]);
    answers::metadata(&metadata)
}

/// The keys of ID tokens: none.
pub(super) async fn keys() -> Response {
    answers::metadata(&json!({ "keys": [] }))
}

fn issuer_metadata(gateway: &Gateway, host: &Option<String>) -> Value {
    let issuer = gateway.identity().app_issuer_at(host.as_deref());
    let base = gateway.identity().public_url_at(host.as_deref());
    let clients = gateway.identity().app_clients();
    let at = |path: &str| format!("{issuer}/{path}");
    let methods = [
        "none",
        "client_secret_basic",
        "client_secret_post",
        "private_key_jwt",
    ];
    let algorithms = client_assertion_algorithms();
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": at("authorize"),
        "token_endpoint": at("token"),
        "revocation_endpoint": at("revoke"),
        "scopes_supported": APP_SCOPES.map(<&str>::from),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": gateway.identity().grant_types(),
        "token_endpoint_auth_methods_supported": methods,
        "token_endpoint_auth_signing_alg_values_supported": algorithms,
        "revocation_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": clients.documents,
        "protected_resources": [format!("{base}{MCP_PATH}")],
    });
    if clients.registration {
        metadata["registration_endpoint"] = json!(at("register"));
    }
    if !clients.id_jag_issuers.is_empty() {
        metadata["authorization_grant_profiles_supported"] = json!([ID_JAG_PROFILE]);
    }
    metadata
}
