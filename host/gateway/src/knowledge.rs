//! Knowledge: documents of a workspace, and the passages of them that answer a query.
//!
//! A document is read once ([`read`]), kept as text and never changed. What is found are its
//! passages ([`passages`]) by an index per workspace ([`index`]) that follows the database,
//! whichever process has written to it.

pub mod file_text;
pub mod index;
pub mod passages;
pub(crate) mod read;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::audit::AuditAction;
use crate::tools::execute::requester;
use crate::tools::idempotency::{IdempotentAnswer, KeyedRequest};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids;
use toolgate_core::visible::shown_name;
use toolgate_store::{self as store, Cursor, KnowledgeTotals};

pub use read::TEXT_CHARS_MAX;

/// One file as it comes.
pub const DOCUMENT_BYTES_MAX: usize = 4 << 20;
/// Copies of a document that are in memory while it is read: itself, the arguments of its reader, and its text.
const READ_COPIES: usize = 4;
pub const TITLE_CHARS_MAX: usize = 200;
pub const QUERY_CHARS_MAX: usize = 1_000;
pub const LIST_LIMIT_MAX: usize = 100;
pub const SEARCH_LIMIT_MAX: usize = 20;
/// Documents of one workspace.
pub const DOCUMENTS_MAX: i64 = 5_000;
/// Text of all documents of one workspace, in characters.
pub const WORKSPACE_CHARS_MAX: i64 = 50_000_000;

/// Reading, waiting for a place to read, and keeping take no longer.
const ADDED_WITHIN: Duration = Duration::from_secs(60);

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub enum MediaType {
    #[serde(rename = "text/plain")]
    Text,
    #[serde(rename = "text/markdown")]
    Markdown,
    #[serde(rename = "text/html")]
    Html,
    #[serde(rename = "application/pdf")]
    Pdf,
}

impl MediaType {
    fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Markdown => "text/markdown",
            Self::Html => "text/html",
            Self::Pdf => "application/pdf",
        }
    }
}

/// A document's content as an edge received it.
#[derive(Clone, Debug)]
pub enum Content {
    Text(String),
    /// RFC 4648, section 4.
    Base64(String),
}

/// `POST /v1/knowledge/documents`.
#[derive(Clone, Debug)]
pub struct AddDocument {
    /// What the document calls itself if absent, else its first line.
    pub title: Option<String>,
    pub media_type: MediaType,
    pub content: Content,
}

/// A document as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ListedDocument {
    /// `doc_<ULID>`.
    #[schema(example = "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub document_id: String,
    pub title: String,
    #[schema(example = "application/pdf")]
    pub media_type: String,
    /// Of the file as it came, hexadecimal.
    pub sha256: String,
    /// Size of the file as it came.
    pub bytes: i64,
    /// Length of its text in characters.
    pub chars: i64,
    /// Absent where the kind of document has no pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<i64>,
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A document with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Document {
    #[serde(flatten)]
    pub about: ListedDocument,
    /// Its text as it was read; positions of passages count its characters.
    pub content: String,
}

/// `GET /v1/knowledge/documents`, newest first.
#[derive(Clone, Debug)]
pub struct ListDocuments {
    /// 1 to 100.
    pub limit: usize,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct DocumentPage {
    pub documents: Vec<ListedDocument>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DeletedDocument {
    pub document_id: String,
    /// Always `true`.
    #[schema(example = true)]
    pub deleted: bool,
}

/// `GET /v1/knowledge/search`.
#[derive(Clone, Debug)]
pub struct SearchKnowledge {
    pub query: String,
    /// 1 to 20.
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct FoundPassages {
    pub query: String,
    /// Best first.
    pub passages: Vec<FoundPassage>,
}

#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct FoundPassage {
    #[schema(example = "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub document_id: String,
    /// The document's.
    pub title: String,
    pub text: String,
    pub position: Position,
    /// Larger is better; comparable within one answer only (BM25).
    pub score: f32,
}

/// Where a passage stands in its document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Position {
    /// In characters (Unicode scalar values), from 0.
    pub starts_at: usize,
    /// Behind its last character.
    pub ends_at: usize,
    /// From 1; absent where the kind of document has no pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<usize>,
}

impl Gateway {
    /// [`Gateway::add_document`] at most once for the attempt's key; it goes on when the caller hangs
    /// up, who may repeat it and is answered the same document.
    pub async fn add_document_once(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        request: AddDocument,
    ) -> Result<IdempotentAnswer<ListedDocument>, Error> {
        caller.need(Scope::Knowledge)?;
        let (gateway, owned) = (self.clone(), caller.clone());
        let work = Box::pin(async move { gateway.add_document(&owned, request).await });
        self.once_within(caller, attempt, ADDED_WITHIN, work, Clone::clone)
            .await
    }

