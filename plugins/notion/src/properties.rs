//! Values of pages: Notion's typed objects to plain JSON, and back by the schema of the data source.

use toolgate_sdk::{Map, ToolError, Value, json};

use crate::rich_text::{plain, to_plain};

/// A page's properties as plain values by name. What is empty is left out.
pub fn read_all(properties: &Value) -> Value {
    let mut out = Map::new();
    for (name, property) in properties.as_object().into_iter().flatten() {
        let value = read(property);
        let empty = value.is_null() || value == json!("") || value == json!([]);
        if !empty {
            out.insert(name.clone(), value);
        }
    }
    Value::Object(out)
}

/// The text of the title among a page's properties.
pub fn title(properties: &Value) -> String {
    let all = properties
        .as_object()
        .into_iter()
        .flat_map(|all| all.values());
    let found = all.into_iter().find(|property| property["type"] == "title");
    found
        .map(|property| to_plain(&property["title"]))
        .unwrap_or_default()
}

fn read(property: &Value) -> Value {
    let kind = property["type"].as_str().unwrap_or_default();
    let content = &property[kind];
    match kind {
        "title" | "rich_text" => json!(to_plain(content)),
        "select" | "status" => content["name"].clone(),
        "multi_select" => names(content, "name"),
        "date" => match content["end"].as_str() {
            Some(_) => json!({ "start": content["start"], "end": content["end"] }),
            None => content["start"].clone(),
        },
        "people" => names(content, "name"),
        "relation" => names(content, "id"),
        "files" => names(content, "name"),
        "created_by" | "last_edited_by" => content
            .get("name")
            .or_else(|| content.get("id"))
            .cloned()
            .unwrap_or_default(),
        "formula" => content[content["type"].as_str().unwrap_or_default()].clone(),
        "rollup" => match content["array"].as_array() {
            Some(all) => Value::Array(all.iter().map(read).collect()),
            None => content[content["type"].as_str().unwrap_or_default()].clone(),
        },
        "unique_id" => match content["prefix"].as_str() {
            Some(prefix) => json!(format!("{prefix}-{}", content["number"])),
            None => content["number"].clone(),
        },
        _ => content.clone(),
    }
}

fn names(list: &Value, key: &str) -> Value {
    let all = list.as_array().into_iter().flatten();
    Value::Array(
        all.map(|one| {
            one.get(key)
                .or_else(|| one.get("id"))
                .cloned()
                .unwrap_or_default()
        })
        .collect(),
    )
}

/// Plain values as Notion takes them. `schema` is `properties` of the data source; without one only
/// the title can be set. An object that is already in Notion's own form goes through.
pub fn write_all(values: &Map<String, Value>, schema: Option<&Value>) -> Result<Value, ToolError> {
    let mut out = Map::new();
    for (name, value) in values {
        let field = format!("/properties/{}", name.replace('~', "~0").replace('/', "~1"));
        let kind = match schema {
            None if name == "title" => "title",
            None => {
                return Err(ToolError::invalid(
                    field,
                    "a page outside a database has the property `title` only",
                ));
            }
            Some(schema) => match schema
                .get(name)
                .and_then(|property| property["type"].as_str())
            {
                Some(kind) => kind,
                None => return Err(ToolError::invalid(field, unknown(name, schema))),
            },
        };
        let written = match value.get(kind) {
            Some(_) => value.clone(),
            None => {
                json!({ kind: write(kind, value).map_err(|text| ToolError::invalid(field, text))? })
            }
        };
        out.insert(name.clone(), written);
    }
    Ok(Value::Object(out))
}

fn unknown(name: &str, schema: &Value) -> String {
    let known: Vec<&str> = schema
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys())
        .map(String::as_str)
        .collect();
    format!(
        "there is no property `{name}`; there are {}",
        known.join(", ")
    )
}

