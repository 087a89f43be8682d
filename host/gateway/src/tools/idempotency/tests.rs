use serde_json::json;
use tokio::sync::oneshot;

use super::*;
use crate::Scope;
use crate::skills::{CreateSkill, ListSkills, Skill};
use crate::testing::TestWorld;

fn attempt(key: &str, body: Value) -> Option<KeyedRequest> {
    Some(KeyedRequest::new(key, "POST /v1/skills", body).unwrap())
}

fn skill(name: &str) -> CreateSkill {
    CreateSkill {
        name: name.to_owned(),
        summary: "B".to_owned(),
        instructions: "C".to_owned(),
    }
}

async fn create(
    world: &TestWorld,
    caller: &Caller,
    attempt: Option<KeyedRequest>,
    name: &str,
) -> Result<Value, Error> {
    let new = skill(name);
    let work = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.create_skill(&caller, new).await
    };
    let made: IdempotentAnswer<Skill> = world
        .once(caller, Scope::SkillsWrite, attempt, work)
        .await?;
    Ok(serde_json::to_value(made).unwrap())
}

async fn count(world: &TestWorld, caller: &Caller) -> usize {
    let list = ListSkills {
        query: String::new(),
        limit: 1,
        offset: 0,
    };
    world.list_skills(caller, list).await.unwrap().total
}

#[tokio::test]
async fn the_same_request_is_done_once_and_answered_again() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let first = create(&world, &caller, attempt("k", json!({"a": 1, "b": 2})), "A");
    let first = first.await.unwrap();
    let again = create(&world, &caller, attempt("k", json!({"b": 2, "a": 1})), "A");
    assert_eq!(again.await.unwrap(), first);
    assert_eq!(count(&world, &caller).await, 1);

    let other = create(&world, &caller, attempt("k", json!({"a": 2})), "A").await;
    assert_eq!(other.unwrap_err().code(), "idempotency_conflict");
    // Another API key may choose the same text.
    let colleague = world.caller(&[Scope::Admin]).await;
    let theirs = create(&world, &colleague, attempt("k", json!({"a": 9})), "B").await;
    assert_eq!(theirs.unwrap()["name"], "B");

    world.clock.advance_ms(KEPT_MS);
    let later = create(&world, &caller, attempt("k", json!({"a": 2})), "C").await;
    assert_eq!(later.unwrap()["name"], "C");
}

#[tokio::test]
async fn a_refused_request_frees_its_key() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let refused = create(&world, &caller, attempt("k", json!({"n": ""})), "").await;
    assert_eq!(refused.unwrap_err().code(), "invalid_request");
    let corrected = create(&world, &caller, attempt("k", json!({"n": "A"})), "A").await;
    assert_eq!(corrected.unwrap()["name"], "A");
}

/// As a client does that is told to come back.
async fn create_when_free(world: &TestWorld, caller: &Caller, name: &str) -> Value {
    let coming_back = async {
        loop {
            match create(world, caller, attempt("k", json!({})), name).await {
                Err(Error::InProgress { .. }) => tokio::task::yield_now().await,
                made => return made.unwrap(),
            }
        }
    };
    let made = tokio::time::timeout(Duration::from_secs(30), coming_back);
    made.await.expect("the first request settles its key")
}

#[tokio::test]
async fn a_request_goes_on_when_its_client_hangs_up_and_the_repetition_gets_its_answer() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let (begins, has_begun) = oneshot::channel();
    let (go_on, may_go_on) = oneshot::channel::<()>();
    let held = |gateway: Arc<Gateway>, caller: Caller| async move {
        begins.send(()).unwrap();
        may_go_on.await.unwrap();
        gateway.create_skill(&caller, skill("A")).await
    };
    let request = world.once(&caller, Scope::SkillsWrite, attempt("k", json!({})), held);
    tokio::select! {
        _ = request => panic!("the request is held"),
        begun = has_begun => begun.unwrap(),
    }
    go_on.send(()).expect("the request is still there");
    let again = create_when_free(&world, &caller, "B").await;
    assert_eq!(again["name"], "A", "the first answer");
    assert_eq!(count(&world, &caller).await, 1);
}

