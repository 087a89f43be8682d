//! A script that needs a person waits for them, goes on in any process, and repeats nothing.

use serde_json::{Value, json};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::postgres;

use super::{Shop, connect, counts, path_of, permit, result_of, resume, run};

const CONNECTS: &str = r#"await shop.createNote({ text: "before" });
const entry = await ledger.addEntry({ text: "in the middle" });
await shop.createNote({ text: "after" });
export default entry.id;
"#;

const ASKS: &str = r#"const listed = await shop.listItems({});
try {
  await shop.createNote({ text: "asked" });
} catch (error) {
  log("refused with", error.code);
}
export default listed.items.length;
"#;

/// Two gateways with one database.
async fn two(shop: &Shop, folder: &std::path::Path) -> (TestGateway, TestGateway) {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let options = || Options {
        database_url: Some(url.clone()),
        master_key_file: Some(folder.join("master.key")),
        ..shop.options()
    };
    let one = shop.gateway_with(options()).await;
    let mut two = shop.gateway_with(options()).await;
    // A run goes on under the key that began it.
    two.key.clone_from(&one.key);
    (one, two)
}

#[track_caller]
fn assert_waits_for_the_ledger(paused: &Value) {
    assert_eq!(paused["status"], "paused", "{paused}");
    let pause = &paused["pause"];
    assert_eq!(
        (
            &pause["reason"],
            &pause["tool"],
            &pause["step"],
            &pause["line"]
        ),
        (
            &json!("connection"),
            &json!("ledger_add_entry"),
            &json!(1),
            &json!(2)
        ),
        "{paused}"
    );
    assert_eq!(pause["approval_id"], Value::Null, "{paused}");
    assert_eq!(paused["result"], Value::Null, "{paused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_goes_on_once_the_account_is_connected() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let paused = run(&gateway, CONNECTS).await;
    assert_waits_for_the_ledger(&paused);
    assert_eq!(shop.written(), counts([("before", 1)]));
    // Asked too early it waits on, and repeats nothing.
    let early = resume(&gateway, &paused).await.data();
    assert_waits_for_the_ledger(&early);
    assert_eq!(early["run_id"], paused["run_id"]);
    let read = gateway.get(&path_of(&paused, "")).await.data();
    assert_waits_for_the_ledger(&read);
    // A link is a secret of the answer that it was made for.
    assert_eq!(read["pause"]["connect_url"], Value::Null, "{read}");
    assert_eq!(shop.written(), counts([("before", 1)]));

    connect(&gateway, &early["pause"]["connect_url"]).await;
    let ran = resume(&gateway, &paused).await.data();
    assert_eq!(result_of(&ran), &json!(7));
    let all = [("after", 1), ("before", 1), ("in the middle", 1)];
    assert_eq!(shop.written(), counts(all));
    assert_eq!(ran["pause"], Value::Null, "{ran}");
    let calls = ran["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 3, "{ran}");
    assert!(
        calls.iter().all(|call| call["execution_id"].is_string()),
        "{ran}"
    );

    // What has ended is answered as it ended.
    let again = resume(&gateway, &paused).await.data();
    assert_eq!(result_of(&again), &json!(7));
    assert_eq!(shop.written(), counts(all));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_one_process_began_goes_on_in_another() {
    let shop = Shop::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = two(&shop, folder.path()).await;
    let paused = run(&one, CONNECTS).await;
    assert_waits_for_the_ledger(&paused);
    one.stop().await;
    connect(
        &two,
        &resume(&two, &paused).await.data()["pause"]["connect_url"],
    )
    .await;
    let ran = resume(&two, &paused).await.data();
    assert_eq!(result_of(&ran), &json!(7));
    let all = [("after", 1), ("before", 1), ("in the middle", 1)];
    assert_eq!(shop.written(), counts(all));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_resume_at_one_time_make_each_call_once() {
    let shop = Shop::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = two(&shop, folder.path()).await;
    for round in 0..4 {
        let text = format!("round {round}");
        let script = format!(
            "await shop.createNote({{ text: '{text} before' }});\n\
             await ledger.addEntry({{ text: '{text} asked' }});\n\
             await shop.getSlowItem({{ id: 'a' }});\n\
             await shop.createNote({{ text: '{text} after' }});\nexport default '{text}';"
        );
        permit(&one, "ledger_add_entry", json!({"permission": "ask"})).await;
        let mut paused = run(&one, &script).await;
        if paused["pause"]["reason"] == "connection" {
            connect(&one, &paused["pause"]["connect_url"]).await;
            paused = resume(&one, &paused).await.data();
        }
        assert_eq!(paused["pause"]["reason"], "approval", "{paused}");
        let decided = one.decide(&paused["pause"]["approval_id"], "approve").await;
        assert_eq!(decided.status, 200, "{}", decided.text);
        let gateways = [&one, &two, &one, &two];
        let resumed = gateways.map(|gateway| resume(gateway, &paused));
        let answers = futures_util::future::join_all(resumed).await;
        let ended = answers.iter().filter(|one| one.status == 200);
        assert!(ended.count() >= 1, "{answers:?}");
        for answer in &answers {
            // The others are told that it runs, or how it has ended.
            assert!([200, 409].contains(&answer.status), "{}", answer.text);
        }
        let read = two.get(&path_of(&paused, "")).await.data();
        assert_eq!(result_of(&read), &json!(text));
    }
    let written = shop.written();
    assert_eq!(written.len(), 12, "{written:?}");
    assert!(written.values().all(|times| *times == 1), "{written:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_is_made_once_and_a_denied_one_is_an_exception() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    permit(&gateway, super::WRITE, json!({"permission": "ask"})).await;
    for (decision, writes, logged) in [("approve", 1, None), ("deny", 1, Some("permission_denied"))]
    {
        let paused = run(&gateway, ASKS).await;
        assert_eq!(paused["status"], "paused", "{paused}");
        let pause = paused["pause"].clone();
        assert_eq!(
            (&pause["reason"], &pause["tool"], &pause["line"]),
            (&json!("approval"), &json!("shop_create_note"), &json!(3)),
            "{paused}"
        );
        assert!(pause["approval_url"].is_string(), "{paused}");
        let early = resume(&gateway, &paused).await.data();
        assert_eq!(
            early["pause"]["approval_id"], pause["approval_id"],
            "{early}"
        );
        let decided = gateway.decide(&pause["approval_id"], decision).await;
        assert_eq!(decided.status, 200, "{}", decided.text);
        let ran = resume(&gateway, &paused).await.data();
        assert_eq!(result_of(&ran), &json!(3));
        assert_eq!(shop.written(), counts([("asked", writes)]), "{decision}");
        let logs = ran["logs"].as_array().unwrap();
        match logged {
            None => assert!(logs.is_empty(), "{ran}"),
            Some(code) => assert!(logs[0]["text"].as_str().unwrap().contains(code), "{ran}"),
        }
    }
    // The reading before it was done once for each run.
    assert_eq!(shop.asked("GET"), ["/items", "/items"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_beside_the_one_that_waits_are_settled_before_the_pause() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let script = r#"const all = await Promise.all([
  shop.getSlowItem({ id: "a" }),
  ledger.addEntry({ text: "asked" }),
  shop.createNote({ text: "beside" }),
]);
export default all.map((one) => one.id);
"#;
    let paused = run(&gateway, script).await;
    assert_eq!(paused["pause"]["step"], 1, "{paused}");
    assert_eq!(shop.written(), counts([("beside", 1)]));
    connect(&gateway, &paused["pause"]["connect_url"]).await;
    let ran = resume(&gateway, &paused).await.data();
    assert_eq!(result_of(&ran), &json!(["a", 7, 1]));
    assert_eq!(shop.written(), counts([("asked", 1), ("beside", 1)]));
    assert_eq!(
        shop.asked("GET")
            .iter()
            .filter(|path| *path == "/slow/a")
            .count(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn time_and_chance_of_a_resumed_script_are_those_of_its_beginning() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let script = r#"const began = [Date.now(), Math.random()];
await shop.createNote({ text: `${began[0]} ${began[1]}` });
const listed = await shop.listItems({});
const then = Date.now();
await ledger.addEntry({ text: "asked" });
export default [...began, then, listed.items.length, Math.random()];
"#;
    let paused = run(&gateway, script).await;
    let first = shop.written().into_keys().next().unwrap();
    connect(&gateway, &paused["pause"]["connect_url"]).await;
    let ran = resume(&gateway, &paused).await.data();
    let told = result_of(&ran);
    assert_eq!(format!("{} {}", told[0], told[1]), first);
    assert!(told[2].as_i64() >= told[0].as_i64(), "{told}");
    assert_eq!(told[3], 3);
    assert_eq!(shop.written().len(), 2, "the note was written once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_does_not_go_on() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let paused = run(&gateway, CONNECTS).await;
    connect(&gateway, &paused["pause"]["connect_url"]).await;
    let cancelled = gateway.post(&path_of(&paused, "/cancel"), &json!({})).await;
    assert_eq!(
        cancelled.data()["status"],
        "cancelled",
        "{}",
        cancelled.text
    );
    let again = resume(&gateway, &paused).await.data();
    assert_eq!(again["status"], "cancelled", "{again}");
    let twice = gateway.post(&path_of(&paused, "/cancel"), &json!({})).await;
    assert_eq!((twice.status, &*twice.code()), (409, "conflict"));
    assert_eq!(shop.written(), counts([("before", 1)]));
    // Another one does.
    assert_eq!(result_of(&run(&gateway, CONNECTS).await), &json!(7));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_gateway_goes_on_with_what_was_paused() {
    let shop = Shop::start().await;
    let folder = tempfile::tempdir().unwrap();
    let options = || Options {
        data_dir: Some(folder.path().join("data")),
        plugins_dir: Some(folder.path().join("plugins")),
        ..shop.options()
    };
    let gateway = shop.gateway_with(options()).await;
    let paused = run(&gateway, CONNECTS).await;
    let key = gateway.key.clone();
    gateway.stop().await;
    let mut gateway = shop.gateway_with(options()).await;
    gateway.key = key;
    let waiting = resume(&gateway, &paused).await.data();
    assert_waits_for_the_ledger(&waiting);
    connect(&gateway, &waiting["pause"]["connect_url"]).await;
    let ran = resume(&gateway, &paused).await.data();
    assert_eq!(result_of(&ran), &json!(7));
    let all = [("after", 1), ("before", 1), ("in the middle", 1)];
    assert_eq!(shop.written(), counts(all));
}
