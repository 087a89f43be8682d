//! Files of items.

use toolgate_sdk::Blob;
use toolgate_sdk::http::form_data;
use toolgate_sdk::prelude::*;

use crate::api::{VERSION, ask, first};
use crate::structure::column_of;

/// Largest file that one request carries.
const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;
const FILE: [&str; 6] = [
    "id",
    "name",
    "bytes=file_size",
    "created_at",
    "by=uploaded_by/name",
    "url=public_url",
];

#[derive(Args)]
pub struct ListFiles {
    /// Id of the item.
    item_id: String,
}

/// Lists the files of an item, with addresses from which anybody can fetch them for an hour.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["boards:read", "assets:read"],
       keywords = ["attachments", "documents", "images"], example = { "item_id": "1234567891" })]
pub fn list_files(args: ListFiles, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query($id: ID!) { items(ids: [$id]) { assets(assets_source: all) { \
        id name file_size created_at public_url uploaded_by { name } } } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.item_id }))?;
    let item = first(&answer["items"], "item", &args.item_id)?;
    Ok(pick_each(&item["assets"], &FILE))
}

#[derive(Args)]
pub struct AddFile {
    /// Id of the item.
    item_id: String,
    /// File column to put it into, by title or id.
    column: String,
    /// The file, 10 MB at most: its handle (`file_...`), or a data URL.
    content: String,
    /// Name with its ending; the file's own unless given.
    #[arg(min_length = 1, max_length = 200)]
    name: Option<String>,
}

/// Puts a file into a file column of an item.
#[tool(effect = "write", scopes = ["boards:write"], keywords = ["attach", "upload", "image", "document"],
       example = { "item_id": "1234567891", "column": "Files", "content": "data:text/plain;name=hello.txt;base64,aGVsbG8=" })]
pub fn add_file(args: AddFile, cx: &Context) -> Result<Value, ToolError> {
    const BOARD: &str = "query($id: ID!) { items(ids: [$id]) { board { id } } }";
    let answer = ask(cx, BOARD, json!({ "id": args.item_id }))?;
    let item = first(&answer["items"], "item", &args.item_id)?;
    let board = item["board"]["id"].as_str().unwrap_or_default();
    let column = column_of(cx, board, &args.column)?;
    let content = Blob::open(&args.content)?;
    if content.size() > FILE_BYTES_MAX {
        let text = "the file is larger than 10 MiB";
        return Err(ToolError::new(ErrorKind::TooLarge, text));
    }
    let name = args.name.or_else(|| content.name());
    let name = name.unwrap_or_else(|| "file".to_owned());
    let bytes = content.read_all(FILE_BYTES_MAX)?;
    // Ids and columns as JSON texts, which are GraphQL texts too: this form takes no variable beside the file.
    let mutation = format!(
        "mutation($file: File!) {{ add_file_to_column(file: $file, item_id: {}, column_id: {}) {{ id name file_size }} }}",
        json!(args.item_id),
        json!(column)
    );
    let (form_type, form) = form_data::with_fields(
        &[("query", &mutation)],
        "variables[file]",
        &name,
        &content.media_type(),
        &bytes,
    );
    let made = cx
        .client("https://api.monday.com")
        .header("api-version", VERSION)
        .post("/v2/file")
        .bytes(&form_type, form)
        .timeout_ms(25_000)
        .fetch()?;
    let file = &made["data"]["add_file_to_column"];
    if !file.is_object() {
        let why = made.pointer("/errors/0/message").and_then(Value::as_str);
        let why = why.unwrap_or("monday.com did not keep the file");
        return Err(ToolError::new(ErrorKind::Upstream, why.to_owned()));
    }
    Ok(pick(file, &["id", "name", "bytes=file_size"]))
}
