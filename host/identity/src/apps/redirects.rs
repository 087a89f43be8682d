//! Where the answer to an authorization request may go: rules over texts, without any decoding, so
//! that no two readers of an address can disagree about it.

use super::schemes;
use toolgate_core::visible::is_hidden;
use url::form_urlencoded;

/// Longest redirect address.
pub const REDIRECT_BYTES_MAX: usize = 1_000;

/// Names that stay on the person's own computer (RFC 8252, section 7.3; MCP clients use `localhost`).
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// Where a person ends up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A web site, by host and port.
    Site(String),
    /// A program that listens on the person's computer.
    Loopback,
    /// An installed program, by its scheme.
    Program(String),
}

/// Where a redirect address leads. `None`: no client may have it.
pub fn destination(uri: &str) -> Option<Destination> {
    let plain = uri.len() <= REDIRECT_BYTES_MAX
        && uri.is_ascii()
        && !uri
            .chars()
            .any(|c| is_hidden(c) || matches!(c, ' ' | '\\' | '#' | '<' | '>' | '"'));
    let (scheme, rest) = uri.split_once(':').filter(|_| plain)?;
    if scheme == "https" {
        let host = authority(rest)?;
        return Some(Destination::Site(host.to_owned()));
    }
    if scheme == "http" {
        return loopback(uri).map(|_| Destination::Loopback);
    }
    let leads = rest.starts_with('/') && rest.len() > 1;
    (schemes::is_of_program(scheme) && leads).then(|| Destination::Program(scheme.to_owned()))
}

/// Host and port of what follows `https:`.
fn authority(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix("//")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let fits = !authority.is_empty()
        && authority
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':'))
        && authority
            .split_once(':')
            .is_none_or(|(host, port)| !host.is_empty() && is_port(port));
    fits.then_some(authority)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// The parts of a loopback address that a match compares: its name, and all after the port.
