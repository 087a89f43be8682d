//! The sentence model all-MiniLM-L6-v2: text in, a vector of meaning out.
//!
//! A BERT encoder of six layers, run with candle one text at a time on the thread that asks. Its large
//! products are our own ([`super::matrix`]): candle spreads them over all processors and waits for
//! each, spinning, which a busy server pays for a hundred times a query. Vectors have length one, so
//! that their scalar product is the cosine of the angle between two meanings.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{CpuStorage, CustomOp1, D, DType, Device, Layout, Shape, Tensor};
use candle_nn::ops::{layer_norm, softmax_last_dim};
use tokenizers::Tokenizer;

use super::files::{TOKENIZER, WEIGHTS};
use super::matrix::{Matrix, Then};

/// Numbers of one vector.
pub const DIMENSIONS: usize = 384;
/// Most tokens read of a tool's text; beyond them a description says little new.
pub const TEXT_TOKENS_MAX: usize = 128;
/// Most tokens read of a query: what bounds its time.
pub const QUERY_TOKENS_MAX: usize = 48;

const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD_SIZE: usize = DIMENSIONS / HEADS;
const EPSILON: f32 = 1e-12;

/// Why the model could not be read, or a text not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("the tokenizer does not work: {0}")]
    Tokenizer(String),
    #[error("the tokenizer has no {0}")]
    Token(&'static str),
    #[error("the sentence model does not work")]
    Tensor(#[from] candle_core::Error),
}

/// The loaded model: about 50 MB.
pub struct Model {
    tokenizer: Tokenizer,
    /// Stand before and after every text.
    first: u32,
    last: u32,
    words: Tensor,
    positions: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    /// Query, key and value in one matrix: one pass over the text for the three.
    attention: Linear,
    attended: Linear,
    attended_norm: Norm,
    wide: Linear,
    narrow: Linear,
    norm: Norm,
}

struct Linear {
    weight: Matrix,
    bias: Vec<f32>,
    then: Then,
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
}

impl Model {
    /// Reads the model from a folder that [`super::files::verify`] has accepted.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        let mut tokenizer = Tokenizer::from_file(folder.join(TOKENIZER.name)).map_err(unusable)?;
        // Cut and framed here, so that each kind of text has its own length.
        tokenizer.with_truncation(None).map_err(unusable)?;
        tokenizer.with_padding(None);
        let token = |name| tokenizer.token_to_id(name).ok_or(ModelError::Token(name));
        let (first, last) = (token("[CLS]")?, token("[SEP]")?);
        let mut weights = candle_core::safetensors::load(folder.join(WEIGHTS.name), &Device::Cpu)?;
        let mut take = Weights(&mut weights);
        let kinds = take.tensor("embeddings.token_type_embeddings.weight")?;
        let positions = take
            .tensor("embeddings.position_embeddings.weight")?
            .narrow(0, 0, TEXT_TOKENS_MAX)?
            .broadcast_add(&kinds.narrow(0, 0, 1)?)?;
        let layers = (0..LAYERS)
            .map(|number| take.layer(number))
            .collect::<Result<_, ModelError>>()?;
        Ok(Self {
            words: take
                .tensor("embeddings.word_embeddings.weight")?
                .to_dtype(DType::F16)?,
            positions,
            norm: take.norm("embeddings.LayerNorm")?,
            layers,
            tokenizer,
            first,
            last,
        })
    }

    /// The vector of a tool's text: [`DIMENSIONS`] numbers of length one.
    pub fn text(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        self.embed(text, TEXT_TOKENS_MAX)
    }

    /// The vector of a query.
    pub fn query(&self, query: &str) -> Result<Vec<f32>, ModelError> {
        self.embed(query, QUERY_TOKENS_MAX)
    }

    fn embed(&self, text: &str, tokens_max: usize) -> Result<Vec<f32>, ModelError> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(unusable)?;
        let mut ids = vec![self.first];
        ids.extend(encoding.get_ids().iter().take(tokens_max - 2));
        ids.push(self.last);
        let tokens = ids.len();
        let ids = Tensor::new(ids.as_slice(), &Device::Cpu)?;
        let words = self.words.index_select(&ids, 0)?.to_dtype(DType::F32)?;
        let mut text = self
            .norm
            .apply(&(words + self.positions.narrow(0, 0, tokens)?)?)?;
        for layer in &self.layers {
            text = layer.apply(&text, tokens)?;
        }
        let mean: Vec<f32> = text.mean(0)?.to_vec1()?;
        let length = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
        Ok(mean
            .iter()
            .map(|x| x / length.max(f32::MIN_POSITIVE))
            .collect())
    }
}

