//! Byte objects that stay on the host for the length of one call.

use base64::Engine as _;

use super::bindings::{blobs as wit, types};
use super::blob::Blob;
use super::guest::{Guest, refused};
use super::limits::{self, LimitExceeded};
use toolgate_core::file_name;
use wasmtime::component::Resource;

impl Guest {
    /// A blob as a guest describes it. Its media type and its name are short.
    fn take_blob(
        &mut self,
        blob: Blob,
    ) -> wasmtime::Result<Result<Resource<Blob>, types::ToolError>> {
        let short = |text: &str| text.len() <= limits::BLOB_WORD_BYTES_MAX;
        if short(&blob.media_type) && blob.name.as_deref().is_none_or(short) {
            return self.keep_blob(blob).map(Ok);
        }
        Ok(Err(refused(
            types::ErrorKind::InvalidArguments,
            "media type and name of a file are at most 1 KiB long",
        )))
    }

    /// Takes a blob into the call's table; the sum of all blobs is bounded.
    pub(super) fn keep_blob(&mut self, blob: Blob) -> wasmtime::Result<Resource<Blob>> {
        self.blob_bytes = self.blob_bytes.saturating_add(blob.bytes());
        if self.blob_bytes > limits::BLOB_BYTES_MAX {
            return Err(self.too_many_bytes());
        }
        Ok(self.table.push(blob)?)
    }

    /// Ends the call.
    fn too_many_bytes(&mut self) -> wasmtime::Error {
        let exceeded = LimitExceeded::Blobs(limits::BLOB_BYTES_MAX >> 20);
        self.limiter.meter.exceeded.get_or_insert(exceeded);
        exceeded.into()
    }
}

impl wit::HostBlob for Guest {
    fn size(&mut self, blob: Resource<Blob>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&blob)?.data.len() as u64)
    }

    fn media_type(&mut self, blob: Resource<Blob>) -> wasmtime::Result<String> {
        Ok(self.table.get(&blob)?.media_type.clone())
    }

    fn name(&mut self, blob: Resource<Blob>) -> wasmtime::Result<Option<String>> {
        Ok(self.table.get(&blob)?.name.clone())
    }

    fn read(
        &mut self,
        blob: Resource<Blob>,
        offset: u64,
        len: u32,
    ) -> wasmtime::Result<Result<Vec<u8>, types::ToolError>> {
        let data = &self.table.get(&blob)?.data;
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(data.len());
        let len = (len as usize)
            .min(limits::BLOB_READ_BYTES_MAX)
            .min(data.len() - start);
        Ok(Ok(data[start..start + len].to_vec()))
    }

    fn append(
        &mut self,
        blob: Resource<Blob>,
        data: Vec<u8>,
    ) -> wasmtime::Result<Result<(), types::ToolError>> {
        let found = self.table.get_mut(&blob)?;
        let others = self.blob_bytes.saturating_sub(found.bytes());
        let room = limits::BLOB_BYTES_MAX.saturating_sub(self.blob_bytes);
        if !found.append(&data, room) {
            return Err(self.too_many_bytes());
        }
        self.blob_bytes = others + found.bytes();
        Ok(Ok(()))
    }

    fn drop(&mut self, blob: Resource<Blob>) -> wasmtime::Result<()> {
        let gone = self.table.delete(blob)?;
        self.blob_bytes = self.blob_bytes.saturating_sub(gone.bytes());
        Ok(())
    }
}

impl wit::Host for Guest {
    fn create(
        &mut self,
        media_type: String,
        name: Option<String>,
        data: Vec<u8>,
    ) -> wasmtime::Result<Result<Resource<Blob>, types::ToolError>> {
        self.take_blob(Blob::new(media_type, name, data.into()))
    }

    /// A file reference is the handle of a file that the host keeps, or a `data:` URL (RFC 2397) with base64 content:
    /// then the caller's file travels inside the arguments and is decoded here, outside guest memory.
    fn open(
        &mut self,
        reference: String,
    ) -> wasmtime::Result<Result<Resource<Blob>, types::ToolError>> {
        let reference = reference.trim();
        let kept = self.files.iter().find(|file| file.handle == reference);
        let kept = kept.map(|file| {
            Blob::new(
                file.media_type.clone(),
                file.name.clone(),
                file.content.clone(),
            )
        });
        match kept.or_else(|| parse_data_url(reference)) {
            Some(blob) => self.take_blob(blob),
            None => Ok(Err(refused(
                types::ErrorKind::InvalidArguments,
                "this is no file: send the handle of a file (file_...) that you uploaded or that a tool returned and \
                 that has not expired, or a data URL: data:<media type>;base64,<content>",
            ))),
        }
    }
}

fn parse_data_url(text: &str) -> Option<Blob> {
    let (head, content) = text.strip_prefix("data:")?.split_once(',')?;
    let head = head.strip_suffix(";base64")?;
    let (media_type, parameters) = head.split_once(';').unwrap_or((head, ""));
    // A name that URL rules do not allow is percent-encoded (RFC 2397, section 3).
    let name = parameters.split(';').find_map(|one| {
        let (key, value) = one.split_once('=')?;
        let named = ["name", "filename"]
            .iter()
            .any(|known| key.trim().eq_ignore_ascii_case(known));
        named.then(|| file_name::safe(&file_name::decoded(value.trim_matches('"'))))?
    });
    let media_type = if media_type.is_empty() {
        "application/octet-stream"
    } else {
        media_type
    };
    let data = base64::engine::general_purpose::STANDARD
        .decode(content.trim())
        .ok()?;
    Some(Blob::new(media_type.to_owned(), name, data.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_base64_data_urls_are_file_references() {
        let blob = parse_data_url("data:text/plain;name=a.txt;base64,aGk=").expect("a file");
        assert_eq!(
            (blob.media_type.as_str(), blob.name.as_deref()),
            ("text/plain", Some("a.txt"))
        );
        assert_eq!(&blob.data[..], b"hi");
        for (parameters, name) in [
            (
                ";name=r%C3%A9sum%C3%A9%20%22q%22.pdf",
                Some("résumé \"q\".pdf"),
            ),
            (";name=plain name.pdf", Some("plain name.pdf")),
            (";NAME=\"a.pdf\"", Some("a.pdf")),
            (
                ";charset=utf-8;filename=%E6%97%A5%E6%9C%AC.txt",
                Some("日本.txt"),
            ),
            (";name=..%2F..%2Fetc%2Fpasswd", Some("passwd")),
            (";name=a%0d%0aX: y.txt", Some("aX y.txt")),
            (";name=100%.txt", Some("100%.txt")),
            (";name=%E2%80%AEfdp.exe", Some("fdp.exe")),
            (";name=%2F", None),
            (";names=x", None),
        ] {
            let url = format!("data:application/pdf{parameters};base64,aGVsbG8=");
            let blob = parse_data_url(&url).expect("a file");
            assert_eq!(blob.name.as_deref(), name, "{parameters}");
        }
        for bad in [
            "",
            "hi",
            "data:,hi",
            "data:text/plain,hi",
            "data:;base64,%%",
            "file:///etc/passwd",
        ] {
            assert!(parse_data_url(bad).is_none(), "{bad}");
        }
    }
}
