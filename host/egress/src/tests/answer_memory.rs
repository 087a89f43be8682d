//! The memory of answers, of which all calls have one budget.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::FutureExt as _;

use super::*;
use crate::memory::AnswerMemory;
use toolgate_core::memory::MemoryBudget;

const KIB: usize = 1 << 10;

async fn upstream() -> Upstream {
    Upstream::start(|seen, _| match seen.target.as_str() {
        "/small" => plain(200, &[], vec![b'a'; 10 * KIB]),
        "/packed" => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::best());
            packed.write_all(&vec![b'a'; 300 * KIB]).expect("memory");
            let packed = packed.finish().expect("memory");
            plain(200, &[("content-encoding", "gzip")], packed)
        }
        _ => plain(200, &[], vec![b'a'; 300 * KIB]),
    })
    .await
}

fn scope_of(budget: &Arc<MemoryBudget>, workspace: &str) -> CallScope {
    scope(TestConnection::bearer()).with_memory(budget.account(workspace.into()))
}

#[tokio::test]
async fn an_answer_holds_its_memory_until_its_last_copy_is_dropped() {
    let upstream = upstream().await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let budget = Arc::new(MemoryBudget::new(1 << 20));
    let scope = scope_of(&budget, "a");
    let small = egress.send(&scope, get("/small")).await.expect("an answer");
    assert_eq!(budget.now().used_bytes, 0, "{} bytes", small.body.len());
    for path in ["/large", "/packed"] {
        let large = egress.send(&scope, get(path)).await.expect("an answer");
        assert_eq!(large.body.len(), 300 * KIB, "{path}");
        let used = budget.now().used_bytes;
        assert_eq!(used, 300 * KIB as u64, "{path}");
        let copy = large.body.clone();
        drop(large);
        assert_eq!(budget.now().used_bytes, used, "{path}");
        drop(copy);
        assert_eq!(budget.now().used_bytes, 0, "{path}");
    }
    assert!(!scope.ran_out_of_memory());
}

#[tokio::test]
async fn an_answer_without_memory_is_one_that_the_provider_gave_and_ends_the_calls_requests() {
    let upstream = upstream().await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let budget = Arc::new(MemoryBudget::new(200 * KIB as u64));
    for path in ["/large", "/packed"] {
        let scope = scope_of(&budget, "a");
        let failure = egress.send(&scope, post(path, "{}")).await.expect_err(path);
        assert_eq!(failure.kind, FailureKind::BudgetExhausted, "{failure}");
        assert!(failure.sent, "the provider has done what it was asked");
        assert!(scope.ran_out_of_memory(), "{path}");
        assert_eq!(scope.records().len(), 1, "{path}");
        let next = egress.send(&scope, get("/small")).await.expect_err(path);
        assert!(!next.sent, "{next}");
        assert_eq!(scope.records().len(), 1, "{path}");
    }
    assert_eq!(upstream.seen().len(), 2);
    let now = budget.now();
    assert_eq!((now.used_bytes, now.refused), (0, 2));
    // Another call finds everything given back.
    let scope = scope_of(&budget, "b");
    egress.send(&scope, get("/small")).await.expect("an answer");
}

#[tokio::test]
async fn a_body_that_waits_for_memory_waits_closed() {
    let budget = Arc::new(MemoryBudget::new(600 * KIB as u64));
    let mut other = budget.account("b".into()).hold();
    other.grow(400 * KIB).await.expect("alone");
    let memory = AnswerMemory::new(budget.account("a".into()));
    let opened = AtomicUsize::new(0);
    let open = |closed: Bytes| {
        opened.fetch_add(1, Ordering::Relaxed);
        Ok(Bytes::from(closed.repeat(300 * KIB)))
    };
    let mut closed = memory.body(1);
    closed.extend(b"a").await.expect("it is small");
    let mut waiting = Box::pin(closed.opened(open));
    let early = waiting.as_mut().now_or_never();
    assert!(early.is_none(), "{:?}", budget.now());
    drop(other);
    let body = waiting.await.expect("there is memory");
    assert_eq!(body.len(), 300 * KIB);
    assert_eq!(budget.now().used_bytes, 300 * KIB as u64);
    assert_eq!(opened.load(Ordering::Relaxed), 2);
    assert!(!memory.has_run_out());
}
