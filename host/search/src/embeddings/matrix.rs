//! A matrix in eight bits, multiplied with vectors.
//!
//! What a product costs is reading the matrix, so each row is kept as whole numbers of -127 to 127
//! and one scale. A vector is read as whole numbers of 14 bits, which loses next to nothing, so that
//! all adding is exact. Where the processor has AVX2 that is used, found out while running; elsewhere
//! the same sums are written plainly.

use pulp::bytemuck::cast_slice;
use pulp::{i8x16, i16x16};

/// Numbers that are multiplied at once; the columns of a matrix are a multiple of it.
const AT_ONCE: usize = 16;
/// Vectors that share one reading of a row.
const TOGETHER: usize = 4;
/// Largest whole number of a row.
const ROW_TOP: f32 = 127.0;
/// Largest whole number of a vector.
const VECTOR_TOP: f32 = 8_191.0;
/// Most columns: that many products still fit into 32 bits.
pub const COLUMNS_MAX: usize = 2_048;
/// Added to a number below 2^22 it leaves the number, rounded, in the low bits.
const ROUNDER: f32 = 12_582_912.0;

/// A row as whole numbers, and the scale that makes them what they were, rounded.
pub fn quantize(row: &[f32]) -> (impl Iterator<Item = i8>, f32) {
    let top = row
        .iter()
        .fold(f32::MIN_POSITIVE, |top, x| top.max(x.abs()));
    let numbers = row.iter().map(move |x| (x * (ROW_TOP / top)).round() as i8);
    (numbers, top / ROW_TOP)
}

/// Rows of whole numbers, each with the scale that makes them what they were.
pub struct Matrix {
    columns: usize,
    numbers: Vec<i8>,
    scales: Vec<f32>,
}

/// What is done with each number of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epilogue {
    Nothing,
    /// The Gaussian error linear unit, `x * P(X <= x)`.
    Gelu,
}

impl Matrix {
    /// An empty one. `columns` is a multiple of 16 and at most [`COLUMNS_MAX`].
    pub fn new(columns: usize) -> Self {
        assert!(columns.is_multiple_of(AT_ONCE) && columns <= COLUMNS_MAX && columns > 0);
        Self {
            columns,
            numbers: Vec::new(),
            scales: Vec::new(),
        }
    }

    pub fn rows(&self) -> usize {
        self.scales.len()
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Adds one row, rounded.
    pub fn push(&mut self, row: &[f32]) {
        assert_eq!(row.len(), self.columns);
        let (numbers, scale) = quantize(row);
        self.numbers.extend(numbers);
        self.scales.push(scale);
    }

    /// Adds a row that [`quantize`] has made.
    pub fn push_quantized(&mut self, row: &[i8], scale: f32) {
        assert_eq!(row.len(), self.columns);
        self.scales.push(scale);
        self.numbers.extend(row);
    }

    /// The product with each of the vectors that lie one after the other: for each vector one number
    /// a row, with the row's bias added where there are biases.
    pub fn multiply(&self, vectors: &[f32], biases: Option<&[f32]>, then: Epilogue) -> Vec<f32> {
        assert!(vectors.len().is_multiple_of(self.columns));
        let count = vectors.len() / self.columns;
        let mut product = vec![0.0; count * self.rows()];
        run(Multiply {
            matrix: self,
            vectors,
            biases,
            then,
            product: &mut product,
        });
        product
    }
}

/// The way a processor multiplies whole numbers.
trait SimdKind: Copy {
    type Sum: Copy;
    fn nothing(self) -> Self::Sum;
    fn widen(self, row: i8x16) -> i16x16;
    fn add_products(self, sum: Self::Sum, row: i16x16, vector: i16x16) -> Self::Sum;
    fn total(self, sum: Self::Sum) -> i32;
}

/// Any processor.
#[derive(Clone, Copy)]
struct Plain;

impl SimdKind for Plain {
    type Sum = i32;

    #[inline(always)]
    fn nothing(self) -> i32 {
        0
    }

    #[inline(always)]
    fn widen(self, row: i8x16) -> i16x16 {
        let row: [i8; AT_ONCE] = pulp::bytemuck::cast(row);
        pulp::bytemuck::cast(row.map(i16::from))
    }

    #[inline(always)]
    fn add_products(self, sum: i32, row: i16x16, vector: i16x16) -> i32 {
        let row: [i16; AT_ONCE] = pulp::bytemuck::cast(row);
        let vector: [i16; AT_ONCE] = pulp::bytemuck::cast(vector);
        let products = row.iter().zip(vector);
        sum + products
            .map(|(a, b)| i32::from(*a) * i32::from(b))
            .sum::<i32>()
    }

