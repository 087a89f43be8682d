//! Answers that are watched while they are made: server-sent events
//! (HTML Living Standard, section 9.2).
//!
//! The last event is `reply`, which holds the envelope that the same request answers without a stream,
//! or `error`. Before it a turn of a session sends `session`, `text` and `step`, a call of a tool
//! `progress` and `partial`. A request that is refused before anything has happened is answered with its
//! status, like any other. A client that leaves ends the stream; what else it ends is the operation's
//! to say.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

use toolgate_gateway::sessions::messages::TurnEvent;
use toolgate_gateway::tools::CallEvent;
use toolgate_gateway::tools::idempotency::IdempotentAnswer;
use toolgate_gateway::{Caller, Error};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::stream_text;

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
    fn shown(&self) -> Sent;
}

impl Shown for TurnEvent {
    fn shown(&self) -> Sent {
        match self {
            Self::Session(session) => named("session", session),
            Self::Text(text) => named("text", &json!({ "text": text })),
            Self::Step(step) => named("step", step),
        }
    }
}

impl Shown for CallEvent {
    fn shown(&self) -> Sent {
        match self {
            Self::Progress {
                done,
                total,
                message,
            } => named(
                "progress",
                &json!({ "done": done, "total": total, "message": message }),
            ),
            Self::Partial(data) => named("partial", data),
        }
    }
}

/// The answer of `work`, which tells `heard` what happens. `leaving`: dropped when the client leaves. `revoked`: with it
/// the stream ends.
pub(super) async fn answer<E: Shown, T: Serialize + Send + Sync + 'static>(
    caller: Caller,
    status: StatusCode,
    mut heard: UnboundedReceiver<E>,
    work: JoinHandle<Result<IdempotentAnswer<T>, Error>>,
    leaving: Option<DropGuard>,
    revoked: impl Future<Output = ()> + Send + 'static,
) -> Result<Response, ApiFailure> {
    let Some(first) = heard.recv().await else {
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
        heard,
        work,
        caller: Box::new(caller),
        leaving,
    };
    let stream = futures_util::stream::unfold(rest, |rest| async move {
        match rest {
            Rest::Over => None,
            Rest::Hearing {
                first,
                mut heard,
                work,
                caller,
                leaving,
            } => {
                let next = match first {
                    Some(first) => Some(first),
                    None => heard.recv().await,
                };
                match next {
                    Some(next) => {
                        let rest = Rest::Hearing {
                            first: None,
                            heard,
                            work,
                            caller,
                            leaving,
                        };
                        Some((next.shown(), rest))
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
        first: Option<E>,
        heard: UnboundedReceiver<E>,
        work: JoinHandle<Result<IdempotentAnswer<T>, Error>>,
        caller: Box<Caller>,
        leaving: Option<DropGuard>,
    },
    Over,
}

pub(super) type Sent = Result<Event, Infallible>;

fn events(
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
        Err(failure) => {
            if let Some(cause) = failure.cause() {
                let request_id = caller.request_id.as_str();
                tracing::error!(request_id, error.chain = cause, "request failed");
            }
            named("error", &failure.body(&caller.request_id))
        }
    }
}

fn named(name: &str, data: &impl Serialize) -> Sent {
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
}
