//! The values of columns: plain JSON by title in, monday's own form for each type of column out.
//!
//! An object is taken for monday's own form already and passed on as it is.

use toolgate_sdk::prelude::*;

use crate::api::{ask, titled, titles};

/// What is read of a board's columns wherever values are written.
macro_rules! column_fields {
    () => {
        "columns { id title type }"
    };
}
/// What is read of an item's values wherever an item comes back.
macro_rules! value_fields {
    () => {
        "column_values { id type text column { title } \
         ... on MirrorValue { display_value } ... on BoardRelationValue { display_value } \
         ... on DependencyValue { display_value } }"
    };
}
pub(crate) use {column_fields, value_fields};

/// Columns whose values monday makes itself, or that take files.
const READ_ONLY: [&str; 14] = [
    "auto_number",
    "button",
    "color_picker",
    "creation_log",
    "doc",
    "file",
    "formula",
    "item_id",
    "last_updated",
    "mirror",
    "progress",
    "subtasks",
    "time_tracking",
    "vote",
];

/// An item's values by the title of their column; empty ones are left out.
pub fn read(column_values: &Value) -> Value {
    let mut out = Map::new();
    for value in column_values.as_array().into_iter().flatten() {
        let title = value["column"]["title"].as_str().or(value["id"].as_str());
        let text = value["text"].as_str().or(value["display_value"].as_str());
        if let (Some(title), Some(text)) = (title, text.filter(|text| !text.is_empty())) {
            out.insert(title.to_owned(), json!(text));
        }
    }
    Value::Object(out)
}

/// Values by title as the JSON text that mutations take. `columns` are those of the board.
pub fn write(
    cx: &Context,
    values: &Map<String, Value>,
    columns: &Value,
) -> Result<String, ToolError> {
    let mut out = Map::new();
    for (title, value) in values {
        let field = format!("/values/{title}");
        let column = titled(columns, title).ok_or_else(|| {
            let text = format!(
                "the board has no column `{title}`; it has {}",
                titles(columns)
            );
            ToolError::invalid(&field, text)
        })?;
        let kind = column["type"].as_str().unwrap_or_default();
        let id = column["id"].as_str().unwrap_or_default().to_owned();
        let written = if kind == "people" && !value.is_object() && !value.is_null() {
            people(cx, value, &field)?
        } else {
            one(kind, value).map_err(|why| {
                ToolError::invalid(&field, format!("the column `{title}` ({kind}) {why}"))
            })?
        };
        out.insert(id, written);
    }
    Ok(Value::Object(out).to_string())
}

/// One value in the form of its type, or what was expected.
fn one(kind: &str, value: &Value) -> Result<Value, String> {
    if READ_ONLY.contains(&kind) {
        return Err("cannot be written".to_owned());
    }
    if value.is_null() || value.is_object() {
        return Ok(value.clone());
    }
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let many = || -> Vec<Value> {
        value
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![value.clone()])
    };
    let ids = || -> Result<Vec<u64>, String> {
        let number = |one: &Value| one.as_u64().or_else(|| one.as_str()?.trim().parse().ok());
        many()
            .iter()
            .map(|one| number(one).ok_or_else(|| "takes ids".to_owned()))
            .collect()
    };
    Ok(match kind {
        "status" => json!({ "label": text }),
        "dropdown" => json!({ "labels": many() }),
        "date" => date(&text)?,
        "timeline" => {
            let (from, to) = text
                .split_once('/')
                .filter(|(from, to)| is_day(from) && is_day(to))
                .ok_or("takes two days, `2026-01-01/2026-01-31`")?;
            json!({ "from": from, "to": to })
        }
        "checkbox" => match text.as_str() {
            "true" => json!({ "checked": "true" }),
            "false" => Value::Null,
            _ => return Err("takes true or false".to_owned()),
        },
        "long_text" => json!({ "text": text }),
        "link" => json!({ "url": text, "text": text }),
        "email" => json!({ "email": text, "text": text }),
        "rating" => match value.as_u64().or_else(|| text.parse().ok()) {
            Some(stars) => json!({ "rating": stars }),
            None => return Err("takes a whole number".to_owned()),
        },
        "hour" => {
            let time = text.split_once(':');
            let time = time.and_then(|(h, m)| Some((h.parse::<u8>().ok()?, m.parse::<u8>().ok()?)));
            let (hour, minute) = time.ok_or("takes a time, `14:30`")?;
            json!({ "hour": hour, "minute": minute })
        }
        "board_relation" | "dependency" => json!({ "item_ids": ids()? }),
        "tags" => json!({ "tag_ids": ids()? }),
        "numbers" if text.trim().parse::<f64>().is_err() => {
            return Err("takes a number".to_owned());
        }
        _ => json!(text),
    })
}

/// A day, or a moment in UTC: `2026-01-31`, `2026-01-31 14:30` or `2026-01-31T14:30:00Z`.
fn date(text: &str) -> Result<Value, String> {
    let expected = || "takes a day `2026-01-31`, or a moment in UTC `2026-01-31 14:30`".to_owned();
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) => (day, Some(time.trim_end_matches('Z'))),
        None => (text, None),
    };
    if !is_day(day) {
        return Err(expected());
    }
    let Some(time) = time else {
        return Ok(json!({ "date": day }));
    };
    let time = match time.len() {
        5 => format!("{time}:00"),
        _ => time.to_owned(),
    };
    let digits = |part: &str| part.len() == 2 && part.chars().all(|c| c.is_ascii_digit());
    if time.split(':').count() != 3 || !time.split(':').all(digits) {
        return Err(expected());
    }
    Ok(json!({ "date": day, "time": time }))
}

