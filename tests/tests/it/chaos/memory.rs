//! Whether the memory of gateways grows with what they have done.

use toolgate_tests::notes::NotesGateways;

/// Of a long run: the resident memory at its end, as a multiple of the one after the warm-up.
const GROWTH_MAX: f64 = 1.3;

/// The resident memory of each gateway at one time, in bytes, with its process.
pub(super) struct MemoryUse(Vec<(u32, u64)>);

impl MemoryUse {
    pub(super) fn measure(gateways: &NotesGateways) -> Self {
        let measured = (0..gateways.installations.len()).map(|n| {
            let process = gateways.process(n);
            let memory = process.memory().expect("the memory of a process");
            (process.id().expect("it runs"), memory.resident_bytes)
        });
        Self(measured.collect())
    }

    /// Says how it was and how it is. `flat`: fails where it has grown.
    pub(super) fn compare(&self, now: &Self, flat: bool) -> String {
        let gateways = self.0.iter().zip(&now.0).map(|(before, now)| {
            let same = before.0 == now.0;
            let said = format!(
                "{} MiB after the warm-up, {} MiB at the end{}",
                before.1 >> 20,
                now.1 >> 20,
                if same { "" } else { " in another process" }
            );
            let allowed = before.1 as f64 * GROWTH_MAX;
            assert!(!flat || same, "a process was ended: {said}");
            assert!(!flat || now.1 as f64 <= allowed, "memory grows: {said}");
            said
        });
        gateways.collect::<Vec<_>>().join("; ")
    }
}
