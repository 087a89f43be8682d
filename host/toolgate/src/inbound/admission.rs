//! The table of open connections: who may open one more, and who makes room for it.
//!
//! A connection that waits for its client (for a request, or for the rest of one) makes room when its
//! client has all that one client may have, or when the table is full: of the clients with the most
//! connections, those that have waited longest. A connection that the gateway is working for never
//! does; with nothing else in the table a newcomer is refused.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::activity::{Activity, Order, now_ms};
use super::limits::ConnectionLimits;
use toolgate_core::client_address::network;

/// The part of a bound that makes room at once: looking for who does costs a walk over the table.
const ROOM_SHARE: usize = 32;

#[derive(Debug)]
pub struct Admission {
    connections_max: usize,
    per_client_max: usize,
    table: Mutex<ConnectionTable>,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    next_id: u64,
    open: HashMap<u64, OpenConnection>,
    /// Connections of each client that has some.
    of_client: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct OpenConnection {
    /// `None`: a proxy, which is many clients.
    client: Option<IpAddr>,
    activity: Arc<Activity>,
}

/// A connection's line in the table, until it is dropped.
#[derive(Debug)]
pub struct ConnectionPermit {
    admission: Arc<Admission>,
    id: u64,
    activity: Arc<Activity>,
}

impl Admission {
    pub fn new(limits: &ConnectionLimits) -> Self {
        Self {
            connections_max: limits.connections_max,
            per_client_max: limits.connections_per_client,
            table: Mutex::default(),
        }
    }

    /// A place for one connection of `client`, or of a trusted proxy. `None`: everyone who is here is
    /// being served.
    pub fn admit(self: &Arc<Self>, client: Option<IpAddr>) -> Option<ConnectionPermit> {
        let client = client.map(network);
        let mut table = self.table();
        if let Some(client) = client
            && table.count(client) >= self.per_client_max
            && !table.evict(share(self.per_client_max), |open| {
                open.client == Some(client)
            })
        {
            return None;
        }
        if table.open.len() >= self.connections_max
            && !table.evict(share(self.connections_max), |_| true)
        {
            return None;
        }
        let activity = Arc::new(Activity::new(now_ms()));
        let id = table.next_id;
        table.next_id += 1;
        let open = OpenConnection {
            client,
            activity: activity.clone(),
        };
        table.open.insert(id, open);
        table.add(client);
        Some(ConnectionPermit {
            admission: self.clone(),
            id,
            activity,
        })
    }

    /// Ends some connections that wait, because the process has no file descriptors left.
    pub fn make_room(&self) {
        self.table().evict(share(self.connections_max), |_| true);
    }

    /// Calls `look` with each connection.
    pub fn each(&self, mut look: impl FnMut(&Activity)) {
        for open in self.table().open.values() {
            look(&open.activity);
        }
    }

    /// Connections open now.
    pub fn len(&self) -> usize {
        self.table().open.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        // Every step leaves the table whole, so a panic elsewhere spoils nothing.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn share(bound: usize) -> usize {
    bound.div_ceil(ROOM_SHARE)
}

impl ConnectionTable {
    fn count(&self, client: IpAddr) -> usize {
        self.of_client.get(&client).copied().unwrap_or_default()
    }

    fn add(&mut self, client: Option<IpAddr>) {
        if let Some(client) = client {
            *self.of_client.entry(client).or_default() += 1;
        }
    }

    fn take(&mut self, client: Option<IpAddr>) {
        if let Some(client) = client
            && let Some(count) = self.of_client.get_mut(&client)
        {
            *count -= 1;
            if *count == 0 {
                self.of_client.remove(&client);
            }
        }
    }

    /// Has at most `most` connections among `those` end that wait for their clients, and counts them
    /// out at once. Whether there was one.
    fn evict(&mut self, most: usize, those: impl Fn(&OpenConnection) -> bool) -> bool {
        let waiting = self.open.iter().filter(|(_, open)| those(open));
        let waiting = waiting.filter(|(_, open)| !open.activity.is_busy());
        let mut waiting: Vec<_> = waiting
            .map(|(id, open)| {
                let held = open.client.map_or(0, |client| self.count(client));
                // Who holds few is as good as who holds one fewer.
                (
                    Reverse(held.checked_ilog2()),
                    open.activity.waits_since_ms(),
                    *id,
                )
            })
            .collect();
        waiting.sort_unstable();
        waiting.truncate(most);
        for (_, _, id) in &waiting {
            if let Some(open) = self.open.remove(id) {
                self.take(open.client);
                open.activity.end(Order::Leave);
            }
        }
        !waiting.is_empty()
    }
}

impl ConnectionPermit {
    pub fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Counts the connection as its client's, whom a proxy has named. `false`: the client has all
    /// that one client may have, and is being served on each.
    pub fn belongs_to(&self, client: IpAddr) -> bool {
        let client = network(client);
        let mut table = self.admission.table();
        let room = table.count(client) < self.admission.per_client_max
            || table.evict(share(self.admission.per_client_max), |open| {
                open.client == Some(client)
            });
        let Some(open) = table.open.get_mut(&self.id) else {
            return false;
        };
        if !room {
            return false;
        }
        let before = open.client.replace(client);
        table.take(before);
        table.add(Some(client));
        true
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut table = self.admission.table();
        if let Some(open) = table.open.remove(&self.id) {
            table.take(open.client);
        }
    }
}
