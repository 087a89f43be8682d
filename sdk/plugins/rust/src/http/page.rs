//! HTML pages where data was expected: sign-in pages, block pages, pages of proxies.

/// Longest title that is handed on, in characters.
const TITLE_CHARS_MAX: usize = 200;

/// The title of the page that a text is; the outer `None` where it is no page.
pub(super) fn read(text: &str) -> Option<Option<String>> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let begins = |with: &str| {
        let head = start.as_bytes().get(..with.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()))
    };
    (begins("<!doctype html") || begins("<html")).then(|| title(start))
}

fn title(text: &str) -> Option<String> {
    // ASCII letters alone change, so places in both are the same.
    let lower = text.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower[open..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let words: Vec<&str> = text[start..end].split_whitespace().collect();
    let title: String = words.join(" ").chars().take(TITLE_CHARS_MAX).collect();
    (!title.is_empty()).then_some(title)
}

/// What is said of a page that came instead of an answer.
pub(super) fn sentence(title: Option<&str>) -> String {
    let titled = title.map_or_else(String::new, |title| format!(" (title: {title})"));
    format!("the service answered with an HTML page{titled}, probably a sign-in or proxy page")
}