fn write(kind: &str, value: &Value) -> Result<Value, String> {
    let text = || value.as_str().ok_or_else(|| "expected a text".to_owned());
    let texts = || match value {
        Value::String(one) => Ok(vec![one.clone()]),
        Value::Array(all) if all.iter().all(Value::is_string) => Ok(all
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()),
        _ => Err("expected a list of texts".to_owned()),
    };
    if value.is_null() {
        return Ok(match kind {
            "title" | "rich_text" | "multi_select" | "people" | "relation" | "files" => json!([]),
            _ => Value::Null,
        });
    }
    match kind {
        "title" | "rich_text" => text().map(plain),
        "number" if value.is_number() => Ok(value.clone()),
        "number" => Err("expected a number".to_owned()),
        "checkbox" if value.is_boolean() => Ok(value.clone()),
        "checkbox" => Err("expected true or false".to_owned()),
        "select" | "status" => Ok(json!({ "name": text()? })),
        "multi_select" => Ok(texts()?
            .into_iter()
            .map(|name| json!({ "name": name }))
            .collect()),
        "date" if value.get("start").is_some() => Ok(value.clone()),
        "date" => Ok(json!({ "start": text()? })),
        "url" | "email" | "phone_number" => text().map(|text| json!(text)),
        "people" | "relation" => Ok(texts()?.into_iter().map(|id| json!({ "id": id })).collect()),
        other => Err(format!(
            "a property of the type {other} cannot be set this way"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_values_are_written_by_the_schema() {
        let schema = json!({
            "Name": { "type": "title" }, "Done": { "type": "checkbox" }, "Tags": { "type": "multi_select" },
            "Due": { "type": "date" }, "State": { "type": "status" }, "Points": { "type": "number" },
            "Owner": { "type": "people" }, "Sum": { "type": "formula" }
        });
        let write = |values: Value| {
            write_all(values.as_object().expect("an object"), Some(&schema))
                .map_err(|error| error.field)
        };
        assert_eq!(
            write(
                json!({ "Name": "Fix it", "Done": true, "Tags": ["a", "b"], "Due": "2026-01-31",
                          "State": "Open", "Points": 3, "Owner": "u1" })
            ),
            Ok(json!({
                "Name": { "title": [{ "type": "text", "text": { "content": "Fix it" } }] },
                "Done": { "checkbox": true }, "Tags": { "multi_select": [{ "name": "a" }, { "name": "b" }] },
                "Due": { "date": { "start": "2026-01-31" } }, "State": { "status": { "name": "Open" } },
                "Points": { "number": 3 }, "Owner": { "people": [{ "id": "u1" }] }
            }))
        );
        assert_eq!(
            write(json!({ "State": { "status": { "name": "X" } }, "Due": null, "Tags": null })),
            Ok(
                json!({ "State": { "status": { "name": "X" } }, "Due": { "date": null }, "Tags": { "multi_select": [] } })
            )
        );
        for values in [
            json!({ "Points": "3" }),
            json!({ "Nope": 1 }),
            json!({ "Sum": 1 }),
            json!({ "Tags": [1] }),
        ] {
            assert!(write(values.clone()).is_err(), "{values}");
        }
    }

    #[test]
    fn typed_objects_are_read_as_plain_values() {
        let read = read_all(&json!({
            "Name": { "type": "title", "title": [{ "plain_text": "Fix" }, { "plain_text": " it" }] },
            "State": { "type": "select", "select": { "name": "Open", "color": "red" } },
            "None": { "type": "select", "select": null },
            "Tags": { "type": "multi_select", "multi_select": [{ "name": "a" }] },
            "Due": { "type": "date", "date": { "start": "2026-01-01", "end": null } },
            "Span": { "type": "date", "date": { "start": "2026-01-01", "end": "2026-01-02" } },
            "Sum": { "type": "formula", "formula": { "type": "number", "number": 4 } },
            "Id": { "type": "unique_id", "unique_id": { "prefix": "T", "number": 7 } },
            "Points": { "type": "number", "number": 2.5 },
            "People": { "type": "people", "people": [{ "id": "u1", "name": "Mona" }, { "id": "u2" }] }
        }));
        assert_eq!(
            read,
            json!({ "Name": "Fix it", "State": "Open", "Tags": ["a"], "Due": "2026-01-01",
                    "Span": { "start": "2026-01-01", "end": "2026-01-02" }, "Sum": 4, "Id": "T-7",
                    "Points": 2.5, "People": ["Mona", "u2"] })
        );
    }
}
