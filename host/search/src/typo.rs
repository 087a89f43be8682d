//! Finding the word that was meant. Asked only for words that no tool contains.

/// Shortest misspelt word, and shortest with two errors, in bytes.
const ONE_ERROR_MIN: usize = 4;
const TWO_ERRORS_MIN: usize = 8;
/// Shortest beginning of a word.
const PREFIX_MIN: usize = 4;
/// Most words that one misspelling may mean.
const MEANT_MAX: usize = 3;

/// Words that may be meant, sorted; each with its term.
#[derive(Default)]
pub(super) struct Spellings {
    words: Vec<(String, u32)>,
}

/// What may have been meant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TypoMatch {
    pub word: String,
    pub term: u32,
    pub weight: f32,
    /// The word was begun, not misspelt.
    pub begun: bool,
}

impl Spellings {
    pub(super) fn new(mut words: Vec<(String, u32)>) -> Self {
        words.sort_unstable();
        words.dedup();
        Self { words }
    }

    /// The nearest words: begun with `word`, or at one or two errors (a letter more, less, wrong or
    /// two swapped), with the same first letter. Best first, then alphabetically.
    pub(super) fn meant(&self, word: &str) -> Vec<TypoMatch> {
        let Some(first) = word.chars().next() else {
            return Vec::new();
        };
        let start = self
            .words
            .partition_point(|(w, _)| w.chars().next() < Some(first));
        let same_first = self.words[start..]
            .iter()
            .take_while(|(w, _)| w.starts_with(first));
        let mut found: Vec<TypoMatch> = Vec::new();
        for (candidate, term) in same_first {
            let begun = word.len() >= PREFIX_MIN && candidate.starts_with(word);
            let weight = if begun {
                0.75
            } else if word.len() >= ONE_ERROR_MIN && within_one(word, candidate) {
                0.8
            } else if word.len() >= TWO_ERRORS_MIN && within_two(word, candidate) {
                0.6
            } else {
                continue;
            };
            found.push(TypoMatch {
                word: candidate.clone(),
                term: *term,
                weight,
                begun,
            });
        }
        found.sort_by(|a, b| {
            b.weight
                .total_cmp(&a.weight)
                .then(a.word.len().cmp(&b.word.len()))
                .then(a.word.cmp(&b.word))
        });
        let best = found.first().map_or(0.0, |m| m.weight);
        found.retain(|m| m.weight == best);
        let mut terms = Vec::new();
        found.retain(|m| {
            !terms.contains(&m.term) && {
                terms.push(m.term);
                true
            }
        });
        found.truncate(MEANT_MAX);
        found
    }
}

/// One insertion, deletion, substitution or swap of neighbours.
fn within_one(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[front..], &b[front..]);
    let back = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let (a, b) = (&a[..a.len() - back], &b[..b.len() - back]);
    match (a, b) {
        ([], []) | ([_] | [], [_]) | ([_], []) => true,
        ([x, y], [v, w]) => x == w && y == v,
        _ => false,
    }
}

/// Two errors of [`within_one`], by the optimal string alignment distance.
fn within_two(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > 2 {
        return false;
    }
    let mut before = vec![0_usize; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0_usize; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        let mut least = i;
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut cost = (above[j] + 1)
                .min(row[j - 1] + 1)
                .min(above[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row[j] = cost;
            least = least.min(cost);
        }
        if least > 2 {
            return false;
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    above[b.len()] <= 2
}

/// How alike two words are: shared pairs of letters (Dice), 0 to 1.
pub(super) fn likeness(a: &str, b: &str) -> f32 {
    let pairs = |word: &str| -> Vec<(char, char)> {
        let chars: Vec<char> = std::iter::once(' ').chain(word.chars().take(40)).collect();
        chars.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let (left, mut right) = (pairs(a), pairs(b));
    let count = left.len() + right.len();
    if count == 0 {
        return 0.0;
    }
    let mut shared = 0;
    for pair in &left {
        if let Some(at) = right.iter().position(|other| other == pair) {
            right.swap_remove(at);
            shared += 1;
        }
    }
    (2 * shared) as f32 / count as f32
}

/// The pairs of letters of a word as a set of 128, for a quick look before [`likeness`].
pub(super) fn letters(word: &str) -> u128 {
    let mut set = 0;
    let mut before = u32::from(' ');
    for c in word.chars().take(40).map(u32::from) {
        set |= 1_u128 << (before.wrapping_mul(31).wrapping_add(c.wrapping_mul(7)) % 128);
        before = c;
    }
    set
}

/// About [`likeness`], from [`letters`].
pub(super) fn rough_likeness(a: u128, b: u128) -> f32 {
    let count = a.count_ones() + b.count_ones();
    (2 * (a & b).count_ones()) as f32 / count.max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::{Spellings, likeness, within_one, within_two};

    #[test]
    fn near_words_are_told_from_far_ones() {
        for (a, b, one, two) in [
            ("issue", "issue", true, true),
            ("isue", "issue", true, true),
            ("gihtub", "github", true, true),
            ("mesage", "message", true, true),
            ("calender", "calendar", true, true),
            ("reposotry", "repository", false, true),
            ("slack", "stack", true, true),
            ("slack", "track", false, true),
            ("asdf", "issue", false, false),
            ("", "ab", false, true),
        ] {
            assert_eq!(within_one(a, b), one, "{a} {b}");
            assert_eq!(within_one(b, a), one, "{b} {a}");
            assert_eq!(within_two(a, b), two, "{a} {b}");
            assert_eq!(within_two(b, a), two, "{b} {a}");
        }
        assert!(likeness("githb", "github") > 0.7);
        assert!(likeness("zzzz", "github") == 0.0);
    }

    #[test]
    fn a_misspelt_or_begun_word_finds_what_was_meant() {
        let words = [
            "issue",
            "issues",
            "prometheus",
            "project",
            "slack",
            "repository",
        ];
        let spellings = Spellings::new(
            words
                .iter()
                .enumerate()
                .map(|(i, w)| ((*w).to_owned(), i as u32))
                .collect(),
        );
        let meant = |word: &str| -> Vec<String> {
            spellings.meant(word).into_iter().map(|m| m.word).collect()
        };
        assert_eq!(meant("isue"), ["issue"]);
        assert_eq!(meant("prom"), ["prometheus"]);
        assert_eq!(meant("slck"), ["slack"]);
        assert_eq!(meant("reposotry"), ["repository"]);
        assert_eq!(meant("pro"), Vec::<String>::new());
        assert_eq!(meant("xyzzy"), Vec::<String>::new());
        assert_eq!(meant(""), Vec::<String>::new());
    }
}
