use super::*;

const MIB: u64 = 1 << 20;
const CALL: usize = 64 << 20;

fn growth(workspace: &str, held_bytes: u64, bytes: u64) -> MemoryGrowth {
    MemoryGrowth {
        workspace: workspace.into(),
        held_bytes,
        bytes,
    }
}

/// Takes memory for new calls until a growth does not fit at once; answers how many bytes.
fn fill(table: &mut MemoryTable, workspace: &str) -> u64 {
    let (one, mut taken) = (growth(workspace, 0, MIB), 0);
    loop {
        match table.ask(&one) {
            Ok(MemoryDecision::Granted) => taken += one.bytes,
            Ok(MemoryDecision::Waits(id, _)) => {
                assert!(table.leave(id));
                return taken;
            }
            Err(NoFreeMemory) => return taken,
        }
    }
}

#[test]
fn a_greedy_workspace_leaves_memory_to_the_next() {
    let mut table = MemoryTable::new(1_000 * MIB);
    let greedy = fill(&mut table, "a");
    assert_eq!(greedy, 600 * MIB);
    let mut others = Vec::new();
    for name in ["b", "c", "d"] {
        others.push(fill(&mut table, name));
    }
    assert_eq!(others[0], 240 * MIB);
    assert!(others.iter().all(|bytes| *bytes > 0), "{others:?}");
    assert!(table.taken < 1_000 * MIB, "the last of it is nobody's");
    // Of four, each has a share of 250; only the greedy one has had it.
    assert!(matches!(table.ask(&growth("a", 0, MIB)), Err(NoFreeMemory)));
    assert!(matches!(
        table.ask(&growth("d", 0, 100 * MIB)),
        Ok(MemoryDecision::Waits(..))
    ));
}

#[test]
fn so_many_growths_wait_and_no_more() {
    let mut table = MemoryTable::new(1_000 * MIB);
    assert_eq!(fill(&mut table, "a"), 600 * MIB);
    let waits = growth("b", 0, 500 * MIB);
    for waiting in 0..WAITING_MAX {
        let asked = table.ask(&waits);
        assert!(
            matches!(asked, Ok(MemoryDecision::Waits(..))),
            "{waiting} wait"
        );
    }
    assert!(matches!(table.ask(&waits), Err(NoFreeMemory)));
    assert!(table.leave(table.next_id - 1));
    assert!(matches!(table.ask(&waits), Ok(MemoryDecision::Waits(..))));
}

#[test]
fn a_call_that_is_alone_has_all_that_one_call_may_use() {
    let mut table = MemoryTable::new(100 * MIB);
    assert!(matches!(
        table.ask(&growth("a", 0, 60 * MIB)),
        Ok(MemoryDecision::Granted)
    ));
    assert!(matches!(
        table.ask(&growth("a", 60 * MIB, 40 * MIB)),
        Ok(MemoryDecision::Granted)
    ));
    assert!(
        matches!(table.ask(&growth("a", 100 * MIB, 1)), Err(NoFreeMemory)),
        "one byte beyond the budget"
    );
}

#[test]
fn memory_that_is_given_back_goes_to_the_workspace_with_the_least() {
    let mut table = MemoryTable::new(100 * MIB);
    let greedy = growth("a", 0, 55 * MIB);
    assert!(matches!(table.ask(&greedy), Ok(MemoryDecision::Granted)));
    assert!(matches!(
        table.ask(&growth("b", 0, 26 * MIB)),
        Ok(MemoryDecision::Granted)
    ));
    let waits = |table: &mut MemoryTable, growth: &MemoryGrowth| match table.ask(growth) {
        Ok(MemoryDecision::Waits(_, granted)) => granted,
        other => panic!("it waits: {other:?}"),
    };
    let mut more = waits(&mut table, &growth("b", 26 * MIB, 5 * MIB));
    let mut first = waits(&mut table, &growth("c", 0, 25 * MIB));
    table.release(&greedy.workspace, 5 * MIB);
    table.grant();
    assert!(first.try_recv().is_err(), "not enough yet");
    assert!(more.try_recv().is_err(), "not enough yet");
    // Enough for either of them.
    table.release(&greedy.workspace, 18 * MIB);
    table.grant();
    assert_eq!(first.try_recv(), Ok(()), "it came later and has less");
    assert!(more.try_recv().is_err());
    table.release(&greedy.workspace, 32 * MIB);
    table.grant();
    assert_eq!(more.try_recv(), Ok(()));
    assert_eq!(table.taken, 56 * MIB);
}

#[tokio::test]
async fn memory_is_given_back_when_its_holder_is_dropped() {
    let budget = Arc::new(MemoryBudget::new(128 * MIB));
    let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
    let mut first = budget.account(a).hold();
    assert_eq!(first.grow(CALL).await, Ok(()));
    assert_eq!(budget.now().used_bytes, 64 * MIB);
    let mut other = budget.account(b).hold();
    assert_eq!(other.grow(CALL / 4).await, Ok(()), "beside the greedy one");
    drop(first);
    assert_eq!(budget.now().used_bytes, 16 * MIB);
    drop(other);
    assert_eq!(budget.now().used_bytes, 0);
    assert_eq!(budget.now().refused, 0);
}

