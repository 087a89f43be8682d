//! The one table of this edge's routes. A route enters it with who may come, and is wrapped in the
//! check of exactly that; there is no other way into the router.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use http::Method;

use super::InternalState;
use super::access::{self, Access};

/// One route as the table has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRoute {
    pub method: Method,
    /// With `{name}` for what varies.
    pub path: String,
    pub access: Access,
    /// Whether the route is the public one of the same name under `/v1`.
    pub mirrored: bool,
}

pub(super) struct Routes {
    app: InternalState,
    router: Router<InternalState>,
    listed: Vec<ListedRoute>,
}

impl Routes {
    pub(super) fn new(app: InternalState) -> Self {
        Self {
            app,
            router: Router::new(),
            listed: Vec::new(),
        }
    }

    /// Adds one route.
    pub(super) fn add<H, T>(&mut self, method: Method, path: &str, access: Access, handler: H)
    where
        H: Handler<T, InternalState>,
        T: 'static,
    {
        self.put(method, path, access, handler, false);
    }

    /// Adds the mirror of a public route.
    pub(super) fn mirror<H, T>(&mut self, method: Method, path: &str, access: Access, handler: H)
    where
        H: Handler<T, InternalState>,
        T: 'static,
    {
        self.put(method, path, access, handler, true);
    }

    fn put<H, T>(&mut self, method: Method, path: &str, access: Access, handler: H, mirrored: bool)
    where
        H: Handler<T, InternalState>,
        T: 'static,
    {
        let filter = MethodFilter::try_from(method.clone()).expect("a method that axum can route");
        let check = access::RouteAccess {
            app: self.app.clone(),
            access,
        };
        let route: MethodRouter<InternalState> =
            on(filter, handler).layer(axum::middleware::from_fn_with_state(check, access::enter));
        let router = std::mem::take(&mut self.router);
        self.router = router.route(path, route);
        self.listed.push(ListedRoute {
            method,
            path: path.to_owned(),
            access,
            mirrored,
        });
    }

    pub(super) fn finish(self) -> (Router, Vec<ListedRoute>) {
        (self.router.with_state(self.app), self.listed)
    }
}
