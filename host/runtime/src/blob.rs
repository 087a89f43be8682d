//! One file of a call in the memory of the host.

use bytes::{Bytes, BytesMut};

/// One byte object: content, media type and, where there is one, a file name.
#[derive(Clone, Debug)]
pub struct Blob {
    pub media_type: String,
    pub name: Option<String>,
    pub data: Bytes,
    /// Bytes of memory behind `data`: more than its length once something was appended.
    capacity: usize,
}

/// A file of the caller, kept by the host, that the arguments name.
#[derive(Clone, Debug)]
pub struct CallFile {
    /// As the arguments name it.
    pub handle: String,
    pub media_type: String,
    pub name: Option<String>,
    pub content: Bytes,
}

impl Blob {
    pub(super) fn new(media_type: String, name: Option<String>, data: Bytes) -> Self {
        Self {
            media_type,
            name,
            capacity: data.len(),
            data,
        }
    }

    /// Memory that it uses in the host.
    pub(super) fn bytes(&self) -> usize {
        self.capacity + self.media_type.len() + self.name.as_ref().map_or(0, String::len)
    }

    /// Adds to the end, where that takes at most `room` more bytes of memory. The memory doubles, so that
    /// many small pieces cost one copy of each byte on average.
    pub(super) fn append(&mut self, data: &[u8], room: usize) -> bool {
        let length = self.data.len() + data.len();
        let capacity_max = self.capacity.saturating_add(room);
        if length > capacity_max {
            return false;
        }
        let capacity = length.max(2 * self.data.len()).min(capacity_max);
        let moved = |content: &[u8]| {
            let mut moved = BytesMut::with_capacity(capacity);
            moved.extend_from_slice(content);
            moved
        };
        // A request that has been sent may still share the content.
        let mut content = match std::mem::take(&mut self.data).try_into_mut() {
            Ok(own) if own.capacity() >= length => own,
            Ok(full) => moved(&full),
            Err(shared) => moved(&shared),
        };
        content.extend_from_slice(data);
        self.capacity = content.capacity();
        self.data = content.freeze();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(content: &'static [u8]) -> Blob {
        Blob::new("text/plain".to_owned(), None, Bytes::from_static(content))
    }

    #[test]
    fn pieces_are_added_in_order_and_moved_seldom() {
        let mut blob = blob(b"");
        let mut moves = 0;
        let mut expected = Vec::new();
        for piece in 0..10_000_u32 {
            let before = blob.data.as_ptr();
            assert!(blob.append(&piece.to_le_bytes(), 1 << 20));
            expected.extend_from_slice(&piece.to_le_bytes());
            moves += u32::from(blob.data.as_ptr() != before);
        }
        assert_eq!(blob.data, expected);
        assert!(moves <= 16, "{moves} moves of 40,000 bytes");
        assert!(blob.bytes() <= 2 * expected.len() + "text/plain".len());
    }

    #[test]
    fn content_that_a_request_shares_does_not_change() {
        let mut blob = blob(b"one");
        assert!(blob.append(b" two", 100));
        let sent = blob.data.clone();
        assert!(blob.append(b" three", 100));
        assert_eq!(&sent[..], b"one two");
        assert_eq!(&blob.data[..], b"one two three");
    }

    #[test]
    fn a_piece_needs_room_and_never_takes_more() {
        let mut blob = blob(b"0123456789");
        let before = blob.bytes();
        assert!(!blob.append(b"abc", 2));
        assert_eq!(&blob.data[..], b"0123456789", "a refusal changes nothing");
        assert!(blob.append(b"abc", 3));
        assert_eq!(blob.bytes(), before + 3);
        assert!(!blob.append(b"d", 0));
        assert!(blob.append(b"", 0));
        assert_eq!(&blob.data[..], b"0123456789abc");
    }
}
