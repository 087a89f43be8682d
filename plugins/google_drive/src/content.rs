//! The content of files: read as text, brought out, brought in.

use toolgate_sdk::Blob;
use toolgate_sdk::prelude::*;

use crate::api::{FIELDS, api, file, id_of, shown};
use crate::formats::{converted, exports, is_google, is_text, usual};

/// Longest text that one answer holds, in characters.
const TEXT_CHARS_MAX: usize = 100_000;
/// Largest file that is read as text, in bytes.
const TEXT_BYTES_MAX: u64 = 4 * 1024 * 1024;

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn wrong_format(media_type: &str) -> ToolError {
    let known: Vec<&str> = exports(media_type).iter().map(|format| format.0).collect();
    let text = if known.is_empty() {
        format!("a file of type {media_type} cannot be exported")
    } else {
        format!("this file can be exported as {}", known.join(", "))
    };
    ToolError::invalid("/format", text)
}

#[derive(Args)]
pub struct ReadText {
    /// Id or address of the file.
    file: String,
}

/// Reads the text of a file: a Google document as Markdown, a sheet as CSV, slides as text, a text file as it is.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["open", "content", "show document", "what does it say"], example = { "file": "1a2B3cD4eF" })]
pub fn read_text(args: ReadText, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let known = file(cx, &id, "id,name,mimeType,size")?;
    let media_type = word(&known["mimeType"]);
    let size: u64 = word(&known["size"]).parse().unwrap_or(0);
    let (form, answer) = match exports(media_type).first() {
        Some((_, export)) if is_text(export) => {
            let request = api(cx).get(path!("/drive/v3/files/{}/export", id));
            (*export, request.query("mimeType", *export).send()?)
        }
        _ if !is_text(media_type) => {
            let text = format!(
                "a file of type {media_type} holds no plain text; use google_drive_download_file"
            );
            return Err(ToolError::invalid("/file", text));
        }
        _ if size > TEXT_BYTES_MAX => {
            let text = format!(
                "the file has {size} bytes; at most {TEXT_BYTES_MAX} are read as text, use google_drive_download_file"
            );
            return Err(ToolError::new(ErrorKind::TooLarge, text));
        }
        _ => {
            let request = api(cx).get(path!("/drive/v3/files/{}", id));
            let request = request
                .query("alt", "media")
                .query("supportsAllDrives", true);
            (media_type, request.send()?)
        }
    };
    let text = answer.text();
    let text = text.trim_start_matches('\u{feff}');
    let end = text.char_indices().nth(TEXT_CHARS_MAX).map(|(at, _)| at);
    let mut out = json!({
        "id": id, "name": known["name"], "media_type": form,
        "text": text[..end.unwrap_or(text.len())],
    });
    if end.is_some() {
        out["truncated"] = json!(true);
    }
    Ok(out)
}

#[derive(Args)]
pub struct DownloadFile {
    /// Id or address of the file.
    file: String,
}

/// Downloads a file; Google's own formats come as docx, xlsx, pptx or svg. Answers with the file.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["get file", "save", "fetch"], example = { "file": "1a2B3cD4eF" })]
pub fn download_file(args: DownloadFile, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.file, "file")?;
    let known = file(cx, &id, "id,name,mimeType")?;
    let media_type = word(&known["mimeType"]);
    if is_google(media_type) {
        let format = usual(media_type).ok_or_else(|| wrong_format(media_type))?;
        return export(cx, &id, word(&known["name"]), format);
    }
    let request = api(cx).get(path!("/drive/v3/files/{}", id));
    let request = request
        .query("alt", "media")
        .query("supportsAllDrives", true);
    handed(request.download()?, &id, word(&known["name"]), media_type)
}

#[derive(Args)]
pub struct ExportFile {
    /// Id or address of a Google document, sheet, presentation or drawing.
    file: String,
    /// Into what: `md`, `docx`, `pdf`, `txt`, `html`, `odt`, `rtf`, `epub`, `csv`, `tsv`, `xlsx`, `ods`,
    /// `pptx`, `odp`, `png`, `jpg` or `svg`, as far as it fits the file.
    #[arg(pattern = "^[a-z]{2,4}$", examples = ["pdf"])]
    format: String,
}

/// Exports a Google document, sheet, presentation or drawing as PDF, Word, Excel, Markdown, CSV and others. Answers with the file.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["convert", "save as pdf", "docx", "xlsx"], example = { "file": "1a2B3cD4eF", "format": "pdf" })]
pub fn export_file(args: ExportFile, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.file, "file")?;
    let known = file(cx, &id, "id,name,mimeType")?;
    let media_type = word(&known["mimeType"]);
    let format = exports(media_type)
        .iter()
        .find(|format| format.0 == args.format);
    let format = format.ok_or_else(|| wrong_format(media_type))?;
    export(cx, &id, word(&known["name"]), *format)
}

fn export(cx: &Context, id: &str, name: &str, format: (&str, &str)) -> Result<Output, ToolError> {
    let request = api(cx).get(path!("/drive/v3/files/{}/export", id));
    let request = request.query("mimeType", format.1);
    handed(
        request.download()?,
        id,
        &format!("{name}.{}", format.0),
        format.1,
    )
}

fn handed(content: Blob, id: &str, name: &str, media_type: &str) -> Result<Output, ToolError> {
    let told = json!({ "id": id, "name": name, "media_type": media_type, "bytes": content.size() });
    Ok(Output::new(told)?.file(content))
}

