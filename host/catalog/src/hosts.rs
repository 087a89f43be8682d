//! Host patterns of a manifest: reading them and comparing them.
//!
//! A pattern is `api.example.com`, `*.example.com` (one or more labels) or has connection
//! parameters in braces, `{subdomain}.example.com`; a parameter is part of one label.
//! Refuses IP literals, ports, and patterns whose text does not say the owner: at
//! least the last two labels are literal. Whether one request fits is egress' decision.

use std::net::Ipv4Addr;

/// Longest pattern, in bytes (RFC 1035, section 2.3.4).
pub(crate) const HOST_BYTES_MAX: usize = 253;
/// Longest label, in bytes.
const LABEL_BYTES_MAX: usize = 63;

/// Suffixes under which anybody can register a name: a wildcard directly below is no one's.
const SHARED_SUFFIXES: &[&str] = &[
    "ac.uk",
    "co.uk",
    "gov.uk",
    "org.uk",
    "com.au",
    "net.au",
    "org.au",
    "co.nz",
    "co.jp",
    "ne.jp",
    "or.jp",
    "com.br",
    "com.cn",
    "com.mx",
    "com.tr",
    "co.in",
    "co.kr",
    "co.za",
    "com.sg",
    "com.tw",
    "github.io",
    "gitlab.io",
    "herokuapp.com",
    "netlify.app",
    "vercel.app",
    "pages.dev",
    "workers.dev",
    "web.app",
    "firebaseapp.com",
    "appspot.com",
    "run.app",
    "azurewebsites.net",
    "cloudfront.net",
    "ngrok.io",
    "ngrok.app",
    "fly.dev",
    "onrender.com",
    "nip.io",
    "sslip.io",
];

/// Checks a pattern's form and answers the parameters it names, in order.
/// The error is a sentence about the pattern.
pub(crate) fn check(pattern: &str) -> Result<Vec<&str>, String> {
    if pattern.is_empty() {
        return Err("the host is empty".to_owned());
    }
    if pattern.len() > HOST_BYTES_MAX {
        return Err(format!("the host is longer than {HOST_BYTES_MAX} bytes"));
    }
    if pattern.contains("://") || pattern.contains('/') {
        return Err(format!(
            "`{pattern}` must be a host alone, without scheme or path"
        ));
    }
    if pattern.starts_with('[') || pattern.parse::<Ipv4Addr>().is_ok() {
        return Err(format!("`{pattern}` is an IP address; name a host"));
    }
    if pattern.contains(':') {
        return Err(format!(
            "`{pattern}` names a port; only the default port of https is reached"
        ));
    }
    let (wild, rest) = match pattern.strip_prefix("*.") {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    if rest.contains('*') {
        return Err(format!(
            "`{pattern}` may have `*` as its whole first label only"
        ));
    }
    let labels: Vec<&str> = rest.split('.').collect();
    let mut parameters = Vec::new();
    for label in &labels {
        check_label(pattern, label, &mut parameters)?;
    }
    let literal = labels
        .iter()
        .rev()
        .take_while(|label| !label.contains('{'))
        .count();
    if literal < 2 {
        return Err(format!(
            "`{pattern}` must end in at least two fixed labels, such as `example.com`"
        ));
    }
    if labels[labels.len() - 1].bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!(
            "`{pattern}` ends in a number, as an IP address does; name a host"
        ));
    }
    let open = wild || !parameters.is_empty();
    if open
        && literal == 2
        && SHARED_SUFFIXES.contains(&labels[labels.len() - 2..].join(".").as_str())
    {
        return Err(format!(
            "`{pattern}` would cover hosts of unrelated owners; name the host in full"
        ));
    }
    Ok(parameters)
}

fn check_label<'a>(
    pattern: &str,
    label: &'a str,
    parameters: &mut Vec<&'a str>,
) -> Result<(), String> {
    if label.is_empty() {
        return Err(format!("`{pattern}` has an empty label"));
    }
    if label.len() > LABEL_BYTES_MAX {
        return Err(format!(
            "`{pattern}` has a label longer than {LABEL_BYTES_MAX} bytes"
        ));
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Err(format!(
            "`{pattern}` has a label that starts or ends with `-`"
        ));
    }
    let mut rest = label;
    while !rest.is_empty() {
        let Some(open) = rest.find('{') else {
            return literal(pattern, rest);
        };
        literal(pattern, &rest[..open])?;
        let inside = &rest[open + 1..];
        let Some(close) = inside.find('}') else {
            return Err(format!("`{pattern}` has a `{{` without its `}}`"));
        };
        parameters.push(&inside[..close]);
        rest = &inside[close + 1..];
    }
    Ok(())
}

