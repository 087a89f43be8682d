//! Compiled functions by their content, for the compiler's own use.
//!
//! Every plugin made from an OpenAPI description holds the same code and differs in its data alone,
//! and plugins in one language share much of their library. A function that this process has
//! compiled before is taken from here. Nothing is read from outside and nothing outlives the
//! process: what a file's code is compiled to is decided by its own bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use wasmtime::CacheStore;

/// Beyond this everything is dropped, and fills again with what is still in use.
const BYTES_MAX: usize = 64 << 20;

/// Shared by all engines of the process: a cache key covers the target and the compiler settings.
static COMPILED: LazyLock<Arc<Functions>> = LazyLock::new(Arc::default);

/// Functions compiled by this process.
#[derive(Default)]
pub(super) struct Functions(Mutex<FunctionTable>);

#[derive(Default)]
struct FunctionTable {
    by_hash: HashMap<Box<[u8]>, Box<[u8]>>,
    bytes: usize,
}

impl Functions {
    pub(super) fn shared() -> Arc<Self> {
        COMPILED.clone()
    }
}

impl CacheStore for Functions {
    fn get(&self, hash: &[u8]) -> Option<Cow<'_, [u8]>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let code = kept.by_hash.get(hash)?;
        Some(Cow::Owned(code.to_vec()))
    }

    fn insert(&self, hash: &[u8], code: Vec<u8>) -> bool {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = hash.len() + code.len();
        if kept.bytes + bytes > BYTES_MAX {
            *kept = FunctionTable::default();
        }
        if bytes > BYTES_MAX {
            return false;
        }
        if kept.by_hash.insert(hash.into(), code.into()).is_none() {
            kept.bytes += bytes;
        }
        true
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Functions")
            .field("functions", &kept.by_hash.len())
            .field("bytes", &kept.bytes)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_compiled_is_found_again_and_memory_is_bounded() {
        let functions = Functions::default();
        assert!(functions.get(b"a").is_none());
        assert!(functions.insert(b"a", vec![1, 2]));
        assert_eq!(functions.get(b"a").as_deref(), Some(&[1, 2][..]));
        assert!(functions.insert(b"b", vec![0; BYTES_MAX - 2]));
        assert!(functions.get(b"a").is_none(), "dropped to make room");
        assert!(functions.get(b"b").is_some());
        assert!(!functions.insert(b"c", vec![0; BYTES_MAX]));
        assert!(functions.0.lock().unwrap().bytes <= BYTES_MAX);
    }
}
