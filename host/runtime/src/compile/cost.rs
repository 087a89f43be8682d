//! What compiling a component may cost, from its file alone.

use wasmparser::{Parser, Payload};

use crate::size::Size;

/// Code of a component that is expected to be compiled in a moment: three times what the largest of
/// the shipped plugins has.
const SMALL_CODE_BYTES_MAX: u64 = 3 << 20;
/// The same of one function: some steps of the compiler take longer than a function's length says.
const SMALL_FUNCTION_BYTES_MAX: u64 = 128 << 10;

/// The code in all modules of a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileCost {
    pub code_bytes: u64,
    pub largest_function_bytes: u64,
}

impl CompileCost {
    /// For a file that cannot be read to its end, the cost of the part that was read.
    pub fn measure(bytes: &[u8]) -> Self {
        let mut cost = Self::default();
        for payload in Parser::new(0).parse_all(bytes) {
            let Ok(payload) = payload else { break };
            if let Payload::CodeSectionEntry(body) = payload {
                let range = body.range();
                let bytes = (range.end - range.start) as u64;
                cost.code_bytes += bytes;
                cost.largest_function_bytes = cost.largest_function_bytes.max(bytes);
            }
        }
        cost
    }

    pub fn is_small(self, size: Size) -> bool {
        size == Size::Ordinary
            && self.code_bytes <= SMALL_CODE_BYTES_MAX
            && self.largest_function_bytes <= SMALL_FUNCTION_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_all_modules_counts_and_one_large_function_is_enough() {
        let module = |nops: usize| {
            format!(
                "(core module (func {}) (func))",
                "(drop (i32.const 1))".repeat(nops)
            )
        };
        let component = |modules: &[usize]| {
            let modules: String = modules.iter().map(|nops| module(*nops)).collect();
            CompileCost::measure(
                &wat::parse_str(format!("(component {modules})")).expect("valid text"),
            )
        };
        let one = component(&[100]);
        assert!(one.code_bytes > 300 && one.is_small(Size::Ordinary));
        assert!(!one.is_small(Size::Large), "an interpreter takes long");
        assert_eq!(component(&[100, 100]).code_bytes, 2 * one.code_bytes);
        let large = component(&[1, 60_000]);
        assert!(large.code_bytes < SMALL_CODE_BYTES_MAX && !large.is_small(Size::Ordinary));
        assert_eq!(CompileCost::measure(b"\0asm"), CompileCost::default());
    }
}
