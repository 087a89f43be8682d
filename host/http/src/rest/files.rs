//! `/v1/files`: what users upload for tools, and what tools returned.

mod headers;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{RestState, idempotent, openapi};
use headers::{REPR_DIGEST, WantedRange, expected_hash, text_of, wanted_range};
use toolgate_core::file_name;
use toolgate_gateway::knowledge::file_text::{FileText, TEXT_BYTES_MAX};
use toolgate_gateway::tools::files::{
    DeletedFile, FILE_BYTES_MAX, FilePage, LIFETIME_S, LIFETIME_S_MAX, LIST_LIMIT_MAX, ListFiles,
    NewFile, StoredFile,
};
use toolgate_gateway::tools::idempotency::KeyedRequest;
use toolgate_gateway::{Caller, Gateway};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::body;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{ForUser, Id, NoQuery, Number, PageLimit, QueryString};

/// How long an upload may take.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(120);
/// Bytes of a file that are in memory at a time while it is answered.
const PIECE_BYTES: usize = 1 << 20;

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource(
        "Files",
        "What users upload for tools, and what tools returned, each named by a handle.",
    )
    .routes(routes!(upload, list))
    .routes(routes!(read, delete))
    .routes(routes!(content))
    .routes(routes!(text))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct UploadQuery {
    /// The user whose file it becomes; the key's default user if absent.
    #[param(inline)]
    user_id: ForUser,
    /// How many seconds it is kept.
    #[param(inline)]
    expires_in: Number<1, { LIFETIME_S_MAX }, { LIFETIME_S }>,
}

/// Upload a file
///
/// The body is the file itself, at most 32 MiB, with its `Content-Type`; its name is the one in
/// `Content-Disposition`. Pass the handle that is answered as the argument of a tool that takes a file: so that no
/// model writes the content. The content never changes. With `Repr-Digest` the file is refused if another content
/// arrives.
#[utoipa::path(
    post,
    path = "/v1/files",
    operation_id = "upload_file",
    params(
        UploadQuery,
        ("Content-Disposition" = Option<String>, Header, description = "The file's name (RFC 6266).", example = "attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf"),
        ("Repr-Digest" = Option<String>, Header, description = "The SHA-256 of the content (RFC 9530).", example = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"),
    ),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The file."),
    responses((status = 201, description = "The file.", body = inline(Success<StoredFile>), example = json!({
        "file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "user_id": "ada@example.com",
        "name": "résumé.pdf",
        "media_type": "application/pdf",
        "size_bytes": 48213,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "created_at": "2026-11-20T09:30:00.125Z",
        "expires_at": "2026-11-21T09:30:00.125Z"
    }))),
)]
async fn upload(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<UploadQuery>,
    request: Request,
) -> Result<Response, ApiFailure> {
    let key = idempotent::key(request.headers())?;
    let name = text_of(request.headers(), &header::CONTENT_DISPOSITION)?;
    let name = name.and_then(|header| file_name::from_disposition(&header));
    let media_type = text_of(request.headers(), &header::CONTENT_TYPE)?;
    let sha256 = expected_hash(request.headers())?;
    let place = gateway.hold_file(&caller)?;
    let content = body::read_request(request, FILE_BYTES_MAX, UPLOAD_TIMEOUT).await?;
    let new = NewFile {
        user_id: query.user_id.0,
        name,
        media_type,
        content,
        lifetime_s: query.expires_in.0,
        sha256,
    };
    let attempt = key.map(|key| attempt(&key, &new)).transpose()?;
    let kept = gateway.put_file_once(&caller, attempt, new, place).await?;
    Ok((StatusCode::CREATED, Success::new(&caller, kept)).into_response())
}

