//! Markdown as blocks and marked pieces of text, for services that have their own form of documents.
//!
//! Headings, paragraphs, bulleted, numbered and to-do lists nested by indentation, quotes, fenced
//! code, tables, rules and images; within a line bold, italic, struck out, code and links. What is
//! none of these is text. No HTML.

/// One piece of a line and its marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub bold: bool,
    pub italic: bool,
    pub strike: bool,
    pub code: bool,
    /// Where it leads: an `https:`, `http:` or `mailto:` address.
    pub link: Option<String>,
}

/// What a list item begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    Bullet,
    Number,
    /// A box, checked or not.
    Check(bool),
}

/// One block of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Level 1 to 6.
    Heading(u8, Vec<Span>),
    /// Its lines are separated by `\n`.
    Paragraph(Vec<Span>),
    /// Depth 0 is the outermost.
    Item(usize, Marker, Vec<Span>),
    Quote(Vec<Span>),
    Code {
        language: String,
        text: String,
    },
    /// Rows of cells, the header first, all of its width.
    Table(Vec<Vec<Vec<Span>>>),
    Rule,
    Image {
        alt: String,
        url: String,
    },
}

/// The blocks of a text.
pub fn blocks(markdown: &str) -> Vec<Block> {
    let lines: Vec<&str> = markdown.lines().collect();
    let mut out = Vec::new();
    let mut paragraph = String::new();
    // Indentation of the list items that are open, outermost first.
    let mut open: Vec<usize> = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        let line = lines[index];
        let trimmed = line.trim();
        index += 1;
        if trimmed.is_empty() {
            flush(&mut paragraph, &mut out);
            continue;
        }
        if let Some(language) = trimmed.strip_prefix("```") {
            flush(&mut paragraph, &mut out);
            let fenced = |line: &&&str| !line.trim().starts_with("```");
            let count = lines[index..].iter().take_while(fenced).count();
            out.push(Block::Code {
                language: language.trim().to_owned(),
                text: lines[index..index + count].join("\n"),
            });
            index += count + 1;
            open.clear();
            continue;
        }
        if trimmed.starts_with('|') && lines.get(index).is_some_and(|next| is_delimiter_row(next)) {
            flush(&mut paragraph, &mut out);
            let row = |line: &&&str| line.trim().starts_with('|');
            let count = lines[index + 1..].iter().take_while(row).count();
            out.push(table(trimmed, &lines[index + 1..index + 1 + count]));
            index += count + 1;
            open.clear();
            continue;
        }
        if let Some((marker, text)) = item(trimmed) {
            flush(&mut paragraph, &mut out);
            let indent = line.len() - line.trim_start().len();
            open.retain(|outer| *outer < indent);
            out.push(Block::Item(open.len(), marker, spans(text)));
            open.push(indent);
            continue;
        }
        open.clear();
        if let Some(block) = single(trimmed) {
            flush(&mut paragraph, &mut out);
            out.push(block);
            continue;
        }
        if !paragraph.is_empty() {
            paragraph.push('\n');
        }
        paragraph.push_str(trimmed);
    }
    flush(&mut paragraph, &mut out);
    out
}

fn flush(paragraph: &mut String, out: &mut Vec<Block>) {
    if !paragraph.is_empty() {
        out.push(Block::Paragraph(spans(paragraph)));
        paragraph.clear();
    }
}

/// A block that is one line: heading, rule, quote, image.
fn single(line: &str) -> Option<Block> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&level)
        && let Some(text) = line[level..].strip_prefix(' ')
    {
        return Some(Block::Heading(level as u8, spans(text.trim())));
    }
    if line.len() >= 3
        && ["-", "*", "_"]
            .iter()
            .any(|c| line.replace(c, "").is_empty())
    {
        return Some(Block::Rule);
    }
    if let Some(text) = line.strip_prefix("> ") {
        return Some(Block::Quote(spans(text)));
    }
    let (alt, rest) = line.strip_prefix("![")?.split_once("](")?;
    let url = rest.strip_suffix(')')?;
    url.starts_with("https://").then(|| Block::Image {
        alt: alt.to_owned(),
        url: url.to_owned(),
    })
}

