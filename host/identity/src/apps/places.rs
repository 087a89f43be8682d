//! How many documents of clients are read at one time. Anybody may name an address that is to be read, and its host
//! may answer slowly, so neither one host nor one network takes the places of the others.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use toolgate_core::client_address::network;

/// Documents that are read at one time, in all, from one host, and for requests of one network.
pub const DOCUMENTS_AT_ONCE: usize = 64;
pub const DOCUMENTS_OF_HOST_AT_ONCE: usize = 8;
pub const DOCUMENTS_FOR_NETWORK_AT_ONCE: usize = 4;

/// The documents that are being read.
#[derive(Debug, Default)]
pub(super) struct ReadingPlaces(Mutex<ReadingCounts>);

#[derive(Debug, Default)]
struct ReadingCounts {
    all: usize,
    of_hosts: HashMap<String, usize>,
    for_networks: HashMap<IpAddr, usize>,
}

/// The place of one document, given back when dropped.
#[derive(Debug)]
pub(super) struct ReadingPlace {
    places: Arc<ReadingPlaces>,
    host: String,
    network: Option<IpAddr>,
}

impl ReadingPlaces {
    /// A place for a document of `host` that a request from `address` names. `None`: all are taken at this moment.
    pub(super) fn take(
        self: &Arc<Self>,
        host: &str,
        address: Option<IpAddr>,
    ) -> Option<ReadingPlace> {
        let network = address.map(network);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_host = counts.of_hosts.get(host).copied().unwrap_or(0);
        let for_network = network.and_then(|one| counts.for_networks.get(&one).copied());
        let is_free = counts.all < DOCUMENTS_AT_ONCE
            && of_host < DOCUMENTS_OF_HOST_AT_ONCE
            && for_network.unwrap_or(0) < DOCUMENTS_FOR_NETWORK_AT_ONCE;
        is_free.then(|| {
            counts.all += 1;
            *counts.of_hosts.entry(host.to_owned()).or_default() += 1;
            if let Some(network) = network {
                *counts.for_networks.entry(network).or_default() += 1;
            }
            ReadingPlace {
                places: self.clone(),
                host: host.to_owned(),
                network,
            }
        })
    }
}

impl Drop for ReadingPlace {
    fn drop(&mut self) {
        let mut counts = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        lower(counts.of_hosts.entry(self.host.clone()));
        if let Some(network) = self.network {
            lower(counts.for_networks.entry(network));
        }
    }
}

fn lower<K>(count: Entry<'_, K, usize>) {
    if let Entry::Occupied(mut count) = count {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([198, 51, 100, last]))
    }

    #[test]
    fn neither_a_host_nor_a_network_takes_the_places_of_others() {
        let places = Arc::new(ReadingPlaces::default());
        let mut held = Vec::new();
        for n in 0..DOCUMENTS_FOR_NETWORK_AT_ONCE {
            held.push(
                places
                    .take(&format!("host{n}.test"), from(1))
                    .expect("a place"),
            );
        }
        assert!(places.take("other.test", from(1)).is_none(), "one network");
        for n in 0..DOCUMENTS_OF_HOST_AT_ONCE {
            let last = u8::try_from(10 + n).expect("small");
            held.push(places.take("slow.test", from(last)).expect("a place"));
        }
        assert!(places.take("slow.test", from(99)).is_none(), "one host");
        let honest = places.take("chatgpt.com", from(99));
        assert!(honest.is_some(), "another host for another network");
        let mut n = 0;
        while let Some(place) = places.take(&format!("many{n}.test"), None) {
            held.push(place);
            n += 1;
        }
        drop(honest);
        assert_eq!(held.len(), DOCUMENTS_AT_ONCE - 1);
        drop(held);
        let counts = places.0.lock().expect("whole");
        assert!(counts.all == 0 && counts.of_hosts.is_empty() && counts.for_networks.is_empty());
    }
}
