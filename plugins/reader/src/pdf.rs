//! PDF: the text of each page, by lopdf.

use lopdf::Document;

use crate::{TEXT_CHARS_MAX, push};

/// Pages of one document.
const PAGES_MAX: usize = 2_000;

/// The text of every page. A page that cannot be read is empty; a file without any readable page,
/// or one that is encrypted, is refused.
pub fn pages(bytes: &[u8]) -> Result<Vec<String>, String> {
    let document =
        Document::load_mem(bytes).map_err(|error| format!("the PDF cannot be read: {error}"))?;
    if document.is_encrypted() {
        return Err("the PDF is encrypted; add it without a password".to_owned());
    }
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    if numbers.is_empty() {
        return Err("the PDF has no pages".to_owned());
    }
    if numbers.len() > PAGES_MAX {
        return Err(format!("the PDF has more than {PAGES_MAX} pages"));
    }
    let mut left = TEXT_CHARS_MAX;
    let mut pages = Vec::with_capacity(numbers.len());
    for number in numbers {
        let mut page = String::new();
        let text = document.extract_text(&[number]).unwrap_or_default();
        if !push(&mut page, &mut left, text.trim()) {
            return Err(format!(
                "the PDF holds more than {TEXT_CHARS_MAX} characters"
            ));
        }
        pages.push(page);
    }
    if pages.iter().all(String::is_empty) {
        return Err(
            "the PDF holds no text; pictures of text have to be recognised before they are added"
                .to_owned(),
        );
    }
    Ok(pages)
}
