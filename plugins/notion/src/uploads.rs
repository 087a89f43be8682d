//! Files brought into Notion and put into pages.

use toolgate_sdk::Blob;
use toolgate_sdk::http::form_data;
use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};

/// Largest file that is sent, in bytes. Notion's free plan takes no more.
const FILE_BYTES_MAX: u64 = 5 * 1024 * 1024;

const UPLOAD: &[&str] = &[
    "id",
    "status",
    "name=filename",
    "media_type=content_type",
    "bytes=content_length",
    "expires=expiry_time",
];

/// The block that shows a file of this media type.
fn block_of(media_type: &str) -> &'static str {
    match media_type.split('/').next() {
        Some("image") => "image",
        Some("video") => "video",
        Some("audio") => "audio",
        _ if media_type == "application/pdf" => "pdf",
        _ => "file",
    }
}

/// Appends a block with an uploaded file to a page.
fn attach(cx: &Context, page: &str, upload: &str, media_type: &str) -> Result<(), ToolError> {
    let kind = block_of(media_type);
    let file = json!({ "type": "file_upload", "file_upload": { "id": upload } });
    let body = json!({ "children": [{ "object": "block", "type": kind, kind: file }] });
    let request = notion(cx).patch(path!("/blocks/{}/children", page));
    request.json(&body).send()?;
    Ok(())
}

#[derive(Args)]
pub struct UploadFile {
    /// The file, at most 5 MiB: its handle (`file_...`), or a data URL.
    #[arg(examples = ["data:text/plain;name=hello.txt;base64,aGVsbG8="])]
    content: String,
    /// Id or address of the page to whose end it is added.
    page: String,
    /// Name with its ending; the file's own unless given.
    #[arg(min_length = 1, max_length = 200)]
    name: Option<String>,
}

/// Uploads a file or image and adds it to the end of a page.
#[tool(effect = "write", keywords = ["attach", "image", "picture", "attachment", "pdf"],
       example = { "content": "data:text/plain;name=hello.txt;base64,aGVsbG8=", "page": "be633bf1dfa0436db259571129a590e5" })]
pub fn upload_file(args: UploadFile, cx: &Context) -> Result<Value, ToolError> {
    let page = id_of(&args.page, "page")?;
    let content = Blob::open(&args.content)?;
    if content.size() > FILE_BYTES_MAX {
        let text = "the file is larger than 5 MiB";
        return Err(ToolError::new(ErrorKind::TooLarge, text));
    }
    let name = args.name.or_else(|| content.name());
    let name = name.unwrap_or_else(|| "file".to_owned());
    let media_type = content.media_type();
    let body = json!({ "mode": "single_part", "filename": name, "content_type": media_type });
    let made = notion(cx).post("/file_uploads").json(&body).fetch()?;
    let id = made["id"].as_str().unwrap_or_default();
    let bytes = content.read_all(FILE_BYTES_MAX)?;
    let (form_type, form) = form_data::with_file("file", &name, &media_type, &bytes);
    let sent = notion(cx)
        .post(path!("/file_uploads/{}/send", id))
        .bytes(&form_type, form)
        .timeout_ms(25_000)
        .fetch()?;
    attach(cx, &page, id, &media_type)?;
    let mut out = pick(&sent, UPLOAD);
    out["page"] = json!(page);
    Ok(out)
}

#[derive(Args)]
pub struct ImportFile {
    /// Address of the file on the web, readable without a login.
    #[arg(format = "uri", pattern = "^https://")]
    url: String,
    /// Name with its ending; Notion tells the type by it.
    #[arg(min_length = 1, max_length = 200, pattern = "\\.[A-Za-z0-9]{1,8}$", examples = ["report.pdf"])]
    name: String,
}

/// Lets Notion fetch a file from the web. It is ready when notion_get_file_upload shows the status `uploaded`.
#[tool(effect = "write", keywords = ["upload from url", "save image"],
       example = { "url": "https://example.com/report.pdf", "name": "report.pdf" })]
pub fn import_file(args: ImportFile, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "mode": "external_url", "external_url": args.url, "filename": args.name });
    let made = notion(cx).post("/file_uploads").json(&body).fetch()?;
    Ok(pick(&made, UPLOAD))
}

#[derive(Args)]
pub struct OneUpload {
    /// Id of the upload, as notion_import_file and notion_list_file_uploads show it.
    upload: String,
}

/// Reads whether an uploaded file is ready, and its name, type and size.
#[tool(effect = "read", keywords = ["upload status"],
       example = { "upload": "b52b8ed6-e029-4707-a671-832549c09de3" })]
pub fn get_file_upload(args: OneUpload, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.upload, "upload")?;
    let request = notion(cx).get(path!("/file_uploads/{}", id));
    Ok(pick(&request.fetch()?, UPLOAD))
}

#[derive(Args)]
pub enum Status {
    Pending,
    Uploaded,
    Expired,
    Failed,
}

#[derive(Args)]
pub struct ListFileUploads {
    /// Only uploads in this state.
    status: Option<Status>,
    /// Uploads on a page.
    #[arg(min = 1, max = 100, default = 25)]
    page_size: u32,
}

/// Lists the files that this connection uploaded, newest first.
#[tool(effect = "read", paginated, keywords = ["attachments", "uploaded files"],
       example = { "status": "uploaded" })]
pub fn list_file_uploads(args: ListFileUploads, cx: &Context) -> Result<Output, ToolError> {
    let request = notion(cx).get("/file_uploads").query_fields(&args);
    let answer = request.query("start_cursor", cx.cursor()).fetch()?;
    Output::page(pick_each(&answer["results"], UPLOAD), next_cursor(&answer))
}

#[derive(Args)]
pub struct AttachUpload {
    /// Id of an upload with the status `uploaded`.
    upload: String,
    /// Id or address of the page to whose end it is added.
    page: String,
}

/// Adds an uploaded file or image to the end of a page.
#[tool(effect = "write", keywords = ["insert image", "attachment"],
       example = { "upload": "b52b8ed6-e029-4707-a671-832549c09de3", "page": "be633bf1dfa0436db259571129a590e5" })]
pub fn attach_upload(args: AttachUpload, cx: &Context) -> Result<Value, ToolError> {
    let page = id_of(&args.page, "page")?;
    let id = id_of(&args.upload, "upload")?;
    let upload = notion(cx).get(path!("/file_uploads/{}", id)).fetch()?;
    let media_type = upload["content_type"].as_str().unwrap_or_default();
    attach(cx, &page, &id, media_type)?;
    let mut out = pick(&upload, UPLOAD);
    out["page"] = json!(page);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::block_of;

    #[test]
    fn a_file_is_shown_by_its_kind() {
        for (media_type, block) in [
            ("image/png", "image"),
            ("application/pdf", "pdf"),
            ("text/plain", "file"),
        ] {
            assert_eq!(block_of(media_type), block);
        }
    }
}
