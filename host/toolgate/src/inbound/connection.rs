//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use http::{HeaderValue, Request, Version, header};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::activity::{BodyReceipt, InFlight, Order, now_ms};
use super::admission::ConnectionPermit;
use super::stream::WatchedStream;
use super::unread::{self, UnreadBody};
use super::{Inbound, limits};
use toolgate_core::client_address::proxy_protocol::{self, BadProxyHeader};

/// An HTTP/2 connection that is told to go has this long to say goodbye.
const GOODBYE: Duration = Duration::from_millis(100);

/// Serves `app` until the connection ends, is too slow, has to make room, or `closing` and the answer
/// in progress are over.
pub async fn serve(
    inbound: &Inbound,
    mut stream: TcpStream,
    peer: SocketAddr,
    place: ConnectionPermit,
    app: Router,
    closing: CancellationToken,
) {
    // An event stream is many small writes: held back for one another, each would cost 40 ms.
    let _ = stream.set_nodelay(true);
    let shared = &inbound.0;
    let mut client = peer;
    if shared.proxy_protocol && shared.proxies.contains(peer.ip()) {
        let named = timeout(limits::PROXY_HEADER_TIME, named_client(&mut stream)).await;
        match named {
            Ok(Ok(Some(named))) if place.belongs_to(named.ip()) => client = named,
            Ok(Ok(None)) => {}
            Ok(Ok(Some(_))) if shared.tls.is_some() => return,
            Ok(Ok(Some(_))) => return super::refuse::overloaded(stream),
            Ok(Err(cause)) => {
                return tracing::warn!(error = %cause, proxy = %peer.ip(), "inbound.proxy_header_refused");
            }
            Err(_elapsed) => {
                return tracing::warn!(proxy = %peer.ip(), "inbound.proxy_header_missing");
            }
        }
    }
    let stream = WatchedStream::new(stream, place.activity().clone());
    let Some(tls) = &shared.tls else {
        return answer(stream, client, &place, app, closing).await;
    };
    let shaken = tokio::select! {
        shaken = timeout(limits::TLS_HANDSHAKE_TIME, tls.accept(stream)) => shaken,
        // Neither an order to leave nor the end of the gateway waits for a handshake.
        _ = place.activity().ordered() => return,
        () = closing.cancelled() => return,
    };
    match shaken {
        Ok(Ok(stream)) => answer(stream, client, &place, app, closing).await,
        // Scanners and plain HTTP clients are common; they are logged at debug level only.
        Ok(Err(cause)) => {
            tracing::debug!(error = %cause, client = %client.ip(), "inbound.handshake_failed");
        }
        Err(_elapsed) => tracing::debug!(client = %client.ip(), "inbound.handshake_slow"),
    }
}

