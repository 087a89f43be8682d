//! What a manifest may say of events that the provider sends: enough to verify each, nothing vague.

use super::{Lint, ManifestPath, text};
use crate::manifest::{HookSpec, HookTimestamp, HookValue, Manifest};

const TEMPLATE_CHARS_MAX: usize = 100;
const HEADER_CHARS_MAX: usize = 64;
/// Parts of an event's name.
const NAME_PARTS_MAX: usize = 3;

pub(super) fn check(manifest: &Manifest, found: &mut Lint) {
    let Some(hook) = &manifest.webhook else {
        return;
    };
    let root = ManifestPath::Root;
    let at = root.key("webhook");
    signature(hook, &at, found);
    if let Some(pointer) = &hook.delivery {
        is_pointer(pointer, &at.key("delivery"), found);
    }
    if let Some(challenge) = &hook.challenge {
        let at = at.key("challenge");
        is_pointer(&challenge.at, &at.key("at"), found);
        is_pointer(&challenge.answer, &at.key("answer"), found);
        text::check(found, &at.key("is"), "value", &challenge.is, 1, 100);
    }
    if let Some(event) = &hook.event {
        let at = at.key("event");
        if event.name.is_empty() || event.name.len() > NAME_PARTS_MAX {
            found.error(
                &at.key("name"),
                format!("a name has 1 to {NAME_PARTS_MAX} parts"),
            );
        }
        for part in &event.name {
            match part {
                HookValue::Header(name) => is_header(name, &at.key("name"), found),
                HookValue::Body(pointer) => is_pointer(pointer, &at.key("name"), found),
            }
        }
        if let Some(pointer) = &event.data {
            is_pointer(pointer, &at.key("data"), found);
        }
    }
}

fn signature(hook: &HookSpec, at: &ManifestPath<'_>, found: &mut Lint) {
    let at = at.key("signature");
    let signature = &hook.signature;
    is_header(&signature.header, &at.key("header"), found);
    let template = &signature.signed;
    if template.matches("{body}").count() != 1 || template.chars().count() > TEMPLATE_CHARS_MAX {
        found.error(
            &at.key("signed"),
            format!(
                "what is signed holds `{{body}}` once, in at most {TEMPLATE_CHARS_MAX} characters"
            ),
        );
    }
    // A time that nobody signed would keep nothing out.
    if template.contains("{timestamp}") != signature.timestamp.is_some() {
        found.error(
            &at.key("timestamp"),
            "`{timestamp}` in `signed` and the place of the time belong together",
        );
    }
    match &signature.timestamp {
        Some(HookTimestamp::Header(name)) => is_header(name, &at.key("timestamp"), found),
        Some(HookTimestamp::Element(_)) if signature.element.is_none() => found.error(
            &at.key("timestamp"),
            "an element needs a signature that is one: name `element` too",
        ),
        Some(HookTimestamp::Element(_)) | None => {}
    }
}

fn is_header(name: &str, at: &ManifestPath<'_>, found: &mut Lint) {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if name.is_empty() || name.len() > HEADER_CHARS_MAX || !name.bytes().all(plain) {
        found.error(
            at,
            format!("`{}` is not a header name in lower case", text::shown(name)),
        );
    }
}

fn is_pointer(pointer: &str, at: &ManifestPath<'_>, found: &mut Lint) {
    if !pointer.starts_with('/') || pointer.chars().count() > TEMPLATE_CHARS_MAX {
        found.error(
            at,
            format!(
                "`{}` is not a JSON Pointer such as /id",
                text::shown(pointer)
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn errors(webhook: Value) -> Vec<String> {
        let mut manifest: Manifest =
            serde_json::from_str(include_str!("../testdata/slack.json")).unwrap();
        manifest.webhook = serde_json::from_value(webhook).unwrap();
        let mut found = Lint::default();
        check(&manifest, &mut found);
        found.errors.iter().map(|one| one.path.clone()).collect()
    }

    #[test]
    fn what_can_be_verified_passes_and_nothing_vague() {
        let good = json!({
            "signature": {"header": "x-slack-signature", "prefix": "v0=", "signed": "v0:{timestamp}:{body}",
                "timestamp": {"header": "x-slack-request-timestamp"}},
            "delivery": "/event_id",
            "challenge": {"at": "/type", "is": "url_verification", "answer": "/challenge"},
            "event": {"name": [{"body": "/event/type"}], "data": "/event"},
        });
        assert_eq!(errors(good.clone()), Vec::<String>::new());
        for (place, value, path) in [
            (
                "/signature/header",
                json!("X-Signature"),
                "/webhook/signature/header",
            ),
            (
                "/signature/signed",
                json!("{timestamp}"),
                "/webhook/signature/signed",
            ),
            (
                "/signature/signed",
                json!("{body}"),
                "/webhook/signature/timestamp",
            ),
            (
                "/signature/timestamp",
                json!({"element": "t"}),
                "/webhook/signature/timestamp",
            ),
            (
                "/signature/timestamp",
                Value::Null,
                "/webhook/signature/timestamp",
            ),
            ("/delivery", json!("event_id"), "/webhook/delivery"),
            ("/challenge/answer", json!(""), "/webhook/challenge/answer"),
            ("/event/name", json!([]), "/webhook/event/name"),
            (
                "/event/name/0",
                json!({"header": "a b"}),
                "/webhook/event/name",
            ),
            ("/event/data", json!("event"), "/webhook/event/data"),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(place).unwrap() = value;
            assert_eq!(errors(bad), [path], "{place}");
        }
    }
}
