//! What an encoder layer does with numbers beside its large products: attention of tokens to one
//! another, and normalisation.
//!
//! Written so that the compiler makes wide instructions of it: inner loops run along memory and add
//! to many numbers at once. [`pulp`] chooses at run time what the processor has.

use pulp::Arch;

/// Numbers of one vector.
pub const DIMENSIONS: usize = 384;
/// How many parts of a token attend by themselves.
const HEADS: usize = 12;
/// Numbers of a token in one head.
const HEAD_SIZE: usize = DIMENSIONS / HEADS;
const EPSILON: f32 = 1e-12;

/// By how much queries are scaled, so that a product of two parts has the variance of one number.
pub(super) fn query_scale() -> f32 {
    1.0 / (HEAD_SIZE as f32).sqrt()
}

/// For each token the mean of all values, weighed by how well its query meets their keys. A token of
/// `split` is its query, key and value, [`DIMENSIONS`] numbers each.
pub(super) fn attend(split: &[f32]) -> Vec<f32> {
    Arch::new().dispatch(|| attended(split))
}

#[inline(always)]
fn attended(split: &[f32]) -> Vec<f32> {
    let width = HEADS * HEAD_SIZE;
    let tokens = split.len() / (3 * width);
    let mut out = vec![0.0; tokens * width];
    let mut keys = vec![0.0; HEAD_SIZE * tokens];
    let mut weights = vec![0.0; tokens];
    for head in 0..HEADS {
        let part = |token: usize, which: usize| {
            let from = (token * 3 + which) * width + head * HEAD_SIZE;
            &split[from..from + HEAD_SIZE]
        };
        for token in 0..tokens {
            for (number, key) in part(token, 1).iter().enumerate() {
                keys[number * tokens + token] = *key;
            }
        }
        for token in 0..tokens {
            weights.fill(0.0);
            for (query, keys) in part(token, 0).iter().zip(keys.chunks_exact(tokens)) {
                for (weight, key) in weights.iter_mut().zip(keys) {
                    *weight += query * key;
                }
            }
            softmax(&mut weights);
            let from = token * width + head * HEAD_SIZE;
            let mean: &mut [f32; HEAD_SIZE] = (&mut out[from..from + HEAD_SIZE])
                .try_into()
                .expect("a part is as long as a head");
            for (other, weight) in weights.iter().enumerate() {
                for (mean, value) in mean.iter_mut().zip(part(other, 2)) {
                    *mean += weight * value;
                }
            }
        }
    }
    out
}

/// Numbers above zero that add up to one, the larger the larger they were.
#[inline(always)]
fn softmax(numbers: &mut [f32]) {
    let top = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for x in numbers.iter_mut() {
        *x = (*x - top).exp();
        sum += *x;
    }
    let factor = 1.0 / sum;
    for x in numbers {
        *x *= factor;
    }
}

/// The scale and the shift of a normalised layer.
pub(super) struct Norm {
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Norm {
    /// Makes mean zero and variance one of each token, then scales and shifts.
    pub(super) fn apply(&self, text: &mut [f32]) {
        Arch::new().dispatch(|| self.normalise(text));
    }

    #[inline(always)]
    fn normalise(&self, text: &mut [f32]) {
        let count = self.weight.len() as f32;
        for token in text.chunks_exact_mut(self.weight.len()) {
            let mean = token.iter().sum::<f32>() / count;
            let variance = token.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
            let factor = 1.0 / (variance + EPSILON).sqrt();
            for ((x, weight), bias) in token.iter_mut().zip(&self.weight).zip(&self.bias) {
                *x = (*x - mean) * factor * weight + bias;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HEAD_SIZE, HEADS, Norm, attend};

    const WIDTH: usize = HEADS * HEAD_SIZE;

    #[test]
    fn a_token_alone_attends_to_itself() {
        let split: Vec<f32> = (0..3 * WIDTH).map(|n| n as f32 / 100.0).collect();
        let out = attend(&split);
        for (x, value) in out.iter().zip(&split[2 * WIDTH..]) {
            assert!((x - value).abs() < 1e-6);
        }
    }

    /// Each head by the definition, in numbers of double size.
    #[test]
    fn attention_is_what_its_definition_says() {
        let tokens = 5;
        let split: Vec<f32> = (0..tokens * 3 * WIDTH)
            .map(|n| ((n * 7_919) % 1_000) as f32 / 1_000.0 - 0.5)
            .collect();
        let at = |token: usize, which: usize, number: usize| {
            f64::from(split[(token * 3 + which) * WIDTH + number])
        };
        let out = attend(&split);
        for token in 0..tokens {
            for number in 0..WIDTH {
                let head = number / HEAD_SIZE * HEAD_SIZE;
                let score = |other: usize| -> f64 {
                    (head..head + HEAD_SIZE)
                        .map(|n| at(token, 0, n) * at(other, 1, n))
                        .sum()
                };
                let sum: f64 = (0..tokens).map(|other| score(other).exp()).sum();
                let mean: f64 = (0..tokens)
                    .map(|other| score(other).exp() / sum * at(other, 2, number))
                    .sum();
                let found = f64::from(out[token * WIDTH + number]);
                assert!((found - mean).abs() < 1e-5, "{found} {mean}");
            }
        }
    }

    #[test]
    fn a_normalised_token_has_mean_zero_and_variance_one() {
        let norm = Norm {
            weight: vec![1.0; 4],
            bias: vec![0.0; 4],
        };
        let mut text = [1.0, 2.0, 3.0, 4.0, -8.0, 8.0, -8.0, 8.0];
        norm.apply(&mut text);
        for token in text.chunks_exact(4) {
            assert!(token.iter().sum::<f32>().abs() < 1e-5);
            assert!((token.iter().map(|x| x * x).sum::<f32>() - 4.0).abs() < 1e-3);
        }
    }
}
