//! Who may come to a route: checked around every handler, before any of it runs.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{Extensions, HeaderMap, Method, header};

use super::client::client_of;
use super::cookies::{self, SESSION_COOKIE};
use super::{DASHBOARD_HEADER, InternalState, Site};
use toolgate_gateway::Caller;
use toolgate_gateway::identity::members::enter::AuthenticatedMember;
use toolgate_gateway::{Error, Gateway};
use toolgate_http_kit::envelope::ApiFailure;
use toolgate_http_kit::memory::RequestMemory;
use toolgate_store::Role;

/// Who may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody: the route is part of signing in.
    Open,
    /// Members of at least this role.
    Least(Role),
    /// Owners and admins of the workspace that runs the installation.
    Operator,
}

/// What the check around one route knows.
#[derive(Clone)]
pub(super) struct RouteAccess {
    pub app: InternalState,
    pub access: Access,
}

/// The signed-in member, for a handler. Only there behind [`enter`].
pub(super) struct SignedInMember(pub AuthenticatedMember);

impl SignedInMember {
    pub(super) fn caller(&self) -> &Caller {
        &self.0.caller
    }
}

impl<S: Send + Sync> FromRequestParts<S> for SignedInMember {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiFailure> {
        let entered = parts.extensions.get::<AuthenticatedMember>().cloned();
        let entered = entered.ok_or(Error::SignInRequired)?;
        RequestMemory::note_caller(&parts.extensions, &entered.caller);
        Ok(Self(entered))
    }
}

pub(super) async fn enter(
    State(check): State<RouteAccess>,
    mut request: Request,
    next: Next,
) -> Response {
    match allowed(
        &check,
        request.method(),
        request.headers(),
        request.extensions(),
    )
    .await
    {
        Err(refused) => refused.into_response(),
        Ok(entered) => {
            if let Some(entered) = entered {
                request.extensions_mut().insert(entered);
            }
            next.run(request).await
        }
    }
}

async fn allowed(
    check: &RouteAccess,
    method: &Method,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<Option<AuthenticatedMember>, ApiFailure> {
    let (gateway, site): (&Arc<Gateway>, &Site) = (&check.app.gateway, &check.app.site);
    let reads = matches!(*method, Method::GET | Method::HEAD);
    if !reads && !comes_from_here(headers, site) {
        return Err(ApiFailure::CrossSite);
    }
    if check.access == Access::Open {
        return Ok(None);
    }
    let client = client_of(headers, extensions);
    let jwt = cookies::read(headers, SESSION_COOKIE, site.secure);
    let entered = gateway
        .authenticate_member(jwt.as_deref(), client.request_id, client.address)
        .await?;
    match check.access {
        Access::Open => {}
        Access::Least(role) => entered.caller.need_role(role)?,
        Access::Operator => entered.caller.need_operator()?,
    }
    Ok(Some(entered))
}

/// Whether a change was sent by a page of the dashboard: another site's page can neither send the
/// header, for which its browser would ask first, nor choose the `Origin` (RFC 6454, section 7.3).
fn comes_from_here(headers: &HeaderMap, site: &Site) -> bool {
    if !headers.contains_key(DASHBOARD_HEADER) {
        return false;
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else {
        return false;
    };
    let Some(authority) = origin
        .to_str()
        .ok()
        .and_then(|origin| origin.split_once("://"))
        .map(|(_, authority)| authority)
    else {
        return false;
    };
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    authority.eq_ignore_ascii_case(&site.authority)
        || (!host.is_empty() && authority.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_change_comes_from_the_dashboards_own_origin() {
        let site = Site::new("https://tools.example.com");
        for (origins, host, dashboard, from_here) in [
            (
                &["https://tools.example.com"][..],
                "tools.example.com",
                true,
                true,
            ),
            (&["http://127.0.0.1:8080"], "127.0.0.1:8080", true, true),
            (&["https://tools.example.com"], "127.0.0.1:8080", true, true),
            (
                &["https://tools.example.com"],
                "tools.example.com",
                false,
                false,
            ),
            (
                &["https://evil.example.com"],
                "tools.example.com",
                true,
                false,
            ),
            (
                &["https://tools.example.com.evil.test"],
                "tools.example.com",
                true,
                false,
            ),
            (&["http://127.0.0.1:8081"], "127.0.0.1:8080", true, false),
            (&["null"], "tools.example.com", true, false),
            (&["null"], "", true, false),
            (&[], "tools.example.com", true, false),
            (
                &["https://tools.example.com", "https://evil.example.com"],
                "tools.example.com",
                true,
                false,
            ),
        ] {
            let mut headers = HeaderMap::new();
            for origin in origins {
                headers.append(header::ORIGIN, HeaderValue::from_static(origin));
            }
            if !host.is_empty() {
                headers.insert(header::HOST, HeaderValue::from_static(host));
            }
            if dashboard {
                headers.insert(DASHBOARD_HEADER, HeaderValue::from_static("1"));
            }
            assert_eq!(
                comes_from_here(&headers, &site),
                from_here,
                "{origins:?} {host}"
            );
        }
    }
}
