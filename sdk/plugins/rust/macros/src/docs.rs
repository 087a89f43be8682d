//! Doc comments as descriptions, identifiers as names.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment as prose: the lines of a paragraph are joined, paragraphs stay separate, lists keep their lines.
pub(crate) fn text(attributes: &[Attribute]) -> String {
    let mut out = String::new();
    let mut paragraph_open = false;
    for line in attributes.iter().filter_map(line) {
        let line = line.trim();
        if line.is_empty() {
            paragraph_open = false;
            continue;
        }
        if !out.is_empty() {
            let list_item = line.starts_with("- ") || line.starts_with("* ");
            out.push_str(match (paragraph_open, list_item) {
                (true, false) => " ",
                (true, true) => "\n",
                (false, _) => "\n\n",
            });
        }
        out.push_str(line);
        paragraph_open = true;
    }
    out
}

fn line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// `CreateIssue` and `createIssue` as `create_issue`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for (index, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// `create_issue` as `Create issue`.
pub(crate) fn title_case(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => first.to_ascii_uppercase().to_string() + chars.as_str(),
        None => words,
    }
}
