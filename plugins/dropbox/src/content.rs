//! The content of files: read as text, brought out, brought in.

use toolgate_sdk::Blob;
use toolgate_sdk::prelude::*;

use crate::api::{below, content, rpc, shown};
use crate::browse::OnePath;

/// Largest file that is read as text, in bytes.
const TEXT_BYTES_MAX: u64 = 512 * 1024;
/// How much of a large file goes in one request; a multiple of what Dropbox asks for.
const PIECE_BYTES: u64 = 4 * 1024 * 1024;

/// A file's name and size; a folder is refused.
fn file(cx: &Context, path: &str) -> Result<Value, ToolError> {
    let known = rpc(cx, "/files/get_metadata", &json!({ "path": path }))?;
    if known[".tag"] != "file" {
        let text = "that is a folder; dropbox_list_folder shows what is in it";
        return Err(ToolError::invalid("/path", text));
    }
    Ok(known)
}

/// Reads a text file, for example notes, CSV, JSON or code.
#[tool(effect = "read",
    queries = ["POST https://api.dropboxapi.com/2/files/get_metadata", "POST https://content.dropboxapi.com/2/files/download"], scopes = ["files.content.read", "files.metadata.read"], keywords = ["open", "show", "content"], example = { "path": "/notes/today.md" })]
pub fn read_text(args: OnePath, cx: &Context) -> Result<Value, ToolError> {
    let path = args.below()?;
    let known = file(cx, &path)?;
    let size = known["size"].as_u64().unwrap_or(0);
    if size > TEXT_BYTES_MAX {
        let text = format!(
            "the file has {size} bytes, at most {TEXT_BYTES_MAX} are read as text; use dropbox_download_file"
        );
        return Err(ToolError::new(ErrorKind::TooLarge, text));
    }
    let answer = content(cx, "/files/download", &json!({ "path": path })).send()?;
    let Ok(text) = std::str::from_utf8(&answer.body) else {
        let text = "the file is not text; use dropbox_download_file";
        return Err(ToolError::invalid("/path", text));
    };
    let mut out = shown(&known);
    out["text"] = json!(text.trim_start_matches('\u{feff}'));
    Ok(out)
}

/// Downloads a file. Answers with the file.
#[tool(effect = "read",
    queries = ["POST https://api.dropboxapi.com/2/files/get_metadata", "POST https://content.dropboxapi.com/2/files/download"], scopes = ["files.content.read", "files.metadata.read"], keywords = ["get file", "save", "fetch"], example = { "path": "/Reports/may.pdf" })]
pub fn download_file(args: OnePath, cx: &Context) -> Result<Output, ToolError> {
    let path = args.below()?;
    let known = file(cx, &path)?;
    let arrived = content(cx, "/files/download", &json!({ "path": path })).download()?;
    Ok(Output::new(shown(&known))?.file(arrived))
}

/// Makes an address from which anybody can fetch the file for four hours.
#[tool(effect = "read",
    queries = ["POST https://api.dropboxapi.com/2/files/get_temporary_link"], scopes = ["files.content.read"], keywords = ["direct link", "stream", "download link"], example = { "path": "/Reports/may.pdf" })]
pub fn get_temporary_link(args: OnePath, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "path": args.below()? });
    let answer = rpc(cx, "/files/get_temporary_link", &body)?;
    let mut out = shown(&answer["metadata"]);
    out["url"] = answer["link"].clone();
    Ok(out)
}

/// What happens when there is a file under that path.
#[derive(Args)]
pub enum Existing {
    /// Nothing is uploaded.
    Refuse,
    /// The new one takes its place; Dropbox keeps the old version.
    Replace,
    /// The new one gets another name.
    Rename,
}

#[derive(Args)]
pub struct UploadFile {
    /// The file: its handle (`file_...`), or a data URL, `data:text/plain;name=a.txt;base64,aGVsbG8=`.
    #[arg(examples = ["data:text/plain;name=hello.txt;base64,aGVsbG8="])]
    content: String,
    /// Where to put it: a whole path, or a folder ending in `/` to keep the file's name.
    #[arg(min_length = 1, examples = ["/Reports/may.pdf"])]
    path: String,
    /// What happens when there is a file under that path.
    #[arg(default = "refuse")]
    existing: Existing,
}

/// Uploads a file; large ones go in pieces.
#[tool(effect = "write", scopes = ["files.content.write"], keywords = ["save file", "put", "store"],
       example = { "content": "data:text/plain;name=a.txt;base64,aGVsbG8=", "path": "/Reports/a.txt" })]
pub fn upload_file(args: UploadFile, cx: &Context) -> Result<Value, ToolError> {
    let file = Blob::open(&args.content)?;
    let path = if args.path.ends_with('/') {
        let name = file.name().ok_or_else(|| {
            ToolError::invalid("/path", "the file has no name, so give the whole path")
        })?;
        below(&format!("{}{name}", args.path), "path")?
    } else {
        below(&args.path, "path")?
    };
    let (mode, rename) = match args.existing {
        Existing::Refuse => ("add", false),
        Existing::Replace => ("overwrite", false),
        Existing::Rename => ("add", true),
    };
    let commit = json!({ "path": path, "mode": mode, "autorename": rename });
    if file.size() > PIECE_BYTES {
        return in_pieces(cx, &file, &commit);
    }
    let request = content(cx, "/files/upload", &commit);
    Ok(shown(
        &request.blob("application/octet-stream", &file).fetch()?,
    ))
}

/// The bytes from `offset` on, at most one piece.
fn piece(file: &Blob, offset: u64) -> Result<Vec<u8>, ToolError> {
    let mut out = Vec::new();
    while (out.len() as u64) < PIECE_BYTES {
        let part = file.read(
            offset + out.len() as u64,
            toolgate_sdk::blob::READ_BYTES_MAX,
        )?;
        if part.is_empty() {
            break;
        }
        out.extend_from_slice(&part);
    }
    Ok(out)
}

fn in_pieces(cx: &Context, file: &Blob, commit: &Value) -> Result<Value, ToolError> {
    let size = file.size();
    let send = |endpoint: &'static str, arguments: Value, bytes: Vec<u8>| {
        content(cx, endpoint, &arguments)
            .bytes("application/octet-stream", bytes)
            .fetch()
    };
    let first = piece(file, 0)?;
    let mut offset = first.len() as u64;
    let opened = send(
        "/files/upload_session/start",
        json!({ "close": false }),
        first,
    )?;
    let session = opened["session_id"].clone();
    loop {
        cx.progress(offset, Some(size), "uploading");
        let bytes = piece(file, offset)?;
        let length = bytes.len() as u64;
        let cursor = json!({ "session_id": session, "offset": offset });
        if offset + length >= size {
            let arguments = json!({ "cursor": cursor, "commit": commit });
            return Ok(shown(&send(
                "/files/upload_session/finish",
                arguments,
                bytes,
            )?));
        }
        let arguments = json!({ "cursor": cursor, "close": false });
        send("/files/upload_session/append_v2", arguments, bytes)?;
        offset += length;
    }
}
