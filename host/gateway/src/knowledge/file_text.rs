//! The text of a file, for models that read no bytes: of text as it is, of PDF and HTML by the reader of the
//! knowledge base.

use serde::{Deserialize, Serialize};

use super::{DOCUMENT_BYTES_MAX, MediaType, READ_COPIES};
use crate::audit::AuditAction;
use crate::tools::execute::requester;
use crate::tools::files::{StoredFile, find_charset, shown};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_store::FileRow;

/// Largest piece of a text, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// A piece of the text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FileText {
    pub file: StoredFile,
    /// `null`: the file has no text that can be read here.
    pub text: Option<String>,
    /// Where the piece begins in the whole text, in bytes.
    pub offset: usize,
    /// Of the whole text.
    pub bytes_total: usize,
    /// Where the next piece begins; `null` after the last one.
    pub next_offset: Option<usize>,
}

/// How a file is read as text.
enum TextSource {
    /// It is text.
    Plain,
    Document(MediaType),
}

impl Gateway {
    /// At most `limit` bytes of the text of a file from `offset`.
    ///
    /// # Errors
    /// `invalid_request` for an offset inside a character or past the end, and for a document that cannot be read; as
    /// [`Gateway::file_content`].
    pub async fn file_text(
        &self,
        caller: &Caller,
        file_id: &str,
        offset: usize,
        limit: usize,
    ) -> Result<FileText, Error> {
        caller.need(Scope::ToolsExecute)?;
        let row = self.find_file(caller, file_id).await?;
        self.check_file_access(caller, &row).await?;
        self.record_reading(caller, AuditAction::FilesRead, &[(&row.id, &row.user_id)])
            .await?;
        let Some(source) = text_source(&row.media_type) else {
            return Ok(FileText {
                file: shown(row),
                text: None,
                offset,
                bytes_total: 0,
                next_offset: None,
            });
        };
        let _place = self.hold_file(caller)?;
        let whole = self.whole_text(caller, &row, source).await?;
        let bad_offset =
            || Error::InvalidRequest("offset must be 0 or the next_offset of a piece".to_owned());
        let rest = whole.get(offset..).ok_or_else(bad_offset)?;
        let limit = limit.clamp(4, TEXT_BYTES_MAX).min(rest.len());
        let text = &rest[..rest.floor_char_boundary(limit)];
        let end = offset + text.len();
        Ok(FileText {
            file: shown(row),
            text: Some(text.to_owned()),
            offset,
            bytes_total: whole.len(),
            next_offset: (end < whole.len()).then_some(end),
        })
    }

    async fn whole_text(
        &self,
        caller: &Caller,
        row: &FileRow,
        source: TextSource,
    ) -> Result<String, Error> {
        let size = usize::try_from(row.size_bytes).unwrap_or_default();
        if size > DOCUMENT_BYTES_MAX {
            return Err(Error::InvalidRequest(format!(
                "the text of a file is read up to {DOCUMENT_BYTES_MAX} bytes; this file has {size}. Pass its handle \
                 to a tool that takes a file, or download its content"
            )));
        }
        let _memory = self.take_memory(caller, size * READ_COPIES).await?;
        let bytes = self.read_file(row, 0, size).await?;
        match source {
            TextSource::Plain => {
                let charset = find_charset(&row.media_type);
                let (text, _, _) = charset.decode(&bytes);
                Ok(text.into_owned())
            }
            TextSource::Document(media_type) => {
                let now_ms = self.clock.now_ms();
                let reader = &self.knowledge.reader;
                let read = reader.read(&self.runtime, requester(caller), media_type, bytes, now_ms);
                Ok(read.await?.text)
            }
        }
    }
}

/// `None` for what is no text.
fn text_source(media_type: &str) -> Option<TextSource> {
    let named = media_type.split(';').next().unwrap_or_default();
    let named = named.trim().to_ascii_lowercase();
    let (kind, sub) = named.split_once('/')?;
    let structured = [
        "json",
        "xml",
        "yaml",
        "x-yaml",
        "javascript",
        "x-ndjson",
        "csv",
        "sql",
    ];
    match (kind, sub) {
        ("application", "pdf") => Some(TextSource::Document(MediaType::Pdf)),
        ("text", "html") => Some(TextSource::Document(MediaType::Html)),
        ("text", _) => Some(TextSource::Plain),
        ("application", sub)
            if structured.contains(&sub) || sub.ends_with("+json") || sub.ends_with("+xml") =>
        {
            Some(TextSource::Plain)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_its_media_type_says() {
        for text in [
            "text/plain",
            "text/csv; charset=utf-8",
            "Application/JSON",
            "application/ld+json",
            "image/svg+xml",
        ] {
            let plain = matches!(text_source(text), Some(TextSource::Plain));
            assert_eq!(plain, text != "image/svg+xml", "{text}");
        }
        for document in ["application/pdf", "text/html;charset=utf-8"] {
            assert!(
                matches!(text_source(document), Some(TextSource::Document(_))),
                "{document}"
            );
        }
        for other in [
            "image/png",
            "application/octet-stream",
            "application/zip",
            "x",
        ] {
            assert!(text_source(other).is_none(), "{other}");
        }
    }
}
