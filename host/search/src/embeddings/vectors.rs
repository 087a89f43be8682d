//! The vectors of a catalog's tools, and how near each is to a query.

use super::embedder::Vector;
use super::matrix::{Epilogue, Matrix};
use super::model::{DIMENSIONS, normalize};
use super::sayings;

/// How similar a query is in meaning to the tools of a catalog.
#[derive(Clone, Debug)]
pub struct Similarity {
    /// How near each tool is to it, -1 to 1, in the catalog's order.
    pub cosines: Vec<f32>,
    /// How much it is known from sayings, 0 to 1: then its words say little.
    pub said: f32,
    /// From 1 where such sayings ask to see something to -1 where they ask for a change.
    pub reads: f32,
}

/// What a tool's title counts beside the rest of its text: a long description dilutes what the tool does.
const TITLE: f32 = 0.45;

/// What the requests that a tool's author names for it count beside its text, all of them together.
const REQUESTS: f32 = 1.0;

/// One vector per tool, in the catalog's order, in eight bits: 400 bytes a tool.
pub struct Vectors {
    tools: Matrix,
}

impl Vectors {
    /// For each tool the vector of its whole text, that of its title, and those of the requests that its author
    /// names; each has [`DIMENSIONS`] numbers.
    pub fn new<'a>(vectors: impl IntoIterator<Item = Vec<&'a Vector>>) -> Self {
        let mut tools = Matrix::new(DIMENSIONS);
        for vectors in vectors {
            let mut tool = vec![0.0; DIMENSIONS];
            let requests = vectors.len().saturating_sub(2) as f32;
            for (place, vector) in vectors.into_iter().enumerate() {
                let weight = match place {
                    0 => 1.0,
                    1 => TITLE,
                    _ => REQUESTS / requests,
                };
                for (sum, x) in tool.iter_mut().zip(vector.iter()) {
                    *sum += weight * x;
                }
            }
            normalize(&mut tool);
            tools.push(&tool);
        }
        Self { tools }
    }

    /// Of the query after it was moved toward what tools call such wishes ([`sayings`]).
    pub fn similarity(&self, query: &[f32]) -> Similarity {
        let nearest = self.plain_cosines(query).into_iter().fold(-1.0, f32::max);
        let moved = sayings::SHIPPED.move_query(query, nearest);
        Similarity {
            cosines: self.plain_cosines(&moved.vector),
            said: moved.share,
            reads: moved.reads,
        }
    }

    /// The cosine of the angle between the query as it is and each tool, -1 to 1, to about two thousandths.
    pub fn plain_cosines(&self, query: &[f32]) -> Vec<f32> {
        self.tools.multiply(query, None, Epilogue::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::{DIMENSIONS, Vector, Vectors};

    #[test]
    fn a_vector_is_nearest_to_itself() {
        let unit = |place: usize| -> Vector {
            (0..DIMENSIONS)
                .map(|i| f32::from(u8::from(i == place)))
                .collect()
        };
        let (a, b) = (unit(3), unit(DIMENSIONS - 1));
        let cosines = Vectors::new([vec![&a, &a], vec![&b, &b]]).plain_cosines(&b);
        assert!(
            cosines[0].abs() < 1e-3 && (cosines[1] - 1.0).abs() < 1e-3,
            "{cosines:?}"
        );
        // What people ask of a tool brings it nearer to that, however many requests say so.
        let c = unit(7);
        let asked = Vectors::new([vec![&a, &a, &c], vec![&a, &a, &c, &c, &c], vec![&a, &a]]);
        let cosines = asked.plain_cosines(&c);
        assert!((cosines[0] - cosines[1]).abs() < 1e-2, "{cosines:?}");
        assert!(cosines[0] > 0.5 && cosines[2].abs() < 1e-3, "{cosines:?}");
    }
}
