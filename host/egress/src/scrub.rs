//! Removing known secret values from everything that leaves the sandbox.
//!
//! Pure. A [`Scrubber`] knows fragments of secrets ([`fragments`]) in the forms in which encoders write
//! them ([`forms`]) and looks for these in a text as it stands and as a reader would decode it
//! ([`views`]). So a value is found whole, cut at either end, wrapped, escaped several times over, or in
//! pieces with something between them that a reader leaves out. Work and memory grow with the text and
//! with nothing else. Values shorter than [`SECRET_BYTES_MIN`] are not searched for, or ordinary words
//! would vanish from answers; for these the whole text they are written as is known instead.
//!
//! This is the second line. A hostile provider can always invent one more encoding; which answers reach
//! a plugin at all is decided in [`super::headers`] and [`super::answer`].

mod forms;
mod fragments;
#[cfg(test)]
mod properties;
mod views;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;

use fragments::{FragmentHit, Fragments, WINDOW_BYTES_MIN, fingerprint};
use views::View;

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";
/// Shorter values are too likely to be ordinary text.
pub const SECRET_BYTES_MIN: usize = WINDOW_BYTES_MIN;
/// So many escapes one in another are undone.
const LAYERS_MAX: usize = 3;
/// A text is looked through in pieces of this size, which begin so much earlier than the last one ended:
/// memory stays small, and what stands across an end is still seen whole.
const PIECE_BYTES: usize = 128 * 1024;
const OVERLAP_BYTES: usize = 16 * 1024;

/// Knows secret values and finds them in text and bytes. Holds hashes of their fragments only.
#[derive(Clone, Default)]
pub struct Scrubber {
    own: SecretTable,
    shared: Vec<Arc<LearnedSecrets>>,
}

/// Values that several scrubbers know, and that may become more while these are in use.
#[derive(Default)]
pub struct LearnedSecrets(RwLock<SecretTable>);

#[derive(Clone, Default)]
struct SecretTable {
    fragments: Fragments,
    /// Fingerprints of the whole values, so that none is learned twice.
    wholes: HashSet<u64>,
}

impl SecretTable {
    fn learn(&mut self, secret: &[u8]) {
        if secret.len() < SECRET_BYTES_MIN || !self.wholes.insert(fingerprint(secret)) {
            return;
        }
        match std::str::from_utf8(secret) {
            Ok(text) => {
                for (part, public) in forms::parts(text) {
                    self.add(part.as_bytes(), public);
                }
            }
            Err(_) => self.add(secret, 0),
        }
    }

    fn add(&mut self, part: &[u8], public: usize) {
        if part.len() < SECRET_BYTES_MIN {
            return;
        }
        let plain = forms::squeeze(part).len();
        self.fragments.punctuated |= plain < SECRET_BYTES_MIN || plain * 4 < part.len() * 3;
        for form in forms::forms(part, public) {
            self.fragments.add(&form);
        }
    }
}

