//! What all requests to Notion share: version, errors, pages, ids.

use toolgate_sdk::http::problem;
use toolgate_sdk::prelude::*;

/// The API version this plugin was written for.
const VERSION: &str = "2026-03-11";

pub fn notion(cx: &Context) -> Client<'_> {
    cx.client("https://api.notion.com/v1")
        .header("notion-version", VERSION)
        .errors(problem_of)
}

fn problem_of(response: &Response) -> ToolError {
    let mut error = problem::from_response(response);
    let code = response
        .json()
        .ok()
        .and_then(|body| body["code"].as_str().map(str::to_owned));
    match code.as_deref() {
        Some("object_not_found") => error.message.push_str(
            ". The page or database must be shared with the connection: in Notion, open its menu \
             and add the connection",
        ),
        Some("restricted_resource") => error.kind = ErrorKind::PermissionDenied,
        _ => {}
    }
    error.code = code;
    error
}

/// Where a list goes on.
pub fn next_cursor(answer: &Value) -> Option<String> {
    answer
        .get("next_cursor")
        .and_then(Value::as_str)
        .map(str::to_owned)
}

/// An id as Notion takes it, from an id or from the address of a page. `field` names the argument.
pub fn id_of(text: &str, field: &str) -> Result<String, ToolError> {
    let plain = text.split(['?', '#']).next().unwrap_or_default();
    let last = plain
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let digits: String = last.chars().filter(|c| *c != '-').collect();
    let id = digits
        .len()
        .checked_sub(32)
        .and_then(|start| digits.get(start..));
    match id {
        Some(id) if id.chars().all(|c| c.is_ascii_hexdigit()) => Ok(id.to_lowercase()),
        _ => Err(ToolError::invalid(
            format!("/{field}"),
            "expected the id (32 hexadecimal digits) or the address of something in Notion",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::id_of;

    #[test]
    fn ids_are_found_in_addresses() {
        let id = "be633bf1dfa0436db259571129a590e5";
        for text in [
            id,
            "be633bf1-dfa0-436d-b259-571129a590e5",
            "https://www.notion.so/acme/My-page-be633bf1dfa0436db259571129a590e5?pvs=4",
            "https://www.notion.so/BE633BF1DFA0436DB259571129A590E5#abc",
        ] {
            assert_eq!(id_of(text, "page").as_deref(), Ok(id), "{text}");
        }
        for text in [
            "",
            "My page",
            "../users",
            "be633bf1",
            "zz633bf1dfa0436db259571129a590e5",
        ] {
            assert!(id_of(text, "page").is_err(), "{text}");
        }
    }
}