fn literal(pattern: &str, text: &str) -> Result<(), String> {
    match text
        .chars()
        .find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-'))
    {
        None => Ok(()),
        Some(c) => Err(format!(
            "`{pattern}` contains `{}`; write hosts in lowercase a-z, 0-9, `-` and `.` (others in Punycode)",
            c.escape_debug()
        )),
    }
}

/// Whether every host that `inner` matches is covered by `outer`. Both are patterns.
pub fn covers(outer: &str, inner: &str) -> bool {
    if outer == inner {
        return true;
    }
    let Some(suffix) = outer.strip_prefix('*') else {
        return false;
    };
    let inner = inner.strip_prefix('*').unwrap_or(inner);
    // `*.example.com` does not cover `example.com` itself.
    inner.len() >= suffix.len() && inner.ends_with(suffix) && (inner != suffix || outer == inner)
}

/// [`covers`] for origins, `https://host`.
pub(crate) fn covers_origin(outer: &str, inner: &str) -> bool {
    match (
        outer.strip_prefix("https://"),
        inner.strip_prefix("https://"),
    ) {
        (Some(outer), Some(inner)) => covers(outer, inner),
        _ => outer == inner,
    }
}

#[cfg(test)]
mod tests {
    use super::{check, covers, covers_origin};

    #[test]
    fn a_host_pattern_is_accepted_or_refused_with_its_reason() {
        let accepted: [(&str, &[&str]); 6] = [
            ("api.github.com", &[]),
            ("*.slack.com", &[]),
            ("{subdomain}.zendesk.com", &["subdomain"]),
            ("s3.{region}.amazonaws.com", &["region"]),
            ("{site}-{region}.api.example.com", &["site", "region"]),
            ("xn--bcher-kva.example", &[]),
        ];
        for (pattern, parameters) in accepted {
            assert_eq!(check(pattern).as_deref(), Ok(parameters), "{pattern}");
        }
        let refused = [
            ("", "empty"),
            ("localhost", "two fixed labels"),
            ("*", "first label"),
            ("*.com", "two fixed labels"),
            ("*.co.uk", "unrelated owners"),
            ("{user}.github.io", "unrelated owners"),
            ("{host}", "two fixed labels"),
            ("api.{tld}", "two fixed labels"),
            ("{a}.com", "two fixed labels"),
            ("a.*.example.com", "first label"),
            ("a*.example.com", "first label"),
            ("10.0.0.1", "IP address"),
            ("[::1]", "IP address"),
            ("1.2.3", "ends in a number"),
            ("0x7f.0.0.1", "ends in a number"),
            ("api.example.com:8443", "names a port"),
            ("https://api.example.com", "without scheme"),
            ("api.example.com/v1", "without scheme"),
            ("user@example.com", "contains `@`"),
            ("API.example.com", "contains `A`"),
            ("b\u{fc}cher.example", "Punycode"),
            ("a..example.com", "empty label"),
            ("example.com.", "empty label"),
            ("-a.example.com", "starts or ends"),
            ("{a.example.com", "without its"),
        ];
        for (pattern, reason) in refused {
            let found = check(pattern).expect_err(pattern);
            assert!(found.contains(reason), "{pattern}: {found}");
        }
        assert!(check(&format!("{}.example.com", "a".repeat(63))).is_ok());
        assert!(check(&format!("{}.example.com", "a".repeat(64))).is_err());
        assert!(check(&format!("{}example.com", "a.".repeat(200))).is_err());
    }

    #[test]
    fn a_wildcard_covers_what_is_below_it_and_not_itself() {
        for (outer, inner, expected) in [
            ("api.x.com", "api.x.com", true),
            ("api.x.com", "x.com", false),
            ("*.x.com", "api.x.com", true),
            ("*.x.com", "a.b.x.com", true),
            ("*.x.com", "*.b.x.com", true),
            ("*.x.com", "*.x.com", true),
            ("*.x.com", "{sub}.x.com", true),
            ("*.x.com", "x.com", false),
            ("*.x.com", "evilx.com", false),
            ("*.b.x.com", "*.x.com", false),
            ("{sub}.x.com", "api.x.com", false),
        ] {
            assert_eq!(covers(outer, inner), expected, "{outer} {inner}");
        }
        assert!(covers_origin("https://*.x.com", "https://a.x.com"));
        assert!(!covers_origin("https://*.x.com", "http://a.x.com"));
        assert!(covers_origin("{api_base}", "{api_base}"));
    }
}
