//! Deliveries that were not taken: counted in memory, written together.
//!
//! Anyone who has seen a hook's address can send to it, so a forged delivery costs no write. What is
//! counted is written every few seconds by [`crate::jobs::housekeeping`], one statement a hook and a
//! bounded number of hooks, and when somebody reads the hook. Who forges too much is not listened to
//! for the rest of the minute: a client by its address, and for a hook that many forge for, every
//! client that has not sent a good delivery before.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolgate_core::client_address::network;

const MINUTE_MS: i64 = 60_000;

/// Refused deliveries of one client in a minute, to whatever hooks, unknown ones included.
pub(crate) const REFUSED_PER_CLIENT: u32 = 120;
/// Refused deliveries to one hook in a minute; beyond it only known senders are listened to.
pub(crate) const REFUSED_PER_HOOK: u32 = 1_000;
/// Senders of good deliveries that are remembered for a hook.
const SENDERS_MAX: usize = 64;
/// Hooks and clients that are remembered at one time.
const REMEMBERED_MAX: usize = 10_000;
/// Hooks whose counts are written at one time.
pub(crate) const WRITTEN_AT_ONCE: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<RefusalTable>);

#[derive(Debug, Default)]
struct RefusalTable {
    clients: HashMap<IpAddr, Minute>,
    hooks: HashMap<String, Minute>,
    senders: HashMap<String, HashSet<IpAddr>>,
    unwritten: HashMap<String, UnwrittenRefusals>,
}

/// A count of one minute.
#[derive(Clone, Copy, Debug, Default)]
struct Minute {
    at: i64,
    count: u32,
}

/// What is known of a hook's refused deliveries and not written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnwrittenRefusals {
    pub count: i64,
    pub last_at_ms: i64,
    pub last_refusal: String,
}

impl Minute {
    fn now(&mut self, at: i64) -> &mut u32 {
        if self.at != at {
            *self = Self { at, count: 0 };
        }
        &mut self.count
    }

    fn reached(self, at: i64, max: u32) -> bool {
        self.at == at && self.count >= max
    }
}

impl Refusals {
    /// Seconds after which to ask again, if this client is not listened to now. Costs no look into the
    /// database. Without an address nobody can be told apart, and the hook alone is counted.
    pub(crate) fn wait_s(&self, hook: &str, client: Option<IpAddr>, now_ms: i64) -> Option<u64> {
        let at = now_ms.div_euclid(MINUTE_MS);
        let client = client.map(network);
        let table = self.table();
        let by_client = client.is_some_and(|client| {
            let refused = table.clients.get(&client);
            refused.is_some_and(|refused| refused.reached(at, REFUSED_PER_CLIENT))
        });
        let known = || {
            let senders = table.senders.get(hook);
            client.is_some_and(|client| senders.is_some_and(|all| all.contains(&client)))
        };
        let by_hook = || {
            let refused = table.hooks.get(hook);
            refused.is_some_and(|refused| refused.reached(at, REFUSED_PER_HOOK))
        };
        let refused = by_client || (by_hook() && !known());
        let rest_ms = MINUTE_MS - now_ms.rem_euclid(MINUTE_MS);
        refused.then(|| rest_ms.unsigned_abs().div_ceil(1_000))
    }

    /// A delivery to an address that is not a hook's.
    pub(crate) fn unknown(&self, client: Option<IpAddr>, now_ms: i64) {
        self.table().count_client(client, now_ms);
    }

    /// A delivery that nobody signed with the hook's secret.
    pub(crate) fn forged(&self, hook: &str, client: Option<IpAddr>, now_ms: i64) {
        let at = now_ms.div_euclid(MINUTE_MS);
        let mut table = self.table();
        table.count_client(client, now_ms);
        if table.hooks.len() >= REMEMBERED_MAX {
            table.hooks.retain(|_, minute| minute.at == at);
        }
        *table.hooks.entry(hook.to_owned()).or_default().now(at) += 1;
    }

    /// A delivery that was not taken, and why.
    pub(crate) fn refused(&self, hook: &str, why: &str, now_ms: i64) {
        let mut table = self.table();
        // Beyond the bound the counts are lost, the deliveries are refused all the same.
        if table.unwritten.len() >= REMEMBERED_MAX && !table.unwritten.contains_key(hook) {
            return;
        }
        let noted = table.unwritten.entry(hook.to_owned());
        let noted = noted.or_insert_with(|| UnwrittenRefusals {
            count: 0,
            last_at_ms: now_ms,
            last_refusal: String::new(),
        });
        noted.count += 1;
        noted.last_at_ms = now_ms;
        why.clone_into(&mut noted.last_refusal);
    }

