//! `--allow-upstream HOST=URL`: what is meant for a host goes to another address.
//!
//! Pure. Policy, audience and receipt speak of the host that was meant; only the dialling, and so
//! the `Host` header, is that of the address given here, private or not. For tests and for servers
//! of one's own.

use url::Url;

use super::grant::{GrantError, Origin};

/// One mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowUpstream {
    meant: Origin,
    base: Url,
}

/// Why a mapping cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllowUpstreamError {
    #[error("`{0}` is not HOST=URL")]
    Shape(String),
    #[error("`{0}` is not a host name, with a port where it is not 443")]
    Host(String),
    #[error(
        "the address of an allowed upstream is an http or https URL without user, query and fragment"
    )]
    Url(#[source] Option<GrantError>),
}

impl AllowUpstream {
    /// Reads `api.example.com=http://127.0.0.1:4010` or `.../base/path`.
    pub fn parse(text: &str) -> Result<Self, AllowUpstreamError> {
        let (host, base) = text
            .split_once('=')
            .ok_or_else(|| AllowUpstreamError::Shape(text.to_owned()))?;
        let bad_host = || AllowUpstreamError::Host(host.to_owned());
        let meant = Origin::parse(&format!("https://{host}")).map_err(|_| bad_host())?;
        if host.contains(['/', '?', '#', '@', '\\']) {
            return Err(bad_host());
        }
        Origin::parse(base).map_err(|error| AllowUpstreamError::Url(Some(error)))?;
        let base = Url::parse(base).map_err(|_| AllowUpstreamError::Url(None))?;
        if base.query().is_some() || base.fragment().is_some() {
            return Err(AllowUpstreamError::Url(None));
        }
        Ok(Self { meant, base })
    }

    pub fn is_for(&self, origin: &Origin) -> bool {
        self.meant == *origin
    }

    /// The address to dial for `url`: path behind the base's own, query kept.
    pub fn rewrite(&self, url: &Url) -> Url {
        let mut wire = self.base.clone();
        wire.set_path(&format!(
            "{}{}",
            self.base.path().trim_end_matches('/'),
            url.path()
        ));
        wire.set_query(url.query());
        wire
    }

    /// The URL that a redirect of the upstream to itself means. Others stay as they are.
    pub fn restore(&self, location: Url) -> Url {
        if Origin::from_url(&location) != Origin::from_url(&self.base) {
            return location;
        }
        let base = self.base.path().trim_end_matches('/');
        let path = location
            .path()
            .strip_prefix(base)
            .filter(|path| path.starts_with('/'));
        let meant = format!("{}{}", self.meant, path.unwrap_or_else(|| location.path()));
        match Url::parse(&meant) {
            Ok(mut url) => {
                url.set_query(location.query());
                url
            }
            Err(_) => location,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_host_equals_url() {
        for good in [
            "api.example.com=http://127.0.0.1:4010",
            "api.example.com=https://ghe.corp.test/api/v3/",
            "api.example.com:8443=http://10.0.0.1",
        ] {
            assert!(AllowUpstream::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "api.example.com",
            "=http://127.0.0.1",
            "a b=http://127.0.0.1",
            "https://a=http://b",
            "a/b=http://127.0.0.1",
            "a@b=http://127.0.0.1",
            "a=127.0.0.1:80",
            "a=ftp://b",
            "a=http://u@b",
            "a=http://b?q",
            "a=http://b#f",
        ] {
            assert!(AllowUpstream::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn path_and_query_are_kept_both_ways() {
        for (base, meant, wire) in [
            (
                "http://127.0.0.1:4010",
                "https://api.example.com/a/b?c=d",
                "http://127.0.0.1:4010/a/b?c=d",
            ),
            (
                "http://127.0.0.1:4010/",
                "https://api.example.com/",
                "http://127.0.0.1:4010/",
            ),
            (
                "https://ghe.test/api/v3",
                "https://api.example.com/user?x",
                "https://ghe.test/api/v3/user?x",
            ),
            (
                "https://ghe.test/api/v3/",
                "https://api.example.com/user",
                "https://ghe.test/api/v3/user",
            ),
        ] {
            let mapping =
                AllowUpstream::parse(&format!("api.example.com={base}")).expect("a mapping");
            let meant = Url::parse(meant).expect("a URL");
            let wire = Url::parse(wire).expect("a URL");
            assert_eq!(mapping.rewrite(&meant), wire);
            assert_eq!(mapping.restore(wire), meant);
            let other = Url::parse("http://169.254.169.254/latest").expect("a URL");
            assert_eq!(mapping.restore(other.clone()), other);
        }
    }

    #[test]
    fn a_mapping_is_for_its_host_and_port_alone() {
        let mapping =
            AllowUpstream::parse("api.example.com=http://127.0.0.1:4010").expect("a mapping");
        for (origin, expected) in [
            ("https://api.example.com", true),
            ("https://api.example.com:8443", false),
            ("https://example.com", false),
            ("http://api.example.com", false),
        ] {
            assert_eq!(
                mapping.is_for(&Origin::parse(origin).expect("an origin")),
                expected,
                "{origin}"
            );
        }
    }
}