/// Opens an upload and sends the content from the host; the file is there when all of it has arrived.
fn upload(
    cx: &Context,
    start: toolgate_sdk::http::Request<'_>,
    body: &Value,
    content: &Blob,
) -> Result<Value, ToolError> {
    let opened = start
        .query("uploadType", "resumable")
        .query("supportsAllDrives", true)
        .query("fields", FIELDS)
        .header("x-upload-content-type", content.media_type())
        .json(body)
        .send()?;
    let session = opened.header("location").map(str::to_owned);
    let session = session.filter(|url| url.starts_with("https://www.googleapis.com/"));
    let session = session.ok_or_else(|| ToolError::upstream("the service opened no upload"))?;
    let media_type = content.media_type();
    let request = api(cx)
        .put(Address::url(session))
        .blob(&media_type, content);
    request.timeout_ms(25_000).fetch()
}

#[derive(Args)]
pub struct UploadFile {
    /// The file: its handle (`file_...`), or a data URL, `data:text/plain;name=a.txt;base64,aGVsbG8=`.
    #[arg(examples = ["data:text/plain;name=hello.txt;base64,aGVsbG8="])]
    content: String,
    /// Name with its ending; the file's own unless given.
    #[arg(min_length = 1, max_length = 500)]
    name: Option<String>,
    /// Id or address of the folder to put it into; the top of My Drive unless given.
    folder: Option<String>,
    /// Turn it into a Google document, sheet or presentation: Word, Markdown, text, HTML, CSV, Excel, PowerPoint.
    #[arg(default = false)]
    convert: bool,
    /// A few words about it.
    description: Option<String>,
}

/// Uploads a file to Drive, as it is or turned into a Google document, sheet or presentation.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["save file", "put", "store", "import"],
       example = { "content": "data:text/markdown;name=notes.md;base64,IyBOb3Rlcw==", "convert": true })]
pub fn upload_file(args: UploadFile, cx: &Context) -> Result<Value, ToolError> {
    let content = Blob::open(&args.content)?;
    let name = args
        .name
        .or_else(|| content.name())
        .unwrap_or_else(|| "untitled".to_owned());
    let mut body = json!({ "name": name });
    if args.convert {
        let to = converted(&content.media_type(), &name).ok_or_else(|| {
            let text =
                format!("`{name}` cannot be turned into a Google format; upload it as it is");
            ToolError::invalid("/convert", text)
        })?;
        body["mimeType"] = json!(to);
    }
    if let Some(folder) = &args.folder {
        body["parents"] = json!([id_of(folder, "folder")?]);
    }
    if let Some(description) = args.description {
        body["description"] = json!(description);
    }
    let start = api(cx).post("/upload/drive/v3/files");
    Ok(shown(&upload(cx, start, &body, &content)?))
}

#[derive(Args)]
pub struct CreateTextFile {
    /// Name with its ending, for example `notes.md`.
    #[arg(min_length = 1, max_length = 500)]
    name: String,
    /// The text, at most 1,000,000 characters.
    #[arg(max_length = 1000000)]
    text: String,
    /// Id or address of the folder to put it into; the top of My Drive unless given.
    folder: Option<String>,
    /// Turn Markdown, text or HTML into a Google document and CSV into a sheet.
    #[arg(default = false)]
    convert: bool,
}

/// Creates a file from text: Markdown, CSV, JSON, HTML or plain. With `convert` it becomes a Google document or sheet.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["new document", "save note", "write file", "markdown", "csv"],
       example = { "name": "notes.md", "text": "# Notes\n- one", "convert": true })]
pub fn create_text_file(args: CreateTextFile, cx: &Context) -> Result<Value, ToolError> {
    let ending = args
        .name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    let media_type = match ending.as_deref() {
        Some("md") => "text/markdown",
        Some("csv") => "text/csv",
        Some("html" | "htm") => "text/html",
        Some("json") => "application/json",
        _ => "text/plain",
    };
    let mut body = json!({ "name": args.name });
    if args.convert {
        let to = converted(media_type, &args.name).ok_or_else(|| {
            let text = format!("`{}` cannot be turned into a Google format", args.name);
            ToolError::invalid("/convert", text)
        })?;
        body["mimeType"] = json!(to);
    }
    if let Some(folder) = &args.folder {
        body["parents"] = json!([id_of(folder, "folder")?]);
    }
    let content = Blob::create(media_type, Some(&args.name), args.text.as_bytes())?;
    let start = api(cx).post("/upload/drive/v3/files");
    Ok(shown(&upload(cx, start, &body, &content)?))
}

#[derive(Args)]
pub struct UpdateFileContent {
    /// Id or address of the file.
    file: String,
    /// The new content: the handle of a file (`file_...`), or a data URL.
    #[arg(examples = ["data:text/plain;name=hello.txt;base64,aGVsbG8="])]
    content: String,
}

/// Puts new content into a file; its id, name and sharing stay, and Drive keeps the old version.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["replace", "overwrite", "new version"],
       example = { "file": "1a2B3cD4eF", "content": "data:text/plain;name=a.txt;base64,aGVsbG8=" })]
pub fn update_file_content(args: UpdateFileContent, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let content = Blob::open(&args.content)?;
    let start = api(cx).patch(path!("/upload/drive/v3/files/{}", id));
    Ok(shown(&upload(cx, start, &json!({}), &content)?))
}
