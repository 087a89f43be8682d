//! One file of a call, held by the host.

use bytes::Bytes;

/// One byte object: content, media type and, where there is one, a file name.
#[derive(Clone, Debug)]
pub struct Blob {
    pub media_type: String,
    pub name: Option<String>,
    pub data: Bytes,
}

impl Blob {
    /// What the host holds for it.
    pub(super) fn bytes(&self) -> usize {
        self.data.len() + self.media_type.len() + self.name.as_ref().map_or(0, String::len)
    }
}
