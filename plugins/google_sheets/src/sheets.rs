//! Spreadsheets and the sheets in them.

use toolgate_sdk::http::google::file_id;
use toolgate_sdk::prelude::*;

use crate::a1::quoted;
use crate::api::{address, api, batch, sheet, sheets};

#[derive(Args)]
pub struct NewSheet {
    /// Name of the sheet.
    #[arg(min_length = 1, max_length = 100)]
    title: String,
    /// Rows of cells to begin with, the first being the column names.
    #[arg(max_items = 5000)]
    rows: Option<Vec<Vec<Value>>>,
}

#[derive(Args)]
pub struct CreateSpreadsheet {
    /// Name of the spreadsheet.
    #[arg(min_length = 1, max_length = 500)]
    title: String,
    /// Sheets and what stands in them; one empty sheet unless given.
    #[arg(max_items = 20)]
    sheets: Option<Vec<NewSheet>>,
}

/// Creates a spreadsheet in My Drive, with sheets and first rows; answers its id and address.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["new sheet", "table", "workbook"],
       example = { "title": "Budget", "sheets": [{ "title": "2026", "rows": [["Item", "Amount"], ["Rent", 1200]] }] })]
pub fn create_spreadsheet(args: CreateSpreadsheet, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({ "properties": { "title": args.title } });
    let wanted = args.sheets.unwrap_or_default();
    if !wanted.is_empty() {
        let sheets = wanted.iter();
        body["sheets"] = sheets
            .map(|one| json!({ "properties": { "title": one.title } }))
            .collect();
    }
    let request = api(cx).post("/spreadsheets").json(&body);
    let fields = "spreadsheetId,properties.title,sheets.properties(sheetId,title)";
    let made = request.query("fields", fields).fetch()?;
    let id = made["spreadsheetId"].as_str().unwrap_or_default();
    let filled: Vec<Value> = wanted
        .iter()
        .filter_map(|one| {
            let rows = one.rows.as_ref().filter(|rows| !rows.is_empty())?;
            Some(json!({ "range": format!("{}!A1", quoted(&one.title)), "values": rows }))
        })
        .collect();
    if !filled.is_empty() {
        let body = json!({ "valueInputOption": "USER_ENTERED", "data": filled });
        let request = api(cx).post(path!("/spreadsheets/{}/values:batchUpdate", id));
        request.json(&body).send().map_err(|mut error| {
            let left = format!("; the spreadsheet {} was made without values", address(id));
            error.message.push_str(&left);
            error
        })?;
    }
    Ok(json!({
        "spreadsheet": id, "title": made["properties"]["title"], "url": address(id),
        "sheets": pick(&made, &["all=sheets/*/properties/title"])["all"],
    }))
}

#[derive(Args)]
pub struct GetSpreadsheet {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
}

/// Reads the name of a spreadsheet, its sheets with their size and column names, and its named ranges.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/spreadsheets.readonly"], keywords = ["tabs", "structure", "columns", "overview"],
       example = { "spreadsheet": "https://docs.google.com/spreadsheets/d/1sSheetId/edit" })]
pub fn get_spreadsheet(args: GetSpreadsheet, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let request = api(cx).get(path!("/spreadsheets/{}", id));
    let fields = "properties(title,locale,timeZone),sheets.properties,namedRanges(name)";
    let answer = request.query("fields", fields).fetch()?;
    let all = answer["sheets"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let grids: Vec<&Value> = all
        .iter()
        .map(|one| &one["properties"])
        .filter(|one| one["gridProperties"].is_object())
        .collect();
    let ranges = grids.iter().take(30);
    let ranges: Vec<String> = ranges
        .map(|one| format!("{}!1:1", quoted(one["title"].as_str().unwrap_or_default())))
        .collect();
    let mut headers = Value::Null;
    if !ranges.is_empty() {
        let request = api(cx).get(path!("/spreadsheets/{}/values:batchGet", id));
        headers = request.query("ranges", &ranges).fetch()?["valueRanges"].take();
    }
    let sheets = grids.iter().enumerate().map(|(index, one)| {
        let mut out = pick(
            one,
            &[
                "sheet_id=sheetId",
                "title",
                "hidden",
                "rows=gridProperties/rowCount",
                "columns=gridProperties/columnCount",
            ],
        );
        if let Some(first) = headers[index]["values"].get(0) {
            out["first_row"] = first.clone();
        }
        out
    });
    let sheets: Vec<Value> = sheets.collect();
    Ok(json!({
        "spreadsheet": id, "url": address(&id), "title": answer["properties"]["title"],
        "locale": answer["properties"]["locale"], "time_zone": answer["properties"]["timeZone"],
        "sheets": sheets, "named_ranges": pick(&answer, &["all=namedRanges/*/name"])["all"],
    }))
}

#[derive(Args)]
pub struct AddSheet {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Name of the new sheet.
    #[arg(min_length = 1, max_length = 100)]
    title: String,
    /// Column names for its first row.
    #[arg(max_items = 200)]
    columns: Option<Vec<String>>,
}

/// Adds a sheet (a tab) to a spreadsheet, with column names in bold that stay in sight.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["new tab", "worksheet"],
       example = { "spreadsheet": "1sSheetId", "title": "Leads", "columns": ["Name", "Mail"] })]
