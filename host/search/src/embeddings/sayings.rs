//! What people say, and what tools call it.
//!
//! A sentence model places `should I take a coat` nowhere near `get a weather forecast`. The lines of
//! `data/sayings.txt` say what such sentences ask for, and a query is moved toward what the lines that it
//! resembles are called. A line's vector is the mean of its sayings: they share what is asked for, and the
//! people and things in them average out. Only vectors are read here: `data/sayings.vectors` is made
//! beforehand ([`make`]), and a test compares it with the text.

use std::sync::LazyLock;

use super::matrix::{Epilogue, Matrix, quantize};
use super::model::{DIMENSIONS, SentenceModel, SentenceModelError, normalize};

const TEXT: &str = include_str!("../../data/sayings.txt");
const VECTORS: &[u8] = include_bytes!("../../data/sayings.vectors");
/// A row of the file: its scale, then its whole numbers.
const ROW_BYTES: usize = 4 + DIMENSIONS;

/// Lines that a query is moved toward, at most.
const NEAREST: usize = 8;
/// How much less a line counts that is less like the query: by e for each of these cosines.
const STEEPNESS: f32 = 0.03;
/// The part of a moved query that comes from the lines, where a line is as near to the query as a tool is.
/// It grows by as much as the line is nearer.
const SHARE: f32 = 0.4;
const SHARE_MAX: f32 = 0.6;

/// The lines that ship.
pub(super) static SHIPPED: LazyLock<Sayings> =
    LazyLock::new(|| Sayings::read(VECTORS, lines().map(|line| line.reads).collect()));

/// A line of the file.
pub struct SayingLine {
    /// Whether it asks to see something, rather than for a change.
    pub reads: bool,
    /// What it is called among tools.
    pub called: &'static str,
    said: &'static str,
}

impl SayingLine {
    /// How people ask for it.
    pub fn said(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.said.split(" | ")
    }
}

pub(super) struct Sayings {
    /// A row for each line: the mean of its sayings.
    said: Matrix,
    /// One after the other, what the lines are called.
    called: Vec<f32>,
    /// For each line whether it asks to see something.
    reads: Vec<bool>,
}

/// A query that was moved.
pub(super) struct MovedQuery {
    pub vector: Vec<f32>,
    /// The part of the vector that comes from the lines.
    pub share: f32,
    /// From 1 where the lines ask to see something to -1 where they ask for a change.
    pub reads: f32,
}

impl Sayings {
    fn read(file: &[u8], reads: Vec<bool>) -> Self {
        let mut said = Matrix::new(DIMENSIONS);
        let mut called = Vec::new();
        let (rows, _) = file.as_chunks::<ROW_BYTES>();
        for (place, row) in rows.iter().enumerate() {
            let (scale, numbers) = row.split_at(4);
            let scale = f32::from_le_bytes(scale.try_into().expect("four bytes"));
            let numbers = numbers.iter().map(|byte| byte.cast_signed());
            if place % 2 == 0 {
                said.push_quantized(&numbers.collect::<Vec<i8>>(), scale);
            } else {
                called.extend(numbers.map(|number| f32::from(number) * scale));
            }
        }
        Self {
            said,
            called,
            reads,
        }
    }