    #[inline(always)]
    fn total(self, sum: i32) -> i32 {
        sum
    }
}

#[cfg(target_arch = "x86_64")]
impl SimdKind for pulp::x86::V3 {
    type Sum = pulp::i32x8;

    #[inline(always)]
    fn nothing(self) -> Self::Sum {
        self.splat_i32x8(0)
    }

    #[inline(always)]
    fn widen(self, row: i8x16) -> i16x16 {
        self.convert_i8x16_to_i16x16(row)
    }

    #[inline(always)]
    fn add_products(self, sum: Self::Sum, row: i16x16, vector: i16x16) -> Self::Sum {
        let products = self.multiply_wrapping_add_adjacent_i16x16(row, vector);
        self.wrapping_add_i32x8(sum, products)
    }

    #[inline(always)]
    fn total(self, sum: Self::Sum) -> i32 {
        let lanes: [i32; 8] = pulp::bytemuck::cast(sum);
        lanes.iter().sum()
    }
}

/// Runs it the fastest way that this processor has.
fn run(work: Multiply<'_>) {
    #[cfg(target_arch = "x86_64")]
    {
        struct WideMultiply<'a>(Multiply<'a>, pulp::x86::V3);
        impl pulp::NullaryFnOnce for WideMultiply<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                self.0.run(self.1);
            }
        }
        if let Some(wide) = pulp::x86::V3::try_new() {
            return wide.vectorize(WideMultiply(work, wide));
        }
    }
    work.run(Plain);
}

struct Multiply<'a> {
    matrix: &'a Matrix,
    vectors: &'a [f32],
    biases: Option<&'a [f32]>,
    then: Epilogue,
    product: &'a mut [f32],
}

impl Multiply<'_> {
    #[inline(always)]
    fn run(mut self, simd: impl SimdKind) {
        let columns = self.matrix.columns;
        let mut whole = vec![0_i16; self.vectors.len()];
        let scales: Vec<f32> = self
            .vectors
            .chunks_exact(columns)
            .zip(whole.chunks_exact_mut(columns))
            .map(|(vector, whole)| round(vector, whole))
            .collect();
        let mut first = 0;
        while first < scales.len() {
            match scales.len() - first {
                1 => self.some::<1>(simd, &whole, &scales, first),
                2 => self.some::<2>(simd, &whole, &scales, first),
                3 => self.some::<3>(simd, &whole, &scales, first),
                _ => self.some::<TOGETHER>(simd, &whole, &scales, first),
            }
            first += TOGETHER;
        }
        if let Some(biases) = self.biases {
            for product in self.product.chunks_exact_mut(biases.len()) {
                for (x, bias) in product.iter_mut().zip(biases) {
                    *x += bias;
                }
            }
        }
        if self.then == Epilogue::Gelu {
            for x in self.product.iter_mut() {
                *x = gelu(*x);
            }
        }
    }

    /// The products of all rows with `N` vectors.
    #[inline(always)]
    fn some<const N: usize>(
        &mut self,
        simd: impl SimdKind,
        whole: &[i16],
        scales: &[f32],
        first: usize,
    ) {
        let rows = self.matrix.rows();
        let pairs = rows / 2;
        for pair in 0..pairs {
            self.block::<N, 2>(simd, whole, scales, first, 2 * pair);
        }
        if 2 * pairs < rows {
            self.block::<N, 1>(simd, whole, scales, first, 2 * pairs);
        }
    }

    /// The products of `R` rows with `N` vectors: every number that is read is used more than once.
    #[inline(always)]
    fn block<const N: usize, const R: usize>(
        &mut self,
        simd: impl SimdKind,
        whole: &[i16],
        scales: &[f32],
        first: usize,
        first_row: usize,
    ) {
        let steps = self.matrix.columns / AT_ONCE;
        let numbers: &[i8x16] = cast_slice(&self.matrix.numbers);
        let whole: &[i16x16] = cast_slice(whole);
        let rows: [&[i8x16]; R] =
            std::array::from_fn(|row| &numbers[(first_row + row) * steps..][..steps]);
        let vectors: [&[i16x16]; N] =
            std::array::from_fn(|vector| &whole[(first + vector) * steps..][..steps]);
        let mut sums = [[simd.nothing(); N]; R];
        for step in 0..steps {
            for (row, sums) in rows.iter().zip(&mut sums) {
                let wide = simd.widen(row[step]);
                for (vector, sum) in vectors.iter().zip(sums) {
                    *sum = simd.add_products(*sum, wide, vector[step]);
                }
            }
        }
        for (row, sums) in sums.into_iter().enumerate() {
            let row = first_row + row;
            for (vector, sum) in sums.into_iter().enumerate() {
                let scale = self.matrix.scales[row] * scales[first + vector];
                self.product[(first + vector) * self.matrix.rows() + row] =
                    simd.total(sum) as f32 * scale;
            }
        }
    }
}

