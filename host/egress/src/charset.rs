//! Text of an answer in UTF-8, whatever charset its server writes.
//!
//! Pure. What is decoded here is what the scrubber searches and what the plugin gets, so no charset hides anything from
//! either. Names of charsets are those of the WHATWG Encoding standard, as `encoding_rs` knows them.

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How the names of charsets begin that exist and are not read: in most of them ASCII is not written as ASCII.
const NOT_READ: &[&str] = &[
    "bocu", "cesu", "cp", "cs", "ebcdic", "hz", "ibm", "iso", "scsu", "ucs", "unicode", "utf-32",
    "utf-7", "utf32", "utf7", "x-",
];

/// The text as it may be handed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DecodedText {
    /// It is UTF-8, or bytes that no charset is known of: as it came.
    AsItCame,
    /// The label says nothing, and it is UTF-8.
    Relabelled,
    Decoded(Bytes),
    /// A charset that is not read.
    NotRead,
    /// In UTF-8 it is longer than an answer may be.
    TooLarge,
}

/// Decodes a text. `label` is the charset that its `Content-Type` names. A byte order mark counts more than the label.
pub(super) fn decode(
    label: Option<&str>,
    json: bool,
    body: &Bytes,
    bytes_max: usize,
) -> DecodedText {
    let named = label.map(|label| Encoding::for_label_no_replacement(label.as_bytes()));
    let encoding = match (Encoding::for_bom(body), named) {
        (Some((marked, _)), _) => marked,
        (None, Some(Some(named))) if named == UTF_16LE && label != Some("utf-16le") => {
            sixteen_bits(body).unwrap_or(named)
        }
        (None, Some(Some(named))) => named,
        (None, None) => match sixteen_bits(body) {
            Some(encoding) if json => encoding,
            _ => return DecodedText::AsItCame,
        },
        (None, Some(None)) => {
            return match !is_not_read(label) && std::str::from_utf8(body).is_ok() {
                true => DecodedText::Relabelled,
                false => DecodedText::NotRead,
            };
        }
    };
    let marked = encoding == UTF_8 && body.starts_with(b"\xef\xbb\xbf");
    if encoding == UTF_8 && !marked {
        return DecodedText::AsItCame;
    }
    if marked {
        return DecodedText::Decoded(body.slice(3..));
    }
    // Three bytes are the most that a byte of any of these charsets becomes.
    if body.len() > bytes_max {
        return DecodedText::TooLarge;
    }
    let (text, _, _) = encoding.decode(body);
    match text.len() > bytes_max {
        true => DecodedText::TooLarge,
        false => DecodedText::Decoded(Bytes::from(text.into_owned())),
    }
}

/// Whether a label names a charset that exists and is not read.
pub(super) fn is_not_read(label: Option<&str>) -> bool {
    label.is_some_and(|label| {
        Encoding::for_label_no_replacement(label.as_bytes()).is_none()
            && NOT_READ.iter().any(|one| label.starts_with(one))
    })
}

/// UTF-16 without a mark, as the first two ASCII characters of a document show it (RFC 4627, section 3).
fn sixteen_bits(body: &[u8]) -> Option<&'static Encoding> {
    match body.get(..4)? {
        [0, a, 0, b] if *a != 0 && *b != 0 => Some(UTF_16BE),
        [a, 0, b, 0] if *a != 0 && *b != 0 => Some(UTF_16LE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let units = text.encode_utf16();
        units
            .flat_map(|unit| match big {
                true => unit.to_be_bytes(),
                false => unit.to_le_bytes(),
            })
            .collect()
    }

    #[test]
    fn text_is_utf_8_afterwards() {
        let e_acute = r#"{"a":"é"}"#;
        let mut marked = vec![0xfe, 0xff];
        marked.extend(utf16(e_acute, true));
        for (label, body, expected) in [
            (Some("iso-8859-1"), b"{\"a\":\"\xe9\"}".to_vec(), e_acute),
            (Some("latin1"), b"{\"a\":\"\xe9\"}".to_vec(), e_acute),
            (Some("windows-1252"), b"\x80 5".to_vec(), "€ 5"),
            (Some("iso-8859-15"), b"\xa4".to_vec(), "€"),
            (Some("gbk"), b"\xc4\xe3\xba\xc3".to_vec(), "你好"),
            (Some("gb18030"), b"\xc4\xe3".to_vec(), "你"),
            (Some("shift_jis"), b"\x93\xfa\x96\x7b".to_vec(), "日本"),
            (Some("euc-kr"), b"\xc7\xd1".to_vec(), "한"),
            (Some("koi8-r"), b"\xf2".to_vec(), "Р"),
            (Some("utf-16"), utf16(e_acute, false), e_acute),
            (Some("utf-16"), utf16(e_acute, true), e_acute),
            (Some("utf-16le"), utf16("é", false), "é"),
            (Some("utf-16be"), utf16("é", true), "é"),
            (Some("iso-8859-1"), marked.clone(), e_acute),
            (None, marked, e_acute),
            (None, utf16(e_acute, false), e_acute),
            (None, b"\xef\xbb\xbf{}".to_vec(), "{}"),
        ] {
            let body = Bytes::from(body);
            let expected = DecodedText::Decoded(Bytes::from(expected.to_owned()));
            assert_eq!(decode(label, true, &body, 100), expected, "{label:?}");
        }
    }

    #[test]
    fn a_label_that_is_no_charset_says_nothing() {
        let text = Bytes::from_static("{\"a\":\"é\"}".as_bytes());
        for label in ["none", "unknown", "utf8mb4", "", "null", "binary"] {
            assert_eq!(
                decode(Some(label), true, &text, 100),
                DecodedText::Relabelled
            );
        }
        for label in [None, Some("utf-8"), Some("utf8")] {
            assert_eq!(
                decode(label, true, &text, 100),
                DecodedText::AsItCame,
                "{label:?}"
            );
        }
        let bytes = Bytes::from_static(b"\xff\xfd");
        assert_eq!(
            decode(Some("none"), true, &bytes, 100),
            DecodedText::NotRead
        );
        assert_eq!(decode(None, false, &bytes, 100), DecodedText::AsItCame);
    }

    #[test]
    fn charsets_that_are_not_read_are_refused_and_growth_is_bounded() {
        let text = Bytes::from_static(b"+AGEAYg-");
        for label in [
            "utf-7",
            "utf-32",
            "ibm037",
            "cp1047",
            "iso-2022-kr",
            "hz-gb-2312",
            "scsu",
        ] {
            assert_eq!(
                decode(Some(label), false, &text, 100),
                DecodedText::NotRead,
                "{label}"
            );
        }
        let grows = Bytes::from(vec![0xe9; 60]);
        assert_eq!(
            decode(Some("latin1"), false, &grows, 100),
            DecodedText::TooLarge
        );
        assert_eq!(
            decode(Some("latin1"), false, &grows, 59),
            DecodedText::TooLarge
        );
    }
}
