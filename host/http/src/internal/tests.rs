//! Who is refused at which route, by walking the table of routes.

mod first_steps;
mod sign_in;
mod tenants;

use axum::body::Body;
use axum::extract::Request;
use http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN, SET_COOKIE};
use http::response::Parts;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;
use toolgate_gateway::identity::members::enter::JWT_LIFE_MS;
use toolgate_gateway::identity::members::sign_in::{IDLE_MS, SignedIn};
use toolgate_gateway::testing::{PASSWORD, TestWorld};
use toolgate_store::Role;

const SITE: &str = "http://127.0.0.1:8080";

fn options(world: &TestWorld) -> InternalOptions {
    InternalOptions {
        rest: RestOptions {
            metrics: world.metrics().clone(),
            metrics_here: false,
        },
        public_url: SITE.to_owned(),
    }
}

/// What a browser would send to a route.
#[derive(Clone)]
struct BrowserRequest {
    cookie: String,
    origin: Option<&'static str>,
    header: bool,
    body: Value,
}

impl BrowserRequest {
    fn new(signed_in: &SignedIn) -> Self {
        Self::with(&format!("{SESSION_COOKIE}={}", signed_in.jwt.expose()))
    }

    fn with(cookie: &str) -> Self {
        Self {
            cookie: cookie.to_owned(),
            origin: Some(SITE),
            header: true,
            body: json!({}),
        }
    }

    fn body(&self, body: Value) -> Self {
        Self {
            body,
            ..self.clone()
        }
    }

