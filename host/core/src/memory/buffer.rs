//! Bytes that are read into memory piece by piece. The memory is taken from a budget before it is used.

use super::{HeldMemory, MemoryAccount, NoFreeMemory};

/// Up to this size nothing is taken: the usual body costs no look at the budget.
pub const FREE_BYTES: usize = 64 << 10;

/// The bytes so far, and their memory.
#[derive(Debug)]
pub struct BudgetedBuffer<'a> {
    account: Option<&'a MemoryAccount>,
    bytes: Vec<u8>,
    bytes_max: usize,
    held: Option<HeldMemory>,
}

impl<'a> BudgetedBuffer<'a> {
    /// Without an account the memory is not counted. `bytes_max`: no more is reserved than this, unless more is added.
    pub fn new(account: Option<&'a MemoryAccount>, bytes_max: usize) -> Self {
        Self {
            account,
            bytes: Vec::new(),
            bytes_max,
            held: None,
        }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes memory for `bytes` in all.
    ///
    /// # Errors
    /// As [`HeldMemory::grow`].
    pub async fn take(&mut self, bytes: usize) -> Result<(), NoFreeMemory> {
        let Some(account) = self.account.filter(|_| bytes > FREE_BYTES) else {
            return Ok(());
        };
        let held = self.held.get_or_insert_with(|| account.hold());
        held.grow_to(bytes).await
    }

    /// Adds a piece. The memory doubles, so that each byte is copied once more on average.
    ///
    /// # Errors
    /// As [`HeldMemory::grow`]; nothing is added.
    pub async fn extend(&mut self, piece: &[u8]) -> Result<(), NoFreeMemory> {
        let length = self.bytes.len() + piece.len();
        let capacity = self.bytes.capacity();
        if length > capacity {
            let wanted = length.max((2 * capacity).min(self.bytes_max));
            self.take(wanted).await?;
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// The bytes, and their memory, if any was taken.
    pub fn into_parts(self) -> (Vec<u8>, Option<HeldMemory>) {
        (self.bytes, self.held)
    }
}

/// Bytes that hold their memory.
#[derive(Debug)]
pub struct CountedBytes<B, H> {
    bytes: B,
    _held: H,
}

impl<B, H> CountedBytes<B, H> {
    pub fn new(bytes: B, held: H) -> Self {
        Self { bytes, _held: held }
    }
}

impl<B: AsRef<[u8]>, H> AsRef<[u8]> for CountedBytes<B, H> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::memory::MemoryBudget;

    const KIB: usize = 1 << 10;

    fn piece(bytes: usize) -> Vec<u8> {
        vec![b'x'; bytes]
    }

    fn used(budget: &MemoryBudget) -> usize {
        usize::try_from(budget.now().used_bytes).expect("a small number")
    }

    #[tokio::test]
    async fn a_small_body_takes_nothing_and_a_larger_one_what_is_reserved() {
        let budget = Arc::new(MemoryBudget::new(1 << 20));
        let account = budget.account("a".into());
        let mut buffer = BudgetedBuffer::new(Some(&account), 200 * KIB);
        buffer.extend(&piece(FREE_BYTES)).await.expect("free");
        assert_eq!(used(&budget), 0);
        buffer.extend(b"x").await.expect("there is memory");
        assert_eq!(used(&budget), 2 * FREE_BYTES, "doubled");
        buffer
            .extend(&piece(70 * KIB))
            .await
            .expect("there is memory");
        assert_eq!(used(&budget), 200 * KIB, "not beyond what it may be");
        let (bytes, held) = buffer.into_parts();
        assert_eq!(bytes.len(), 134 * KIB + 1);
        assert!(bytes.capacity() <= used(&budget));
        drop(held);
        assert_eq!(used(&budget), 0);
    }

    #[tokio::test]
    async fn a_piece_without_memory_is_not_added() {
        let budget = Arc::new(MemoryBudget::new(100 * KIB as u64));
        let account = budget.account("a".into());
        let mut buffer = BudgetedBuffer::new(Some(&account), 1 << 20);
        buffer.extend(&piece(80 * KIB)).await.expect("alone");
        assert_eq!(buffer.extend(&piece(30 * KIB)).await, Err(NoFreeMemory));
        assert_eq!((buffer.len(), used(&budget)), (80 * KIB, 80 * KIB));
        drop(buffer);
        assert_eq!((used(&budget), budget.now().refused), (0, 1));
    }

    #[tokio::test]
    async fn without_an_account_nothing_is_counted() {
        let mut buffer = BudgetedBuffer::new(None, 1 << 20);
        buffer
            .extend(&piece(80 * KIB))
            .await
            .expect("nothing refuses");
        let (bytes, held) = buffer.into_parts();
        assert_eq!(bytes.len(), 80 * KIB);
        assert!(held.is_none());
    }
}
