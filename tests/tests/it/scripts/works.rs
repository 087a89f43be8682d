//! What a script sees and what it answers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_gateway::Scope;
use toolgate_tests::gateway::{Options, TestGateway};

use super::{AT_ONCE, Shop, counts, key_for, permit, result_of, run, run_with};

#[tokio::test(flavor = "multi_thread")]
async fn three_calls_make_one_answer() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let ran = run(
        &gateway,
        r#"const listed = await shop.listItems({});
const dearest = listed.items.reduce((a, b) => (a.price > b.price ? a : b));
const shown = await tools.shop.getItem({ id: dearest.id });
await shop.createNote({ text: `The dearest is ${shown.id}.` });
export default { dearest: shown.id, price: shown.price };
"#,
    )
    .await;
    assert_eq!(result_of(&ran), &json!({"dearest": "ccc", "price": 3}));
    assert_eq!(shop.asked("GET"), ["/items", "/items/ccc"]);
    assert_eq!(shop.written(), counts([("The dearest is ccc.", 1)]));
    let calls = ran["calls"].as_array().unwrap();
    let called = |n: usize| (&calls[n]["tool"], &calls[n]["line"], &calls[n]["step"]);
    assert_eq!(calls.len(), 3, "{ran}");
    assert_eq!(
        [called(0), called(1), called(2)],
        [
            (&json!("shop_list_items"), &json!(1), &json!(0)),
            (&json!("shop_get_item"), &json!(3), &json!(1)),
            (&json!("shop_create_note"), &json!(4), &json!(2)),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_do_not_wait_for_each_other_run_at_one_time_and_no_more_than_eight() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let timed = async |script: &str| {
        let began = Instant::now();
        let ran = run(&gateway, script).await;
        (result_of(&ran).clone(), began.elapsed())
    };
    let all = |count: usize, name: &str| {
        format!(
            "const ids = Array.from({{ length: {count} }}, (_, n) => `{name}-${{n}}`);\n\
             const shown = await Promise.all(ids.map((id) => shop.getSlowItem({{ id }})));\n\
             export default shown.map((item) => item.id);"
        )
    };
    // The provider answers a wave once eight of it are there.
    let count = 3 * AT_ONCE;
    let (ids, _) = timed(&all(count, "wave")).await;
    let expected: Vec<String> = (0..count).map(|n| format!("wave-{n}")).collect();
    assert_eq!(ids, json!(expected), "in the order of the script");
    assert_eq!(shop.in_flight.take_most(), AT_ONCE);

    let sequence = "await shop.getSlowItem({ id: 'a' });\nawait shop.getSlowItem({ id: 'b' });";
    let (_, two) = timed(sequence).await;
    assert_eq!(shop.in_flight.take_most(), 1);
    let (_, eight) = timed(&all(AT_ONCE, "item")).await;
    // At one time they take as long as one does; a busy machine adds some milliseconds for each.
    let bound = two + Duration::from_millis(10) * AT_ONCE as u32;
    assert!(eight < bound, "eight took {eight:?}, two {two:?}");
    println!("eight slow calls at one time took {eight:.1?}, two one after the other {two:.1?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_call_is_an_exception_with_its_code() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let ran = run(
        &gateway,
        r#"async function codeOf(call) {
  try {
    await call;
    return "no error";
  } catch (error) {
    return [error instanceof Error, error.name, error.code, error.tool, typeof error.canRetry];
  }
}
export default [
  await codeOf(shop.getItem({ id: "missing" })),
  await codeOf(shop.getItem({ name: "a" })),
  await codeOf(shop.getItem({ id: "a" })),
];
"#,
    )
    .await;
    let error = |code: &str| json!([true, "ToolError", code, "shop.getItem", "boolean"]);
    let expected = json!([error("not_found"), error("invalid_arguments"), "no error"]);
    assert_eq!(result_of(&ran), &expected, "{ran}");

    // What nobody catches ends the script, with the call's code, the line and the step.
    let script =
        "const listed = await shop.listItems({});\n\nawait shop.getItem({ id: 'missing' });";
    let ran = run(&gateway, script).await;
    assert_eq!(ran["status"], "failed", "{ran}");
    let error = &ran["error"];
    assert_eq!(
        (
            &error["name"],
            &error["code"],
            &error["line"],
            &error["step"]
        ),
        (
            &json!("ToolError"),
            &json!("not_found"),
            &json!(3),
            &json!(1)
        ),
        "{ran}"
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("there is no such item"), "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_no_tool_has_says_so() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let ran = run(&gateway, "await shop.getItems({});").await;
    assert_eq!(ran["status"], "failed", "{ran}");
    let error = ran["error"].to_string();
    assert!(error.contains("getItems"), "{error}");
    assert_eq!(ran["error"]["line"], 1, "{ran}");
    assert!(shop.api.received().is_empty());
    // A tool goes by its function, by its name without the service and by its whole name.
    let script = "const all = [await shop.listItems({}), await shop.list_items({}), await shop.shop_list_items({})];\n\
        export default all.map((one) => one.items.length);";
    assert_eq!(result_of(&run(&gateway, script).await), &json!([3, 3, 3]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_searches_describes_and_reads_skills() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let skill = json!({
        "name": "Close the month", "summary": "How the month is closed.",
        "instructions": "Add up the items, then write one note.",
    });
    assert_eq!(gateway.post("/v1/skills", &skill).await.status, 201);
    let ran = run(
        &gateway,
        r#"const found = await search("list the items of the shop", { limit: 3 });
const described = await describe("shop_get_item");
const skill = await skills.get("Close the month");
export default [found, described, skill].map((one) => JSON.stringify(one));
"#,
    )
    .await;
    let told = result_of(&ran);
    for (n, part) in [
        (0, "shop_list_items"),
        (1, "Which item."),
        (2, "then write one note"),
    ] {
        assert!(told[n].as_str().unwrap().contains(part), "{part}: {ran}");
    }
    assert!(shop.api.received().is_empty(), "nothing was called");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_has_arguments_and_logs() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let script = r#"log("began with", args.names);
console.warn("a warning");
console.error("an error");
export default async function (input) {
  return [input.names.length, input === args, Object.isFrozen(args), args.nested.deep];
}
"#;
    let arguments = json!({"names": ["a", "b"], "nested": {"deep": 1.5}});
    let ran = run_with(&gateway, json!({"script": script, "arguments": arguments})).await;
    assert_eq!(result_of(&ran), &json!([2, true, true, 1.5]), "{ran}");
    let logs = ran["logs"].as_array().unwrap();
    let levels: Vec<&Value> = logs.iter().map(|one| &one["level"]).collect();
    assert_eq!(levels, ["info", "warn", "error"], "{ran}");
    let first = logs[0]["text"].as_str().unwrap();
    assert!(
        first.contains("began with") && first.contains("\"a\""),
        "{first}"
    );

    // Nothing that is exported, and what JSON does not have, is null.
    for script in [
        "log(1);",
        "export default undefined;",
        "export default () => {};",
    ] {
        let ran = run(&gateway, script).await;
        assert_eq!(result_of(&ran), &Value::Null, "{script}: {ran}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_in_typescript_runs_and_keeps_its_lines() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let script = r#"interface Item {
  id: string;
  price?: number;
}
type Total = { count: number; sum: number };

const listed = (await shop.listItems({})) as { items: Item[] };
function total<T extends Item>(items: readonly T[]): Total {
  let sum: number = 0;
  for (const item of items) sum += item.price ?? 0;
  return { count: items.length, sum } satisfies Total;
}
export default total<Item>(listed.items!);
"#;
    assert_eq!(
        result_of(&run(&gateway, script).await),
        &json!({"count": 3, "sum": 6})
    );
    let failing = "interface Item { id: string }\n\nconst item: Item = null as unknown as Item;\nexport default item.id;";
    let ran = run(&gateway, failing).await;
    assert_eq!(ran["status"], "failed", "{ran}");
    assert_eq!(
        (&ran["error"]["name"], &ran["error"]["line"]),
        (&json!("TypeError"), &json!(4)),
        "{ran}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn time_and_chance_are_what_the_host_gives() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let before_ms = gateway.gateway.clock().now_ms();
    let script = "const began = Date.now();\nawait sleep(1200);\n\
        export default [began, Date.now(), new Date().getTime(), Math.random(), Math.random()];";
    let ran = run(&gateway, script).await;
    let told = result_of(&ran).clone();
    let number = |n: usize| told[n].as_f64().unwrap();
    assert!(number(0) >= before_ms as f64, "{told}");
    assert!(number(1) - number(0) >= 1_200.0, "{told}");
    assert_eq!(told[1], told[2], "within a turn no time passes");
    assert!(
        (0.0..1.0).contains(&number(3)) && told[3] != told[4],
        "{told}"
    );
    let other = run(&gateway, script).await;
    assert_ne!(result_of(&other)[3], told[3], "each run has its own seed");
}

#[tokio::test(flavor = "multi_thread")]
async fn counted_permissions_count_each_call_of_a_script() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    permit(
        &gateway,
        super::WRITE,
        json!({"permission": "allow", "max_calls": 2}),
    )
    .await;
    let path = "/v1/permissions/users/default/services/shop";
    let deny = Some(json!({"permission": "deny"}).to_string());
    let key = Some(gateway.key.as_str());
    let set = gateway.send(reqwest::Method::PATCH, path, key, deny).await;
    assert_eq!(set.status, 200, "{}", set.text);
    let script = r#"const ends = [];
for (const text of ["a", "b", "c"]) {
  try {
    await shop.createNote({ text });
    ends.push("done");
  } catch (error) {
    ends.push(error.code);
  }
}
export default ends;
"#;
    let ran = run(&gateway, script).await;
    assert_eq!(shop.written(), counts([("a", 1), ("b", 1)]), "{ran}");
    let ends = result_of(&ran);
    assert_eq!(
        (&ends[0], &ends[1]),
        (&json!("done"), &json!("done")),
        "{ran}"
    );
    let last = ends[2].as_str().unwrap();
    assert!(
        ["permission_denied", "tool_not_found"].contains(&last),
        "{ran}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn each_call_of_a_script_counts_as_a_request_of_its_key() {
    const RPM: u32 = 6;
    let shop = Shop::start().await;
    // The minute does not end in the middle.
    let options = Options {
        clock: Some(Clock::manual(1_795_167_030_000)),
        ..shop.options()
    };
    let gateway = shop.gateway_with(options).await;
    let scopes = [Scope::ToolsRead, Scope::ToolsExecute];
    let key = key_for(&gateway, "default", &scopes, Some(RPM)).await;
    let script = r#"const ends = [];
for (let n = 0; n < 10; n++) {
  ends.push(await shop.getItem({ id: `${n}` }).then(() => "done", (error) => error.code));
}
export default ends;
"#;
    let body = Some(json!({"script": script}).to_string());
    let ran = gateway.send(reqwest::Method::POST, super::RUN, Some(&key), body);
    let ran = ran.await.data();
    let ends = result_of(&ran).as_array().unwrap();
    // The request that runs the script is one of them.
    let expected = (0..10).map(|n| match n + 1 < RPM {
        true => "done",
        false => "rate_limit_exceeded",
    });
    assert_eq!(ends, &expected.collect::<Vec<_>>(), "{ran}");
    assert_eq!(shop.api.received().len(), RPM as usize - 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_that_nobody_awaits_are_done_and_named() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let ran = run(
        &gateway,
        "shop.createNote({ text: 'late' });\nexport default 'ended';",
    )
    .await;
    assert_eq!(result_of(&ran), "ended");
    assert_eq!(shop.written(), counts([("late", 1)]));
    let warnings = ran["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{ran}");
    assert!(warnings[0].as_str().unwrap().contains("await"), "{ran}");
    let calls = ran["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1, "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_read_and_listed_afterwards() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let mut ids = Vec::new();
    for n in 0..3 {
        let ran = run(
            &gateway,
            &format!("log('number {n}');\nexport default {n};"),
        )
        .await;
        let read = gateway.get(&super::path_of(&ran, "")).await.data();
        for field in [
            "run_id",
            "status",
            "result",
            "logs",
            "calls",
            "execution_id",
        ] {
            assert_eq!(read[field], ran[field], "{field}");
        }
        ids.insert(0, ran["run_id"].clone());
    }
    assert_eq!(listed(&gateway, 2).await, ids, "the newest first");
    assert_eq!(listed(&gateway, 100).await, ids);
}

/// The ids of all runs, read in pages.
async fn listed(gateway: &TestGateway, limit: usize) -> Vec<Value> {
    let mut ids = Vec::new();
    let mut path = format!("/v1/scripts/runs?limit={limit}");
    loop {
        let page = gateway.get(&path).await.data();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= limit, "{page}");
        ids.extend(items.iter().map(|one| one["run_id"].clone()));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/v1/scripts/runs?limit={limit}&cursor={cursor}"),
            None => return ids,
        }
    }
}
