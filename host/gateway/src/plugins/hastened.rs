//! Which servers were asked early, so that calls that fail cost no write of the database each.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A server that did not know a tool is asked again at once, unless it was asked within this time.
pub(super) const HASTENED_AFTER_MS: i64 = 10 * 60 * 1_000;

/// By service, when this process last asked for an early look. Milliseconds.
#[derive(Debug, Default)]
pub(super) struct Hastened(Mutex<HashMap<String, i64>>);

impl Hastened {
    /// Whether the server of the service may be asked early now.
    pub(super) fn begin(&self, service: &str, now_ms: i64) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = last.get(service).map(|at_ms| now_ms - at_ms);
        if since.is_some_and(|since| (0..HASTENED_AFTER_MS).contains(&since)) {
            return false;
        }
        last.insert(service.to_owned(), now_ms);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_hastened_once_in_ten_minutes() {
        let hastened = Hastened::default();
        assert!(hastened.begin("notes", 0));
        assert!(!hastened.begin("notes", HASTENED_AFTER_MS - 1));
        assert!(hastened.begin("tickets", 1));
        assert!(hastened.begin("notes", HASTENED_AFTER_MS));
        // A clock that was set back holds nothing up.
        assert!(hastened.begin("notes", 5));
    }
}
