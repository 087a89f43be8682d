//! The source of a guest's random bytes.

use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// Where a guest's random bytes come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Random {
    #[default]
    System,
    /// 0, 1, 2 and on, the same for every ask: a replayed call has to send what it sent before.
    Counting,
    /// From this seed: a run that was planned has to send what the plan says.
    Seeded([u8; 32]),
}

impl Random {
    /// What a seeded guest draws from, here and through WASI.
    pub(super) fn generator(self) -> Option<StdRng> {
        match self {
            Self::Seeded(seed) => Some(StdRng::from_seed(seed)),
            Self::System | Self::Counting => None,
        }
    }
}