    /// A delivery that was taken: its sender knows the secret.
    pub(crate) fn taken(&self, hook: &str, client: Option<IpAddr>) {
        let Some(client) = client.map(network) else {
            return;
        };
        let mut table = self.table();
        if table.senders.len() >= REMEMBERED_MAX && !table.senders.contains_key(hook) {
            table.senders.clear();
        }
        let senders = table.senders.entry(hook.to_owned()).or_default();
        if senders.len() < SENDERS_MAX {
            senders.insert(client);
        }
    }

    /// Takes what is to be written of one hook.
    pub(crate) fn take_of(&self, hook: &str) -> Option<UnwrittenRefusals> {
        self.table().unwritten.remove(hook)
    }

    /// Takes what is to be written now.
    pub(crate) fn take(&self) -> Vec<(String, UnwrittenRefusals)> {
        let mut table = self.table();
        let hooks: Vec<String> = table
            .unwritten
            .keys()
            .take(WRITTEN_AT_ONCE)
            .cloned()
            .collect();
        hooks
            .into_iter()
            .filter_map(|hook| table.unwritten.remove_entry(&hook))
            .collect()
    }

    fn table(&self) -> MutexGuard<'_, RefusalTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RefusalTable {
    fn count_client(&mut self, client: Option<IpAddr>, now_ms: i64) {
        let Some(client) = client.map(network) else {
            return;
        };
        let at = now_ms.div_euclid(MINUTE_MS);
        if self.clients.len() >= REMEMBERED_MAX {
            self.clients.retain(|_, minute| minute.at == at);
        }
        // More clients than that in one minute are told apart by nothing but the hook.
        if self.clients.len() < REMEMBERED_MAX || self.clients.contains_key(&client) {
            *self.clients.entry(client).or_default().now(at) += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 10 * MINUTE_MS + 15_000;

    fn address(n: u8) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, n]))
    }

    #[test]
    fn a_client_that_forges_is_not_listened_to_and_others_are() {
        let refusals = Refusals::default();
        for _ in 0..REFUSED_PER_CLIENT {
            assert_eq!(refusals.wait_s("con_a", address(1), NOW_MS), None);
            refusals.forged("con_a", address(1), NOW_MS);
        }
        assert_eq!(refusals.wait_s("con_a", address(1), NOW_MS), Some(45));
        assert_eq!(refusals.wait_s("con_b", address(1), NOW_MS), Some(45));
        assert_eq!(refusals.wait_s("con_a", address(2), NOW_MS), None);
        assert_eq!(refusals.wait_s("con_a", None, NOW_MS), None);
        let later_ms = NOW_MS + MINUTE_MS;
        assert_eq!(refusals.wait_s("con_a", address(1), later_ms), None);
    }

    #[test]
    fn unknown_addresses_count_against_their_client() {
        let refusals = Refusals::default();
        for _ in 0..REFUSED_PER_CLIENT {
            refusals.unknown(address(1), NOW_MS);
        }
        assert!(refusals.wait_s("con_a", address(1), NOW_MS).is_some());
        assert!(refusals.take().is_empty(), "and cost no write");
    }

    #[test]
    fn a_hook_that_many_forge_for_hears_its_provider() {
        let refusals = Refusals::default();
        refusals.taken("con_a", address(200));
        for n in 0..REFUSED_PER_HOOK {
            let n = u8::try_from(n % 100).expect("small");
            refusals.forged("con_a", address(n), NOW_MS);
        }
        assert!(refusals.wait_s("con_a", address(150), NOW_MS).is_some());
        assert!(refusals.wait_s("con_a", None, NOW_MS).is_some());
        assert_eq!(refusals.wait_s("con_a", address(200), NOW_MS), None);
        assert_eq!(refusals.wait_s("con_b", address(150), NOW_MS), None);
    }

    #[test]
    fn a_flood_is_one_write() {
        let refusals = Refusals::default();
        for n in 0..5_000 {
            refusals.refused("con_a", &format!("the {n}th"), NOW_MS + n);
        }
        let written = refusals.take();
        let all = UnwrittenRefusals {
            count: 5_000,
            last_at_ms: NOW_MS + 4_999,
            last_refusal: "the 4999th".to_owned(),
        };
        assert_eq!(written, [("con_a".to_owned(), all)]);
        assert!(refusals.take().is_empty() && refusals.take_of("con_a").is_none());
        for n in 0..WRITTEN_AT_ONCE * 2 {
            refusals.refused(&format!("con_{n}"), "forged", NOW_MS);
        }
        assert_eq!(refusals.take().len(), WRITTEN_AT_ONCE);
    }
}
