//! Connections with a real socket at their other end.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use hyper::body::{Body as _, Frame};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::config::InboundSettings;
use crate::inbound::activity::now_ms;
use crate::inbound::limits::{BODY_PROGRESS_BYTES_MIN, ConnectionLimits, PING_EVERY, Times};
use crate::inbound::{Inbound, connection};

/// For what has to happen. Shorter than it takes a connection to end that does not answer pings.
const WITHIN: Duration = Duration::from_secs(15);

fn inbound(times: Times) -> Inbound {
    let limits = ConnectionLimits {
        connections_max: 10,
        connections_per_client: 10,
        times,
    };
    Inbound::with(&InboundSettings::default(), limits, None)
}

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An HTTP/2 client that writes its own frames (RFC 9113): libraries open windows by themselves.
struct RawHttp2Client(TcpStream);

impl RawHttp2Client {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const END_OF_STREAM_AND_HEADERS: u8 = 0x5;
    const INITIAL_WINDOW_SIZE: [u8; 2] = [0, 4];

    /// `window_bytes`: what the gateway may send of one answer.
    async fn connect(address: SocketAddr, window_bytes: u32) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        stream.write_all(preface).await.unwrap();
        let mut client = Self(stream);
        let mut setting = Self::INITIAL_WINDOW_SIZE.to_vec();
        setting.extend(window_bytes.to_be_bytes());
        client.send(Self::SETTINGS, 0, 0, &setting).await;
        client
    }

    async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.0.write_all(&frame).await.unwrap();
    }

    /// Asks for `path` on the first stream.
    async fn get(&mut self, path: &str) {
        // GET and http are fields of the static table, path and authority names of it (RFC 7541, appendix A).
        let mut head = vec![0x82, 0x86];
        for (name, value) in [(0x04, path), (0x01, "here")] {
            head.extend([name, u8::try_from(value.len()).unwrap()]);
            head.extend(value.as_bytes());
        }
        let flags = Self::END_OF_STREAM_AND_HEADERS;
        self.send(Self::HEADERS, flags, 1, &head).await;
    }

    /// The content of the next frame of this kind; `None`: the gateway has ended the connection.
    async fn next(&mut self, kind: u8) -> Option<Vec<u8>> {
        let read = timeout(WITHIN, async {
            loop {
                let mut head = [0; 9];
                self.0.read_exact(&mut head).await.ok()?;
                let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
                let mut content = vec![0; length as usize];
                self.0.read_exact(&mut content).await.ok()?;
                if head[3] == kind {
                    return Some(content);
                }
            }
        });
        read.await.expect("a frame or the end of the connection")
    }
}

/// An answer whose frames the test sends.
struct SentBody(mpsc::UnboundedReceiver<Bytes>);

impl hyper::body::Body for SentBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let sent = self.0.poll_recv(context);
        sent.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[tokio::test]
async fn a_client_that_opens_no_window_is_cut_and_a_quiet_stream_is_not() {
    const { assert!(WITHIN.as_secs() < PING_EVERY.as_secs()) };
    let (events, sent) = mpsc::unbounded_channel();
    let sent = Arc::new(Mutex::new(Some(sent)));
    let stream = async move || {
        let sent = sent.lock().unwrap().take();
        Body::new(SentBody(sent.expect("one request")))
    };
    let app = Router::new()
        .route("/", get(async || "answer"))
        .route("/events", get(stream));
    let (listener, address) = listener().await;
    let inbound = inbound(Times {
        stall: Duration::from_millis(500),
        sweep: Duration::from_millis(20),
        ..Times::default()
    });
    let closing = CancellationToken::new();
    tokio::spawn(async move { inbound.serve(listener, app, closing).await });

    let mut quiet = RawHttp2Client::connect(address, 1 << 16).await;
    quiet.get("/events").await;
    events.send(Bytes::from_static(b"first")).unwrap();
    let first = quiet.next(RawHttp2Client::DATA).await;
    assert_eq!(first.as_deref(), Some(&b"first"[..]));

    let mut held = RawHttp2Client::connect(address, 0).await;
    held.get("/").await;
    let head = held.next(RawHttp2Client::HEADERS).await;
    assert!(head.is_some(), "a head needs no window");
    assert_eq!(held.next(RawHttp2Client::DATA).await, None);

    // It has been quiet for longer.
    events.send(Bytes::from_static(b"second")).unwrap();
    let second = quiet.next(RawHttp2Client::DATA).await;
    assert_eq!(second.as_deref(), Some(&b"second"[..]));
}

/// Waits until the handler has so many bytes.
async fn until(read: &mut mpsc::UnboundedReceiver<usize>, bytes: usize) {
    let all = async { while read.recv().await.expect("the handler reads") < bytes {} };
    timeout(WITHIN, all).await.expect("the body arrives");
}

#[tokio::test]
async fn a_body_has_new_time_when_enough_of_it_has_arrived() {
    let (told, mut read) = mpsc::unbounded_channel();
    let reads = async move |mut body: Body| {
        let mut bytes = 0;
        loop {
            let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
            let Some(Ok(frame)) = frame else { break };
            bytes += frame.data_ref().map_or(0, Bytes::len);
            told.send(bytes).unwrap();
        }
    };
    let app = Router::new().route("/", post(reads));
    let (listener, address) = listener().await;
    let inbound = inbound(Times::default());
    let mut client = TcpStream::connect(address).await.unwrap();
    let (stream, peer, place) = inbound.accept(&listener).await;
    let activity = place.activity().clone();
    let closing = CancellationToken::new();
    tokio::spawn(async move {
        connection::serve(&inbound, stream, peer, place, app, closing).await;
    });

    // One byte never comes.
    let length = BODY_PROGRESS_BYTES_MIN + 3;
    let head = format!("POST / HTTP/1.1\r\nhost: here\r\ncontent-length: {length}\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(b"x").await.unwrap();
    until(&mut read, 1).await;
    let began_ms = activity.waits_since_ms();
    while now_ms() == began_ms {
        tokio::task::yield_now().await;
    }
    client.write_all(b"x").await.unwrap();
    until(&mut read, 2).await;
    assert_eq!(activity.waits_since_ms(), began_ms, "two bytes are little");
    let enough = vec![b'x'; BODY_PROGRESS_BYTES_MIN];
    client.write_all(&enough).await.unwrap();
    until(&mut read, length - 1).await;
    assert!(activity.waits_since_ms() > began_ms);
}
