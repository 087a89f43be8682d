//! The memory of a request: of its body until its answer is there, and of a large answer until it has left.
//!
//! A small body costs no look at the budget: there is no [`RequestMemory`] for it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use axum::body::{Body, HttpBody as _};
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::Extensions;

use toolgate_core::memory::buffer::{CountedBytes, FREE_BYTES};
use toolgate_core::memory::{HeldMemory, MemoryAccount, MemoryBudget};
use toolgate_gateway::Caller;

/// The memory of one request whose body may be large. The layer around the routes puts it into the request.
#[derive(Clone, Debug)]
pub struct RequestMemory(Arc<RequestMemoryInner>);

#[derive(Debug)]
struct RequestMemoryInner {
    budget: Arc<MemoryBudget>,
    /// In whose share it is; of nobody's until the caller or the hook is known.
    workspace: OnceLock<Arc<str>>,
    held: Mutex<Vec<Arc<HeldMemory>>>,
}

impl RequestMemory {
    /// None where the body is known to be small.
    pub fn for_body(budget: &Arc<MemoryBudget>, body: &Body) -> Option<Self> {
        let bytes_max = body.size_hint().upper();
        if bytes_max.is_some_and(|bytes| bytes <= FREE_BYTES as u64) {
            return None;
        }
        Some(Self(Arc::new(RequestMemoryInner {
            budget: budget.clone(),
            workspace: OnceLock::new(),
            held: Mutex::default(),
        })))
    }

    /// From here on it is in the share of the caller's workspace.
    pub fn belongs_to(&self, caller: &Caller) {
        let _ = self.0.workspace.set(caller.workspace_id.shared());
    }

    /// From here on it is in the share of the deliveries to hooks of this workspace. Nobody has proved yet to be the
    /// provider, so they take nothing of what the workspace itself sends.
    pub fn belongs_to_hooks(&self, workspace_id: &str) {
        let share = format!("hooks of {workspace_id}");
        let _ = self.0.workspace.set(share.into());
    }

    /// As [`RequestMemory::belongs_to`], for a request that has one.
    pub fn note_caller(extensions: &Extensions, caller: &Caller) {
        if let Some(memory) = extensions.get::<Self>() {
            memory.belongs_to(caller);
        }
    }

    pub(crate) fn account(&self) -> MemoryAccount {
        let workspace = self.0.workspace.get().cloned().unwrap_or_default();
        self.0.budget.account(workspace)
    }

    /// Keeps the memory of a body as long as the request has it, and as long as there is a copy of the body.
    pub(crate) fn keep(&self, body: Bytes, held: HeldMemory) -> Bytes {
        let held = Arc::new(held);
        self.held().push(held.clone());
        Bytes::from_owner(CountedBytes::new(body, held))
    }

    /// Keeps it until a stream has ended: the request is still worked on. An answer in one piece is made of what was
    /// asked, and needs it no more.
    pub fn until_streamed(self, answer: Response) -> Response {
        if self.held().is_empty() || answer.body().size_hint().exact().is_some() {
            return answer;
        }
        answer.map(|body| {
            Body::from_stream(body.into_data_stream().map(move |piece| {
                let _held = &self;
                piece
            }))
        })
    }

