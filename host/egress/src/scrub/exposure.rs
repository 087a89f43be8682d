//! How much of a user's credentials has come back piece by piece.
//!
//! Redaction answers a guess: who knows nine characters of a secret can store each candidate for the tenth at an honest
//! provider, read them back and see which one was removed. So a piece that comes back without the rest of its secret is
//! counted. Once a third text has brought something new, and little of the secret is left to guess, its connection is
//! not used until it is connected again with another one.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fragments::PartPiece;

/// A secret that is short comes back cut in ordinary use too; each text may confirm a few characters.
const TEXTS_MAX: usize = 3;
/// So many bytes have to stay unknown: too many to try.
const HIDDEN_BYTES_MIN: usize = 16;

/// What has come back of the credentials of one user for one service.
#[derive(Default)]
pub struct Exposure(Mutex<HashMap<u64, PartExposure>>);

/// What has come back of one part of a secret.
#[derive(Default)]
struct PartExposure {
    covered: Vec<bool>,
    /// Texts that brought something new.
    texts: usize,
}

impl PartExposure {
    fn is_over(&self) -> bool {
        let hidden = self.covered.iter().filter(|covered| !**covered).count();
        self.texts >= TEXTS_MAX && hidden < HIDDEN_BYTES_MIN
    }
}

impl Exposure {
    /// Whether nothing has come back yet.
    pub fn is_empty(&self) -> bool {
        self.parts().is_empty()
    }

    /// Whether so much came back of one of the parts that `is_known` names that it must not be used any more.
    pub(super) fn is_over(&self, is_known: impl Fn(u64) -> bool) -> bool {
        let parts = self.parts();
        let mut over = parts.iter().filter(|(_, exposure)| exposure.is_over());
        over.any(|(part, _)| is_known(*part))
    }

    /// Counts the pieces of one text.
    pub(super) fn count(&self, pieces: &HashSet<PartPiece>) {
        let mut parts = self.parts();
        let mut new = HashSet::new();
        for piece in pieces {
            let exposure = parts.entry(piece.part).or_default();
            exposure.covered.resize(piece.bytes as usize, false);
            let end = piece.end.min(piece.bytes) as usize;
            let covered = exposure.covered.get_mut(piece.start as usize..end);
            for covered in covered.into_iter().flatten() {
                if !std::mem::replace(covered, true) {
                    new.insert(piece.part);
                }
            }
        }
        for part in new {
            parts.entry(part).or_default().texts += 1;
        }
    }

    fn parts(&self) -> MutexGuard<'_, HashMap<u64, PartExposure>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ranges of a text, in the order of their starts, for looking up what is within one of them.
pub(super) struct Covering(Vec<(usize, usize)>);

impl Covering {
    pub(super) fn new(ranges: &[Range<usize>]) -> Self {
        let mut ranges: Vec<(usize, usize)> = ranges
            .iter()
            .map(|range| (range.start, range.end))
            .collect();
        ranges.sort_unstable();
        // So that the last one that begins before another is the one that reaches farthest.
        let mut reach = 0;
        for (_, end) in &mut ranges {
            reach = reach.max(*end);
            *end = reach;
        }
        Self(ranges)
    }

    pub(super) fn holds(&self, range: &Range<usize>) -> bool {
        let before = self.0.partition_point(|(start, _)| *start <= range.start);
        before > 0 && range.end <= self.0[before - 1].1
    }
}
