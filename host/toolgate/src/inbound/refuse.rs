//! The answer to a connection that finds no place: quick, and without reading a request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use toolgate_core::ids;

/// Connections that are being told at one time. The rest is closed without a word.
const TOLD_AT_ONCE_MAX: usize = 32;

/// A connection that closes with bytes unread is reset, and its client never sees the answer.
const LINGER: Duration = Duration::from_millis(500);

static TELLING: AtomicUsize = AtomicUsize::new(0);

/// Says 503 in the background and closes.
pub(super) fn overloaded(mut stream: TcpStream) {
    tracing::warn!("inbound.full");
    if TELLING.fetch_add(1, Ordering::Relaxed) >= TOLD_AT_ONCE_MAX {
        TELLING.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    tokio::spawn(async move {
        let tell = async {
            stream.write_all(answer().as_bytes()).await?;
            stream.shutdown().await?;
            let mut unread = [0; 1024];
            while stream.read(&mut unread).await? > 0 {}
            Ok::<(), std::io::Error>(())
        };
        let _ = tokio::time::timeout(LINGER, tell).await;
        TELLING.fetch_sub(1, Ordering::Relaxed);
    });
}

fn answer() -> String {
    let request_id = ids::ulid("req");
    let body = serde_json::json!({
        "success": false,
        "error": {
            "code": "overloaded",
            "message": "too many connections are open",
            "hint": "Repeat the request after the seconds in Retry-After.",
        },
        "meta": { "request_id": request_id },
    });
    let body = body.to_string();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         retry-after: 1\r\nx-request-id: {request_id}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}
