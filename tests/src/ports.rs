//! Ports for the servers of tests.

use std::net::TcpListener;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range that the kernel gives to clients.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// Returns a port that nobody listens on. No later call in this process returns it again before the whole
/// range was used.
///
/// A server does not hold its port before it listens or while it restarts, so a port chosen at random could
/// already belong to another test.
pub fn free_port() -> u16 {
    /// Starts at a random port, so that concurrent test runs rarely choose the same ones.
    static NEXT: LazyLock<AtomicU16> =
        LazyLock::new(|| AtomicU16::new(rand::random_range(0..COUNT)));
    loop {
        let port = FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{COUNT, FIRST, free_port};

    #[test]
    fn a_port_is_given_once() {
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(|| (0..2_500).map(|_| free_port()).collect::<Vec<_>>()))
            .collect();
        let ports: Vec<u16> = threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("ports"))
            .collect();
        let distinct: BTreeSet<_> = ports.iter().collect();
        assert_eq!(distinct.len(), ports.len());
        assert!(
            ports
                .iter()
                .all(|port| (FIRST..FIRST + COUNT).contains(port))
        );
    }
}
