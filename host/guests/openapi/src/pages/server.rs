//! Information of a server about its pages outside of the list: counts in headers, addresses of other pages.

use serde_json::Value;
use toolgate_openapi_table::{Pages, Place};

use super::Answer;
use crate::encode;
use crate::pointer;

/// The size of the whole list, from headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub entries: Option<u64>,
    pub pages: Option<u64>,
}

impl Counts {
    /// Under the names that services use: GitLab, WordPress, Shopware, JSON servers.
    pub fn from_headers<'h>(header: impl Fn(&str) -> Option<&'h str>) -> Self {
        let number = |names: &[&str]| {
            let value = names.iter().find_map(|name| header(name))?;
            value.trim().parse().ok()
        };
        Self {
            entries: number(&[
                "x-total-count",
                "x-total",
                "x-wp-total",
                "x-pagination-total-count",
            ]),
            pages: number(&[
                "x-total-pages",
                "x-wp-totalpages",
                "x-pagination-page-count",
            ]),
        }
    }
}

/// A note that the service has more entries than a response without pages. `at` is where its list is.
pub fn more_than(answer: &Answer<'_>, at: &str) -> Option<String> {
    let list = pointer::at(answer.body, at).and_then(Value::as_array)?;
    let shown = list.len() as u64;
    if let Some(entries) = answer.counts.entries.filter(|entries| *entries > shown) {
        return Some(format!(
            "The service has {entries} entries; this answer holds {shown} of them. Ask for another page or a narrower selection for the rest."
        ));
    }
    let next = answer.link.and_then(toolgate_link::next);
    next.map(|_| {
        format!(
            "The service has more entries than the {shown} in this answer. Ask for another page or a narrower selection for the rest."
        )
    })
}

/// The number of the next page, where the `Link` header has addresses of other pages by number. `Some(None)`: it has
/// addresses of other pages but not of a next one, so this is the last. `None`: it has no address of a page.
pub(super) fn linked(pages: &Pages, answer: &Answer<'_>) -> Option<Option<String>> {
    let header = answer.link?;
    let Some(Place::Query(name)) = &pages.param else {
        return None;
    };
    match toolgate_link::next(header) {
        Some(next) => number_in(next, name).map(Some),
        // Links to other things than pages do not count.
        None => toolgate_link::target(header, "prev")
            .or_else(|| toolgate_link::target(header, "previous"))
            .or_else(|| toolgate_link::target(header, "last"))
            .and_then(|other| number_in(other, name))
            .map(|_| None),
    }
}

/// The number under `name` in the query of an address.
fn number_in(address: &str, name: &str) -> Option<String> {
    let (_, query) = address.split('#').next()?.split_once('?')?;
    let wanted = encode::percent(name, false);
    let value = query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        (key == name || key.eq_ignore_ascii_case(&wanted)).then_some(value)
    })?;
    number_of(value).map(|number| number.to_string())
}

pub(super) fn number_of(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// A count, also as a text.
pub(super) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Counts, more_than};
    use crate::pages::Answer;

    #[test]
    fn a_list_without_pages_says_that_there_is_more() {
        let body = json!({"data": [1, 2]});
        let said = |link: Option<&str>, entries: Option<u64>, at: &str| {
            let answer = Answer {
                body: &body,
                link,
                counts: Counts {
                    entries,
                    pages: None,
                },
                url: "https://h/v1/a",
                base: "https://h/v1",
            };
            more_than(&answer, at)
        };
        let next = Some("<https://h/v1/a?p=2>; rel=next");
        assert!(
            said(next, None, "/data").is_some_and(|text| text.contains("more entries than the 2"))
        );
        assert!(said(None, Some(142), "/data").is_some_and(|text| text.contains("142 entries")));
        assert_eq!(said(None, Some(2), "/data"), None);
        assert_eq!(said(None, None, "/data"), None);
        assert_eq!(said(next, None, ""), None, "an object is no list");
    }
}
