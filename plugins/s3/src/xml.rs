//! Reading the XML that S3 answers: flat, without attributes that matter.

/// The content of every element of that name, at any depth, in order.
pub fn all<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut out = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find(&open) {
        let after = &rest[at + open.len()..];
        // `<Key>` is not `<KeyCount>`.
        let Some(end) = after.find('>') else { break };
        if !after.starts_with(['>', ' ', '/']) {
            rest = after;
            continue;
        }
        if after[..end].ends_with('/') {
            out.push("");
            rest = &after[end + 1..];
            continue;
        }
        let content = &after[end + 1..];
        let Some(length) = content.find(&close) else {
            break;
        };
        out.push(&content[..length]);
        rest = &content[length + close.len()..];
    }
    out
}

/// The text of the first element of that name.
pub fn text(xml: &str, name: &str) -> Option<String> {
    all(xml, name).first().map(|text| unescape(text))
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#34;", "\"")
        .replace("&apos;", "'")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// A text as it may stand in an element.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_name() {
        let xml = "<?xml version=\"1.0\"?><R xmlns=\"x\"><KeyCount>2</KeyCount><C><Key>a &amp;lt; b</Key></C><C><Key/></C><Key a=\"1\">c</Key></R>";
        assert_eq!(all(xml, "Key"), ["a &amp;lt; b", "", "c"]);
        assert_eq!(all(xml, "C").len(), 2);
        assert_eq!(text(xml, "Key").as_deref(), Some("a &lt; b"));
        assert_eq!(text(xml, "KeyCount").as_deref(), Some("2"));
        assert_eq!(text(xml, "None"), None);
        assert!(all("<Key>open", "Key").is_empty());
        assert_eq!(
            text(&format!("<K>{}</K>", escape("a<b>&c")), "K").as_deref(),
            Some("a<b>&c")
        );
    }
}
