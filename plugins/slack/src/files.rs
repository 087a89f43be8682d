//! Files and canvases.

use toolgate_sdk::Blob;
use toolgate_sdk::prelude::*;

use crate::api::{call, slack};

#[derive(Args)]
pub struct ListFiles {
    /// Only of this channel.
    channel: Option<String>,
    /// Only of this person.
    user: Option<String>,
    /// Only of these kinds, separated by commas: images, pdfs, gdocs, zips, snippets, spaces.
    types: Option<String>,
    /// Only from this time on, in seconds since 1970.
    ts_from: Option<String>,
    /// Only until this time, in seconds since 1970.
    ts_to: Option<String>,
    /// Files on a page.
    #[arg(min = 1, max = 200, default = 50)]
    count: u32,
    /// Which page.
    #[arg(min = 1, max = 100, default = 1)]
    page: u32,
}

/// Lists the files of a channel or a person, newest first.
#[tool(effect = "read", scopes = ["files:read"], keywords = ["attachments", "documents", "uploads"],
       example = { "channel": "C024BE91L" })]
pub fn list_files(args: ListFiles, cx: &Context) -> Result<Value, ToolError> {
    let answer = call(slack(cx).get("/files.list").query_fields(&args))?;
    Ok(pick_each(
        &answer["files"],
        &[
            "id",
            "name",
            "title",
            "type=filetype",
            "size",
            "user",
            "created",
            "url=permalink",
        ],
    ))
}

#[derive(Args)]
pub struct GetFileInfo {
    /// Id of the file, for example `F0RD22GQ2`.
    file: String,
}

/// Reads one file's name, kind, size, its channels and its address.
#[tool(effect = "read", scopes = ["files:read"], keywords = ["attachment details"],
       example = { "file": "F0RD22GQ2" })]
pub fn get_file_info(args: GetFileInfo, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/files.info").query_fields(&args))?["file"],
        &[
            "id",
            "name",
            "title",
            "media_type=mimetype",
            "size",
            "user",
            "channels",
            "created",
            "url=permalink",
        ],
    ))
}

/// Deletes a file, for everyone who has it.
#[tool(effect = "destructive", scopes = ["files:write"], keywords = ["remove attachment"],
       example = { "file": "F0RD22GQ2" })]
pub fn delete_file(args: GetFileInfo, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/files.delete").json(&args))?;
    Ok(json!({ "deleted": args.file }))
}

#[derive(Args)]
pub enum CanvasTextForm {
    Markdown,
}

#[derive(Args)]
pub struct CanvasText {
    /// Form of the text.
    #[arg(default = "markdown")]
    r#type: CanvasTextForm,
    /// The text in Markdown.
    markdown: String,
}

#[derive(Args)]
pub struct CreateCanvas {
    /// Title.
    title: Option<String>,
    /// Its text.
    document_content: CanvasText,
    /// Channel to share it in.
    channel_id: Option<String>,
}

/// Makes a canvas, a document in Slack, from Markdown.
#[tool(effect = "write", scopes = ["canvases:write"], keywords = ["new document", "notes page"],
       example = { "title": "Plan", "document_content": {"type": "markdown", "markdown": "# Plan"} })]
pub fn create_canvas(args: CreateCanvas, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/canvases.create").json(&args))?,
        &["canvas=canvas_id"],
    ))
}

#[derive(Args)]
pub struct CreateChannelCanvas {
    /// Id of the channel, for example `C024BE91L`.
    channel_id: String,
    /// Its text.
    document_content: CanvasText,
}

/// Makes the canvas of a channel from Markdown. A channel has one.
#[tool(effect = "write", scopes = ["canvases:write"], keywords = ["channel notes", "document"],
       example = { "channel_id": "C024BE91L", "document_content": {"type": "markdown", "markdown": "# Plan"} })]
pub fn create_channel_canvas(args: CreateChannelCanvas, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/conversations.canvases.create").json(&args))?,
        &["canvas=canvas_id"],
    ))
}

#[derive(Args)]
pub enum EditCanvasChangeOperation {
    InsertAtEnd,
    InsertAtStart,
    InsertAfter,
    InsertBefore,
    Replace,
    Delete,
}

#[derive(Args)]
pub struct EditCanvasChange {
    /// What to do.
    operation: EditCanvasChangeOperation,
    /// Section, from slack_find_canvas_sections; without it `replace` replaces all.
    section_id: Option<String>,
    /// The new text.
    document_content: Option<CanvasText>,
}

#[derive(Args)]
pub struct EditCanvas {
    /// Id of the canvas.
    canvas_id: String,
    /// The changes; one in each call.
    #[arg(min_items = 1, max_items = 1)]
    changes: Vec<EditCanvasChange>,
}

/// Changes a canvas: adds text at its end, begin or beside a section, or replaces or deletes a
/// section.
#[tool(effect = "write", scopes = ["canvases:write"], keywords = ["update document", "append notes"],
       example = { "canvas_id": "F123ABC456", "changes": [{"operation": "insert_at_end", "document_content": {"type": "markdown", "markdown": "- Book a room"}}] })]
pub fn edit_canvas(args: EditCanvas, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/canvases.edit").json(&args))?;
    Ok(json!({ "edited": args.canvas_id }))
}