#[tokio::test]
async fn a_growth_waits_for_memory_and_is_refused_after_a_while() {
    let budget = Arc::new(MemoryBudget::new(128 * MIB));
    let workspace: Arc<str> = "a".into();
    let mut first = budget.account(workspace.clone()).hold();
    assert_eq!(first.grow(CALL).await, Ok(()));
    let mut second = budget.account(workspace.clone()).hold();
    let began = std::time::Instant::now();
    assert_eq!(second.grow(CALL).await, Err(NoFreeMemory));
    assert!(began.elapsed() >= MEMORY_WAIT_MAX);
    assert_eq!(budget.now().refused, 1);
    // The next one is there when the memory is given back.
    let mut waiting = Box::pin(second.grow(CALL));
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    drop(first);
    assert_eq!(waiting.as_mut().await, Ok(()));
    drop(waiting);
    assert_eq!(budget.now().used_bytes, 64 * MIB);
    drop(second);
    assert_eq!(budget.now().used_bytes, 0);
}

#[tokio::test]
async fn a_waiter_that_is_dropped_keeps_no_memory() {
    let budget = Arc::new(MemoryBudget::new(128 * MIB));
    let workspace: Arc<str> = "a".into();
    let mut first = budget.account(workspace.clone()).hold();
    assert_eq!(first.grow(CALL).await, Ok(()));
    let mut second = budget.account(workspace.clone()).hold();
    let mut waiting = Box::pin(second.grow(CALL));
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    // Granted while nothing polled it.
    drop(first);
    assert_eq!(budget.now().used_bytes, 64 * MIB);
    drop(waiting);
    drop(second);
    assert_eq!(budget.now().used_bytes, 0);
}

#[test]
fn a_larger_budget_serves_those_that_wait() {
    let budget = MemoryBudget::new(MIB);
    assert!(matches!(
        budget.table().ask(&growth("a", 0, MIB / 2)),
        Ok(MemoryDecision::Granted)
    ));
    let asked = budget.table().ask(&growth("b", 0, MIB / 2));
    let Ok(MemoryDecision::Waits(_, mut granted)) = asked else {
        panic!("it waits: {asked:?}");
    };
    budget.set_max(4 * MIB);
    assert_eq!(granted.try_recv(), Ok(()));
}

#[tokio::test]
async fn what_cannot_be_refused_is_counted_and_leaves_less_to_its_workspace() {
    let budget = Arc::new(MemoryBudget::new(128 * MIB));
    let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
    let mut answer = budget.account(a.clone()).hold();
    answer.count(CALL);
    let mut small = budget.account(b).hold();
    assert_eq!(small.grow(1).await, Ok(()));
    // 64 MiB are its even share, and it has them.
    let mut more = budget.account(a).hold();
    assert_eq!(more.grow(CALL / 2).await, Err(NoFreeMemory));
    drop((answer, more, small));
    assert_eq!(budget.now().used_bytes, 0);
}

#[tokio::test]
async fn what_cannot_be_refused_leaves_the_others_their_part() {
    let budget = Arc::new(MemoryBudget::new(100 * MIB));
    let mut answers = Vec::new();
    for _ in 0..4 {
        let mut answer = budget.account("a".into()).hold();
        answer.count(CALL / 2);
        answers.push(answer);
    }
    assert_eq!(budget.now().used_bytes, 60 * MIB, "six tenths");
    let mut other = budget.account("b".into()).hold();
    assert_eq!(other.grow(CALL / 4).await, Ok(()));
    drop((answers, other));
    assert_eq!(budget.now().used_bytes, 0);
}

#[tokio::test]
async fn without_a_wait_memory_is_taken_only_where_it_is_free() {
    let budget = Arc::new(MemoryBudget::new(100 * MIB));
    let mut first = budget.account("a".into()).hold();
    assert!(first.try_grow_to(CALL));
    let mut second = budget.account("b".into()).hold();
    assert!(!second.try_grow_to(CALL));
    assert_eq!(budget.now().used_bytes, 64 * MIB);
    drop(first);
    assert!(second.try_grow_to(CALL) && second.try_grow_to(CALL));
    drop(second);
    let now = budget.now();
    assert_eq!((now.used_bytes, now.refused), (0, 0));
}

#[tokio::test]
async fn memory_grows_to_a_size_and_no_further() {
    let budget = Arc::new(MemoryBudget::new(128 * MIB));
    let mut held = budget.account("a".into()).hold();
    for (size, used) in [(10, 10), (4, 10), (11, 11)] {
        assert_eq!(held.grow_to(size).await, Ok(()), "{size}");
        assert_eq!(budget.now().used_bytes, used, "{size}");
    }
}
