//! The memory of answers: taken from a budget while an answer is read, and given back with its last copy.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::{EgressFailure, FailureKind};
use toolgate_core::memory::buffer::{BudgetedBuffer, CountedBytes, FREE_BYTES};
use toolgate_core::memory::{HeldMemory, MemoryAccount, NoFreeMemory};

const NO_MEMORY: &str = "the gateway has no memory left for the answer";

/// Where the answers to one call take their memory. The default counts nothing: it is for the host's own requests.
#[derive(Debug, Default)]
pub struct AnswerMemory {
    account: Option<MemoryAccount>,
    /// An answer was not read.
    ran_out: AtomicBool,
}

impl AnswerMemory {
    pub fn new(account: MemoryAccount) -> Self {
        Self {
            account: Some(account),
            ran_out: AtomicBool::new(false),
        }
    }

    /// Whether an answer was not read because there was no memory for it.
    pub fn has_run_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }

    /// Refuses a request of a call that has lost an answer before.
    pub(super) fn check(&self) -> Result<(), EgressFailure> {
        match self.has_run_out() {
            true => Err(EgressFailure::unsent(
                FailureKind::BudgetExhausted,
                NO_MEMORY,
            )),
            false => Ok(()),
        }
    }

    /// `bytes_max`: how long the body is, or may be.
    pub(super) fn body(&self, bytes_max: usize) -> BudgetedAnswer<'_> {
        BudgetedAnswer {
            memory: self,
            buffer: BudgetedBuffer::new(self.account.as_ref(), bytes_max),
        }
    }

    fn refuse(&self) -> EgressFailure {
        self.ran_out.store(true, Ordering::Relaxed);
        EgressFailure {
            kind: FailureKind::BudgetExhausted,
            message: NO_MEMORY.to_owned(),
            sent: true,
        }
    }
}

/// The body of an answer while it is read.
pub(super) struct BudgetedAnswer<'a> {
    memory: &'a AnswerMemory,
    buffer: BudgetedBuffer<'a>,
}

impl BudgetedAnswer<'_> {
    pub(super) fn len(&self) -> usize {
        self.buffer.len()
    }

    pub(super) async fn extend(&mut self, part: &[u8]) -> Result<(), EgressFailure> {
        let extended = self.buffer.extend(part).await;
        extended.map_err(|NoFreeMemory| self.memory.refuse())
    }

    pub(super) fn whole(self) -> Bytes {
        let (body, held) = self.buffer.into_parts();
        counted(body.into(), held)
    }

    /// The body that `open` makes of this one, in memory of its own. Where that is not free at once, only the closed
    /// body waits for it and is opened again: opened bodies that wait together could exceed the budget.
    pub(super) async fn opened(
        self,
        open: impl Fn(Bytes) -> Result<Bytes, EgressFailure>,
    ) -> Result<Bytes, EgressFailure> {
        let memory = self.memory;
        let (closed, mut held) = self.buffer.into_parts();
        let closed = Bytes::from(closed);
        let mut body = open(closed.clone())?;
        let bytes = body.len();
        if let Some(account) = memory.account.as_ref()
            && bytes > FREE_BYTES
        {
            let held = held.get_or_insert_with(|| account.hold());
            if !held.try_grow_to(bytes) {
                drop(body);
                let grown = held.grow_to(bytes).await;
                grown.map_err(|NoFreeMemory| memory.refuse())?;
                body = open(closed)?;
            }
        }
        Ok(counted(body, held))
    }
}

fn counted(body: Bytes, held: Option<HeldMemory>) -> Bytes {
    match held {
        Some(held) => Bytes::from_owner(CountedBytes::new(body, held)),
        None => body,
    }
}
