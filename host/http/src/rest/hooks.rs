//! `/v1/connections/{connection_id}/hook`: where a provider sends the events of a connection.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{RestState, openapi};
use toolgate_gateway::Gateway;
use toolgate_gateway::webhooks::inbound::{DeletedHook, Hook, SecretHook};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::NoQuery;
use toolgate_vault::Secret;

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource(
        "Hooks",
        "Addresses at which providers send the events of a connection, which go on to webhooks as `trigger.<service>.<event>`.",
    )
    .routes(routes!(read, put, delete))
}

/// The secret that signs.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct HookBody {
    /// The provider's signing secret (Slack, Stripe); absent where the provider takes one of ours
    /// (GitHub): then the answer holds a fresh one.
    #[schema(
        min_length = 8,
        max_length = 500,
        pattern = r"^[^\s\x00-\x1f\x7f-\x9f]*$"
    )]
    secret: Option<String>,
}

/// A hook, with its secret where the gateway has just made it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct HookWithSecret {
    #[serde(flatten)]
    hook: Hook,
    /// To be entered at the provider. Shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl From<SecretHook> for HookWithSecret {
    fn from(put: SecretHook) -> Self {
        Self {
            secret: put.secret.map(|secret| secret.expose().to_owned()),
            hook: put.hook,
        }
    }
}

/// Open a connection's hook
///
/// Answers the address to register at the provider. Deliveries that its secret has not signed are
/// refused. Sent again it replaces the secret. The key needs the scope `webhooks`.
#[utoipa::path(
    put,
    path = "/v1/connections/{connection_id}/hook",
    operation_id = "put_connection_hook",
    params(("connection_id" = String, Path, description = "The id that link and list return.", example = "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    request_body(content = HookBody, description = "The provider's secret, or nothing.", example = json!({})),
    responses((status = 200, description = "The hook, and its secret if it was made.", body = inline(Success<HookWithSecret>), example = json!({"connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "service": "github", "url": "https://toolgate.example.com/hooks/con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "accepted": 0, "refused": 0, "created_at": "2026-11-20T09:00:00.125Z", "secret": "hook_9f86d081884c7d659a2feaa0c55ad015"}))),
)]
async fn put(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([connection_id]): Segments<1>,
    _: NoQuery,
    JsonBody(body): JsonBody<HookBody>,
) -> Result<Success<HookWithSecret>, ApiFailure> {
    let secret = body.secret.map(Secret::new);
    let hook = gateway.put_hook(&caller, &connection_id, secret).await?;
    Ok(Success::new(&caller, hook.into()))
}

/// Read a connection's hook
///
/// Its address, and how many deliveries were taken and refused; the secret is never part of an answer.
#[utoipa::path(
    get,
    path = "/v1/connections/{connection_id}/hook",
    operation_id = "get_connection_hook",
    params(("connection_id" = String, Path, description = "The id that link and list return.", example = "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The hook.", body = inline(Success<Hook>), example = json!({"connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "service": "github", "url": "https://toolgate.example.com/hooks/con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "accepted": 12, "refused": 1, "last_accepted_at": "2026-11-20T09:30:00.125Z", "last_refused_at": "2026-11-20T09:29:00.125Z", "last_refusal": "the signature does not match", "created_at": "2026-11-20T09:00:00.125Z"}))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([connection_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<Hook>, ApiFailure> {
    let hook = gateway.hook(&caller, &connection_id).await?;
    Ok(Success::new(&caller, hook))
}

/// Close a connection's hook
///
/// What the provider sends there is refused from now on.
#[utoipa::path(
    delete,
    path = "/v1/connections/{connection_id}/hook",
    operation_id = "delete_connection_hook",
    params(("connection_id" = String, Path, description = "The id that link and list return.", example = "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "It is closed.", body = inline(Success<DeletedHook>), example = json!({"connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "deleted": true}))),
)]
async fn delete(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([connection_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<DeletedHook>, ApiFailure> {
    let deleted = gateway.delete_hook(&caller, &connection_id).await?;
    Ok(Success::new(&caller, deleted))
}
