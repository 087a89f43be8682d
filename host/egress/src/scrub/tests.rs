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

#[test]
fn a_whole_value_is_found_in_every_encoding_and_its_pieces_are_not() {
    let secret = "bait~9f4c/1d27+b80e5a63-Zq7Lw2Xk";
    let scrubber = scrubber(&[secret]);
    let component = utf8_percent_encode(secret, COMPONENT).to_string();
    let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    for text in [
        secret.to_owned(),
        format!("Bearer {secret}"),
        STANDARD.encode(format!("ada:{secret}")),
        secret.bytes().map(|byte| format!("{byte:02x}")).collect(),
        // `=ba` is an escape too, of quoted-printable.
        format!("https://a.test/echo?took={form}"),
        format!("https://a.test/echo?took={component}&more=1"),
        format!("\\{secret}"),
    ] {
        let found = scrubber.finds_to(SearchDepth::OwnWholes, text.as_bytes());
        assert!(found, "{text}");
        let clean = scrubber.text_to(SearchDepth::Wholes, &text);
        assert!(
            clean.contains(REDACTED) && !clean.contains("1d27"),
            "{clean}"
        );
    }
    for piece in [&secret[..20], &secret[6..26], &secret[8..]] {
        assert!(scrubber.finds(piece.as_bytes()), "{piece}");
        for depth in [SearchDepth::Wholes, SearchDepth::OwnWholes] {
            assert!(!scrubber.finds_to(depth, piece.as_bytes()), "{piece}");
        }
    }
}

#[test]
fn only_pieces_that_are_new_and_stand_alone_are_counted() {
    let secret = "bait~9f4c/1d27+b80e5a63-Zq7Lw2Xk";
    let exposure = Arc::new(Exposure::default());
    let scrubber = scrubber(&[secret]).counted_by(Some(exposure.clone()));
    let wrapped = format!("{}\r\n{}", &secret[..17], &secret[17..]);
    let far = format!("{}{secret}", " ".repeat(PIECE_BYTES - 20));
    for text in [secret, &wrapped, &far, &STANDARD.encode(secret), "nothing"] {
        scrubber.text(text);
        assert!(exposure.is_empty(), "{text}");
    }
    for (text, over) in [
        (&secret[..16], false),
        (&secret[..16], false),
        (&secret[8..24], false),
        (secret, false),
        (&secret[..16], false),
        (&secret[16..], true),
    ] {
        scrubber.text(text);
        assert_eq!(scrubber.is_exposed(), over, "{text}");
    }
}

#[test]
fn a_long_value_whose_beginning_comes_back_often_is_not_exposed() {
    let rest: String = (0..30).map(|n| format!("{}q{n}", n * 7 % 10)).collect();
    let secret = format!("sk_live_51MtwBwLkdIwHu7ix{rest}");
    let exposure = Arc::new(Exposure::default());
    let scrubber = scrubber(&[&secret]).counted_by(Some(exposure.clone()));
    for end in 12..40 {
        let text = format!("id {} ends", &secret[..end]);
        assert!(scrubber.text(&text).contains(REDACTED), "{text}");
    }
    assert!(!exposure.is_empty() && !scrubber.is_exposed());
    // The rest of it comes back bit by bit.
    for start in (30..secret.len() - 12).step_by(4) {
        scrubber.text(&secret[start..start + 12]);
    }
    assert!(scrubber.is_exposed());
    let other = Scrubber::knowing(vec![Arc::default()]).counted_by(Some(exposure));
    assert!(!other.is_exposed(), "another credential may be used");
}

#[test]
fn guesses_beside_a_whole_value_are_removed_with_it() {
    let token = format!("eyJhbGciOiJSUzI1NiJ9.{}", "x1y2z3w4v5".repeat(12));
    let scrubber = scrubber(&[&token]).counted_by(Some(Arc::default()));
    let head = &token[..21 + 71];
    for guess in [&token[92..104], "x9x9x9x9x9x9"] {
        let clean = scrubber.text(&format!("{head}.{guess}")).into_owned();
        assert!(!clean.contains(guess), "{guess}: {clean}");
    }
}

#[test]
fn a_value_that_repeats_itself_costs_no_more_than_another() {
    let secret = "a1".repeat(8_192);
    let scrubber = scrubber(&[&secret]).counted_by(Some(Arc::default()));
    let text = "a1".repeat(512 * 1024);
    let start = std::time::Instant::now();
    assert_eq!(scrubber.text(&text), REDACTED);
    let took = start.elapsed();
    // Quadratic work would take many minutes.
    assert!(took.as_secs() < 60, "{took:?}");
}
