//! Errors that a GraphQL answer has beside its data: the result is there, and parts of it are missing.

use serde_json::Value;

use crate::pointer;

/// Longest message of the service in the note, in characters.
const MESSAGE_CHARS_MAX: usize = 300;

/// A note about the errors of an answer that has data too. `None` where it has no errors.
pub fn note(body: &Value) -> Option<String> {
    let errors = pointer::at(body, "/errors")?.as_array()?;
    let first = errors.first()?;
    let message = first.get("message").and_then(Value::as_str);
    let message: String = message
        .unwrap_or("an error without a message")
        .chars()
        .take(MESSAGE_CHARS_MAX)
        .collect();
    let more = match errors.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let place = first.get("path").and_then(Value::as_array);
    let place = place.map(|path| path.iter().map(segment).collect::<Vec<_>>().join("."));
    let place = place.filter(|place| !place.is_empty() && place.len() <= MESSAGE_CHARS_MAX);
    let at = place.map_or_else(String::new, |place| format!(" at {place}"));
    Some(format!(
        "Incomplete: the service could not give all of it{at}: {message}{more}"
    ))
}

fn segment(value: &Value) -> String {
    match value {
        Value::String(name) => name.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::note;

    #[test]
    fn errors_beside_data_are_noted_with_their_place() {
        let body = json!({
            "data": {"team": {"name": "a", "lead": null}},
            "errors": [{"message": "no access", "path": ["team", "members", 0, "lead"]}, {"message": "other"}],
        });
        assert_eq!(
            note(&body).as_deref(),
            Some(
                "Incomplete: the service could not give all of it at team.members.0.lead: no access (and 1 more)"
            )
        );
        assert_eq!(note(&json!({"data": {"a": 1}, "errors": []})), None);
        assert_eq!(note(&json!({"data": {"a": 1}})), None);
    }
}