pub fn add_sheet(args: AddSheet, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let columns = args.columns.unwrap_or_default();
    let mut properties = json!({ "title": args.title });
    if !columns.is_empty() {
        properties["gridProperties"] = json!({ "frozenRowCount": 1 });
    }
    let requests = [json!({ "addSheet": { "properties": properties } })];
    let answer = batch(cx, &id, &requests)?;
    let made = &answer["replies"][0]["addSheet"]["properties"];
    if !columns.is_empty() {
        let cells = columns.iter().map(|name| {
            json!({ "userEnteredValue": { "stringValue": name },
                    "userEnteredFormat": { "textFormat": { "bold": true } } })
        });
        let row = json!({ "values": cells.collect::<Vec<Value>>() });
        let start = json!({ "sheetId": made["sheetId"], "rowIndex": 0, "columnIndex": 0 });
        let fields = "userEnteredValue,userEnteredFormat.textFormat.bold";
        let update = json!({ "updateCells": { "start": start, "rows": [row], "fields": fields } });
        batch(cx, &id, &[update])?;
    }
    Ok(pick(made, &["sheet_id=sheetId", "title", "index"]))
}

#[derive(Args)]
pub struct UpdateSheet {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Name of the sheet.
    sheet: String,
    /// Its new name.
    #[arg(min_length = 1, max_length = 100)]
    title: Option<String>,
    /// Its place among the sheets, 0 being the first.
    #[arg(min = 0, max = 200)]
    index: Option<u32>,
    /// Hide it, or show it again.
    hidden: Option<bool>,
    /// How many rows at the top stay in sight.
    #[arg(min = 0, max = 20)]
    frozen_rows: Option<u32>,
}

/// Renames, moves, hides or shows a sheet, or keeps its first rows in sight.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["rename tab", "reorder", "freeze"],
       example = { "spreadsheet": "1sSheetId", "sheet": "Sheet1", "title": "Leads" })]
pub fn update_sheet(args: UpdateSheet, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let mut properties = json!({});
    let mut fields = Vec::new();
    for (name, value) in [
        ("title", args.title.map(Value::from)),
        ("index", args.index.map(Value::from)),
        ("hidden", args.hidden.map(Value::from)),
    ] {
        if let Some(value) = value {
            properties[name] = value;
            fields.push(name);
        }
    }
    if let Some(rows) = args.frozen_rows {
        properties["gridProperties"] = json!({ "frozenRowCount": rows });
        fields.push("gridProperties.frozenRowCount");
    }
    if fields.is_empty() {
        return Err(ToolError::invalid("", "say what shall change"));
    }
    let all = sheets(cx, &id)?;
    properties["sheetId"] = sheet(&all, &args.sheet, "sheet")?["sheetId"].clone();
    let update = json!({ "updateSheetProperties": { "properties": properties, "fields": fields.join(",") } });
    batch(cx, &id, &[update])?;
    Ok(json!({ "sheet_id": properties["sheetId"], "changed": fields }))
}

#[derive(Args)]
pub struct OneSheet {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Name of the sheet.
    sheet: String,
}

/// Deletes a sheet (a tab) with all that is in it.
#[tool(effect = "destructive", scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["remove tab", "worksheet"],
       example = { "spreadsheet": "1sSheetId", "sheet": "Old" })]
pub fn delete_sheet(args: OneSheet, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let all = sheets(cx, &id)?;
    let found = sheet(&all, &args.sheet, "sheet")?;
    let request = json!({ "deleteSheet": { "sheetId": found["sheetId"] } });
    batch(cx, &id, &[request])?;
    Ok(json!({ "deleted": found["title"] }))
}

#[derive(Args)]
pub struct CopySheet {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Name of the sheet.
    sheet: String,
    /// Id or address of the spreadsheet to copy it to; the same one unless given.
    destination: Option<String>,
}

/// Copies a sheet (a tab) within its spreadsheet or to another one.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["duplicate tab", "template"],
       example = { "spreadsheet": "1sSheetId", "sheet": "Template", "destination": "2sSheetId" })]
pub fn copy_sheet(args: CopySheet, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let to = args.destination.as_deref().unwrap_or(&args.spreadsheet);
    let to = file_id(to, "destination")?;
    let all = sheets(cx, &id)?;
    let sheet_id = &sheet(&all, &args.sheet, "sheet")?["sheetId"];
    let request = api(cx).post(path!("/spreadsheets/{}/sheets/{}:copyTo", id, sheet_id));
    let body = json!({ "destinationSpreadsheetId": to });
    let made = request.json(&body).fetch()?;
    let mut out = pick(&made, &["sheet_id=sheetId", "title"]);
    out["url"] = json!(address(&to));
    Ok(out)
}
