//! Changing what is there: words, placeholders, looks, pictures, and batches by hand.

use toolgate_sdk::http::google::{file_id, rgb};
use toolgate_sdk::prelude::*;

use crate::api::{address, batch};
use crate::compile::range;
use crate::reader::read;

fn replace_all(find: &str, with: &str, match_case: bool) -> Value {
    json!({ "replaceAllText": {
        "containsText": { "text": find, "matchCase": match_case }, "replaceText": with,
    } })
}

/// How often each request of a batch found its text.
fn counts(answer: &Value) -> Vec<u64> {
    let replies = answer["replies"].as_array().into_iter().flatten();
    let count = |reply: &Value| reply["replaceAllText"]["occurrencesChanged"].as_u64();
    replies.map(|reply| count(reply).unwrap_or(0)).collect()
}

#[derive(Args)]
pub struct Replacement {
    /// The text to look for.
    #[arg(min_length = 1)]
    find: String,
    /// What stands in its place; empty to take it out.
    replace: String,
}

#[derive(Args)]
pub struct ReplaceText {
    /// Id or address of the document.
    document: String,
    /// What to replace by what, one after the other.
    #[arg(min_items = 1, max_items = 100)]
    replacements: Vec<Replacement>,
    /// Tell upper from lower case.
    #[arg(default = true)]
    match_case: bool,
}

/// Replaces a word or text everywhere in a document, in all tabs; answers how often each was found.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["find and replace", "rename", "correct"],
       example = { "document": "1dOcId", "replacements": [{ "find": "ACME Ltd", "replace": "Acme GmbH" }] })]
pub fn replace_text(args: ReplaceText, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.document, "document")?;
    let requests: Vec<Value> = args
        .replacements
        .iter()
        .map(|one| replace_all(&one.find, &one.replace, args.match_case))
        .collect();
    let counts = counts(&batch(cx, &id, &requests, None)?);
    let found = args.replacements.iter().zip(counts);
    let found: Vec<Value> = found
        .map(|(one, count)| json!({ "find": one.find, "replaced": count }))
        .collect();
    Ok(json!({ "document": id, "url": address(&id), "replacements": found }))
}

#[derive(Args)]
pub struct FillTemplate {
    /// Id or address of the document; make a copy of a template first, for this changes it.
    document: String,
    /// Values by the name of their placeholder.
    #[arg(min_properties = 1)]
    values: Map<String, Value>,
    /// What stands before the name of a placeholder.
    #[arg(default = "{{", min_length = 1, max_length = 10)]
    open: String,
    /// What stands behind it.
    #[arg(default = "}}", min_length = 1, max_length = 10)]
    close: String,
}

/// Fills the placeholders of a template, `{{name}}`, with values; names those that it did not find.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["mail merge", "placeholders", "contract", "letter", "form"],
       example = { "document": "1dOcId", "values": { "customer": "Acme GmbH", "date": "31 March 2026" } })]
pub fn fill_template(args: FillTemplate, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.document, "document")?;
    if args.values.is_empty() {
        return Err(ToolError::invalid("/values", "give at least one value"));
    }
    let mut requests = Vec::new();
    for (name, value) in &args.values {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => {
                let text = "a value is text, a number, or null for nothing";
                return Err(ToolError::invalid(format!("/values/{name}"), text));
            }
        };
        let placeholder = format!("{}{name}{}", args.open, args.close);
        requests.push(replace_all(&placeholder, &text, true));
    }
    let counts = counts(&batch(cx, &id, &requests, None)?);
    let (mut filled, mut missing) = (Vec::new(), Vec::new());
    for (name, count) in args.values.keys().zip(counts) {
        if count == 0 {
            missing.push(name);
        } else {
            filled.push(name);
        }
    }
    Ok(json!({ "document": id, "url": address(&id), "filled": filled, "not_found": missing }))
}

#[derive(Args)]
pub struct StyleText {
    /// Id or address of the document.
    document: String,
    /// The text that shall look different, wherever it stands.
    #[arg(min_length = 1)]
    find: String,
    /// Bold, or no longer.
    bold: Option<bool>,
    /// Italic, or no longer.
    italic: Option<bool>,
    /// Underlined, or no longer.
    underline: Option<bool>,
    /// Struck out, or no longer.
    strikethrough: Option<bool>,
    /// Colour of the letters, for example `#cc0000`.
    #[arg(pattern = "^#[0-9a-fA-F]{6}$")]
    color: Option<String>,
    /// Colour behind the letters, as with a marker.
    #[arg(pattern = "^#[0-9a-fA-F]{6}$")]
    highlight: Option<String>,
    /// Address that the text leads to.
    #[arg(format = "uri")]
    link: Option<String>,
    /// Title or id of the tab; the first unless given.
    tab: Option<String>,
}

