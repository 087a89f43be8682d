//! Removing known secret values from everything that leaves the sandbox.
//!
//! Pure. A [`Scrubber`] knows fragments of secrets ([`fragments`]) in the forms in which encoders write
//! them ([`forms`]) and looks for these in a text as it is and as a reader would decode it
//! ([`views`]). So a value is found whole, cut at either end, wrapped, escaped several times over, or in
//! pieces with something between them that a reader leaves out. Work and memory grow with the text and
//! with nothing else. Values shorter than [`SECRET_BYTES_MIN`] are not searched for, or ordinary words
//! would vanish from answers; for these the whole text they are written as is known instead.
//!
//! This is the second line. A hostile provider can always invent one more encoding; which answers reach
//! a plugin at all is decided in [`super::headers`] and [`super::answer`].

mod exposure;
mod forms;
mod fragments;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
mod views;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;

use exposure::Covering;
pub use exposure::Exposure;
use fragments::{FragmentHit, Fragments, PartPiece, SecretPart, WINDOW_BYTES_MIN, fingerprint};
use views::View;

/// What replaces a secret.
pub const REDACTED: &str = "[redacted]";
/// Shorter values are too likely to be ordinary text.
pub const SECRET_BYTES_MIN: usize = WINDOW_BYTES_MIN;
/// So many escapes one in another are undone.
const LAYERS_MAX: usize = 3;
/// A text is looked through in pieces of this size, which begin so much earlier than the last one ended:
/// memory stays small, and what crosses an end is still seen whole.
const PIECE_BYTES: usize = 128 * 1024;
const OVERLAP_BYTES: usize = 16 * 1024;

/// Knows secret values and finds them in text and bytes. Holds hashes of their fragments only.
#[derive(Clone, Default)]
pub struct Scrubber {
    own: SecretTable,
    shared: Vec<Arc<LearnedSecrets>>,
    /// Of other users: only whole values are searched for.
    others: Vec<Arc<LearnedSecrets>>,
    exposure: Option<Arc<Exposure>>,
}

/// Which parts of known values are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchDepth {
    /// Every piece of the call's own values, and the whole values of others.
    Pieces,
    /// Whole values: where a piece says nothing but whether a guess was right.
    Wholes,
    /// Whole values of the call's own: another user's value must not decide what this one may send.
    OwnWholes,
}

/// Values that several scrubbers know, and that may become more while these are in use.
#[derive(Default)]
pub struct LearnedSecrets(RwLock<SecretTable>);

#[derive(Clone, Default)]
struct SecretTable {
    pieces: Fragments,
    wholes: Fragments,
    /// Nobody searches for pieces of these.
    only_wholes: bool,
    /// Fingerprints of the values, so that none is learned twice.
    known: HashSet<u64>,
    /// Fingerprints of their parts.
    parts: HashSet<u64>,
}

impl SecretTable {
    fn learn(&mut self, secret: &[u8]) {
        if secret.len() < SECRET_BYTES_MIN || !self.known.insert(fingerprint(secret)) {
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
        self.wholes.punctuated |= plain < SECRET_BYTES_MIN || plain * 4 < part.len() * 3;
        let named = SecretPart {
            id: fingerprint(part),
            bytes: part.len() - public,
        };
        self.parts.insert(named.id);
        for form in forms::forms(part, public) {
            self.wholes.add_whole(&form, named);
            if !self.only_wholes {
                self.pieces.add(&form, named);
            }
        }
    }

    fn searched(&self, depth: SearchDepth) -> &Fragments {
        match depth {
            SearchDepth::Pieces => &self.pieces,
            SearchDepth::Wholes | SearchDepth::OwnWholes => &self.wholes,
        }
    }
}

impl LearnedSecrets {
    /// For values of other users, see [`Scrubber::with_others`].
    pub fn only_wholes() -> Self {
        Self(RwLock::new(SecretTable {
            only_wholes: true,
            ..SecretTable::default()
        }))
    }

    /// Learns more values; one that is known costs nothing.
    pub fn learn<'a>(&self, secrets: impl IntoIterator<Item = &'a [u8]>) {
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        secrets.into_iter().for_each(|secret| table.learn(secret));
    }

    /// How many fragments are known.
    pub fn fragments(&self) -> usize {
        self.with(|table| table.pieces.len() + table.wholes.len())
    }

    /// Whether so much came back of one of these values that it must not be used any more.
    pub fn is_exposed(&self, exposure: &Exposure) -> bool {
        exposure.is_over(|part| self.with(|table| table.parts.contains(&part)))
    }

