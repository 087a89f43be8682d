//! Answers that are watched while they are made: server-sent events
//! (HTML Living Standard, section 9.2).
//!
//! The last event is `reply`, which holds the envelope that the same request answers without a stream,
//! or `error`. Before it a turn of a session sends `session`, `text` and `step`, a call of a tool
//! `progress` and `partial`; while there is no other event, the last `progress` is sent again every ten
//! seconds. A request that is refused before anything has happened is answered with its status, like any
//! other. A client that leaves ends the stream; what else it ends is the operation's to say.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;

use toolgate_gateway::sessions::messages::TurnEvent;
use toolgate_gateway::tools::CallEvent;
use toolgate_gateway::tools::idempotency::IdempotentAnswer;
use toolgate_gateway::{Caller, Error};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::stream_text;

/// After so long without an event the last progress of a call is sent again.
const BEAT: Duration = Duration::from_secs(10);
/// A comment is sent when nothing else was for this long, so that nobody between closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Tells proxies to hand on every event at once.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Whether the client asks for events.
pub(super) fn wanted(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|kind| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("text/event-stream")
        })
}

/// Something that happens while a request is worked on.
pub(super) trait Shown: Send + 'static {
    /// Whether the last progress is sent again while there is no other event.
    const HAS_BEAT: bool;

    fn shown(&self) -> Sent;

    /// How far the work is: `done` and `total`.
    fn progress(&self) -> Option<(u64, Option<u64>)> {
        None
    }
}

impl Shown for TurnEvent {
    const HAS_BEAT: bool = false;

    fn shown(&self) -> Sent {
        match self {
            Self::Session(session) => named("session", session),
            Self::Text(text) => named("text", &json!({ "text": text })),
            Self::Step(step) => named("step", step),
        }
    }
}

impl Shown for CallEvent {
    const HAS_BEAT: bool = true;

    fn shown(&self) -> Sent {
        match self {
            Self::Progress {
                done,
                total,
                message,
            } => progress(*done, *total, message),
            Self::Partial(data) => named("partial", data),
        }
    }

    fn progress(&self) -> Option<(u64, Option<u64>)> {
        match self {
            Self::Progress { done, total, .. } => Some((*done, *total)),
            Self::Partial(_) => None,
        }
    }
}

fn progress(done: u64, total: Option<u64>, message: &str) -> Sent {
    let data = json!({ "done": done, "total": total, "message": message });
    named("progress", &data)
}

/// What happens, and that the work goes on where nothing does.
struct Hearing<E> {
    heard: UnboundedReceiver<E>,
    beat: Duration,
    began: Instant,
    /// How far the work was when it last said so.
    far: (u64, Option<u64>),
}

impl<E: Shown> Hearing<E> {
    fn new(heard: UnboundedReceiver<E>, beat: Duration) -> Self {
        Self {
            heard,
            beat,
            began: Instant::now(),
            far: (0, None),
        }
    }

    /// `None`: the work has ended.
    async fn next(&mut self) -> Option<Sent> {
        if !E::HAS_BEAT {
            return self.heard.recv().await.map(|event| event.shown());
        }
        let Ok(event) = timeout(self.beat, self.heard.recv()).await else {
            let (done, total) = self.far;
            let ran = self.began.elapsed().as_secs();
            return Some(progress(done, total, &format!("running for {ran} s")));
        };
        let event = event?;
        self.far = event.progress().unwrap_or(self.far);
        Some(event.shown())
    }
}

