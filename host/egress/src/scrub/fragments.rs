//! The fragments of secrets that are searched for, without the secrets.
//!
//! Each form of a secret ([`super::forms`]) is cut into overlapping windows, and a window is kept as a
//! hash under a key that this process drew. A window is as long as it takes to be told from ordinary
//! text: shorter where digits and letters mix, longer where they do not. A text is looked through once,
//! whatever the number of secrets: eight bytes at a time against a bit field, and only what passes
//! there is hashed and looked up.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use super::forms::SecretForm;

/// The shortest window. Shorter texts are too likely to be ordinary ones.
pub(super) const WINDOW_BYTES_MIN: usize = 8;
/// The longest window; a prefix has one bit for each length.
const WINDOW_BYTES_MAX: usize = WINDOW_BYTES_MIN + 63;
/// A window of digits alone, or of letters alone, is longer by so much.
const UNMIXED_BYTES_MORE: usize = 7;
/// So many bytes at the start of a whole value may be missing.
const WHOLE_SLACK: usize = 4;
/// So far around a window the rest of its secret is removed with it, cut or not.
const MARGIN_BYTES: usize = 16;
/// Bits of the field for each prefix in it.
const BITS_A_PREFIX: usize = 32;
const BITS_MIN: usize = 1 << 12;

/// Drawn once a process: nobody outside can make texts that fall into one slot.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
/// Odd, so that no prefix is lost by the multiplication.
static FACTOR: LazyLock<u64> = LazyLock::new(|| HASHER.hash_one("factor") | 1);

/// A text that replaces another where only equality matters.
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    HASHER.hash_one(bytes)
}

/// How far a secret goes on before and behind a window, in bytes of its form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WindowMargins {
    pub before: u16,
    pub after: u16,
}

/// Which bytes of which part of a secret a window covers, whatever the form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct PartPiece {
    /// The fingerprint of the part.
    pub part: u64,
    /// How many of its bytes are secret.
    pub bytes: u32,
    pub start: u32,
    pub end: u32,
}

impl PartPiece {
    /// `at` and `len`: of a form of `form_bytes` bytes.
    fn of_window(part: SecretPart, form_bytes: usize, at: usize, len: usize) -> Self {
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            part: part.id,
            bytes: small(part.bytes),
            start: small(at * part.bytes / form_bytes),
            end: small(((at + len) * part.bytes).div_ceil(form_bytes)),
        }
    }
}

/// One part of a secret, of which forms are added.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecretPart {
    pub id: u64,
    /// Without what is public.
    pub bytes: usize,
}

#[derive(Clone, Copy, Default)]
struct KnownWindow {
    around: WindowMargins,
    piece: PartPiece,
}

/// Where a fragment is in the searched text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FragmentHit {
    pub start: usize,
    pub end: usize,
    pub around: WindowMargins,
    pub piece: PartPiece,
    /// Of the call's own user.
    pub own: bool,
}

/// Windows of many secrets.
#[derive(Clone, Default)]
pub(super) struct Fragments {
    windows: HashMap<u64, KnownWindow>,
    /// By the multiplied first eight bytes: a bit for each length of window that begins so.
    prefixes: HashMap<u64, u64>,
    /// A bit for the high end of each key of `prefixes`.
    field: Vec<u64>,
    shift: u32,
    /// Some form has too few letters and digits to be found by these alone.
    pub punctuated: bool,
}

impl Fragments {
    pub(super) fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// How many windows are kept.
    pub(super) fn len(&self) -> usize {
        self.windows.len()
    }

