//! The key-value import of a call without a session.

use futures_util::future::BoxFuture;

use super::guest::{KeyPage, KeyValue, KeyValueError, StoredValue};

/// Nothing is stored, and nothing can be.
pub struct NoState;

impl KeyValue for NoState {
    fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<StoredValue>, KeyValueError>> {
        Box::pin(async { Ok(None) })
    }

    fn set<'a>(
        &'a self,
        _: &'a str,
        _: &'a [u8],
        _: Option<u32>,
        _: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, KeyValueError>> {
        Box::pin(async { Err(KeyValueError::Unavailable) })
    }

    fn delete<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), KeyValueError>> {
        Box::pin(async { Err(KeyValueError::Unavailable) })
    }

    fn list<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<KeyPage, KeyValueError>> {
        Box::pin(async { Ok((Vec::new(), None)) })
    }
}
