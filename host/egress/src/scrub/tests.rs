//! What is found, and what stays.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::*;

const STRICT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
const COMPONENT: &AsciiSet = &STRICT
    .remove(b'!')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*');

fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

const SECRET: &str = "s3cr\u{e9}t/+&\"tok=en~7?>";

fn scrubber(secrets: &[&str]) -> Scrubber {
    let mut scrubber = Scrubber::default();
    scrubber.learn(secrets.iter().map(|secret| secret.as_bytes()));
    scrubber
}

#[test]
fn a_secret_is_found_in_every_form_in_which_servers_echo_it() {
    let scrubber = scrubber(&[SECRET]);
    let json = serde_json::Value::from(SECRET).to_string();
    let mut echoes = vec![
        SECRET.to_owned(),
        SECRET.to_ascii_uppercase(),
        format!("Bearer {SECRET}"),
        json.clone(),
        json.replace('/', "\\/"),
        serde_json::Value::from(json.clone()).to_string(),
        utf8_percent_encode(SECRET, STRICT).to_string(),
        utf8_percent_encode(SECRET, STRICT)
            .to_string()
            .to_lowercase(),
        utf8_percent_encode(SECRET, COMPONENT).to_string(),
        url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect(),
        SECRET.bytes().map(|byte| format!("{byte:02x}")).collect(),
        html(SECRET),
        "s3cr\\u00e9t/+\\u0026\\\"tok=en~7?\\u003e"
            .replace("+", "\\u002b")
            .replace('=', "\\u003d"),
    ];
    for lead in ["", "u", "us", "user:", "name@host:"] {
        for tail in ["", "x", "yz"] {
            for engine in [&STANDARD, &URL_SAFE] {
                let encoded = engine.encode(format!("{lead}{SECRET}{tail}"));
                echoes.push(
                    serde_json::Value::from(encoded.as_str())
                        .to_string()
                        .replace('/', "\\/"),
                );
                echoes.push(utf8_percent_encode(&encoded, STRICT).to_string());
                echoes.push(format!("Basic {encoded}"));
            }
        }
    }
    for echo in echoes {
        let clean = scrubber.text(&echo);
        assert!(clean.contains(REDACTED), "{echo} -> {clean}");
        assert!(
            !clean.contains("tok") && scrubber.finds(echo.as_bytes()),
            "{echo} -> {clean}"
        );
    }
}

#[test]
fn everything_else_stays() {
    let scrubber = scrubber(&[SECRET, "another-secret-value"]);
    for text in ["", "nothing here", "s3cr\u{e9}t alone", "czNjcg=="] {
        assert!(
            matches!(scrubber.text(text), Cow::Borrowed(same) if same == text),
            "{text}"
        );
    }
    let text = format!("a {SECRET} b another-secret-value{SECRET} c");
    assert_eq!(
        scrubber.text(&text),
        "a [redacted] b [redacted][redacted] c"
    );
    let bytes = Bytes::from(vec![0xff, 0, 0xfe]);
    assert_eq!(scrubber.bytes(bytes.clone()), bytes);
    let mut binary = vec![0xff, 0];
    binary.extend_from_slice(b"another-secret-value");
    binary.push(0xfe);
    assert_eq!(
        &scrubber.bytes(Bytes::from(binary))[..],
        b"\xff\0[redacted]\xfe"
    );
}

#[test]
fn short_values_are_not_searched_for() {
    let short = scrubber(&["1234567"]);
    assert!(short.is_empty() && !short.finds(b"1234567"));
    let enough = scrubber(&["12345678"]);
    assert_eq!(enough.text("id 12345678"), "id [redacted]");
    assert!(!scrubber(&[]).finds(b""));
}

#[test]
fn long_tokens_go_whole_and_others_of_the_same_issuer_stay() {
    let head = "eyJhbGciOiJSUzI1NiJ9.".repeat(20);
    let token = format!(
        "{head}{}",
        (0..200).map(|n| format!("x{n}y")).collect::<String>()
    );
    let scrubber = scrubber(&[&token]);
    let other = format!(
        "{head}{}",
        (0..200).map(|n| format!("o{n}z")).collect::<String>()
    );
    assert_eq!(
        scrubber.text(&format!("a {token} b {other}")),
        format!("a [redacted] b {other}")
    );
    let encoded = STANDARD.encode(format!("user:{token}"));
    assert!(
        scrubber.text(&encoded).len() < REDACTED.len() + 16,
        "{encoded}"
    );
}

#[test]
fn the_longest_of_overlapping_secrets_goes_whole() {
    let scrubber = scrubber(&["abcdefgh", "abcdefghijkl"]);
    assert_eq!(
        scrubber.text("x abcdefghijkl y abcdefgh z"),
        "x [redacted] y [redacted] z"
    );
}
