//! What all requests share: the address, Google's errors, sheets by name, batches.

use toolgate_sdk::http::google::problem_of;
use toolgate_sdk::prelude::*;

use crate::a1::{Area, parse};

pub fn api(cx: &Context) -> Client<'_> {
    cx.client("https://sheets.googleapis.com/v4")
        .errors(problem_of)
}

/// The address of a spreadsheet in a browser.
pub fn address(id: &str) -> String {
    format!("https://docs.google.com/spreadsheets/d/{id}/edit")
}

/// How values that are written are taken.
#[derive(Args)]
pub enum Input {
    /// As if somebody typed them: `=A1*2` is a formula, `31/3/2026` a date.
    Entered,
    /// As they are.
    Raw,
}

impl Input {
    pub fn option(&self) -> &'static str {
        match self {
            Self::Entered => "USER_ENTERED",
            Self::Raw => "RAW",
        }
    }
}

/// The properties of all sheets of a spreadsheet.
pub fn sheets(cx: &Context, id: &str) -> Result<Vec<Value>, ToolError> {
    let request = api(cx).get(path!("/spreadsheets/{}", id));
    let mut answer = request.query("fields", "sheets.properties").fetch()?;
    let sheets = answer["sheets"].as_array_mut().map(std::mem::take);
    let sheets = sheets.unwrap_or_default().into_iter();
    Ok(sheets.map(|mut sheet| sheet["properties"].take()).collect())
}

/// A sheet by its name in any case, or by its number.
pub fn sheet<'a>(sheets: &'a [Value], name: &str, field: &str) -> Result<&'a Value, ToolError> {
    let title = |one: &Value| one["title"].as_str().unwrap_or_default().to_owned();
    let exact = sheets.iter().find(|one| title(one) == name);
    let found = exact
        .or_else(|| {
            sheets
                .iter()
                .find(|one| title(one).to_lowercase() == name.to_lowercase())
        })
        .or_else(|| {
            sheets
                .iter()
                .find(|one| name.parse::<i64>().is_ok_and(|id| one["sheetId"] == id))
        });
    found.ok_or_else(|| {
        let known: Vec<String> = sheets.iter().map(title).collect();
        let text = format!(
            "there is no sheet `{name}`; there are: {}",
            known.join(", ")
        );
        ToolError::invalid(format!("/{field}"), text)
    })
}

/// A range by numbers, as the requests of a batch take it.
pub fn grid_range(cx: &Context, id: &str, range: &str) -> Result<Value, ToolError> {
    let Area {
        sheet: name,
        rows,
        columns,
    } = parse(range)?;
    let all = sheets(cx, id)?;
    let found = match &name {
        Some(name) => sheet(&all, name, "range")?,
        None => all
            .first()
            .ok_or_else(|| ToolError::upstream("the spreadsheet has no sheet"))?,
    };
    let mut out = json!({ "sheetId": found["sheetId"] });
    for (key, value) in [
        ("startRowIndex", rows.0),
        ("endRowIndex", rows.1),
        ("startColumnIndex", columns.0),
        ("endColumnIndex", columns.1),
    ] {
        if let Some(value) = value {
            out[key] = json!(value);
        }
    }
    Ok(out)
}

/// Sends one batch: all of it happens or nothing.
pub fn batch(cx: &Context, id: &str, requests: &[Value]) -> Result<Value, ToolError> {
    api(cx)
        .post(path!("/spreadsheets/{}:batchUpdate", id))
        .json(&json!({ "requests": requests }))
        .fetch()
}
