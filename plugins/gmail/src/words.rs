//! Text in mail headers: encoded words (RFC 2047), both ways, and character sets.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Most bytes of text in one encoded word, so that the word stays within 75 characters.
const WORD_BYTES_MAX: usize = 45;

/// `text` as it may stand in a header: as it is when it is printable ASCII, else as encoded words.
pub fn encode(text: &str) -> String {
    if text.chars().all(|c| (' '..='~').contains(&c)) && !text.contains("=?") {
        return text.to_owned();
    }
    let mut words = Vec::new();
    let mut piece = String::new();
    for c in text.chars() {
        if piece.len() + c.len_utf8() > WORD_BYTES_MAX {
            words.push(word(&piece));
            piece.clear();
        }
        piece.push(c);
    }
    words.push(word(&piece));
    words.join("\r\n ")
}

fn word(piece: &str) -> String {
    format!("=?UTF-8?B?{}?=", STANDARD.encode(piece))
}

/// A header's text with its encoded words undone. What is no valid word stays as it is.
pub fn decode(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut after_word = false;
    while let Some(start) = rest.find("=?") {
        let (before, word) = rest.split_at(start);
        // White space between two encoded words is not text (RFC 2047, section 6.2).
        if !(after_word && before.trim().is_empty()) {
            out.push_str(before);
        }
        match decode_word(word) {
            Some((text, taken)) => {
                out.push_str(&text);
                rest = &word[taken..];
                after_word = true;
            }
            None => {
                out.push_str("=?");
                rest = &word[2..];
                after_word = false;
            }
        }
    }
    out.push_str(rest);
    out
}

fn decode_word(word: &str) -> Option<(String, usize)> {
    let mut parts = word.strip_prefix("=?")?.splitn(3, '?');
    let (charset, encoding, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (content, _) = rest.split_once("?=")?;
    let bytes = match encoding {
        "B" | "b" => STANDARD.decode(content).ok()?,
        "Q" | "q" => decode_q(content)?,
        _ => return None,
    };
    let taken = "=?".len() + charset.len() + 1 + encoding.len() + 1 + content.len() + "?=".len();
    Some((text_of(&bytes, charset), taken))
}

fn decode_q(content: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut bytes = content.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'_' => out.push(b' '),
            b'=' => {
                let (high, low) = (bytes.next()?, bytes.next()?);
                let digit = |byte: u8| (byte as char).to_digit(16);
                out.push((digit(high)? * 16 + digit(low)?) as u8);
            }
            byte => out.push(byte),
        }
    }
    Some(out)
}

/// Bytes as text. Western European sets are known besides UTF-8; anything else is read as UTF-8.
pub fn text_of(bytes: &[u8], charset: &str) -> String {
    match charset.trim_matches('"').to_ascii_lowercase().as_str() {
        "iso-8859-1" | "latin1" | "windows-1252" | "iso-8859-15" => {
            bytes.iter().map(|byte| western(*byte)).collect()
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// One byte of windows-1252, which is also how ISO 8859-1 is read in practice.
fn western(byte: u8) -> char {
    const C1: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => C1[usize::from(byte - 0x80)],
        byte => byte as char,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_decoded() {
        for (header, expected) in [
            ("plain", "plain"),
            ("=?UTF-8?B?R3LDvMOfZQ==?=", "Grüße"),
            ("=?iso-8859-1?Q?Gr=FC=DFe_aus?= Rom", "Grüße aus Rom"),
            ("=?utf-8?q?a?= =?utf-8?q?b?=", "ab"),
            ("a =?utf-8?q?b?= c", "a b c"),
            ("=?broken", "=?broken"),
            ("=?utf-8?B?***?=", "=?utf-8?B?***?="),
            ("=?windows-1252?Q?=80_5?=", "€ 5"),
        ] {
            assert_eq!(decode(header), expected, "{header}");
        }
    }

    #[test]
    fn what_is_encoded_can_be_decoded() {
        let long = "Grüße an alle, die länger als eine Zeile lesen können — ".repeat(5);
        for text in ["plain text", "Grüße", "=?looks like one", &long] {
            let encoded = encode(text);
            assert!(encoded.lines().all(|line| line.len() <= 76), "{encoded}");
            assert!(encoded.is_ascii(), "{encoded}");
            assert_eq!(decode(&encoded.replace("\r\n ", " ")), text);
        }
        assert_eq!(encode("plain text"), "plain text");
    }
}
