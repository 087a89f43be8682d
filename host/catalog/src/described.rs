//! The request of a tool that is built from a description: `request` of a tool.
//!
//! `POST https://api.example.com/v1/notes/{id}` names a method and an address, `{name}` in it one segment of the path or
//! a part of one, `{+name}` also more of them, and `{name}` in a host a part of a label. An address may begin with an
//! operator's setting in braces. Pure; egress asks [`DeclaredRequest::covers`] about each request that may change
//! something. Without regular expressions, because each such request is compared.

pub mod parts;

use std::collections::BTreeMap;

use url::{Position, Url};

use crate::manifest::DescribedRequest;

/// Longest `send`, in bytes.
pub const SEND_BYTES_MAX: usize = 2_048;
/// Longest entry of `with`, in bytes.
pub const WITH_BYTES_MAX: usize = 2_048;
/// Most entries of `with`.
pub const WITH_MAX: usize = 500;
/// Stands for a filled-in part while an address is read as a URL.
const HOLE: &str = "xholex";

/// An entry, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredRequest<'a> {
    pub method: &'a str,
    /// The host with its holes; absent behind a setting.
    pub host: Option<&'a str>,
    /// The setting that holds the base address.
    pub setting: Option<&'a str>,
    /// With its holes; behind a setting, what follows that one's path.
    pub path: &'a str,
}

impl<'a> DeclaredRequest<'a> {
    /// Reads an entry; the error is a sentence about it.
    pub fn parse(request: &'a DescribedRequest) -> Result<Self, &'static str> {
        let (method, address) = request
            .send
            .split_once(' ')
            .ok_or("it is a method and an address")?;
        if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
            return Err("its method is written in capitals");
        }
        if address.contains(['?', '#', '\\']) {
            return Err("its address has no query and no fragment");
        }
        if let Some(rest) = address.strip_prefix("https://") {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            return Ok(Self {
                method,
                host: Some(host),
                setting: None,
                path,
            });
        }
        let named = address
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'));
        let (setting, path) = named.ok_or("its address begins with `https://` or a setting")?;
        Ok(Self {
            method,
            host: None,
            setting: Some(setting),
            path,
        })
    }

    /// Whether something is filled in, beside the operator's setting.
    pub fn has_holes(&self) -> bool {
        self.path.contains('{') || self.host.is_some_and(|host| host.contains('{'))
    }

    /// Whether `method` and `url` are this request. `values`: settings and parameters of the call.
    pub fn covers(&self, method: &str, url: &Url, values: &BTreeMap<String, String>) -> bool {
        if method != self.method {
            return false;
        }
        let asked = url.path();
        let (written, prefix) = match (self.host, self.setting) {
            (Some(host), _) => {
                let labels = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
                let fits = url.host_str().is_some_and(|asked| {
                    let (own, asked) = (labels(&host.to_ascii_lowercase()), labels(asked));
                    own.len() == asked.len()
                        && own.iter().zip(&asked).all(|(own, asked)| fits(own, asked))
                });
                if url.scheme() != "https" || !fits {
                    return false;
                }
                (self.path, String::new())
            }
            (None, Some(setting)) => {
                let Some(base) = values.get(setting).and_then(|text| Url::parse(text).ok()) else {
                    return false;
                };
                if base[..Position::BeforePath] != url[..Position::BeforePath] {
                    return false;
                }
                (self.path, base.path().trim_end_matches('/').to_owned())
            }
            (None, None) => return false,
        };
        let Some(asked) = asked.strip_prefix(prefix.as_str()) else {
            return false;
        };
        path_fits(&normal(written), asked)
    }
}

/// A path template as a URL has it: `{name}` is a hole, everything else is percent-encoded as [`Url`] does it.
fn normal(template: &str) -> String {
    let (mut plain, mut rest) = (String::new(), template);
    let mut wide = Vec::new();
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else {
            break;
        };
        plain.push_str(before);
        plain.push_str(HOLE);
        wide.push(name.starts_with('+'));
        rest = after;
    }
    plain.push_str(rest);
    let Ok(url) = Url::parse(&format!("https://h{plain}")) else {
        return template.to_owned();
    };
    let mut written = String::new();
    let mut wide = wide.into_iter();
    for (index, piece) in url.path().split(HOLE).enumerate() {
        if index > 0 {
            let hole = if wide.next() == Some(true) {
                "{+}"
            } else {
                "{}"
            };
            written.push_str(hole);
        }
        written.push_str(piece);
    }
    written
}

