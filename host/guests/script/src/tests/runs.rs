use super::*;

#[test]
fn a_default_function_is_given_the_arguments() {
    let script = "export default async (input) => ({ hello: input.name, same: input === args });";
    assert_eq!(
        result_of(script),
        json!({"hello": "toolgate", "same": true})
    );
}

#[test]
fn a_default_value_or_promise_is_the_result_and_without_one_it_is_null() {
    assert_eq!(result_of("export default 1 + 1"), json!(2));
    assert_eq!(
        result_of("export default Promise.resolve([1, undefined, 1.5])"),
        json!([1, null, 1.5])
    );
    assert_eq!(
        result_of("const x = await Promise.resolve(1);"),
        Value::Null
    );
    assert_eq!(result_of("export default undefined"), Value::Null);
}

#[test]
fn a_call_is_a_step_with_its_line_and_its_outcome_is_data() {
    let mut driven = Driven::start(
        "const a = 1;\nconst issue = await github.createIssue({\n  title: 'x', n: a });\nexport default issue.number;",
    );
    assert_eq!(
        driven.turn,
        json!({
            "steps": [{"step": 0, "kind": "tool", "service": "github", "function": "createIssue",
                       "arguments": {"title": "x", "n": 1}, "line": 2}],
            "logs": [], "progress": [], "end": null,
        })
    );
    let turn = driven.give_ok(0, json!({"number": 7}));
    assert_eq!(turn["end"], json!({"ok": 7, "unawaited": []}));
    assert_eq!(turn["steps"], json!([]));
}

#[test]
fn steps_count_in_the_order_of_the_calls_and_end_in_any_order() {
    let mut driven = Driven::start(
        "const order = [];\nawait Promise.all([1, 2, 3].map(async (n) => {\n  await github.get({ n });\n  order.push(n);\n}));\nexport default order;",
    );
    let steps = driven.turn["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3);
    assert!(steps.iter().all(|step| step["line"] == 3), "{steps:?}");
    assert_eq!(steps[2]["arguments"], json!({"n": 3}));
    assert_eq!(driven.give_ok(2, Value::Null)["end"], Value::Null);
    assert_eq!(driven.give_ok(0, Value::Null)["end"], Value::Null);
    assert_eq!(
        driven.give_ok(1, Value::Null)["end"]["ok"],
        json!([3, 1, 2])
    );
}

#[test]
fn every_kind_of_step_has_its_arguments() {
    let driven = Driven::start(
        "search('mail', { limit: 3, services: ['slack'], other: 1 });\nsearch('x');\ndescribe('github_get');\nskills.get('review');\nsleep(1.5);\ntools.slack.send_message();\nexport default 1;",
    );
    let steps = driven.turn["steps"].as_array().unwrap();
    let seen: Vec<(&str, &Value, u64)> = steps
        .iter()
        .map(|step| {
            (
                step["kind"].as_str().unwrap(),
                &step["arguments"],
                step["line"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (
                "search",
                &json!({"query": "mail", "limit": 3, "services": ["slack"]}),
                1
            ),
            ("search", &json!({"query": "x"}), 2),
            ("describe", &json!({"tool": "github_get"}), 3),
            ("skill", &json!({"name": "review"}), 4),
            ("sleep", &json!({"ms": 2}), 5),
            ("tool", &json!({}), 6),
        ]
    );
    assert_eq!(steps[5]["function"], "send_message");
    assert_eq!(
        driven.turn["end"],
        json!({"ok": 1, "unawaited": [0, 1, 2, 3, 4, 5]})
    );
}

#[test]
fn logs_and_progress_come_with_their_turn() {
    let mut driven = Driven::start(
        "console.log('a', 1, { b: [true] }, undefined);\nconsole.warn(new TypeError('no'));\nprogress(1, 3, 'first');\nprogress(0.5);\nawait sleep(1);\nlog('late');",
    );
    assert_eq!(
        driven.turn["logs"],
        json!([
            {"level": "info", "text": "a 1 {\"b\":[true]} undefined"},
            {"level": "warn", "text": "TypeError: no"},
        ])
    );
    assert_eq!(
        driven.turn["progress"],
        json!([
            {"done": 1, "total": 3, "message": "first"},
            {"done": 0.5, "total": null, "message": null},
        ])
    );
    driven.give_ok(0, Value::Null);
    assert_eq!(driven.logged(), ["late"]);
    assert_eq!(driven.turn["progress"], json!([]));
}

#[test]
fn time_comes_from_the_turn_and_random_numbers_from_the_seed() {
    let script = "const first = [Date.now(), Math.random(), Math.random()];\nawait sleep(1);\nexport default [...first, new Date().toISOString(), new Date(2020, 0, 1).toISOString()];";
    let run = || {
        let mut driven = Driven::start(script);
        driven.give_ok(0, Value::Null)["end"]["ok"].clone()
    };
    let result = run();
    assert_eq!(result, run(), "the same input gives the same result");
    assert_eq!(result[0], json!(1_700_000_000_000_i64));
    assert_eq!(result[3], "2023-11-14T22:13:21.000Z");
    assert_eq!(result[4], "2020-01-01T00:00:00.000Z");
    let numbers = [result[1].as_f64().unwrap(), result[2].as_f64().unwrap()];
    assert!(
        numbers[0] != numbers[1] && numbers.iter().all(|n| (0.0..1.0).contains(n)),
        "{numbers:?}"
    );
}

#[test]
fn only_names_that_are_free_become_globals_and_all_are_tools() {
    let script = "export default [typeof github, typeof globalThis['class'], Object.keys(tools), 'slack' in tools];";
    assert_eq!(
        result_of(script),
        json!(["object", "undefined", ["github", "slack", "class"], true])
    );
    let driven = Driven::start("tools.class.enroll({}); export default 1");
    assert_eq!(driven.turn["steps"][0]["service"], "class");
}

#[test]
fn a_service_itself_is_no_promise_and_prints_without_a_call() {
    let driven = Driven::start(
        "const s = await github; log(s); JSON.stringify(s); export default s === github;",
    );
    assert_eq!(driven.turn["end"]["ok"], json!(true));
    assert_eq!(driven.turn["steps"], json!([]));
}

#[test]
fn numbers_and_dates_go_out_as_json_says_them() {
    let script = "export default [1, 1.5, -0, 1e21, NaN, 9007199254740991, new Date(0), { f() {}, u: undefined, n: null }, [() => 1]]";
    let expected = json!([1, 1.5, 0, 1e21, null, 9_007_199_254_740_991_i64, "1970-01-01T00:00:00.000Z", {"n": null}, [null]]);
    assert_eq!(result_of(script), expected);
}

#[test]
fn the_outcome_keeps_the_order_of_its_keys() {
    let mut driven = Driven::start("export default Object.keys(await github.get())");
    let turn = driven.give_ok(0, json!({"z": 1, "a": 2, "m": 3}));
    assert_eq!(turn["end"]["ok"], json!(["z", "a", "m"]));
}
