//! The pools of upstream connections. Each runtime of one thread has its own: a connection is served by
//! the runtime that opened it, and an answer that another thread reads makes both wait for each other.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::runtime::{Handle, Id, RuntimeFlavor};

/// Runtimes that have connections of their own; others share.
const RUNTIMES_MAX: usize = 256;

#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) public: reqwest::Client,
    pub(crate) private: reqwest::Client,
}

type MakeClients = dyn Fn() -> reqwest::Result<Clients> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Pools {
    make: Arc<MakeClients>,
    /// Of the runtimes with several threads, and of all while their own are not made yet.
    shared: Clients,
    of_runtimes: Arc<RwLock<HashMap<Id, Option<Clients>>>>,
}

impl Pools {
    pub(crate) fn new(
        make: impl Fn() -> reqwest::Result<Clients> + Send + Sync + 'static,
    ) -> reqwest::Result<Self> {
        Ok(Self {
            shared: make()?,
            make: Arc::new(make),
            of_runtimes: Arc::default(),
        })
    }

    /// The pool for this thread.
    pub(crate) fn client(&self, private: bool) -> reqwest::Client {
        let of = |clients: &Clients| match private {
            true => clients.private.clone(),
            false => clients.public.clone(),
        };
        let runtime = Handle::current();
        if runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
            return of(&self.shared);
        }
        let runtimes = self.of_runtimes.read();
        let known = runtimes.unwrap_or_else(PoisonError::into_inner);
        match known.get(&runtime.id()) {
            Some(Some(clients)) => return of(clients),
            Some(None) => return of(&self.shared),
            None => drop(known),
        }
        self.make_for(&runtime);
        of(&self.shared)
    }

    /// Makes the pools of a runtime beside it: reading the machine's certificates takes milliseconds.
    fn make_for(&self, runtime: &Handle) {
        let id = runtime.id();
        {
            let runtimes = self.of_runtimes.write();
            let mut known = runtimes.unwrap_or_else(PoisonError::into_inner);
            if known.len() >= RUNTIMES_MAX || known.contains_key(&id) {
                return;
            }
            known.insert(id, None);
        }
        let (make, of_runtimes) = (self.make.clone(), self.of_runtimes.clone());
        runtime.spawn_blocking(move || match make() {
            Ok(clients) => {
                let runtimes = of_runtimes.write();
                let mut known = runtimes.unwrap_or_else(PoisonError::into_inner);
                known.insert(id, Some(clients));
            }
            Err(cause) => tracing::warn!(error = %cause, "egress.no_pool_for_thread"),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::runtime::{Builder, Runtime};

    fn one_thread() -> Runtime {
        Builder::new_current_thread().enable_all().build().unwrap()
    }

    /// Pools that count how often clients are made after the shared ones.
    fn counted() -> (Pools, Arc<AtomicUsize>) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let made = Arc::new(AtomicUsize::new(0));
        let counter = made.clone();
        let pools = Pools::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(Clients {
                public: client.clone(),
                private: client.clone(),
            })
        });
        let pools = pools.unwrap();
        made.store(0, Ordering::SeqCst);
        (pools, made)
    }

    fn known(pools: &Pools) -> usize {
        pools.of_runtimes.read().unwrap().len()
    }

    #[test]
    fn a_runtime_of_one_thread_gets_clients_of_its_own_once() {
        let (pools, made) = counted();
        let several = Builder::new_multi_thread().build().unwrap();
        several.block_on(async { pools.client(true) });
        assert_eq!(known(&pools), 0);
        let one = one_thread();
        for _ in 0..3 {
            one.block_on(async { pools.client(true) });
        }
        // The end of a runtime waits for what it is making.
        drop(one);
        assert_eq!((known(&pools), made.load(Ordering::SeqCst)), (1, 1));
    }

    #[test]
    fn a_runtime_beyond_the_limit_sends_over_the_shared_connections() {
        let (pools, made) = counted();
        for _ in 0..RUNTIMES_MAX {
            let runtime = one_thread();
            runtime.block_on(async { pools.client(true) });
        }
        let before = made.load(Ordering::SeqCst);
        assert_eq!(known(&pools), RUNTIMES_MAX);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let _ = connection.read(&mut [0; 1024]).unwrap();
            let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
            connection.write_all(answer).unwrap();
        });
        let last = one_thread();
        let status = last.block_on(async {
            let answer = pools.client(true).get(url).send().await;
            answer.unwrap().status()
        });
        server.join().unwrap();
        drop(last);
        assert_eq!(status, 204);
        assert_eq!(known(&pools), RUNTIMES_MAX, "no pool was made for it");
        assert_eq!(made.load(Ordering::SeqCst), before);
    }
}
