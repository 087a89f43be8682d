//! The guest's key-value import, on the session store of the gateway.

use super::bindings::{kv as wit, types};
use super::guest::{Guest, KeyValueError, refused};

const KEY_BYTES_MAX: usize = 256;
/// 64 KiB for each session and service; no single value can be larger.
const VALUE_BYTES_MAX: usize = 64 << 10;

impl From<KeyValueError> for types::ToolError {
    fn from(error: KeyValueError) -> Self {
        let kind = match error {
            KeyValueError::Conflict => types::ErrorKind::Conflict,
            KeyValueError::Full => types::ErrorKind::TooLarge,
            KeyValueError::Unavailable => types::ErrorKind::Unavailable,
        };
        refused(kind, &error.to_string())
    }
}

fn check_key(key: &str) -> Result<(), types::ToolError> {
    if (1..=KEY_BYTES_MAX).contains(&key.len()) {
        Ok(())
    } else {
        Err(refused(
            types::ErrorKind::InvalidArguments,
            "a key is 1 to 256 bytes long",
        ))
    }
}

impl wit::Host for Guest {
    async fn get(
        &mut self,
        key: String,
    ) -> wasmtime::Result<Result<Option<wit::Entry>, types::ToolError>> {
        if let Err(bad) = check_key(&key) {
            return Ok(Err(bad));
        }
        let found = self.kv.get(&key).await;
        Ok(found
            .map(|entry| {
                entry.map(|entry| wit::Entry {
                    value: entry.value,
                    version: entry.version,
                })
            })
            .map_err(Into::into))
    }

    async fn set(
        &mut self,
        key: String,
        value: Vec<u8>,
        ttl_seconds: Option<u32>,
        if_version: Option<u64>,
    ) -> wasmtime::Result<Result<u64, types::ToolError>> {
        if let Err(bad) = check_key(&key) {
            return Ok(Err(bad));
        }
        if value.len() > VALUE_BYTES_MAX {
            return Ok(Err(KeyValueError::Full.into()));
        }
        Ok(self
            .kv
            .set(&key, &value, ttl_seconds, if_version)
            .await
            .map_err(Into::into))
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<(), types::ToolError>> {
        Ok(self.kv.delete(&key).await.map_err(Into::into))
    }

    async fn list_keys(
        &mut self,
        prefix: String,
        cursor: Option<String>,
    ) -> wasmtime::Result<Result<(Vec<String>, Option<String>), types::ToolError>> {
        Ok(self
            .kv
            .list(&prefix, cursor.as_deref())
            .await
            .map_err(Into::into))
    }
}
