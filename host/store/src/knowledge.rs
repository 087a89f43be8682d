//! Documents of the knowledge: their text as it was read, never changed, deleted for good.

use super::changes::bump;
use super::page::one_more;
use super::text::Json;
use super::{Cursor, Page, Store, StoreError, Topic, Writer, portable};
use crate::columns::select;

/// A document with its text.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct DocumentRow {
    pub workspace_id: String,
    /// `doc_<ULID>`.
    pub id: String,
    pub title: String,
    pub media_type: String,
    /// Of the file as it came, hexadecimal.
    pub sha256: String,
    pub bytes: i64,
    pub chars: i64,
    /// Where each page begins, in characters.
    #[sqlx(try_from = "Json<Vec<u32>>")]
    pub pages: Vec<u32>,
    pub content: String,
    pub created_at_ms: i64,
}

impl From<Json<Vec<u32>>> for Vec<u32> {
    fn from(json: Json<Self>) -> Self {
        json.0
    }
}

/// A document without its text.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ListedDocumentRow {
    pub id: String,
    pub title: String,
    pub media_type: String,
    pub sha256: String,
    pub bytes: i64,
    pub chars: i64,
    pub page_count: i64,
    pub created_at_ms: i64,
}

/// What an index is made from.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct DocumentText {
    pub id: String,
    pub title: String,
    pub media_type: String,
    #[sqlx(try_from = "Json<Vec<u32>>")]
    pub pages: Vec<u32>,
    pub content: String,
}

/// How much a workspace holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnowledgeTotals {
    pub documents: i64,
    pub chars: i64,
}

impl Store {
    pub async fn find_document(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<DocumentRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(knowledge_documents, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Newest first.
    pub async fn list_documents(
        &self,
        workspace_id: &str,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<ListedDocumentRow>, StoreError> {
        let (at_ms, id) = Cursor::bound(after);
        let rows = portable!(read self, db => {
            sqlx::query_as(
                "SELECT id, title, media_type, sha256, bytes, chars, created_at_ms, \
                 CAST(CASE WHEN pages = '[]' THEN 0 \
                 ELSE LENGTH(pages) - LENGTH(REPLACE(pages, ',', '')) + 1 END AS BIGINT) AS page_count \
                 FROM knowledge_documents WHERE workspace_id = $1 \
                 AND (created_at_ms < $2 OR (created_at_ms = $2 AND id < $3)) \
                 ORDER BY created_at_ms DESC, id DESC LIMIT $4",
            )
            .bind(workspace_id)
            .bind(at_ms)
            .bind(&id)
            .bind(one_more(limit))
            .fetch_all(db)
            .await?
        });
        Ok(Page::cut(rows, limit, |row: &ListedDocumentRow| {
            (row.created_at_ms, &row.id)
        }))
    }

    /// The ids of all documents of a workspace, in order.
    pub async fn document_ids(&self, workspace_id: &str) -> Result<Vec<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar("SELECT id FROM knowledge_documents WHERE workspace_id = $1 ORDER BY id")
                .bind(workspace_id)
                .fetch_all(db)
                .await?
        }))
    }

    /// What an index is made from, for one document.
    pub async fn document_text(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<DocumentText>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT id, title, media_type, pages, content FROM knowledge_documents \
                 WHERE workspace_id = $1 AND id = $2",
            )
            .bind(workspace_id)
            .bind(id)
            .fetch_optional(db)
            .await?
        }))
    }
}

impl Writer {
    /// Keeps a new document, unless the workspace would then hold more than `most`. `false`: it
    /// would, nothing was kept.
    pub async fn insert_document(
        &self,
        document: &DocumentRow,
        most: KnowledgeTotals,
    ) -> Result<bool, StoreError> {
        let pages = Json(&document.pages);
        Ok(portable!(write self, tx => {
            // The counter's row is locked by this first, so that two writers count in turn.
            bump!(tx, Topic::Knowledge);
            sqlx::query(
                "INSERT INTO knowledge_documents (workspace_id, id, title, media_type, sha256, bytes, chars, pages, \
                 content, created_at_ms) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 \
                 WHERE (SELECT COUNT(*) FROM knowledge_documents WHERE workspace_id = $1) < $11 \
                 AND (SELECT COALESCE(SUM(chars), 0) FROM knowledge_documents WHERE workspace_id = $1) + $7 <= $12",
            )
            .bind(&document.workspace_id)
            .bind(&document.id)
            .bind(&document.title)
            .bind(&document.media_type)
            .bind(&document.sha256)
            .bind(document.bytes)
            .bind(document.chars)
            .bind(&pages)
            .bind(&document.content)
            .bind(document.created_at_ms)
            .bind(most.documents)
            .bind(most.chars)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// `false`: it does not exist.
    pub async fn delete_document(&self, workspace_id: &str, id: &str) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            bump!(tx, Topic::Knowledge);
            sqlx::query("DELETE FROM knowledge_documents WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }
}
