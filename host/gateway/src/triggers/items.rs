//! What a page of a provider's list holds. Pure.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use toolgate_catalog::manifest::TriggerSpec;
use toolgate_core::clock::{in_utc, parse_rfc3339};
use toolgate_core::exact::ExactNumbers;
use toolgate_core::ids;

/// Items that a page may hold; a larger one is not read.
pub(super) const PAGE_ITEMS_MAX: usize = 2_000;
/// An item whose identity is longer as JSON is left out.
pub(super) const KEY_BYTES_MAX: usize = 4 << 10;
/// The event of an item that is larger as JSON has no content.
pub(super) const ITEM_BYTES_MAX: usize = 64 << 10;
/// Numbers from here on are milliseconds: as seconds they would be in the year 5138.
const MILLISECONDS_FROM: f64 = 1e11;

/// One item as the provider lists it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListedItem {
    /// What identifies it, as JSON.
    pub key: String,
    /// The same for people.
    pub provider_id: String,
    pub time_ms: Option<i64>,
    /// `None`: it is too large.
    pub content: Option<Value>,
}

/// Why a result is not a page of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnreadablePage {
    #[error("the result has no list at the place that the trigger names")]
    NoList,
    #[error("no item of the result has what identifies it")]
    NoIdentity,
    #[error("the result lists more items than a page may hold")]
    TooMany,
}

/// The items of a tool's result in the provider's order. An absent list is an empty one, as some providers write it;
/// an item without what identifies it, or with one that is too long, is left out.
pub(super) fn items(spec: &TriggerSpec, result: &str) -> Result<Vec<ListedItem>, UnreadablePage> {
    let mut whole: Value = serde_json::from_str(result).map_err(|_| UnreadablePage::NoList)?;
    // Two ids that a parser rounds to one number are two items.
    ExactNumbers::read(result).spell_out(&mut whole);
    let is_object = whole.is_object();
    let listed = match whole.pointer_mut(&spec.items) {
        None | Some(Value::Null) if is_object => return Ok(Vec::new()),
        Some(Value::Array(listed)) => std::mem::take(listed),
        None | Some(_) => return Err(UnreadablePage::NoList),
    };
    if listed.len() > PAGE_ITEMS_MAX {
        return Err(UnreadablePage::TooMany);
    }
    let is_empty = listed.is_empty();
    let found: Vec<ListedItem> = listed
        .into_iter()
        .filter_map(|item| {
            let parts = identity(spec, &item)?;
            let provider_id = provider_id(&parts);
            let key = key(parts);
            if key.len() > KEY_BYTES_MAX {
                return None;
            }
            let time = spec.time.as_deref().and_then(|at| item.pointer(at));
            Some(ListedItem {
                key,
                provider_id,
                time_ms: time.and_then(time_ms),
                content: Some(item).filter(|item| item.to_string().len() <= ITEM_BYTES_MAX),
            })
        })
        .collect();
    if found.is_empty() && !is_empty {
        return Err(UnreadablePage::NoIdentity);
    }
    Ok(found)
}

/// The first part has to be there; a later one, such as the time of the last change, may be absent.
fn identity(spec: &TriggerSpec, item: &Value) -> Option<Vec<Value>> {
    let parts = spec.id.iter().map(|at| match item.pointer(at) {
        Some(part) if part.is_string() || part.is_number() || part.is_boolean() => part.clone(),
        _ => Value::Null,
    });
    let parts: Vec<Value> = parts.collect();
    let is_there = parts.first().is_some_and(|first| !first.is_null());
    is_there.then_some(parts)
}

/// The parts as JSON. A time counts as its moment: a provider that writes the same times with another offset lists the
/// same items.
fn key(parts: Vec<Value>) -> String {
    let parts = parts.into_iter().map(|part| match part {
        Value::String(text) => Value::String(in_utc(&text).unwrap_or(text)),
        other => other,
    });
    Value::Array(parts.collect()).to_string()
}

