//! The sentence model all-MiniLM-L6-v2: text in, a vector of meaning out.
//!
//! A BERT encoder of six layers, one text at a time on the thread that asks: a library would spread
//! each product over all processors and wait for it, which a busy server pays for a hundred times a
//! query. Vectors have length one, so that their scalar product is the cosine of the angle between
//! two meanings.

use std::path::Path;

use safetensors::{Dtype, SafeTensorError, SafeTensors};
use tokenizers::Tokenizer;

pub use super::attention::DIMENSIONS;
use super::attention::{Norm, attend, query_scale};
use super::files::{SCALES, TOKENIZER, WEIGHTS};
use super::matrix::{Epilogue, Matrix};

/// Most tokens read of a tool's text; beyond them a description says little new.
pub const TEXT_TOKENS_MAX: usize = 128;
/// Most tokens read of a query: what bounds its time.
pub const QUERY_TOKENS_MAX: usize = 48;

const LAYERS: usize = 6;

/// Rows of whole numbers, each with its scale.
struct Rows {
    columns: usize,
    numbers: Vec<i8>,
    scales: Vec<f32>,
}

impl Rows {
    fn iter(&self) -> impl Iterator<Item = (&[i8], f32)> {
        let rows = self.numbers.chunks_exact(self.columns);
        rows.zip(self.scales.iter().copied())
    }
}

/// Why the model could not be read, or a text not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum SentenceModelError {
    #[error("the tokenizer does not work: {0}")]
    Tokenizer(String),
    #[error("the tokenizer has no {0}")]
    Token(&'static str),
    #[error("the file of the sentence model cannot be read")]
    File(#[from] std::io::Error),
    #[error("the sentence model cannot be read")]
    Weights(#[from] SafeTensorError),
    #[error("the sentence model has {0} in another form")]
    Form(String),
}

/// The loaded model: about 25 MB.
pub struct SentenceModel {
    tokenizer: Tokenizer,
    /// Stand before and after every text.
    first: u32,
    last: u32,
    words: Rows,
    positions: Vec<f32>,
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
    then: Epilogue,
}

impl SentenceModel {
    /// Reads the model from a folder that [`super::files::verify`] has accepted.
    pub fn load(folder: &Path) -> Result<Self, SentenceModelError> {
        let mut tokenizer = Tokenizer::from_file(folder.join(TOKENIZER.name)).map_err(unusable)?;
        // Cut and framed here, so that each kind of text has its own length.
        tokenizer.with_truncation(None).map_err(unusable)?;
        tokenizer.with_padding(None);
        let token = |name| {
            tokenizer
                .token_to_id(name)
                .ok_or(SentenceModelError::Token(name))
        };
        let (first, last) = (token("[CLS]")?, token("[SEP]")?);
        let file = std::fs::read(folder.join(WEIGHTS.name))?;
        let weights = Weights(SafeTensors::deserialize(&file)?);
        let kinds = weights.numbers("embeddings.token_type_embeddings.weight")?;
        let mut positions = weights.numbers("embeddings.position_embeddings.weight")?;
        positions.truncate(TEXT_TOKENS_MAX * DIMENSIONS);
        for position in positions.chunks_exact_mut(DIMENSIONS) {
            add(position, &kinds[..DIMENSIONS]);
        }
        let layers = (0..LAYERS)
            .map(|number| weights.layer(number))
            .collect::<Result<_, SentenceModelError>>()?;
        let words = weights.rows("embeddings.word_embeddings.weight")?;
        if words.columns != DIMENSIONS || words.scales.len() < tokenizer.get_vocab_size(true) {
            return Err(SentenceModelError::Form("its words".to_owned()));
        }
        Ok(Self {
            words,
            positions,
            norm: weights.norm("embeddings.LayerNorm")?,
            layers,
            tokenizer,
            first,
            last,
        })
    }

    /// Whether a word, in lowercase, is one that the model has learnt as a whole.
    pub fn is_word(&self, word: &str) -> bool {
        self.tokenizer.token_to_id(word).is_some()
    }

    /// The vector of a tool's text: [`DIMENSIONS`] numbers of length one.
    pub fn text(&self, text: &str) -> Result<Vec<f32>, SentenceModelError> {
        self.embed(text, TEXT_TOKENS_MAX)
    }

    /// The vector of a query.
    pub fn query(&self, query: &str) -> Result<Vec<f32>, SentenceModelError> {
        self.embed(query, QUERY_TOKENS_MAX)
    }

    fn embed(&self, text: &str, tokens_max: usize) -> Result<Vec<f32>, SentenceModelError> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(unusable)?;
        let within = encoding.get_ids().iter().copied().take(tokens_max - 2);
        let tokens = std::iter::once(self.first)
            .chain(within)
            .chain(std::iter::once(self.last));
        let mut text = Vec::with_capacity(tokens_max * DIMENSIONS);
        for (token, position) in tokens.zip(self.positions.chunks_exact(DIMENSIONS)) {
            let word = &self.words.numbers[token as usize * DIMENSIONS..][..DIMENSIONS];
            let scale = self.words.scales[token as usize];
            let sum = |(word, at): (&i8, &f32)| f32::from(*word) * scale + at;
            text.extend(word.iter().zip(position).map(sum));
        }
        self.norm.apply(&mut text);
        for layer in &self.layers {
            text = layer.apply(&text);
        }
        let mut mean = vec![0.0; DIMENSIONS];
        for token in text.chunks_exact(DIMENSIONS) {
            add(&mut mean, token);
        }
        normalize(&mut mean);
        Ok(mean)
    }
}

impl Layer {
    fn apply(&self, text: &[f32]) -> Vec<f32> {
        let mut attended = self.attended.apply(&attend(&self.attention.apply(text)));
        add(&mut attended, text);
        self.attended_norm.apply(&mut attended);
        let mut out = self.narrow.apply(&self.wide.apply(&attended));
        add(&mut out, &attended);
        self.norm.apply(&mut out);
        out
    }
}

impl Linear {
    fn apply(&self, text: &[f32]) -> Vec<f32> {
        self.weight.multiply(text, Some(&self.bias), self.then)
    }
}

/// Gives a vector length one.
pub(super) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    for x in vector {
        *x /= length.max(f32::MIN_POSITIVE);
    }
}

