//! Every operation of the REST document with a request in four languages.

use std::fmt::Write as _;

use serde_json::Value;

use super::samples::{Sample, SampleRequest};

const HEAD: &str = "# Operations

Every operation of the REST interface as a request that can be copied. Set two variables before:

```
export TOOLGATE_URL=https://tools.example.com TOOLGATE_API_KEY=tg_live_...
```

[/docs](/docs) describes each operation's fields, limits and answers, and `/openapi.json` is the same for programs. The
clients for Python, Node.js and Go have each of these operations as a typed method, and add retries and the waiting for
users: prefer them to plain requests.

";

/// Methods that the document may have.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

pub(super) fn markdown(document: &Value) -> String {
    let mut text = HEAD.to_owned();
    for tag in document["tags"].as_array().into_iter().flatten() {
        let name = tag["name"].as_str().unwrap_or_default();
        let mut section = String::new();
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for method in METHODS {
                let operation = &item[method];
                let tagged = operation["tags"].as_array().into_iter().flatten();
                if tagged.into_iter().any(|one| one == name) {
                    write_operation(&mut section, method, path, operation);
                }
            }
        }
        if !section.is_empty() {
            let _ = write!(text, "## {name}\n\n{section}");
        }
    }
    text
}

fn write_operation(text: &mut String, method: &str, path: &str, operation: &Value) {
    let summary = operation["summary"].as_str().unwrap_or(path);
    let first = operation["description"].as_str().unwrap_or_default();
    let first = first.split("\n\n").next().unwrap_or_default();
    let _ = writeln!(
        text,
        "### {summary}\n\n`{} {path}`\n\n{first}\n",
        method.to_uppercase()
    );
    let request = SampleRequest::from_operation(method, path, operation);
    for sample in Sample::ALL {
        let _ = writeln!(
            text,
            "{}:\n\n```{}\n{}\n```\n",
            sample.title(),
            sample.language(),
            sample.write(&request)
        );
    }
}
