//! Which address a client asks tokens for (RFC 8707), and under which addresses clients know this gateway.
//!
//! Clients write one address in several ways. Those that RFC 3986, section 6.2, calls the same are the same here,
//! as is our bare origin, which is the main address. Every other text is refused.

use super::params::OAuthParams;
use super::refusal::{AppProblem, RefusalCode, refused};
use super::{MCP_PATH, origin_and_path, toolset_of};
use toolgate_core::visible::visible_line;

/// Names of this computer. With the same port they are the same listener.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// What a refusal shows of an address.
const SHOWN_CHARS_MAX: usize = 200;

/// Scheme, host and port, each in the one form in which they are compared.
#[derive(Debug, PartialEq, Eq)]
struct ListeningOrigin {
    scheme: String,
    host: String,
    port: u16,
}

impl ListeningOrigin {
    /// `None`: the text is not the origin of a web address.
    fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let usual = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let authority = authority.to_ascii_lowercase();
        let plain =
            |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b':' | b'[' | b']');
        if !authority.bytes().all(plain) {
            return None;
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
            _ => (authority.as_str(), usual),
        };
        let host = host.to_owned();
        (!host.is_empty()).then_some(Self { scheme, host, port })
    }

    fn is_loopback(&self) -> bool {
        LOOPBACK.contains(&self.host.as_str())
    }

    fn is_same(&self, other: &Self) -> bool {
        let same_host = self.host == other.host || (self.is_loopback() && other.is_loopback());
        self.scheme == other.scheme && self.port == other.port && same_host
    }
}

/// The address of ours that `text` names, as we write it; `main` is the main MCP endpoint's.
fn canonical(text: &str, main: &str) -> Option<String> {
    let (origin, path) = origin_and_path(text);
    let (own_origin, own_path) = origin_and_path(main);
    if !ListeningOrigin::parse(origin)?.is_same(&ListeningOrigin::parse(own_origin)?) {
        return None;
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    let base = own_path.strip_suffix(MCP_PATH).unwrap_or_default();
    if path.is_empty() || path == base || path == own_path {
        return Some(main.to_owned());
    }
    let named = format!("{own_origin}{path}");
    toolset_of(&named, main).is_some().then_some(named)
}

/// The address that a request asks tokens for. One that names none means `otherwise`, or the main address: that is
/// what the challenge of the main address names.
///
/// # Errors
/// `invalid_target`, which names the address that is wrong and the one that is right.
pub(super) fn requested(
    params: &OAuthParams,
    main: &str,
    otherwise: Option<&str>,
) -> Result<String, AppProblem> {
    let usual = otherwise.unwrap_or(main);
    let Some(text) = params.get("resource") else {
        return Ok(usual.to_owned());
    };
    let found = canonical(text, main).filter(|found| otherwise.is_none_or(|one| one == found));
    found.ok_or_else(|| {
        let start: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        let sentence = format!(
            "resource names {}, which is not the address that tokens are issued for here: use {usual}",
            visible_line(&start)
        );
        refused(RefusalCode::InvalidTarget, sentence)
    })
}

/// The public address as a client sees it that has sent its request to `host`: a gateway on this computer answers
/// under each name of it, and clients compare what metadata says with the address that they were given.
pub(super) fn seen_at(public_url: &str, host: Option<&str>) -> String {
    let as_it_is = || public_url.to_owned();
    let (origin, path) = origin_and_path(public_url);
    let Some(own) = ListeningOrigin::parse(origin).filter(ListeningOrigin::is_loopback) else {
        return as_it_is();
    };
    let asked = host.and_then(|host| ListeningOrigin::parse(&format!("{}://{host}", own.scheme)));
    match asked {
        Some(asked) if asked.is_same(&own) => match origin.rsplit_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => {
                format!("{}://{}:{port}{path}", own.scheme, asked.host)
            }
            _ => format!("{}://{}{path}", own.scheme, asked.host),
        },
        _ => as_it_is(),
    }
}

