//! In which form a client takes answers. The protocol asks clients to name JSON and event streams both, and its library
//! refuses the others. Clients exist that name one of them, `*/*` or nothing: what they can read is what they get.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use rmcp::model::ErrorData;

use crate::message::{is_answer, malformed, not_acceptable};
use toolgate_http_kit::stream_text;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// What the library is told.
const BOTH: &str = "application/json, text/event-stream";
/// Largest answer that is taken out of a stream.
const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;

/// What a client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    Any,
    JsonAlone,
    EventsAlone,
}

impl AnswerForm {
    /// Reads `Accept` (RFC 9110, section 12.5.1). `None`: the client takes neither.
    pub(crate) fn read(headers: &HeaderMap) -> Option<Self> {
        let mut named = false;
        let (mut json, mut events) = (false, false);
        for value in headers.get_all(header::ACCEPT) {
            for range in value.to_str().unwrap_or_default().split(',') {
                let mut parts = range.split(';').map(str::trim);
                let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
                if kind.is_empty() {
                    continue;
                }
                named = true;
                let weight =
                    parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
                if weight.is_some_and(|weight| weight.parse() == Ok(0.0_f32)) {
                    continue;
                }
                json |= matches!(kind.as_str(), "*/*" | "application/*" | JSON);
                events |= matches!(kind.as_str(), "*/*" | "text/*" | EVENTS);
            }
        }
        match (json || !named, events || !named) {
            (true, true) => Some(Self::Any),
            (true, false) => Some(Self::JsonAlone),
            (false, true) => Some(Self::EventsAlone),
            (false, false) => None,
        }
    }

    /// Tells the library what it asks for.
    pub(crate) fn write(headers: &mut HeaderMap) {
        headers.insert(header::ACCEPT, HeaderValue::from_static(BOTH));
    }

    /// The answer to a message in the form that the client takes.
    pub(crate) async fn apply(self, answer: Response) -> Response {
        let is_stream = is_stream(&answer);
        match self {
            Self::JsonAlone if is_stream => last_of(answer).await,
            Self::EventsAlone if !is_stream && answer.status() == StatusCode::OK => {
                one_event(answer).await
            }
            Self::Any | Self::JsonAlone | Self::EventsAlone => answer,
        }
    }
}

/// The refusal of a client that takes neither.
pub(crate) fn refusal() -> Response {
    let sentence = "Not Acceptable: the answer is application/json or text/event-stream; name one of them in Accept";
    not_acceptable(ErrorData::invalid_request(sentence, None))
}

pub(crate) fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENTS.as_bytes()))
}

/// The answer at the end of a stream, alone. What comes before it is left out: the client cannot take it.
async fn last_of(answer: Response) -> Response {
    let (mut parts, body) = answer.into_parts();
    let mut stream = body.into_data_stream();
    let mut text = Vec::new();
    while let Some(Ok(piece)) = stream.next().await {
        text.extend_from_slice(&piece);
        if text.len() > ANSWER_BYTES_MAX {
            break;
        }
        while let Some(end) = end_of_event(&text) {
            let event: Vec<u8> = text.drain(..end).collect();
            if is_answer(&event) {
                parts
                    .headers
                    .insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
                return Response::from_parts(parts, Body::from(data_of(&event)));
            }
        }
    }
    let sentence = "the stream ended without an answer: accept text/event-stream too";
    malformed(ErrorData::internal_error(sentence, None))
}

/// Where the first event of a stream ends, its empty line included.
fn end_of_event(text: &[u8]) -> Option<usize> {
    let mut ends = text.windows(2).enumerate();
    ends.find(|(_, pair)| pair == b"\n\n").map(|(at, _)| at + 2)
}

/// The data of an event (HTML Living Standard, section 9.2.6).
fn data_of(event: &[u8]) -> Vec<u8> {
    let lines = event.split(|byte| *byte == b'\n');
    let data = lines.filter_map(|line| line.strip_prefix(b"data:"));
    let data = data.map(|line| line.strip_prefix(b" ").unwrap_or(line));
    data.collect::<Vec<_>>().join(&b'\n')
}

