//! The requests that sessions are at in this process.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;

/// The requests that sessions are at, by JSON-RPC id: answers are matched by it, so that a second
/// request under the same id could only take the answer of the first.
#[derive(Debug, Default)]
pub(crate) struct Requests(Mutex<HashSet<(String, String)>>);

/// One request, until its handler has ended and its answer has left.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    requests: Arc<Requests>,
    at: (String, String),
}

impl Requests {
    /// `id`: as JSON. `None`: the session is at a request with this id.
    pub(crate) fn begin(self: &Arc<Self>, session_id: &str, id: &str) -> Option<RequestGuard> {
        let at = (session_id.to_owned(), id.to_owned());
        self.begun().insert(at.clone()).then(|| RequestGuard {
            requests: self.clone(),
            at,
        })
    }

    pub(super) fn is_under_way(&self, session_id: &str, id: &RequestId) -> bool {
        let id = serde_json::to_string(id).unwrap_or_default();
        self.begun().contains(&(session_id.to_owned(), id))
    }

    /// The sessions that are at a request.
    pub(super) fn sessions(&self) -> HashSet<String> {
        let begun = self.begun();
        begun.iter().map(|(session, _)| session.clone()).collect()
    }

    fn begun(&self) -> MutexGuard<'_, HashSet<(String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.requests.begun().remove(&self.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_free_again_once_its_request_is_over() {
        let requests = Arc::new(Requests::default());
        let first = requests.begin("s", "7").expect("free");
        assert!(requests.begin("s", "7").is_none());
        assert!(
            requests.begin("s", "\"7\"").is_some(),
            "a text is another id"
        );
        assert!(requests.begin("other", "7").is_some());
        assert!(requests.is_under_way("s", &RequestId::Number(7)));
        assert!(!requests.is_under_way("s", &RequestId::String("7".into())));
        assert!(requests.sessions().contains("s"));
        drop(first);
        assert!(!requests.is_under_way("s", &RequestId::Number(7)));
        assert!(requests.begin("s", "7").is_some());
        assert!(requests.begun().is_empty());
    }
}