    /// Adds the windows of one form.
    pub(super) fn add(&mut self, form: &SecretForm, part: SecretPart) {
        let rest = &form.bytes[form.public.min(form.bytes.len())..];
        let longest = match rest.len() {
            0..WINDOW_BYTES_MIN => return,
            // Without its first or last character it is still found.
            len @ 10.. => (len - 1).min(WINDOW_BYTES_MAX),
            len => len,
        };
        let margin = MARGIN_BYTES.max(form.stride);
        let far = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let around = |at: usize, len: usize| WindowMargins {
            // What is public is not searched for, but goes with the rest.
            before: far(match at <= margin {
                true => at + form.public + form.lead,
                false => margin,
            }),
            after: far((rest.len() - at - len).min(margin)),
        };
        for at in (0..=rest.len() - WINDOW_BYTES_MIN).step_by(form.stride) {
            let len = window_bytes(&rest[at..], form.window).min(longest);
            if let Some(window) = rest.get(at..at + len) {
                let piece = PartPiece::of_window(part, rest.len(), at, len);
                self.insert(window, around(at, len), piece);
            }
        }
        // The end is covered whatever its characters are.
        let len = (form.window + UNMIXED_BYTES_MORE).min(longest);
        let at = rest.len() - len;
        let piece = PartPiece::of_window(part, rest.len(), at, len);
        self.insert(&rest[at..], around(at, len), piece);
    }

    /// Adds one form to be found only whole, but for [`WHOLE_SLACK`] bytes at its start: an escape before it may take
    /// these with it. Of a long one [`WINDOW_BYTES_MAX`] bytes at either end will do. That is too much to be guessed one
    /// character at a time.
    pub(super) fn add_whole(&mut self, form: &SecretForm, part: SecretPart) {
        let rest = &form.bytes[form.public.min(form.bytes.len())..];
        let slack = match rest.len() {
            0..WINDOW_BYTES_MIN => return,
            WINDOW_BYTES_MIN..20 => 0,
            _ => WHOLE_SLACK,
        };
        let far = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let last = rest.len().saturating_sub(WINDOW_BYTES_MAX);
        for at in (0..=slack).chain([last.max(slack)]) {
            let len = (rest.len() - at).min(WINDOW_BYTES_MAX);
            let around = WindowMargins {
                before: far(at + form.public + form.lead),
                after: far(rest.len() - at - len),
            };
            let piece = PartPiece::of_window(part, rest.len(), at, len);
            self.insert(&rest[at..at + len], around, piece);
        }
    }

    fn insert(&mut self, window: &[u8], around: WindowMargins, piece: PartPiece) {
        let known = self.windows.entry(fingerprint(window));
        let known = known.or_insert(KnownWindow { around, piece });
        known.around.before = known.around.before.max(around.before);
        known.around.after = known.around.after.max(around.after);
        let key = prefix(window);
        *self.prefixes.entry(key).or_default() |= 1 << (window.len() - WINDOW_BYTES_MIN);
        if self.prefixes.len() * BITS_A_PREFIX > self.field.len() * 64 {
            self.widen();
        } else {
            self.set(key);
        }
    }

    fn widen(&mut self) {
        let bits = (self.prefixes.len() * BITS_A_PREFIX * 2)
            .next_power_of_two()
            .max(BITS_MIN);
        self.field = vec![0; bits / 64];
        self.shift = 64 - bits.trailing_zeros();
        for key in self.prefixes.keys().copied().collect::<Vec<_>>() {
            self.set(key);
        }
    }

