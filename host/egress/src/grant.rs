//! What one plugin may reach: host patterns and exact origins.
//!
//! Pure. [`Grant`] is the intersection of manifest and operator, made once per plugin version and
//! workspace; [`super::policy`] asks it for every request and every redirect. Patterns are those of
//! [`toolgate_catalog::manifest::Manifest::hosts`]. Refuses patterns that could be filled or widened
//! into somebody else's host.

use std::collections::BTreeMap;
use std::fmt;

use url::{Host, Url};

/// Host names longer than this do not exist (RFC 1035, section 2.3.4).
pub const HOST_BYTES_MAX: usize = 253;
/// The longest label of a host name (RFC 1035, section 2.3.4).
pub const LABEL_BYTES_MAX: usize = 63;
/// A pattern with a wildcard or a parameter ends in at least this many literal labels.
const LITERAL_LABELS_MIN: usize = 2;

/// Hosts and origins that a plugin may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    hosts: Vec<HostPattern>,
    origins: Vec<Origin>,
}

/// Why a grant cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    #[error(
        "`{0}` is not a host pattern: lowercase labels, `{{parameter}}` or a leading `*.`, no port"
    )]
    HostPattern(String),
    #[error("`{0}` could match anybody's host: a pattern ends in at least two fixed labels")]
    TooWide(String),
    #[error("`{0}` is not an http or https origin")]
    Origin(String),
}

impl Grant {
    /// `hosts`: patterns of the manifest that the operator approved. `origins`: addresses that the
    /// operator named (`http://127.0.0.1:9090`, a path is ignored), granted as that exact origin,
    /// private or not.
    pub fn new(hosts: &[String], origins: &[String]) -> Result<Self, GrantError> {
        Ok(Self {
            hosts: hosts
                .iter()
                .map(|text| HostPattern::parse(text))
                .collect::<Result<_, _>>()?,
            origins: origins
                .iter()
                .map(|text| Origin::parse(text))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether some pattern, filled with the connection's parameters, is or covers `host`.
    pub fn names_host(&self, host: &str, parameters: &BTreeMap<String, String>) -> bool {
        self.hosts
            .iter()
            .any(|pattern| pattern.matches(host, parameters))
    }

    /// Whether the operator named exactly this origin.
    pub fn names_origin(&self, origin: &Origin) -> bool {
        self.origins.contains(origin)
    }
}

/// Scheme, host and port (RFC 6454), printed as `https://host` with the port where it is not the
/// scheme's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub scheme: String,
    pub host: String,
    pub port: u16,
}

impl Origin {
    /// The origin of an `http` or `https` URL without userinfo; everything after the host is ignored.
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        let refused = || GrantError::Origin(text.to_owned());
        let url = Url::parse(text).map_err(|_| refused())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused());
        }
        Self::from_url(&url).ok_or_else(refused)
    }

    /// None where the URL has another scheme or no host.
    pub fn from_url(url: &Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        Some(Self {
            scheme: url.scheme().to_owned(),
            host: url.host_str().filter(|host| !host.is_empty())?.to_owned(),
            port: url.port_or_known_default()?,
        })
    }

    pub fn has_default_port(&self) -> bool {
        self.port == if self.scheme == "https" { 443 } else { 80 }
    }

    /// Whether an entry of a slot's audience (`https://host`, the host may start with `*.`) holds
    /// this origin.
    pub fn is_in(&self, audience: &[String]) -> bool {
        audience
            .iter()
            .any(|entry| match entry.split_once("://*.") {
                Some((scheme, rest)) => {
                    scheme == self.scheme
                        && self.has_default_port()
                        && HostPattern::parse(&format!("*.{}", rest.trim_end_matches('/')))
                            .is_ok_and(|pattern| pattern.matches(&self.host, &BTreeMap::new()))
                }
                None => Self::parse(entry).is_ok_and(|origin| origin == *self),
            })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        if !self.has_default_port() {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

/// `api.example.com`, `{subdomain}.example.com` or `*.example.com`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HostPattern {
    wildcard: bool,
    /// Without the leading `*.`.
    template: String,
}

impl HostPattern {
    fn parse(text: &str) -> Result<Self, GrantError> {
        let refused = || GrantError::HostPattern(text.to_owned());
        let (wildcard, template) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let labels: Vec<&str> = template.split('.').collect();
        if !labels.iter().all(|label| is_label_pattern(label)) {
            return Err(refused());
        }
        let fixed = labels
            .iter()
            .rev()
            .take_while(|label| !label.contains('{'))
            .count();
        if (wildcard || fixed < labels.len()) && fixed < LITERAL_LABELS_MIN {
            return Err(GrantError::TooWide(text.to_owned()));
        }
        // A name that the URL parser reads as an IP address is not a host name.
        let sample = template.replace(['{', '}'], "");
        match Url::parse(&format!("https://{sample}/"))
            .ok()
            .as_ref()
            .and_then(Url::host)
        {
            Some(Host::Domain(_)) => Ok(Self {
                wildcard,
                template: template.to_owned(),
            }),
            _ => Err(refused()),
        }
    }

    fn matches(&self, host: &str, parameters: &BTreeMap<String, String>) -> bool {
        let Some(filled) = self.filled(parameters) else {
            return false;
        };
        if self.wildcard {
            host.strip_suffix(&filled)
                .and_then(|front| front.strip_suffix('.'))
                .is_some_and(|front| !front.is_empty())
        } else {
            host == filled
        }
    }

    /// None while a parameter is missing or is not a label.
    fn filled(&self, parameters: &BTreeMap<String, String>) -> Option<String> {
        let mut filled = String::new();
        let mut rest = self.template.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (key, behind) = after.split_once('}')?;
            filled.push_str(before);
            filled.push_str(&label_value(parameters.get(key)?)?);
            rest = behind;
        }
        filled.push_str(rest);
        (filled.split('.').all(is_label) && filled.len() <= HOST_BYTES_MAX).then_some(filled)
    }
}

