//! The vectors of a catalog's tools, and how near each is to a query.

use super::embedder::Vector;
use super::matrix::{Epilogue, Matrix};
use super::model::DIMENSIONS;

/// One vector per tool, in the catalog's order, in eight bits: 400 bytes a tool.
pub struct Vectors {
    tools: Matrix,
}

impl Vectors {
    /// Of all tools' vectors; each has [`DIMENSIONS`] numbers.
    pub fn new<'a>(vectors: impl IntoIterator<Item = &'a Vector>) -> Self {
        let mut tools = Matrix::new(DIMENSIONS);
        for vector in vectors {
            tools.push(vector);
        }
        Self { tools }
    }

    /// The cosine of the angle between the query and each tool, -1 to 1, to about two thousandths.
    pub fn cosines(&self, query: &[f32]) -> Vec<f32> {
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
        let cosines = Vectors::new([&a, &b]).cosines(&b);
        assert!(
            cosines[0].abs() < 1e-3 && (cosines[1] - 1.0).abs() < 1e-3,
            "{cosines:?}"
        );
    }
}
