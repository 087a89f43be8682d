//! Files on the host.

use super::from_wire_error;
use crate::bindings::toolgate::plugin::blobs;
use crate::error::ToolError;

/// A handle to a blob of the host.
pub(crate) type BlobHandle = blobs::Blob;

pub(crate) fn blob_create(
    media_type: &str,
    name: Option<&str>,
    data: &[u8],
) -> Result<BlobHandle, ToolError> {
    blobs::create(media_type, name, data).map_err(from_wire_error)
}

pub(crate) fn blob_open(reference: &str) -> Result<BlobHandle, ToolError> {
    blobs::open(reference).map_err(from_wire_error)
}

pub(crate) fn blob_size(blob: &BlobHandle) -> u64 {
    blob.size()
}

pub(crate) fn blob_media_type(blob: &BlobHandle) -> String {
    blob.media_type()
}

pub(crate) fn blob_name(blob: &BlobHandle) -> Option<String> {
    blob.name()
}

pub(crate) fn blob_read(blob: &BlobHandle, offset: u64, len: u32) -> Result<Vec<u8>, ToolError> {
    blob.read(offset, len).map_err(from_wire_error)
}

pub(crate) fn blob_append(blob: &mut BlobHandle, data: &[u8]) -> Result<(), ToolError> {
    blob.append(data).map_err(from_wire_error)
}
