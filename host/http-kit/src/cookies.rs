//! The cookies of the edges: no script reads one (`HttpOnly`), and a value that is given twice counts for nothing.

use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use http::{HeaderMap, HeaderValue, header};

/// A cookie that a browser is to keep.
#[derive(Clone, Copy, Debug)]
pub struct NewCookie<'a> {
    pub name: &'a str,
    pub value: &'a str,
    /// The only path that is sent it.
    pub path: &'a str,
    /// 0 takes it away.
    pub life_s: i64,
    /// Whether it comes back with a redirect from another site (`SameSite=Lax`), or with nothing from elsewhere.
    pub comes_with_redirects: bool,
    /// Whether it goes over https alone.
    pub secure: bool,
}

/// Has the browser keep a cookie.
pub fn set(headers: &mut HeaderMap, new: NewCookie<'_>) {
    let same_site = if new.comes_with_redirects {
        SameSite::Lax
    } else {
        SameSite::Strict
    };
    let cookie = Cookie::build((new.name, new.value))
        .path(new.path)
        .http_only(true)
        .same_site(same_site)
        .max_age(Duration::seconds(new.life_s))
        .secure(new.secure);
    if let Ok(mut value) = HeaderValue::from_str(&cookie.to_string()) {
        value.set_sensitive(true);
        headers.append(header::SET_COOKIE, value);
    }
}

/// The value of a cookie; `None` where it is given twice with two values.
pub fn get(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|header| header.to_str().ok())
        .flat_map(Cookie::split_parse)
        .filter_map(Result::ok)
        .filter(|cookie| cookie.name() == name)
        .map(|cookie| cookie.value().to_owned());
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_by_its_whole_name_and_not_where_it_is_given_twice_differently() {
        for (cookies, expected) in [
            (&["session=a; x=y"][..], Some("a")),
            (&["x=y", "session=a"], Some("a")),
            (&["x=y;session=a"], Some("a")),
            (&["session=a; session=a"], Some("a")),
            (&["session=a%20b"], Some("a%20b")),
            (&["session=a", "session=b"], None),
            (&["session=a; session=b"], None),
            (&["__Secure-session=a", "a_session=a", "sessio=a"], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for cookie in cookies {
                headers.append(header::COOKIE, HeaderValue::from_static(cookie));
            }
            let value = get(&headers, "session");
            assert_eq!(value.as_deref(), expected, "{cookies:?}");
        }
    }

    #[test]
    fn a_cookie_is_written_with_all_that_guards_it() {
        let mut headers = HeaderMap::new();
        let new = NewCookie {
            name: "__Host-flow",
            value: "abc-_.",
            path: "/",
            life_s: 600,
            comes_with_redirects: true,
            secure: true,
        };
        set(&mut headers, new);
        let strict = NewCookie {
            name: "session",
            value: "",
            path: "/internal",
            life_s: 0,
            comes_with_redirects: false,
            secure: false,
        };
        set(&mut headers, strict);
        let written: Vec<&HeaderValue> = headers.get_all(header::SET_COOKIE).iter().collect();
        assert_eq!(
            written,
            [
                "__Host-flow=abc-_.; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=600",
                "session=; HttpOnly; SameSite=Strict; Path=/internal; Max-Age=0",
            ]
        );
        assert!(written.iter().all(|value| value.is_sensitive()));
    }
}
