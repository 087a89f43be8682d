//! Cells by their address.

use toolgate_sdk::http::google::file_id;
use toolgate_sdk::prelude::*;

use crate::api::{Input, api};

/// How values are shown.
#[derive(Args)]
pub enum Render {
    /// As the sheet shows them, all text: `1,234.50 EUR`.
    Formatted,
    /// Numbers as numbers, dates as text.
    Unformatted,
    /// Formulas as they were typed.
    Formula,
}

impl Render {
    fn option(&self) -> &'static str {
        match self {
            Self::Formatted => "FORMATTED_VALUE",
            Self::Unformatted => "UNFORMATTED_VALUE",
            Self::Formula => "FORMULA",
        }
    }
}

fn shown(range: &Value) -> Value {
    let values = range.get("values").cloned().unwrap_or_else(|| json!([]));
    json!({ "range": range["range"], "values": values })
}

#[derive(Args)]
pub struct GetValues {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Range such as `Sheet1!A1:D20`, `'My sheet'!A:C`, or a sheet's name for all of it.
    range: String,
    /// How values are shown.
    #[arg(default = "formatted")]
    render: Render,
}

/// Reads a range of cells as rows; empty cells at the end of a row and empty rows at the end are left out.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/spreadsheets.readonly"], keywords = ["read cells", "range", "content"],
       example = { "spreadsheet": "1sSheetId", "range": "Budget!A1:D20" })]
pub fn get_values(args: GetValues, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let request = api(cx).get(path!("/spreadsheets/{}/values/{}", id, args.range));
    let request = request.query("valueRenderOption", args.render.option());
    let answer = request
        .query("dateTimeRenderOption", "FORMATTED_STRING")
        .fetch()?;
    Ok(shown(&answer))
}

#[derive(Args)]
pub struct BatchGetValues {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Ranges such as `Sheet1!A1:D20` or a sheet's name.
    #[arg(min_items = 1, max_items = 50)]
    ranges: Vec<String>,
    /// How values are shown.
    #[arg(default = "formatted")]
    render: Render,
}

/// Reads several ranges of cells in one call.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/spreadsheets.readonly"], keywords = ["read cells", "several ranges"],
       example = { "spreadsheet": "1sSheetId", "ranges": ["Budget!A1:D1", "Budget!A20:D20"] })]
pub fn batch_get_values(args: BatchGetValues, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let request = api(cx).get(path!("/spreadsheets/{}/values:batchGet", id));
    let answer = request
        .query("ranges", &args.ranges)
        .query("valueRenderOption", args.render.option())
        .query("dateTimeRenderOption", "FORMATTED_STRING")
        .fetch()?;
    let ranges = answer["valueRanges"].as_array().into_iter().flatten();
    Ok(ranges.map(shown).collect())
}

#[derive(Args)]
pub struct UpdateValues {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Where to write, for example `Sheet1!B2` for the upper left corner.
    range: String,
    /// Rows of cells: text, numbers, true or false, null to leave a cell as it is.
    #[arg(min_items = 1, max_items = 5000)]
    values: Vec<Vec<Value>>,
    /// How the values are taken.
    #[arg(default = "entered")]
    input: Input,
}

/// Writes a block of cells from its upper left corner on, over what is there.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["write cells", "set", "fill", "formula"],
       example = { "spreadsheet": "1sSheetId", "range": "Budget!B2", "values": [["Rent", 1200], ["Total", "=SUM(C2:C2)"]] })]
pub fn update_values(args: UpdateValues, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let request = api(cx).put(path!("/spreadsheets/{}/values/{}", id, args.range));
    let answer = request
        .query("valueInputOption", args.input.option())
        .json(&json!({ "values": args.values }))
        .fetch()?;
    let fields = [
        "range=updatedRange",
        "rows=updatedRows",
        "cells=updatedCells",
    ];
    Ok(pick(&answer, &fields))
}

#[derive(Args)]
pub struct Block {
    /// Where to write, for example `Sheet1!B2`.
    range: String,
    /// Rows of cells.
    #[arg(min_items = 1, max_items = 5000)]
    values: Vec<Vec<Value>>,
}

#[derive(Args)]
pub struct BatchUpdateValues {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// What to write where.
    #[arg(min_items = 1, max_items = 100)]
    data: Vec<Block>,
    /// How the values are taken.
    #[arg(default = "entered")]
    input: Input,
}

/// Writes several blocks of cells in one call, all or none.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["write cells", "several ranges"],
       example = { "spreadsheet": "1sSheetId", "data": [{ "range": "Budget!A1", "values": [["Item"]] }] })]
pub fn batch_update_values(args: BatchUpdateValues, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let body = json!({ "valueInputOption": args.input.option(), "data": args.data });
    let request = api(cx).post(path!("/spreadsheets/{}/values:batchUpdate", id));
    let answer = request.json(&body).fetch()?;
    let fields = [
        "rows=totalUpdatedRows",
        "cells=totalUpdatedCells",
        "ranges=responses/*/updatedRange",
    ];
    Ok(pick(&answer, &fields))
}

#[derive(Args)]
pub struct AppendValues {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// A sheet's name, or a range in the table to add to.
    range: String,
    /// Rows of cells, in the order of the columns.
    #[arg(min_items = 1, max_items = 5000)]
    values: Vec<Vec<Value>>,
    /// How the values are taken.
    #[arg(default = "entered")]
    input: Input,
}

/// Adds rows of cells below a table, by position. To give values by column name use google_sheets_append_rows.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["add row", "new line", "log", "insert"],
       example = { "spreadsheet": "1sSheetId", "range": "Budget", "values": [["2026-03-31", "Rent", 1200]] })]
pub fn append_values(args: AppendValues, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    append(cx, &id, &args.range, &args.values, &args.input)
}

/// Adds rows below the table in `range`.
pub fn append(
    cx: &Context,
    id: &str,
    range: &str,
    rows: &[Vec<Value>],
    input: &Input,
) -> Result<Value, ToolError> {
    let answer = api(cx)
        .post(path!("/spreadsheets/{}/values/{}:append", id, range))
        .query("valueInputOption", input.option())
        .query("insertDataOption", "INSERT_ROWS")
        .json(&json!({ "values": rows }))
        .fetch()?;
    let fields = ["range=updates/updatedRange", "rows=updates/updatedRows"];
    Ok(pick(&answer, &fields))
}

#[derive(Args)]
pub struct ClearValues {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Range such as `Sheet1!A2:D20`, or a sheet's name for all of it.
    range: String,
}

/// Empties a range of cells; their formats stay.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["delete content", "erase", "reset"],
       example = { "spreadsheet": "1sSheetId", "range": "Budget!A2:D20" })]
pub fn clear_values(args: ClearValues, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let request = api(cx).post(path!("/spreadsheets/{}/values/{}:clear", id, args.range));
    let answer = request.json(&json!({})).fetch()?;
    Ok(pick(&answer, &["range=clearedRange"]))
}