    fn set(&mut self, key: u64) {
        let bit = key >> self.shift;
        self.field[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    /// Calls `hit` with every window that is in `text`, in the order of their starts, until it says
    /// that it has heard enough. The text is in lower case.
    pub(super) fn search(&self, text: &[u8], mut hit: impl FnMut(FragmentHit) -> bool) {
        if self.windows.is_empty() || text.len() < WINDOW_BYTES_MIN {
            return;
        }
        let (factor, shift, field) = (*FACTOR, self.shift, self.field.as_slice());
        let windows = text.windows(WINDOW_BYTES_MIN);
        for (start, eight) in windows.enumerate() {
            let eight: [u8; 8] = eight.try_into().expect("windows of eight bytes");
            let key = u64::from_le_bytes(eight).wrapping_mul(factor);
            let bit = key >> shift;
            if field[(bit / 64) as usize] & (1 << (bit % 64)) == 0 {
                continue;
            }
            let Some(mut lengths) = self.prefixes.get(&key).copied() else {
                continue;
            };
            while lengths != 0 {
                // The longest first: it covers the others.
                let length = 63 - lengths.leading_zeros() as usize;
                lengths &= !(1 << length);
                let end = start + length + WINDOW_BYTES_MIN;
                let Some(window) = text.get(start..end) else {
                    continue;
                };
                if let Some(known) = self.windows.get(&fingerprint(window)) {
                    if !hit(FragmentHit {
                        start,
                        end,
                        around: known.around,
                        piece: known.piece,
                        own: true,
                    }) {
                        return;
                    }
                    break;
                }
            }
        }
    }
}

fn prefix(window: &[u8]) -> u64 {
    let eight: [u8; 8] = window[..8].try_into().expect("a window has eight bytes");
    u64::from_le_bytes(eight).wrapping_mul(*FACTOR)
}

/// How many bytes of `rest` it takes until they are told from ordinary text: `least` where digits and
/// letters mix, more where they are all hexadecimal, all letters or all digits.
fn window_bytes(rest: &[u8], least: usize) -> usize {
    let head = &rest[..rest.len().min(least)];
    let digits = head.iter().filter(|byte| byte.is_ascii_digit()).count();
    let hex = head.iter().all(u8::is_ascii_hexdigit);
    if digits == head.len() {
        least + UNMIXED_BYTES_MORE
    } else if digits == 0 {
        least + UNMIXED_BYTES_MORE - 1
    } else if hex {
        least + 2
    } else {
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str, stride: usize) -> SecretForm {
        SecretForm {
            bytes: text.as_bytes().to_vec(),
            window: 10,
            stride,
            public: 0,
            lead: 0,
        }
    }

    fn part(secret: &str) -> SecretPart {
        SecretPart {
            id: fingerprint(secret.as_bytes()),
            bytes: secret.len(),
        }
    }

    fn random() -> impl FnMut() -> char {
        let mut state = 7u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b"abcdefghijklmnopqrstuvwxyz0123456789"[(state >> 33) as usize % 36])
        }
    }

    fn covered(fragments: &Fragments, text: &str) -> Vec<(usize, usize)> {
        let mut hits = Vec::new();
        fragments.search(text.as_bytes(), |hit| {
            hits.push((hit.start, hit.end));
            true
        });
        hits
    }

    #[test]
    fn every_fragment_of_a_window_is_found_and_nothing_shorter() {
        let secret = "a1b2c3d4e5x6g7h8i9j0k1l2";
        let mut fragments = Fragments::default();
        fragments.add(&form(secret, 1), part(secret));
        for start in 0..secret.len() {
            for end in start..=secret.len() {
                let text = format!("--{}--", &secret[start..end]);
                let found = !covered(&fragments, &text).is_empty();
                if end - start >= 12 {
                    assert!(found, "{text}");
                } else if end - start < 10 {
                    assert!(!found, "{text}");
                }
            }
        }
    }

    #[test]
    fn a_long_form_is_sampled_and_says_how_far_it_goes_on() {
        let mut next = random();
        let secret: String = (0..400).map(|_| next()).collect();
        let mut fragments = Fragments::default();
        fragments.add(&form(&secret, 5), part(&secret));
        for start in 0..secret.len() - 32 {
            let text = &secret[start..start + 32];
            let mut hits = Vec::new();
            fragments.search(text.as_bytes(), |hit| {
                hits.push(hit);
                true
            });
            let (first, last) = (hits.first().expect("a fragment"), hits[hits.len() - 1]);
            assert!(first.start <= usize::from(first.around.before), "{start}");
            assert!(
                text.len() - last.end <= usize::from(last.around.after),
                "{start}"
            );
        }
    }

    #[test]
    fn many_secrets_cost_no_false_finds() {
        let mut fragments = Fragments::default();
        let mut next = random();
        for _ in 0..200 {
            let secret: String = (0..40).map(|_| next()).collect();
            fragments.add(&form(&secret, 1), part(&secret));
        }
        let text: String = (0..200_000).map(|_| next()).collect();
        assert!(covered(&fragments, &text).is_empty());
    }
}
