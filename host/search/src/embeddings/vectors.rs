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

/// One vector per tool, in the catalog's order, in eight bits: 400 bytes a tool.
pub struct Vectors {
    tools: Matrix,
}

impl Vectors {
    /// For each tool the vector of its whole text and that of its title; each has [`DIMENSIONS`] numbers.
    pub fn new<'a>(vectors: impl IntoIterator<Item = [&'a Vector; 2]>) -> Self {
        let mut tools = Matrix::new(DIMENSIONS);
        for [text, title] in vectors {
            let both = text.iter().zip(title.iter());
            let mut tool: Vec<f32> = both.map(|(x, y)| x + TITLE * y).collect();
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
        let cosines = Vectors::new([[&a, &a], [&b, &b]]).plain_cosines(&b);
        assert!(
            cosines[0].abs() < 1e-3 && (cosines[1] - 1.0).abs() < 1e-3,
            "{cosines:?}"
        );
    }
}
