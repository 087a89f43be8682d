//! Rows of a table by the names of its columns.

use toolgate_sdk::http::google::file_id;
use toolgate_sdk::prelude::*;

use crate::a1::{column_name, quoted};
use crate::api::{Input, api, batch, sheet, sheets};
use crate::cells::append;
use crate::table::{Table, read};

/// Most rows that one call changes or deletes.
const ROWS_MAX: usize = 1000;

#[derive(Args)]
pub struct ReadTable {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Name of the sheet.
    sheet: String,
    /// Only rows that have these values, by column name, for example `{"Status": "open"}`.
    #[arg(rename = "where")]
    conditions: Option<Map<String, Value>>,
    /// Number of the row that holds the column names.
    #[arg(min = 1, max = 100, default = 1)]
    header_row: u32,
    /// Rows that are looked at for a page.
    #[arg(min = 1, max = 2000, default = 200)]
    limit: u32,
}

/// Reads a sheet as a table: each row with its number and its values by column name, all rows or those that match.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/spreadsheets.readonly"], keywords = ["rows", "records", "list", "find row", "lookup", "filter"],
       example = { "spreadsheet": "1sSheetId", "sheet": "Customers", "where": { "Country": "DE" } },
       trigger = { name: "new_row", title: "New row",
                   description: "A row with a higher number was filled: a form or a person added one at the end. Only the first 10,000 rows are seen. Another sheet needs a trigger of its own.",
                   arguments: { limit: 2000 }, items: "", id: ["/row"] })]
pub fn read_table(args: ReadTable, cx: &Context) -> Result<Output, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let header = u64::from(args.header_row);
    let first = cx.page_number(header + 1)?.max(header + 1);
    let last = first + u64::from(args.limit) - 1;
    let table = match read(cx, &id, &args.sheet, header, first, Some(last)) {
        // The page before this one ended with the sheet itself.
        Err(error) if cx.cursor().is_some() && error.message.contains("exceeds grid limits") => {
            return Output::page(json!([]), None);
        }
        other => other?,
    };
    let found = table.matching(&args.conditions.unwrap_or_default())?;
    let found: Vec<Value> = found
        .iter()
        .map(|(n, cells)| table.object(*n, cells))
        .collect();
    // The service leaves out empty rows at the end, so a page that is not full is the last.
    let full = table.rows.len() as u64 == u64::from(args.limit);
    Output::page(found, full.then(|| (last + 1).to_string()))
}

#[derive(Args)]
pub struct AppendRows {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Name of the sheet.
    sheet: String,
    /// Rows as values by column name; columns left out stay empty.
    #[arg(min_items = 1, max_items = 1000)]
    rows: Vec<Map<String, Value>>,
    /// Number of the row that holds the column names.
    #[arg(min = 1, max = 100, default = 1)]
    header_row: u32,
    /// How the values are taken.
    #[arg(default = "entered")]
    input: Input,
}

/// Adds rows to a table, values given by column name; a name that is no column is refused.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["add row", "new record", "log", "insert line"],
       example = { "spreadsheet": "1sSheetId", "sheet": "Customers", "rows": [{ "Name": "Acme", "Country": "DE" }] })]
pub fn append_rows(args: AppendRows, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let header = u64::from(args.header_row);
    let table = read(cx, &id, &args.sheet, header, header, Some(header))?;
    let mut all = Vec::new();
    for (index, row) in args.rows.iter().enumerate() {
        let mut cells = vec![Value::Null; table.columns.len()];
        for (name, value) in row {
            cells[table.column(name, &format!("rows/{index}/{name}"))?] = value.clone();
        }
        all.push(cells);
    }
    let last = column_name(table.columns.len() as u64 - 1);
    let range = format!("{}!A{header}:{last}{header}", quoted(&args.sheet));
    append(cx, &id, &range, &all, &args.input)
}

#[derive(Args)]
pub struct UpdateRows {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Name of the sheet.
    sheet: String,
    /// Which rows: those that have all these values, by column name.
    #[arg(rename = "where", min_properties = 1)]
    conditions: Map<String, Value>,
    /// New values by column name; the other columns stay.
    #[arg(min_properties = 1)]
    set: Map<String, Value>,
    /// Number of the row that holds the column names.
    #[arg(min = 1, max = 100, default = 1)]
    header_row: u32,
    /// Most rows that may match; more are refused, and nothing changes.
    #[arg(min = 1, max = 1000, default = 20)]
    rows_max: u32,
    /// How the values are taken.
    #[arg(default = "entered")]
    input: Input,
}

