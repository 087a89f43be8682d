//! A URL parsed once, with one reading.
//!
//! Pure. What two parsers could read differently is refused.

use url::{Host, Url};

use super::grant::Origin;

/// The longest URL a request may have, query included.
pub const URL_BYTES_MAX: usize = 16 * 1024;

/// A place that the policy allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Without fragment and userinfo.
    pub url: Url,
    pub origin: Origin,
    /// The operator named this exact origin, so that it may be private.
    pub named: bool,
}

/// Why a URL is refused. The sentence is for the plugin's author and the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the URL is longer than {URL_BYTES_MAX} bytes")]
    TooLong,
    #[error("the URL is not a plain absolute https URL")]
    Malformed,
    #[error("the URL carries a user name or password")]
    Userinfo,
    #[error("only https is allowed")]
    Scheme,
    #[error("an IP address in place of a host name is not allowed")]
    IpLiteral,
    #[error("port {0} is not granted")]
    Port(u16),
    #[error("host `{0}` is not granted")]
    Host(String),
    #[error("the connection has no usable value for parameter `{0}`")]
    Parameter(String),
}

/// Parses once. What the WHATWG parser would silently repair (backslashes, tabs, missing slashes,
/// percent-encoded and full-width hosts, trailing dots) is refused instead.
pub(super) fn parse(text: &str, query: &[(String, String)]) -> Result<Target, Refusal> {
    if text.len() > URL_BYTES_MAX {
        return Err(Refusal::TooLong);
    }
    let (scheme, authority) = split(text).ok_or(Refusal::Malformed)?;
    if !(scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")) {
        return Err(Refusal::Scheme);
    }
    if authority.contains('@') {
        return Err(Refusal::Userinfo);
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    if !authority.bytes().all(plain) || authority.ends_with(':') {
        return Err(Refusal::Malformed);
    }
    if text.chars().any(|c| c.is_control() || c == '\\') || text.trim() != text {
        return Err(Refusal::Malformed);
    }
    let mut url = Url::parse(text).map_err(|_| Refusal::Malformed)?;
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::Userinfo);
    }
    let origin = Origin::from_url(&url).ok_or(Refusal::Malformed)?;
    if matches!(url.host(), Some(Host::Domain(_))) {
        // The host that the parser found is the one that is written there, label by label.
        let written = authority
            .split(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        if written != origin.host || origin.host.split('.').any(str::is_empty) {
            return Err(Refusal::Malformed);
        }
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    if url.as_str().len() > URL_BYTES_MAX {
        return Err(Refusal::TooLong);
    }
    Ok(Target {
        url,
        origin,
        named: false,
    })
}

/// Scheme and authority as they are written.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    Some((scheme, &rest[..end])).filter(|(_, authority)| !authority.is_empty())
}
