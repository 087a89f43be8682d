//! Where a request may go: one URL, parsed once, decided before anything is resolved.
//!
//! Pure. [`decide`] fills the connection's parameters in, parses with the one URL parser of the
//! process and refuses everything that is not plainly an allowed place: userinfo, other schemes,
//! IP literals, ports and hosts not granted, and any text that two parsers could read differently.
//! What the result is dialled at is decided in [`super::address`]; credentials in [`super::inject`].

use std::collections::BTreeMap;

use url::{Host, Url};

use super::grant::Grant;
use super::parameters::fill;
use super::target::parse;
pub use super::target::{Refusal, Target, URL_BYTES_MAX};

/// Decides one URL of a plugin. `query` is appended, percent-encoded.
pub fn decide(
    grant: &Grant,
    parameters: &BTreeMap<String, String>,
    text: &str,
    query: &[(String, String)],
) -> Result<Target, Refusal> {
    decide_parsed(grant, parameters, parse(&fill(text, parameters)?, query)?)
}

/// Decides where a redirect leads, decided again like a first request.
pub fn decide_redirect(
    grant: &Grant,
    parameters: &BTreeMap<String, String>,
    location: &Url,
) -> Result<Target, Refusal> {
    decide_parsed(grant, parameters, parse(location.as_str(), &[])?)
}

fn decide_parsed(
    grant: &Grant,
    parameters: &BTreeMap<String, String>,
    target: Target,
) -> Result<Target, Refusal> {
    if grant.names_origin(&target.origin) {
        return Ok(Target {
            named: true,
            ..target
        });
    }
    require_public_https(&target)?;
    if !target.origin.has_default_port() {
        return Err(Refusal::Port(target.origin.port));
    }
    if !grant.names_host(&target.origin.host, parameters) {
        return Err(Refusal::Host(target.origin.host));
    }
    Ok(target)
}

/// Decides a URL that the host itself calls (token endpoints, webhooks): any public https host and
/// port, or an origin in `grant`.
pub fn decide_for_host(grant: &Grant, text: &str) -> Result<Target, Refusal> {
    let target = parse(text, &[])?;
    if grant.names_origin(&target.origin) {
        return Ok(Target {
            named: true,
            ..target
        });
    }
    require_public_https(&target)?;
    Ok(target)
}

fn require_public_https(target: &Target) -> Result<(), Refusal> {
    if !matches!(target.url.host(), Some(Host::Domain(_))) {
        return Err(Refusal::IpLiteral);
    }
    if target.origin.scheme != "https" {
        return Err(Refusal::Scheme);
    }
    Ok(())
}

