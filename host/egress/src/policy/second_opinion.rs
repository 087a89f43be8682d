//! URLs put together at random, decided by the policy and read once more by the URL parser of the
//! HTTP client. Drawn from a seed, so that a failure repeats.

use std::collections::BTreeMap;

use http::Uri;

use super::*;
use crate::draw::Draw;

/// Nothing in three of four cases, so that many URLs have one fault or none.
fn piece<'a>(draw: &mut Draw, of: &[&'a str]) -> &'a str {
    if draw.next().is_multiple_of(4) {
        one(draw, of)
    } else {
        ""
    }
}

fn one<'a>(draw: &mut Draw, of: &[&'a str]) -> &'a str {
    of[(draw.next() % of.len() as u64) as usize]
}

const SCHEMES: [&str; 8] = [
    "https://", "https://", "https://", "https://", "HTTPS://", "http://", "https:/", "//",
];
const HOSTS: [&str; 12] = [
    "api.example.com",
    "api.example.com",
    "API.example.com",
    "a.wild.example",
    "a.b.wild.example",
    "wild.example",
    "{tenant}.filled.example",
    "evil.test",
    "127.0.0.1",
    "[::1]",
    "localhost",
    "xn--pi-eka.example.com",
];
const PIECES: [&str; 30] = [
    ":443",
    ":80",
    ":8443",
    ":",
    "@",
    "\\",
    "/",
    "//",
    "?",
    "#",
    ".",
    "..",
    "%2e",
    "%2f",
    "%40",
    "%00",
    "\t",
    "\n",
    " ",
    "\u{3002}",
    "\u{200d}",
    "\u{ad}",
    "\u{ff41}",
    "evil.test",
    "@evil.test",
    ".evil.test",
    "{tenant}",
    "{",
    "}",
    ";",
];
const PATHS: [&str; 6] = [
    "",
    "/",
    "/v1/a?b=c",
    "/../a",
    "/{tenant}/x#y",
    "?q=https://evil.test",
];
const TENANTS: [&str; 9] = [
    "acme",
    "a.b",
    "evil.test/",
    "x@evil",
    "",
    "-a",
    "https://evil.test",
    "https://a.wild.example",
    "..",
];
const DRAWS: usize = 400_000;

/// Whether one of the grants below covers `host`, by plain comparison of text.
fn granted(host: &str, tenant: &str) -> bool {
    let below_wild = host.strip_suffix(".wild.example");
    host == "api.example.com"
        || below_wild.is_some_and(|labels| !labels.is_empty() && !labels.starts_with('.'))
        || host == format!("{}.filled.example", tenant.to_ascii_lowercase())
}

#[test]
fn no_accepted_url_reaches_a_host_that_is_not_granted() {
    let hosts = [
        "api.example.com",
        "*.wild.example",
        "{tenant}.filled.example",
    ]
    .map(str::to_owned);
    let grant = Grant::new(&hosts, &[]).expect("a good grant");
    let mut draw = Draw(0x746f_6f6c_6761_7465);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..DRAWS {
        let tenant = one(&mut draw, &TENANTS);
        let parameters = BTreeMap::from([("tenant".to_owned(), tenant.to_owned())]);
        let text = [
            piece(&mut draw, &PIECES),
            one(&mut draw, &SCHEMES),
            piece(&mut draw, &PIECES),
            one(&mut draw, &HOSTS),
            piece(&mut draw, &PIECES),
            piece(&mut draw, &PIECES),
            one(&mut draw, &PATHS),
        ]
        .concat();
        let Ok(target) = decide(&grant, &parameters, &text, &[]) else {
            refused += 1;
            continue;
        };
        accepted += 1;
        let context = format!("{text:?} with {tenant:?} became {}", target.url);
        let sent: Uri = target.url.as_str().parse().expect(&context);
        assert_eq!(sent.scheme_str(), Some("https"), "{context}");
        assert_eq!(sent.host(), Some(target.origin.host.as_str()), "{context}");
        assert_eq!(sent.port_u16(), None, "{context}");
        assert!(
            !sent.authority().unwrap().as_str().contains('@'),
            "{context}"
        );
        assert!(granted(&target.origin.host, tenant), "{context}");
        assert_eq!(target.origin.port, 443, "{context}");
        assert!(!target.named, "{context}");
        // A second decision about the result, as a redirect to it would get, changes nothing.
        let again = decide_redirect(&grant, &parameters, &target.url);
        assert_eq!(
            again.as_ref().map(|t| &t.origin),
            Ok(&target.origin),
            "{context}"
        );
    }
    assert!(
        accepted > DRAWS / 100 && refused > DRAWS / 10,
        "{accepted} accepted, {refused} refused"
    );
}