    /// The vector of a query, moved toward what it asks for. `nearest` is its cosine with the nearest tool.
    pub(super) fn move_query(&self, query: &[f32], nearest: f32) -> MovedQuery {
        let likeness = self.said.multiply(query, None, Epilogue::Nothing);
        let mut lines: Vec<(f32, usize)> = likeness.into_iter().zip(0..).collect();
        if lines.len() > NEAREST {
            lines.select_nth_unstable_by(NEAREST, |a, b| b.0.total_cmp(&a.0));
            lines.truncate(NEAREST);
        }
        let best = lines.iter().map(|line| line.0).fold(-1.0, f32::max);
        let mut called = vec![0.0; DIMENSIONS];
        let (mut reads, mut weights) = (0.0, 0.0_f32);
        for (likeness, line) in lines {
            let weight = ((likeness - best) / STEEPNESS).exp();
            weights += weight;
            reads += if self.reads[line] { weight } else { -weight };
            let line = &self.called[line * DIMENSIONS..][..DIMENSIONS];
            for (sum, x) in called.iter_mut().zip(line) {
                *sum += weight * x;
            }
        }
        normalize(&mut called);
        let share = (SHARE + best - nearest).clamp(0.0, SHARE_MAX);
        let both = query.iter().zip(&called);
        let mut vector: Vec<f32> = both.map(|(x, y)| (1.0 - share) * x + share * y).collect();
        normalize(&mut vector);
        MovedQuery {
            vector,
            share,
            reads: reads / weights.max(f32::MIN_POSITIVE),
        }
    }
}

/// Makes the file of vectors of the text, with the model that will read the queries.
pub fn make(model: &SentenceModel) -> Result<Vec<u8>, SentenceModelError> {
    let mut file = Vec::new();
    for line in lines() {
        let called_vector = model.text(line.called)?;
        let mut mean = called_vector.clone();
        for text in line.said() {
            for (sum, x) in mean.iter_mut().zip(model.text(text)?) {
                *sum += x;
            }
        }
        normalize(&mut mean);
        for row in [mean, called_vector] {
            let (numbers, scale) = quantize(&row);
            file.extend(scale.to_le_bytes());
            file.extend(numbers.map(i8::cast_unsigned));
        }
    }
    Ok(file)
}

/// The file of vectors that ships.
pub fn shipped() -> &'static [u8] {
    VECTORS
}

/// The lines of the text, in their order.
pub fn lines() -> impl Iterator<Item = SayingLine> {
    TEXT.lines().filter_map(|line| {
        let (kind, line) = line.split_once(": ")?;
        let (called, said) = line.split_once(" = ")?;
        let reads = match kind {
            "see" => true,
            "do" => false,
            _ => return None,
        };
        Some(SayingLine {
            reads,
            called,
            said,
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{DIMENSIONS, ROW_BYTES, Sayings, TEXT, VECTORS, lines};

    #[test]
    fn every_line_is_understood_and_has_its_vectors() {
        let mut called = HashSet::new();
        let mut said = HashSet::new();
        for line in lines() {
            assert!(called.insert(line.called), "twice: {}", line.called);
            for text in line.said() {
                assert!(!text.trim().is_empty() && text.trim() == text, "{text:?}");
                assert!(said.insert(text), "twice: {text}");
            }
        }
        let others = TEXT
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(others.count(), called.len(), "a line of another form");
        assert_eq!(VECTORS.len(), 2 * called.len() * ROW_BYTES);
    }

    #[test]
    fn a_query_is_moved_toward_what_it_resembles_and_not_when_a_tool_is_far_nearer() {
        let unit = |place: usize| -> Vec<f32> {
            let one = |i| f32::from(u8::from(i == place));
            (0..DIMENSIONS).map(one).collect()
        };
        let mut file = Vec::new();
        for place in [0, 1, 2, 3] {
            file.extend((1.0_f32 / 127.0).to_le_bytes());
            file.extend(unit(place).iter().map(|x| (x * 127.0) as u8));
        }
        let sayings = Sayings::read(&file, vec![true, false]);
        // Like the first line, which is called what the second vector says.
        let moved = sayings.move_query(&unit(0), 1.0);
        let vector = &moved.vector[..4];
        assert!(vector[0] > vector[1] && vector[1] > 0.5, "{vector:?}");
        assert!(vector[3] < 0.01, "{vector:?}");
        assert!(moved.reads > 0.99 && moved.share > 0.3);
        let kept = sayings.move_query(&unit(5), 0.9);
        assert!(kept.vector[5] > 0.999 && kept.share < 0.001);
    }
}