#[cfg(test)]
mod second_opinion;

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    fn grant() -> Grant {
        let hosts = [
            "api.example.com",
            "{subdomain}.zendesk.com",
            "*.salesforce.com",
        ]
        .map(str::to_owned);
        let origins = ["http://127.0.0.1:9090", "http://[::1]:8080"].map(str::to_owned);
        Grant::new(&hosts, &origins).expect("a good grant")
    }

    fn check(text: &str, parameters: &[(&str, &str)]) -> Result<String, Refusal> {
        decide(&grant(), &map(parameters), text, &[]).map(|target| target.url.to_string())
    }

    #[test]
    fn granted_places_pass() {
        for (text, expected) in [
            (
                "https://api.example.com/a?b=c#d",
                "https://api.example.com/a?b=c",
            ),
            ("https://api.example.com", "https://api.example.com/"),
            ("HTTPS://API.EXAMPLE.COM/", "https://api.example.com/"),
            ("https://api.example.com:443/", "https://api.example.com/"),
            ("https://a.b.salesforce.com/", "https://a.b.salesforce.com/"),
            ("http://127.0.0.1:9090/api", "http://127.0.0.1:9090/api"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
            (
                "https://api.example.com/a/../b",
                "https://api.example.com/b",
            ),
            (
                "https://api.example.com/p?u=http://evil@x",
                "https://api.example.com/p?u=http://evil@x",
            ),
        ] {
            assert_eq!(check(text, &[]).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for (text, refusal) in [
            ("https://evil.test/", Refusal::Host("evil.test".into())),
            ("http://api.example.com/", Refusal::Scheme),
            ("ftp://api.example.com/", Refusal::Scheme),
            ("file:///etc/passwd", Refusal::Malformed),
            ("https://api.example.com:8443/", Refusal::Port(8443)),
            ("https://api.example.com:80/", Refusal::Port(80)),
            ("http://127.0.0.1:9091/", Refusal::IpLiteral),
            ("https://127.0.0.1:9090/", Refusal::IpLiteral),
            ("https://[::1]/", Refusal::IpLiteral),
            ("https://1.1.1.1/", Refusal::IpLiteral),
            ("https://user@api.example.com/", Refusal::Userinfo),
            ("https://user:pw@api.example.com/", Refusal::Userinfo),
            ("/relative", Refusal::Malformed),
            ("", Refusal::Malformed),
        ] {
            assert_eq!(check(text, &[]), Err(refusal), "{text}");
        }
        assert_eq!(
            check(
                &format!("https://api.example.com/{}", "a".repeat(URL_BYTES_MAX)),
                &[]
            ),
            Err(Refusal::TooLong)
        );
    }

    #[test]
    fn text_that_parsers_read_differently_never_reaches_another_host() {
        let tricks = [
            "https://api.example.com\\@evil.test/",
            "https://evil.test\\.api.example.com/",
            "https:\\\\api.example.com/",
            "https:/api.example.com/",
            "https:api.example.com",
            "https:///api.example.com/",
            "https://api.example.com@evil.test/",
            "https://evil.test@api.example.com/",
            "https://@api.example.com/",
            "https://:@api.example.com/",
            "https://api.example.com%40evil.test/",
            "https://api.example.com%2fevil.test/",
            "https://api%2eexample%2ecom/",
            "https://%61pi.example.com/",
            "https://api.example.com./",
            "https://api..example.com/",
            "https://.api.example.com/",
            "https://.a.salesforce.com/",
            "https://api\u{3002}example\u{3002}com/",
            "https://\u{ff41}pi.example.com/",
            "https://ap\u{131}.example.com/",
            "https://api.example.com\u{ad}/",
            "https://api.exa\tmple.com/",
            "https://api.example.com\n/",
            "\thttps://api.example.com/",
            " https://api.example.com/",
            "https://api.example.com/ ",
            "ht\ntps://api.example.com/",
            "https://api.example.com:/",
            "https://api.example.com:443:443/",
            "https://api.example.com:4 43/",
            "https://api.example.com:99999/",
            "https://api.example.com:0443x/",
            "https://api.example.com\u{0}.evil.test/",
            "https://0x7f000001/",
            "https://2130706433/",
            "https://0177.0.0.1/",
            "https://127.1/",
            "https://[::ffff:7f00:1]/",
            "https://[::1%25eth0]/",
            "https://api.example.com/\u{0}",
            "https://api.example.com/a\\..\\b",
            "https://api.example.com /",
            "//api.example.com/",
            "https://[api.example.com]/",
            "https://api.example.com]/",
            "javascript://api.example.com/%0aalert(1)",
            "blob:https://api.example.com/x",
            "view-source:https://api.example.com/",
            "https://{subdomain}@api.example.com/",
            "https://api.example.com{x}/",
        ];
        for text in tricks {
            assert!(
                check(text, &[]).is_err(),
                "{text:?} passed as {:?}",
                check(text, &[])
            );
        }
        // Every combination of a trick character at every position of a good URL: it is refused or it
        // still goes to the one granted host.
        let good = "https://api.example.com/v1/a?b=c";
        for trick in [
            "\\",
            "@",
            "\t",
            "\n",
            "%",
            "%2e",
            "%00",
            ".",
            ":",
            "/",
            "//",
            "#",
            "?",
            "[",
            "]",
            " ",
            "\u{3002}",
            "\u{ff0e}",
            "\u{200d}",
            "evil.test",
            "@evil.test",
            "\\evil.test",
            ".evil.test/",
            "x",
            "{",
            "}",
            "{a}",
        ] {
            for at in 0..=good.len() {
                let text = format!("{}{trick}{}", &good[..at], &good[at..]);
                if let Ok(target) = decide(&grant(), &BTreeMap::new(), &text, &[]) {
                    assert_eq!(
                        target.origin.to_string(),
                        "https://api.example.com",
                        "{text:?}"
                    );
                    assert_eq!(target.url.username(), "", "{text:?}");
                }
            }
        }
    }

    #[test]
    fn parameters_fill_labels_and_segments_and_nothing_more() {
        for (text, value, expected) in [
            (
                "https://{subdomain}.zendesk.com/x",
                "acme",
                Some("https://acme.zendesk.com/x"),
            ),
            (
                "https://{subdomain}.zendesk.com/x",
                "Acme",
                Some("https://acme.zendesk.com/x"),
            ),
            ("https://{subdomain}.zendesk.com/x", "evil.test/", None),
            ("https://{subdomain}.zendesk.com/x", "evil.test#", None),
            ("https://{subdomain}.zendesk.com/x", "a.b", None),
            ("https://{subdomain}.zendesk.com/x", "user@evil", None),
            ("https://{subdomain}.zendesk.com/x", "", None),
            ("https://{subdomain}.zendesk.com/x", "-a", None),
            ("https://{subdomain}.zendesk.com/x", "a:1", None),
            (
                "https://api.example.com/{subdomain}/x",
                "a/b ?#%",
                Some("https://api.example.com/a%2Fb%20%3F%23%25/x"),
            ),
            ("https://api.example.com/{subdomain}/x", "..", None),
            (
                "https://api.example.com/{other}/x",
                "a",
                Some("https://api.example.com/%7Bother%7D/x"),
            ),
            (
                "https://api.example.com/x?q={subdomain}",
                "a",
                Some("https://api.example.com/x?q={subdomain}"),
            ),
            (
                "{subdomain}/services",
                "https://na1.salesforce.com",
                Some("https://na1.salesforce.com/services"),
            ),
            (
                "{subdomain}/services",
                "https://na1.salesforce.com/",
                Some("https://na1.salesforce.com/services"),
            ),
            ("{subdomain}/services", "https://evil.test", None),
            ("{subdomain}/services", "http://na1.salesforce.com", None),
            (
                "{subdomain}/services",
                "https://na1.salesforce.com/path",
                None,
            ),
            ("{subdomain}/services", "https://na1.salesforce.com?x", None),
            ("{subdomain}/services", "https://u@na1.salesforce.com", None),
            (
                "{subdomain}.evil.test/services",
                "https://na1.salesforce.com",
                None,
            ),
            ("{absent}/services", "https://na1.salesforce.com", None),
        ] {
            assert_eq!(
                check(text, &[("subdomain", value)]).ok().as_deref(),
                expected,
                "{text} {value}"
            );
        }
    }

    #[test]
    fn the_query_is_appended_and_encoded() {
        let query = [
            ("q".to_owned(), "a b&c=d#".to_owned()),
            ("n".to_owned(), "\u{e9}".to_owned()),
        ];
        let target = decide(
            &grant(),
            &BTreeMap::new(),
            "https://api.example.com/s?p=1",
            &query,
        )
        .expect("granted");
        assert_eq!(
            target.url.as_str(),
            "https://api.example.com/s?p=1&q=a+b%26c%3Dd%23&n=%C3%A9"
        );
    }

    #[test]
    fn the_host_itself_may_call_any_public_https_host() {
        let none = Grant::default();
        for (text, expected) in [
            ("https://hooks.example.org:8443/x", true),
            ("http://hooks.example.org/x", false),
            ("https://10.0.0.1/x", false),
            ("https://a@hooks.example.org/x", false),
            ("http://127.0.0.1:9090/token", false),
        ] {
            assert_eq!(decide_for_host(&none, text).is_ok(), expected, "{text}");
        }
        assert!(decide_for_host(&grant(), "http://127.0.0.1:9090/token").is_ok());
    }
}
