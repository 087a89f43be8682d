//! What a service is recognised by: its logo where one is built in, or else its first letters in a
//! colour of its own, as the dashboard shows them.

use maud::{Markup, PreEscaped, html};

use crate::built_page;

const TINTS: u32 = 6;

/// `service` names it, `title` is what people call it.
pub(super) fn mark(service: &str, title: &str) -> Markup {
    html! {
        @if let Some(logo) = built_page::logo(service) {
            span class="mark" aria-hidden="true" { (PreEscaped(logo)) }
        } @else {
            span class={ "mark tint-" (tint(service)) } aria-hidden="true" { (initials(title)) }
        }
    }
}

/// The same for the same name, always.
fn tint(name: &str) -> u32 {
    name.chars()
        .fold(0, |sum, c| (sum * 31 + u32::from(c)) % 1_000_003)
        % TINTS
}

/// Of two words their first letters, of one its first two.
fn initials(title: &str) -> String {
    let words = title.split(|c: char| c.is_whitespace() || matches!(c, '.' | '_' | '-'));
    let mut words = words.filter(|word| word.starts_with(char::is_alphanumeric));
    let (first, second) = (words.next().unwrap_or("?"), words.next());
    let letters = first.chars();
    match second.and_then(|word| word.chars().next()) {
        Some(other) => letters
            .take(1)
            .chain([other])
            .flat_map(char::to_uppercase)
            .collect(),
        None => letters.take(2).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_are_those_of_the_dashboard() {
        for (title, letters) in [
            ("Open-Meteo", "OM"),
            ("Slack", "Sl"),
            ("Microsoft Teams", "MT"),
            ("s3", "s3"),
            ("  ", "?"),
            ("Ärzte ohne", "ÄO"),
            ("& Sons", "So"),
        ] {
            assert_eq!(initials(title), letters, "{title:?}");
        }
        assert!((0..TINTS).contains(&tint("slack")));
    }
}