    async fn send(&self, world: &TestWorld, method: &str, path: &str) -> (Parts, Value) {
        let (parts, body) = self.open(world, method, path).await;
        let body = axum::body::to_bytes(body, 1 << 22).await.unwrap();
        (parts, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// What is answered, with its body still to come.
    async fn open(&self, world: &TestWorld, method: &str, path: &str) -> (Parts, Body) {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, "127.0.0.1:8080")
            .header(CONTENT_TYPE, "application/json");
        if !self.cookie.is_empty() {
            request = request.header(COOKIE, &self.cookie);
        }
        if let Some(origin) = self.origin {
            request = request.header(ORIGIN, origin);
        }
        if self.header {
            request = request.header(DASHBOARD_HEADER, "1");
        }
        let request = request.body(Body::from(self.body.to_string())).unwrap();
        let router = router(world.gateway.clone(), options(world));
        router.oneshot(request).await.unwrap().into_parts()
    }

    async fn refused(&self, world: &TestWorld, listed: &ListedRoute, status: u16, code: &str) {
        let (method, path) = (listed.method.as_str(), filled(&listed.path));
        let (parts, body) = self.send(world, method, &path).await;
        let told = (parts.status.as_u16(), body["error"]["code"].as_str());
        assert_eq!(told, (status, Some(code)), "{method} {path}: {body}");
    }
}

/// A path with something in the place of what varies.
fn filled(path: &str) -> String {
    filled_with(path, |_| "x".to_owned())
}

fn filled_with(path: &str, mut with: impl FnMut(&str) -> String) -> String {
    let part = |part: &str| match part.strip_prefix('{') {
        Some(name) => with(name.trim_end_matches('}')),
        None => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn closed(world: &TestWorld) -> Vec<ListedRoute> {
    let all = listed(world.gateway.clone(), options(world));
    assert!(all.len() > 40, "the table has all routes");
    all.into_iter()
        .filter(|listed| listed.access != Access::Open)
        .collect()
}

#[tokio::test]
async fn every_route_refuses_who_is_not_signed_in() {
    let world = TestWorld::open().await;
    let other = TestWorld::open().await;
    let owner = world.member(Role::Owner, true).await;
    let stranger = other.member(Role::Owner, true).await;
    let gone = world.member(Role::Owner, true).await;
    world
        .identity()
        .sign_out(
            Some(gone.jwt.expose()),
            None,
            &toolgate_gateway::testing::browser(),
        )
        .await
        .unwrap();
    let tampered = {
        let mut text = owner.jwt.expose().to_owned();
        let last = if text.pop() == Some('A') { 'B' } else { 'A' };
        text.insert(text.len() - 3, last);
        format!("{SESSION_COOKIE}={text}")
    };
    let refresh = owner.refresh.as_ref().unwrap().expose();
    let key = world.key(toolgate_gateway::Scope::ALL).await;
    for listed in closed(&world) {
        for cookie in [
            String::new(),
            format!("{SESSION_COOKIE}="),
            tampered.clone(),
            format!("{SESSION_COOKIE}={}", stranger.jwt.expose()),
            format!("{SESSION_COOKIE}={}", gone.jwt.expose()),
            format!("{REFRESH_COOKIE}={refresh}"),
            format!("{SESSION_COOKIE}={refresh}"),
            format!("{SESSION_COOKIE}={key}"),
        ] {
            let ask = BrowserRequest::with(&cookie);
            ask.refused(&world, &listed, 401, "sign_in_required").await;
        }
    }
    world.clock.advance_ms(JWT_LIFE_MS);
    for listed in closed(&world) {
        let expired = BrowserRequest::new(&owner);
        expired
            .refused(&world, &listed, 401, "sign_in_required")
            .await;
    }
}

#[tokio::test]
async fn every_change_refuses_what_another_site_may_have_sent() {
    let world = TestWorld::open().await;
    let owner = world.member(Role::Owner, true).await;
    let all = listed(world.gateway.clone(), options(&world));
    for listed in all.into_iter().filter(|listed| listed.method != "GET") {
        let ask = BrowserRequest::new(&owner);
        for forged in [
            BrowserRequest {
                header: false,
                ..ask.clone()
            },
            BrowserRequest {
                origin: None,
                ..ask.clone()
            },
            BrowserRequest {
                origin: Some("https://evil.example.com"),
                ..ask.clone()
            },
            BrowserRequest {
                origin: Some("null"),
                ..ask
            },
        ] {
            forged.refused(&world, &listed, 403, "cross_site").await;
        }
    }
}

#[tokio::test]
async fn every_route_refuses_a_role_that_is_too_small() {
    let world = TestWorld::open().await;
    // The first workspace that was ever made runs the installation.
    let (member, admin) = (
        world.member(Role::Member, true).await,
        world.member(Role::Admin, true).await,
    );
    let tenant = world.member(Role::Owner, false).await;
    let mut walked = [0; 3];
    for listed in closed(&world) {
        match listed.access {
            Access::Open | Access::Least(Role::Member) => {}
            Access::Least(Role::Admin) => {
                walked[0] += 1;
                let ask = BrowserRequest::new(&member);
                ask.refused(&world, &listed, 403, "role_denied").await;
            }
            Access::Least(Role::Owner) => {
                walked[1] += 1;
                for who in [&member, &admin] {
                    let ask = BrowserRequest::new(who);
                    ask.refused(&world, &listed, 403, "role_denied").await;
                }
            }
            Access::Operator => {
                walked[2] += 1;
                for who in [&member, &tenant] {
                    let ask = BrowserRequest::new(who);
                    ask.refused(&world, &listed, 403, "role_denied").await;
                }
            }
        }
    }
    assert!(walked[0] > 3 && walked[1] > 0, "{walked:?}");
}

#[tokio::test]
async fn a_member_reaches_the_public_routes_with_the_cookie_and_for_themselves_alone() {
    let world = TestWorld::open().await;
    let member = world.member(Role::Member, true).await;
    let admin = world.member(Role::Admin, true).await;
    let (ask, as_admin) = (BrowserRequest::new(&member), BrowserRequest::new(&admin));
    let own = &member.me.user_id;
    for (who, method, path, status, code) in [
        (&ask, "GET", "/internal/tools/search?query=issue", 200, ""),
        (&ask, "GET", "/internal/status", 200, ""),
        (&ask, "GET", "/internal/skills", 200, ""),
        (&ask, "GET", "/internal/approvals", 200, ""),
        (&ask, "GET", "/internal/executions", 200, ""),
        (
            &ask,
            "GET",
            "/internal/executions?user_id=eve",
            403,
            "permission_denied",
        ),
        (
            &ask,
            "GET",
            "/internal/sessions?user_id=eve",
            403,
            "permission_denied",
        ),
        (
            &ask,
            "GET",
            "/internal/connections?user_id=eve",
            403,
            "permission_denied",
        ),
        (
            &ask,
            "GET",
            "/internal/tools/search?query=issue&user_id=eve",
            403,
            "permission_denied",
        ),
        (
            &ask,
            "GET",
            "/internal/permissions/users/eve",
            403,
            "permission_denied",
        ),
        (
            &ask,
            "PATCH",
            "/internal/permissions/users/eve/batch",
            403,
            "role_denied",
        ),
        (
            &as_admin,
            "GET",
            "/internal/executions?user_id=eve",
            200,
            "",
        ),
        (
            &as_admin,
            "PATCH",
            "/internal/permissions/users/eve/batch",
            200,
            "",
        ),
        (&ask, "GET", "/internal/nowhere", 404, ""),
    ] {
        let (parts, body) = who.send(&world, method, path).await;
        assert_eq!(parts.status.as_u16(), status, "{method} {path}: {body}");
        if !code.is_empty() {
            assert_eq!(body["error"]["code"], code, "{method} {path}");
        }
    }
    let path = format!("/internal/permissions/users/{own}");
    let (parts, body) = ask.send(&world, "GET", &path).await;
    assert_eq!(parts.status, 200, "{body}");
    assert_eq!(parts.headers["cache-control"], "no-store");
    assert_eq!(
        parts.headers["x-request-id"],
        body["meta"]["request_id"].as_str().unwrap()
    );
}

#[tokio::test]
async fn only_an_owner_changes_what_holds_for_the_whole_workspace() {
    let world = TestWorld::open().await;
    let admin = BrowserRequest::new(&world.member(Role::Admin, true).await);
    let owner = BrowserRequest::new(&world.member(Role::Owner, true).await);
    for (path, change) in [
        (
            "/internal/permissions/default",
            json!({"default": "by_effect"}),
        ),
        (
            "/internal/workspace",
            json!({"default_permission": "allow"}),
        ),
    ] {
        let (parts, body) = admin.body(change.clone()).send(&world, "PATCH", path).await;
        let told = (parts.status.as_u16(), &body["error"]["code"]);
        assert_eq!(told, (403, &json!("role_denied")), "{path}: {body}");
        let (parts, body) = owner.body(change).send(&world, "PATCH", path).await;
        assert_eq!(parts.status, 200, "{path}: {body}");
    }
}

#[tokio::test]
async fn live_updates_end_with_the_sign_in_and_say_nothing_of_it_when_the_gateway_stops() {
    let world = TestWorld::open().await;
    for stops in [false, true] {
        let ask = BrowserRequest::new(&world.member(Role::Member, true).await);
        let (parts, body) = ask.open(&world, "GET", "/internal/live").await;
        assert_eq!(parts.status, 200);
        if stops {
            world.stopping().cancel();
        } else {
            let (parts, body) = ask.send(&world, "POST", "/internal/sign-out").await;
            assert_eq!(parts.status, 200, "{body}");
        }
        let told = axum::body::to_bytes(body, 1 << 22).await.unwrap();
        let told = String::from_utf8_lossy(&told);
        assert!(told.contains("event: ready"), "{told}");
        assert_eq!(told.contains("event: signed_out"), !stops, "{told}");
    }
}

#[tokio::test]
async fn every_tool_of_a_service_is_named_also_where_it_is_denied() {
    let world = TestWorld::open().await;
    let member = BrowserRequest::new(&world.member(Role::Member, true).await);
    let admin = BrowserRequest::new(&world.member(Role::Admin, true).await);
    let (_, me) = member.send(&world, "GET", "/internal/me").await;
    let user = me["data"]["user_id"].as_str().unwrap();
    let path = format!("/internal/permissions/users/{user}/services/github");
    let deny = admin.body(json!({"permission": "deny"}));
    let (parts, body) = deny.send(&world, "PATCH", &path).await;
    assert_eq!(parts.status, 200, "{body}");
    let listed = "/internal/tools/list?service=github";
    let (_, body) = member.send(&world, "GET", listed).await;
    assert_eq!(body["data"]["tools"], json!([]), "{body}");
    let all = "/internal/services/github/tools";
    let (parts, body) = member.send(&world, "GET", all).await;
    assert_eq!(parts.status, 200, "{body}");
    let tools = body["data"]["tools"].as_array().unwrap();
    assert!(tools.len() > 1, "{body}");
    for tool in tools {
        assert_eq!(tool["service"], "github", "{tool}");
    }
    let (parts, body) = member
        .send(&world, "GET", "/internal/services/x/tools")
        .await;
    assert_eq!(
        (parts.status.as_u16(), &body["error"]["code"]),
        (404, &json!("service_not_found"))
    );
}
