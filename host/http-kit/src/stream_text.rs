//! The text of event streams. Many readers of lines, Python's `splitlines` among them, also end a line at U+0085,
//! U+2028 and U+2029, which JSON may hold as they are. Data of events is JSON, where an escape means the same.

use axum::body::{Body, Bytes};
use futures_util::{StreamExt as _, stream};

/// The type of a stream. Readers that are not told its charset take the text for ISO 8859-1.
pub const EVENT_STREAM: &str = "text/event-stream; charset=utf-8";

/// The characters in UTF-8, and as JSON escapes.
const LINE_ENDS: [(&[u8], &[u8]); 3] = [
    (b"\xc2\x85", b"\\u0085"),
    (b"\xe2\x80\xa8", b"\\u2028"),
    (b"\xe2\x80\xa9", b"\\u2029"),
];

/// The same stream with these characters escaped.
pub fn with_plain_lines(body: Body) -> Body {
    let pieces = body
        .into_data_stream()
        .map(Some)
        .chain(stream::iter([None]));
    let mut begun = Vec::new();
    let plain = pieces.filter_map(move |piece| {
        let plain = match piece {
            Some(Ok(piece)) => escaped(&mut begun, piece).map(Ok),
            Some(Err(cause)) => Some(Err(cause)),
            None => (!begun.is_empty()).then(|| Ok(Bytes::from(std::mem::take(&mut begun)))),
        };
        std::future::ready(plain)
    });
    Body::from_stream(plain)
}

/// A piece with the characters escaped. `begun`: a character of which the last piece held the beginning.
fn escaped(begun: &mut Vec<u8>, piece: Bytes) -> Option<Bytes> {
    let is_suspect = |byte: &u8| matches!(byte, 0xc2 | 0xe2);
    if begun.is_empty() && !piece.iter().any(is_suspect) {
        return Some(piece);
    }
    begun.extend_from_slice(&piece);
    let text = std::mem::take(begun);
    let mut plain = Vec::with_capacity(text.len() + 16);
    let mut rest = &text[..];
    while let Some(at) = rest.iter().position(is_suspect) {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        if let Some((raw, escape)) = LINE_ENDS.iter().find(|(raw, _)| rest.starts_with(raw)) {
            plain.extend_from_slice(escape);
            rest = &rest[raw.len()..];
        } else if LINE_ENDS.iter().any(|(raw, _)| raw.starts_with(rest)) {
            // The next piece says which it is.
            begun.extend_from_slice(rest);
            rest = &[];
        } else {
            plain.push(rest[0]);
            rest = &rest[1..];
        }
    }
    plain.extend_from_slice(rest);
    (!plain.is_empty()).then(|| plain.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    async fn sent(pieces: Vec<Vec<u8>>) -> Vec<u8> {
        let pieces = stream::iter(pieces.into_iter().map(Ok::<_, Infallible>));
        let body = with_plain_lines(Body::from_stream(pieces));
        axum::body::to_bytes(body, 1 << 20).await.unwrap().to_vec()
    }

    #[tokio::test]
    async fn a_reader_of_lines_finds_each_event_on_one_line() {
        let data = r#"data: {"t":"日本x y z, é, €, â, "}"#;
        let data = data
            .replace('x', "x\u{2028}\u{2029}\u{85}")
            .replace('é', "\u{84}\u{86}\u{2027}\u{202a}é");
        let text = format!("{data}\n\n");
        let expected = text
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029")
            .replace('\u{85}', "\\u0085");
        let whole = sent(vec![text.clone().into_bytes()]).await;
        assert_eq!(String::from_utf8(whole).unwrap(), expected);
        // However the text is cut.
        let single = text.bytes().map(|byte| vec![byte]).collect();
        assert_eq!(sent(single).await, expected.as_bytes());
        let value: serde_json::Value = serde_json::from_str(&expected["data: ".len()..]).unwrap();
        let original: serde_json::Value = serde_json::from_str(&text["data: ".len()..]).unwrap();
        assert_eq!(value, original);
        // What ends within a character is handed on as it came.
        assert_eq!(sent(vec![b"a\xe2\x80".to_vec()]).await, b"a\xe2\x80");
    }
}