#[tokio::test]
async fn a_request_with_a_secret_frees_its_key_when_its_client_has_hung_up() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let (begins, has_begun) = oneshot::channel();
    let (go_on, may_go_on) = oneshot::channel::<()>();
    let held = |_: Arc<Gateway>, _: Caller| async move {
        begins.send(()).unwrap();
        may_go_on.await.unwrap();
        Ok::<_, Error>(())
    };
    let request = world.one_at_a_time(&caller, attempt("k", json!({})), held);
    tokio::select! {
        _ = request => panic!("the request is held"),
        begun = has_begun => begun.unwrap(),
    }
    go_on.send(()).expect("the request is still there");
    let again = create_when_free(&world, &caller, "A").await;
    assert_eq!(again["name"], "A", "nothing was kept");
}

#[tokio::test]
async fn a_write_whose_outcome_the_database_did_not_say_is_not_done_again() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let written = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.create_skill(&caller, skill("A")).await?;
        // As where the commit arrived and its confirmation did not.
        Err::<Skill, _>(Error::DatabaseUnavailable(None))
    };
    let request = world.once(
        &caller,
        Scope::SkillsWrite,
        attempt("k", json!({})),
        written,
    );
    assert_eq!(request.await.unwrap_err().code(), "overloaded");
    let again = create(&world, &caller, attempt("k", json!({})), "A").await;
    assert_eq!(again.unwrap_err().code(), "outcome_unknown");
    assert_eq!(count(&world, &caller).await, 1);
    let knowing = attempt("k", json!({ "retry_unknown": true }));
    let again = create(&world, &caller, knowing, "B").await;
    assert_eq!(again.unwrap()["name"], "B");
}

#[tokio::test]
async fn a_running_request_is_in_progress_and_a_dead_one_unknown() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let body = json!({"a": 1});
    let first = attempt("k", body.clone()).unwrap();
    let claim = world
        .claim(&caller, &first, CALL_TIMEOUT)
        .await
        .unwrap()
        .unwrap();
    assert!(world.mark_sent(&caller, &claim).await.unwrap());
    let second = create(&world, &caller, attempt("k", body.clone()), "A").await;
    let Err(Error::InProgress { retry_after_s }) = second else {
        panic!("{second:?}");
    };
    assert!(retry_after_s > 0);

    // Nobody answers any more: the process is dead.
    world.clock.advance_ms(120_000);
    let third = create(&world, &caller, attempt("k", body.clone()), "A").await;
    match third {
        Err(Error::OutcomeUnknown { execution_id, .. }) => {
            assert_eq!(execution_id, claim.execution_id)
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(count(&world, &caller).await, 0);
    let knowing = json!({"a": 1, "retry_unknown": true});
    let fourth = create(&world, &caller, attempt("k", knowing), "A").await;
    assert_eq!(fourth.unwrap()["name"], "A");
    // The one that was taken over may not send any more.
    assert!(!world.mark_sent(&caller, &claim).await.unwrap());
}

#[tokio::test]
async fn a_dead_request_that_sent_nothing_simply_runs() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let first = attempt("k", json!({})).unwrap();
    let _claim = world
        .claim(&caller, &first, CALL_TIMEOUT)
        .await
        .unwrap()
        .unwrap();
    world.clock.advance_ms(120_000);
    let second = create(&world, &caller, attempt("k", json!({})), "A").await;
    assert_eq!(second.unwrap()["name"], "A");
}

#[test]
fn a_key_is_visible_ascii_of_bounded_length() {
    let of = |key: &str| KeyedRequest::new(key, "POST /", json!({})).is_ok();
    for good in [
        "a",
        "8e03978e-40d5-43dd-bc93-6894a57f9324",
        "\"quoted\"",
        &"k".repeat(255),
    ] {
        assert!(of(good), "{good}");
    }
    for bad in ["", "a b", "a\n", "ä", "\0", &"k".repeat(256)] {
        assert!(!of(bad), "{bad:?}");
    }
}
