//! Files that stay on the host, so that they never have to fit into guest memory.
//!
//! A handle lives for one call. Needs the capability `blobs`.

use crate::error::{ErrorKind, ToolError};
use crate::host;

/// The largest number of bytes that one read returns.
pub const READ_BYTES_MAX: u32 = 1024 * 1024;

/// A byte object on the host.
#[derive(Debug)]
pub struct Blob(host::BlobHandle);

impl Blob {
    /// Puts bytes onto the host.
    pub fn create(media_type: &str, name: Option<&str>, data: &[u8]) -> Result<Self, ToolError> {
        host::blob_create(media_type, name, data).map(Self)
    }

    /// Opens a file that the caller referred to in the arguments.
    pub fn open(reference: &str) -> Result<Self, ToolError> {
        host::blob_open(reference).map(Self)
    }

    pub fn size(&self) -> u64 {
        host::blob_size(&self.0)
    }

    pub fn media_type(&self) -> String {
        host::blob_media_type(&self.0)
    }

    pub fn name(&self) -> Option<String> {
        host::blob_name(&self.0)
    }

    /// At most [`READ_BYTES_MAX`] bytes from `offset`.
    pub fn read(&self, offset: u64, len: u32) -> Result<Vec<u8>, ToolError> {
        host::blob_read(&self.0, offset, len)
    }

    /// The whole content, refused when larger than `bytes_max`.
    pub fn read_all(&self, bytes_max: u64) -> Result<Vec<u8>, ToolError> {
        let size = self.size();
        if size > bytes_max {
            return Err(ToolError::new(
                ErrorKind::TooLarge,
                format!("the file has {size} bytes, more than the {bytes_max} that fit here"),
            ));
        }
        let mut all = Vec::new();
        while (all.len() as u64) < size {
            let piece = self.read(all.len() as u64, READ_BYTES_MAX)?;
            if piece.is_empty() {
                break;
            }
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// Appends bytes to the file. The whole file never has to fit into guest memory.
    pub fn append(&mut self, data: &[u8]) -> Result<(), ToolError> {
        host::blob_append(&mut self.0, data)
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn handle(&self) -> &host::BlobHandle {
        &self.0
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn into_handle(self) -> host::BlobHandle {
        self.0
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn from_handle(handle: host::BlobHandle) -> Self {
        Self(handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_each_other() {
        let mut file = Blob::create("text/plain", Some("a.txt"), b"a").unwrap();
        file.append(b"bc").unwrap();
        file.append(b"").unwrap();
        assert_eq!(file.size(), 3);
        assert_eq!(file.read_all(3).unwrap(), b"abc");
    }
}