impl LearnedSecrets {
    /// Learns more values; one that is known costs nothing.
    pub fn learn<'a>(&self, secrets: impl IntoIterator<Item = &'a [u8]>) {
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        secrets.into_iter().for_each(|secret| table.learn(secret));
    }

    /// How many fragments are known.
    pub fn fragments(&self) -> usize {
        self.with(|table| table.fragments.len())
    }

    fn with<T>(&self, read: impl FnOnce(&SecretTable) -> T) -> T {
        read(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Scrubber {
    /// One that knows all of these, also what they learn later.
    pub fn knowing(shared: Vec<Arc<LearnedSecrets>>) -> Self {
        Self {
            own: SecretTable::default(),
            shared,
        }
    }

    /// Learns more values. Those that are too short are left out; learning one twice costs nothing.
    pub fn learn<'a>(&mut self, secrets: impl IntoIterator<Item = &'a [u8]>) {
        for secret in secrets {
            let print = fingerprint(secret);
            let known = |table: &SecretTable| table.wholes.contains(&print);
            if !self.shared.iter().any(|shared| shared.with(known)) {
                self.own.learn(secret);
            }
        }
    }

    /// Whether `secret` is known already, or too short to be.
    pub fn knows(&self, secret: &[u8]) -> bool {
        let print = fingerprint(secret);
        let known = |table: &SecretTable| table.wholes.contains(&print);
        secret.len() < SECRET_BYTES_MIN
            || known(&self.own)
            || self.shared.iter().any(|shared| shared.with(known))
    }

    /// Whether nothing is known yet.
    pub fn is_empty(&self) -> bool {
        let nothing = |table: &SecretTable| table.fragments.is_empty();
        nothing(&self.own) && self.shared.iter().all(|shared| shared.with(nothing))
    }

    /// Whether a part of a known value stands in `bytes`, in any of its forms.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        pieces(bytes.len()).any(|piece| self.finds_in(&bytes[piece]))
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
        if self.is_empty() {
            return None;
        }
        let mut found: Vec<Range<usize>> = Vec::new();
        for piece in pieces(bytes.len()) {
            let start = piece.start;
            if self.finds_in(&bytes[piece.clone()]) {
                let ranges = self.ranges_in(&bytes[piece]);
                found.extend(ranges.into_iter().map(|r| r.start + start..r.end + start));
            }
        }
        (!found.is_empty()).then(|| without(bytes, found))
    }

    fn finds_in(&self, text: &[u8]) -> bool {
        let mut found = false;
        self.each_view(text, false, |view| {
            self.search(&view.bytes, |_| {
                found = true;
                false
            });
            !found
        });
        found
    }

    fn ranges_in(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        self.each_view(text, true, |view| {
            self.search(&view.bytes, |hit| {
                place(text, view, hit, &mut ranges);
                true
            });
            true
        });
        ranges
    }

    fn search(&self, text: &[u8], mut hit: impl FnMut(FragmentHit) -> bool) {
        let mut more = true;
        let mut hear = |found| {
            more = hit(found);
            more
        };
        self.own.fragments.search(text, &mut hear);
        for shared in &self.shared {
            if !more {
                return;
            }
            let mut hear = |found| {
                more = hit(found);
                more
            };
            shared.with(|table| table.fragments.search(text, &mut hear));
        }
    }

    /// Shows the text as it stands and as it is decoded, until `see` says that it has seen enough.
    fn each_view(&self, text: &[u8], traced: bool, mut see: impl FnMut(&View) -> bool) {
        let plain = View {
            bytes: views::fold(text),
            from: Vec::new(),
        };
        if !see(&plain) || !see(&views::squeeze(text, None, traced)) {
            return;
        }
        let punctuated = self.own.fragments.punctuated
            || self
                .shared
                .iter()
                .any(|shared| shared.with(|table| table.fragments.punctuated));
        let mut under: Option<View> = None;
        for _ in 0..LAYERS_MAX {
            let bytes = under.as_ref().map_or(text, |view| &view.bytes);
            let Some(mut next) = views::unescape(bytes, under.as_ref(), traced) else {
                return;
            };
            if !see(&views::squeeze(&next.bytes, Some(&next), traced)) {
                return;
            }
            if punctuated {
                let original = views::fold(&next.bytes);
                let original = std::mem::replace(&mut next.bytes, original);
                if !see(&next) {
                    return;
                }
                next.bytes = original;
            }
            under = Some(next);
        }
    }
}

/// The pieces in which a text is looked through.
fn pieces(len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len)
        .step_by(PIECE_BYTES)
        .map(move |start| start.saturating_sub(OVERLAP_BYTES)..(start + PIECE_BYTES).min(len))
}

/// Notes the parts of `text` that a find in a view came from. A find that spans the structure of a
/// document is noted in parts, so that the document keeps its form.
fn place(text: &[u8], view: &View, hit: FragmentHit, ranges: &mut Vec<Range<usize>>) {
    let at = |index: usize| {
        let (from, to) = view.place(index);
        from as usize..to as usize
    };
    let mut range = at(hit.start);
    let before = text[..range.start]
        .iter()
        .rev()
        .take(hit.around.before.into())
        .take_while(|byte| is_token(**byte))
        .count();
    range.start -= before;
    for index in hit.start + 1..hit.end {
        let next = at(index);
        let between = text.get(range.end..next.start).unwrap_or_default();
        if !view.from.is_empty() && between.iter().any(|byte| b"\"{}[]<>".contains(byte)) {
            ranges.push(range);
            range = next;
        } else {
            range.end = range.end.max(next.end);
        }
    }
    let after = text[range.end..]
        .iter()
        .take(hit.around.after.into())
        .take_while(|byte| is_token(**byte))
        .count();
    range.end += after;
    ranges.push(range);
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=%".contains(&byte)
}

fn without(bytes: &[u8], mut found: Vec<Range<usize>>) -> Vec<u8> {
    found.sort_by_key(|range| (range.start, range.end));
    let document = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = 0;
    let mut found = found.into_iter().peekable();
    while let Some(mut range) = found.next() {
        while let Some(next) = found.next_if(|next| next.start < range.end) {
            range.end = range.end.max(next.end);
        }
        range.start = range.start.max(done);
        if range.is_empty() {
            continue;
        }
        out.extend_from_slice(&bytes[done..range.start]);
        let bare = document && is_bare(bytes, &range);
        out.extend_from_slice(if bare { b"null" } else { REDACTED.as_bytes() });
        done = range.end;
    }
    out.extend_from_slice(&bytes[done..]);
    out
}

/// Whether numbers of a JSON document stand there, outside of any text.
fn is_bare(bytes: &[u8], range: &Range<usize>) -> bool {
    let number = |byte: &u8| byte.is_ascii_digit() || b" \t\r\n,.-".contains(byte);
    let before = bytes[..range.start].trim_ascii_end().last();
    let after = bytes[range.end..].trim_ascii_start().first();
    bytes[range.clone()].iter().all(number)
        && matches!(before, Some(b'[' | b',' | b':'))
        && matches!(after, Some(b']' | b',' | b'}'))
}

#[cfg(test)]
mod tests {
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
}
