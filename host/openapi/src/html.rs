//! Texts without HTML, which many descriptions write between their Markdown.

/// Elements that a text may have. Any other `<word>` is a placeholder, such as `<id>`, and stays.
const ELEMENTS: [&str; 58] = [
    "a",
    "abbr",
    "article",
    "aside",
    "b",
    "big",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "iframe",
    "img",
    "ins",
    "kbd",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "s",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
];
/// Inline elements: they are removed without a space. The others end a word.
const INLINE: [&str; 21] = [
    "a", "abbr", "b", "big", "cite", "code", "del", "em", "font", "i", "img", "ins", "kbd", "s",
    "small", "span", "strike", "strong", "sub", "sup", "u",
];
/// Elements whose content is not text either.
const SILENT: [&str; 2] = ["script", "style"];

/// The text without tags and comments, with character references resolved. Code between backticks stays.
pub(crate) fn drop(text: &str) -> String {
    if !text.contains(['<', '&']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&', '`']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('`') {
            let end = code_end(rest);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if let Some((shown, after)) = reference(rest) {
            out.push(shown);
            rest = after;
        } else if let Some(after) = comment(rest) {
            rest = after;
        } else if let Some((name, after)) = tag(rest) {
            if !INLINE.contains(&name.as_str()) {
                out.push(' ');
            }
            rest = after;
        } else {
            out.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

/// Where the code that begins with these backticks ends.
fn code_end(rest: &str) -> usize {
    let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
    let fence = &rest[..ticks];
    rest[ticks..]
        .find(fence)
        .map_or(ticks, |end| ticks + end + ticks)
}

fn comment(rest: &str) -> Option<&str> {
    let inside = rest.strip_prefix("<!--")?;
    Some(inside.find("-->").map_or("", |end| &inside[end + 3..]))
}

/// A tag at the beginning: its element and the text that follows. For a silent element the text that follows its end.
fn tag(rest: &str) -> Option<(String, &str)> {
    let inside = rest.strip_prefix('<')?;
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let end = inside
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(inside.len());
    let name = inside[..end].to_ascii_lowercase();
    let silent = SILENT.contains(&name.as_str());
    let known = silent || name == "u" || ELEMENTS.contains(&name.as_str());
    let bounded = inside[end..].starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
    if !known || !bounded {
        return None;
    }
    let after = &inside[inside.find('>')? + 1..];
    if silent && !rest.starts_with("</") {
        let close = format!("</{name}");
        let Some(at) = after.to_ascii_lowercase().find(&close) else {
            return Some((name, ""));
        };
        let tail = &after[at..];
        return Some((name, tail.find('>').map_or("", |end| &tail[end + 1..])));
    }
    Some((name, after))
}

/// A character reference at the beginning: its character and the text that follows.
fn reference(rest: &str) -> Option<(char, &str)> {
    let inside = rest.strip_prefix('&')?;
    let end = inside.bytes().take(10).position(|byte| byte == b';')?;
    let shown = match &inside[..end] {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '\u{2013}',
        "mdash" => '\u{2014}',
        "hellip" => '\u{2026}',
        number => {
            let number = number.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| !c.is_control())?
        }
    };
    Some((shown, &inside[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::drop;

    #[test]
    fn html_goes_and_placeholders_comparisons_and_code_stay() {
        for (from, to) in [
            ("<p>Gets <b>one</b> user.</p>", " Gets one user. "),
            ("first<br/>second", "first second"),
            (
                "see <a href=\"https://example.com/a?b=1\">the guide</a>",
                "see the guide",
            ),
            ("a &lt; b &amp;&nbsp;c&#39;s &#x41;", "a < b & c's A"),
            (
                "the <id> of <owner>/<repo>, a < b > c",
                "the <id> of <owner>/<repo>, a < b > c",
            ),
            (
                "write `<b>bold</b>` or ```<p>```",
                "write `<b>bold</b>` or ```<p>```",
            ),
            ("one<!-- two -->three", "onethree"),
            ("one<script>alert(1)</script>two", "one two"),
            ("one<style>p { }", "one "),
            ("<br", "<br"),
            ("&bogus; &#0; & ;", "&bogus; &#0; & ;"),
            ("5 ` 6 <i>x</i>", "5 ` 6 x"),
        ] {
            assert_eq!(drop(from), to, "{from}");
        }
    }
}
