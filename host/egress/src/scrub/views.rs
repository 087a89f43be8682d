//! Texts as a reader would decode them.
//!
//! Pure. [`unescape`] undoes one layer of the escapes that servers write: percent, HTML entities, the
//! escapes of JSON and of programming languages, quoted-printable. [`squeeze`] leaves letters and
//! digits alone, in lower case, so that line breaks, zero-width characters, separators and the signs in
//! which encodings differ are gone. A view knows for each of its bytes where in the text it came from.

/// A text as it reads after a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    pub bytes: Vec<u8>,
    /// For each byte the part of the text that it came from; empty where nobody asked.
    pub from: Vec<(u32, u32)>,
}

impl View {
    fn with_room(room: usize, traced: bool) -> Self {
        Self {
            bytes: Vec::with_capacity(room),
            from: Vec::with_capacity(if traced { room } else { 0 }),
        }
    }

    /// Where byte `at` of this view came from in the text under all views.
    pub(super) fn place(&self, at: usize) -> (u32, u32) {
        match self.from.get(at) {
            Some(place) => *place,
            None => (at as u32, at as u32 + 1),
        }
    }
}

/// Each letter and digit in lower case, and nothing for every other byte.
const KEPT: [u8; 256] = {
    let mut kept = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            kept[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    kept
};

/// Letters and digits, in lower case. Full-width ones are meant too; everything else is left out.
pub(super) fn squeeze(text: &[u8], under: Option<&View>, traced: bool) -> View {
    if !traced && !text.contains(&FULL_WIDTH) {
        // Without a branch for each byte: this is most of what a search costs.
        let mut bytes = vec![0; text.len()];
        let mut len = 0;
        for byte in text {
            let kept = KEPT[usize::from(*byte)];
            bytes[len] = kept;
            len += usize::from(kept != 0);
        }
        bytes.truncate(len);
        return View {
            bytes,
            from: Vec::new(),
        };
    }
    let mut view = View::with_room(text.len(), traced);
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        let (found, len) = if byte < 0x80 {
            (byte, 1)
        } else {
            full_width(&text[at..]).unwrap_or((0, 1))
        };
        if found.is_ascii_alphanumeric() {
            view.bytes.push(found.to_ascii_lowercase());
            if traced {
                view.from.push(span(under, at, len));
            }
        }
        at += len;
    }
    view
}

/// The text in lower case.
pub(super) fn fold(text: &[u8]) -> Vec<u8> {
    text.to_ascii_lowercase()
}

/// One layer of escapes undone; `None` where there is none.
pub(super) fn unescape(text: &[u8], under: Option<&View>, traced: bool) -> Option<View> {
    let mut view: Option<View> = None;
    let (mut at, mut done) = (0, 0);
    while let Some(next) = text[at..]
        .iter()
        .position(|byte| STARTS[usize::from(*byte)])
    {
        at += next;
        let before = at.checked_sub(1).map(|before| text[before]);
        let Some((value, len)) = escape(&text[at..], before) else {
            at += 1;
            continue;
        };
        let view = view.get_or_insert_with(|| View::with_room(text.len(), traced));
        copy(view, text, under, done, at, traced);
        let mut utf8 = [0; 4];
        let value: &[u8] = match value {
            Escaped::Nothing => &[],
            Escaped::Byte(byte) => {
                utf8[0] = byte;
                &utf8[..1]
            }
            Escaped::Char(c) => c.encode_utf8(&mut utf8).as_bytes(),
        };
        view.bytes.extend_from_slice(value);
        if traced {
            let place = span(under, at, len);
            view.from.extend(value.iter().map(|_| place));
        }
        at += len;
        done = at;
    }
    if let Some(view) = &mut view {
        copy(view, text, under, done, text.len(), traced);
    }
    view
}

fn copy(view: &mut View, text: &[u8], under: Option<&View>, from: usize, to: usize, traced: bool) {
    view.bytes.extend_from_slice(&text[from..to]);
    if traced {
        view.from.extend((from..to).map(|at| span(under, at, 1)));
    }
}

