//! Components that nobody wrote: bytes changed at random, cut, doubled and glued together.

use toolgate::egress::{Egress, EgressConfig};
use toolgate::runtime::Runtime;
use toolgate_tests::component::Fixture;

const FILES: u64 = 300;

/// A generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % below.max(1)
    }
}

fn changed(mut file: Vec<u8>, other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    for _ in 0..=numbers.next(4) {
        let at = numbers.next(file.len());
        let to = at + numbers.next(file.len() - at);
        match numbers.next(6) {
            0 => file[at] = numbers.next(256) as u8,
            1 => file[at] ^= 1 << numbers.next(8),
            2 => file.truncate(at.max(8)),
            3 => drop(file.drain(at.max(8).min(to)..to)),
            4 => {
                let piece = file[at..to].to_vec();
                file.splice(at..at, piece);
            }
            _ => {
                let from = numbers.next(other.len());
                let piece = &other[from..(from + 64).min(other.len())];
                file.splice(at..at, piece.iter().copied());
            }
        }
    }
    file
}

/// Defence: `runtime/inspect.rs` takes nothing for granted.
#[tokio::test(flavor = "multi_thread")]
async fn every_file_is_accepted_or_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let egress = Egress::new(EgressConfig::default()).unwrap();
    let runtime = Runtime::open(folder.path(), [1; 32], egress).unwrap();
    let good = Fixture::new("good").build();
    let other = Fixture::new("other").hook().build();
    let mut refused = 0;
    for seed in 1..=FILES {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let file = changed(good.clone(), &other, &mut numbers);
        // A panic of the judge would be an error of its task.
        let inspecting = runtime.clone();
        let judged = tokio::spawn(async move { inspecting.inspect(file).await });
        if let Err(rejected) = judged.await.unwrap_or_else(|_| panic!("file {seed}")) {
            assert!(!rejected.reason().is_empty());
            assert!(
                !rejected.reason().contains("panicked"),
                "file {seed}: {}",
                rejected.reason()
            );
            refused += 1;
        }
    }
    println!("{refused} of {FILES} files were refused");
    assert!(refused > FILES / 2);
}
