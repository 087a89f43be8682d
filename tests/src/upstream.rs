//! A service that plugins talk to: answers what a test says and keeps every request it got.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use axum::response::IntoResponse;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

type Answer = Arc<dyn Fn(&Received) -> Response<Body> + Send + Sync>;

#[derive(Clone)]
struct Shared {
    answer: Answer,
    received: Arc<Mutex<Vec<Received>>>,
}

/// A server on a free loopback port; ends with the test's runtime.
pub struct Upstream {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Upstream {
    pub async fn start(
        answer: impl Fn(&Received) -> Response<Body> + Send + Sync + 'static,
    ) -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let shared = Shared {
            answer: Arc::new(answer),
            received: received.clone(),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port");
        let address = listener.local_addr().expect("bound");
        let app = axum::Router::new().fallback(serve).with_state(shared);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, received }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that arrived so far.
    pub fn received(&self) -> Vec<Received> {
        self.received
            .lock()
            .expect("no test panics while it holds this")
            .clone()
    }
}

async fn serve(State(shared): State<Shared>, request: Request) -> impl IntoResponse {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 64 << 20).await.unwrap_or_default();
    let received = Received {
        method: head.method.to_string(),
        target: head.uri.to_string(),
        headers: head
            .headers
            .iter()
            .map(|(name, value)| {
                (
                    name.to_string(),
                    String::from_utf8_lossy(value.as_bytes()).into_owned(),
                )
            })
            .collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let answer = (shared.answer)(&received);
    shared
        .received
        .lock()
        .expect("no test panics while it holds this")
        .push(received);
    answer
}
