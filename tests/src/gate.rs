//! A gate before a server: lets requests through, and holds one exchange where a test wants to see
//! what becomes of it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use futures_util::{StreamExt as _, stream};
use tokio::sync::Semaphore;

use crate::gateway::{PATIENCE, client};

/// Where an exchange is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The request has arrived; the server behind has not seen it.
    Asked,
    /// The server has done what it was asked for and nobody has been told.
    Done,
    /// Half of the answer's body has been sent.
    HalfResponse,
}

#[derive(Clone)]
struct Shared {
    target: String,
    client: reqwest::Client,
    trap: Arc<Mutex<Option<(String, Point)>>>,
    held: Arc<Semaphore>,
    released: Arc<Semaphore>,
}

/// Listens on a free loopback port; ends with the test's runtime.
pub struct Gate {
    pub address: SocketAddr,
    shared: Shared,
}

impl Gate {
    /// Before the server at `target`, `http://...` without a path.
    pub async fn before(target: &str) -> Self {
        let shared = Shared {
            target: target.to_owned(),
            client: client(),
            trap: Arc::default(),
            held: Arc::new(Semaphore::new(0)),
            released: Arc::new(Semaphore::new(0)),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port");
        let address = listener.local_addr().expect("bound");
        let app = axum::Router::new()
            .fallback(pass)
            .with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Holds the next exchange about `path`.
    pub fn hold(&self, path: &str, point: Point) {
        *locked(&self.shared.trap) = Some((path.to_owned(), point));
    }

    /// Waits until the exchange is held.
    pub async fn held(&self) {
        let held = tokio::time::timeout(PATIENCE, self.shared.held.acquire());
        let held = held.await.expect("the exchange comes to the gate");
        held.expect("never closed").forget();
    }

    /// Lets the held exchange go on.
    pub fn release(&self) {
        self.shared.released.add_permits(1);
    }
}

impl Shared {
    fn is_trapped(&self, path: &str) -> Option<Point> {
        let mut trap = locked(&self.trap);
        let hit = trap.as_ref().is_some_and(|(trapped, _)| trapped == path);
        if hit {
            trap.take().map(|(_, point)| point)
        } else {
            None
        }
    }

    async fn hold(&self) {
        self.held.add_permits(1);
        let released = self.released.acquire().await;
        released.expect("never closed").forget();
    }
}

async fn pass(State(shared): State<Shared>, request: Request) -> Response<Body> {
    let trapped = shared.is_trapped(request.uri().path());
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 64 << 20).await.unwrap_or_default();
    if trapped == Some(Point::Asked) {
        shared.hold().await;
    }
    let asked = shared
        .client
        .request(head.method, format!("{}{}", shared.target, head.uri))
        .headers(head.headers)
        .body(body);
    let answer = asked.send().await.expect("the server behind answers");
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    headers.remove("transfer-encoding");
    let said = answer.bytes().await.expect("a whole answer");
    if trapped == Some(Point::Done) {
        shared.hold().await;
    }
    let body = match trapped {
        Some(Point::HalfResponse) => {
            headers.insert("content-length", said.len().into());
            half_of(said, shared)
        }
        _ => Body::from(said),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// The first half, and the second once it is let go.
fn half_of(said: Bytes, shared: Shared) -> Body {
    let half = said.len() / 2;
    let (first, second) = (said.slice(..half), said.slice(half..));
    let later = stream::once(async move {
        shared.hold().await;
        second
    });
    let whole = stream::once(async move { first }).chain(later);
    Body::from_stream(whole.map(Ok::<Bytes, std::convert::Infallible>))
}

/// Held for a look alone, which cannot leave half a value behind.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
