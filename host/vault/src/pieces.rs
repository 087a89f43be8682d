//! Bytes at rest of which a part is read at a time.
//!
//! The data key is a box without content, beside the bytes. These are pieces of [`PIECE_BYTES`], each AES-256-GCM with
//! a nonce in front. The number of a piece, and whether it is the last, is associated data: pieces do not change
//! places, and an end that is cut off is seen.

use super::master::{Vault, VaultError, named};
use super::sealed::{
    NONCE_BYTES, Parts, SealContext, SealError, TAG_BYTES, decrypt, encrypt, fresh_key, write,
};

/// Bytes of each piece but the last.
pub const PIECE_BYTES: usize = 64 * 1024;
/// What sealing adds to a piece.
pub const PIECE_OVERHEAD: usize = NONCE_BYTES + TAG_BYTES;
const SEALED_PIECE_BYTES: usize = PIECE_BYTES + PIECE_OVERHEAD;

/// Bytes as they are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedPieces {
    /// The data key, as the beginning of a box.
    pub key: String,
    pub bytes: Vec<u8>,
}

/// How many bytes so many sealed ones hold.
pub fn plain_bytes(sealed_bytes: usize) -> usize {
    sealed_bytes.saturating_sub(sealed_bytes.div_ceil(SEALED_PIECE_BYTES) * PIECE_OVERHEAD)
}

/// Where the pieces are, among the sealed bytes, that hold `count` bytes from `offset`: the first and their number.
pub fn sealed_range(offset: usize, count: usize) -> (usize, usize) {
    let first = offset / PIECE_BYTES;
    let end = offset.saturating_add(count).div_ceil(PIECE_BYTES);
    let from = first.saturating_mul(SEALED_PIECE_BYTES);
    let pieces = end.saturating_sub(first).max(1);
    (from, pieces.saturating_mul(SEALED_PIECE_BYTES))
}

impl Vault {
    /// Seals bytes for one place.
    pub fn seal_pieces(
        &self,
        place: &SealContext<'_>,
        plain: &[u8],
    ) -> Result<SealedPieces, VaultError> {
        let keys = self.current()?;
        let data_key = fresh_key();
        let pieces = plain.len().div_ceil(PIECE_BYTES).max(1);
        let mut bytes = Vec::with_capacity(plain.len() + pieces * PIECE_OVERHEAD);
        for number in 0..pieces {
            let from = number * PIECE_BYTES;
            let piece = &plain[from..plain.len().min(from + PIECE_BYTES)];
            bytes.extend(encrypt(
                &data_key,
                piece,
                &purpose(place, number, number + 1 == pieces),
            ));
        }
        let key = write(&keys.current, &data_key, &[], place);
        Ok(SealedPieces { key, bytes })
    }

    /// `count` bytes from `offset`, or fewer at the end. `range`: the sealed bytes at [`sealed_range`], of
    /// `sealed_bytes` in all.
    pub fn unseal_pieces(
        &self,
        place: &SealContext<'_>,
        key: &str,
        range: &[u8],
        sealed_bytes: usize,
        (offset, count): (usize, usize),
    ) -> Result<Vec<u8>, VaultError> {
        let parts = Parts::parse_head(key)?;
        let keys = self.keys_with(&parts.key_id)?;
        let data_key = parts.data_key(named(&keys, &parts)?, place)?;
        let first = offset / PIECE_BYTES;
        let pieces = sealed_bytes.div_ceil(SEALED_PIECE_BYTES);
        let mut plain = Vec::with_capacity(range.len());
        for (at, piece) in range.chunks(SEALED_PIECE_BYTES).enumerate() {
            let number = first + at;
            let aad = purpose(place, number, number + 1 == pieces);
            plain.extend_from_slice(&decrypt(&data_key, piece, &aad)?);
        }
        let skipped = offset - first * PIECE_BYTES;
        if skipped > plain.len() {
            return Err(VaultError::Sealed(SealError::Format));
        }
        plain.drain(..skipped);
        plain.truncate(count);
        Ok(plain)
    }
}

fn purpose(place: &SealContext<'_>, number: usize, last: bool) -> Vec<u8> {
    let end = if last { " last" } else { "" };
    place.associated_data(&format!("piece {number}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: SealContext<'static> = SealContext {
        kind: "result",
        workspace_id: "ws_1",
        user_id: "",
        service: "",
        id: "res_1",
    };

    fn vault() -> (tempfile::TempDir, Vault) {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(&dir.path().join("master.key")).unwrap();
        (dir, vault)
    }

    fn read(
        vault: &Vault,
        sealed: &SealedPieces,
        offset: usize,
        count: usize,
    ) -> Result<Vec<u8>, VaultError> {
        let (from, most) = sealed_range(offset, count);
        let from = from.min(sealed.bytes.len());
        let range = &sealed.bytes[from..sealed.bytes.len().min(from + most)];
        vault.unseal_pieces(
            &HOME,
            &sealed.key,
            range,
            sealed.bytes.len(),
            (offset, count),
        )
    }

    #[test]
    fn every_part_of_every_size_reads_as_it_was() {
        let (_dir, vault) = vault();
        for size in [
            0,
            1,
            PIECE_BYTES - 1,
            PIECE_BYTES,
            PIECE_BYTES + 1,
            3 * PIECE_BYTES + 7,
        ] {
            let plain: Vec<u8> = (0..size).map(|n| (n % 251) as u8).collect();
            let sealed = vault.seal_pieces(&HOME, &plain).unwrap();
            assert_eq!(plain_bytes(sealed.bytes.len()), size);
            for (offset, count) in [
                (0, size),
                (size / 2, 1_000),
                (size.saturating_sub(1), 5),
                (PIECE_BYTES.min(size), 2 * PIECE_BYTES),
            ] {
                let expected = &plain[offset..size.min(offset + count)];
                let found = read(&vault, &sealed, offset, count).unwrap();
                assert_eq!(found, expected, "{count} from {offset} of {size}");
            }
        }
    }

    #[test]
    fn pieces_do_not_change_places_and_no_end_is_cut_off() {
        let (_dir, vault) = vault();
        let sealed = vault.seal_pieces(&HOME, &vec![7; 3 * PIECE_BYTES]).unwrap();
        let altered = |change: fn(&mut Vec<u8>)| {
            let mut sealed = sealed.clone();
            change(&mut sealed.bytes);
            read(&vault, &sealed, 0, 3 * PIECE_BYTES)
        };
        assert!(altered(|_| {}).is_ok());
        assert!(altered(|bytes| bytes.rotate_left(SEALED_PIECE_BYTES)).is_err());
        assert!(altered(|bytes| bytes.truncate(2 * SEALED_PIECE_BYTES)).is_err());
        assert!(altered(|bytes| bytes[100] ^= 1).is_err());
        let elsewhere = SealContext {
            id: "res_2",
            ..HOME
        };
        let bytes = (&sealed.bytes[..], sealed.bytes.len());
        let moved = vault.unseal_pieces(&elsewhere, &sealed.key, bytes.0, bytes.1, (0, 10));
        assert!(moved.is_err());
    }

    #[test]
    fn a_rewrapped_key_opens_the_pieces_under_the_new_master_key() {
        let (_dir, vault) = vault();
        let sealed = vault.seal_pieces(&HOME, b"words").unwrap();
        vault.rotate_key().unwrap();
        let key = vault.rewrap_head(&HOME, &sealed.key).unwrap().unwrap();
        let moved = SealedPieces { key, ..sealed };
        assert_eq!(read(&vault, &moved, 0, 5).unwrap(), b"words");
    }
}
