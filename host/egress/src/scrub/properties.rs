//! Any token, any cut, any encoding that an honest server uses: drawn from a seed, so that a failure
//! repeats.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::*;
use crate::draw::Draw;

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    fn text(&mut self, alphabet: &[u8], len: usize) -> String {
        (0..len)
            .map(|_| char::from(alphabet[self.below(alphabet.len())]))
            .collect()
    }

    fn token(&mut self) -> String {
        let alphabets: [&[u8]; 4] = [
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            b"0123456789abcdef",
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=~.",
        ];
        let alphabet = alphabets[self.below(4)];
        let len = 20 + self.below(120);
        self.text(alphabet, len)
    }

    fn encoded(&mut self, text: &str) -> String {
        let each = |form: fn(u8) -> String| text.bytes().map(form).collect::<String>();
        let lead = self.below(7);
        let lead = self.text(b"abcdef:", lead);
        let width = 10 + self.below(70);
        match self.below(13) {
            0 => text.to_owned(),
            1 => each(|b| format!("%{b:02X}")),
            2 => each(|b| format!("&#{b};")),
            3 => each(|b| format!("&#x{b:x};")),
            4 => each(|b| format!("\\u{b:04x}")),
            5 => each(|b| format!("={b:02X}")),
            6 => STANDARD.encode(format!("{lead}{text}")),
            7 => URL_SAFE_NO_PAD.encode(format!("{lead}{text}")),
            8 => {
                let code = STANDARD.encode(format!("{lead}{text}"));
                let lines: Vec<String> = code
                    .as_bytes()
                    .chunks(width)
                    .map(|line| String::from_utf8_lossy(line).into_owned())
                    .collect();
                lines.join("\\r\\n")
            }
            9 => each(|b| format!("{b:02x}")),
            10 => each(|b| format!("{b:02X}:")),
            11 => each(|b| format!("{}\u{200b}", char::from(b))),
            _ => STANDARD.encode(STANDARD.encode(format!("{lead}{text}"))),
        }
    }
}

#[test]
fn any_token_in_any_honest_encoding_is_removed() {
    let mut draw = Draw(18);
    for round in 0..400 {
        let token = draw.token();
        let mut scrubber = Scrubber::default();
        scrubber.learn([token.as_bytes()]);
        let form = draw.encoded(&token);
        // Percent, entities and escapes may surround any of these.
        let escaped = match draw.below(3) {
            0 => form.bytes().map(|b| format!("%{b:02x}")).collect(),
            _ => form.clone(),
        };
        let text = format!(r#"{{"before": 1, "value": "{escaped}", "after": [true]}}"#);
        let clean = scrubber.text(&text);
        assert!(clean.contains(REDACTED), "{round}: {token} as {text} stays");
        let left = forms::squeeze(clean.as_bytes());
        let hidden = forms::squeeze(escaped.as_bytes());
        // The lead, and what of an encoding depends on it, may stay.
        let core = &hidden[hidden.len().min(24)..];
        for part in core.windows(24) {
            assert!(
                !left.windows(24).any(|other| other == part),
                "{round}: {token} as {text} leaves {clean}"
            );
        }
    }
}

#[test]
fn any_long_cut_of_any_token_is_removed() {
    let mut draw = Draw(19);
    for round in 0..400 {
        let token = draw.token();
        let mut scrubber = Scrubber::default();
        scrubber.learn([token.as_bytes()]);
        let len = 18 + draw.below(token.len() - 17);
        let start = draw.below(token.len() - len + 1);
        let cut = &token[start..start + len];
        if forms::squeeze(cut.as_bytes()).len() < 17 {
            continue;
        }
        let clean = scrubber.text(cut);
        assert!(clean.contains(REDACTED), "{round}: {cut} of {token} stays");
        assert!(
            clean.len() < REDACTED.len() * 2 + 12,
            "{round}: {clean} is left of {cut}"
        );
    }
}

#[test]
fn no_cut_of_any_token_is_taken_for_the_whole() {
    let mut draw = Draw(21);
    for round in 0..400 {
        let token = draw.token();
        let mut scrubber = Scrubber::default();
        scrubber.learn([token.as_bytes()]);
        // 71 bytes of a long one count as the whole.
        let most = (token.len() - 1).min(70);
        let cut = &token[..SECRET_BYTES_MIN + draw.below(most - SECRET_BYTES_MIN + 1)];
        let squeezed = |text: &str| forms::squeeze(text.as_bytes()).len();
        if squeezed(cut) == squeezed(&token) {
            // Signs alone are missing, in which encodings differ.
            continue;
        }
        // Letters behind it could be the rest.
        let text = format!("({cut})");
        let depth = SearchDepth::OwnWholes;
        assert_eq!(scrubber.text_to(depth, &text), text, "{round}: of {token}");
        let whole = format!(r#"{{"whole": "{token}"}}"#);
        let clean = scrubber.text_to(depth, &whole);
        assert!(clean.contains(REDACTED), "{round}: {token} stays");
    }
}

#[test]
fn other_texts_stay_as_they_are() {
    let mut draw = Draw(20);
    let mut scrubber = Scrubber::default();
    for _ in 0..50 {
        let token = draw.token();
        scrubber.learn([token.as_bytes()]);
    }
    for round in 0..60 {
        let words: Vec<String> = (0..200)
            .map(|_| {
                let token = draw.token();
                draw.encoded(&token)
            })
            .collect();
        let text = words.join(" ");
        assert!(
            matches!(scrubber.text(&text), Cow::Borrowed(_)),
            "round {round}"
        );
    }
}

#[test]
fn hostile_texts_cost_no_more_than_their_length() {
    let token = "a1b2c3d4e5f6g7h8i9j0k1l2m3n4";
    let mut scrubber = Scrubber::default();
    scrubber.learn([token.as_bytes()]);
    let half = 256 << 10;
    for unit in [
        "%",
        "%25",
        "&#",
        "\\",
        "\\u00",
        "=",
        "0x",
        &token[..9],
        &token[..8],
        "\u{200b}",
        "A==",
    ] {
        let text = unit.repeat(half / unit.len());
        let start = std::time::Instant::now();
        scrubber.text(&text);
        let took = start.elapsed();
        // Quadratic work would take many minutes.
        assert!(took.as_secs() < 60, "{unit}: {took:?}");
    }
}

#[test]
fn what_stands_across_the_end_of_a_piece_is_seen() {
    let token = "a1b2c3d4e5f6g7h8i9j0k1l2m3n4";
    let mut scrubber = Scrubber::default();
    scrubber.learn([token.as_bytes()]);
    for at in PIECE_BYTES - token.len()..PIECE_BYTES + 2 {
        let text = format!("{}{token}{}", " ".repeat(at), ".".repeat(PIECE_BYTES));
        let clean = scrubber.text(&text);
        assert_eq!(clean.trim_matches([' ', '.']), REDACTED, "{at}");
    }
}
