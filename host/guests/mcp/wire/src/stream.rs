//! Event streams (HTML, section "Server-sent events"), read when they have ended or were cut.

/// The data of each event without a name or with the name `message`, in order. What follows the last empty line was
/// cut and is no event.
pub fn messages(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found = Vec::new();
    let (mut data, mut has_data, mut named) = (String::new(), false, String::new());
    for line in lines(text) {
        if line.is_empty() {
            if has_data && (named.is_empty() || named == "message") {
                found.push(std::mem::take(&mut data));
            }
            data.clear();
            named.clear();
            has_data = false;
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if has_data {
                    data.push('\n');
                }
                data.push_str(value);
                has_data = true;
            }
            "event" => value.clone_into(&mut named),
            _ => {}
        }
    }
    found
}

/// Complete lines, which end in CRLF, LF or CR.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.find(['\r', '\n'])?;
        let line = &rest[..end];
        let behind = &rest[end..];
        rest = behind.strip_prefix("\r\n").unwrap_or(&behind[1..]);
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::messages;

    #[test]
    fn events_are_read_as_the_standard_says() {
        for (text, expected) in [
            ("data: a\n\ndata: b\n\n", vec!["a", "b"]),
            ("data: a\r\ndata: b\r\n\r\n", vec!["a\nb"]),
            ("data:a\r\r", vec!["a"]),
            (": ping\n\nid: 1\nretry: 5\ndata: a\n\n: end\n\n", vec!["a"]),
            ("event: message\ndata: a\n\n", vec!["a"]),
            ("event: ping\ndata: a\n\ndata: b\n\n", vec!["b"]),
            ("\u{feff}data: a\n\n", vec!["a"]),
            ("data\n\n", vec![""]),
            ("data:  two\n\n", vec![" two"]),
        ] {
            assert_eq!(messages(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_event_that_was_cut_is_none() {
        for cut in ["", "data: a", "data: a\n", "data: a\ndata: {\"b\""] {
            assert!(messages(cut).is_empty(), "{cut:?}");
        }
    }
}
