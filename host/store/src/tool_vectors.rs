//! The vectors of tool texts, by the text's hash: an installation embeds a text once.

use super::{Store, StoreError, portable};

/// What a sentence model made of one text.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ToolVector {
    /// Of the text, 64 hexadecimal digits.
    pub text_sha256: String,
    /// Four bytes a number, little-endian.
    pub vector: Vec<u8>,
}

impl Store {
    /// All that `model` made.
    pub async fn list_tool_vectors(&self, model: &str) -> Result<Vec<ToolVector>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as("SELECT text_sha256, vector FROM tool_vectors WHERE model = $1")
                .bind(model)
                .fetch_all(db)
                .await?
        }))
    }

    /// Keeps vectors; one that is there already stays.
    pub async fn put_tool_vectors(
        &self,
        model: &str,
        made: &[ToolVector],
        now_ms: i64,
    ) -> Result<(), StoreError> {
        // In order, so that two processes never wait for one another.
        let mut made: Vec<&ToolVector> = made.iter().collect();
        made.sort_by(|a, b| a.text_sha256.cmp(&b.text_sha256));
        portable!(write self, tx => {
            for one in &made {
                sqlx::query(
                    "INSERT INTO tool_vectors (model, text_sha256, vector, made_at_ms) \
                     VALUES ($1, $2, $3, $4) ON CONFLICT (model, text_sha256) DO NOTHING",
                )
                .bind(model)
                .bind(&one.text_sha256)
                .bind(&one.vector)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }

    /// Deletes the vectors of texts that no tool has any more.
    pub async fn forget_tool_vectors(&self, texts_sha256: &[String]) -> Result<(), StoreError> {
        // In order, so that two processes never wait for one another.
        let mut texts_sha256: Vec<&String> = texts_sha256.iter().collect();
        texts_sha256.sort();
        portable!(write self, tx => {
            for text_sha256 in &texts_sha256 {
                sqlx::query("DELETE FROM tool_vectors WHERE text_sha256 = $1")
                    .bind(text_sha256)
                    .execute(&mut *tx)
                    .await?;
            }
        });
        Ok(())
    }
}
