//! The REST edge: HTTP in, one operation of [`toolgate_gateway`], the envelope out.
//!
//! An edge authenticates, decodes, calls once, encodes. It decides nothing about the business.
//! A request passes, in this order:
//!
//! 1. [`toolgate_http_kit::layer`]: request id, panic boundary, log line and metrics around every route;
//! 2. [`toolgate_http_kit::auth`]: the API key, before any byte of the body is read;
//! 3. [`toolgate_http_kit::path`], [`toolgate_http_kit::query`], [`toolgate_http_kit::body`]: strict decoding, everything unknown refused;
//! 4. the resource's own file: [`tools`], [`toolsets`], [`executions`], [`skills`], [`permissions`], [`connections`], [`approvals`],
//!    [`sessions`], [`messages`], [`knowledge`], [`results`], [`files`], [`webhooks`], [`hooks`], [`events`], [`triggers`], [`scripts`],
//!    [`health`];
//!    [`probes`] need no key;
//! 5. [`toolgate_http_kit::envelope`]: the one file that turns results and errors into statuses and bodies.
//!
//! [`openapi`] completes the document that the routes declare, [`docs`] shows it to people.
//! A new resource is one file with `routes()` and one line in [`api`].

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::FromRef;
use axum::response::{IntoResponse as _, Redirect, Response};
use bytes::Bytes;
use http::{HeaderMap, Method, Uri, header};
use utoipa_axum::router::OpenApiRouter;

use toolgate_gateway::Gateway;
use toolgate_gateway::metrics::Metrics;
use toolgate_http_kit::layer::LayerState;

mod approvals;
mod connections;
mod docs;
mod entity_tags;
mod events;
mod executions;
mod files;
mod health;
mod hooks;
mod idempotent;
mod knowledge;
mod messages;
mod openapi;
mod permissions;
mod probes;
mod results;
mod scripts;
mod sessions;
mod skills;
mod stream;
#[cfg(test)]
pub(crate) mod tenants;
mod tools;
mod toolsets;
mod triggers;
mod webhooks;

pub use openapi::document;

/// Every resource, one line each.
fn api() -> OpenApiRouter<RestState> {
    let resources = [
        tools::routes(),
        toolsets::routes(),
        executions::routes(),
        skills::routes(),
        permissions::routes(),
        connections::routes(),
        approvals::routes(),
        sessions::routes(),
        messages::routes(),
        knowledge::routes(),
        results::routes(),
        files::routes(),
        webhooks::routes(),
        hooks::routes(),
        events::routes(),
        triggers::routes(),
        scripts::routes(),
        health::routes(),
        probes::routes(),
    ];
    let head = OpenApiRouter::with_openapi(openapi::head());
    let resources = resources.into_iter().map(openapi::tagged);
    resources.fold(head, OpenApiRouter::merge)
}

/// What the edge needs beside the gateway.
#[derive(Clone, Debug)]
pub struct RestOptions {
    pub metrics: Arc<Metrics>,
    /// Whether `/metrics` answers here. Off when it has a listener of its own
    /// ([`metrics_router`]).
    pub metrics_here: bool,
}

/// Below these an address that is not there is refused, also to a browser.
const REFUSED_BELOW: [&str; 9] = [
    "v1",
    "internal",
    "mcp",
    "oauth",
    "hooks",
    "connect",
    "docs",
    "assets",
    ".well-known",
];
/// An address of the dashboard that has no page.
const NOT_FOUND_PAGE: &str = "/help/not-found";

/// All REST routes, ready to be served with `into_make_service_with_connect_info::<SocketAddr>()`.
///
/// The fallback answers 404 in the envelope, so a router that is merged in must bring none.
pub fn router(gateway: Arc<Gateway>, options: RestOptions) -> Router {
    let state = LayerState::new(options.metrics.clone(), &gateway);
    let around = axum::middleware::from_fn_with_state(state, toolgate_http_kit::layer::around);
    bare(gateway, options).0.layer(around)
}

/// The same routes without [`toolgate_http_kit::layer`], and the document that lists them: for the dashboard's edge,
/// which answers each of them under a path of its own with a caller that it has authenticated
/// ([`toolgate_http_kit::auth::PreAuthenticated`]).
pub fn bare(
    gateway: Arc<Gateway>,
    options: RestOptions,
) -> (Router, &'static utoipa::openapi::OpenApi) {
    let SharedAnswers {
        routes,
        document,
        pages,
    } = declared();
    let app = RestState {
        gateway,
        pages: pages.clone(),
        options: Arc::new(options),
    };
    (routes.clone().with_state(app), document)
}

/// What is the same in every process.
struct SharedAnswers {
    routes: Router<RestState>,
    document: utoipa::openapi::OpenApi,
    pages: Arc<Pages>,
}

fn declared() -> &'static SharedAnswers {
    static DECLARED: LazyLock<SharedAnswers> = LazyLock::new(|| {
        let (routes, declared) = api().split_for_parts();
        let document = openapi::complete(declared);
        SharedAnswers {
            routes: routes
                .merge(docs::files())
                .fallback(unknown)
                .method_not_allowed_fallback(toolgate_http_kit::envelope::wrong_method),
            pages: Arc::new(Pages::new(&document)),
            document,
        }
    });
    &DECLARED
}

/// An address that no route has. A person with a browser gets the dashboard's page that says so.
async fn unknown(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let accepted = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let first = uri.path().split('/').nth(1).unwrap_or_default();
    let person = method == Method::GET && accepted.contains("text/html");
    if person && !REFUSED_BELOW.contains(&first) {
        return Redirect::to(NOT_FOUND_PAGE).into_response();
    }
    toolgate_http_kit::envelope::unknown_route()
        .await
        .into_response()
}

/// Makes the routes and the document that describes them, once for the process: a start does so beside
/// opening the gateway.
pub fn prepare() {
    declared();
}

/// `/metrics` alone, for a listener of its own.
pub fn metrics_router(metrics: Arc<Metrics>) -> Router {
    let metrics_route = move || async move { probes::exposition(&metrics) };
    Router::new().route("/metrics", axum::routing::get(metrics_route))
}

/// The state of all routes; cheap to clone. A resource takes `State<Arc<Gateway>>`.
#[derive(Clone)]
struct RestState {
    gateway: Arc<Gateway>,
    pages: Arc<Pages>,
    options: Arc<RestOptions>,
}

/// What never changes while the process runs, rendered once.
struct Pages {
    openapi: Bytes,
}

impl Pages {
    fn new(document: &utoipa::openapi::OpenApi) -> Self {
        let value = serde_json::to_value(document).expect("the document holds string keys only");
        Self {
            openapi: value.to_string().into(),
        }
    }
}

impl FromRef<RestState> for Arc<Gateway> {
    fn from_ref(app: &RestState) -> Self {
        app.gateway.clone()
    }
}

impl FromRef<RestState> for Arc<Pages> {
    fn from_ref(app: &RestState) -> Self {
        app.pages.clone()
    }
}

impl FromRef<RestState> for Arc<RestOptions> {
    fn from_ref(app: &RestState) -> Self {
        app.options.clone()
    }
}