/// The part of the lowest text that `len` bytes from `at` came from.
fn span(under: Option<&View>, at: usize, len: usize) -> (u32, u32) {
    let place = |at: usize| match under {
        Some(view) => view.place(at),
        None => (at as u32, at as u32 + 1),
    };
    (place(at).0, place(at + len - 1).1)
}

enum Escaped {
    Byte(u8),
    Char(char),
    /// It means nothing that can be part of a secret.
    Nothing,
}

/// How escapes begin.
const STARTS: [bool; 256] = {
    let mut starts = [false; 256];
    starts[b'%' as usize] = true;
    starts[b'\\' as usize] = true;
    starts[b'&' as usize] = true;
    starts[b'=' as usize] = true;
    starts[b'0' as usize] = true;
    starts
};

/// What the escape at the start of `text` means, and how long it is.
fn escape(text: &[u8], before: Option<u8>) -> Option<(Escaped, usize)> {
    match (text[0], text.get(1)?) {
        (b'%', b'u' | b'U') => unicode(text, 2, 4),
        (b'%', _) => byte_at(text, 1),
        (b'=', b'\n') => Some((Escaped::Nothing, 2)),
        (b'=', b'\r') if text.get(2) == Some(&b'\n') => Some((Escaped::Nothing, 3)),
        // A soft line break inside a JSON text.
        (b'=', b'\\') => match text.get(1..5)? {
            [b'\\', b'r', b'\\', b'n'] => Some((Escaped::Nothing, 5)),
            [b'\\', b'n', ..] => Some((Escaped::Nothing, 3)),
            _ => None,
        },
        (b'=', _) => byte_at(text, 1),
        (b'&', b'#') => numbered(text),
        (b'&', _) => named(text),
        (b'0', b'x') if !before.is_some_and(|byte| byte.is_ascii_alphanumeric()) => {
            let alone = !text.get(4).is_some_and(u8::is_ascii_alphanumeric);
            byte_at(text, 2).filter(|_| alone)
        }
        (b'\\', next) => match next {
            b'x' => byte_at(text, 2),
            b'u' if text.get(2) == Some(&b'{') => braced(text),
            b'u' => unicode(text, 2, 4),
            b'U' => unicode(text, 2, 8),
            b'0'..=b'3' => octal(text),
            b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'a' => Some((Escaped::Byte(b' '), 2)),
            b'\n' => Some((Escaped::Nothing, 2)),
            next if next.is_ascii_alphanumeric() || *next >= 0x80 => None,
            next => Some((Escaped::Byte(*next), 2)),
        },
        _ => None,
    }
}

fn byte_at(text: &[u8], at: usize) -> Option<(Escaped, usize)> {
    let high = digit(*text.get(at)?)?;
    let low = digit(*text.get(at + 1)?)?;
    Some((Escaped::Byte((high << 4 | low) as u8), at + 2))
}

fn digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    digits.iter().try_fold(0u32, |sum, byte| {
        let digit = char::from(*byte).to_digit(radix)?;
        sum.checked_mul(radix)?.checked_add(digit)
    })
}

fn unicode(text: &[u8], at: usize, digits: usize) -> Option<(Escaped, usize)> {
    let value = number(text.get(at..at + digits)?, 16)?;
    // Half of a pair is not a letter that a secret is made of.
    let found = char::from_u32(value).map_or(Escaped::Nothing, Escaped::Char);
    Some((found, at + digits))
}

fn braced(text: &[u8]) -> Option<(Escaped, usize)> {
    let end = text.iter().take(12).position(|byte| *byte == b'}')?;
    let value = number(text.get(3..end)?, 16)?;
    Some((Escaped::Char(char::from_u32(value)?), end + 1))
}

fn octal(text: &[u8]) -> Option<(Escaped, usize)> {
    let value = number(text.get(1..4)?, 8)?;
    Some((Escaped::Byte(u8::try_from(value).ok()?), 4))
}