/// A parameter's value in a host: letters, digits and inner hyphens of one label.
pub fn label_value(value: &str) -> Option<String> {
    is_label(value).then(|| value.to_ascii_lowercase())
}

fn is_label(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LABEL_BYTES_MAX
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_label_pattern(text: &str) -> bool {
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((key, behind)) = after.split_once('}') else {
            return false;
        };
        if key.is_empty()
            || !key
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        {
            return false;
        }
        literal.push_str(before);
        literal.push('x');
        rest = behind;
    }
    literal.push_str(rest);
    is_label(&literal) && !literal.bytes().any(|b| b.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(hosts: &[&str], origins: &[&str]) -> Result<Grant, GrantError> {
        let own = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        Grant::new(&own(hosts), &own(origins))
    }

    #[test]
    fn patterns_that_could_be_anybodys_host_are_refused() {
        for good in [
            "api.github.com",
            "{subdomain}.zendesk.com",
            "*.salesforce.com",
            "s3.{region}.amazonaws.com",
            "a-{x}.example.com",
            "localhost",
        ] {
            assert!(grant(&[good], &[]).is_ok(), "{good}");
        }
        for bad in [
            "",
            "*",
            "*.com",
            "{host}",
            "{a}.com",
            "{a}.{b}.com",
            "*.{a}.com",
            "api.*.com",
            "api.github.com:8443",
            "https://api.github.com",
            "API.github.com",
            "api..github.com",
            "api.github.com.",
            "-a.example.com",
            "a b.example.com",
            "a@example.com",
            "127.0.0.1",
            "0x7f.1",
            "1.2",
            "[::1]",
            "{}.example.com",
            "{a.example.com",
            "a}.example.com",
            "b\u{fc}cher.example.com",
        ] {
            assert!(grant(&[bad], &[]).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_matches_its_own_hosts_only() {
        let parameters = BTreeMap::from([
            ("subdomain".to_owned(), "Acme".to_owned()),
            ("evil".to_owned(), "evil.test/".to_owned()),
            ("dots".to_owned(), "a.b".to_owned()),
        ]);
        for (pattern, host, expected) in [
            ("api.github.com", "api.github.com", true),
            ("api.github.com", "xapi.github.com", false),
            ("api.github.com", "api.github.com.evil.test", false),
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", ".example.com", false),
            ("*.example.com", "evilexample.com", false),
            ("{subdomain}.zendesk.com", "acme.zendesk.com", true),
            ("{subdomain}.zendesk.com", "other.zendesk.com", false),
            ("{absent}.zendesk.com", "acme.zendesk.com", false),
            ("{evil}.zendesk.com", "evil.test", false),
            ("{dots}.zendesk.com", "a.b.zendesk.com", false),
        ] {
            let grant = grant(&[pattern], &[]).expect("a good pattern");
            assert_eq!(
                grant.names_host(host, &parameters),
                expected,
                "{pattern} {host}"
            );
        }
    }

    #[test]
    fn an_operators_origin_is_granted_exactly() {
        let grant = grant(
            &[],
            &["http://127.0.0.1:9090/prometheus", "https://ghe.corp.test"],
        )
        .expect("good origins");
        for (origin, expected) in [
            ("http://127.0.0.1:9090", true),
            ("https://127.0.0.1:9090", false),
            ("http://127.0.0.1:9091", false),
            ("http://127.0.0.1", false),
            ("https://ghe.corp.test:443", true),
            ("http://ghe.corp.test", false),
        ] {
            assert_eq!(
                grant.names_origin(&Origin::parse(origin).expect("an origin")),
                expected,
                "{origin}"
            );
        }
        for bad in [
            "ftp://host",
            "127.0.0.1:9090",
            "http://user@host",
            "file:///etc/passwd",
            "",
        ] {
            assert!(Origin::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_audience_holds_exact_origins_and_wildcards_of_the_default_port() {
        let audience = vec![
            "https://api.github.com/".to_owned(),
            "https://*.example.com".to_owned(),
            "http://127.0.0.1:8008".to_owned(),
        ];
        for (origin, expected) in [
            ("https://api.github.com", true),
            ("http://api.github.com", false),
            ("https://api.github.com:8443", false),
            ("https://a.example.com", true),
            ("https://example.com", false),
            ("https://a.example.com:444", false),
            ("http://127.0.0.1:8008", true),
            ("http://127.0.0.1:8009", false),
        ] {
            assert_eq!(
                Origin::parse(origin).expect("an origin").is_in(&audience),
                expected,
                "{origin}"
            );
        }
    }
}
