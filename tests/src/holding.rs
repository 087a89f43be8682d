//! A server that holds every request until it is told to let go.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::{Notify, Semaphore};

/// In Prometheus' place: every query comes to 42, in the end.
pub struct Holding {
    pub address: SocketAddr,
    /// One permit for each request that has arrived.
    pub arrived: Arc<Semaphore>,
    /// Lets those go that have arrived so far.
    pub open: Arc<Notify>,
}

impl Holding {
    /// On a free loopback port; ends with the test's runtime.
    pub async fn start() -> Self {
        let (arrived, open) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
        let (seen, wait) = (arrived.clone(), open.clone());
        let app = axum::Router::new().fallback(move || {
            let (seen, wait) = (seen.clone(), wait.clone());
            async move {
                let opened = wait.notified();
                seen.add_permits(1);
                opened.await;
                axum::Json(json!({ "status": "success", "data": { "resultType": "scalar", "result": [1, "42"] } }))
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port");
        let address = listener.local_addr().expect("bound");
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self {
            address,
            arrived,
            open,
        }
    }
}
