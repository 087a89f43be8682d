//! What a verified delivery tells of, where the manifest can say so, and what a plugin sees of one.

use http::HeaderMap;
use serde_json::Value;

use super::verify;
use toolgate_catalog::manifest::HookEvent;
use toolgate_runtime::ProviderEvent;

const EVENT_NAME_CHARS_MAX: usize = 100;

/// A delivery that the manifest can read without code.
pub(super) fn read(
    event: &HookEvent,
    id: Option<&str>,
    headers: &HeaderMap,
    body: &[u8],
) -> Option<ProviderEvent> {
    let parts = event
        .name
        .iter()
        .map(|part| verify::value(part, headers, body));
    let parts: Vec<Option<String>> = parts.collect();
    // Without its first part the name would be somebody else's.
    parts.first()?.as_ref()?;
    let name = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
    let mut whole: Value = serde_json::from_slice(body).ok()?;
    let data = match &event.data {
        None => whole,
        Some(pointer) => whole.pointer_mut(pointer)?.take(),
    };
    let id = id.and_then(|at| verify::text_at(at, body));
    Some(ProviderEvent { name, id, data })
}

/// Names become part of the event's type.
pub(super) fn is_event_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    (1..=EVENT_NAME_CHARS_MAX).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains("..")
}

/// What a plugin may see: no credentials, no signatures, texts only.
pub(super) fn readable(headers: &HeaderMap) -> Vec<(String, String)> {
    let secret = ["authorization", "cookie", "proxy-authorization"];
    headers
        .iter()
        .filter(|(name, _)| {
            !secret.contains(&name.as_str()) && !name.as_str().contains("signature")
        })
        .filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_into_a_type() {
        for good in [
            "push",
            "pull_request.opened",
            "invoice.paid",
            "issue_comment.created",
        ] {
            assert!(is_event_name(good), "{good}");
        }
        for bad in [
            "",
            ".",
            "a..b",
            ".a",
            "a.",
            "Push",
            "a b",
            "a/b",
            &"a".repeat(101),
        ] {
            assert!(!is_event_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_plugin_sees_neither_signature_nor_credential() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-github-event", "push"),
            ("x-hub-signature-256", "sha256=00"),
            ("authorization", "Bearer x"),
            ("cookie", "a=b"),
        ] {
            headers.insert(name, value.parse().unwrap());
        }
        let seen = readable(&headers);
        assert_eq!(seen, [("x-github-event".to_owned(), "push".to_owned())]);
    }
}