/// The parts that are there, a text without quotation marks.
fn provider_id(parts: &[Value]) -> String {
    let there = parts.iter().filter(|part| !part.is_null());
    let texts = there.map(|part| match part {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// RFC 3339, or seconds or milliseconds since 1970, as a number or as text.
fn time_ms(time: &Value) -> Option<i64> {
    let number = match time {
        Value::String(text) => match parse_rfc3339(text) {
            Some(ms) => return Some(ms),
            None => text.parse().ok()?,
        },
        other => other.as_f64()?,
    };
    let ms = if number.abs() >= MILLISECONDS_FROM {
        number
    } else {
        number * 1_000.0
    };
    // Beyond what the clock can say it is no time.
    (ms.is_finite() && ms.abs() < 1e15).then_some(ms as i64)
}

/// The id of an item's event: the same for the same item of the same trigger, whenever and by whichever process it is
/// found, and whatever else about the trigger changes.
pub(super) fn event_id(trigger_id: &str, key: &str) -> String {
    let hash = Sha256::digest(format!("{trigger_id}\n{key}"));
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    ids::ulid_of_hash("evt", half)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(items: &str, id: &[&str]) -> TriggerSpec {
        TriggerSpec {
            name: "new_issue".to_owned(),
            title: "New issue".to_owned(),
            description: "An issue was opened.".to_owned(),
            arguments: Default::default(),
            items: items.to_owned(),
            id: id.iter().map(|text| (*text).to_owned()).collect(),
            time: Some("/at".to_owned()),
            order: None,
            interval_s: None,
        }
    }

    fn keys(spec: &TriggerSpec, result: &str) -> Result<Vec<String>, UnreadablePage> {
        let found = items(spec, result)?;
        Ok(found.into_iter().map(|item| item.key).collect())
    }

    #[test]
    fn items_are_found_with_what_identifies_them() {
        let issues = spec("/issues", &["/id", "/changed"]);
        for (result, expected) in [
            (r#"{"issues":[]}"#, Ok(vec![])),
            (r#"{"total":0}"#, Ok(vec![])),
            (r#"{"issues":null}"#, Ok(vec![])),
            (
                r#"{"issues":[{"id":1,"changed":"a"},{"id":1,"changed":"b"}]}"#,
                Ok(vec![r#"[1,"a"]"#, r#"[1,"b"]"#]),
            ),
            (
                r#"{"issues":[{"id":1},{"name":"x"},{"id":{"a":1}}]}"#,
                Ok(vec!["[1,null]"]),
            ),
            (
                r#"{"issues":[{"id":90071992547409931234},{"id":90071992547409931235}]}"#,
                Ok(vec![
                    r#"["90071992547409931234",null]"#,
                    r#"["90071992547409931235",null]"#,
                ]),
            ),
            (r#"{"issues":{"id":1}}"#, Err(UnreadablePage::NoList)),
            (
                r#"{"issues":[{"name":"x"}]}"#,
                Err(UnreadablePage::NoIdentity),
            ),
            ("[]", Err(UnreadablePage::NoList)),
        ] {
            let expected: Result<Vec<String>, _> =
                expected.map(|all| all.iter().map(|key| (*key).to_owned()).collect());
            assert_eq!(keys(&issues, result), expected, "{result}");
        }
        let whole = spec("", &["/id"]);
        assert_eq!(
            keys(&whole, r#"[{"id":"x"}]"#),
            Ok(vec![r#"["x"]"#.to_owned()])
        );
        let many = json!(vec![json!({"id": 1}); PAGE_ITEMS_MAX + 1]).to_string();
        assert_eq!(keys(&whole, &many), Err(UnreadablePage::TooMany));
    }

    #[test]
    fn an_item_stays_the_same_when_the_offset_of_its_time_changes() {
        let changed = spec("", &["/id", "/changed"]);
        let key_at = |time: &str| {
            let result = json!([{"id": "a", "changed": time}]).to_string();
            let found = items(&changed, &result).unwrap();
            assert_eq!(found[0].provider_id, format!("a {time}"));
            found[0].key.clone()
        };
        let key = key_at("2026-11-20T09:30:00.5Z");
        for (time, is_same) in [
            ("2026-11-20T10:30:00.500+01:00", true),
            ("2026-11-20T04:30:00.500000-05:00", true),
            ("2026-11-20T09:30:00.5000001Z", false),
            ("2026-11-20T10:30:00.5Z", false),
            ("2026-11-20 09:30:00.5", false),
        ] {
            assert_eq!(key_at(time) == key, is_same, "{time}");
        }
    }

    #[test]
    fn a_large_item_is_listed_without_its_content() {
        let text = "x".repeat(ITEM_BYTES_MAX);
        let result = json!([{"id": 1, "text": text}, {"id": 2, "text": "y"}]).to_string();
        let found = items(&spec("", &["/id"]), &result).unwrap();
        assert_eq!(found[0].content, None);
        assert_eq!((&*found[0].key, &*found[0].provider_id), ("[1]", "1"));
        assert_eq!(found[1].content, Some(json!({"id": 2, "text": "y"})));
    }

    #[test]
    fn an_item_with_a_long_identity_is_left_out() {
        // The rest of the key: two brackets and two quotation marks.
        let longest = "x".repeat(KEY_BYTES_MAX - 4);
        let result = json!([{"id": longest}, {"id": format!("{longest}x")}]).to_string();
        let found = keys(&spec("", &["/id"]), &result);
        assert_eq!(found, Ok(vec![json!([longest]).to_string()]));
    }

    #[test]
    fn times_are_read_in_the_forms_of_providers() {
        for (time, expected) in [
            (json!("2026-11-20T09:30:00Z"), Some(1_795_167_000_000)),
            (json!("2026-11-20T10:30:00+01:00"), Some(1_795_167_000_000)),
            (json!(1_795_167_000), Some(1_795_167_000_000)),
            (json!(1_795_167_000_000_i64), Some(1_795_167_000_000)),
            (json!("1795167000.5"), Some(1_795_167_000_500)),
            (json!("yesterday"), None),
            (json!(1e300), None),
            (Value::Null, None),
        ] {
            assert_eq!(time_ms(&time), expected, "{time}");
        }
    }

    #[test]
    fn an_item_has_one_event_id_for_each_trigger() {
        let id = event_id("trg_1", "[1]");
        assert_eq!(id, event_id("trg_1", "[1]"));
        assert_ne!(id, event_id("trg_1", "[2]"));
        assert_ne!(id, event_id("trg_2", "[1]"));
        assert!(id.starts_with("evt_") && id.len() == 30, "{id}");
    }
}