/// The client that a PROXY protocol header names; the header is taken off the stream.
async fn named_client(stream: &mut TcpStream) -> io::Result<Option<SocketAddr>> {
    let bad = |cause: BadProxyHeader| io::Error::new(io::ErrorKind::InvalidData, cause);
    let mut head = [0; proxy_protocol::HEAD_BYTES];
    let mut filled = 0;
    while filled < head.len() {
        let read = stream.read(&mut head[filled..]).await?;
        filled += read;
        // A client that speaks HTTP at once waits for an answer, not for the rest of a header.
        if read == 0 || !proxy_protocol::may_begin(&head[..filled]) {
            return Err(bad(BadProxyHeader::NoHeader));
        }
    }
    let head = proxy_protocol::ProxyHeader::read(&head).map_err(bad)?;
    let mut rest = vec![0; head.rest_bytes];
    stream.read_exact(&mut rest).await?;
    head.client(&rest).map_err(bad)
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: SocketAddr,
    place: &ConnectionPermit,
    app: Router,
    closing: CancellationToken,
) {
    let activity = place.activity().clone();
    let io = TokioIo::new(stream);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let http2 = request.version() == Version::HTTP_2;
        let in_flight = activity.begin(http2, now_ms());
        let (give_up, given_up) = oneshot::channel();
        let expects_continue = request.headers().contains_key(header::EXPECT);
        let mut request = request.map(|body| {
            if body.is_end_stream() {
                return Body::empty();
            }
            Body::new(IncomingBody {
                body: Some(body),
                receiving: Some(in_flight.receiving()),
                // A stream of HTTP/2 ends by itself.
                give_up: (!http2).then_some(give_up),
            })
        });
        request.extensions_mut().insert(ConnectInfo(client));
        let app = app.clone();
        async move {
            let mut answer = app.oneshot(request).await?;
            if !unread::goes_on(given_up, expects_continue).await {
                let close = HeaderValue::from_static("close");
                answer.headers_mut().insert(header::CONNECTION, close);
            }
            Ok::<_, Infallible>(answer.map(|body| OutgoingBody { body, in_flight }))
        }
    });
    let builder = builder();
    let mut served = pin!(builder.serve_connection(io, service));
    let mut closing = pin!(closing.cancelled());
    let mut leaving = false;
    loop {
        let order = tokio::select! {
            // A client that goes away is an error of the library's.
            _ = served.as_mut() => return,
            order = place.activity().ordered() => order,
            () = closing.as_mut(), if !leaving => {
                leaving = true;
                served.as_mut().graceful_shutdown();
                continue;
            }
        };
        if order == Order::Cut {
            return;
        }
        // A request may have arrived in the meantime: its sender gets an answer.
        if poll_fn(|context| Poll::Ready(served.as_mut().poll(context).is_ready())).await {
            return;
        }
        let busy = place.activity().is_busy();
        if !busy && !place.activity().is_http2() {
            return;
        }
        leaving = true;
        served.as_mut().graceful_shutdown();
        if !busy {
            let _ = timeout(GOODBYE, served.as_mut()).await;
            return;
        }
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // The sweeper sees slow heads.
        .header_read_timeout(None)
        .max_buf_size(limits::BUFFER_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits::STREAMS_MAX)
        .max_header_list_size(limits::HEADER_LIST_BYTES_MAX)
        .max_pending_accept_reset_streams(limits::RESET_STREAMS_MAX)
        .keep_alive_interval(limits::PING_EVERY)
        .keep_alive_timeout(limits::PING_EVERY);
    builder
}

/// A request's body on its way in.
struct IncomingBody {
    /// Absent after the last byte.
    body: Option<Incoming>,
    receiving: Option<BodyReceipt>,
    give_up: Option<oneshot::Sender<UnreadBody>>,
}

impl IncomingBody {
    fn ended(&mut self) {
        self.body = None;
        self.receiving = None;
    }
}

impl hyper::body::Body for IncomingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(&mut *body).poll_frame(context);
        let ended = matches!(frame, Poll::Ready(None | Some(Err(_)))) || body.is_end_stream();
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let (Some(data), Some(receiving)) = (frame.data_ref(), &self.receiving)
        {
            receiving.note_bytes(data.len(), now_ms);
        }
        if ended {
            self.ended();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.body.as_ref().map(Incoming::size_hint);
        left.unwrap_or_else(|| SizeHint::with_exact(0))
    }
}

impl Drop for IncomingBody {
    fn drop(&mut self) {
        if let (Some(body), Some(give_up)) = (self.body.take(), self.give_up.take()) {
            let receiving = self.receiving.take();
            // Nobody waits for it where the answer was made without the handler.
            let _ = give_up.send(UnreadBody { body, receiving });
        }
    }
}

/// An answer's body on its way out: until it is gone, the connection is busy.
struct OutgoingBody {
    body: Body,
    in_flight: InFlight,
}

impl hyper::body::Body for OutgoingBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.in_flight.frame_taken(now_ms);
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(Some(Ok(_)))) {
            self.in_flight.frame_handed_out(now_ms);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