    fn with<T>(&self, read: impl FnOnce(&SecretTable) -> T) -> T {
        read(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Scrubber {
    /// One that knows all of these, also what they learn later.
    pub fn knowing(shared: Vec<Arc<LearnedSecrets>>) -> Self {
        Self {
            shared,
            ..Self::default()
        }
    }

    /// One that also knows whole values of other users, since a provider may repeat one caller's credential to the next.
    pub fn with_others(mut self, others: Vec<Arc<LearnedSecrets>>) -> Self {
        self.others = others;
        self
    }

    /// One that counts the pieces of its own values that it removes.
    pub fn counted_by(mut self, exposure: Option<Arc<Exposure>>) -> Self {
        self.exposure = exposure;
        self
    }

    /// Whether so much came back of one of the own values that it must not be used any more.
    pub fn is_exposed(&self) -> bool {
        let knows = |part: u64| {
            let has = |table: &SecretTable| table.parts.contains(&part);
            has(&self.own) || self.shared.iter().any(|shared| shared.with(has))
        };
        self.exposure.as_ref().is_some_and(|one| one.is_over(knows))
    }

    /// Learns more values. Those that are too short are left out; learning one twice costs nothing.
    pub fn learn<'a>(&mut self, secrets: impl IntoIterator<Item = &'a [u8]>) {
        for secret in secrets {
            let print = fingerprint(secret);
            let known = |table: &SecretTable| table.known.contains(&print);
            if !self.shared.iter().any(|shared| shared.with(known)) {
                self.own.learn(secret);
            }
        }
    }

    /// Whether `secret` is known already, or too short to be.
    pub fn knows(&self, secret: &[u8]) -> bool {
        let print = fingerprint(secret);
        let known = |table: &SecretTable| table.known.contains(&print);
        secret.len() < SECRET_BYTES_MIN
            || known(&self.own)
            || self.shared.iter().any(|shared| shared.with(known))
    }

    /// Whether nothing is known yet.
    pub fn is_empty(&self) -> bool {
        let nothing = |table: &SecretTable| table.wholes.is_empty();
        let mut learned = self.shared.iter().chain(&self.others);
        nothing(&self.own) && learned.all(|learned| learned.with(nothing))
    }

    /// Whether a part of a known value is in `bytes`, in any of its forms.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.finds_to(SearchDepth::Pieces, bytes)
    }

    /// Whether one of the values that `depth` names is in `bytes`.
    pub fn finds_to(&self, depth: SearchDepth, bytes: &[u8]) -> bool {
        pieces(bytes.len()).any(|piece| self.finds_in(depth, &bytes[piece]))
    }

    /// `text` with every known value replaced by [`REDACTED`].
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_to(SearchDepth::Pieces, text)
    }

