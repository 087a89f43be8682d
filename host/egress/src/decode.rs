//! Opening a compressed body under the same cap as a plain one.
//!
//! Pure. The gateway asks for plain bodies, but some providers always compress; what the scrubber
//! cannot read may not pass, and what grows beyond the cap is dropped while it grows.

use std::io::Read;

use bytes::Bytes;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// Why a body cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the provider compressed the answer in a way that was not asked for")]
    Unknown,
    #[error("the provider's compressed answer is damaged")]
    Damaged,
    #[error("the answer is larger than allowed")]
    TooLarge,
}

/// The body behind one `content-encoding` (RFC 9110, section 8.4.1): `gzip`, `deflate` or `identity`.
pub fn decode(encoding: &[u8], body: Bytes, bytes_max: usize) -> Result<Bytes, DecodeError> {
    match encoding.trim_ascii().to_ascii_lowercase().as_slice() {
        b"" | b"identity" => Ok(body),
        b"gzip" | b"x-gzip" => read(MultiGzDecoder::new(&body[..]), bytes_max),
        // Some servers leave the zlib wrapper out (RFC 9110, section 8.4.1.2).
        b"deflate" => read(ZlibDecoder::new(&body[..]), bytes_max).or_else(|error| match error {
            DecodeError::TooLarge => Err(error),
            _ => read(DeflateDecoder::new(&body[..]), bytes_max),
        }),
        _ => Err(DecodeError::Unknown),
    }
}

fn read(decoder: impl Read, bytes_max: usize) -> Result<Bytes, DecodeError> {
    let mut open = Vec::new();
    let limit = (bytes_max as u64).saturating_add(1);
    decoder
        .take(limit)
        .read_to_end(&mut open)
        .map_err(|_| DecodeError::Damaged)?;
    if open.len() > bytes_max {
        Err(DecodeError::TooLarge)
    } else {
        Ok(Bytes::from(open))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    #[test]
    fn what_providers_send_is_opened() {
        let plain = b"plain text, plain text".as_slice();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        for encoder in [&mut gzip as &mut dyn Write, &mut zlib, &mut raw] {
            encoder.write_all(plain).expect("memory");
        }
        let gzip = gzip.finish().expect("memory");
        let cut = gzip[..gzip.len() - 4].to_vec();
        for (encoding, body, expected) in [
            ("gzip", gzip.clone(), Ok(plain)),
            (" X-GZIP ", gzip.clone(), Ok(plain)),
            ("deflate", zlib.finish().expect("memory"), Ok(plain)),
            ("deflate", raw.finish().expect("memory"), Ok(plain)),
            ("identity", plain.to_vec(), Ok(plain)),
            ("gzip", cut, Err(DecodeError::Damaged)),
            ("gzip", plain.to_vec(), Err(DecodeError::Damaged)),
            ("gzip, gzip", gzip, Err(DecodeError::Unknown)),
            ("br", plain.to_vec(), Err(DecodeError::Unknown)),
        ] {
            let open = decode(encoding.as_bytes(), Bytes::from(body), plain.len());
            assert_eq!(
                open.as_deref().map_err(|error| *error),
                expected,
                "{encoding}"
            );
        }
    }

    #[test]
    fn a_bomb_stops_at_the_cap() {
        let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
        bomb.write_all(&vec![0; 10 * 1024 * 1024]).expect("memory");
        let bomb = Bytes::from(bomb.finish().expect("memory"));
        assert!(bomb.len() < 20_000);
        assert_eq!(
            decode(b"gzip", bomb.clone(), 1024),
            Err(DecodeError::TooLarge)
        );
        assert_eq!(
            decode(b"gzip", bomb.clone(), 10 * 1024 * 1024 - 1),
            Err(DecodeError::TooLarge)
        );
        assert!(decode(b"gzip", bomb, 10 * 1024 * 1024).is_ok());
    }
}
