//! Removing known secret values from everything that leaves the sandbox.
//!
//! Pure. A [`Scrubber`] learns the values that were injected and finds them, in any letter case, as
//! they are and in the forms in which servers echo them: percent-encoded, JSON- and HTML-escaped,
//! hex, and base64 at any alignment (so inside `user:password` of basic authentication too). It
//! works on whole, already capped buffers, so a value cannot hide across a chunk border. A hostile
//! provider can always invent one more encoding; what it cannot do is learn a secret it was not
//! sent. Values shorter than [`SECRET_BYTES_MIN`] are not searched for, or ordinary words would
//! vanish from answers; for these the whole text they were injected as is known instead.
//!
//! The search anchors on the last [`ANCHOR_BYTES`] of each form and then looks back for the rest:
//! the automaton stays small for tokens of any length, and tokens that begin alike (every JWT of one
//! issuer) are told apart.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";
/// Shorter values are too likely to be ordinary text.
pub const SECRET_BYTES_MIN: usize = 8;
/// How much of a form the automaton looks for.
pub const ANCHOR_BYTES: usize = 64;

/// Forms (WHATWG), all but unreserved characters, the same with slashes kept, `encodeURIComponent` and
/// `encodeURI` (ECMA-262).
const FORM: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'*');
const PATH: &AsciiSet = &STRICT.remove(b'/');
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
const WHOLE_URI: &AsciiSet = &COMPONENT
    .remove(b';')
    .remove(b',')
    .remove(b'/')
    .remove(b'?')
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=')
    .remove(b'+')
    .remove(b'$')
    .remove(b'#');

/// Knows secret values and finds them in text and bytes.
#[derive(Clone, Default)]
pub struct Scrubber {
    known: BTreeSet<Vec<u8>>,
    search: Option<Search>,
}

#[derive(Clone)]
struct Search {
    anchors: AhoCorasick,
    /// By pattern of the automaton: the whole forms that end in it.
    wholes: Vec<Vec<Vec<u8>>>,
}

impl Scrubber {
    /// Learns more values. Those that are too short are left out; learning one twice costs nothing.
    pub fn learn<'a>(&mut self, secrets: impl IntoIterator<Item = &'a [u8]>) {
        let before = self.known.len();
        for secret in secrets {
            if secret.len() >= SECRET_BYTES_MIN && !self.known.contains(secret) {
                self.known.insert(secret.to_vec());
            }
        }
        if self.known.len() > before {
            let mut by_anchor: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
            for form in self.known.iter().flat_map(|secret| forms(secret)) {
                let anchor = form[form.len().saturating_sub(ANCHOR_BYTES)..].to_ascii_lowercase();
                by_anchor.entry(anchor).or_default().push(form);
            }
            let anchors = AhoCorasick::builder()
                // Built for every call: a DFA would take longer to build than it saves.
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::LeftmostLongest)
                .build(by_anchor.keys())
                .expect("a few hundred patterns of 64 bytes are far below the automaton's limits");
            self.search = Some(Search {
                anchors,
                wholes: by_anchor.into_values().collect(),
            });
        }
    }

    /// Whether nothing is known yet.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether a known value stands in `bytes`, in any of its forms.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.search
            .as_ref()
            .is_some_and(|search| search.anchors.is_match(bytes))
    }

    /// `text` with every known value replaced by [`REDACTED`].
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.replaced(text.as_bytes()) {
            None => Cow::Borrowed(text),
            Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// `bytes` with every known value replaced; not copied where there is none.
    pub fn bytes(&self, bytes: Bytes) -> Bytes {
        self.replaced(&bytes).map_or(bytes, Bytes::from)
    }

    fn replaced(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let search = self.search.as_ref()?;
        let mut out = Vec::new();
        let mut done = 0;
        for found in search.anchors.find_iter(bytes) {
            let back = search.wholes[found.pattern().as_usize()]
                .iter()
                .map(|whole| common_tail(&bytes[done..found.end()], whole))
                .max()
                .unwrap_or_default();
            let start = found.start().min(found.end() - back);
            out.extend_from_slice(&bytes[done..start]);
            out.extend_from_slice(REDACTED.as_bytes());
            done = found.end();
        }
        if done == 0 {
            return None;
        }
        out.extend_from_slice(&bytes[done..]);
        Some(out)
    }
}

/// How many bytes `a` and `b` share at their ends, whatever the letter case.
fn common_tail(a: &[u8], b: &[u8]) -> usize {
    a.iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x.eq_ignore_ascii_case(y))
        .count()
}

/// Every form in which `secret` is searched for. Letter case is the searcher's business.
fn forms(secret: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut cores = vec![secret.to_vec(), hex(secret, "")];
    for lead in 0..3 {
        cores.push(base64_inner(&STANDARD_NO_PAD, secret, lead));
        cores.push(base64_inner(&URL_SAFE_NO_PAD, secret, lead));
    }
    let mut all = BTreeSet::new();
    for core in cores {
        for set in [FORM, STRICT, PATH, COMPONENT, WHOLE_URI] {
            let encoded = percent_encode(&core, set).to_string();
            all.insert(encoded.replace("%20", "+").into_bytes());
            all.insert(encoded.replace('%', "%25").into_bytes());
            all.insert(encoded.into_bytes());
        }
        if let Ok(text) = std::str::from_utf8(&core) {
            let json = json_inner(text);
            all.insert(json.replace('/', "\\/").into_bytes());
            all.insert(json_inner(&json).into_bytes());
            all.insert(json_ascii(&json).into_bytes());
            all.insert(json.into_bytes());
            all.insert(html(text).into_bytes());
        }
        all.insert(core);
    }
    all.insert(hex(secret, "%"));
    all.insert(hex(secret, "\\x"));
    if let Ok(text) = std::str::from_utf8(secret) {
        all.insert(
            text.encode_utf16()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect::<String>()
                .into_bytes(),
        );
        all.insert(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        all.insert(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    }
    all.retain(|form| form.len() >= SECRET_BYTES_MIN);
    all
}

fn hex(bytes: &[u8], lead: &str) -> Vec<u8> {
    bytes
        .iter()
        .map(|byte| format!("{lead}{byte:02x}"))
        .collect::<String>()
        .into_bytes()
}

/// The base64 characters that depend on `secret` alone when `lead` other bytes stand before it.
fn base64_inner(engine: &impl Engine, secret: &[u8], lead: usize) -> Vec<u8> {
    let mut padded = vec![0; lead];
    padded.extend_from_slice(secret);
    let encoded = engine.encode(&padded);
    let from = (lead * 8).div_ceil(6);
    let to = padded.len() * 8 / 6;
    encoded.as_bytes()[from..to].to_vec()
}

/// The inside of a JSON string.
fn json_inner(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Escapes as strict JSON writers do: non-ASCII and the characters that HTML gives a meaning.
fn json_ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() && !"<>&'=+".contains(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use percent_encoding::utf8_percent_encode;

    use super::*;

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
            hex(SECRET.as_bytes(), "")
                .iter()
                .map(|b| char::from(*b))
                .collect(),
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
}
