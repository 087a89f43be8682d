//! A dry run reads and writes nothing.

use serde_json::{Value, json};

use super::{Shop, permit, run_with};

const SCRIPT: &str = r#"const listed = await shop.listItems({});
const notes = listed.items.filter((item) => item.price > 1);
await Promise.all(notes.map((item) =>
  shop.createNote({ text: `${item.id} costs ${item.price}` })));
await shop.deleteItem({ id: "a" });
export default "never";
"#;

#[tokio::test(flavor = "multi_thread")]
async fn reads_run_and_writes_are_listed_with_their_arguments() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let body = json!({"script": SCRIPT, "dry_run": true});
    let planned = run_with(&gateway, body).await;
    assert_eq!(planned["status"], "planned", "{planned}");
    assert_eq!(planned["result"], Value::Null, "{planned}");
    let plan = planned["plan"].as_array().unwrap();
    let line = |step: u32, text: &str| json!({"step": step, "tool": "shop_create_note", "line": 4, "arguments": {"text": text}});
    let expected = [line(1, "bb costs 2"), line(2, "ccc costs 3")];
    assert_eq!(plan, &expected, "no result of a write arrives: {planned}");
    let asked = shop.api.received();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].target, "/items");

    // The same script, not dry, does what was listed.
    let ran = run_with(&gateway, json!({"script": SCRIPT})).await;
    assert_eq!(super::result_of(&ran), "never");
    let written = super::counts([("bb costs 2", 1), ("ccc costs 3", 1)]);
    assert_eq!(shop.written(), written);
    assert_eq!(shop.asked("DELETE"), ["/items/a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_only_reads_comes_to_its_end() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let script = "export default (await shop.listItems({})).items.length;";
    let ran = run_with(&gateway, json!({"script": script, "dry_run": true})).await;
    assert_eq!(super::result_of(&ran), &json!(3));
    assert_eq!(ran["plan"], json!([]), "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_asks_nobody_and_counts_nothing() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    permit(&gateway, super::WRITE, json!({"permission": "ask"})).await;
    let script = "await shop.createNote({ text: 'asked' });";
    let body = json!({"script": script, "dry_run": true});
    let planned = run_with(&gateway, body).await;
    assert_eq!(planned["status"], "planned", "{planned}");
    assert_eq!(
        planned["plan"][0]["arguments"]["text"], "asked",
        "{planned}"
    );
    let approvals = gateway.get("/v1/approvals").await.data();
    assert_eq!(approvals["approvals"], json!([]));

    let rule = json!({"permission": "allow", "max_calls": 1});
    permit(&gateway, super::WRITE, rule).await;
    for _ in 0..2 {
        let body = json!({"script": script, "dry_run": true});
        assert_eq!(run_with(&gateway, body).await["status"], "planned");
    }
    let ran = run_with(&gateway, json!({"script": script})).await;
    assert_eq!(ran["status"], "done", "the one call is left: {ran}");

    // What may not run is not planned either.
    permit(&gateway, super::WRITE, json!({"permission": "deny"})).await;
    let body = json!({"script": script, "dry_run": true});
    let refused = run_with(&gateway, body).await;
    assert_eq!(refused["status"], "failed", "{refused}");
    assert_eq!(refused["plan"], json!([]), "{refused}");
    assert_eq!(shop.written(), super::counts([("asked", 1)]));
}