/// The public address by each of its names.
pub(super) fn names_of(public_url: &str) -> Vec<String> {
    let (origin, _) = origin_and_path(public_url);
    let mut names = vec![public_url.to_owned()];
    if let Some(own) = ListeningOrigin::parse(origin).filter(ListeningOrigin::is_loopback) {
        let others =
            LOOPBACK.map(|name| seen_at(public_url, Some(&format!("{name}:{}", own.port))));
        names.extend(others.into_iter().filter(|other| other != public_url));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_is_written_in_several_ways() {
        let main = "https://gate.example/mcp";
        let toolset = "https://gate.example/mcp/t/desk";
        for (text, expected) in [
            ("https://gate.example/mcp", Some(main)),
            ("https://gate.example/mcp/", Some(main)),
            ("https://gate.example", Some(main)),
            ("https://gate.example/", Some(main)),
            ("HTTPS://GATE.Example/mcp", Some(main)),
            ("https://gate.example:443/mcp", Some(main)),
            ("https://gate.example/mcp/t/desk", Some(toolset)),
            ("Https://Gate.example/mcp/t/desk/", Some(toolset)),
            ("https://gate.example/MCP", None),
            ("https://gate.example/mcp//", None),
            ("https://gate.example//", None),
            ("https://gate.example/mcp/key", None),
            ("https://gate.example/mcp/t", None),
            ("https://gate.example/mcp/t/Desk", None),
            ("https://gate.example/mcp/t/a/b", None),
            ("https://gate.example/mcp/t/../key", None),
            ("https://gate.example/t/desk", None),
            ("https://gate.example/mcp?x=y", None),
            ("https://gate.example?x=y", None),
            ("https://gate.example/mcp#x", None),
            ("https://gate.example#x", None),
            ("https://gate.example:8443/mcp", None),
            ("https://gate.example:/mcp", None),
            ("http://gate.example/mcp", None),
            ("https://gate.example.evil.test/mcp", None),
            ("https://gate.example@evil.test/mcp", None),
            ("https://user@gate.example/mcp", None),
            ("https://gate.example\\@evil.test/mcp", None),
            ("https://gate.example./mcp", None),
            ("https://evil.test/mcp", None),
            ("gate.example/mcp", None),
            ("/mcp", None),
            ("", None),
        ] {
            assert_eq!(canonical(text, main).as_deref(), expected, "{text}");
        }
        let local = "http://127.0.0.1:8080/mcp";
        for (text, expected) in [
            ("http://localhost:8080/mcp", Some(local)),
            ("http://LOCALHOST:8080", Some(local)),
            ("http://[::1]:8080/mcp/", Some(local)),
            ("http://localhost:8081/mcp", None),
            ("http://localhost/mcp", None),
            ("https://localhost:8080/mcp", None),
            ("http://127.0.0.2:8080/mcp", None),
            ("http://localhost.evil.test:8080/mcp", None),
        ] {
            assert_eq!(canonical(text, local).as_deref(), expected, "{text}");
        }
        let below = "https://host.example/tools/mcp";
        for text in ["https://host.example", "https://host.example/tools/"] {
            assert_eq!(canonical(text, below).as_deref(), Some(below), "{text}");
        }
    }

    #[test]
    fn a_name_of_this_computer_is_repeated_and_no_other() {
        let local = "http://127.0.0.1:8080";
        for (public_url, host, expected) in [
            (local, Some("localhost:8080"), "http://localhost:8080"),
            (local, Some("LocalHost:8080"), "http://localhost:8080"),
            (local, Some("[::1]:8080"), "http://[::1]:8080"),
            (local, Some("127.0.0.1:8080"), local),
            (local, Some("localhost:8081"), local),
            (local, Some("localhost"), local),
            (local, Some("evil.test:8080"), local),
            (local, Some("localhost@evil.test:8080"), local),
            (local, Some("localhost:8080/x"), local),
            (local, Some(""), local),
            (local, None, local),
            ("http://localhost", Some("127.0.0.1"), "http://127.0.0.1"),
            ("http://localhost", Some("127.0.0.1:80"), "http://127.0.0.1"),
            (
                "https://gate.example",
                Some("localhost"),
                "https://gate.example",
            ),
            (
                "https://gate.example",
                Some("GATE.example"),
                "https://gate.example",
            ),
        ] {
            assert_eq!(seen_at(public_url, host), expected, "{public_url} {host:?}");
        }
    }

    #[test]
    fn a_gateway_on_this_computer_has_three_names() {
        assert_eq!(names_of("https://gate.example"), ["https://gate.example"]);
        assert_eq!(
            names_of("http://127.0.0.1:8080"),
            [
                "http://127.0.0.1:8080",
                "http://localhost:8080",
                "http://[::1]:8080"
            ]
        );
    }
}