/// The answer of `work`, which tells `heard` what happens. `leaving`: dropped when the client leaves. `revoked`: with it
/// the stream ends.
pub(super) async fn answer<E: Shown, T: Serialize + Send + Sync + 'static>(
    caller: Caller,
    status: StatusCode,
    heard: UnboundedReceiver<E>,
    work: JoinHandle<Result<IdempotentAnswer<T>, Error>>,
    leaving: Option<DropGuard>,
    revoked: impl Future<Output = ()> + Send + 'static,
) -> Result<Response, ApiFailure> {
    let mut hearing = Hearing::new(heard, BEAT);
    let Some(first) = hearing.next().await else {
        // Refused, or answered before: there is nothing to watch.
        let done = finished(work.await)?;
        let whole = Success::new(&caller, done);
        return Ok(events(
            status,
            futures_util::stream::iter([named("reply", &whole)]),
        ));
    };
    let rest = Rest::Hearing {
        first: Some(first),
        hearing,
        work,
        caller: Box::new(caller),
        leaving,
    };
    let stream = futures_util::stream::unfold(rest, |rest| async move {
        match rest {
            Rest::Over => None,
            Rest::Hearing {
                first,
                mut hearing,
                work,
                caller,
                leaving,
            } => {
                let next = match first {
                    Some(first) => Some(first),
                    None => hearing.next().await,
                };
                match next {
                    Some(next) => {
                        let rest = Rest::Hearing {
                            first: None,
                            hearing,
                            work,
                            caller,
                            leaving,
                        };
                        Some((next, rest))
                    }
                    None => Some((last(&caller, finished(work.await)), Rest::Over)),
                }
            }
        }
    });
    Ok(events(status, stream.take_until(Box::pin(revoked))))
}

enum Rest<E, T> {
    Hearing {
        first: Option<Sent>,
        hearing: Hearing<E>,
        work: JoinHandle<Result<IdempotentAnswer<T>, Error>>,
        caller: Box<Caller>,
        leaving: Option<DropGuard>,
    },
    Over,
}

pub(super) type Sent = Result<Event, Infallible>;

pub(super) fn events(
    status: StatusCode,
    stream: impl futures_util::Stream<Item = Sent> + Send + 'static,
) -> Response {
    let events = Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    let unbuffered = [(UNBUFFERED, HeaderValue::from_static("no"))];
    let mut answer = (status, unbuffered, events).into_response();
    answer.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(stream_text::EVENT_STREAM),
    );
    answer.map(stream_text::with_plain_lines)
}

fn finished<T>(
    done: Result<Result<IdempotentAnswer<T>, Error>, tokio::task::JoinError>,
) -> Result<IdempotentAnswer<T>, ApiFailure> {
    match done {
        Ok(done) => Ok(done?),
        Err(cause) => Err(ApiFailure::from(Error::Internal(anyhow::anyhow!(
            "the request's task ended: {cause}"
        )))),
    }
}

fn last<T: Serialize>(caller: &Caller, done: Result<IdempotentAnswer<T>, ApiFailure>) -> Sent {
    match done {
        Ok(done) => named("reply", &Success::new(caller, done)),
        Err(failure) => failed(caller, &failure),
    }
}

/// The last event of a stream that cannot go on.
pub(super) fn failed(caller: &Caller, failure: &ApiFailure) -> Sent {
    if let Some(cause) = failure.cause() {
        let request_id = caller.request_id.as_str();
        tracing::error!(request_id, error.chain = cause, "request failed");
    }
    named("error", &failure.body(&caller.request_id))
}

pub(super) fn named(name: &str, data: &impl Serialize) -> Sent {
    let text = serde_json::to_string(data).unwrap_or_else(|_| "{}".to_owned());
    Ok(Event::default().event(name).data(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_sent_to_those_who_ask() {
        for (accept, asked) in [
            ("text/event-stream", true),
            ("application/json, Text/Event-Stream;q=0.5", true),
            ("application/json", false),
            ("*/*", false),
            ("text/event-streams", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
            assert_eq!(wanted(&headers), asked, "{accept}");
        }
        assert!(!wanted(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn the_last_progress_of_a_call_is_sent_again_while_there_is_no_other_event() {
        let text = |sent: Sent| format!("{:?}", sent.unwrap());
        let (events, heard) = tokio::sync::mpsc::unbounded_channel();
        let mut hearing = Hearing::new(heard, Duration::from_millis(20));
        let silent = text(hearing.next().await.unwrap());
        assert!(silent.contains(r#"\"done\":0,\"total\":null"#), "{silent}");
        let progress = CallEvent::Progress {
            done: 2,
            total: Some(3),
            message: "page 2".to_owned(),
        };
        events.send(progress).unwrap();
        let page = text(hearing.next().await.unwrap());
        assert!(page.contains("page 2"), "{page}");
        let silent = text(hearing.next().await.unwrap());
        for part in [r#"\"done\":2,\"total\":3"#, "running for 0 s"] {
            assert!(silent.contains(part), "{silent}");
        }
        drop(events);
        assert!(hearing.next().await.is_none());
    }
}