    /// Reads a document and keeps its text. It is found by the next search of any process.
    pub async fn add_document(
        &self,
        caller: &Caller,
        request: AddDocument,
    ) -> Result<ListedDocument, Error> {
        caller.need(Scope::Knowledge)?;
        let media_type = request.media_type;
        let bytes = match request.content {
            Content::Text(_) if media_type == MediaType::Pdf => {
                return Err(Error::InvalidRequest(
                    "a PDF is not text; send it as content_base64".to_owned(),
                ));
            }
            Content::Text(text) => text.into_bytes(),
            Content::Base64(text) => STANDARD.decode(&text).map_err(|_| {
                Error::InvalidRequest(
                    "content_base64 must be base64 (RFC 4648, section 4)".to_owned(),
                )
            })?,
        };
        if bytes.len() > DOCUMENT_BYTES_MAX {
            return Err(Error::InvalidRequest(format!(
                "a document has at most {DOCUMENT_BYTES_MAX} bytes"
            )));
        }
        let _memory = self.take_memory(caller, bytes.len() * READ_COPIES).await?;
        let title = request
            .title
            .map(|title| checked_title(&title))
            .transpose()?;
        let now_ms = self.clock.now_ms();
        let (sha256, size) = (hex::encode(Sha256::digest(&bytes)), bytes.len());
        let read = self
            .knowledge
            .reader
            .read(&self.runtime, requester(caller), media_type, bytes, now_ms)
            .await?;
        let row = store::DocumentRow {
            workspace_id: caller.workspace_id.to_string(),
            id: ids::ulid("doc"),
            title: title.unwrap_or_else(|| found_title(&read)),
            media_type: media_type.as_str().to_owned(),
            sha256,
            bytes: i64::try_from(size).unwrap_or(i64::MAX),
            chars: i64::try_from(read.text.chars().count()).unwrap_or(i64::MAX),
            pages: read.pages,
            content: read.text,
            created_at_ms: now_ms,
        };
        let most = KnowledgeTotals {
            documents: DOCUMENTS_MAX,
            chars: WORKSPACE_CHARS_MAX,
        };
        let details = json!({ "title": row.title, "media_type": row.media_type });
        let audited = self.audited(caller, AuditAction::KnowledgeAdd, &row.id, details);
        if !audited.insert_document(&row, most).await? {
            return Err(Error::Conflict(format!(
                "the workspace is full: it holds at most {DOCUMENTS_MAX} documents and \
                 {WORKSPACE_CHARS_MAX} characters; delete some documents first"
            )));
        }
        Ok(shown(row).about)
    }

    /// One document with its text.
    pub async fn document(&self, caller: &Caller, document_id: &str) -> Result<Document, Error> {
        caller.need(Scope::Knowledge)?;
        let found = self
            .store
            .find_document(&caller.workspace_id, document_id)
            .await?;
        found.map(shown).ok_or_else(|| unknown(document_id))
    }