fn is_day(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([4, 2, 2]) && text.chars().all(|c| c == '-' || c.is_ascii_digit())
}

/// People by `me`, mail address, name or id, as a people column takes them.
fn people(cx: &Context, value: &Value, field: &str) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query($emails: [String!], $withEmails: Boolean!, $name: String, $withName: Boolean!) { \
        me { id } byEmail: users(emails: $emails, limit: 100) @include(if: $withEmails) { id email } \
        byName: users(name: $name, limit: 2) @include(if: $withName) { id name } }";
    let wanted: Vec<String> = match value {
        Value::Array(all) => all.iter().map(plain).collect(),
        other => vec![plain(other)],
    };
    let is_id = |one: &str| !one.is_empty() && one.chars().all(|c| c.is_ascii_digit());
    let emails: Vec<&String> = wanted.iter().filter(|one| one.contains('@')).collect();
    let mut names = wanted
        .iter()
        .filter(|one| !one.contains('@') && !is_id(one) && *one != "me");
    let name = names.next();
    if names.next().is_some() {
        let text = "give one name at most; mail addresses and ids may be several";
        return Err(ToolError::invalid(field, text));
    }
    let mut answer = Value::Null;
    if wanted.iter().any(|one| !is_id(one)) {
        answer = ask(
            cx,
            DOCUMENT,
            json!({ "emails": emails, "withEmails": !emails.is_empty(),
                    "name": name, "withName": name.is_some() }),
        )?;
    }
    let mut all = Vec::new();
    for one in &wanted {
        let id = if is_id(one) {
            Some(one.clone())
        } else if one == "me" {
            answer["me"]["id"].as_str().map(str::to_owned)
        } else if one.contains('@') {
            let found = answer["byEmail"].as_array().into_iter().flatten();
            let same = |user: &&Value| {
                user["email"]
                    .as_str()
                    .is_some_and(|known| known.eq_ignore_ascii_case(one))
            };
            found
                .clone()
                .find(same)
                .and_then(|user| user["id"].as_str())
                .map(str::to_owned)
        } else {
            match answer["byName"].as_array().map(Vec::as_slice) {
                Some([user]) => user["id"].as_str().map(str::to_owned),
                _ => None,
            }
        };
        let id = id.and_then(|id| id.parse::<u64>().ok()).ok_or_else(|| {
            let text = format!("`{one}` is nobody, or several; monday_list_users shows ids");
            ToolError::invalid(field, text)
        })?;
        all.push(json!({ "id": id, "kind": "person" }));
    }
    Ok(json!({ "personsAndTeams": all }))
}

/// The ids of people given by `me`, mail address, name or id.
pub fn person_ids(cx: &Context, wanted: &[String], field: &str) -> Result<Vec<String>, ToolError> {
    let found = people(cx, &json!(wanted), field)?;
    let found = found["personsAndTeams"].as_array().into_iter().flatten();
    Ok(found.map(|one| one["id"].to_string()).collect())
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::one;
    use toolgate_sdk::{Value, json};

    #[test]
    fn a_plain_value_takes_the_form_of_its_column() {
        for (kind, plain, written) in [
            ("text", json!("a"), json!("a")),
            ("text", json!(7), json!("7")),
            ("numbers", json!(7.5), json!("7.5")),
            ("status", json!("Done"), json!({ "label": "Done" })),
            ("dropdown", json!("a"), json!({ "labels": ["a"] })),
            (
                "dropdown",
                json!(["a", "b"]),
                json!({ "labels": ["a", "b"] }),
            ),
            ("date", json!("2026-01-31"), json!({ "date": "2026-01-31" })),
            (
                "date",
                json!("2026-01-31T14:30:00Z"),
                json!({ "date": "2026-01-31", "time": "14:30:00" }),
            ),
            (
                "date",
                json!("2026-01-31 14:30"),
                json!({ "date": "2026-01-31", "time": "14:30:00" }),
            ),
            (
                "timeline",
                json!("2026-01-01/2026-01-31"),
                json!({ "from": "2026-01-01", "to": "2026-01-31" }),
            ),
            ("checkbox", json!(true), json!({ "checked": "true" })),
            ("checkbox", json!(false), Value::Null),
            ("hour", json!("14:05"), json!({ "hour": 14, "minute": 5 })),
            (
                "board_relation",
                json!(["12", 13]),
                json!({ "item_ids": [12, 13] }),
            ),
            (
                "link",
                json!("https://a.example"),
                json!({ "url": "https://a.example", "text": "https://a.example" }),
            ),
            (
                "link",
                json!({ "url": "https://a.example", "text": "a" }),
                json!({ "url": "https://a.example", "text": "a" }),
            ),
            ("status", Value::Null, Value::Null),
        ] {
            assert_eq!(one(kind, &plain), Ok(written), "{kind} {plain}");
        }
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused() {
        for (kind, plain) in [
            ("numbers", json!("many")),
            ("date", json!("tomorrow")),
            ("date", json!("2026-01-31 noon")),
            ("timeline", json!("2026-01-31")),
            ("checkbox", json!("perhaps")),
            ("hour", json!("noon")),
            ("board_relation", json!("a")),
            ("rating", json!("good")),
            ("formula", json!("1")),
            ("mirror", Value::Null),
        ] {
            assert!(one(kind, &plain).is_err(), "{kind} {plain}");
        }
    }
}
