//! HTML bodies as plain text.
//!
//! Not a browser: tags are removed, blocks become lines, links keep their address, entities are decoded,
//! and what is never shown (style, script, head) is left out.

/// The text of an HTML document.
pub fn to_text(html: &str) -> String {
    let mut out = String::new();
    let mut link: Option<String> = None;
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        push_text(&rest[..start], &mut out);
        rest = &rest[start..];
        if rest.starts_with("<!--") {
            rest = rest.find("-->").map_or("", |end| &rest[end + 3..]);
            continue;
        }
        let Some(end) = rest.find('>') else { break };
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        let (name, closing) = name_of(tag);
        match name.as_str() {
            "style" | "script" | "head" | "title" if !closing => rest = after_end(rest, &name),
            "br" => out.push('\n'),
            "li" if !closing => {
                break_line(&mut out);
                out.push_str("- ");
            }
            "a" if !closing => link = attribute(tag, "href"),
            "a" => {
                let target = link.take().filter(|target| target.starts_with("http"));
                if let Some(target) = target.filter(|target| !out.ends_with(target.as_str())) {
                    out.push_str(&format!(" ({target})"));
                }
            }
            "td" | "th" if closing => out.push(' '),
            "p" | "div" | "tr" | "table" | "ul" | "ol" | "li" | "h1" | "h2" | "h3" | "h4"
            | "h5" | "h6" | "blockquote" | "pre" | "hr" | "section" | "article" => {
                break_line(&mut out)
            }
            _ => {}
        }
    }
    push_text(rest, &mut out);
    tidy(&out)
}

fn name_of(tag: &str) -> (String, bool) {
    let closing = tag.starts_with('/');
    let name = tag.trim_start_matches('/');
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(name.len());
    (name[..end].to_ascii_lowercase(), closing)
}

/// What follows the closing tag of `name`.
fn after_end<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut at = rest;
    while let Some(start) = at.find("</") {
        at = &at[start..];
        let Some(end) = at.find('>') else { return "" };
        if name_of(&at[1..end]).0 == name {
            return &at[end + 1..];
        }
        at = &at[2..];
    }
    ""
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let start = tag.to_ascii_lowercase().find(&format!("{name}="))? + name.len() + 1;
    let value = &tag[start..];
    let quote = value.chars().next()?;
    let inner = match quote {
        '"' | '\'' => value[1..].split(quote).next()?,
        _ => value.split_whitespace().next()?,
    };
    let mut out = String::new();
    push_entities(inner, &mut out);
    Some(out)
}

fn break_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Text between tags: white space counts once.
fn push_text(text: &str, out: &mut String) {
    let mut plain = String::new();
    push_entities(text, &mut plain);
    for (index, word) in plain.split(|c: char| c.is_ascii_whitespace()).enumerate() {
        if index > 0 && !out.is_empty() && !out.ends_with([' ', '\n']) {
            out.push(' ');
        }
        out.push_str(word);
    }
}

fn push_entities(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest
            .char_indices()
            .take(12)
            .find(|(_, c)| *c == ';')
            .map(|(at, _)| at);
        match end.and_then(|end| Some((entity(&rest[1..end])?, end))) {
            Some((c, end)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "zwnj" => '\u{200c}',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "rsquo" => '’',
        "lsquo" => '‘',
        "ldquo" => '“',
        "rdquo" => '”',
        "bull" => '•',
        "middot" => '·',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "euro" => '€',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "Auml" => 'Ä',
        "Ouml" => 'Ö',
        "Uuml" => 'Ü',
        "szlig" => 'ß',
        "eacute" => 'é',
        "egrave" => 'è',
        "agrave" => 'à',
        "ccedil" => 'ç',
        "ntilde" => 'ñ',
        _ => return None,
    })
}

/// Lines without padding and invisible fillers, at most one empty line in a row.
fn tidy(text: &str) -> String {
    let mut out = String::new();
    let mut empty = 0;
    for line in text.lines() {
        let line = line.trim_matches(|c: char| {
            c.is_whitespace() || "\u{200c}\u{200b}\u{feff}\u{34f}".contains(c)
        });
        if line.is_empty() {
            empty += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if empty > 0 { "\n\n" } else { "\n" });
        }
        out.push_str(line);
        empty = 0;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::to_text;

    #[test]
    fn html_becomes_text() {
        for (html, expected) in [
            ("<p>Hello <b>you</b></p><p>Bye</p>", "Hello you\nBye"),
            (
                "<html><head><title>x</title><style>p{}</style></head><body>a<br>b</body>",
                "a\nb",
            ),
            (
                "<a href=\"https://a.example/?x=1&amp;y=2\">here</a>",
                "here (https://a.example/?x=1&y=2)",
            ),
            (
                "<a href='https://a.example'>https://a.example</a>",
                "https://a.example",
            ),
            ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
            (
                "a &lt;b&gt; &amp;amp; &#8364; &#x20ac; &unknown; & c",
                "a <b> &amp; € € &unknown; & c",
            ),
            ("<script>if (a<b) { x() }</script>left", "left"),
            ("<!-- no -->yes", "yes"),
            ("1 < 2", "1 < 2"),
            ("<table><tr><td>a</td><td>b</td></tr></table>", "a b"),
            ("", ""),
            ("<style>never closed", ""),
        ] {
            assert_eq!(to_text(html), expected, "{html}");
        }
    }
}