/// `&#115;` and `&#x73;`, with leading zeros and, as browsers read it, without the semicolon.
fn numbered(text: &[u8]) -> Option<(Escaped, usize)> {
    let hex = matches!(text.get(2), Some(b'x' | b'X'));
    let (start, radix) = if hex { (3, 16) } else { (2, 10) };
    let digits = text[start..]
        .iter()
        .take(16)
        .take_while(|byte| char::from(**byte).is_digit(radix))
        .count();
    if digits == 0 {
        return None;
    }
    let end = start + digits;
    let value = number(&text[start..end], radix)?;
    let found = char::from_u32(value).map_or(Escaped::Nothing, Escaped::Char);
    Some((found, end + usize::from(text.get(end) == Some(&b';'))))
}

/// Named entities mean signs; no name means a letter of ASCII or a digit.
fn named(text: &[u8]) -> Option<(Escaped, usize)> {
    let name = text[1..]
        .iter()
        .take(32)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    if name < 2 || text.get(1 + name) != Some(&b';') {
        return None;
    }
    let sign = match &text[1..1 + name] {
        b"amp" => b'&',
        b"lt" => b'<',
        b"gt" => b'>',
        b"quot" => b'"',
        b"apos" => b'\'',
        b"sol" => b'/',
        b"plus" => b'+',
        b"equals" => b'=',
        b"percnt" => b'%',
        b"bsol" => b'\\',
        b"num" => b'#',
        b"semi" => b';',
        b"colon" => b':',
        b"lowbar" => b'_',
        b"period" => b'.',
        b"commat" => b'@',
        _ => return Some((Escaped::Nothing, name + 2)),
    };
    Some((Escaped::Byte(sign), name + 2))
}

/// How full-width letters begin.
const FULL_WIDTH: u8 = 0xef;

/// `\u{ff01}` to `\u{ff5e}` are ASCII drawn wider.
fn full_width(text: &[u8]) -> Option<(u8, usize)> {
    let [FULL_WIDTH, second, third, ..] = text else {
        return None;
    };
    let code = 0xf000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f);
    let ascii = code.checked_sub(0xff01).filter(|ascii| *ascii < 0x5e)?;
    Some((ascii as u8 + 0x21, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_layer_of_each_escape_is_undone() {
        for (text, expected) in [
            ("a%2fb%2Fc", "a/b/c"),
            ("%u0073x", "sx"),
            (r"\u0073\x65\u{63}\U00000072\145t", "secret"),
            (r#"a\/b\"c"#, r#"a/b"c"#),
            (r"a\nb", "a b"),
            ("&#115;&#x65;&#0099;ret", "secret"),
            ("a&amp;b&lt;c&shy;d", "a&b<cd"),
            ("sec=\r\nret=3D", "secret="),
            (r"sec=\r\nret", "secret"),
            ("0x73,0x65", "s,e"),
            ("%252f", "%2f"),
        ] {
            let view = unescape(text.as_bytes(), None, true).expect(text);
            assert_eq!(String::from_utf8_lossy(&view.bytes), expected, "{text}");
            assert_eq!(view.bytes.len(), view.from.len(), "{text}");
        }
        for text in [
            "plain",
            "100%",
            "a=b",
            "&",
            "&nothing",
            "\\",
            "%zz",
            "0xyz",
            "a & b",
            r"\q",
            "\u{ff5f}\u{fffd}",
        ] {
            assert_eq!(unescape(text.as_bytes(), None, false), None, "{text}");
        }
    }

    #[test]
    fn a_view_knows_where_its_bytes_came_from() {
        let text = b"x%2541y";
        let one = unescape(text, None, true).expect("a layer");
        let two = unescape(&one.bytes, Some(&one), true).expect("another layer");
        assert_eq!(two.bytes, b"xAy");
        assert_eq!(two.place(1), (1, 6));
        let squeezed = squeeze(&two.bytes, Some(&two), true);
        assert_eq!(
            (squeezed.bytes.as_slice(), squeezed.place(1)),
            (&b"xay"[..], (1, 6))
        );
        let wide = squeeze("\u{ff33}e\u{200b}C-r\u{ad}3t".as_bytes(), None, true);
        assert_eq!(
            (wide.bytes.as_slice(), wide.place(0)),
            (&b"secr3t"[..], (0, 3))
        );
    }
}
