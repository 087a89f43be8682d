//! What one connection is doing, as its own thread notes it and others read it.

use std::mem;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::limits::{BODY_PROGRESS_BYTES_MIN, PROGRESS_BYTES_MIN, Times};

/// Milliseconds since the process began to look, and never 0, which means "not".
pub fn now_ms() -> u64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(BEGAN.elapsed().as_millis()).unwrap_or(u64::MAX) + 1
}

/// Counts and times of one connection.
#[derive(Debug)]
pub struct Activity {
    /// Requests whose answer has not been handed over whole.
    in_flight: AtomicU32,
    /// Of them, those whose body has not arrived whole.
    receiving: AtomicU32,
    /// Of them, those of whose answer a frame waits for a window of its client (HTTP/2).
    held: AtomicU32,
    /// Since when no frame of an answer was handed out or taken, and little left at all.
    held_since_ms: AtomicU64,
    /// What has left since then.
    held_bytes: AtomicUsize,
    /// Since when the connection waits for its client.
    waits_since_ms: AtomicU64,
    /// What of bodies has arrived since then.
    body_bytes: AtomicUsize,
    /// When the first byte of the next request's head came.
    head_since_ms: AtomicU64,
    /// Since when an answer waits for the client to take it.
    blocked_since_ms: AtomicU64,
    /// What the client has taken since then.
    taken_bytes: AtomicU32,
    /// Whether there has been a request.
    asked: AtomicBool,
    http2: AtomicBool,
    order: AtomicU8,
    told: Notify,
}

/// How a connection is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// After the answer that it is at.
    Leave,
    /// Now.
    Cut,
}

/// Why a connection has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    Idle,
    SlowHead,
    SlowBody,
    Stalled,
}

impl CloseReason {
    pub fn order(self) -> Order {
        match self {
            Self::Idle => Order::Leave,
            Self::SlowHead | Self::SlowBody | Self::Stalled => Order::Cut,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::SlowHead => "slow_head",
            Self::SlowBody => "slow_body",
            Self::Stalled => "stalled",
        }
    }
}

impl Activity {
    pub fn new(now_ms: u64) -> Self {
        Self {
            in_flight: AtomicU32::new(0),
            receiving: AtomicU32::new(0),
            held: AtomicU32::new(0),
            held_since_ms: AtomicU64::new(0),
            held_bytes: AtomicUsize::new(0),
            waits_since_ms: AtomicU64::new(now_ms),
            body_bytes: AtomicUsize::new(0),
            head_since_ms: AtomicU64::new(0),
            blocked_since_ms: AtomicU64::new(0),
            taken_bytes: AtomicU32::new(0),
            asked: AtomicBool::new(false),
            http2: AtomicBool::new(false),
            order: AtomicU8::new(0),
            told: Notify::new(),
        }
    }

    /// A request's head is complete.
    pub fn begin(self: &Arc<Self>, http2: bool, now_ms: u64) -> InFlight {
        self.in_flight.fetch_add(1, Relaxed);
        self.head_since_ms.store(0, Relaxed);
        self.waits_since_ms.store(now_ms, Relaxed);
        self.body_bytes.store(0, Relaxed);
        self.asked.store(true, Relaxed);
        self.http2.store(http2, Relaxed);
        InFlight {
            activity: self.clone(),
            holds_frame: false,
        }
    }

    /// Bytes came in.
    pub fn note_read(&self, now_ms: impl FnOnce() -> u64) {
        if self.in_flight.load(Relaxed) == 0 && self.head_since_ms.load(Relaxed) == 0 {
            self.head_since_ms.store(now_ms(), Relaxed);
        }
    }

    /// `bytes` of `offered` left; none: the client takes nothing now.
    pub fn note_write(&self, bytes: Option<usize>, offered: usize, now_ms: impl Fn() -> u64) {
        self.note_sent(bytes.unwrap_or_default(), &now_ms);
        let blocked = self.blocked_since_ms.load(Relaxed) != 0;
        match bytes {
            None if !blocked => {
                self.taken_bytes.store(0, Relaxed);
                self.blocked_since_ms.store(now_ms(), Relaxed);
            }
            Some(bytes) if blocked => {
                let bytes_now = u32::try_from(bytes).unwrap_or(u32::MAX);
                let taken = self.taken_bytes.load(Relaxed).saturating_add(bytes_now);
                self.taken_bytes.store(taken, Relaxed);
                if bytes >= offered || taken as usize >= PROGRESS_BYTES_MIN {
                    self.blocked_since_ms.store(0, Relaxed);
                }
            }
            _ => {}
        }
    }

    /// `bytes` left while frames wait. A frame waits until its client has taken the one before, which takes long if that
    /// is large.
    fn note_sent(&self, bytes: usize, now_ms: impl Fn() -> u64) {
        // An answer may be with the system, and with its client, long after it was written.
        let leaves = self.in_flight.load(Relaxed) == 0 && bytes > 0;
        if self.held_since_ms.load(Relaxed) == 0 && !leaves {
            return;
        }
        let sent = self.held_bytes.load(Relaxed).saturating_add(bytes);
        if sent < PROGRESS_BYTES_MIN {
            self.held_bytes.store(sent, Relaxed);
        } else {
            self.held_bytes.store(0, Relaxed);
            self.renew_hold(&now_ms);
            if leaves {
                self.waits_since_ms.store(now_ms(), Relaxed);
            }
        }
    }

