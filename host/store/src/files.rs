//! Files of users, kept until they expire and read in pieces.

use super::page::one_more;
use super::{Cursor, Page, Store, StoreError, portable};
use crate::columns::select;

/// A file without its content.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct FileRow {
    pub workspace_id: String,
    /// `file_<ULID>`.
    pub id: String,
    pub user_id: String,
    /// The call that returned it; `None`: it was uploaded.
    pub execution_id: Option<String>,
    pub name: Option<String>,
    pub media_type: String,
    pub size_bytes: i64,
    /// Hexadecimal.
    pub sha256: String,
    pub created_at_ms: i64,
    pub expires_at_ms: i64,
}

/// A file that is there for this user, or for every user.
#[derive(Clone, Copy, Debug)]
pub struct FileFilter<'a> {
    pub workspace_id: &'a str,
    pub user_id: Option<&'a str>,
    pub now_ms: i64,
}

/// A part of a sealed content.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct FilePiece {
    pub sealed_key: String,
    /// Of the whole sealed content.
    pub sealed_bytes: i64,
    pub piece: Vec<u8>,
}

/// A page of files behind `$2` and `$3`.
macro_rules! page_of {
    ($filter:literal) => {
        concat!(
            select!(
                files,
                "WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3) AND expires_at_ms > $4"
            ),
            $filter,
            " ORDER BY created_at_ms DESC, id DESC LIMIT $5"
        )
    };
}

impl Store {
    /// Keeps a new file. `sealed`: key and content.
    pub async fn insert_file(
        &self,
        file: &FileRow,
        sealed: (&str, &[u8]),
    ) -> Result<(), StoreError> {
        let (sealed_key, content) = sealed;
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "INSERT INTO files (workspace_id, id, user_id, execution_id, name, media_type, size_bytes, sha256, \
                 created_at_ms, expires_at_ms, sealed_key, content) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            )
            .bind(&file.workspace_id)
            .bind(&file.id)
            .bind(&file.user_id)
            .bind(&file.execution_id)
            .bind(&file.name)
            .bind(&file.media_type)
            .bind(file.size_bytes)
            .bind(&file.sha256)
            .bind(file.created_at_ms)
            .bind(file.expires_at_ms)
            .bind(sealed_key)
            .bind(content)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// One file that has not expired.
    pub async fn find_file(
        &self,
        workspace_id: &str,
        id: &str,
        now_ms: i64,
    ) -> Result<Option<FileRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(files, "WHERE workspace_id = $1 AND id = $2 AND expires_at_ms > $3"))
                .bind(workspace_id)
                .bind(id)
                .bind(now_ms)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Files that have not expired, newest first.
    pub async fn list_files(
        &self,
        filter: FileFilter<'_>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<FileRow>, StoreError> {
        let (at_ms, id) = Cursor::bound(after);
        let statement = match filter.user_id {
            None => page_of!(""),
            Some(_) => page_of!(" AND user_id = $6"),
        };
        let rows = portable!(read self, db => {
            let mut query = sqlx::query_as(statement)
                .bind(filter.workspace_id)
                .bind(at_ms)
                .bind(&id)
                .bind(filter.now_ms)
                .bind(one_more(limit));
            if let Some(user_id) = filter.user_id {
                query = query.bind(user_id);
            }
            query.fetch_all(db).await?
        });
        Ok(Page::cut(rows, limit, |row: &FileRow| {
            (row.created_at_ms, &row.id)
        }))
    }

    /// At most `limit` bytes of the sealed content from `offset`. `None`: unknown or expired.
    pub async fn read_file(
        &self,
        workspace_id: &str,
        id: &str,
        (offset, limit): (u32, u32),
        now_ms: i64,
    ) -> Result<Option<FilePiece>, StoreError> {
        // PostgreSQL counts bytes as int4.
        let from = i32::try_from(offset).unwrap_or(i32::MAX - 1) + 1;
        let count = i32::try_from(limit)
            .unwrap_or(i32::MAX)
            .min(i32::MAX - from);
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT sealed_key, CAST(octet_length(content) AS BIGINT) AS sealed_bytes, \
                 substr(content, $3, $4) AS piece FROM files \
                 WHERE workspace_id = $1 AND id = $2 AND expires_at_ms > $5",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(from)
            .bind(count)
            .bind(now_ms)
            .fetch_optional(db)
            .await?
        }))
    }

    /// `false`: it does not exist.
    pub async fn delete_file(&self, workspace_id: &str, id: &str) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM files WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }

    /// Deletes what is past its time.
    pub async fn purge_files(&self, now_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM files WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}
