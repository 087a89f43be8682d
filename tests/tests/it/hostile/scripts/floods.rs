//! More output than anybody reads.

use serde_json::json;

use super::{Case, Ends, case};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "a log of two megabytes",
            "for (let n = 0; n < 2000; n++) log('x'.repeat(1000));\nexport default 'logged';",
            Ends::With(json!("logged")),
        ),
        case(
            "many short lines",
            "for (let n = 0; n < 50000; n++) log();\nexport default 'logged';",
            Ends::With(json!("logged")),
        ),
        case(
            "one line of a log with a megabyte",
            "log('\\u0001'.repeat(1e6));\nexport default 'logged';",
            Ends::With(json!("logged")),
        ),
        case(
            "an error with four megabytes",
            "let text = 'x';\nwhile (text.length < 4e6) text += text;\nthrow new Error(text);",
            Ends::Failing("Error", "xxx", 3),
        ),
        case(
            "a thousand failures that nobody awaits",
            "for (let n = 0; n < 1000; n++)\n  Promise.reject(new Error('lost '.repeat(2000)));\nexport default 'lost';",
            Ends::With(json!("lost")),
        ),
        case(
            "a result with four megabytes",
            "let text = 'x';\nwhile (text.length < 4e6) text += text;\nexport default text;",
            Ends::Bounded(&["RangeError"]),
        ),
        case(
            "a result of a million values",
            "export default new Array(4e6).fill(1);",
            Ends::Bounded(&["RangeError", "limit_exceeded", "script_crashed"]),
        ),
        case(
            "arguments with four megabytes",
            "let text = 'x';\nwhile (text.length < 4e6) text += text;\nawait shop.getItem({ id: text });",
            Ends::Failing("RangeError", "", 3),
        ),
        case(
            "progress without measure",
            "for (let n = 0; n < 100000; n++) progress(n, 100000, 'x'.repeat(100));\nexport default 'told';",
            Ends::With(json!("told")),
        ),
        case(
            "a depth that no reader takes",
            "let value = 1;\nfor (let n = 0; n < 5000; n++) value = [value];\nexport default value;",
            Ends::Bounded(&["TypeError"]),
        ),
    ]
}
