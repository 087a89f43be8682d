//! The dashboard's edge: the page itself and the routes behind it, for signed-in members.
//!
//! A request passes, in this order:
//!
//! 1. the layer of [`crate::rest`]: request id, panic boundary, log line, envelope;
//! 2. [`access`]: the route's entry in the one table says who may come; a change has to come from
//!    the dashboard's own pages; the cookie ([`cookies`]) becomes a caller;
//! 3. the resource's own file, which decodes, calls the gateway once and encodes.
//!
//! Every public route `/v1/...` is answered here as `/internal/...` too, by the very same handler
//! ([`mirror`]): what agents and people do is one operation, and a new route needs no line here. The
//! other files are what only people do. [`shell`] serves the page.

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;

use crate::rest::{self, RestOptions};
use toolgate_gateway::Gateway;
use toolgate_http_kit::layer::LayerState;

mod access;
mod account_questions;
mod addresses;
mod apps;
mod audit;
mod client;
mod cookies;
mod descriptions;
mod events;
mod keys;
mod me;
mod members;
mod mirror;
mod oidc;
mod origins;
mod overview;
mod plugins;
mod routes;
mod services;
mod shell;
mod sign_in;
mod skill_proposals;
mod triggers;
mod users;
mod workspace;

pub use access::Access;
pub use cookies::{REFRESH_COOKIE, SESSION_COOKIE};
pub use routes::ListedRoute;

/// The header that a change has to carry, with any value.
pub const DASHBOARD_HEADER: &str = "x-toolgate-dashboard";

/// What the edge needs beside the gateway.
#[derive(Clone, Debug)]
pub struct InternalOptions {
    pub rest: RestOptions,
    /// Without a trailing slash.
    pub public_url: String,
}

/// The state of all routes; cheap to clone.
#[derive(Clone)]
struct InternalState {
    gateway: Arc<Gateway>,
    /// The public routes, for [`mirror`].
    public: Router,
    site: Arc<Site>,
}

/// Where the dashboard is reached.
struct Site {
    /// Host and port of the public URL, as an `Origin` names them.
    authority: String,
    /// Whether cookies may travel over https alone.
    secure: bool,
}

impl Site {
    fn new(public_url: &str) -> Self {
        let (scheme, rest) = public_url.split_once("://").unwrap_or(("http", public_url));
        Self {
            authority: rest.split('/').next().unwrap_or_default().to_owned(),
            secure: scheme == "https",
        }
    }
}

impl FromRef<InternalState> for Arc<Gateway> {
    fn from_ref(app: &InternalState) -> Self {
        app.gateway.clone()
    }
}

impl FromRef<InternalState> for Arc<Site> {
    fn from_ref(app: &InternalState) -> Self {
        app.site.clone()
    }
}

/// The page and its routes, ready to be merged beside [`rest::router`], whose fallback answers what
/// is not here.
pub fn router(gateway: Arc<Gateway>, options: InternalOptions) -> Router {
    built(gateway, options).0
}

/// Every route of this edge with who may come: what the router is built from.
pub fn listed(gateway: Arc<Gateway>, options: InternalOptions) -> Vec<ListedRoute> {
    built(gateway, options).1
}

fn built(gateway: Arc<Gateway>, options: InternalOptions) -> (Router, Vec<ListedRoute>) {
    let state = LayerState::new(options.rest.metrics.clone(), &gateway);
    let (public, document) = rest::bare(gateway.clone(), options.rest);
    let app = InternalState {
        gateway,
        public,
        site: Arc::new(Site::new(&options.public_url)),
    };
    let mut routes = routes::Routes::new(app);
    sign_in::routes(&mut routes);
    oidc::routes(&mut routes);
    me::routes(&mut routes);
    members::routes(&mut routes);
    workspace::routes(&mut routes);
    audit::routes(&mut routes);
    overview::routes(&mut routes);
    events::routes(&mut routes);
    keys::routes(&mut routes);
    apps::routes(&mut routes);
    services::routes(&mut routes);
    account_questions::routes(&mut routes);
    skill_proposals::routes(&mut routes);
    origins::routes(&mut routes);
    plugins::routes(&mut routes);
    addresses::routes(&mut routes);
    descriptions::routes(&mut routes);
    triggers::routes(&mut routes);
    users::routes(&mut routes);
    mirror::routes(&mut routes, document);
    let (routes, listed) = routes.finish();
    let around = axum::middleware::from_fn_with_state(state, toolgate_http_kit::layer::around);
    let routes = routes
        .method_not_allowed_fallback(toolgate_http_kit::envelope::wrong_method)
        .layer(around);
    (routes.merge(shell::router()), listed)
}

#[cfg(test)]
mod tests;
