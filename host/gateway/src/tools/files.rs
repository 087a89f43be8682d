//! Files: what users upload for tools, and what tools return, each named by a handle (`file_...`).
//!
//! A model passes the handle, so that no file travels through it. Files belong to one user, never change, and expire.
//! The content is kept sealed in the database ([`content`]), so that every process of the gateway has it.

pub(crate) mod call;
mod content;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::audit::AuditAction;
use crate::stored_quota::Stored;
use crate::tools::idempotency::{IdempotentAnswer, KeyedRequest};
use crate::waiters::WaiterPermit;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::file_name;
use toolgate_core::ids::{self, UserId};
use toolgate_core::visible::shown_name;
use toolgate_runtime::limits;
use toolgate_store::{Cursor, FileFilter, FileRow};

/// The largest file: what one call can hold.
pub const FILE_BYTES_MAX: usize = limits::BLOB_BYTES_MAX;
/// How long a file is kept where nobody says otherwise.
pub const LIFETIME_S: usize = 24 * 60 * 60;
/// How long a file may be kept.
pub const LIFETIME_S_MAX: usize = 7 * 24 * 60 * 60;
/// The largest piece of a content that one request reads.
pub const PIECE_BYTES_MAX: usize = FILE_BYTES_MAX;
pub const LIST_LIMIT_MAX: usize = 100;
/// Uploads, calls with files and reads of text at a time in one process: each has a file in memory.
pub(crate) const FILES_HELD_MAX: usize = 32;
/// The same of one workspace.
pub(crate) const FILES_HELD_PER_WORKSPACE_MAX: usize = 8;
/// Sealing and keeping a file take no longer.
const KEPT_WITHIN: Duration = Duration::from_secs(60);
const MEDIA_TYPE_CHARS_MAX: usize = 255;
/// Of a file whose type nobody says (RFC 9110, section 8.3).
const UNKNOWN_MEDIA_TYPE: &str = "application/octet-stream";

/// A file, without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StoredFile {
    /// The handle: pass it as the argument of a tool that takes a file.
    #[schema(example = "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub file_id: String,
    /// Whose it is.
    pub user_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub media_type: String,
    pub size_bytes: u64,
    /// Of the content, hexadecimal.
    pub sha256: String,
    /// The call that returned it; absent for an uploaded one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// `POST /v1/files`.
#[derive(Clone, Debug)]
pub struct NewFile {
    pub user_id: Option<UserId>,
    /// A path or hidden characters in it are left out.
    pub name: Option<String>,
    pub media_type: Option<String>,
    pub content: Bytes,
    pub lifetime_s: usize,
    /// SHA-256 that the content must have.
    pub sha256: Option<[u8; 32]>,
}

