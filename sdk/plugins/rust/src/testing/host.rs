//! The functions of the host in a native build: each calls the thread's [`MockHost`](super::MockHost).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{ErrorKind, ToolError};
use crate::http::{Failure, Outgoing, Response};
use crate::kv::Entry;
use crate::log_level::LogLevel;
use crate::testing::mock::with;

/// A blob in the test's own memory.
#[derive(Debug)]
pub(crate) struct BlobHandle {
    media_type: String,
    name: Option<String>,
    data: Vec<u8>,
}

impl crate::Blob {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.read_all(u64::MAX).unwrap_or_default()
    }
}

pub(crate) fn send(outgoing: Outgoing<'_>) -> Result<Response, Failure> {
    with(|host| host.answer(&outgoing))
}

pub(crate) fn send_all(outgoing: Vec<Outgoing<'_>>) -> Vec<Result<Response, Failure>> {
    outgoing.into_iter().map(send).collect()
}

pub(crate) fn connected(slot: &str) -> bool {
    with(|host| match &host.connected {
        Some(slots) => slots.iter().any(|known| known == slot),
        None => true,
    })
}

pub(crate) fn config(key: &str) -> Option<String> {
    with(|host| host.config.get(key).map(ToString::to_string))
}

pub(crate) fn now_ms() -> u64 {
    with(|host| host.now_ms)
}

pub(crate) fn remaining_ms() -> u64 {
    30_000
}

pub(crate) fn cancelled() -> bool {
    false
}

/// Bytes that count up: 0, 1, 2 ...
pub(crate) fn random_bytes(count: u32) -> Vec<u8> {
    (0..count).map(|index| (index % 256) as u8).collect()
}

pub(crate) fn log(_level: LogLevel, _message: &str, _fields: &str) {}

pub(crate) fn progress(_done: u64, _total: Option<u64>, _message: &str) {}

pub(crate) fn partial(_data: &str) {}

pub(crate) fn blob_create(
    media_type: &str,
    name: Option<&str>,
    data: &[u8],
) -> Result<BlobHandle, ToolError> {
    Ok(BlobHandle {
        media_type: media_type.to_owned(),
        name: name.map(str::to_owned),
        data: data.to_vec(),
    })
}

pub(crate) fn blob_open(reference: &str) -> Result<BlobHandle, ToolError> {
    if let Some(found) = data_url(reference) {
        return Ok(found);
    }
    let found = with(|host| host.files.get(reference).cloned());
    let (media_type, data) =
        found.ok_or_else(|| ToolError::not_found(format!("no file {reference}")))?;
    Ok(BlobHandle {
        media_type,
        name: Some(reference.to_owned()),
        data,
    })
}

/// A file in the reference itself: `data:text/plain;name=a.txt;base64,aGk=` (RFC 2397).
fn data_url(text: &str) -> Option<BlobHandle> {
    let (head, content) = text.strip_prefix("data:")?.split_once(',')?;
    let head = head.strip_suffix(";base64")?;
    let mut parts = head.split(';');
    let media_type = parts.next()?.to_owned();
    let name = parts.find_map(|part| part.strip_prefix("name="));
    Some(BlobHandle {
        media_type,
        name: name.map(str::to_owned),
        data: STANDARD.decode(content).ok()?,
    })
}

pub(crate) fn blob_size(blob: &BlobHandle) -> u64 {
    blob.data.len() as u64
}

pub(crate) fn blob_media_type(blob: &BlobHandle) -> String {
    blob.media_type.clone()
}

pub(crate) fn blob_name(blob: &BlobHandle) -> Option<String> {
    blob.name.clone()
}

pub(crate) fn blob_read(blob: &BlobHandle, offset: u64, len: u32) -> Result<Vec<u8>, ToolError> {
    let start = usize::try_from(offset)
        .unwrap_or(usize::MAX)
        .min(blob.data.len());
    let end = start.saturating_add(len as usize).min(blob.data.len());
    Ok(blob.data[start..end].to_vec())
}

pub(crate) fn blob_append(blob: &mut BlobHandle, data: &[u8]) -> Result<(), ToolError> {
    blob.data.extend_from_slice(data);
    Ok(())
}

pub(crate) fn kv_get(key: &str) -> Result<Option<(Vec<u8>, u64)>, ToolError> {
    let found = with(|host| host.kv.get(key).cloned());
    Ok(found.map(|entry| (entry.value, entry.version)))
}

pub(crate) fn kv_set(
    key: &str,
    value: &[u8],
    _ttl_seconds: Option<u32>,
    if_version: Option<u64>,
) -> Result<u64, ToolError> {
    with(|host| {
        let version = host.kv.get(key).map_or(0, |entry| entry.version);
        if if_version.is_some_and(|expected| expected != version) {
            return Err(ToolError::new(
                ErrorKind::Conflict,
                format!("{key} has changed"),
            ));
        }
        let entry = Entry {
            value: value.to_vec(),
            version: version + 1,
        };
        host.kv.insert(key.to_owned(), entry);
        Ok(version + 1)
    })
}

pub(crate) fn kv_delete(key: &str) -> Result<(), ToolError> {
    with(|host| host.kv.remove(key));
    Ok(())
}

pub(crate) fn kv_list(
    prefix: &str,
    _cursor: Option<&str>,
) -> Result<(Vec<String>, Option<String>), ToolError> {
    let keys = with(|host| {
        host.kv
            .keys()
            .filter(|key| key.starts_with(prefix))
            .cloned()
            .collect()
    });
    Ok((keys, None))
}
