//! The `Content-Type` of an answer, as servers write it.
//!
//! Pure. Some write the type twice, in one header or in two, put the charset into quotes, or name an unknown one.

use http::header::{CONTENT_TYPE, HeaderMap};

/// A `Content-Type` in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ContentType {
    /// `type/subtype` of each type that is named, without repetitions.
    pub media: Vec<String>,
    /// The parameters of the first one but its charset, as they are written.
    parameters: Vec<String>,
    /// The first charset that is named.
    pub charset: Option<String>,
    /// How many types are written.
    named: usize,
}

impl ContentType {
    /// None where there is no such header.
    pub(super) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let mut found = Self::default();
        let mut any = false;
        for value in headers.get_all(CONTENT_TYPE) {
            any = true;
            let text = String::from_utf8_lossy(value.as_bytes());
            for one in outside_quotes(&text, ',') {
                found.add(one);
            }
        }
        any.then_some(found)
    }

    fn add(&mut self, one: &str) {
        let mut parts = outside_quotes(one, ';').into_iter().map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        if media.is_empty() {
            return;
        }
        self.named += 1;
        let first = self.media.is_empty();
        for part in parts.filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            if name.trim().eq_ignore_ascii_case("charset") {
                let label = value.trim_matches(['"', '\'', ' ']).to_ascii_lowercase();
                self.charset.get_or_insert(label);
            } else if first {
                self.parameters.push(part.to_owned());
            }
        }
        if !self.media.contains(&media) {
            self.media.push(media);
        }
    }

    /// Whether it says more than one type, or one twice.
    pub(super) fn is_doubled(&self) -> bool {
        self.named > 1
    }

    /// The header with one type.
    pub(super) fn in_one(&self) -> String {
        let text = self.without_charset();
        match &self.charset {
            Some(charset) => format!("{text}; charset={charset}"),
            None => text,
        }
    }

    /// The header for a body that is UTF-8 now.
    pub(super) fn in_utf8(&self) -> String {
        format!("{}; charset=utf-8", self.without_charset())
    }

    fn without_charset(&self) -> String {
        let mut text = self.media.first().cloned().unwrap_or_default();
        for parameter in &self.parameters {
            text.push_str("; ");
            text.push_str(parameter);
        }
        text
    }
}

/// The pieces between separators that no quotes enclose.
fn outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let mut quoted = false;
    text.split(|c: char| {
        quoted ^= c == '"';
        c == separator && !quoted
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn types_are_read_as_servers_write_them() {
        for (values, media, charset) in [
            (vec!["application/json"], vec!["application/json"], None),
            (
                vec!["Application/JSON; Charset=\"ISO-8859-1\""],
                vec!["application/json"],
                Some("iso-8859-1"),
            ),
            (
                vec!["application/json, application/json"],
                vec!["application/json"],
                None,
            ),
            (
                vec!["application/json", "application/json; charset=utf-8"],
                vec!["application/json"],
                Some("utf-8"),
            ),
            (
                vec!["text/html, application/json"],
                vec!["text/html", "application/json"],
                None,
            ),
            (
                vec!["multipart/mixed; boundary=\"a,b;c\"; charset=none"],
                vec!["multipart/mixed"],
                Some("none"),
            ),
            (vec![""], vec![], None),
        ] {
            let headers: HeaderMap = values
                .iter()
                .map(|value| (CONTENT_TYPE, HeaderValue::from_static(value)))
                .collect();
            let found = ContentType::from_headers(&headers).expect("a header");
            assert_eq!(found.media, media, "{values:?}");
            assert_eq!(found.charset.as_deref(), charset, "{values:?}");
        }
        assert_eq!(ContentType::from_headers(&HeaderMap::new()), None);
        let headers = HeaderMap::from_iter([(
            CONTENT_TYPE,
            HeaderValue::from_static("text/csv; header=present; charset=gbk"),
        )]);
        let found = ContentType::from_headers(&headers).expect("a header");
        assert_eq!(found.in_utf8(), "text/csv; header=present; charset=utf-8");
    }
}