    /// `text` with every value that `depth` names replaced by [`REDACTED`].
    pub fn text_to<'a>(&self, depth: SearchDepth, text: &'a str) -> Cow<'a, str> {
        match self.replaced(depth, text.as_bytes()) {
            None => Cow::Borrowed(text),
            Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// `bytes` with every known value replaced; not copied where there is none.
    pub fn bytes(&self, bytes: Bytes) -> Bytes {
        self.bytes_to(SearchDepth::Pieces, bytes)
    }

    /// `bytes` with every value that `depth` names replaced.
    pub fn bytes_to(&self, depth: SearchDepth, bytes: Bytes) -> Bytes {
        self.replaced(depth, &bytes).map_or(bytes, Bytes::from)
    }

    fn replaced(&self, depth: SearchDepth, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.is_empty() {
            return None;
        }
        let places: Vec<Range<usize>> = pieces(bytes.len())
            .filter(|piece| self.finds_in(depth, &bytes[piece.clone()]))
            .collect();
        let mut found: Vec<Range<usize>> = Vec::new();
        let exposure = self.exposure.as_ref();
        if let Some(exposure) = exposure.filter(|_| depth == SearchDepth::Pieces) {
            for place in &places {
                self.each_find(SearchDepth::OwnWholes, bytes, place, |range, _| {
                    push(&mut found, range);
                });
            }
            // What a whole value reaches over is removed with it, whether it is a right guess or not.
            let wholes = Covering::new(&found);
            let mut alone: HashSet<PartPiece> = HashSet::new();
            for place in &places {
                self.each_find(depth, bytes, place, |range, hit| {
                    if hit.own && !wholes.holds(&range) {
                        alone.insert(hit.piece);
                    }
                    push(&mut found, range);
                });
            }
            exposure.count(&alone);
        } else {
            for place in &places {
                self.each_find(depth, bytes, place, |range, _| push(&mut found, range));
            }
        }
        (!found.is_empty()).then(|| without(bytes, found))
    }

    fn finds_in(&self, depth: SearchDepth, text: &[u8]) -> bool {
        let mut found = false;
        self.each_view(text, false, |view| {
            self.search(depth, &view.bytes, |_| {
                found = true;
                false
            });
            !found
        });
        found
    }

    /// Shows what is found in one place of `bytes`, by its offset there.
    fn each_find(
        &self,
        depth: SearchDepth,
        bytes: &[u8],
        place: &Range<usize>,
        mut see: impl FnMut(Range<usize>, FragmentHit),
    ) {
        let text = &bytes[place.clone()];
        self.each_view(text, true, |view| {
            let mut walked = 0;
            self.search(depth, &view.bytes, |hit| {
                locate(text, view, hit, &mut walked, |range| {
                    see(range.start + place.start..range.end + place.start, hit);
                });
                true
            });
            true
        });
    }

    fn search(&self, depth: SearchDepth, text: &[u8], mut hit: impl FnMut(FragmentHit) -> bool) {
        let mut more = true;
        let mut forward = |found| {
            more = hit(found);
            more
        };
        self.own.searched(depth).search(text, &mut forward);
        for shared in &self.shared {
            if !more {
                return;
            }
            let mut forward = |found| {
                more = hit(found);
                more
            };
            shared.with(|table| table.searched(depth).search(text, &mut forward));
        }
        if depth == SearchDepth::OwnWholes {
            return;
        }
        for others in &self.others {
            if !more {
                return;
            }
            let mut forward = |found| {
                more = hit(FragmentHit {
                    own: false,
                    ..found
                });
                more
            };
            others.with(|table| table.wholes.search(text, &mut forward));
        }
    }

    /// Shows the text as it is and as it is decoded, until `see` says that it has seen enough.
    fn each_view(&self, text: &[u8], traced: bool, mut see: impl FnMut(&View) -> bool) {
        let plain = View {
            bytes: views::fold(text),
            from: Vec::new(),
        };
        if !see(&plain) || !see(&views::squeeze(text, None, traced)) {
            return;
        }
        let mut learned = self.shared.iter().chain(&self.others);
        let punctuated = self.own.wholes.punctuated
            || learned.any(|learned| learned.with(|table| table.wholes.punctuated));
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

/// Adds a range, to the one before where they overlap.
fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.contains(&range.start) => {
            last.end = last.end.max(range.end);
        }
        _ => ranges.push(range),
    }
}

/// Shows the parts of `text` that a find in a view came from. A find that spans the structure of a
/// document is shown in parts, so that the document keeps its form. `walked`: how far the finds before it in
/// this view reach, so that no byte is looked at for each of many finds.
fn locate(
    text: &[u8],
    view: &View,
    hit: FragmentHit,
    walked: &mut usize,
    mut see: impl FnMut(Range<usize>),
) {
    let at = |index: usize| {
        let (from, to) = view.place(index);
        from as usize..to as usize
    };
    let mut range = at(hit.start);
    let free = range.start.saturating_sub(*walked);
    let before = text[..range.start]
        .iter()
        .rev()
        .take(free.min(hit.around.before.into()))
        .take_while(|byte| is_token(**byte))
        .count();
    range.start -= before;
    for index in hit.start + 1..hit.end {
        let next = at(index);
        let between = text.get(range.end..next.start).unwrap_or_default();
        if !view.from.is_empty() && between.iter().any(|byte| b"\"{}[]<>".contains(byte)) {
            see(range);
            range = next;
        } else {
            range.end = range.end.max(next.end);
        }
    }
    let known = walked.saturating_sub(range.end);
    range.end += known.min(hit.around.after.into());
    let after = text[range.end..]
        .iter()
        .take(usize::from(hit.around.after).saturating_sub(known))
        .take_while(|byte| is_token(**byte))
        .count();
    range.end += after;
    *walked = range.end.max(*walked);
    see(range);
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

/// Whether numbers of a JSON document are there, outside of any string.
fn is_bare(bytes: &[u8], range: &Range<usize>) -> bool {
    let number = |byte: &u8| byte.is_ascii_digit() || b" \t\r\n,.-".contains(byte);
    let before = bytes[..range.start].trim_ascii_end().last();
    let after = bytes[range.end..].trim_ascii_start().first();
    bytes[range.clone()].iter().all(number)
        && matches!(before, Some(b'[' | b',' | b':'))
        && matches!(after, Some(b']' | b',' | b'}'))
}
