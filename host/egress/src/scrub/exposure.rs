//! How often pieces of a user's credentials have come back.
//!
//! Redaction answers a guess: who knows nine characters of a secret can store each candidate for the tenth at an honest
//! provider, read them back and see which one was removed. So a piece that comes back without the rest of its secret is
//! counted, and after [`EXPOSURES_MAX`] of them the user's connections are not used until they are connected again.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Texts with pieces that had not come back before. Each may confirm a few characters, so there are few.
pub const EXPOSURES_MAX: usize = 3;

/// What has come back of the credentials of one user for one service.
#[derive(Default)]
pub struct Exposure(Mutex<SeenPieces>);

#[derive(Default)]
struct SeenPieces {
    /// Fingerprints of windows, so no more than the credentials have.
    windows: HashSet<u64>,
    texts: usize,
}

impl Exposure {
    /// Whether so much came back that the credentials must not be used any more.
    pub fn is_over(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).texts >= EXPOSURES_MAX
    }

    /// Whether nothing has come back yet.
    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).texts == 0
    }

    /// Counts one text, unless all its pieces have come back before. A piece within a whole value confirms nothing.
    pub(super) fn count(&self, finds: &[TextFind], wholes: &[TextFind]) {
        let mut wholes: Vec<(usize, usize)> = wholes
            .iter()
            .map(|whole| (whole.range.start, whole.range.end))
            .collect();
        wholes.sort_unstable();
        // So that the last one that begins before a piece is the one that reaches farthest.
        let mut reach = 0;
        for (_, end) in &mut wholes {
            reach = reach.max(*end);
            *end = reach;
        }
        let in_whole = |range: &Range<usize>| {
            let before = wholes.partition_point(|(start, _)| *start <= range.start);
            before > 0 && range.end <= wholes[before - 1].1
        };
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new = false;
        for find in finds.iter().filter(|find| find.own) {
            if !in_whole(&find.range) {
                new |= seen.windows.insert(find.window);
            }
        }
        seen.texts += usize::from(new);
    }
}

/// One place of a text where a known value, or a piece of one, stands.
#[derive(Clone, Debug)]
pub(super) struct TextFind {
    pub range: Range<usize>,
    /// The fingerprint of what was found.
    pub window: u64,
    /// Of the call's own user.
    pub own: bool,
}
