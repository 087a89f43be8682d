//! What a handler leaves unread of a request's body.
//!
//! A refusal is often answered before the body has been read. HTTP/1 cannot go on after that, so the
//! library closes the connection, by which time its client may have sent the next request on it and sees
//! a connection that ends without an answer. A small rest is therefore read before the answer leaves;
//! with a larger one the answer says that the connection ends (RFC 9112, section 9.6).

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use hyper::body::{Body as _, Incoming};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::activity::BodyReceipt;

/// The largest rest that is read.
pub(super) const UNREAD_BYTES_MAX: usize = 64 << 10;
/// How long its client may take to send it, which delays the answer.
pub(super) const UNREAD_TIME: Duration = Duration::from_secs(1);

/// A body that nobody reads any more. While it is here, the connection counts as one that waits for its
/// client.
pub(super) struct UnreadBody {
    pub(super) body: Incoming,
    pub(super) receiving: Option<BodyReceipt>,
}

impl UnreadBody {
    /// Reads the rest. `false`: it is too large or too slow.
    async fn finish(mut self) -> bool {
        let read = async {
            let mut bytes: usize = 0;
            loop {
                let expected = self.body.size_hint().lower();
                if bytes as u64 + expected > UNREAD_BYTES_MAX as u64 {
                    return false;
                }
                let frame = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context)).await;
                match frame {
                    None => return true,
                    Some(Err(_)) => return false,
                    Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, |data| data.len()),
                }
            }
        };
        let read = timeout(UNREAD_TIME, read).await.unwrap_or(false);
        drop(self.receiving);
        read
    }
}

/// Where a body goes that its handler has dropped before its end.
pub(super) type GivenUp = oneshot::Receiver<UnreadBody>;

/// Whether the connection can take another request after this answer.
pub(super) async fn goes_on(mut given_up: GivenUp, expects_continue: bool) -> bool {
    match given_up.try_recv() {
        // Reading would ask the client for a body that nobody wants (RFC 9110, section 10.1.1).
        Ok(_) if expects_continue => false,
        Ok(unread) => unread.finish().await,
        // Read, or still being read.
        Err(_) => true,
    }
}