/// Makes a text bold, italic, coloured or a link, wherever it stands in a document.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["format", "highlight", "colour", "emphasise"],
       example = { "document": "1dOcId", "find": "Deadline", "bold": true, "color": "#cc0000" })]
pub fn style_text(args: StyleText, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.document, "document")?;
    let mut style = json!({});
    for (name, value) in [
        ("bold", args.bold.map(Value::from)),
        ("italic", args.italic.map(Value::from)),
        ("underline", args.underline.map(Value::from)),
        ("strikethrough", args.strikethrough.map(Value::from)),
        ("foregroundColor", args.color.as_deref().and_then(color)),
        ("backgroundColor", args.highlight.as_deref().and_then(color)),
        ("link", args.link.map(|url| json!({ "url": url }))),
    ] {
        if let Some(value) = value {
            style[name] = value;
        }
    }
    let fields: Vec<&str> = style
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys().map(String::as_str))
        .collect();
    if fields.is_empty() {
        return Err(ToolError::invalid("", "say how the text shall look"));
    }
    let fields = fields.join(",");
    let document = read(cx, &id, args.tab.as_deref())?;
    let places = document.occurrences(&args.find);
    if places.is_empty() {
        let text = format!("the text `{}` does not stand in the document", args.find);
        return Err(ToolError::invalid("/find", text));
    }
    let requests: Vec<Value> = places
        .iter()
        .map(|(start, end)| {
            let range = range(*start, *end, document.tab.as_deref());
            json!({ "updateTextStyle": { "range": range, "textStyle": style, "fields": fields } })
        })
        .collect();
    batch(cx, &id, &requests, document.revision.as_deref())?;
    Ok(json!({ "document": id, "url": address(&id), "changed": places.len() }))
}

/// `#rrggbb` as the API takes colours.
fn color(hex: &str) -> Option<Value> {
    Some(json!({ "color": { "rgbColor": rgb(hex)? } }))
}

#[derive(Args)]
pub struct InsertImage {
    /// Id or address of the document.
    document: String,
    /// Address of the picture, open to everybody; PNG, JPEG or GIF under 50 MB.
    #[arg(pattern = "^https://")]
    url: String,
    /// Text of the paragraph behind which it shall stand; at the end unless given.
    after: Option<String>,
    /// Width in points, 72 to an inch; as it is unless given.
    #[arg(min = 1, max = 1000)]
    width: Option<u32>,
    /// Title or id of the tab; the first unless given.
    tab: Option<String>,
}

/// Puts a picture into a document, at its end or behind the paragraph that holds a text.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["picture", "photo", "logo", "chart"],
       example = { "document": "1dOcId", "url": "https://example.com/chart.png", "after": "Revenue" })]
pub fn insert_image(args: InsertImage, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.document, "document")?;
    let document = read(cx, &id, args.tab.as_deref())?;
    let (place, new) = match &args.after {
        Some(text) => (document.place(document.find(text, "after")?.end), true),
        None => document.append_place(),
    };
    let mut requests = Vec::new();
    if new {
        let before = document.place(place.index - 1);
        requests.push(json!({ "insertText": { "location": before.location(), "text": "\n" } }));
    }
    let mut image = json!({ "location": place.location(), "uri": args.url });
    if let Some(width) = args.width {
        image["objectSize"] = json!({ "width": { "magnitude": width, "unit": "PT" } });
    }
    requests.push(json!({ "insertInlineImage": image }));
    batch(cx, &id, &requests, document.revision.as_deref())?;
    Ok(json!({ "document": id, "url": address(&id), "inserted": args.url }))
}

#[derive(Args)]
pub struct BatchUpdate {
    /// Id or address of the document.
    document: String,
    /// Requests of the Docs API in its own form, for what no other tool does, such as headers,
    /// footnotes, columns or page margins.
    #[arg(min_items = 1, max_items = 500)]
    requests: Vec<Map<String, Value>>,
}

/// Sends requests of the Docs API as they are, all or none.
#[tool(effect = "destructive", scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["raw", "advanced", "margins", "header", "footer"],
       example = { "document": "1dOcId", "requests": [{ "createFooter": { "type": "DEFAULT" } }] })]
pub fn batch_update(args: BatchUpdate, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.document, "document")?;
    let requests: Vec<Value> = args.requests.into_iter().map(Value::Object).collect();
    let answer = batch(cx, &id, &requests, None)?;
    Ok(json!({ "document": id, "url": address(&id), "replies": answer["replies"] }))
}
