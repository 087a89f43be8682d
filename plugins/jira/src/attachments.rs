//! Files attached to issues.

use toolgate_sdk::Blob;
use toolgate_sdk::http::form_data;
use toolgate_sdk::prelude::*;

use crate::api::jira;
use crate::issues::OneIssue;

/// Largest file that is attached, in bytes.
const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;

const ATTACHMENT: &[&str] = &[
    "id",
    "name=filename",
    "media_type=mimeType",
    "bytes=size",
    "by=author/displayName",
    "created",
];

/// Lists the files of an issue with name, type and size.
#[tool(effect = "read", keywords = ["files", "screenshots", "documents"],
       example = { "issue": "ED-1" })]
pub fn list_attachments(args: OneIssue, cx: &Context) -> Result<Value, ToolError> {
    let request = jira(cx).get(path!("/issue/{}", args.issue));
    let issue = request.query("fields", "attachment").fetch()?;
    Ok(pick_each(&issue["fields"]["attachment"], ATTACHMENT))
}

#[derive(Args)]
pub struct OneAttachment {
    /// Id of the attachment, as jira_list_attachments shows it.
    #[arg(pattern = "^[0-9]+$", examples = ["10001"])]
    attachment: String,
}

/// Downloads a file of an issue. Returns the file.
#[tool(effect = "read", keywords = ["get file", "open screenshot", "save attachment of issue"],
       example = { "attachment": "10001" })]
pub fn download_attachment(args: OneAttachment, cx: &Context) -> Result<Output, ToolError> {
    let known = jira(cx)
        .get(path!("/attachment/{}", args.attachment))
        .fetch()?;
    let request = jira(cx).get(path!("/attachment/content/{}", args.attachment));
    // Without this Jira answers with a redirect to another host.
    let content = request
        .query("redirect", false)
        .header("accept", "*/*")
        .download()?;
    Ok(Output::new(pick(&known, ATTACHMENT))?.file(content))
}

#[derive(Args)]
pub struct AddAttachment {
    /// Key of the issue.
    issue: String,
    /// The file, at most 10 MiB: its handle (`file_...`), or a data URL.
    #[arg(examples = ["data:text/plain;name=hello.txt;base64,aGVsbG8="])]
    content: String,
    /// Name with its ending; the file's own unless given.
    #[arg(min_length = 1, max_length = 200)]
    name: Option<String>,
}

/// Attaches a file to an issue.
#[tool(effect = "write", keywords = ["upload file", "add screenshot", "attach"],
       example = { "issue": "ED-1", "content": "data:text/plain;name=hello.txt;base64,aGVsbG8=" })]
pub fn add_attachment(args: AddAttachment, cx: &Context) -> Result<Value, ToolError> {
    let content = Blob::open(&args.content)?;
    if content.size() > FILE_BYTES_MAX {
        let text = "the file is larger than 10 MiB";
        return Err(ToolError::new(ErrorKind::TooLarge, text));
    }
    let name = args.name.or_else(|| content.name());
    let name = name.unwrap_or_else(|| "file".to_owned());
    let bytes = content.read_all(FILE_BYTES_MAX)?;
    let (form_type, form) = form_data::with_file("file", &name, &content.media_type(), &bytes);
    let made = jira(cx)
        .post(path!("/issue/{}/attachments", args.issue))
        .header("x-atlassian-token", "no-check")
        .bytes(&form_type, form)
        .timeout_ms(25_000)
        .fetch()?;
    Ok(pick(&made[0], ATTACHMENT))
}

/// Deletes a file of an issue.
#[tool(effect = "destructive", idempotent, keywords = ["remove file"],
       example = { "attachment": "10001" })]
pub fn delete_attachment(args: OneAttachment, cx: &Context) -> Result<Value, ToolError> {
    jira(cx)
        .delete(path!("/attachment/{}", args.attachment))
        .send()?;
    Ok(json!({ "deleted": args.attachment }))
}