/// The rows of a whole table that match, refused when they are none or too many.
fn chosen<'a>(
    table: &'a Table,
    conditions: &Map<String, Value>,
    most: u32,
) -> Result<Vec<&'a (u64, Vec<Value>)>, ToolError> {
    if conditions.is_empty() {
        return Err(ToolError::invalid(
            "/where",
            "say which rows: at least one column and its value",
        ));
    }
    let found = table.matching(conditions)?;
    if found.is_empty() {
        return Err(ToolError::not_found("no row has these values"));
    }
    if found.len() > most as usize || found.len() > ROWS_MAX {
        let text = format!(
            "{} rows have these values; say more, or raise rows_max",
            found.len()
        );
        return Err(ToolError::invalid("/where", text));
    }
    Ok(found)
}

/// Changes the rows of a table that have given values: sets some of their columns by name.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["edit row", "set value", "mark", "change record"],
       example = { "spreadsheet": "1sSheetId", "sheet": "Customers", "where": { "Name": "Acme" }, "set": { "Status": "paid" } })]
pub fn update_rows(args: UpdateRows, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    if args.set.is_empty() {
        return Err(ToolError::invalid("/set", "say what shall change"));
    }
    let header = u64::from(args.header_row);
    let table = read(cx, &id, &args.sheet, header, header + 1, None)?;
    let mut cells = Vec::new();
    for (name, value) in &args.set {
        cells.push((table.column(name, "set")? as u64, value));
    }
    let found = chosen(&table, &args.conditions, args.rows_max)?;
    let name = quoted(&args.sheet);
    let mut data = Vec::new();
    for (row, _) in &found {
        for (column, value) in &cells {
            let range = format!("{name}!{}{row}", column_name(*column));
            // Null would leave the cell as it is.
            let value = if value.is_null() {
                json!("")
            } else {
                (*value).clone()
            };
            data.push(json!({ "range": range, "values": [[value]] }));
        }
    }
    let body = json!({ "valueInputOption": args.input.option(), "data": data });
    let request = api(cx).post(path!("/spreadsheets/{}/values:batchUpdate", id));
    request.json(&body).send()?;
    let rows: Vec<u64> = found.iter().map(|row| row.0).collect();
    Ok(json!({ "changed": rows.len(), "rows": rows }))
}

#[derive(Args)]
pub struct DeleteRows {
    /// Id or address of the spreadsheet.
    spreadsheet: String,
    /// Name of the sheet.
    sheet: String,
    /// Which rows: those that have all these values, by column name.
    #[arg(rename = "where", min_properties = 1)]
    conditions: Map<String, Value>,
    /// Number of the row that holds the column names.
    #[arg(min = 1, max = 100, default = 1)]
    header_row: u32,
    /// Most rows that may match; more are refused, and nothing is deleted.
    #[arg(min = 1, max = 1000, default = 1)]
    rows_max: u32,
}

/// Deletes the rows of a table that have given values; the rows below move up.
#[tool(effect = "destructive", scopes = ["https://www.googleapis.com/auth/spreadsheets"], keywords = ["remove row", "delete record"],
       example = { "spreadsheet": "1sSheetId", "sheet": "Customers", "where": { "Name": "Acme" } })]
pub fn delete_rows(args: DeleteRows, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.spreadsheet, "spreadsheet")?;
    let header = u64::from(args.header_row);
    let table = read(cx, &id, &args.sheet, header, header + 1, None)?;
    let found = chosen(&table, &args.conditions, args.rows_max)?;
    let all = sheets(cx, &id)?;
    let sheet_id = sheet(&all, &args.sheet, "sheet")?["sheetId"].clone();
    // From the last on, so that the numbers of the others stay true.
    let requests = found.iter().rev().map(|(row, _)| {
        json!({ "deleteDimension": { "range": {
            "sheetId": sheet_id, "dimension": "ROWS", "startIndex": row - 1, "endIndex": row,
        } } })
    });
    let requests: Vec<Value> = requests.collect();
    batch(cx, &id, &requests)?;
    let rows: Vec<Value> = found
        .iter()
        .map(|(n, cells)| table.object(*n, cells))
        .collect();
    Ok(json!({ "deleted": rows }))
}
