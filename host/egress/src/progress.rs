//! Progress that an MCP server reports on the event stream of its answer, read while the answer arrives.
//!
//! Pure. A plugin gets an answer whole, so the host passes these notifications on. Only the stream of a call that
//! carries a progress token is read, and of it only notifications with that token. An event that is too large is no
//! notification.

use http::header::{CONTENT_ENCODING, HeaderMap};
use serde::Deserialize;
use serde_json::Value;

use super::content_type::ContentType;
use toolgate_core::visible::visible;

/// Largest event that is read, in bytes.
const EVENT_BYTES_MAX: usize = 16 << 10;
/// Longest progress token, in bytes.
const TOKEN_BYTES_MAX: usize = 256;
const METHOD: &str = "notifications/progress";
/// Of a server that counts fractions of one.
const PERCENT: f64 = 100.0;

/// How far a server says that it is. Its text is not scrubbed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProgress {
    pub done: u64,
    pub total: Option<u64>,
    /// Without invisible characters.
    pub message: String,
}

/// Receives each report in order. It must not block.
pub type ProgressReport<'a> = &'a (dyn Fn(ServerProgress) + Send + Sync + 'a);

/// Reads the answer to one request.
pub(super) struct ProgressWatch<'a> {
    report: ProgressReport<'a>,
    events: EventReader,
    /// Known with the first part of the body.
    is_stream: Option<bool>,
}

impl<'a> ProgressWatch<'a> {
    /// None where the request asks for no progress.
    pub(super) fn new(report: ProgressReport<'a>, request_body: &[u8]) -> Option<Self> {
        Some(Self {
            report,
            events: EventReader::new(asked_token(request_body)?),
            is_stream: None,
        })
    }

    /// A part of the body as it came over the wire.
    pub(super) fn read(&mut self, status: u16, headers: &HeaderMap, part: &[u8]) {
        let is_stream = *self
            .is_stream
            .get_or_insert_with(|| (200..300).contains(&status) && is_plain_stream(headers));
        if is_stream {
            self.events.read(part, self.report);
        }
    }
}

/// The parts of a request that say whether it asks for progress.
#[derive(Deserialize)]
struct AskingRequest {
    params: AskingParams,
}

#[derive(Deserialize)]
struct AskingParams {
    #[serde(rename = "_meta")]
    meta: AskingMeta,
}

#[derive(Deserialize)]
struct AskingMeta {
    #[serde(rename = "progressToken")]
    token: String,
}

fn asked_token(body: &[u8]) -> Option<String> {
    let asking: AskingRequest = serde_json::from_slice(body).ok()?;
    let token = asking.params.meta.token;
    (token.len() <= TOKEN_BYTES_MAX).then_some(token)
}

fn is_plain_stream(headers: &HeaderMap) -> bool {
    let encoding = headers.get(CONTENT_ENCODING);
    let found = ContentType::from_headers(headers);
    encoding.is_none_or(|encoding| encoding == "identity")
        && found.is_some_and(|found| found.media == ["text/event-stream"])
}

/// Server-sent events (HTML, section "Server-sent events") in parts that may end anywhere.
struct EventReader {
    token: String,
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// Its name is not `message`.
    is_other: bool,
    is_too_large: bool,
    /// The last byte was a CR, so a LF behind it ends no further line.
    after_cr: bool,
}

impl EventReader {
    fn new(token: String) -> Self {
        Self {
            token,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            is_other: false,
            is_too_large: false,
            after_cr: false,
        }
    }

    fn read(&mut self, part: &[u8], report: ProgressReport<'_>) {
        for byte in part {
            let after_cr = std::mem::replace(&mut self.after_cr, *byte == b'\r');
            match *byte {
                b'\n' if after_cr => {}
                b'\r' | b'\n' => {
                    if let Some(progress) = self.end_line() {
                        report(progress);
                    }
                }
                _ if self.line.len() >= EVENT_BYTES_MAX => self.is_too_large = true,
                byte => self.line.push(byte),
            }
        }
    }

