//! Markdown to the requests of one batch.
//!
//! A text is cut into parts: runs of paragraphs, tables, images. They are put in from the last to the
//! first, all at the same place, so that no part has to know how long the others are. Within a run the
//! text comes first, then its styles, then its lists from the last to the first, since making a list
//! takes the tabs away that say how deep an item is.

use toolgate_sdk::markdown::{Block, Marker, Span, blocks, plain};
use toolgate_sdk::{Value, json};

const MONOSPACE: &str = "Courier New";
/// How far a quote is moved in, in points.
const QUOTE_POINTS: u32 = 36;

/// A place in a document.
#[derive(Clone, Debug)]
pub struct Place {
    /// Counted in UTF-16 units, as the API does.
    pub index: u64,
    pub tab: Option<String>,
    /// The place is in an empty paragraph that the last of the text shall fill.
    pub fills: bool,
}

impl Place {
    pub fn location(&self) -> Value {
        let mut out = json!({ "index": self.index });
        if let Some(tab) = &self.tab {
            out["tabId"] = json!(tab);
        }
        out
    }

    fn range(&self, from: u64, to: u64) -> Value {
        range(self.index + from, self.index + to, self.tab.as_deref())
    }
}

pub fn range(start: u64, end: u64, tab: Option<&str>) -> Value {
    let mut out = json!({ "startIndex": start, "endIndex": end });
    if let Some(tab) = tab {
        out["tabId"] = json!(tab);
    }
    out
}

enum Part {
    Run(Run),
    Table(Vec<Vec<Vec<Span>>>),
    Image(String),
}