/// `GET /v1/files`.
#[derive(Clone, Debug)]
pub struct ListFiles {
    pub user_id: Option<UserId>,
    /// 1 to 100.
    pub limit: usize,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct FilePage {
    /// Newest first.
    pub files: Vec<StoredFile>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DeletedFile {
    pub file_id: String,
    /// Always `true`.
    #[schema(example = true)]
    pub deleted: bool,
}

/// Bytes of a file.
#[derive(Clone, Debug)]
pub struct FileContent {
    pub file: StoredFile,
    /// Where `bytes` begin in the file.
    pub offset: usize,
    pub bytes: Vec<u8>,
}

impl NewFile {
    /// SHA-256 of the content, hexadecimal.
    pub fn content_hash(&self) -> String {
        hex::encode(Sha256::digest(&self.content))
    }
}

impl Gateway {
    /// Takes a place for a file in memory: an upload until it is stored, a text while it is read.
    ///
    /// # Errors
    /// `overloaded` where the process or the workspace has none left.
    pub fn hold_file(&self, caller: &Caller) -> Result<WaiterPermit, Error> {
        caller.need(Scope::ToolsExecute)?;
        self.file_places.enter(&caller.workspace_id)
    }

    /// [`Gateway::put_file`] at most once for the attempt's key. Gives its place back at the end.
    pub async fn put_file_once(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        request: NewFile,
        place: WaiterPermit,
    ) -> Result<IdempotentAnswer<StoredFile>, Error> {
        caller.need(Scope::ToolsExecute)?;
        let (gateway, owned) = (self.clone(), caller.clone());
        let work = Box::pin(async move {
            let kept = gateway.put_file(&owned, request).await;
            drop(place);
            kept
        });
        self.once_within(caller, attempt, KEPT_WITHIN, work, Clone::clone)
            .await
    }

    /// Keeps a file for a user.
    ///
    /// # Errors
    /// `invalid_request` for a content that is too large, an unreadable media type, or another hash than the expected
    /// one; `conflict` where the workspace is full.
    pub async fn put_file(&self, caller: &Caller, request: NewFile) -> Result<StoredFile, Error> {
        caller.need(Scope::ToolsExecute)?;
        let user = caller.user(request.user_id.as_ref())?;
        if request.content.len() > FILE_BYTES_MAX {
            return Err(Error::InvalidRequest(format!(
                "a file has at most {FILE_BYTES_MAX} bytes"
            )));
        }
        let lifetime_s = request.lifetime_s;
        if !(1..=LIFETIME_S_MAX).contains(&lifetime_s) {
            return Err(Error::InvalidRequest(format!(
                "expires_in must be 1 to {LIFETIME_S_MAX} seconds, not {lifetime_s}"
            )));
        }
        let media_type = checked_media_type(request.media_type)?;
        let hash: [u8; 32] = Sha256::digest(&request.content).into();
        if request.sha256.is_some_and(|expected| expected != hash) {
            return Err(Error::InvalidRequest(format!(
                "the content that arrived has another SHA-256 than the request says: {}",
                hex::encode(hash)
            )));
        }
        let bytes = request.content.len();
        let _place = self
            .take_stored(Stored::Files, &caller.workspace_id, bytes)
            .await?;
        let now_ms = self.clock.now_ms();
        let row = FileRow {
            workspace_id: caller.workspace_id.to_string(),
            id: ids::ulid_at("file", now_ms),
            user_id: user.as_str().to_owned(),
            execution_id: None,
            name: request.name.as_deref().and_then(file_name::safe),
            media_type,
            size_bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
            sha256: hex::encode(hash),
            created_at_ms: now_ms,
            expires_at_ms: expiry(now_ms, lifetime_s),
        };
        self.insert_file(&row, &request.content).await?;
        Ok(shown(row))
    }

    /// Files that have not expired, newest first.
    pub async fn files(&self, caller: &Caller, request: ListFiles) -> Result<FilePage, Error> {
        caller.need(Scope::ToolsExecute)?;
        let user_id = caller.listed_user(request.user_id)?;
        let cursor = request.cursor.as_deref().map(|text| {
            Cursor::parse(text).ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))
        });
        let filter = FileFilter {
            workspace_id: &caller.workspace_id,
            user_id: user_id.as_ref().map(UserId::as_str),
            now_ms: self.clock.now_ms(),
        };
        let page = self
            .store
            .list_files(filter, cursor.transpose()?.as_ref(), request.limit)
            .await?;
        let named = page.items.iter().map(|row| (&*row.id, &*row.user_id));
        let read: Vec<_> = named.collect();
        self.record_reading(caller, AuditAction::FilesRead, &read)
            .await?;
        Ok(FilePage {
            files: page.items.into_iter().map(shown).collect(),
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }

    /// One file that has not expired.
    pub async fn file(&self, caller: &Caller, file_id: &str) -> Result<StoredFile, Error> {
        caller.need(Scope::ToolsExecute)?;
        let row = self.find_file(caller, file_id).await?;
        self.record_reading(caller, AuditAction::FilesRead, &[(&row.id, &row.user_id)])
            .await?;
        Ok(shown(row))
    }

    /// At most `limit` bytes of a file from `offset`; none past its end.
    ///
    /// # Errors
    /// As [`Gateway::stored_result`] for a file that a tool returned.
    pub async fn file_content(
        &self,
        caller: &Caller,
        file_id: &str,
        offset: usize,
        limit: usize,
    ) -> Result<FileContent, Error> {
        caller.need(Scope::ToolsExecute)?;
        let row = self.find_file(caller, file_id).await?;
        self.check_file_access(caller, &row).await?;
        self.record_reading(caller, AuditAction::FilesRead, &[(&row.id, &row.user_id)])
            .await?;
        let limit = limit.min(PIECE_BYTES_MAX);
        let bytes = self.read_file(&row, offset, limit).await?;
        Ok(FileContent {
            file: shown(row),
            offset,
            bytes,
        })
    }

    /// Deletes a file before it expires.
    pub async fn delete_file(&self, caller: &Caller, file_id: &str) -> Result<DeletedFile, Error> {
        caller.need(Scope::ToolsExecute)?;
        let row = self.find_file(caller, file_id).await?;
        if !self
            .store
            .delete_file(&caller.workspace_id, &row.id)
            .await?
        {
            return Err(unknown(file_id));
        }
        self.stored_quotas
            .deleted(Stored::Files, &caller.workspace_id);
        Ok(DeletedFile {
            file_id: row.id,
            deleted: true,
        })
    }

    /// The row of a file of a user whom the caller acts for.
    pub(crate) async fn find_file(&self, caller: &Caller, file_id: &str) -> Result<FileRow, Error> {
        let now_ms = self.clock.now_ms();
        let found = self
            .store
            .find_file(&caller.workspace_id, file_id, now_ms)
            .await?;
        found
            .filter(|row| caller.acts_for(&row.user_id))
            .ok_or_else(|| unknown(file_id))
    }

    /// Refuses the content of a file that a tool returned, where the user could not run the tool now.
    pub(crate) async fn check_file_access(
        &self,
        caller: &Caller,
        row: &FileRow,
    ) -> Result<(), Error> {
        let Some(execution_id) = &row.execution_id else {
            return Ok(());
        };
        let user = UserId::parse(&row.user_id).map_err(|_| unknown(&row.id))?;
        self.check_result_access(caller, &user, execution_id, None)
            .await
    }
}

/// The handle that a text is: `file_` and a ULID.
fn find_handle(text: &str) -> Option<&str> {
    let text = text.trim();
    let ulid = text.strip_prefix("file_")?;
    let sound = ulid.len() == 26 && ulid.bytes().all(|byte| byte.is_ascii_alphanumeric());
    sound.then_some(text)
}

/// The charset that a media type names; UTF-8 for none, and for one that is not known.
pub(crate) fn find_charset(media_type: &str) -> &'static Encoding {
    let parameters = media_type.split(';').skip(1);
    let named = parameters.filter_map(|one| one.split_once('='));
    let charset = named
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .find_map(|(_, value)| Encoding::for_label(value.trim().trim_matches('"').as_bytes()));
    charset.unwrap_or(encoding_rs::UTF_8)
}

fn expiry(now_ms: i64, lifetime_s: usize) -> i64 {
    now_ms + i64::try_from(lifetime_s).unwrap_or(i64::MAX / 2_000) * 1_000
}

fn unknown(file_id: &str) -> Error {
    Error::NotFound(format!("the file {}", shown_name(file_id)))
}

pub(crate) fn shown(row: FileRow) -> StoredFile {
    StoredFile {
        file_id: row.id,
        user_id: row.user_id,
        name: row.name,
        media_type: row.media_type,
        size_bytes: row.size_bytes.unsigned_abs(),
        sha256: row.sha256,
        execution_id: row.execution_id,
        created_at: rfc3339(row.created_at_ms),
        expires_at: rfc3339(row.expires_at_ms),
    }
}

/// A media type as RFC 9110, section 8.3.1, has it; [`UNKNOWN_MEDIA_TYPE`] for none.
fn checked_media_type(given: Option<String>) -> Result<String, Error> {
    let Some(text) = given.filter(|text| !text.trim().is_empty()) else {
        return Ok(UNKNOWN_MEDIA_TYPE.to_owned());
    };
    let text = text.trim();
    let named = text.split(';').next().unwrap_or_default().trim();
    let token = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let sound = named
        .split_once('/')
        .is_some_and(|(kind, sub)| token(kind) && token(sub));
    let printable = text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    if !sound || !printable || text.len() > MEDIA_TYPE_CHARS_MAX {
        return Err(Error::InvalidRequest(
            "Content-Type must be a media type, for example image/png".to_owned(),
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests;