    /// A notification, where the line ends the event of one.
    fn end_line(&mut self) -> Option<ServerProgress> {
        if self.line.is_empty() {
            return self.end_event();
        }
        let line = std::mem::take(&mut self.line);
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" if self.data.len() + value.len() >= EVENT_BYTES_MAX => self.is_too_large = true,
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.is_other = !value.is_empty() && value != b"message",
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<ServerProgress> {
        let data = std::mem::take(&mut self.data);
        let is_message = std::mem::take(&mut self.has_data) && !std::mem::take(&mut self.is_other);
        let fits = !std::mem::take(&mut self.is_too_large);
        match is_message && fits {
            true => notified(&serde_json::from_slice(&data).ok()?, &self.token),
            false => None,
        }
    }
}

/// The progress of a notification with this token.
fn notified(message: &Value, token: &str) -> Option<ServerProgress> {
    let params = &message["params"];
    if message["method"] != METHOD || params["progressToken"] != token {
        return None;
    }
    let (done, total) = counted(params["progress"].as_f64()?, params["total"].as_f64())?;
    let message = params["message"].as_str().unwrap_or_default();
    Some(ServerProgress {
        done,
        total,
        message: visible(message).into_owned(),
    })
}

/// Whole numbers; fractions of one become percent.
fn counted(done: f64, total: Option<f64>) -> Option<(u64, Option<u64>)> {
    if !done.is_finite() || done < 0.0 {
        return None;
    }
    let total = total.filter(|total| total.is_finite() && *total > 0.0);
    Some(match total {
        Some(total) if total <= 1.0 => {
            let percent = (done / total * PERCENT).min(PERCENT);
            (percent as u64, Some(PERCENT as u64))
        }
        Some(total) => (done as u64, Some(total as u64)),
        None => (done as u64, None),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use http::HeaderValue;
    use http::header::CONTENT_TYPE;
    use serde_json::json;

    use super::*;

    fn asking(token: &Value) -> Vec<u8> {
        let params = json!({"name": "walk", "arguments": {}, "_meta": {"progressToken": token}});
        json!({"id": "7", "method": "tools/call", "params": params})
            .to_string()
            .into_bytes()
    }

    fn event(params: &Value) -> String {
        let notification = json!({"jsonrpc": "2.0", "method": METHOD, "params": params});
        format!("event: message\ndata: {notification}\n\n")
    }

    fn headers(media: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media))])
    }

    /// What is reported of a stream that comes in parts of this size.
    fn reported(stream: &str, part: usize) -> Vec<ServerProgress> {
        let found = Mutex::new(Vec::new());
        let report = |progress| found.lock().expect("one thread").push(progress);
        let mut watch = ProgressWatch::new(&report, &asking(&json!("t"))).expect("it asks");
        let headers = headers("text/event-stream; charset=utf-8");
        for part in stream.as_bytes().chunks(part) {
            watch.read(200, &headers, part);
        }
        drop(watch);
        found.into_inner().expect("one thread")
    }

    fn progress(done: u64, total: Option<u64>, message: &str) -> ServerProgress {
        ServerProgress {
            done,
            total,
            message: message.to_owned(),
        }
    }

    #[test]
    fn progress_is_reported_wherever_a_part_ends() {
        let first =
            event(&json!({"progressToken": "t", "progress": 1, "total": 3, "message": "größer"}));
        let second =
            event(&json!({"progressToken": "t", "progress": 2.5, "message": "a\u{200b}b\nc"}));
        let answer = "data: {\"jsonrpc\":\"2.0\",\"id\":\"7\",\"result\":{}}\n\n";
        let expected = [
            progress(1, Some(3), "größer"),
            progress(2, None, "a\\u{200b}b\nc"),
        ];
        let stream = format!(": begin\n\n{first}{second}{answer}");
        for stream in [
            stream.clone(),
            stream.replace('\n', "\r\n"),
            stream.replace('\n', "\r"),
        ] {
            for part in [1, 7, stream.len()] {
                assert_eq!(reported(&stream, part), expected, "{stream:?} in {part}");
            }
        }
    }

    #[test]
    fn nothing_else_of_a_stream_is_reported() {
        let good = json!({"progressToken": "t", "progress": 1});
        let large =
            json!({"progressToken": "t", "progress": 1, "message": "x".repeat(EVENT_BYTES_MAX)});
        let lines = "data: \n".repeat(EVENT_BYTES_MAX + 1);
        for stream in [
            event(&json!({"progressToken": "other", "progress": 1})),
            event(&json!({"progressToken": "t", "progress": "1"})),
            event(&json!({"progressToken": "t", "progress": -1})),
            event(&large),
            format!("{lines}{}", event(&good)),
            event(&good).replace("event: message", "event: ping"),
            event(&good).replace(METHOD, "notifications/message"),
            event(&good).trim_end().to_owned(),
            "data: []\n\n".to_owned(),
        ] {
            let start: String = stream.chars().take(200).collect();
            assert_eq!(reported(&stream, 64), [], "{start}");
        }
        // What follows a large event is read.
        let stream = format!("{}{}", event(&large), event(&good));
        assert_eq!(reported(&stream, 64), [progress(1, None, "")]);
    }

    #[test]
    fn an_event_is_read_up_to_its_bound() {
        let said = |message: &str| {
            event(&json!({"progressToken": "t", "progress": 1, "message": message}))
        };
        let line = said("");
        let line = line.lines().nth(1).expect("a line of data");
        let longest = "x".repeat(EVENT_BYTES_MAX - line.len());
        assert_eq!(reported(&said(&longest), 64), [progress(1, None, &longest)]);
        assert_eq!(reported(&said(&format!("{longest}x")), 64), []);
    }

    #[test]
    fn only_the_stream_of_a_request_that_asks_is_read() {
        let ignore = |_| {};
        let longest = asking(&json!("x".repeat(TOKEN_BYTES_MAX)));
        assert!(ProgressWatch::new(&ignore, &longest).is_some());
        for body in [
            Vec::new(),
            b"[]".to_vec(),
            br#"{"params": {}}"#.to_vec(),
            br#"{"params": {"_meta": {}}}"#.to_vec(),
            asking(&json!(7)),
            asking(&json!("x".repeat(TOKEN_BYTES_MAX + 1))),
        ] {
            assert!(ProgressWatch::new(&ignore, &body).is_none(), "{body:?}");
        }
        let good = event(&json!({"progressToken": "t", "progress": 1}));
        let mut compressed = headers("text/event-stream");
        compressed.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        for (status, headers, expected) in [
            (200, headers("text/event-stream"), 1),
            (200, headers("application/json"), 0),
            (200, HeaderMap::new(), 0),
            (200, compressed, 0),
            (401, headers("text/event-stream"), 0),
        ] {
            let found = Mutex::new(0);
            let report = |_| *found.lock().expect("one thread") += 1;
            let mut watch = ProgressWatch::new(&report, &asking(&json!("t"))).expect("it asks");
            watch.read(status, &headers, good.as_bytes());
            drop(watch);
            let found = found.into_inner().expect("one thread");
            assert_eq!(found, expected, "{status} {headers:?}");
        }
    }

    #[test]
    fn counts_are_whole_and_fractions_of_one_are_percent() {
        for (done, total, expected) in [
            (3.0, Some(10.0), Some((3, Some(10)))),
            (3.9, None, Some((3, None))),
            (0.25, Some(1.0), Some((25, Some(100)))),
            (2.0, Some(1.0), Some((100, Some(100)))),
            (1.0, Some(0.0), Some((1, None))),
            (1.0, Some(f64::NAN), Some((1, None))),
            (f64::INFINITY, None, None),
            (-1.0, None, None),
        ] {
            assert_eq!(counted(done, total), expected, "{done} {total:?}");
        }
    }
}