fn add(to: &mut [f32], other: &[f32]) {
    for (x, y) in to.iter_mut().zip(other) {
        *x += y;
    }
}

/// Reads tensors by name.
struct Weights<'a>(SafeTensors<'a>);

impl Weights<'_> {
    fn numbers(&self, name: &str) -> Result<Vec<f32>, SentenceModelError> {
        let tensor = self.0.tensor(name)?;
        if tensor.dtype() != Dtype::F32 {
            return Err(SentenceModelError::Form(name.to_owned()));
        }
        let bytes = tensor.data().as_chunks::<4>().0.iter();
        Ok(bytes.map(|number| f32::from_le_bytes(*number)).collect())
    }

    fn rows(&self, name: &str) -> Result<Rows, SentenceModelError> {
        let tensor = self.0.tensor(name)?;
        let scales = self.numbers(&format!("{name}{SCALES}"))?;
        match (tensor.dtype(), tensor.shape()) {
            (Dtype::I8, [rows, columns]) if *rows == scales.len() && *columns > 0 => Ok(Rows {
                columns: *columns,
                numbers: tensor.data().iter().map(|x| x.cast_signed()).collect(),
                scales,
            }),
            _ => Err(SentenceModelError::Form(name.to_owned())),
        }
    }

    fn norm(&self, name: &str) -> Result<Norm, SentenceModelError> {
        Ok(Norm {
            weight: self.numbers(&format!("{name}.weight"))?,
            bias: self.numbers(&format!("{name}.bias"))?,
        })
    }

    fn linear(&self, name: &str, then: Epilogue) -> Result<Linear, SentenceModelError> {
        let rows = self.rows(&format!("{name}.weight"))?;
        let mut weight = Matrix::new(rows.columns);
        for (row, scale) in rows.iter() {
            weight.push_quantized(row, scale);
        }
        Ok(Linear {
            weight,
            bias: self.numbers(&format!("{name}.bias"))?,
            then,
        })
    }

    /// Query, key and value as one matrix. Queries are made smaller here, once, instead of every
    /// product of theirs.
    fn attention(&self, name: &str) -> Result<Linear, SentenceModelError> {
        let mut all = Linear {
            weight: Matrix::new(DIMENSIONS),
            bias: Vec::new(),
            then: Epilogue::Nothing,
        };
        for (part, factor) in [("query", query_scale()), ("key", 1.0), ("value", 1.0)] {
            let rows = self.rows(&format!("{name}.{part}.weight"))?;
            for (row, scale) in rows.iter() {
                all.weight.push_quantized(row, scale * factor);
            }
            let bias = self.numbers(&format!("{name}.{part}.bias"))?;
            all.bias.extend(bias.iter().map(|x| x * factor));
        }
        Ok(all)
    }

    fn layer(&self, number: usize) -> Result<Layer, SentenceModelError> {
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Layer {
            attention: self.attention(&name("attention.self"))?,
            attended: self.linear(&name("attention.output.dense"), Epilogue::Nothing)?,
            attended_norm: self.norm(&name("attention.output.LayerNorm"))?,
            wide: self.linear(&name("intermediate.dense"), Epilogue::Gelu)?,
            narrow: self.linear(&name("output.dense"), Epilogue::Nothing)?,
            norm: self.norm(&name("output.LayerNorm"))?,
        })
    }
}

fn unusable(cause: tokenizers::Error) -> SentenceModelError {
    SentenceModelError::Tokenizer(cause.to_string())
}