/// An answer in one piece as the only event of a stream.
async fn one_event(answer: Response) -> Response {
    let (mut parts, body) = answer.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, ANSWER_BYTES_MAX).await else {
        let sentence = "the answer is too large for one event";
        return malformed(ErrorData::internal_error(sentence, None));
    };
    let mut event = Vec::with_capacity(bytes.len() + 32);
    event.extend_from_slice(b"event: message\ndata: ");
    event.extend_from_slice(&bytes);
    event.extend_from_slice(b"\n\n");
    parts.headers.remove(header::CONTENT_LENGTH);
    parts
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    let events = futures_util::stream::iter([Ok::<_, Infallible>(Bytes::from(event))]);
    Response::from_parts(parts, Body::from_stream(events))
}

/// A stream whose text any reader of lines takes apart alike.
pub(crate) fn with_plain_lines(answer: Response) -> Response {
    if !is_stream(&answer) {
        return answer;
    }
    let mut answer = answer.map(stream_text::with_plain_lines);
    answer.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(stream_text::EVENT_STREAM),
    );
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::ACCEPT, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_client_gets_what_it_takes() {
        use AnswerForm::{Any, EventsAlone, JsonAlone};
        for (values, expected) in [
            (&[][..], Some(Any)),
            (&[""], Some(Any)),
            (&["*/*"], Some(Any)),
            (&["application/json, text/event-stream"], Some(Any)),
            (&["text/event-stream", "application/json"], Some(Any)),
            (&["Application/JSON;q=0.9, TEXT/Event-Stream"], Some(Any)),
            (&["application/json, */*;q=0.1"], Some(Any)),
            (&["application/json"], Some(JsonAlone)),
            (&["application/json; charset=utf-8"], Some(JsonAlone)),
            (&["application/*"], Some(JsonAlone)),
            (
                &["application/json, text/event-stream;q=0"],
                Some(JsonAlone),
            ),
            (&["text/event-stream"], Some(EventsAlone)),
            (&["text/*, application/json;q=0.0"], Some(EventsAlone)),
            (&["text/html"], None),
            (&["text/html, application/xml"], None),
            (&["*/*;q=0"], None),
        ] {
            assert_eq!(AnswerForm::read(&accepting(values)), expected, "{values:?}");
        }
    }

    fn answer(kind: &'static str, pieces: &[&'static str]) -> Response {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|piece| Ok::<_, Infallible>(*piece))
            .collect();
        let mut answer = Response::new(Body::from_stream(futures_util::stream::iter(pieces)));
        let kind = HeaderValue::from_static(kind);
        answer.headers_mut().insert(header::CONTENT_TYPE, kind);
        answer
    }

    async fn read(answer: Response) -> (String, String) {
        let kind = answer.headers()[header::CONTENT_TYPE]
            .to_str()
            .unwrap()
            .to_owned();
        let bytes = axum::body::to_bytes(answer.into_body(), 1 << 20)
            .await
            .unwrap();
        (kind, String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn an_answer_is_put_into_the_form_that_the_client_takes() {
        let stream = [
            "id: 0\ndata: \n\ndata: {\"method\":\"notifications/progress\"}\n",
            "\nid: 1\ndata: {\"id\":1,",
            "\"result\":{}}\n\n",
        ];
        let alone = AnswerForm::JsonAlone.apply(answer(EVENTS, &stream)).await;
        assert_eq!(
            read(alone).await,
            (JSON.into(), r#"{"id":1,"result":{}}"#.into())
        );
        let event = AnswerForm::EventsAlone
            .apply(answer(JSON, &[r#"{"id":1}"#]))
            .await;
        let expected = "event: message\ndata: {\"id\":1}\n\n";
        assert_eq!(read(event).await, (EVENTS.into(), expected.into()));
        let cut = AnswerForm::JsonAlone
            .apply(answer(EVENTS, &stream[..2]))
            .await;
        assert_eq!(cut.status(), StatusCode::BAD_REQUEST);
        for (form, kind) in [
            (AnswerForm::Any, EVENTS),
            (AnswerForm::Any, JSON),
            (AnswerForm::JsonAlone, JSON),
            (AnswerForm::EventsAlone, EVENTS),
        ] {
            let same = form.apply(answer(kind, &["x"])).await;
            assert_eq!(read(same).await, (kind.into(), "x".into()), "{form:?}");
        }
    }
}