    fn held(&self) -> MutexGuard<'_, Vec<Arc<HeldMemory>>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// With an answer: its body is not small and holds what this workspace has asked for.
#[derive(Clone, Debug)]
pub(crate) struct LargeAnswer {
    workspace: Arc<str>,
    body: Bytes,
}

impl LargeAnswer {
    /// For [`count_answer`], unless the body is small.
    pub(crate) fn note(answer: &mut Response, workspace: Arc<str>, body: Bytes) {
        if body.len() > FREE_BYTES {
            answer.extensions_mut().insert(Self { workspace, body });
        }
    }
}

/// Counts a large answer until it has left, within the share of its workspace. It is never refused, since what was
/// asked has been done: its workspace finds less for what it asks next.
pub(crate) fn count_answer(answer: &mut Response, budget: &Arc<MemoryBudget>) {
    let Some(LargeAnswer { workspace, body }) = answer.extensions_mut().remove() else {
        return;
    };
    // An answer to HEAD has no body any more.
    if answer.body().size_hint().exact() == Some(body.len() as u64) {
        let mut held = budget.account(workspace).hold();
        held.count(body.len());
        *answer.body_mut() = Body::from(Bytes::from_owner(CountedBytes::new(body, held)));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::body::read_counted;

    const MIB: usize = 1 << 20;

    fn body(bytes: usize) -> Body {
        let pieces = (0..bytes.div_ceil(FREE_BYTES)).map(|piece| {
            let left = bytes - piece * FREE_BYTES;
            Ok::<_, std::io::Error>(Bytes::from(vec![b' '; left.min(FREE_BYTES)]))
        });
        Body::from_stream(futures_util::stream::iter(pieces.collect::<Vec<_>>()))
    }

    async fn read(budget: &Arc<MemoryBudget>, bytes: usize) -> (RequestMemory, Result<Bytes, u16>) {
        let body = body(bytes);
        let memory = RequestMemory::for_body(budget, &body).expect("a stream may be large");
        let read = read_counted(Some(&memory), body, 2 * MIB, Duration::from_secs(10)).await;
        (memory, read.map_err(|failure| failure.status().as_u16()))
    }

    #[tokio::test]
    async fn a_body_has_its_memory_until_the_request_and_its_last_copy_are_gone() {
        let budget = Arc::new(MemoryBudget::new(4 * MIB as u64));
        let small = Body::from(vec![b' '; FREE_BYTES]);
        assert!(RequestMemory::for_body(&budget, &small).is_none());
        let (memory, body) = read(&budget, MIB).await;
        let body = body.expect("there is memory");
        assert_eq!(body.len(), MIB);
        assert_eq!(budget.now().used_bytes, MIB as u64);
        drop(body);
        assert_eq!(
            budget.now().used_bytes,
            MIB as u64,
            "what it was decoded to"
        );
        drop(memory);
        assert_eq!(budget.now().used_bytes, 0);
    }

    #[tokio::test]
    async fn a_body_without_memory_is_refused_and_gives_back_what_it_had() {
        let budget = Arc::new(MemoryBudget::new(MIB as u64));
        let (_memory, body) = read(&budget, 3 * MIB / 2).await;
        assert_eq!(body.expect_err("too much"), 503);
        let now = budget.now();
        assert_eq!((now.used_bytes, now.refused), (0, 1));
    }

    #[tokio::test]
    async fn deliveries_to_the_hooks_of_a_workspace_have_a_share_of_their_own() {
        let budget = Arc::new(MemoryBudget::new(4 * MIB as u64));
        let mut kept = Vec::new();
        for (workspace, bytes, expected) in [
            ("a", 2 * MIB, Ok(2 * MIB)),
            ("b", MIB, Ok(MIB)),
            ("a", MIB, Err(503)),
        ] {
            let body = body(bytes);
            let memory = RequestMemory::for_body(&budget, &body).expect("a stream may be large");
            memory.belongs_to_hooks(workspace);
            let read = read_counted(Some(&memory), body, 2 * MIB, Duration::from_secs(10)).await;
            let read = read.map(|bytes| bytes.len());
            let read = read.map_err(|failure| failure.status().as_u16());
            assert_eq!(read, expected, "{workspace}");
            kept.push(memory);
        }
        drop(kept);
        assert_eq!(budget.now().used_bytes, 0);
    }

    #[tokio::test]
    async fn a_large_answer_is_counted_until_it_is_sent() {
        let budget = Arc::new(MemoryBudget::new(4 * MIB as u64));
        let large = Bytes::from(vec![b'x'; 2 * MIB]);
        let mut answer = Response::new(Body::from(large.clone()));
        LargeAnswer::note(&mut answer, "a".into(), large.clone());
        count_answer(&mut answer, &budget);
        assert_eq!(budget.now().used_bytes, 2 * MIB as u64);
        let sent = axum::body::to_bytes(answer.into_body(), 2 * MIB).await;
        assert_eq!(sent.expect("sent"), large);
        assert_eq!(budget.now().used_bytes, 0);
        let mut small = Response::new(Body::from("x"));
        LargeAnswer::note(&mut small, "a".into(), Bytes::from_static(b"x"));
        count_answer(&mut small, &budget);
        assert_eq!(budget.now().used_bytes, 0);
    }
}
