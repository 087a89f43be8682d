//! What a server asks of the user in the middle of a call. This client offers none of it, so each question is an error
//! that says what the server wants.

use serde_json::Value;

use crate::fault::{CallFault, FaultKind};

/// Most addresses that are named in one error.
const ADDRESSES_MAX: usize = 5;
/// Longest address that is named, in bytes.
const ADDRESS_BYTES_MAX: usize = 2_000;

/// `URLElicitationRequiredError` (2025-11-25): `data.elicitations` has the addresses.
pub fn of_error(data: &Value) -> CallFault {
    let list = data.get("elicitations").and_then(Value::as_array);
    fault(list.into_iter().flatten())
}

/// A result that says `input_required` (2026-07-28): `inputRequests` has the questions by name.
pub fn of_result(result: &Value) -> Option<CallFault> {
    let kind = result.get("resultType").and_then(Value::as_str);
    if kind != Some("input_required") {
        return None;
    }
    let questions = result.get("inputRequests").and_then(Value::as_object);
    let params = questions
        .into_iter()
        .flatten()
        .map(|(_, question)| question.get("params").unwrap_or(question));
    Some(fault(params))
}

fn fault<'v>(questions: impl Iterator<Item = &'v Value>) -> CallFault {
    let addresses: Vec<&str> = questions
        .filter(|question| question.get("mode").and_then(Value::as_str) == Some("url"))
        .filter_map(|question| question.get("url").and_then(Value::as_str))
        .filter(|url| host_of(url).is_some())
        .take(ADDRESSES_MAX)
        .collect();
    if addresses.is_empty() {
        return CallFault::new(
            FaultKind::Upstream,
            "input_required",
            "the server asks the user for more input in the middle of the call, which is not supported",
        );
    }
    let named: Vec<String> = addresses
        .iter()
        .map(|url| format!("{url} (at {})", host_of(url).unwrap_or_default()))
        .collect();
    CallFault::new(
        FaultKind::PermissionDenied,
        "url_elicitation",
        format!(
            "the MCP server asks the user to open a page of its own before this call: {}. The address comes from the \
             server; check its host before you open it",
            named.join(", ")
        ),
    )
}

/// The host of an https address that is written plainly.
fn host_of(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let plain = url.len() <= ADDRESS_BYTES_MAX
        && url.bytes().all(|byte| byte.is_ascii_graphic())
        && !host.is_empty()
        && !host.contains(['@', '\\']);
    plain.then_some(host)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_is_named_with_its_host() {
        let question =
            json!({"mode": "url", "url": "https://id.example.com/grant?x=1", "elicitationId": "1"});
        let old = of_error(&json!({"elicitations": [question]}));
        let new = json!({"resultType": "input_required",
            "inputRequests": {"a": {"method": "elicitation/create", "params": question}}});
        for found in [old, of_result(&new).expect("a question")] {
            assert_eq!(found.code.as_deref(), Some("url_elicitation"));
            assert!(found.message.contains("at id.example.com"), "{found:?}");
        }
    }

    #[test]
    fn what_is_no_plain_address_is_not_repeated() {
        for url in [
            "http://id.example.com/",
            "https://good.example@evil.example/",
            "https://",
            "javascript:alert(1)",
            "https://id.example.com/\u{202e}",
        ] {
            let found = of_error(&json!({"elicitations": [{"mode": "url", "url": url}]}));
            assert_eq!(found.code.as_deref(), Some("input_required"), "{url}");
            assert!(!found.message.contains(url), "{found:?}");
        }
    }

    #[test]
    fn a_complete_result_asks_for_nothing() {
        assert_eq!(
            of_result(&json!({"resultType": "complete", "content": []})),
            None
        );
        assert_eq!(of_result(&json!({"content": []})), None);
    }
}