    /// Documents, newest first, without their text.
    pub async fn documents(
        &self,
        caller: &Caller,
        request: ListDocuments,
    ) -> Result<DocumentPage, Error> {
        caller.need(Scope::Knowledge)?;
        let cursor = match &request.cursor {
            None => None,
            Some(text) => Some(
                Cursor::parse(text)
                    .ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))?,
            ),
        };
        let page = self
            .store
            .list_documents(&caller.workspace_id, cursor.as_ref(), request.limit)
            .await?;
        let documents = page.items.into_iter().map(|row| ListedDocument {
            document_id: row.id,
            title: row.title,
            media_type: row.media_type,
            sha256: row.sha256,
            bytes: row.bytes,
            chars: row.chars,
            pages: (row.page_count > 0).then_some(row.page_count),
            created_at: rfc3339(row.created_at_ms),
        });
        Ok(DocumentPage {
            documents: documents.collect(),
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }

    /// Deletes a document. When this returns no search finds it any more.
    pub async fn delete_document(
        &self,
        caller: &Caller,
        document_id: &str,
    ) -> Result<DeletedDocument, Error> {
        caller.need(Scope::Knowledge)?;
        let workspace_id = &caller.workspace_id;
        let title = self.document(caller, document_id).await?.about.title;
        let details = json!({ "title": title });
        if !self
            .audited(caller, AuditAction::KnowledgeDelete, document_id, details)
            .delete_document(workspace_id, document_id)
            .await?
        {
            return Err(unknown(document_id));
        }
        self.knowledge
            .indexes
            .keep_up(&self.store, workspace_id)
            .await?;
        Ok(DeletedDocument {
            document_id: document_id.to_owned(),
            deleted: true,
        })
    }

    /// The passages that answer a query best.
    pub async fn search_knowledge(
        &self,
        caller: &Caller,
        request: SearchKnowledge,
    ) -> Result<FoundPassages, Error> {
        caller.need(Scope::Knowledge)?;
        let chars = request.query.chars().count();
        let unprintable = |c: char| c.is_control() && !"\n\r\t".contains(c);
        if request.query.trim().is_empty()
            || chars > QUERY_CHARS_MAX
            || request.query.contains(unprintable)
        {
            return Err(Error::InvalidRequest(format!(
                "query must have 1 to {QUERY_CHARS_MAX} characters and no control characters"
            )));
        }
        if !(1..=SEARCH_LIMIT_MAX).contains(&request.limit) {
            return Err(Error::InvalidRequest(format!(
                "limit must be 1 to {SEARCH_LIMIT_MAX}, not {}",
                request.limit
            )));
        }
        let workspace_id = &caller.workspace_id;
        let hits = self
            .knowledge
            .indexes
            .search(&self.store, workspace_id, &request.query, request.limit)
            .await?;
        let mut texts = BTreeMap::new();
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            if !texts.contains_key(&hit.document_id) {
                let text = self.store.document_text(workspace_id, &hit.document_id);
                texts.insert(hit.document_id.clone(), text.await?);
            }
            // Deleted since it was found.
            let Some(Some(document)) = texts.get(&hit.document_id) else {
                continue;
            };
            let text = passages::slice(&document.content, hit.starts_at, hit.ends_at);
            found.push(FoundPassage {
                title: document.title.clone(),
                text: text.to_owned(),
                position: Position {
                    starts_at: hit.starts_at,
                    ends_at: hit.ends_at,
                    page: hit.page,
                },
                score: hit.score,
                document_id: hit.document_id,
            });
        }
        Ok(FoundPassages {
            query: request.query,
            passages: found,
        })
    }
}

/// What reading and searching need.
pub(crate) struct Knowledge {
    pub reader: read::DocumentReader,
    pub indexes: index::Indexes,
}

fn checked_title(title: &str) -> Result<String, Error> {
    let chars = title.chars().count();
    if title.trim().is_empty() || chars > TITLE_CHARS_MAX || title.chars().any(char::is_control) {
        return Err(Error::InvalidRequest(format!(
            "title must have 1 to {TITLE_CHARS_MAX} characters and no control characters"
        )));
    }
    Ok(title.to_owned())
}

/// What a document calls itself, else its first line.
fn found_title(read: &read::ParsedDocument) -> String {
    let first = || read.text.lines().find(|line| !line.trim().is_empty());
    let title = read.title.as_deref().or_else(first).unwrap_or_default();
    title
        .trim_start_matches('#')
        .trim()
        .chars()
        .filter(|c| !c.is_control())
        .take(TITLE_CHARS_MAX)
        .collect()
}

fn shown(row: store::DocumentRow) -> Document {
    Document {
        about: ListedDocument {
            document_id: row.id,
            title: row.title,
            media_type: row.media_type,
            sha256: row.sha256,
            bytes: row.bytes,
            chars: row.chars,
            pages: (!row.pages.is_empty()).then_some(row.pages.len() as i64),
            created_at: rfc3339(row.created_at_ms),
        },
        content: row.content,
    }
}

fn unknown(document_id: &str) -> Error {
    Error::NotFound(format!("the document {}", shown_name(document_id)))
}

#[cfg(test)]
mod tests;