fn loopback(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.strip_prefix("http://")?;
    let name = LOOPBACK.into_iter().find(|name| rest.starts_with(name))?;
    let rest = &rest[name.len()..];
    let Some(rest) = rest.strip_prefix(':') else {
        let ends = rest.is_empty() || rest.starts_with(['/', '?']);
        return ends.then_some((name, rest));
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    is_port(&rest[..end]).then_some((name, &rest[end..]))
}

/// Whether an address is one of those that a client has named. A loopback address may have another
/// port, since a program takes the one that is free (RFC 8252, section 7.3); nothing else may differ.
pub fn is_registered(uri: &str, registered: &[String]) -> bool {
    destination(uri).is_some()
        && registered.iter().any(|one| {
            one == uri
                || matches!((loopback(uri), loopback(one)), (Some(asked), Some(known)) if asked == known)
        })
}

/// The redirect address with the answer in its query.
pub(super) fn with_answer(uri: &str, answer: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in answer {
        query.append_pair(name, value);
    }
    let joint = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{joint}{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_goes_to_https_to_this_computer_or_to_a_program() {
        let site = |host: &str| Some(Destination::Site(host.to_owned()));
        let program = |scheme: &str| Some(Destination::Program(scheme.to_owned()));
        for (uri, expected) in [
            ("https://claude.ai/api/mcp/auth_callback", site("claude.ai")),
            ("https://app.example:8443/cb?x=y", site("app.example:8443")),
            ("http://127.0.0.1/cb", Some(Destination::Loopback)),
            ("http://127.0.0.1:33418/", Some(Destination::Loopback)),
            ("http://[::1]:8080/cb", Some(Destination::Loopback)),
            ("http://localhost:1/cb?a=b", Some(Destination::Loopback)),
            (
                "cursor://anysphere.cursor-mcp/oauth/callback",
                program("cursor"),
            ),
            ("com.example.app:/oauth", program("com.example.app")),
            ("warp://mcp/oauth2callback", program("warp")),
            ("kiro://kiro.oauth/callback", program("kiro")),
            ("vscode://vscode.mcp/oauth", program("vscode")),
            (
                "com.raycast:/oauth?package_name=mcp",
                program("com.raycast"),
            ),
            ("warp:mcp/oauth2callback", None),
            ("warp:", None),
            ("warp:/", None),
            ("WARP://mcp/oauth2callback", None),
            ("blob:https://app.example/1", None),
            ("about:blank", None),
            ("intent://scan/#Intent;scheme=x;end", None),
            ("intent://scan/x", None),
            ("view-source:https://app.example", None),
            ("mailto:/x", None),
            ("ftp://app.example/cb", None),
            ("ws://127.0.0.1/cb", None),
            ("http://app.example/cb", None),
            ("http://127.0.0.1.evil.test/cb", None),
            ("http://localhost.evil.test/cb", None),
            ("http://localhost@evil.test/cb", None),
            ("http://127.0.0.1:80@evil.test/cb", None),
            ("http://127.0.0.1:0/cb", None),
            ("http://127.0.0.1:99999/cb", None),
            ("http://127.0.0.1:/cb", None),
            ("http://127.1/cb", None),
            ("http://2130706433/cb", None),
            ("https://user@app.example/cb", None),
            ("https://app.example\\@evil.test/cb", None),
            ("https://app.example/cb#fragment", None),
            ("https://", None),
            ("https:app.example/cb", None),
            ("https:///cb", None),
            ("HTTPS://app.example/cb", None),
            ("javascript:alert(1)", None),
            ("javascript://app.example/%0aalert(1)", None),
            ("data:text/html,x", None),
            ("file:///etc/passwd", None),
            ("com.example.app:", None),
            ("x.:/cb", None),
            ("https://app.example/c\u{200b}b", None),
            ("https://app.example/c b", None),
            ("//app.example/cb", None),
            ("", None),
        ] {
            assert_eq!(destination(uri), expected, "{uri}");
        }
        let long = format!("https://app.example/{}", "x".repeat(REDIRECT_BYTES_MAX));
        assert_eq!(destination(&long), None);
    }

    #[test]
    fn only_the_port_of_a_loopback_address_may_differ() {
        let registered = [
            "http://127.0.0.1:1000/cb?a=b",
            "http://localhost/cb",
            "https://app.example/cb",
        ]
        .map(String::from);
        for (uri, expected) in [
            ("http://127.0.0.1:1000/cb?a=b", true),
            ("http://127.0.0.1:2000/cb?a=b", true),
            ("http://127.0.0.1/cb?a=b", true),
            ("http://localhost:5/cb", true),
            ("https://app.example/cb", true),
            ("http://127.0.0.1:1000/cb", false),
            ("http://127.0.0.1:1000/other?a=b", false),
            ("http://127.0.0.1:1000/cb/", false),
            ("http://[::1]:1000/cb?a=b", false),
            ("http://localhost:1000/cb?a=b", false),
            ("http://localhost:x/cb", false),
            ("http://localhost:5@evil.test/cb", false),
            ("https://localhost/cb", false),
            ("https://app.example:444/cb", false),
            ("https://app.example/cb/", false),
            ("https://app.example/cb?x=y", false),
            ("https://app.example.evil.test/cb", false),
            ("https://APP.example/cb", false),
            ("http://app.example/cb", false),
        ] {
            assert_eq!(is_registered(uri, &registered), expected, "{uri}");
        }
    }

    #[test]
    fn an_answer_is_added_to_the_query() {
        let answer = [("code", "a&b"), ("iss", "https://x.test/oauth")];
        assert_eq!(
            with_answer("https://app.example/cb", &answer),
            "https://app.example/cb?code=a%26b&iss=https%3A%2F%2Fx.test%2Foauth"
        );
        assert_eq!(
            with_answer("http://localhost:1/cb?a=b", &answer[..1]),
            "http://localhost:1/cb?a=b&code=a%26b"
        );
    }
}