impl Layer {
    fn apply(&self, text: &Tensor, tokens: usize) -> Result<Tensor, candle_core::Error> {
        let split = text.apply_op1_no_bwd(&self.attention)?;
        let heads = |part: usize| {
            split
                .narrow(D::Minus1, part * DIMENSIONS, DIMENSIONS)?
                .reshape((tokens, HEADS, HEAD_SIZE))?
                .transpose(0, 1)?
                .contiguous()
        };
        let (query, key, value) = (heads(0)?, heads(1)?, heads(2)?);
        let attended = softmax_last_dim(&query.matmul(&key.t()?)?)?
            .matmul(&value)?
            .transpose(0, 1)?
            .reshape((tokens, DIMENSIONS))?;
        let text = self
            .attended_norm
            .apply(&(attended.apply_op1_no_bwd(&self.attended)? + text)?)?;
        let wide = text.apply_op1_no_bwd(&self.wide)?;
        self.norm
            .apply(&(wide.apply_op1_no_bwd(&self.narrow)? + text)?)
    }
}

impl CustomOp1 for Linear {
    fn name(&self) -> &'static str {
        "linear-8-bit"
    }

    fn cpu_fwd(
        &self,
        storage: &CpuStorage,
        layout: &Layout,
    ) -> Result<(CpuStorage, Shape), candle_core::Error> {
        let Some((from, to)) = layout.contiguous_offsets() else {
            candle_core::bail!("{} takes what lies in one piece", self.name());
        };
        let product = self.weight.multiply(
            &storage.as_slice::<f32>()?[from..to],
            Some(&self.bias),
            self.then,
        );
        let shape = (product.len() / self.weight.rows(), self.weight.rows());
        Ok((CpuStorage::F32(product), shape.into()))
    }
}

impl Norm {
    fn apply(&self, x: &Tensor) -> Result<Tensor, candle_core::Error> {
        layer_norm(x, &self.weight, &self.bias, EPSILON)
    }
}

/// Takes tensors out by name, so that the full-size originals are gone after loading.
struct Weights<'a>(&'a mut HashMap<String, Tensor>);

impl Weights<'_> {
    fn tensor(&mut self, name: &str) -> Result<Tensor, ModelError> {
        self.0.remove(name).ok_or_else(|| {
            ModelError::Tensor(candle_core::Error::Msg(format!("{name} is missing")))
        })
    }

    fn norm(&mut self, name: &str) -> Result<Norm, ModelError> {
        Ok(Norm {
            weight: self.tensor(&format!("{name}.weight"))?,
            bias: self.tensor(&format!("{name}.bias"))?,
        })
    }

    fn linear(&mut self, name: &str, then: Then) -> Result<Linear, ModelError> {
        let weight = self.tensor(&format!("{name}.weight"))?.to_vec2::<f32>()?;
        let bias = self.tensor(&format!("{name}.bias"))?.to_vec1()?;
        let mut linear = Linear {
            weight: Matrix::new(weight.first().map_or(0, Vec::len)),
            bias,
            then,
        };
        for row in &weight {
            linear.weight.push(row);
        }
        Ok(linear)
    }

    /// Query, key and value as one matrix. Queries are made smaller here, once, instead of every
    /// product of theirs.
    fn attention(&mut self, name: &str) -> Result<Linear, ModelError> {
        let smaller = 1.0 / (HEAD_SIZE as f32).sqrt();
        let mut all = Linear {
            weight: Matrix::new(DIMENSIONS),
            bias: Vec::new(),
            then: Then::Nothing,
        };
        for (part, factor) in [("query", smaller), ("key", 1.0), ("value", 1.0)] {
            let weight = self.tensor(&format!("{name}.{part}.weight"))?;
            let bias: Vec<f32> = self.tensor(&format!("{name}.{part}.bias"))?.to_vec1()?;
            for row in &weight.to_vec2::<f32>()? {
                let row: Vec<f32> = row.iter().map(|x| x * factor).collect();
                all.weight.push(&row);
            }
            all.bias.extend(bias.iter().map(|x| x * factor));
        }
        Ok(all)
    }

    fn layer(&mut self, number: usize) -> Result<Layer, ModelError> {
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Layer {
            attention: self.attention(&name("attention.self"))?,
            attended: self.linear(&name("attention.output.dense"), Then::Nothing)?,
            attended_norm: self.norm(&name("attention.output.LayerNorm"))?,
            wide: self.linear(&name("intermediate.dense"), Then::Gelu)?,
            narrow: self.linear(&name("output.dense"), Then::Nothing)?,
            norm: self.norm(&name("output.LayerNorm"))?,
        })
    }
}

fn unusable(cause: tokenizers::Error) -> ModelError {
    ModelError::Tokenizer(cause.to_string())
}
