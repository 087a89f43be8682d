use super::*;

#[test]
fn a_failed_step_is_a_tool_error_that_can_be_caught() {
    let mut driven = Driven::start(
        "try { await github.getRepo({}) } catch (e) {\n  var seen = [e instanceof Error, e.name, e.message, e.code, e.canRetry, e.connectUrl, e.tool, Object.keys(e)];\n}\nexport default seen;",
    );
    let turn = driven.give_error(0, "not_found");
    assert_eq!(
        turn["end"]["ok"],
        json!([
            true,
            "ToolError",
            "it failed",
            "not_found",
            true,
            "https://c.example",
            "github.getRepo",
            []
        ])
    );
}

#[test]
fn a_step_whose_failure_ends_the_script_is_named_with_its_call() {
    let mut driven = Driven::start("await sleep(1);\nconst p = github.getRepo({});\n\nawait p;");
    driven.give_ok(0, Value::Null);
    let turn = driven.give_error(1, "not_found");
    assert_eq!(
        turn["end"]["error"],
        json!({"name": "ToolError", "message": "it failed", "line": 2, "column": 25, "code": "not_found", "step": 1})
    );
}

#[test]
fn an_error_has_its_line_and_column() {
    let failure = failure_of("const a = 1;\nfunction f(x) {\n  return x.y.z;\n}\nf({});");
    assert_eq!(failure["name"], "TypeError");
    assert_eq!(
        (&failure["line"], &failure["code"]),
        (&json!(3), &Value::Null),
        "{failure}"
    );
    let failure =
        failure_of("await 1;\nexport default async () => {\n  throw new RangeError('far');\n}");
    assert_eq!(failure["name"], "RangeError");
    assert_eq!(failure["message"], "far");
    assert_eq!(
        (&failure["line"], &failure["column"]),
        (&json!(3), &json!(9)),
        "{failure}"
    );
    let failure =
        failure_of("// types\ninterface A { b: number }\nconst a = null as unknown as A;\n\na.b;");
    assert_eq!(failure["line"], json!(5), "{failure}");
}

#[test]
fn what_is_thrown_may_be_no_error() {
    assert_eq!(failure_of("throw 'text'")["message"], "text");
    assert_eq!(failure_of("throw null")["message"], "null");
    assert_eq!(failure_of("throw Symbol('x')")["message"], "Symbol(x)");
    assert_eq!(
        failure_of("throw { name: 'Mine', message: 'm', code: 'c' }")["code"],
        "c"
    );
    let failure = failure_of("throw { get name() { throw 1 }, get message() { throw 2 } }");
    assert_eq!(
        (&failure["name"], &failure["message"]),
        (&json!("Error"), &json!(""))
    );
}

#[test]
fn a_promise_that_nothing_settles_is_an_error() {
    let failure = failure_of("await new Promise(() => {})");
    assert_eq!(failure["code"], "never_settles");
    let mut driven = Driven::start("await github.get(); await new Promise(() => {})");
    assert_eq!(driven.turn["end"], Value::Null);
    assert_eq!(
        driven.give_ok(0, Value::Null)["end"]["error"]["code"],
        "never_settles"
    );
}

#[test]
fn failures_that_nothing_awaited_are_logged() {
    let driven = Driven::start(
        "const f = async () => { throw new Error('lost') };\nf();\nexport default 1;",
    );
    assert_eq!(driven.turn["end"]["ok"], json!(1));
    assert_eq!(
        driven.logged(),
        ["a failure was not awaited: Error: lost (line 1)"]
    );
    let driven =
        Driven::start("await (async () => { throw new Error('known') })().catch(() => {});");
    assert_eq!(driven.turn["logs"], json!([]));
}

#[test]
fn wrong_arguments_are_refused_before_a_step() {
    let driven = Driven::start(
        "const failed = [];\nfor (const call of [() => github.get('a'), () => github.get({}, 1), () => github.get([]), () => github.get(null), () => search(1), () => describe(), () => skills.get({}), () => sleep('1'), () => sleep(-1), () => sleep(NaN), () => progress('1')]) {\n  try { call(); failed.push('none') } catch (e) { failed.push(e.name) }\n}\nexport default failed;",
    );
    assert_eq!(driven.turn["end"]["ok"], json!(vec!["TypeError"; 11]));
    assert_eq!(driven.turn["steps"], json!([]));
}

#[test]
fn an_unknown_service_is_named_with_those_that_are_known() {
    let failure = failure_of("\nawait tools.gitlab.get({})");
    let message = failure["message"].as_str().unwrap();
    assert!(
        message.contains("gitlab") && message.contains("github, slack"),
        "{message}"
    );
    assert_eq!(failure["line"], json!(2));
}

#[test]
fn a_host_that_breaks_the_contract_ends_the_script() {
    let mut driven = Driven::start("await github.get()");
    assert_eq!(
        driven.give_ok(7, Value::Null)["end"]["error"]["code"],
        "engine_misused"
    );
    assert_eq!(
        driven.give_ok(0, Value::Null)["end"]["error"]["code"],
        "engine_misused"
    );
    let mut engine = GuestScript::new().unwrap();
    assert!(engine.resume("{").contains("engine_misused"));
}