fn item(line: &str) -> Option<(Marker, &str)> {
    for mark in ["- ", "* ", "+ "] {
        if let Some(text) = line.strip_prefix(mark) {
            for (square, checked) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
                if let Some(text) = text.strip_prefix(square) {
                    return Some((Marker::Check(checked), text));
                }
            }
            return Some((Marker::Bullet, text));
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let text = rest
        .strip_prefix(". ")
        .or_else(|| rest.strip_prefix(") "))?;
    (1..=9).contains(&digits).then_some((Marker::Number, text))
}

/// Whether a line separates the header of a table from its rows, for example `| --- | :-: |`.
pub fn is_delimiter_row(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.chars().all(|c| "|-: ".contains(c))
}

fn table(header: &str, rows: &[&str]) -> Block {
    let cells = |line: &str| -> Vec<Vec<Span>> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| spans(cell.trim())).collect()
    };
    let header = cells(header);
    let width = header.len();
    let mut all = vec![header];
    for row in rows {
        let mut row = cells(row);
        row.resize(width, Vec::new());
        all.push(row);
    }
    Block::Table(all)
}

/// The pieces of a line.
pub fn spans(text: &str) -> Vec<Span> {
    let mut out = Vec::new();
    inline(text, &Span::default(), &mut out);
    out
}

/// The text of pieces without their marks.
pub fn plain(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

fn inline(text: &str, marks: &Span, out: &mut Vec<Span>) {
    let mut push = |text: &str, marks: &Span| {
        if !text.is_empty() {
            out.push(Span {
                text: text.to_owned(),
                ..marks.clone()
            });
        }
    };
    let mut rest = text;
    let mut unmarked = 0;
    while let Some(first) = rest[unmarked..].chars().next() {
        let at = &rest[unmarked..];
        let Some((length, inner, within)) = marked(at, marks) else {
            unmarked += first.len_utf8();
            continue;
        };
        push(&rest[..unmarked], marks);
        if within.code {
            push(inner, &within);
        } else {
            let mut nested = Vec::new();
            inline(inner, &within, &mut nested);
            nested.iter().for_each(|span| push(&span.text, span));
        }
        rest = &at[length..];
        unmarked = 0;
    }
    push(rest, marks);
}

/// A marked span at the start of `text`: its length, what is in it, and its marks.
fn marked<'a>(text: &'a str, marks: &Span) -> Option<(usize, &'a str, Span)> {
    let within = |mark: &str, change: fn(&mut Span)| {
        let (length, inner) = between_marks(text, mark)?;
        let mut marks = marks.clone();
        change(&mut marks);
        Some((length, inner, marks))
    };
    let found = within("`", |span| span.code = true)
        .or_else(|| within("**", |span| span.bold = true))
        .or_else(|| within("__", |span| span.bold = true))
        .or_else(|| within("~~", |span| span.strike = true))
        .or_else(|| within("*", |span| span.italic = true));
    if found.is_some() {
        return found;
    }
    let (label, after) = text.strip_prefix('[')?.split_once("](")?;
    let (target, _) = after.split_once(')')?;
    let web = ["https://", "http://", "mailto:"];
    let web = web.iter().any(|scheme| target.starts_with(scheme));
    let marks = Span {
        link: Some(target.to_owned()),
        ..marks.clone()
    };
    let length = label.len() + target.len() + 4;
    (web && !label.contains(['[', ']'])).then_some((length, label, marks))
}

/// The length of a marked piece at the start of `text`, with both marks, and the text between them. That
/// text is neither empty nor padded with spaces: `* 3 *` is not marked.
pub fn between_marks<'a>(text: &'a str, mark: &str) -> Option<(usize, &'a str)> {
    let inner = text.strip_prefix(mark)?;
    let end = inner.find(mark)?;
    let found = &inner[..end];
    let padded = found.starts_with(' ') || found.ends_with(' ');
    (!found.is_empty() && !padded).then_some((end + 2 * mark.len(), found))
}