/// What a repetition has to repeat: the content by its hash.
fn attempt(key: &str, new: &NewFile) -> Result<KeyedRequest, ApiFailure> {
    let question = json!({
        "user_id": new.user_id.as_ref().map(|user| user.as_str()),
        "name": new.name,
        "media_type": new.media_type,
        "expires_in": new.lifetime_s,
        "sha256": new.content_hash(),
    });
    Ok(KeyedRequest::new(key, "POST /v1/files", question)?)
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct FilesQuery {
    /// Only files of this user; with a key that acts for one user, that user's.
    #[param(inline)]
    user_id: ForUser,
    /// How many files a page holds.
    #[param(inline)]
    limit: PageLimit<{ LIST_LIMIT_MAX }>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List files
///
/// Those that have not expired, newest first, without their contents. Follow `next_cursor` to the end.
#[utoipa::path(
    get,
    path = "/v1/files",
    operation_id = "list_files",
    params(FilesQuery),
    responses((status = 200, description = "One page of files.", body = inline(Success<FilePage>), example = json!({"files": [{
        "file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "user_id": "ada@example.com",
        "name": "invoice.pdf",
        "media_type": "application/pdf",
        "size_bytes": 48213,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "created_at": "2026-11-20T09:30:00.125Z",
        "expires_at": "2026-11-21T09:30:00.125Z"
    }], "next_cursor": null}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<FilesQuery>,
) -> Result<Success<FilePage>, ApiFailure> {
    let request = ListFiles {
        user_id: query.user_id.0,
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let page = gateway.files(&caller, request).await?;
    Ok(Success::new(&caller, page))
}

/// Describe a file
///
/// Its name, type, size and hash.
#[utoipa::path(
    get,
    path = "/v1/files/{file_id}",
    operation_id = "get_file",
    params(("file_id" = String, Path, description = "The handle.", example = "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The file, without its content.", body = inline(Success<StoredFile>), example = json!({
        "file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "user_id": "ada@example.com",
        "name": "invoice.pdf",
        "media_type": "application/pdf",
        "size_bytes": 48213,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "created_at": "2026-11-20T09:30:00.125Z",
        "expires_at": "2026-11-21T09:30:00.125Z"
    }))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([file_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<StoredFile>, ApiFailure> {
    let file = gateway.file(&caller, &file_id).await?;
    Ok(Success::new(&caller, file))
}

/// Delete a file
///
/// Before it expires by itself.
#[utoipa::path(
    delete,
    path = "/v1/files/{file_id}",
    operation_id = "delete_file",
    params(("file_id" = String, Path, description = "The handle.", example = "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "It is gone.", body = inline(Success<DeletedFile>), example = json!({"file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "deleted": true}))),
)]
async fn delete(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([file_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<DeletedFile>, ApiFailure> {
    let deleted = gateway.delete_file(&caller, &file_id).await?;
    Ok(Success::new(&caller, deleted))
}

/// Download a file
///
/// The content with its media type and name. One range of bytes may be asked for (RFC 9110, section 14). A file that a
/// tool returned is refused where its user could not run that tool now.
#[utoipa::path(
    get,
    path = "/v1/files/{file_id}/content",
    operation_id = "download_file",
    params(
        ("file_id" = String, Path, description = "The handle.", example = "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"),
        ("Range" = Option<String>, Header, description = "One range of bytes.", example = "bytes=0-1023"),
    ),
    responses(
        (status = 200, description = "The content.", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 206, description = "The part that was asked for.", body = Vec<u8>, content_type = "application/octet-stream"),
    ),
)]
async fn content(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([file_id]): Segments<1>,
    _: NoQuery,
    headers: HeaderMap,
) -> Result<Response, ApiFailure> {
    // Refuses what the user may not have before anything is answered.
    let first = gateway.file_content(&caller, &file_id, 0, 0).await?;
    let file = first.file;
    let size = usize::try_from(file.size_bytes).unwrap_or(usize::MAX);
    let (status, from, end) = match wanted_range(&headers, size) {
        WantedRange::Whole => (StatusCode::OK, 0, size),
        WantedRange::Part { from, end } => (StatusCode::PARTIAL_CONTENT, from, end),
        WantedRange::Unsatisfiable => {
            let message = format!("asks for bytes that are not there: the file has {size}");
            return Err(ApiFailure::field("Range", message));
        }
    };
    let body = streamed(gateway, caller, file_id, from, end);
    let mut answer = (status, body).into_response();
    describe(answer.headers_mut(), &file);
    if status == StatusCode::PARTIAL_CONTENT
        && let Ok(range) = HeaderValue::try_from(format!("bytes {from}-{}/{size}", end - 1))
    {
        answer.headers_mut().insert(header::CONTENT_RANGE, range);
    }
    let length = HeaderValue::from(end - from);
    answer.headers_mut().insert(header::CONTENT_LENGTH, length);
    Ok(answer)
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct TextQuery {
    /// Where the piece begins, in bytes of the text.
    #[param(inline)]
    offset: Number<0, { FILE_BYTES_MAX }, 0>,
    /// How many bytes it has at most.
    #[param(inline)]
    limit: Number<4, { TEXT_BYTES_MAX }, 65_536>,
}

/// Read the text of a file
///
/// Of text, JSON, XML, HTML and PDF of up to 4 MiB, in pieces: follow `next_offset` to the end. `text` is `null` for
/// other files. PDF and HTML are read in a sandbox.
#[utoipa::path(
    get,
    path = "/v1/files/{file_id}/text",
    operation_id = "read_file_text",
    params(
        ("file_id" = String, Path, description = "The handle.", example = "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"),
        TextQuery,
    ),
    responses((status = 200, description = "The piece.", body = inline(Success<FileText>), example = json!({
        "file": {
            "file_id": "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
            "user_id": "ada@example.com",
            "name": "invoice.pdf",
            "media_type": "application/pdf",
            "size_bytes": 48213,
            "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "created_at": "2026-11-20T09:30:00.125Z",
            "expires_at": "2026-11-21T09:30:00.125Z"
        },
        "text": "Invoice 2026-118\nTotal: 120 EUR",
        "offset": 0,
        "bytes_total": 31,
        "next_offset": null
    }))),
)]
async fn text(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([file_id]): Segments<1>,
    QueryString(query): QueryString<TextQuery>,
) -> Result<Success<FileText>, ApiFailure> {
    let piece = gateway.file_text(&caller, &file_id, query.offset.0, query.limit.0);
    Ok(Success::new(&caller, piece.await?))
}

/// The bytes from one place to another, read while they are sent.
fn streamed(
    gateway: Arc<Gateway>,
    caller: Caller,
    file_id: String,
    from: usize,
    end: usize,
) -> Body {
    let pieces = stream::try_unfold(from, move |offset| {
        let (gateway, caller, file_id) = (gateway.clone(), caller.clone(), file_id.clone());
        async move {
            if offset >= end {
                return Ok::<_, std::io::Error>(None);
            }
            let limit = PIECE_BYTES.min(end - offset);
            let piece = gateway.file_content(&caller, &file_id, offset, limit).await;
            let bytes = piece.map_err(std::io::Error::other)?.bytes;
            // It was deleted, or has expired, meanwhile: the connection is cut, so that nobody takes a part for all.
            if bytes.is_empty() {
                return Err(std::io::Error::other("the file ended early"));
            }
            let next = offset + bytes.len();
            Ok(Some((bytes, next)))
        }
    });
    Body::from_stream(pieces)
}

/// What the headers say of the file. A browser that opens it stores it and runs nothing of it.
fn describe(headers: &mut HeaderMap, file: &StoredFile) {
    let disposition = match &file.name {
        Some(name) => format!("attachment; {}", file_name::disposition_parameters(name)),
        None => "attachment".to_owned(),
    };
    let digest = hex::decode(&file.sha256).unwrap_or_default();
    let digest = format!("sha-256=:{}:", STANDARD.encode(digest));
    let etag = format!("\"{}\"", file.sha256);
    let texts = [
        (header::CONTENT_TYPE, file.media_type.clone()),
        (header::CONTENT_DISPOSITION, disposition),
        (header::ETAG, etag),
        (REPR_DIGEST, digest),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (
            header::CONTENT_SECURITY_POLICY,
            "sandbox; default-src 'none'".to_owned(),
        ),
    ];
    for (name, text) in texts {
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(name, value);
        }
    }
}
