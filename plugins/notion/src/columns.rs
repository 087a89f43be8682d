//! Columns of data sources (tables) in a short form, and the tools that add, change and remove them.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, notion};
use crate::databases::columns;

#[derive(Args, Clone, Copy, PartialEq)]
pub enum Kind {
    Title,
    Text,
    Number,
    Select,
    MultiSelect,
    Status,
    Date,
    People,
    Files,
    Checkbox,
    Url,
    Email,
    PhoneNumber,
    Formula,
    Relation,
    UniqueId,
    CreatedTime,
    CreatedBy,
    LastEditedTime,
    LastEditedBy,
}

#[derive(Args)]
pub struct Column {
    /// Name of the column.
    #[arg(min_length = 1, max_length = 200)]
    pub name: String,
    /// What its values are. Every table has exactly one `title`.
    #[arg(rename = "type")]
    pub kind: Kind,
    /// Names of the choices, used if `type` is `select`, `multi_select` or `status`.
    #[arg(max_items = 100)]
    options: Option<Vec<String>>,
    /// Form of numbers, for example `euro`, `dollar`, `percent`; used if `type` is `number`.
    #[arg(pattern = "^[a-z_]+$", examples = ["euro"])]
    number_format: Option<String>,
    /// The expression, for example `prop("Price") * 2`; required if `type` is `formula`.
    formula: Option<String>,
    /// Id of the data source whose pages it names; required if `type` is `relation`.
    related_data_source: Option<String>,
}

/// The column as Notion takes it.
pub fn written(column: &Column) -> Result<Value, ToolError> {
    let missing = |what: &str| {
        let text = format!("`{}` needs {what}", column.name);
        ToolError::invalid("", text)
    };
    let key = match column.kind {
        Kind::Text => "rich_text",
        other => other.as_str(),
    };
    let value = match column.kind {
        Kind::Select | Kind::MultiSelect | Kind::Status => match &column.options {
            Some(names) => {
                let options: Vec<Value> =
                    names.iter().map(|name| json!({ "name": name })).collect();
                json!({ "options": options })
            }
            None => json!({}),
        },
        Kind::Number => match &column.number_format {
            Some(format) => json!({ "format": format }),
            None => json!({}),
        },
        Kind::Formula => {
            let formula = column.formula.as_ref();
            json!({ "expression": formula.ok_or_else(|| missing("a formula"))? })
        }
        Kind::Relation => {
            let source = column.related_data_source.as_deref();
            let source = source.ok_or_else(|| missing("related_data_source"))?;
            json!({ "data_source_id": id_of(source, "related_data_source")?, "single_property": {} })
        }
        _ => json!({}),
    };
    Ok(json!({ key: value }))
}

/// Columns by name, with a title column if none of them is one.
pub fn schema_of(columns: &[Column]) -> Result<Value, ToolError> {
    let mut out = Map::new();
    if columns.iter().all(|column| column.kind != Kind::Title) {
        out.insert("Name".to_owned(), json!({ "title": {} }));
    }
    for column in columns {
        out.insert(column.name.clone(), written(column)?);
    }
    Ok(Value::Object(out))
}

/// Changes columns of a data source and returns all it has then.
fn patch(cx: &Context, source: &str, name: &str, value: Value) -> Result<Value, ToolError> {
    let id = id_of(source, "data_source")?;
    let body = json!({ "properties": { name: value } });
    let request = notion(cx).patch(path!("/data_sources/{}", id));
    let source = request.json(&body).fetch()?;
    let mut out = pick(&source, &["id"]);
    out["properties"] = columns(&source["properties"]);
    Ok(out)
}

#[derive(Args)]
pub struct AddColumn {
    /// Id of the data source, as notion_search and notion_get_database show it.
    data_source: String,
    /// The column.
    column: Column,
}

/// Adds a column (property) to a table. Returns all columns.
#[tool(effect = "write", keywords = ["new property", "field", "schema"],
       example = { "data_source": "248104cd477e80fdb757e945d38000bd", "column": { "name": "Stage", "type": "select", "options": ["Idea", "Ready"] } })]
pub fn add_column(args: AddColumn, cx: &Context) -> Result<Value, ToolError> {
    let value = written(&args.column)?;
    patch(cx, &args.data_source, &args.column.name, value)
}

#[derive(Args)]
pub struct UpdateColumn {
    /// Id of the data source, as notion_search and notion_get_database show it.
    data_source: String,
    /// Name of the column now.
    #[arg(min_length = 1, max_length = 200)]
    column: String,
    /// The new name.
    #[arg(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// Choices to add, for a select or multi_select column; those that exist stay.
    #[arg(min_items = 1, max_items = 100)]
    add_options: Option<Vec<String>>,
}

/// Renames a column (property) of a table, or adds choices to it. Returns all columns.
#[tool(effect = "write", idempotent, keywords = ["rename property", "field", "add option", "choices"],
       example = { "data_source": "248104cd477e80fdb757e945d38000bd", "column": "Stage", "add_options": ["Sold"] })]
pub fn update_column(args: UpdateColumn, cx: &Context) -> Result<Value, ToolError> {
    let mut change = json!({});
    if let Some(name) = args.name {
        change["name"] = json!(name);
    }
    if let Some(added) = args.add_options {
        let id = id_of(&args.data_source, "data_source")?;
        let source = notion(cx).get(path!("/data_sources/{}", id)).fetch()?;
        let column = &source["properties"][args.column.as_str()];
        let kind = column["type"].as_str().unwrap_or_default();
        if !["select", "multi_select"].contains(&kind) {
            let text = format!("`{}` is no select or multi_select column", args.column);
            return Err(ToolError::invalid("/column", text));
        }
        // Notion removes the choices that a change leaves out.
        let known = column[kind]["options"].as_array().into_iter().flatten();
        let mut options: Vec<Value> = known.map(|option| pick(option, &["id"])).collect();
        options.extend(added.iter().map(|name| json!({ "name": name })));
        change[kind] = json!({ "options": options });
    }
    if change == json!({}) {
        return Err(ToolError::invalid("/name", "give name or add_options"));
    }
    patch(cx, &args.data_source, &args.column, change)
}

#[derive(Args)]
pub struct RemoveColumn {
    /// Id of the data source, as notion_search and notion_get_database show it.
    data_source: String,
    /// Name of the column.
    #[arg(min_length = 1, max_length = 200)]
    column: String,
}

/// Removes a column (property) of a table with all its values. Returns the columns that are left.
#[tool(effect = "destructive", idempotent, keywords = ["delete property", "drop field"],
       example = { "data_source": "248104cd477e80fdb757e945d38000bd", "column": "Stage" })]
pub fn remove_column(args: RemoveColumn, cx: &Context) -> Result<Value, ToolError> {
    patch(cx, &args.data_source, &args.column, Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: Kind) -> Column {
        Column {
            name: "A".to_owned(),
            kind,
            options: None,
            number_format: None,
            formula: None,
            related_data_source: None,
        }
    }

    #[test]
    fn a_table_always_has_a_title() {
        let with = schema_of(&[column(Kind::Title)]).expect("the columns are complete");
        assert_eq!(with, json!({ "A": { "title": {} } }));
        let without = schema_of(&[column(Kind::Text)]).expect("the columns are complete");
        assert_eq!(
            without,
            json!({ "Name": { "title": {} }, "A": { "rich_text": {} } })
        );
    }

    #[test]
    fn a_column_that_lacks_something_is_refused() {
        for kind in [Kind::Formula, Kind::Relation] {
            assert!(written(&column(kind)).is_err(), "{kind}");
        }
    }
}
