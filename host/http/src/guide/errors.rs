//! The reference of errors, from the REST document's examples.

use std::fmt::Write as _;

use serde_json::Value;

/// Status codes of the responses that the document names.
const STATUSES: [(&str, u16); 11] = [
    ("BadRequest", 400),
    ("Unauthorized", 401),
    ("Forbidden", 403),
    ("NotFound", 404),
    ("MethodNotAllowed", 405),
    ("Conflict", 409),
    ("PayloadTooLarge", 413),
    ("UnsupportedMediaType", 415),
    ("TooManyRequests", 429),
    ("InternalServerError", 500),
    ("ServiceUnavailable", 503),
];

const HEAD: &str = "# Errors

A request that is refused answers with a status of 400 or more and this body. `code` is stable; match on it, not on
`message`. `hint` is the next step, where one is known. Quote `request_id` when you report a problem: the gateway's log
has it.

```json
{ \"success\": false,
  \"error\": { \"code\": \"tool_not_found\", \"message\": \"Tool not found: github_nope\",
             \"hint\": \"Search for the exact name first.\" },
  \"meta\": { \"request_id\": \"req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD\" } }
```

What a *provider* refuses is not among these: `execute` then answers 200 with the status `error` and the provider's
reason ([Concepts](concepts.html#execution-and-receipt)).

";

pub(super) fn markdown(document: &Value) -> String {
    let mut text = HEAD.to_owned();
    for (name, status) in STATUSES {
        let response = &document["components"]["responses"][name];
        if response.is_null() {
            continue;
        }
        let _ = writeln!(text, "## {status}\n");
        if let Some(about) = response["description"].as_str() {
            let _ = writeln!(text, "{about}\n");
        }
        let _ = writeln!(text, "| code | for example | next step |\n|---|---|---|");
        for (code, one) in examples(response) {
            let error = &one["value"]["error"];
            let cell = |value: &Value| value.as_str().unwrap_or_default().replace('|', "\\|");
            let _ = writeln!(
                text,
                "| `{code}` | {} | {} |",
                cell(&error["message"]),
                cell(&error["hint"])
            );
        }
        text.push('\n');
    }
    text
}

fn examples(response: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let contents = response["content"].as_object().into_iter().flatten();
    contents.flat_map(|(_, content)| content["examples"].as_object().into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_response_and_code_of_the_document_is_there() {
        let document = serde_json::to_value(crate::rest::document()).unwrap();
        let text = markdown(&document);
        let responses = document["components"]["responses"].as_object().unwrap();
        assert_eq!(responses.len(), STATUSES.len(), "{:?}", responses.keys());
        for (name, response) in responses {
            assert!(STATUSES.iter().any(|(known, _)| known == name), "{name}");
            for (code, _) in examples(response) {
                assert!(text.contains(&format!("| `{code}` |")), "{code}");
            }
        }
    }
}