/// A slash at the end is no other resource: servers redirect between the two.
fn path_fits(template: &str, asked: &str) -> bool {
    let (template, asked) = (
        template.trim_end_matches('/').trim_start_matches('/'),
        asked.trim_end_matches('/').trim_start_matches('/'),
    );
    if template.contains("{+}") {
        return fits(template, asked);
    }
    let (own, asked): (Vec<&str>, Vec<&str>) =
        (template.split('/').collect(), asked.split('/').collect());
    own.len() == asked.len() && own.iter().zip(asked).all(|(own, asked)| fits(own, asked))
}

/// Whether `text` is `template` with something in each hole.
fn fits(template: &str, text: &str) -> bool {
    let Some((first, behind)) = template.split_once('{') else {
        return template == text;
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut behind = behind;
    loop {
        let Some((_, after)) = behind.split_once('}') else {
            return false;
        };
        let Some((literal, next)) = after.split_once('{') else {
            // The last hole takes all that is left in front of the end.
            return rest.len() > after.len() && rest.ends_with(after);
        };
        // The first place of the literal behind at least one character.
        let from = rest.chars().next().map_or(0, char::len_utf8);
        let found = rest.get(from..).and_then(|later| later.find(literal));
        let Some(at) = found.filter(|_| from > 0) else {
            return false;
        };
        rest = &rest[from + at + literal.len()..];
        behind = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(send: &str, method: &str, url: &str) -> bool {
        let request = DescribedRequest {
            send: send.to_owned(),
            with: Vec::new(),
        };
        let values = BTreeMap::from([("api_base".to_owned(), "https://own.test/api/".to_owned())]);
        let url = Url::parse(url).expect("an address");
        DeclaredRequest::parse(&request).is_ok_and(|read| read.covers(method, &url, &values))
    }

    #[test]
    fn the_declared_request_is_the_only_one() {
        let send = "POST https://{site}.notes.io/v1/users/{id}/notes";
        for (method, url, expected) in [
            ("POST", "https://a.notes.io/v1/users/7/notes", true),
            ("POST", "https://a.notes.io/v1/users/7/notes/?x=1", true),
            ("POST", "https://a.notes.io/v1/users/a%2Fb/notes", true),
            ("DELETE", "https://a.notes.io/v1/users/7/notes", false),
            ("POST", "https://a.notes.io/v1/users/7", false),
            ("POST", "https://a.notes.io/v1/users/7/8/notes", false),
            ("POST", "https://a.notes.io/v1/users//notes", false),
            ("POST", "https://a.notes.io/v1/account/delete", false),
            ("POST", "https://a.b.notes.io/v1/users/7/notes", false),
            ("POST", "https://notes.io/v1/users/7/notes", false),
            ("POST", "http://a.notes.io/v1/users/7/notes", false),
        ] {
            assert_eq!(covers(send, method, url), expected, "{method} {url}");
        }
    }

    #[test]
    fn addresses_are_compared_as_urls() {
        for (send, url) in [
            (
                "PUT {api_base}/a/{id}.json",
                "https://own.test/api/a/7.json",
            ),
            ("PUT {api_base}", "https://own.test/api"),
            ("PUT https://h.test", "https://h.test/"),
            ("PUT https://h.test/a b/{x}", "https://h.test/a%20b/1"),
            ("PUT https://h.test/{+path}", "https://h.test/a/b/c"),
            ("PUT https://h.test/{a}-{b}/c", "https://h.test/1-2-3/c"),
            ("PUT https://h.test/x:{verb}", "https://h.test/x:do"),
        ] {
            assert!(covers(send, "PUT", url), "{send} {url}");
        }
        for (send, url) in [
            ("PUT {api_base}/a/{id}.json", "https://own.test/a/7.json"),
            (
                "PUT {api_base}/a/{id}.json",
                "https://other.test/api/a/7.json",
            ),
            ("PUT {other}/a", "https://own.test/api/a"),
            ("PUT https://h.test/{a}-{b}/c", "https://h.test/1-/c"),
            ("PUT https://h.test/a/{b}", "https://h.test/b/{b}"),
        ] {
            assert!(!covers(send, "PUT", url), "{send} {url}");
        }
    }
}
