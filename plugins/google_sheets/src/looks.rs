//! How cells look and stand: formats, order, and batches by hand.

use toolgate_sdk::http::google::{file_id, rgb};
use toolgate_sdk::prelude::*;

use crate::api::{batch, grid_range};

/// How a number is shown.
#[derive(Args)]
pub enum NumberFormat {
    Number,
    Currency,
    Percent,
    Date,
    DateTime,
    Text,
}

impl NumberFormat {
    fn word(&self) -> &'static str {
        match self {
            Self::Number => "NUMBER",
            Self::Currency => "CURRENCY",
            Self::Percent => "PERCENT",
            Self::Date => "DATE",
            Self::DateTime => "DATE_TIME",
            Self::Text => "TEXT",
        }
    }
}

#[derive(Args)]
pub enum Align {
    Left,
    Center,
    Right,
}

#[derive(Args)]
pub struct FormatRange {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Range such as `Sheet1!A1:D1`, `Sheet1!C:C`, or a sheet's name for all of it.
    range: String,
    /// Bold, or no longer.
    bold: Option<bool>,
    /// Italic, or no longer.
    italic: Option<bool>,
    /// Colour behind the text, for example `#fff2cc`.
    #[arg(pattern = "^#[0-9a-fA-F]{6}$")]
    background: Option<String>,
    /// Colour of the text.
    #[arg(pattern = "^#[0-9a-fA-F]{6}$")]
    color: Option<String>,
    /// How numbers are shown.
    number_format: Option<NumberFormat>,
    /// Pattern for the numbers, for example `#,##0.00 "EUR"` or `yyyy-mm-dd`.
    number_pattern: Option<String>,
    /// Where the text stands.
    align: Option<Align>,
    /// Break long text within the cell, or no longer.
    wrap: Option<bool>,
}

/// Sets how a range of cells looks: bold, colours, number format, alignment. What is not given stays.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["style", "highlight", "currency", "percent", "header"],
       example = { "spreadsheet": "1sSheetId", "range": "Budget!A1:D1", "bold": true, "background": "#fff2cc" })]
pub fn format_range(args: FormatRange, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let mut format = json!({});
    let mut fields = Vec::new();
    for (name, value) in [("bold", args.bold), ("italic", args.italic)] {
        if let Some(value) = value {
            format["textFormat"][name] = json!(value);
            fields.push(format!("userEnteredFormat.textFormat.{name}"));
        }
    }
    if let Some(color) = args.color.as_deref().and_then(color) {
        format["textFormat"]["foregroundColorStyle"] = color;
        fields.push("userEnteredFormat.textFormat.foregroundColorStyle".to_owned());
    }
    if let Some(color) = args.background.as_deref().and_then(color) {
        format["backgroundColorStyle"] = color;
        fields.push("userEnteredFormat.backgroundColorStyle".to_owned());
    }
    if args.number_format.is_some() || args.number_pattern.is_some() {
        let kind = args
            .number_format
            .as_ref()
            .map_or("NUMBER", NumberFormat::word);
        format["numberFormat"] = json!({ "type": kind });
        if let Some(pattern) = args.number_pattern {
            format["numberFormat"]["pattern"] = json!(pattern);
        }
        fields.push("userEnteredFormat.numberFormat".to_owned());
    }
    if let Some(align) = args.align {
        format["horizontalAlignment"] = json!(match align {
            Align::Left => "LEFT",
            Align::Center => "CENTER",
            Align::Right => "RIGHT",
        });
        fields.push("userEnteredFormat.horizontalAlignment".to_owned());
    }
    if let Some(wrap) = args.wrap {
        format["wrapStrategy"] = json!(if wrap { "WRAP" } else { "OVERFLOW_CELL" });
        fields.push("userEnteredFormat.wrapStrategy".to_owned());
    }
    if fields.is_empty() {
        return Err(ToolError::invalid("", "say how the cells shall look"));
    }
    let range = grid_range(cx, &id, &args.range)?;
    let request = json!({ "repeatCell": {
        "range": range, "cell": { "userEnteredFormat": format }, "fields": fields.join(","),
    } });
    batch(cx, &id, &[request])?;
    Ok(json!({ "formatted": args.range }))
}

/// `#rrggbb` as the API takes colours.
fn color(hex: &str) -> Option<Value> {
    Some(json!({ "rgbColor": rgb(hex)? }))
}

#[derive(Args)]
pub struct SortRange {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// The rows to sort, without the column names, for example `Customers!A2:F`.
    range: String,
    /// Column to sort by, as a letter.
    #[arg(pattern = "^[A-Za-z]{1,3}$")]
    column: String,
    /// Largest first.
    #[arg(default = false)]
    descending: bool,
}

/// Sorts the rows of a range by one column.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["order", "arrange"],
       example = { "spreadsheet": "1sSheetId", "range": "Customers!A2:F", "column": "C" })]
pub fn sort_range(args: SortRange, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let column = crate::a1::parse(&format!("{0}:{0}", args.column))?
        .columns
        .0;
    let range = grid_range(cx, &id, &args.range)?;
    let order = if args.descending {
        "DESCENDING"
    } else {
        "ASCENDING"
    };
    let request = json!({ "sortRange": {
        "range": range, "sortSpecs": [{ "dimensionIndex": column, "sortOrder": order }],
    } });
    batch(cx, &id, &[request])?;
    Ok(json!({ "sorted": args.range }))
}

#[derive(Args)]
pub struct BatchUpdate {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Requests of the Sheets API in its own form, for what no other tool does, such as charts,
    /// filters, merged cells, protected ranges or conditional formats.
    #[arg(min_items = 1, max_items = 200)]
    requests: Vec<Map<String, Value>>,
}

/// Sends requests of the Sheets API as they are, all or none.
#[tool(effect = "destructive", scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["raw", "advanced", "chart", "merge cells", "protect"],
       example = { "spreadsheet": "1sSheetId", "requests": [{ "mergeCells": { "range": { "sheetId": 0, "endRowIndex": 1 }, "mergeType": "MERGE_ALL" } }] })]
pub fn batch_update_spreadsheet(args: BatchUpdate, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let requests: Vec<Value> = args.requests.into_iter().map(Value::Object).collect();
    let answer = batch(cx, &id, &requests)?;
    Ok(json!({ "replies": answer["replies"] }))
}
