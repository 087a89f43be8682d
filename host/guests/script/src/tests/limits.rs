use super::*;
use crate::limits::{JSON_DEPTH_MAX, LOG_BYTES_MAX, LOG_LINE_BYTES_MAX, STEPS_MAX};

#[test]
fn a_script_makes_no_more_calls_than_it_may() {
    let most = format!("for (let n = 0; n < {STEPS_MAX}; n++) github.get();\nexport default 1;");
    let driven = Driven::start(&most);
    assert_eq!(driven.turn["steps"].as_array().unwrap().len(), STEPS_MAX);
    assert_eq!(driven.turn["end"]["ok"], json!(1));
    let more = format!("for (let n = 0; n <= {STEPS_MAX}; n++)\n  github.get();");
    let driven = Driven::start(&more);
    let failure = &driven.turn["end"]["error"];
    assert_eq!(
        (&failure["name"], &failure["line"]),
        (&json!("RangeError"), &json!(2)),
        "{failure}"
    );
}

#[test]
fn deep_recursion_of_the_default_function_is_a_range_error() {
    for script in [
        "function f() { return f() + 1 }\nexport default f;",
        "const f = () => [1].map(f); export default f;",
        "const o = { get x() { return this.x } }; export default () => o.x;",
        "const f = async () => { await f() }; export default f;",
        "const f = () => f(); export default async () => { f(); await 1 }",
        "const f = () => github.get({ get x() { return f() } }); export default f",
    ] {
        let failure = in_large_thread(move || failure_of(script));
        assert_eq!(failure["name"], "RangeError", "{script}: {failure}");
    }
}

#[test]
fn deep_recursion_elsewhere_ends_the_script() {
    for script in [
        "const f = () => f(); f();",
        "const f = () => f(); try { f() } catch { log('caught') } export default 1",
        "const f = () => f(); await 1; f();",
        "const f = async () => { await f() }; await f();",
        "const f = () => f(); export default async () => { await 1; f(); }",
        "class A { static a = A.f(); static f() { return A.f() } } export default 1",
    ] {
        let failure = in_large_thread(move || failure_of(script));
        assert_eq!(failure["code"], "never_settles", "{script}: {failure}");
        assert!(
            failure["message"].as_str().unwrap().contains("deep"),
            "{failure}"
        );
    }
}

#[test]
fn recursion_that_a_script_needs_runs() {
    let script = format!(
        "const f = (n) => n === 0 ? 0 : 1 + f(n - 1);\nexport default f({});",
        crate::limits::CALL_DEPTH_MAX - 10
    );
    let result = in_large_thread(move || result_of(&script));
    assert_eq!(result, json!(crate::limits::CALL_DEPTH_MAX - 10));
}

/// Without optimization a call inside a call takes more stack than a test's thread has.
fn in_large_thread<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run);
    thread.unwrap().join().unwrap()
}

#[test]
fn values_without_end_are_refused_in_arguments_and_results() {
    assert_eq!(
        failure_of("const a = {}; a.a = a; await github.get(a)")["name"],
        "TypeError"
    );
    assert_eq!(
        failure_of("const a = []; a.push(a); export default a")["name"],
        "TypeError"
    );
    assert_eq!(failure_of("export default 1n")["name"], "TypeError");
    assert_eq!(
        failure_of("export default new Array(4e9)")["name"],
        "RangeError"
    );
    assert_eq!(
        failure_of("export default 'x'.repeat(3e6)")["name"],
        "RangeError"
    );
    let nested = |depth: usize| {
        format!("let v = 1; for (let n = 0; n < {depth}; n++) v = [v];\nexport default v;")
    };
    result_of(&nested(JSON_DEPTH_MAX));
    assert_eq!(failure_of(&nested(JSON_DEPTH_MAX + 1))["name"], "TypeError");
}

#[test]
fn arguments_of_one_turn_are_bounded() {
    let failure = failure_of("await github.get({ text: 'x'.repeat(2e6) })");
    assert_eq!(failure["name"], "RangeError");
    let failure = failure_of("for (let n = 0; n < 10; n++) github.get({ text: 'x'.repeat(9e5) })");
    assert!(
        failure["message"].as_str().unwrap().contains("at one time"),
        "{failure}"
    );
}

#[test]
fn log_lines_and_the_log_are_bounded() {
    let driven = Driven::start("log('é'.repeat(1e5)); log('x'.repeat(100));");
    let lines = driven.logged();
    assert!(
        lines[0].len() <= LOG_LINE_BYTES_MAX + '…'.len_utf8(),
        "{}",
        lines[0].len()
    );
    assert!(lines[0].ends_with('…') && lines[1].len() == 100);
    let driven =
        Driven::start("const s = '\\u0001'.repeat(8000);\nfor (let n = 0; n < 1000; n++) log(s);");
    let text = driven.turn["logs"].to_string();
    assert!(text.len() < LOG_BYTES_MAX + 1024, "{}", text.len());
    assert!(
        driven
            .logged()
            .last()
            .unwrap()
            .starts_with("the log is full")
    );
}

#[test]
fn an_outcome_that_is_nested_too_deeply_fails_its_step_alone() {
    let mut driven = Driven::start("export default await github.get().catch((e) => e.name)");
    let deep = format!("{}1{}", "[".repeat(1000), "]".repeat(1000));
    let text = format!("{{\"step\":0,\"now_ms\":1,\"ok\":{deep}}}");
    let turn: Value = serde_json::from_str(&driven.script.resume(&text)).unwrap();
    assert_eq!(turn["end"]["ok"], "RangeError", "{turn}");
}

#[test]
fn brackets_that_are_nested_too_deeply_are_refused() {
    let deep = |depth: usize| {
        format!(
            "\nexport default {}1{};",
            "(".repeat(depth),
            ")".repeat(depth)
        )
    };
    let most = deep(crate::limits::BRACKET_DEPTH_MAX);
    assert_eq!(in_large_thread(move || result_of(&most)), json!(1));
    let failure = failure_of(&deep(crate::limits::BRACKET_DEPTH_MAX + 1));
    assert_eq!(
        (&failure["name"], &failure["line"]),
        (&json!("SyntaxError"), &json!(2))
    );
}

#[test]
fn buffers_are_bounded() {
    assert_eq!(failure_of("new Uint8Array(1e9)")["name"], "RangeError");
}
