//! What GitHub sends by itself: the event's name stands in a header, what happened to its subject
//! in the body's `action`. The body is JSON, or a form that holds it, as the hook was set up.

use toolgate_sdk::prelude::*;
use toolgate_sdk::webhook::{Delivery, Event};

/// `push`, `pull_request.opened`, ... with the whole body. The delivery's id stands in a header that
/// nobody signs, so it is not taken for one.
pub fn normalize(delivery: &Delivery) -> Result<Vec<Event>, ToolError> {
    let kind = delivery.header("x-github-event").ok_or_else(|| {
        ToolError::new(
            ErrorKind::InvalidArguments,
            "there is no header x-github-event",
        )
    })?;
    let body = delivery.json()?;
    let name = match body["action"].as_str() {
        Some(action) => format!("{kind}.{action}"),
        None => kind.to_owned(),
    };
    Ok(vec![Event::new(name, body)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(kind: Option<&str>, media_type: &str, body: &str) -> Result<Vec<Event>, ToolError> {
        let mut headers = vec![("content-type", media_type)];
        headers.extend(kind.map(|kind| ("X-GitHub-Event", kind)));
        crate::PLUGIN.normalize(&Delivery::new(headers, body))
    }

    #[test]
    fn a_delivery_is_named_by_its_event_and_action() {
        let json = "application/json";
        let form = "application/x-www-form-urlencoded";
        for (kind, media_type, body, name) in [
            ("push", json, r#"{"ref":"refs/heads/main"}"#, "push"),
            (
                "pull_request",
                json,
                r#"{"action":"opened"}"#,
                "pull_request.opened",
            ),
            (
                "issues",
                form,
                "payload=%7B%22action%22%3A%22closed%22%7D",
                "issues.closed",
            ),
            (
                "ping",
                json,
                r#"{"zen":"Speak like a human.","action":7}"#,
                "ping",
            ),
        ] {
            let events = told(Some(kind), media_type, body).unwrap();
            assert_eq!(events.len(), 1);
            assert_eq!((events[0].name.as_str(), &events[0].id), (name, &None));
        }
        let events = told(Some("push"), json, r#"{"ref":"x"}"#).unwrap();
        assert_eq!(events[0].data, json!({"ref": "x"}));
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for (kind, body) in [(None, "{}"), (Some("push"), "{"), (Some("push"), "")] {
            assert!(
                told(kind, "application/json", body).is_err(),
                "{kind:?} {body}"
            );
        }
    }
}
