//! The file of weights in eight bits, made of the published one when the model is installed: a quarter of
//! its size, and what the arithmetic uses anyway.

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::files::SCALES;
use super::matrix;
use super::model::SentenceModelError;

/// Added to vectors as they are, so these stay as they are.
const KEPT: [&str; 2] = [
    "embeddings.position_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
];

/// What is written of one tensor.
struct Written {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    data: Vec<u8>,
}

/// Makes the file that the program reads of the published one.
pub fn quantize(published: &[u8]) -> Result<Vec<u8>, SentenceModelError> {
    let published = SafeTensors::deserialize(published)?;
    let mut written = Vec::new();
    for (name, tensor) in published.iter() {
        // The pooler is for another task, and the rest are not numbers.
        if name.starts_with("pooler.") || tensor.dtype() != Dtype::F32 {
            continue;
        }
        let columns = match tensor.shape() {
            [_, columns] if !KEPT.contains(&name) => *columns,
            shape => {
                written.push(Written {
                    name: name.to_owned(),
                    dtype: Dtype::F32,
                    shape: shape.to_vec(),
                    data: tensor.data().to_vec(),
                });
                continue;
            }
        };
        let numbers = tensor.data().as_chunks::<4>().0.iter();
        let numbers: Vec<f32> = numbers.map(|number| f32::from_le_bytes(*number)).collect();
        let (mut rows, mut scales) = (Vec::with_capacity(numbers.len()), Vec::new());
        for row in numbers.chunks_exact(columns) {
            let (row, scale) = matrix::quantize(row);
            rows.extend(row.map(i8::cast_unsigned));
            scales.extend(scale.to_le_bytes());
        }
        written.push(Written {
            name: format!("{name}{SCALES}"),
            dtype: Dtype::F32,
            shape: vec![scales.len() / 4],
            data: scales,
        });
        written.push(Written {
            name: name.to_owned(),
            dtype: Dtype::I8,
            shape: tensor.shape().to_vec(),
            data: rows,
        });
    }
    let views: Result<Vec<_>, _> = written
        .iter()
        .map(|one| {
            let view = TensorView::new(one.dtype, one.shape.clone(), &one.data)?;
            Ok::<_, SentenceModelError>((one.name.as_str(), view))
        })
        .collect();
    Ok(safetensors::serialize(views?, None)?)
}
