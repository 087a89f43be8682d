use super::*;

#[test]
fn text_never_becomes_code() {
    for script in [
        "1;\neval('1')",
        "1;\n(0, eval)('1')",
        "1;\nFunction('return 1')()",
        "1;\n(() => {}).constructor('return 1')()",
        "1;\n(async function* () {}).constructor('yield 1')",
        "1;\n(async () => {}).constructor('return 1')",
        "1;\n(function* () {}).constructor('yield 1')",
    ] {
        let failure = failure_of(script);
        assert_eq!(
            (&failure["name"], &failure["line"]),
            (&json!("EvalError"), &json!(2)),
            "{script}: {failure}"
        );
    }
}

#[test]
fn nothing_can_be_imported() {
    for script in [
        "1;\nimport fs from 'fs'",
        "1;\nimport 'fs'",
        "1;\nexport * from 'fs'",
        "1;\nexport { a } from 'fs'",
        "1;\nconst a = 'fs';await import(a)",
        "1;\nimport a = require('fs')",
    ] {
        let failure = failure_of(script);
        assert_eq!(
            (&failure["code"], &failure["line"]),
            (&json!("unsupported_syntax"), &json!(2)),
            "{script}: {failure}"
        );
    }
}

#[test]
fn keys_of_outcomes_are_data() {
    let mut driven = Driven::start(
        "const r = await github.get();\nexport default [Object.keys(r), ({}).polluted, Object.getPrototypeOf(r) === Object.prototype, r.then, r];",
    );
    let text = r#"{"step":0,"now_ms":1,"ok":{"__proto__":{"polluted":1},"then":"x","constructor":2,"toJSON":3}}"#;
    let turn: Value = serde_json::from_str(&driven.script.resume(text)).unwrap();
    let end = &turn["end"]["ok"];
    assert_eq!(
        end[0],
        json!(["__proto__", "then", "constructor", "toJSON"])
    );
    assert_eq!(
        (&end[1], &end[2], &end[3]),
        (&Value::Null, &json!(true), &json!("x"))
    );
    assert_eq!(end[4]["__proto__"], json!({"polluted": 1}));
}

#[test]
fn what_a_script_is_given_cannot_be_changed() {
    let driven = Driven::start_with(
        "const failed = [];\nfor (const change of [() => { args.a.b = 2 }, () => { github.get = 1 }, () => { tools.github = 1 }, () => { globalThis.search = 1 }, () => { delete globalThis.log }, () => { console.log = 1 }, () => { skills.get = 1 }, () => { search.x = 1 }, () => { Object.defineProperty(github, 'x', { value: 1 }) }, () => { Object.setPrototypeOf(github, {}) }, () => { github.get.x = 1 }, () => { args.list.push(1) }]) {\n  try { change(); failed.push(String(change)) } catch (e) { failed.push(e.name) }\n}\nexport default failed;",
        json!({"a": {"b": 1}, "list": []}),
    );
    assert_eq!(driven.turn["end"]["ok"], json!(vec!["TypeError"; 12]));
}

#[test]
fn a_script_that_replaces_what_the_language_has_changes_no_binding() {
    let mut driven = Driven::start(
        "Promise.prototype.then = null; Promise.resolve = null; Object.keys = () => ['forged']; Array.prototype.push = null; Object.prototype.get = () => 1; JSON.stringify = () => 'forged'; globalThis.Error = null; Object.prototype.toJSON = undefined; String.prototype.toString = null; Proxy = null;\nawait github.get({ a: [1] });\nexport default { b: 2 };",
    );
    assert_eq!(driven.turn["steps"][0]["arguments"], json!({"a": [1]}));
    assert_eq!(driven.turn["steps"][0]["line"], json!(2));
    assert_eq!(
        driven.give_ok(0, json!({"x": 1}))["end"]["ok"],
        json!({"b": 2})
    );
}

#[test]
fn a_forged_stack_or_step_gives_no_other_place() {
    let failure = failure_of(
        "const e = new Error('x');\ne.stack = '    at f (script:99:1)'; e.step = 12;\nthrow e;",
    );
    assert_eq!(
        (&failure["line"], &failure["step"]),
        (&json!(1), &Value::Null),
        "{failure}"
    );
}

#[test]
fn what_would_show_memory_or_threads_is_gone() {
    let script = "export default ['Atomics', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry', 'process', 'require', 'fetch', 'setTimeout', 'Deno'].map((name) => typeof globalThis[name])";
    assert_eq!(result_of(script), json!(vec!["undefined"; 9]));
}

#[test]
fn getters_and_proxies_in_arguments_run_before_the_step_and_cannot_confuse_it() {
    let driven = Driven::start(
        "github.outer({ get a() { github.inner(); return 1 }, b: new Proxy({}, { ownKeys: () => ['x'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }), get: (t, k) => k === 'toJSON' ? undefined : 5 }) }); export default 1",
    );
    let steps = &driven.turn["steps"];
    assert_eq!(
        (&steps[0]["function"], &steps[0]["step"]),
        (&json!("inner"), &json!(0))
    );
    assert_eq!(
        (&steps[1]["function"], &steps[1]["step"]),
        (&json!("outer"), &json!(1))
    );
    assert_eq!(steps[1]["arguments"], json!({"a": 1, "b": {"x": 5}}));
}

#[test]
fn the_text_of_a_script_cannot_break_out_of_the_turn() {
    let driven = Driven::start(
        "github['a\"},{\"step\":9']({}); log('\"]}\\u0000\\ud800'); throw new Error('\"}');",
    );
    assert_eq!(driven.turn["steps"][0]["function"], "a\"},{\"step\":9");
    assert_eq!(driven.turn["end"]["error"]["message"], "\"}");
}

#[test]
fn a_thenable_result_is_the_script_own_and_ends() {
    assert_eq!(
        result_of("export default { then(resolve) { resolve(5) } }"),
        json!(5)
    );
    assert_eq!(
        failure_of("export default { then() {} }")["code"],
        "never_settles"
    );
}
