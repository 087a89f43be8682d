//! The two cookies of a sign-in. Script reads neither (`HttpOnly`), no other site's page has them
//! sent (`SameSite=Strict`, RFC 6265bis), and nothing but this edge gets them (`Path`).

use http::HeaderMap;

use toolgate_gateway::identity::members::attempts::DEVICE_LIFE_MS;
use toolgate_gateway::identity::members::enter::JWT_LIFE_MS;
use toolgate_gateway::identity::members::oidc::FLOW_LIFE_MS;
use toolgate_gateway::identity::members::sign_in::{LIFE_MS, SignedIn};
use toolgate_http_kit::cookies::{self, NewCookie};
use toolgate_vault::Secret;

/// Holds the JWT.
pub const SESSION_COOKIE: &str = "toolgate_session";
/// Holds the refresh token.
pub const REFRESH_COOKIE: &str = "toolgate_refresh";
/// Holds a sign-in on its way to an OpenID Connect provider and back.
pub(super) const FLOW_COOKIE: &str = "toolgate_oidc";
/// By which a browser is known that has signed in before. Sent where that matters alone.
pub(super) const DEVICE_COOKIE: &str = "toolgate_device";
const DEVICE_PATH: &str = "/internal/sign-in";
/// Holds an account of a provider that has to say which workspace it signs in to.
pub(super) const CHOICE_COOKIE: &str = "toolgate_oidc_choice";
const OIDC_PATH: &str = "/internal/oidc";
/// The only path that is sent them.
const PATH: &str = "/internal";

/// A cookie's name as it is on the wire: where there is https, its prefix keeps a page that was not
/// from setting it (RFC 6265bis, section 4.1.3).
fn name(name: &str, secure: bool) -> String {
    let prefix = if secure { "__Secure-" } else { "" };
    format!("{prefix}{name}")
}

/// The value of a cookie; `None` where it is given twice with two values.
pub(super) fn read(headers: &HeaderMap, cookie: &str, secure: bool) -> Option<String> {
    cookies::get(headers, &name(cookie, secure))
}

/// Gives the browser what a sign-in consists of.
pub(super) fn set(headers: &mut HeaderMap, signed_in: &SignedIn, secure: bool) {
    let jwt = signed_in.jwt.expose();
    put(headers, SESSION_COOKIE, jwt, JWT_LIFE_MS / 1_000, secure);
    if let Some(refresh) = &signed_in.refresh {
        let life_s = LIFE_MS / 1_000;
        put(headers, REFRESH_COOKIE, refresh.expose(), life_s, secure);
    }
    if let Some(device) = &signed_in.device {
        let (value, life_s) = (device.expose(), DEVICE_LIFE_MS / 1_000);
        put_at(headers, DEVICE_COOKIE, DEVICE_PATH, value, life_s, secure);
    }
}

pub(super) fn set_choice(headers: &mut HeaderMap, choice: &Secret, secure: bool) {
    let (value, life_s) = (choice.expose(), FLOW_LIFE_MS / 1_000);
    put_at(headers, CHOICE_COOKIE, OIDC_PATH, value, life_s, secure);
}

pub(super) fn clear_choice(headers: &mut HeaderMap, secure: bool) {
    put_at(headers, CHOICE_COOKIE, OIDC_PATH, "", 0, secure);
}

/// Takes both away.
pub(super) fn clear(headers: &mut HeaderMap, secure: bool) {
    put(headers, SESSION_COOKIE, "", 0, secure);
    put(headers, REFRESH_COOKIE, "", 0, secure);
}

/// `SameSite=Lax`, so that it comes back with the provider's redirect and with nothing else from
/// elsewhere.
pub(super) fn set_flow(headers: &mut HeaderMap, flow: &Secret, secure: bool) {
    put_flow(headers, flow.expose(), FLOW_LIFE_MS / 1_000, secure);
}

pub(super) fn clear_flow(headers: &mut HeaderMap, secure: bool) {
    put_flow(headers, "", 0, secure);
}

fn put_flow(headers: &mut HeaderMap, value: &str, life_s: i64, secure: bool) {
    let flow = NewCookie {
        name: &name(FLOW_COOKIE, secure),
        value,
        path: OIDC_PATH,
        life_s,
        comes_with_redirects: true,
        secure,
    };
    cookies::set(headers, flow);
}

fn put(headers: &mut HeaderMap, cookie: &str, value: &str, life_s: i64, secure: bool) {
    put_at(headers, cookie, PATH, value, life_s, secure);
}

fn put_at(
    headers: &mut HeaderMap,
    cookie: &str,
    path: &str,
    value: &str,
    life_s: i64,
    secure: bool,
) {
    let strict = NewCookie {
        name: &name(cookie, secure),
        value,
        path,
        life_s,
        comes_with_redirects: false,
        secure,
    };
    cookies::set(headers, strict);
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderValue, header};

    #[test]
    fn over_https_only_the_cookie_with_the_prefix_is_read() {
        for (secure, expected) in [(false, "a"), (true, "b")] {
            let mut headers = HeaderMap::new();
            let both = "toolgate_session=a; __Secure-toolgate_session=b";
            headers.append(header::COOKIE, HeaderValue::from_static(both));
            let read = read(&headers, SESSION_COOKIE, secure);
            assert_eq!(read.as_deref(), Some(expected));
        }
    }

    #[test]
    fn over_https_a_cookie_is_secure_by_name_and_attribute() {
        let mut headers = HeaderMap::new();
        clear(&mut headers, true);
        let texts: Vec<&str> = headers
            .get_all(header::SET_COOKIE)
            .iter()
            .map(|value| value.to_str().unwrap())
            .collect();
        assert_eq!(
            texts,
            [
                "__Secure-toolgate_session=; HttpOnly; SameSite=Strict; Secure; Path=/internal; Max-Age=0",
                "__Secure-toolgate_refresh=; HttpOnly; SameSite=Strict; Secure; Path=/internal; Max-Age=0",
            ]
        );
    }
}
