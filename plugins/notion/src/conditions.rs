//! Plain conditions on columns, written as Notion's filter by the types of the columns.

use toolgate_sdk::prelude::*;

use crate::api::id_of;
use crate::people::people_like;

#[derive(Args, Clone, Copy, PartialEq)]
pub enum Test {
    Equals,
    DoesNotEqual,
    Contains,
    DoesNotContain,
    StartsWith,
    EndsWith,
    GreaterThan,
    LessThan,
    GreaterThanOrEqualTo,
    LessThanOrEqualTo,
    Before,
    After,
    OnOrBefore,
    OnOrAfter,
    PastWeek,
    PastMonth,
    ThisWeek,
    NextWeek,
    NextMonth,
    IsEmpty,
    IsNotEmpty,
}

#[derive(Args)]
pub struct Condition {
    /// Name of the column, or `created_time` or `last_edited_time`.
    #[arg(min_length = 1, max_length = 200)]
    pub column: String,
    /// How the value is compared. Dates use before, after, on_or_before, on_or_after or a period such as past_week.
    #[arg(default = "equals")]
    pub test: Test,
    /// The value: text, number, true or false, a date `2026-03-31`, the name of a choice, a person's name or
    /// mail address, or the id of a related page. Not used by is_empty, is_not_empty and the periods.
    pub value: Option<Value>,
}

/// The filter for one condition; `schema` is `properties` of the data source.
pub fn filter(cx: &Context, condition: &Condition, schema: &Value) -> Result<Value, ToolError> {
    let column = condition.column.as_str();
    if ["created_time", "last_edited_time"].contains(&column) && schema.get(column).is_none() {
        let test = test_of(cx, condition, "date")?;
        return Ok(json!({ "timestamp": column, column: test }));
    }
    let kind = schema[column]["type"].as_str().ok_or_else(|| {
        let all = schema.as_object().into_iter().flat_map(|all| all.keys());
        let known: Vec<&str> = all.map(String::as_str).collect();
        let text = format!(
            "there is no column `{column}`; there are {}",
            known.join(", ")
        );
        ToolError::invalid("/where", text)
    })?;
    let test = test_of(cx, condition, kind)?;
    if kind == "formula" {
        let result = match &condition.value {
            Some(Value::Bool(_)) => "checkbox",
            Some(Value::Number(_)) => "number",
            _ => "string",
        };
        return Ok(json!({ "property": column, "formula": { result: test } }));
    }
    Ok(json!({ "property": column, kind: test }))
}

fn test_of(cx: &Context, condition: &Condition, kind: &str) -> Result<Value, ToolError> {
    let several = [
        "multi_select",
        "people",
        "relation",
        "created_by",
        "last_edited_by",
    ];
    let test = match condition.test {
        Test::Equals if several.contains(&kind) => Test::Contains,
        Test::DoesNotEqual if several.contains(&kind) => Test::DoesNotContain,
        Test::Contains if ["select", "status"].contains(&kind) => Test::Equals,
        Test::DoesNotContain if ["select", "status"].contains(&kind) => Test::DoesNotEqual,
        other => other,
    };
    let value = match test {
        Test::IsEmpty | Test::IsNotEmpty => json!(true),
        Test::PastWeek | Test::PastMonth | Test::ThisWeek | Test::NextWeek | Test::NextMonth => {
            json!({})
        }
        _ => {
            let value = condition.value.as_ref().ok_or_else(|| {
                let text = format!("the condition on `{}` needs a value", condition.column);
                ToolError::invalid("/where", text)
            })?;
            value_of(cx, value, kind)?
        }
    };
    Ok(json!({ test.as_str(): value }))
}

/// The value as a filter on a column of this type takes it.
fn value_of(cx: &Context, value: &Value, kind: &str) -> Result<Value, ToolError> {
    let Some(text) = value.as_str() else {
        return Ok(value.clone());
    };
    match kind {
        "number" | "unique_id" => {
            // The number of an id such as `TASK-12` is what is compared.
            let digits = text.rsplit('-').next().unwrap_or_default();
            let number = match kind {
                "number" => text.parse::<f64>().ok().map(Value::from),
                _ => digits.parse::<u64>().ok().map(Value::from),
            };
            number.ok_or_else(|| ToolError::invalid("/where", format!("`{text}` is no number")))
        }
        "checkbox" => match text {
            "true" | "yes" => Ok(json!(true)),
            "false" | "no" => Ok(json!(false)),
            _ => Err(ToolError::invalid("/where", "expected true or false")),
        },
        "relation" => Ok(json!(id_of(text, "where")?)),
        "people" | "created_by" | "last_edited_by" => match id_of(text, "where") {
            Ok(id) => Ok(json!(id)),
            Err(_) => match people_like(cx, text)?.as_slice() {
                [one] => Ok(one["id"].clone()),
                [] => Err(ToolError::invalid(
                    "/where",
                    format!("there is nobody called `{text}`"),
                )),
                [_, ..] => {
                    let text = format!("`{text}` fits more than one; notion_find_user shows them");
                    Err(ToolError::invalid("/where", text))
                }
            },
        },
        _ => Ok(json!(text)),
    }
}