/// Pieces as Markdown; marks around nothing but white space are dropped.
pub fn write(spans: &[Span]) -> String {
    let mut out = String::new();
    for span in spans {
        let core = span.text.trim();
        if core.is_empty() {
            out.push_str(&span.text);
            continue;
        }
        let start = span.text.len() - span.text.trim_start().len();
        out.push_str(&span.text[..start]);
        let mut marked = core.to_owned();
        for (set, mark) in [
            (span.code, "`"),
            (span.strike, "~~"),
            (span.italic, "*"),
            (span.bold, "**"),
        ] {
            if set {
                marked = format!("{mark}{marked}{mark}");
            }
        }
        match &span.link {
            Some(link) => out.push_str(&format!("[{marked}]({link})")),
            None => out.push_str(&marked),
        }
        out.push_str(&span.text[start + core.len()..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str, change: fn(&mut Span)) -> Span {
        let mut span = Span {
            text: text.to_owned(),
            ..Span::default()
        };
        change(&mut span);
        span
    }

    #[test]
    fn marks_are_told_apart() {
        let bare = |text| span(text, |_| {});
        for (text, expected) in [
            ("plain ünï", vec![bare("plain ünï")]),
            (
                "a **b** c",
                vec![bare("a "), span("b", |s| s.bold = true), bare(" c")],
            ),
            (
                "**a ~~b~~**",
                vec![
                    span("a ", |s| s.bold = true),
                    span("b", |s| {
                        s.bold = true;
                        s.strike = true;
                    }),
                ],
            ),
            ("`y**z**`", vec![span("y**z**", |s| s.code = true)]),
            (
                "[l](https://a.example)!",
                vec![
                    span("l", |s| s.link = Some("https://a.example".to_owned())),
                    bare("!"),
                ],
            ),
            ("[l](javascript:x)", vec![bare("[l](javascript:x)")]),
            ("2 * 3 * 4", vec![bare("2 * 3 * 4")]),
            ("", vec![]),
        ] {
            assert_eq!(spans(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_read_can_be_written() {
        for text in ["a **b** `c`", "[**l**](https://a.example)", "~~x~~ *y*"] {
            let read = spans(text);
            assert_eq!(write(&read), text);
            assert!(!plain(&read).contains("~~"), "{text}");
        }
        assert_eq!(write(&[span(" b ", |s| s.bold = true)]), " **b** ");
        assert_eq!(write(&[span(" ", |s| s.bold = true)]), " ");
    }

    #[test]
    fn blocks_are_told_apart() {
        let text = |text: &str| spans(text);
        for (markdown, expected) in [
            (
                "# A\nb\nc\n\nd",
                vec![
                    Block::Heading(1, text("A")),
                    Block::Paragraph(text("b\nc")),
                    Block::Paragraph(text("d")),
                ],
            ),
            (
                "- a\n  - b\n    1. c\n- d",
                vec![
                    Block::Item(0, Marker::Bullet, text("a")),
                    Block::Item(1, Marker::Bullet, text("b")),
                    Block::Item(2, Marker::Number, text("c")),
                    Block::Item(0, Marker::Bullet, text("d")),
                ],
            ),
            (
                "- [x] a\n- [ ] b",
                vec![
                    Block::Item(0, Marker::Check(true), text("a")),
                    Block::Item(0, Marker::Check(false), text("b")),
                ],
            ),
            ("> q\n---", vec![Block::Quote(text("q")), Block::Rule]),
            (
                "```rust\nfn x() {}\n# no\n```",
                vec![Block::Code {
                    language: "rust".to_owned(),
                    text: "fn x() {}\n# no".to_owned(),
                }],
            ),
            (
                "| a | b |\n|---|---|\n| 1 |",
                vec![Block::Table(vec![
                    vec![text("a"), text("b")],
                    vec![text("1"), vec![]],
                ])],
            ),
            (
                "![x](https://a.example/x.png)",
                vec![Block::Image {
                    alt: "x".to_owned(),
                    url: "https://a.example/x.png".to_owned(),
                }],
            ),
            ("#tag", vec![Block::Paragraph(text("#tag"))]),
            ("-no", vec![Block::Paragraph(text("-no"))]),
            ("| no table |", vec![Block::Paragraph(text("| no table |"))]),
            (
                "```\nopen",
                vec![Block::Code {
                    language: String::new(),
                    text: "open".to_owned(),
                }],
            ),
            (" \n", vec![]),
        ] {
            assert_eq!(blocks(markdown), expected, "{markdown}");
        }
    }
}
