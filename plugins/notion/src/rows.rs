//! Rows of a table found by plain conditions, and the values that a page shows only in part.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};
use crate::conditions::{Condition, filter};
use crate::databases::{Sort, sort};
use crate::pages::shown;
use crate::rich_text::to_plain;

#[derive(Args)]
pub enum Match {
    All,
    Any,
}

#[derive(Args)]
pub struct FindRows {
    /// Id of the data source, as notion_search and notion_get_database show it.
    data_source: String,
    /// What the rows have to be like; all rows if empty.
    #[arg(rename = "where", max_items = 20)]
    conditions: Vec<Condition>,
    /// Whether a row has to fulfil all conditions or any of them.
    #[arg(rename = "match", default = "all")]
    matching: Match,
    /// By what to sort, first first.
    #[arg(max_items = 10)]
    sorts: Option<Vec<Sort>>,
    /// Rows on a page.
    #[arg(min = 1, max = 100, default = 25)]
    page_size: u32,
}

/// Finds rows (pages) of a table by column names and plain values, such as status is Done or due before a date.
#[tool(effect = "read",
    queries = ["POST https://api.notion.com/v1/data_sources/{id}/query"], paginated, keywords = ["filter", "query database", "tasks", "records", "overdue", "assigned"],
       example = { "data_source": "248104cd477e80fdb757e945d38000bd",
                   "where": [{ "column": "Status", "value": "Done" }, { "column": "Due", "test": "past_week" }] })]
pub fn find_rows(args: FindRows, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.data_source, "data_source")?;
    let mut body = json!({ "page_size": args.page_size });
    if !args.conditions.is_empty() {
        let source = notion(cx).get(path!("/data_sources/{}", id)).fetch()?;
        let schema = &source["properties"];
        let filters = args.conditions.iter().map(|one| filter(cx, one, schema));
        let mut filters = filters.collect::<Result<Vec<Value>, ToolError>>()?;
        body["filter"] = match (filters.len(), &args.matching) {
            (1, _) => filters.remove(0),
            (_, Match::All) => json!({ "and": filters }),
            (_, Match::Any) => json!({ "or": filters }),
        };
    }
    if let Some(sorts) = &args.sorts {
        body["sorts"] = sorts.iter().map(sort).collect();
    }
    if let Some(cursor) = cx.cursor() {
        body["start_cursor"] = json!(cursor);
    }
    let request = notion(cx).post(path!("/data_sources/{}/query", id));
    let answer = request.json(&body).fetch()?;
    let rows = answer["results"].as_array().into_iter().flatten();
    let rows: Vec<Value> = rows.map(shown).collect();
    Output::page(rows, next_cursor(&answer))
}

#[derive(Args)]
pub struct GetPageProperty {
    /// Id or address of the page.
    page: String,
    /// Name of the property.
    #[arg(min_length = 1, max_length = 200)]
    property: String,
    /// Values on a page, for properties that hold a list.
    #[arg(min = 1, max = 100, default = 100)]
    page_size: u32,
}

/// Reads all values of one property of a page. notion_get_page shows at most 25 people or related pages of each.
#[tool(effect = "read", paginated, keywords = ["relation", "rollup", "all related pages"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "property": "Tasks" })]
pub fn get_page_property(args: GetPageProperty, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.page, "page")?;
    let page = notion(cx).get(path!("/pages/{}", id)).fetch()?;
    let property = page["properties"][args.property.as_str()]["id"].as_str();
    let property = property.ok_or_else(|| {
        let all = page["properties"].as_object().into_iter();
        let known: Vec<&str> = all.flat_map(|all| all.keys()).map(String::as_str).collect();
        let text = format!(
            "there is no property `{}`; there are {}",
            args.property,
            known.join(", ")
        );
        ToolError::invalid("/property", text)
    })?;
    // Notion gives the id percent-encoded as it stands in its own addresses.
    let property = percent_decoded(property);
    let answer = notion(cx)
        .get(path!("/pages/{}/properties/{}", id, property))
        .query("page_size", args.page_size)
        .query("start_cursor", cx.cursor())
        .fetch()?;
    let value = |item: &Value| {
        let kind = item["type"].as_str().unwrap_or_default();
        match kind {
            "title" | "rich_text" => json!(to_plain(&json!([item[kind]]))),
            "people" => pick(&item[kind], &["id", "name"]),
            "relation" => item[kind]["id"].clone(),
            _ => item[kind].clone(),
        }
    };
    match answer["results"].as_array() {
        Some(items) => {
            let values: Vec<Value> = items.iter().map(value).collect();
            Output::page(values, next_cursor(&answer))
        }
        None => Output::page(json!([value(&answer)]), None),
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.and_then(|two| u8::from_str_radix(two, 16).ok());
        match code {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::percent_decoded;

    #[test]
    fn an_id_of_a_property_is_decoded_once() {
        for (text, expected) in [
            ("title", "title"),
            ("%3AUPp", ":UPp"),
            ("a%2", "a%2"),
            ("%25", "%"),
        ] {
            assert_eq!(percent_decoded(text), expected);
        }
    }
}