#[derive(Args)]
pub enum FindCanvasSectionsCriteriaSectionType {
    H1,
    H2,
    H3,
    AnyHeader,
}

#[derive(Args)]
pub struct FindCanvasSectionsCriteria {
    /// Kinds of headings.
    #[arg(min_items = 1, max_items = 3)]
    section_types: Option<Vec<FindCanvasSectionsCriteriaSectionType>>,
    /// Text that it holds.
    contains_text: Option<String>,
}

#[derive(Args)]
pub struct FindCanvasSections {
    /// Id of the canvas.
    canvas_id: String,
    /// What to look for.
    criteria: FindCanvasSectionsCriteria,
}

/// Finds sections of a canvas by the text or the kind of heading, for slack_edit_canvas.
#[tool(effect = "read", queries = ["POST https://slack.com/api/canvases.sections.lookup"], scopes = ["canvases:read"], keywords = ["document sections", "headings"],
       example = { "canvas_id": "F123ABC456", "criteria": {"contains_text": "Budget", "section_types": ["any_header"]} })]
pub fn find_canvas_sections(args: FindCanvasSections, cx: &Context) -> Result<Value, ToolError> {
    let answer = call(slack(cx).post("/canvases.sections.lookup").json(&args))?;
    Ok(pick_each(&answer["sections"], &["id"]))
}

#[derive(Args)]
pub struct DeleteCanvas {
    /// Id of the canvas.
    canvas_id: String,
}

/// Deletes a canvas for good.
#[tool(effect = "destructive", scopes = ["canvases:write"], keywords = ["remove document"],
       example = { "canvas_id": "F123ABC456" })]
pub fn delete_canvas(args: DeleteCanvas, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/canvases.delete").json(&args))?;
    Ok(json!({ "deleted": args.canvas_id }))
}

#[derive(Args)]
pub struct UploadFile {
    /// The file: its handle (`file_...`), or a data URL, `data:text/plain;name=a.txt;base64,aGVsbG8=`.
    #[arg(examples = ["data:text/plain;name=hello.txt;base64,aGVsbG8="])]
    content: String,
    /// Id of the channel to share it in; only the connected app or person has it unless given.
    channel: Option<String>,
    /// Name with its ending; the file's own unless given.
    #[arg(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Title; the name unless given.
    title: Option<String>,
    /// Message beside it, in Slack's own form.
    comment: Option<String>,
    /// Share it in the thread of the message with this ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    thread_ts: Option<String>,
}

/// Uploads a file and shares it in a channel or thread, with a message where one is given.
#[tool(effect = "write", scopes = ["files:write"], keywords = ["attach", "send file", "send document", "image"],
       example = { "content": "data:text/plain;name=hello.txt;base64,aGVsbG8=", "channel": "C024BE91L", "title": "Hello" })]
pub fn upload_file(args: UploadFile, cx: &Context) -> Result<Value, ToolError> {
    let content = Blob::open(&args.content)?;
    let name = args
        .name
        .or_else(|| content.name())
        .unwrap_or_else(|| "file".to_owned());
    let opened = slack(cx)
        .get("/files.getUploadURLExternal")
        .query("filename", &name)
        .query("length", content.size());
    let opened = call(opened)?;
    // The address comes from an answer, so it decides nothing: it has to be Slack's.
    let address = opened["upload_url"].as_str().unwrap_or_default();
    if !address.starts_with("https://files.slack.com/upload/") {
        return Err(ToolError::upstream("Slack opened no upload"));
    }
    let media_type = content.media_type();
    let sent = slack(cx).anonymous().post(Address::url(address));
    sent.blob(&media_type, &content).timeout_ms(25_000).send()?;
    let title = args.title.unwrap_or(name);
    let mut body = json!({ "files": [{ "id": opened["file_id"], "title": title }] });
    for (key, value) in [
        ("channel_id", args.channel),
        ("initial_comment", args.comment),
        ("thread_ts", args.thread_ts),
    ] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    let done = call(slack(cx).post("/files.completeUploadExternal").json(&body))?;
    Ok(pick(&done["files"][0], &["id", "title"]))
}

#[derive(Args)]
pub struct DownloadFile {
    /// Id of the file, for example `F0RD22GQ2`.
    file: String,
}

/// Downloads a file that Slack keeps. Answers with the file.
#[tool(effect = "read", scopes = ["files:read"], keywords = ["fetch document", "get file"],
       example = { "file": "F0RD22GQ2" })]
pub fn download_file(args: DownloadFile, cx: &Context) -> Result<Output, ToolError> {
    let known = call(slack(cx).get("/files.info").query_fields(&args))?;
    let file = &known["file"];
    let address = file["url_private_download"].as_str().unwrap_or_default();
    if !address.starts_with("https://files.slack.com/") {
        return Err(ToolError::invalid(
            "/file",
            "this file is not kept by Slack; open its address in a browser",
        ));
    }
    let content = slack(cx).get(Address::url(address)).download()?;
    let mut told = pick(file, &["id", "name", "media_type=mimetype"]);
    told["bytes"] = json!(content.size());
    Ok(Output::new(told)?.file(content))
}
