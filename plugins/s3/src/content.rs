//! The content of objects: text in and out, files in and out.

use toolgate_sdk::Blob;
use toolgate_sdk::prelude::*;

use crate::address;
use crate::api::s3;
use crate::objects::OneObject;

/// Most that is read of an object as text, in bytes.
const TEXT_BYTES_MAX: u64 = 256 * 1024;

/// Reads an object as text, at most its first 256 KiB.
#[tool(effect = "read", keywords = ["open", "show", "csv", "json", "log file"], example = { "bucket": "acme-reports", "key": "2026/summary.csv" })]
pub fn read_text(args: OneObject, cx: &Context) -> Result<Value, ToolError> {
    let request = s3(cx)?.get(args.address()?);
    // An empty object has no first byte to ask for.
    let last = TEXT_BYTES_MAX - 1;
    let answer = request.header("range", format!("bytes=0-{last}")).send();
    let answer = match answer {
        Err(error) if error.code.as_deref() == Some("InvalidRange") => {
            return Ok(json!({ "key": args.key(), "text": "", "bytes": 0 }));
        }
        other => other?,
    };
    let whole = answer
        .header("content-range")
        .and_then(|range| range.rsplit_once('/')?.1.parse::<u64>().ok());
    let bytes = whole.unwrap_or(answer.body.len() as u64);
    let cut = bytes > answer.body.len() as u64;
    // A cut may fall into the middle of a character.
    let text = match std::str::from_utf8(&answer.body) {
        Ok(text) => text,
        Err(error) if cut && answer.body.len() - error.valid_up_to() < 4 => {
            std::str::from_utf8(&answer.body[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => {
            let text = "the object is not text; use s3_download_object";
            return Err(ToolError::invalid("/key", text));
        }
    };
    let mut out = json!({ "key": args.key(), "text": text, "bytes": bytes });
    if cut {
        out["truncated"] = json!(true);
    }
    Ok(out)
}

/// Downloads an object. Answers with the file.
#[tool(effect = "read", keywords = ["get file", "save", "fetch"], example = { "bucket": "acme-reports", "key": "2026/summary.pdf" })]
pub fn download_object(args: OneObject, cx: &Context) -> Result<Output, ToolError> {
    let content = s3(cx)?.get(args.address()?).download()?;
    let name = args.key().rsplit('/').find(|part| !part.is_empty());
    let told = json!({
        "key": args.key(), "name": name, "media_type": content.media_type(), "bytes": content.size(),
    });
    Ok(Output::new(told)?.file(content))
}

/// Sends an object; without `overwrite` it is refused where there is one already.
fn put(
    cx: &Context,
    path: String,
    overwrite: bool,
    metadata: &Option<Map<String, Value>>,
    fill: impl FnOnce(toolgate_sdk::http::Request<'static>) -> Result<Response, ToolError>,
) -> Result<Value, ToolError> {
    let mut request = s3(cx)?.put(Address::encoded(path));
    if !overwrite {
        request = request.header("if-none-match", "*");
    }
    for (name, value) in metadata.iter().flatten() {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let text = value
            .as_str()
            .filter(|text| text.chars().all(|c| (' '..='~').contains(&c)));
        match text {
            Some(text) if !name.is_empty() && name.chars().all(plain) => {
                request =
                    request.header(&format!("x-amz-meta-{}", name.to_ascii_lowercase()), text);
            }
            _ => {
                let text = "a name of letters, digits and `-`, and a value of printable ASCII";
                return Err(ToolError::invalid(format!("/metadata/{name}"), text));
            }
        }
    }
    let answer = fill(request).map_err(|mut error| {
        if error.http_status == Some(412) && !overwrite {
            error.message =
                "there is an object under this key; say overwrite to replace it".to_owned();
        }
        error
    })?;
    let mut out = json!({});
    for (key, name) in [("etag", "etag"), ("version", "x-amz-version-id")] {
        if let Some(text) = answer.header(name) {
            out[key] = json!(text.trim_matches('"'));
        }
    }
    Ok(out)
}

#[derive(Args)]
pub struct WriteText {
    /// Name of the bucket.
    bucket: String,
    /// Key of the object, for example `notes/today.md`.
    #[arg(min_length = 1, max_length = 1024)]
    key: String,
    /// The text.
    text: String,
    /// Media type, for example `application/json`.
    #[arg(
        default = "text/plain; charset=utf-8",
        pattern = "^[a-z]+/[ -~]+$",
        max_length = 200
    )]
    media_type: String,
    /// Replace what is there.
    #[arg(default = false)]
    overwrite: bool,
    /// Values to keep with it, by name; text only.
    metadata: Option<Map<String, Value>>,
}

/// Writes a text as an object.
#[tool(effect = "write", idempotent, keywords = ["save", "put", "store", "json", "csv"], example = { "bucket": "acme-reports", "key": "notes/today.md", "text": "# Today" })]
pub fn write_text(args: WriteText, cx: &Context) -> Result<Value, ToolError> {
    let path = address::object(&args.bucket, &args.key, "key")?;
    let bytes = args.text.into_bytes();
    let size = bytes.len();
    let media_type = args.media_type;
    let mut out = put(cx, path, args.overwrite, &args.metadata, |request| {
        request.bytes(&media_type, bytes).send()
    })?;
    out["key"] = json!(args.key);
    out["bytes"] = json!(size);
    Ok(out)
}

#[derive(Args)]
pub struct UploadObject {
    /// Name of the bucket.
    bucket: String,
    /// The file: its handle (`file_...`), or a data URL, `data:text/plain;name=a.txt;base64,aGVsbG8=`.
    #[arg(examples = ["data:text/plain;name=hello.txt;base64,aGVsbG8="])]
    content: String,
    /// Key of the object; the file's name unless given.
    #[arg(min_length = 1, max_length = 1024)]
    key: Option<String>,
    /// Replace what is there.
    #[arg(default = false)]
    overwrite: bool,
    /// Values to keep with it, by name; text only.
    metadata: Option<Map<String, Value>>,
}

/// Uploads a file as an object.
#[tool(effect = "write", idempotent, keywords = ["save file", "put", "store"],
       example = { "bucket": "acme-reports", "key": "2026/a.txt", "content": "data:text/plain;name=a.txt;base64,aGVsbG8=" })]
pub fn upload_object(args: UploadObject, cx: &Context) -> Result<Value, ToolError> {
    let content = Blob::open(&args.content)?;
    let key = args.key.or_else(|| content.name()).ok_or_else(|| {
        ToolError::invalid(
            "/key",
            "the file has no name, so say under which key it shall be",
        )
    })?;
    let path = address::object(&args.bucket, &key, "key")?;
    let media_type = content.media_type();
    let mut out = put(cx, path, args.overwrite, &args.metadata, |request| {
        request.blob(&media_type, &content).send()
    })?;
    out["key"] = json!(key);
    out["bytes"] = json!(content.size());
    Ok(out)
}
