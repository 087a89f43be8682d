//! Markdown to Slack's own markup, and Slack's markup to plain text.

/// Markdown as Slack's `mrkdwn`: bold, strike, links, headings and lists; code stays as it is.
///
/// Slack's own references (`<@U123>`, `<#C123>`, `<!here>`, `<https://...>`) are kept.
pub fn from_markdown(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut fenced = false;
    for (index, line) in markdown.lines().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            fenced = !fenced;
            out.push_str("```");
        } else if fenced {
            escape(line, &mut out);
        } else if let Some(heading) = heading(trimmed) {
            out.push('*');
            inline(heading, &mut out, true);
            out.push('*');
        } else if let Some(quoted) = trimmed.strip_prefix("> ") {
            out.push_str("> ");
            inline(quoted, &mut out, false);
        } else {
            let item = ["- ", "* ", "+ "]
                .iter()
                .find_map(|mark| trimmed.strip_prefix(mark));
            if let Some(item) = item {
                out.push_str(&line[..line.len() - trimmed.len()]);
                out.push_str("• ");
                inline(item, &mut out, false);
            } else {
                inline(line, &mut out, false);
            }
        }
    }
    out
}

fn heading(line: &str) -> Option<&str> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let text = line.get(level..)?.strip_prefix(' ')?;
    (1..=6)
        .contains(&level)
        .then(|| text.trim_end_matches('#').trim())
}

/// Marks within a line. In a heading everything is bold already.
fn inline(text: &str, out: &mut String, heading: bool) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((code, after)) = between(rest, "`", "`") {
            out.push('`');
            escape(code, out);
            out.push('`');
            rest = after;
        } else if let Some((bold, after)) =
            between(rest, "**", "**").or_else(|| between(rest, "__", "__"))
        {
            let mark = if heading { "" } else { "*" };
            out.push_str(mark);
            inline(bold, out, heading);
            out.push_str(mark);
            rest = after;
        } else if let Some((gone, after)) = between(rest, "~~", "~~") {
            out.push('~');
            inline(gone, out, heading);
            out.push('~');
            rest = after;
        } else if let Some((italic, after)) = between(rest, "*", "*") {
            out.push('_');
            inline(italic, out, heading);
            out.push('_');
            rest = after;
        } else if let Some((label, target, after)) = link(rest) {
            out.push_str(&format!("<{target}|"));
            escape(label, out);
            out.push('>');
            rest = after;
        } else if let Some((reference, after)) = reference(rest) {
            out.push_str(reference);
            rest = after;
        } else {
            escape(rest.get(..first.len_utf8()).unwrap_or_default(), out);
            rest = &rest[first.len_utf8()..];
        }
    }
}

/// Text between two marks at the start of `text`; not empty and not padded, as Markdown has it.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    let inner = text.strip_prefix(open)?;
    let end = inner.find(close)?;
    let (found, after) = (&inner[..end], &inner[end + close.len()..]);
    let padded = found.starts_with(' ') || found.ends_with(' ');
    (!found.is_empty() && !padded).then_some((found, after))
}

/// `[label](target)` with a web or mail address.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (label, after) = text.strip_prefix('[')?.split_once("](")?;
    let (target, after) = after.split_once(')')?;
    let web = ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| target.starts_with(scheme));
    let plain = !label.contains(['[', ']']) && !target.contains([' ', '<', '>', '|']);
    (web && plain).then_some((label, target, after))
}

/// One of Slack's own references.
fn reference(text: &str) -> Option<(&str, &str)> {
    let known = ["<@", "<#", "<!", "<https://", "<http://", "<mailto:"];
    if !known.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let end = text.find('>')?;
    Some(text.split_at(end + 1))
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
}

/// Slack's markup as people read it: links as `label (address)`, references by id, entities undone.
pub fn to_plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let Some(end) = rest[start..].find('>') else {
            break;
        };
        out.push_str(&rest[..start]);
        let inner = &rest[start + 1..start + end];
        let (target, label) = match inner.split_once('|') {
            Some((target, label)) => (target, Some(label)),
            None => (inner, None),
        };
        match (target.chars().next(), label) {
            (Some('@'), label) => out.push_str(&format!("@{}", label.unwrap_or(&target[1..]))),
            (Some('#'), label) => out.push_str(&format!("#{}", label.unwrap_or(&target[1..]))),
            (Some('!'), label) => {
                out.push_str(&format!(
                    "@{}",
                    label.unwrap_or(&target[1..]).trim_start_matches('@')
                ));
            }
            (_, Some(label)) if label != target => out.push_str(&format!("{label} ({target})")),
            _ => out.push_str(target),
        }
        rest = &rest[start + end + 1..];
    }
    out.push_str(rest);
    out.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::{from_markdown, to_plain};

    #[test]
    fn markdown_becomes_slacks_markup() {
        for (markdown, expected) in [
            ("**done** and *almost*", "*done* and _almost_"),
            ("# Release 1.2", "*Release 1.2*"),
            ("# A **bold** one", "*A bold one*"),
            (
                "see [the log](https://a.example/x?a=1&b=2)",
                "see <https://a.example/x?a=1&b=2|the log>",
            ),
            ("- one\n  * two", "• one\n  • two"),
            ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
            ("`a**b**` ~~no~~", "`a**b**` ~no~"),
            (
                "```rust\nlet a = &b;\n**x**\n```",
                "```\nlet a = &amp;b;\n**x**\n```",
            ),
            ("hi <@U123> and <!here>", "hi <@U123> and <!here>"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
            ("> quoted *text*", "> quoted _text_"),
            ("ünïcödé", "ünïcödé"),
            ("**open", "**open"),
        ] {
            assert_eq!(from_markdown(markdown), expected, "{markdown}");
        }
    }

    #[test]
    fn slacks_markup_becomes_text() {
        for (markup, expected) in [
            (
                "hi <@U123>, see <https://a.example|the log>",
                "hi @U123, see the log (https://a.example)",
            ),
            (
                "<#C1|general> <!here> <!subteam^S1|@ops>",
                "#general @here @ops",
            ),
            (
                "a &lt; b &amp;amp; <https://a.example>",
                "a < b &amp; https://a.example",
            ),
            ("unclosed < here", "unclosed < here"),
        ] {
            assert_eq!(to_plain(markup), expected, "{markup}");
        }
    }
}