/// Writes a vector as whole numbers and answers their scale.
#[inline(always)]
fn round(vector: &[f32], whole: &mut [i16]) -> f32 {
    let mut tops = [f32::MIN_POSITIVE; AT_ONCE];
    for part in vector.chunks_exact(AT_ONCE) {
        for (top, x) in tops.iter_mut().zip(part) {
            *top = top.max(x.abs());
        }
    }
    let top = tops.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let factor = VECTOR_TOP / top;
    for (whole, x) in whole.iter_mut().zip(vector) {
        *whole = rounded(x * factor) as i16;
    }
    top / VECTOR_TOP
}

/// The nearest whole number of one below 2^22.
#[inline(always)]
fn rounded(x: f32) -> i32 {
    (x + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()) as i32
}

/// With the error function after Abramowitz and Stegun 7.1.26, exact to 2e-7.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z.abs());
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152 + t * 1.061_405_4))));
    let error = 1.0 - series * exp_of_negative(-z * z);
    0.5 * x * (1.0 + error.copysign(z))
}

#[inline(always)]
fn exp_of_negative(x: f32) -> f32 {
    let y = x.max(-87.0) * std::f32::consts::LOG2_E;
    let whole = rounded(y);
    let f = y - whole as f32;
    let part = 1.0
        + f * (std::f32::consts::LN_2
            + f * (0.240_226_5 + f * (0.055_504_11 + f * (0.009_618_13 + f * 0.001_333_36))));
    // Wrapping, because the compiler does not vectorize a loop that can panic on overflow.
    part * f32::from_bits((whole.wrapping_add(127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::{Epilogue, Matrix, Multiply, Plain, gelu};

    /// Numbers between -0.5 and 0.5, the same every time.
    fn numbers(count: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
        };
        (0..count).map(|_| next()).collect()
    }

    fn matrix(rows: usize, columns: usize) -> (Matrix, Vec<f32>) {
        let numbers = numbers(rows * columns, 7);
        let mut matrix = Matrix::new(columns);
        for row in numbers.chunks_exact(columns) {
            matrix.push(row);
        }
        (matrix, numbers)
    }

    #[test]
    fn products_are_those_of_the_numbers_before_rounding_to_a_hundredth() {
        for (rows, count) in [(1, 1), (2, 3), (7, 4), (8, 9)] {
            let (matrix, rows_of) = matrix(rows, 384);
            let vectors = numbers(count * 384, 3);
            let product = matrix.multiply(&vectors, None, Epilogue::Nothing);
            for (place, found) in product.iter().enumerate() {
                let (vector, row) = (place / rows, place % rows);
                let exact: f32 = (0..384)
                    .map(|i| rows_of[row * 384 + i] * vectors[vector * 384 + i])
                    .sum();
                assert!((found - exact).abs() < 0.03, "{found} {exact}");
            }
        }
    }

    #[test]
    fn every_processor_finds_the_same() {
        let (matrix, _) = matrix(5, 1_536);
        let vectors = numbers(6 * 1_536, 11);
        let biases = numbers(5, 13);
        let here = matrix.multiply(&vectors, Some(&biases), Epilogue::Gelu);
        let mut plain = vec![0.0; here.len()];
        let work = Multiply {
            matrix: &matrix,
            vectors: &vectors,
            biases: Some(&biases),
            then: Epilogue::Gelu,
            product: &mut plain,
        };
        work.run(Plain);
        for (a, b) in here.iter().zip(&plain) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let mut matrix = Matrix::new(super::COLUMNS_MAX);
        matrix.push(&[1.0; super::COLUMNS_MAX]);
        let product = matrix.multiply(&vec![3.0; super::COLUMNS_MAX], None, Epilogue::Nothing);
        assert!((product[0] - 3.0 * super::COLUMNS_MAX as f32).abs() < 1.0);
        let nothing = matrix.multiply(&vec![0.0; super::COLUMNS_MAX], None, Epilogue::Nothing);
        assert_eq!(nothing, [0.0]);
    }

    #[test]
    fn gelu_is_what_tables_say() {
        for (x, expected) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_3),
            (2.5, 2.484_475_8),
            (-3.0, -0.004_049_7),
            (30.0, 30.0),
            (-30.0, 0.0),
        ] {
            assert!((gelu(x) - expected).abs() < 1e-5, "{x}: {}", gelu(x));
        }
    }
}
