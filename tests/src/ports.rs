//! Ports for the servers of tests.

use std::net::TcpListener;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range that the kernel gives to clients.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port that nobody listens on, and that no other caller in this process gets.
///
/// A server that is about to start, or that restarts, does not hold its port. Were ports drawn at random,
/// another test could take it in that moment.
pub fn free_port() -> u16 {
    /// Random, because a server of an earlier run may still hold what that run began with.
    static NEXT: LazyLock<AtomicU16> =
        LazyLock::new(|| AtomicU16::new(rand::random_range(0..COUNT)));
    loop {
        let taken = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
            Some((next + 1) % COUNT)
        });
        let port = FIRST + taken.expect("every update is accepted");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::free_port;

    #[test]
    fn a_port_is_given_once() {
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(|| (0..250).map(|_| free_port()).collect::<Vec<_>>()))
            .collect();
        let ports: Vec<u16> = threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("ports"))
            .collect();
        let distinct: BTreeSet<_> = ports.iter().collect();
        assert_eq!(distinct.len(), ports.len());
    }
}