    /// Progress of any kind: a frame that waits has its time from now on.
    fn renew_hold(&self, now_ms: impl FnOnce() -> u64) {
        if self.held_since_ms.load(Relaxed) != 0 {
            self.held_since_ms.store(now_ms(), Relaxed);
        }
    }

    /// Whether the gateway has something to do for this client; otherwise it waits for the client. An answer that
    /// its client is slow to take is something to do until it is overdue.
    pub fn is_busy(&self) -> bool {
        self.in_flight.load(Relaxed) > self.receiving.load(Relaxed)
    }

    pub fn is_http2(&self) -> bool {
        self.http2.load(Relaxed)
    }

    /// Whether frames wait for windows, and nothing else is being done: every other request waits for the rest of its
    /// body.
    fn only_holds(&self) -> bool {
        let held = self.held.load(Relaxed);
        held > 0 && self.in_flight.load(Relaxed) <= self.receiving.load(Relaxed) + held
    }

    /// Since when the client owes the next byte; meaningful while not busy.
    pub fn waits_since_ms(&self) -> u64 {
        self.waits_since_ms.load(Relaxed)
    }

    /// Whether the connection has been too slow for too long.
    pub fn overdue(&self, now_ms: u64, times: &Times) -> Option<CloseReason> {
        let over = |since_ms: u64, time: Duration| {
            u128::from(now_ms.saturating_sub(since_ms)) > time.as_millis()
        };
        let blocked_since_ms = self.blocked_since_ms.load(Relaxed);
        if blocked_since_ms != 0 && over(blocked_since_ms, times.stall) {
            return Some(CloseReason::Stalled);
        }
        // The socket takes everything here. What is missing is a window, for which the library waits without limit.
        let held_since_ms = self.held_since_ms.load(Relaxed);
        if held_since_ms != 0 && self.only_holds() && over(held_since_ms, times.stall) {
            return Some(CloseReason::Stalled);
        }
        if self.is_busy() {
            return None;
        }
        let waits_since_ms = self.waits_since_ms();
        if self.in_flight.load(Relaxed) > 0 {
            return over(waits_since_ms, times.body).then_some(CloseReason::SlowBody);
        }
        let head_since_ms = self.head_since_ms.load(Relaxed);
        let first = !self.asked.load(Relaxed) && over(waits_since_ms, times.head);
        // Frames of HTTP/2 come without a request too.
        let head = head_since_ms != 0 && !self.is_http2() && over(head_since_ms, times.head);
        if first || head {
            return Some(CloseReason::SlowHead);
        }
        over(waits_since_ms, times.idle).then_some(CloseReason::Idle)
    }

    /// Has the connection end. The first order to cut counts.
    pub fn end(&self, order: Order) {
        let order = match order {
            Order::Leave => 1,
            Order::Cut => 2,
        };
        self.order.fetch_max(order, Relaxed);
        self.told.notify_one();
    }

    /// Waits for an order.
    pub async fn ordered(&self) -> Order {
        self.told.notified().await;
        match self.order.load(Relaxed) {
            2 => Order::Cut,
            _ => Order::Leave,
        }
    }
}

/// One request until its answer has been handed over.
#[derive(Debug)]
pub struct InFlight {
    activity: Arc<Activity>,
    /// Whether the library has a frame of the answer that it has not sent yet.
    holds_frame: bool,
}

impl InFlight {
    /// Its body has not arrived yet.
    pub fn receiving(&self) -> BodyReceipt {
        self.activity.receiving.fetch_add(1, Relaxed);
        BodyReceipt(self.activity.clone())
    }

    /// A frame of the answer is handed to the library. With HTTP/2 the library asks for the next one when the
    /// client has opened a window for this one.
    pub fn frame_handed_out(&mut self, now_ms: impl FnOnce() -> u64) {
        if self.activity.is_http2() && !mem::replace(&mut self.holds_frame, true) {
            self.activity.held_bytes.store(0, Relaxed);
            self.activity.held_since_ms.store(now_ms(), Relaxed);
            self.activity.held.fetch_add(1, Relaxed);
        }
    }

    /// The library asks for another frame of the answer, or for none any more. Until it is handed one, the answer
    /// waits for its handler.
    pub fn frame_taken(&mut self, now_ms: impl FnOnce() -> u64) {
        if !mem::take(&mut self.holds_frame) {
            return;
        }
        let held_since_ms = match self.activity.held.fetch_sub(1, Relaxed) {
            1 => 0,
            _ => now_ms(),
        };
        self.activity.held_since_ms.store(held_since_ms, Relaxed);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.frame_taken(now_ms);
        self.activity.waits_since_ms.store(now_ms(), Relaxed);
        self.activity.in_flight.fetch_sub(1, Relaxed);
    }
}

/// A request's body until it has arrived or nobody wants it any more.
#[derive(Debug)]
pub struct BodyReceipt(Arc<Activity>);

impl BodyReceipt {
    /// Some of it has arrived. Enough of it gives the client new time.
    pub fn note_bytes(&self, bytes: usize, now_ms: impl Fn() -> u64) {
        let arrived = self.0.body_bytes.load(Relaxed).saturating_add(bytes);
        if arrived < BODY_PROGRESS_BYTES_MIN {
            self.0.body_bytes.store(arrived, Relaxed);
        } else {
            self.0.body_bytes.store(0, Relaxed);
            self.0.waits_since_ms.store(now_ms(), Relaxed);
            self.0.renew_hold(&now_ms);
        }
    }
}

impl Drop for BodyReceipt {
    fn drop(&mut self) {
        self.0.receiving.fetch_sub(1, Relaxed);
    }
}
