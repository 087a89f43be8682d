//! A sheet with a header row, read as rows by column name.

use toolgate_sdk::prelude::*;

use crate::a1::{column_name, quoted};
use crate::api::api;

/// The names of a sheet's columns, and rows below them.
#[derive(Debug)]
pub struct Table {
    /// By position; an empty name is a column without one.
    pub columns: Vec<String>,
    /// The number of each row as the sheet shows it, and its cells.
    pub rows: Vec<(u64, Vec<Value>)>,
}

/// Reads the header and the rows from `first` to `last` (numbers as the sheet shows them, open end).
pub fn read(
    cx: &Context,
    id: &str,
    sheet: &str,
    header: u64,
    first: u64,
    last: Option<u64>,
) -> Result<Table, ToolError> {
    let name = quoted(sheet);
    let (body, above) = match last {
        Some(last) => (format!("{name}!{first}:{last}"), 0),
        // The name alone is all that is in use, from the first row on.
        None => (name.clone(), first - 1),
    };
    let answer = api(cx)
        .get(path!("/spreadsheets/{}/values:batchGet", id))
        .query("ranges", format!("{name}!{header}:{header}"))
        .query("ranges", body)
        .query("valueRenderOption", "UNFORMATTED_VALUE")
        .query("dateTimeRenderOption", "FORMATTED_STRING")
        .fetch()?;
    let ranges = &answer["valueRanges"];
    let columns: Vec<String> = ranges[0]["values"][0]
        .as_array()
        .into_iter()
        .flatten()
        .map(|cell| text_of(cell).trim().to_owned())
        .collect();
    if columns.iter().all(String::is_empty) {
        let text = format!("row {header} of `{sheet}` is empty, so the table has no column names");
        return Err(ToolError::invalid("/header_row", text));
    }
    let rows = ranges[1]["values"].as_array().into_iter().flatten();
    let rows = rows.skip(above as usize).enumerate().map(|(index, row)| {
        let cells = row.as_array().cloned().unwrap_or_default();
        (first + index as u64, cells)
    });
    Ok(Table {
        columns,
        rows: rows.collect(),
    })
}

/// A cell's value as text, for comparing.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Number(number) => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => (whole as i64).to_string(),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

impl Table {
    /// The position of a column by name, in any case.
    pub fn column(&self, name: &str, field: &str) -> Result<usize, ToolError> {
        let wanted = name.trim().to_lowercase();
        let found = self.columns.iter().position(|one| one == name.trim());
        let found = found.or_else(|| {
            self.columns
                .iter()
                .position(|one| one.to_lowercase() == wanted)
        });
        found.ok_or_else(|| {
            let known = self.columns.iter().filter(|one| !one.is_empty());
            let known: Vec<&str> = known.map(String::as_str).collect();
            let text = format!(
                "there is no column `{name}`; there are: {}",
                known.join(", ")
            );
            ToolError::invalid(format!("/{field}"), text)
        })
    }

    /// A row by column name, with its number; empty cells are left out.
    pub fn object(&self, number: u64, cells: &[Value]) -> Value {
        let mut out = Map::new();
        out.insert("row".to_owned(), json!(number));
        let mut values = Map::new();
        for (index, cell) in cells.iter().enumerate() {
            if text_of(cell).is_empty() {
                continue;
            }
            let name = self.columns.get(index).filter(|name| !name.is_empty());
            let name = name.cloned().unwrap_or_else(|| column_name(index as u64));
            values.insert(name, cell.clone());
        }
        out.insert("values".to_owned(), Value::Object(values));
        Value::Object(out)
    }

    /// The rows whose columns have these values; text is compared in any case.
    pub fn matching(
        &self,
        conditions: &Map<String, Value>,
    ) -> Result<Vec<&(u64, Vec<Value>)>, ToolError> {
        let mut wanted = Vec::new();
        for (name, value) in conditions {
            let text = text_of(value).trim().to_lowercase();
            wanted.push((self.column(name, "where")?, text));
        }
        let fits = |cells: &[Value]| {
            let cell = |index: usize| cells.get(index).map(text_of).unwrap_or_default();
            wanted
                .iter()
                .all(|(index, text)| cell(*index).trim().to_lowercase() == *text)
        };
        let rows = self.rows.iter();
        Ok(rows
            .filter(|(_, cells)| fits(cells) && cells.iter().any(|cell| !text_of(cell).is_empty()))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            columns: vec!["Name".to_owned(), String::new(), "Hours".to_owned()],
            rows: vec![
                (2, vec![json!("Acme"), json!(""), json!(7)]),
                (3, vec![json!("acme"), json!("x"), json!(7.5)]),
                (4, vec![]),
            ],
        }
    }

    #[test]
    fn rows_are_found_by_value() {
        for (conditions, expected) in [
            (json!({ "name": "ACME" }), vec![2, 3]),
            (json!({ "Name": "Acme", "Hours": 7 }), vec![2]),
            (json!({ "Hours": "7.5" }), vec![3]),
            (json!({ "Name": "" }), vec![]),
            (json!({}), vec![2, 3]),
        ] {
            let found = table();
            let conditions = conditions.as_object().cloned().unwrap_or_default();
            let rows = found.matching(&conditions).expect("known columns");
            assert_eq!(
                rows.iter().map(|row| row.0).collect::<Vec<_>>(),
                expected,
                "{conditions:?}"
            );
        }
        let unknown = json!({ "Colour": "red" })
            .as_object()
            .cloned()
            .unwrap_or_default();
        assert!(table().matching(&unknown).is_err());
    }

    #[test]
    fn a_row_is_shown_by_column() {
        let table = table();
        assert_eq!(
            table.object(3, &table.rows[1].1),
            json!({ "row": 3, "values": { "Name": "acme", "B": "x", "Hours": 7.5 } })
        );
    }
}
