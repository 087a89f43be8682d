//! What has no end: loops, promises, recursion, memory.

use serde_json::Value;

use super::{Case, Ends, case};

/// The bounds of processor time and of memory, and the engine's own of its stack and its buffers.
const LIMITS: &[&str] = &["limit_exceeded", "timeout", "RangeError", "script_crashed"];
/// Loops meet the bound of processor time alone.
const TIME: &[&str] = &["limit_exceeded", "timeout"];

pub(super) fn cases() -> Vec<Case> {
    let never = |name, script: &str| case(name, script, Ends::Bounded(&["never_settles"]));
    let bounded = |name, script: &str| case(name, script, Ends::Bounded(LIMITS));
    let recursive = |name, script: &str| {
        case(
            name,
            script,
            Ends::Bounded(&["RangeError", "script_crashed", "never_settles"]),
        )
    };
    vec![
        never("a promise without an end", "await new Promise(() => {});"),
        never(
            "a promise without an end after a call",
            "await shop.getItem({ id: 'a' });\nawait new Promise(() => {});",
        ),
        never(
            "a default function without an end",
            "export default () => new Promise(() => {});",
        ),
        case("a loop without an end", "for (;;) {}", Ends::Bounded(TIME)),
        case(
            "a loop without an end after a call",
            "await shop.getItem({ id: 'a' });\nfor (let n = 0; ; n++) n = n % 7;",
            Ends::Bounded(TIME),
        ),
        bounded(
            "microtasks without an end",
            "const again = () => Promise.resolve().then(again);\nawait again();",
        ),
        bounded(
            "a regular expression that explodes",
            "/^(a+)+$/.test('a'.repeat(64) + 'b');\nfor (;;) /^(a|a)*$/.test('a'.repeat(64) + 'b');",
        ),
        recursive("deep recursion", "function f() { return f() + 1; }\nf();"),
        recursive(
            "deep recursion by a getter",
            "const o = { get x() { return this.x; } };\no.x;",
        ),
        recursive(
            "deep recursion of asynchronous functions",
            "const f = async () => { await f(); };\nawait f();",
        ),
        // The interpreter takes its bound of nested calls in a conversion for the end of the module.
        case(
            "deep recursion by a text",
            "const o = { toString() { return `${o}`; } };\n`${o}`;",
            Ends::With(Value::Null),
        ),
        bounded(
            "an array that grows without an end",
            "const all = [];\nfor (;;) all.push(new Array(1e4).fill(1.5));",
        ),
        bounded(
            "a text that doubles without an end",
            "let text = 'x';\nfor (;;) text += text;",
        ),
        bounded("a buffer that is too large", "new Uint8Array(4e9);"),
        bounded(
            "buffers without an end",
            "const all = [];\nfor (;;) all.push(new Uint8Array(1e6).fill(1));",
        ),
        bounded(
            "a text that is padded too far",
            "for (let n = 1e6; ; n *= 2) 'x'.padStart(n, 'abc').length;",
        ),
        bounded(
            "a number with too many digits",
            "let n = 3n;\nfor (;;) n *= n;",
        ),
        bounded(
            "a generator without an end",
            "function* all() { for (;;) yield 1; }\nconst got = [...all()];",
        ),
        bounded(
            "a map that grows without an end",
            "const m = new Map();\nfor (let n = 0; ; n++) m.set(n, { n });",
        ),
        bounded(
            "sorting by a comparison without an end",
            "[3, 2, 1].sort(() => { for (;;) {} });",
        ),
    ]
}