/// Paragraphs in a row and what is to be done to them, in units from their start.
#[derive(Default)]
struct Run {
    text: String,
    units: u64,
    paragraphs: Vec<(u64, u64, Value, &'static str)>,
    marks: Vec<(u64, u64, Value, String)>,
    lists: Vec<(u64, u64, &'static str)>,
}

/// The requests that put a text in at `place`.
pub fn requests(markdown: &str, place: &Place) -> Vec<Value> {
    let parts = parts(&blocks(markdown));
    let mut out = Vec::new();
    for (index, part) in parts.iter().enumerate().rev() {
        let fills = match parts.get(index + 1) {
            None => place.fills,
            // A table brings the end of the paragraph before it.
            Some(next) => matches!(next, Part::Table(_)),
        };
        match part {
            Part::Run(run) => put_run(run, place, fills, &mut out),
            Part::Table(rows) => put_table(rows, place, &mut out),
            Part::Image(url) => {
                if !fills {
                    out.push(
                        json!({ "insertText": { "location": place.location(), "text": "\n" } }),
                    );
                    reset(place, 1, &mut out);
                }
                out.push(
                    json!({ "insertInlineImage": { "location": place.location(), "uri": url } }),
                );
            }
        }
    }
    out
}

fn parts(blocks: &[Block]) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    for block in blocks {
        match block {
            Block::Table(rows) => out.push(Part::Table(rows.clone())),
            Block::Image { url, .. } => out.push(Part::Image(url.clone())),
            other => {
                if !matches!(out.last(), Some(Part::Run(_))) {
                    out.push(Part::Run(Run::default()));
                }
                if let Some(Part::Run(run)) = out.last_mut() {
                    run.add(other);
                }
            }
        }
    }
    out
}

impl Run {
    fn add(&mut self, block: &Block) {
        if !self.text.is_empty() || self.units > 0 {
            self.push("\n");
        }
        let start = self.units;
        match block {
            Block::Heading(level, spans) => {
                self.spans(spans);
                let style = json!({ "namedStyleType": format!("HEADING_{level}") });
                self.paragraphs
                    .push((start, self.units, style, "namedStyleType"));
            }
            Block::Item(depth, marker, spans) => {
                self.push(&"\t".repeat(*depth));
                let text_start = self.units;
                self.spans(spans);
                if *marker == Marker::Check(true) && self.units > text_start {
                    let style = json!({ "strikethrough": true });
                    let fields = "strikethrough".to_owned();
                    self.marks.push((text_start, self.units, style, fields));
                }
                let preset = match marker {
                    Marker::Bullet => "BULLET_DISC_CIRCLE_SQUARE",
                    Marker::Number => "NUMBERED_DECIMAL_ALPHA_ROMAN",
                    Marker::Check(_) => "BULLET_CHECKBOX",
                };
                match self.lists.last_mut() {
                    Some((_, end, known)) if *known == preset && *end + 1 == start => {
                        *end = self.units;
                    }
                    _ => self.lists.push((start, self.units, preset)),
                }
            }
            Block::Quote(spans) => {
                self.spans(spans);
                let style = json!({ "indentStart": points(QUOTE_POINTS), "indentFirstLine": points(QUOTE_POINTS) });
                self.paragraphs
                    .push((start, self.units, style, "indentStart,indentFirstLine"));
            }
            Block::Code { text, .. } => {
                // A vertical tab is a line break within a paragraph.
                self.push(&text.replace('\n', "\u{b}"));
                self.monospace(start);
            }
            Block::Rule => {
                let style = json!({ "borderBottom": {
                    "color": { "color": { "rgbColor": { "red": 0.6, "green": 0.6, "blue": 0.6 } } },
                    "width": points(1), "padding": points(1), "dashStyle": "SOLID",
                } });
                self.paragraphs.push((start, start, style, "borderBottom"));
            }
            Block::Paragraph(spans) => self.spans(spans),
            Block::Table(_) | Block::Image { .. } => {}
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.units += units(text);
    }

    fn monospace(&mut self, start: u64) {
        if self.units > start {
            let style = json!({ "weightedFontFamily": { "fontFamily": MONOSPACE } });
            let fields = "weightedFontFamily".to_owned();
            self.marks.push((start, self.units, style, fields));
        }
    }

    fn spans(&mut self, spans: &[Span]) {
        for span in spans {
            let start = self.units;
            self.push(&span.text.replace('\n', "\u{b}"));
            if let Some((style, fields)) = style_of(span) {
                self.marks.push((start, self.units, style, fields));
            }
        }
    }
}

/// The style of a piece and the fields that it sets; none for plain text.
fn style_of(span: &Span) -> Option<(Value, String)> {
    let mut style = json!({});
    let mut fields = Vec::new();
    for (set, name) in [
        (span.bold, "bold"),
        (span.italic, "italic"),
        (span.strike, "strikethrough"),
    ] {
        if set {
            style[name] = json!(true);
            fields.push(name);
        }
    }
    if span.code {
        style["weightedFontFamily"] = json!({ "fontFamily": MONOSPACE });
        fields.push("weightedFontFamily");
    }
    if let Some(url) = &span.link {
        style["link"] = json!({ "url": url });
        fields.push("link");
    }
    (!fields.is_empty()).then(|| (style, fields.join(",")))
}

fn points(magnitude: u32) -> Value {
    json!({ "magnitude": magnitude, "unit": "PT" })
}

pub fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// Takes off what new text inherits from the paragraph that it was put into.
fn reset(place: &Place, length: u64, out: &mut Vec<Value>) {
    let range = place.range(0, length);
    out.push(json!({ "deleteParagraphBullets": { "range": range } }));
    out.push(json!({ "updateParagraphStyle": {
        "range": range, "paragraphStyle": { "namedStyleType": "NORMAL_TEXT" },
        "fields": "namedStyleType,indentStart,indentFirstLine,borderBottom",
    } }));
    out.push(json!({ "updateTextStyle": {
        "range": range, "textStyle": {}, "fields": "bold,italic,strikethrough,link,weightedFontFamily",
    } }));
}

fn put_run(run: &Run, place: &Place, fills: bool, out: &mut Vec<Value>) {
    let mut text = run.text.clone();
    if !fills {
        text.push('\n');
    }
    let length = units(&text);
    if length == 0 {
        return;
    }
    out.push(json!({ "insertText": { "location": place.location(), "text": text } }));
    reset(place, length, out);
    for (start, end, style, fields) in &run.paragraphs {
        // An empty paragraph is still one unit, its end.
        out.push(json!({ "updateParagraphStyle": {
            "range": place.range(*start, (*end).max(start + 1)), "paragraphStyle": style, "fields": fields,
        } }));
    }
    for (start, end, style, fields) in &run.marks {
        out.push(json!({ "updateTextStyle": {
            "range": place.range(*start, *end), "textStyle": style, "fields": fields,
        } }));
    }
    for (start, end, preset) in run.lists.iter().rev() {
        out.push(json!({ "createParagraphBullets": {
            "range": place.range(*start, (*end).max(start + 1)), "bulletPreset": preset,
        } }));
    }
}

/// A table, its cells filled from the last to the first.
fn put_table(rows: &[Vec<Vec<Span>>], place: &Place, out: &mut Vec<Value>) {
    let columns = rows.first().map_or(0, Vec::len);
    if columns == 0 {
        return;
    }
    out.push(json!({ "insertTable": {
        "location": place.location(), "rows": rows.len(), "columns": columns,
    } }));
    reset(place, 1, out);
    for (r, row) in rows.iter().enumerate().rev() {
        for (c, cell) in row.iter().enumerate().rev() {
            let text = plain(cell);
            if text.is_empty() {
                continue;
            }
            // Behind the paragraph's end come the starts of table, row and cell; each further cell
            // has a start and an empty paragraph, each further row a start as well.
            let at = 4 + (r * (2 * columns + 1) + 2 * c) as u64;
            let cell_place = Place {
                index: place.index + at,
                ..place.clone()
            };
            out.push(json!({ "insertText": { "location": cell_place.location(), "text": text } }));
            let mut from = 0;
            for span in cell {
                let to = from + units(&span.text);
                let bold = Span {
                    bold: span.bold || r == 0,
                    ..span.clone()
                };
                if let Some((style, fields)) = style_of(&bold) {
                    out.push(json!({ "updateTextStyle": {
                        "range": cell_place.range(from, to), "textStyle": style, "fields": fields,
                    } }));
                }
                from = to;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(index: u64, fills: bool) -> Place {
        Place {
            index,
            tab: None,
            fills,
        }
    }

    fn of<'a>(requests: &'a [Value], name: &str) -> Vec<&'a Value> {
        let all = requests.iter();
        all.filter_map(|request| request.get(name)).collect()
    }

    #[test]
    fn places_are_counted_in_utf_16_units() {
        let made = requests("# 😀 A\n\nb **c**", &at(1, true));
        assert_eq!(of(&made, "insertText")[0]["text"], "😀 A\nb c");
        let heading = &of(&made, "updateParagraphStyle")[1]["range"];
        assert_eq!(heading, &json!({ "startIndex": 1, "endIndex": 5 }));
        let bold = &of(&made, "updateTextStyle")[1];
        assert_eq!(bold["range"], json!({ "startIndex": 8, "endIndex": 9 }));
        assert_eq!(bold["fields"], "bold");
    }

    #[test]
    fn lists_are_made_from_the_last_to_the_first() {
        let made = requests("- a\n  - b\n\ntext\n\n1. c\n2. d", &at(10, false));
        assert_eq!(of(&made, "insertText")[0]["text"], "a\n\tb\ntext\nc\nd\n");
        let lists = of(&made, "createParagraphBullets");
        let told: Vec<(&Value, &Value)> = lists
            .iter()
            .map(|list| (&list["range"]["startIndex"], &list["bulletPreset"]))
            .collect();
        assert_eq!(
            told,
            [
                (&json!(20), &json!("NUMBERED_DECIMAL_ALPHA_ROMAN")),
                (&json!(10), &json!("BULLET_DISC_CIRCLE_SQUARE"))
            ]
        );
        assert_eq!(lists[0]["range"]["endIndex"], 23);
    }

    #[test]
    fn a_table_is_filled_from_its_last_cell() {
        let made = requests(
            "before\n\n| a | b |\n|---|---|\n| c | d |\n\nafter",
            &at(1, true),
        );
        let texts: Vec<(&Value, &Value)> = of(&made, "insertText")
            .iter()
            .map(|text| (&text["location"]["index"], &text["text"]))
            .collect();
        // Two columns: the first row's cells at 5 and 7, the second's at 10 and 12.
        assert_eq!(
            texts,
            [
                (&json!(1), &json!("after")),
                (&json!(12), &json!("d")),
                (&json!(10), &json!("c")),
                (&json!(7), &json!("b")),
                (&json!(5), &json!("a")),
                (&json!(1), &json!("before")),
            ]
        );
        let position = |name: &str| made.iter().position(|one| one.get(name).is_some());
        assert!(position("insertTable") > position("insertText"));
    }

    #[test]
    fn nothing_makes_no_request() {
        assert!(requests(" \n", &at(1, true)).is_empty());
    }
}
