//! Pagination: where the mark of a page is sent, and what the mark of the next page is.
//!
//! A mark comes back from the caller, so it is never trusted as an address: of a next address
//! only the query is kept, or a path below the operation's base.

mod numbered;
mod server;

use serde_json::{Map, Value};
use toolgate_openapi_table::{PageStyle, Pages, Place};

use crate::encode;
use crate::pointer;
use numbered::NumberedPage;

pub use server::{Counts, more_than};

/// What a page's mark changes in a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    pub query: Vec<(String, String)>,
    pub body: Option<(Vec<String>, Value)>,
    /// Query text in place of the operation's own.
    pub query_text: Option<String>,
    /// Path in place of the operation's own.
    pub path: Option<String>,
}

/// Applies the mark of a page. `None` where this operation cannot have given out such a mark.
pub fn turn(pages: &Pages, mark: &str) -> Option<Turn> {
    let mut turn = Turn::default();
    match pages.style {
        PageStyle::Link | PageStyle::NextUrl => {
            let (path, query) = mark.split_once('?').unwrap_or((mark, ""));
            if !path.is_empty() && (!pages.any_path || !is_safe_path(path)) {
                return None;
            }
            let wild =
                |c: char| c.is_control() || c.is_whitespace() || matches!(c, '#' | '{' | '}');
            if query.contains(wild) {
                return None;
            }
            turn.query_text = Some(query.to_owned());
            turn.path = (!path.is_empty()).then(|| path.to_owned());
        }
        PageStyle::Page | PageStyle::Offset => {
            let number = mark.parse::<u64>().ok()?;
            place(pages, &mut turn, Value::from(number));
        }
        PageStyle::Cursor => place(pages, &mut turn, Value::from(mark)),
    }
    Some(turn)
}

fn place(pages: &Pages, turn: &mut Turn, value: Value) {
    match &pages.param {
        Some(Place::Query(name)) => {
            turn.query.push((
                encode::percent(name, false),
                encode::percent(&encode::scalar(&value), false),
            ));
        }
        Some(Place::Body(path)) => turn.body = Some((path.clone(), value)),
        None => {}
    }
}

fn is_safe_path(path: &str) -> bool {
    let clean = !path.contains(['\\', '#', '{', '}', '@'])
        && !path.contains("//")
        && !path.contains("%2e")
        && !path.contains("%2E");
    clean
        && path.starts_with('/')
        && !path.contains(|c: char| c.is_control() || c.is_whitespace())
        && !path.split('/').any(|segment| matches!(segment, "." | ".."))
}

/// The response to the request for one page.
pub struct Answer<'a> {
    pub body: &'a Value,
    /// Value of the `Link` header; several of them in one list.
    pub link: Option<&'a str>,
    pub counts: Counts,
    /// The whole address of the request.
    pub url: &'a str,
    pub base: &'a str,
}

impl<'a> Answer<'a> {
    fn at(&self, pointer: &Option<String>) -> Option<&'a Value> {
        pointer::at(self.body, pointer.as_deref()?)
    }
}

/// The mark of the next page, `None` after the last.
pub fn next(
    pages: &Pages,
    arguments: &Map<String, Value>,
    mark: Option<&str>,
    answer: &Answer<'_>,
) -> Option<String> {
    let more = answer.at(&pages.more);
    if matches!(more, Some(Value::Bool(false) | Value::Null)) {
        return None;
    }
    match pages.style {
        PageStyle::Cursor => {
            let next = pointer::text_at(answer.body, pages.next.as_deref()?)?;
            (!next.is_empty() && Some(next.as_str()) != mark).then_some(next)
        }
        PageStyle::Page => NumberedPage::new(pages, arguments, mark, answer).next_page(),
        PageStyle::Offset => NumberedPage::new(pages, arguments, mark, answer).next_offset(),
        PageStyle::Link => mark_of(pages, toolgate_link::next(answer.link?)?, answer),
        PageStyle::NextUrl => mark_of(pages, answer.at(&pages.next)?.as_str()?, answer),
    }
}

/// The mark made of a next address: its query, and its path where that may differ.
fn mark_of(pages: &Pages, target: &str, answer: &Answer<'_>) -> Option<String> {
    let target = target.split('#').next()?;
    let (address, query) = target.split_once('?').unwrap_or((target, ""));
    let kept: Vec<&str> = query
        .split('&')
        .filter(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            !pair.is_empty() && !pages.secret_query.iter().any(|secret| secret == name)
        })
        .collect();
    let kept = kept
        .join("&")
        .replace('{', "%7B")
        .replace('}', "%7D")
        .replace(' ', "%20");
    let mark = if pages.any_path {
        let origin = |url: &str| url.split('/').take(3).collect::<Vec<_>>().join("/");
        let path = if address.starts_with("https://") || address.starts_with("http://") {
            if origin(address) != origin(answer.url) {
                return None;
            }
            &address[origin(address).len()..]
        } else {
            address
        };
        let prefix = &answer.base[origin(answer.base).len().min(answer.base.len())..];
        let below = path.strip_prefix(prefix).unwrap_or(path);
        if !below.is_empty() && !is_safe_path(below) {
            return None;
        }
        format!("{below}?{kept}")
    } else {
        format!("?{kept}")
    };
    (mark != "?").then_some(mark)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};
    use toolgate_openapi_table::{PageStyle, Pages, Place};

    use super::{Answer, Counts, next, turn};

    fn pages(style: PageStyle) -> Pages {
        Pages {
            style,
            param: Some(Place::Query("p".into())),
            next: Some("/next".into()),
            more: None,
            items: Some("/items".into()),
            total: None,
            total_pages: None,
            size: Some("limit".into()),
            size_default: None,
            first: u64::from(style == PageStyle::Page),
            any_path: false,
            secret_query: vec!["key".into()],
        }
    }

    fn after(
        pages: &Pages,
        arguments: Value,
        mark: Option<&str>,
        body: Value,
        link: Option<&str>,
    ) -> Option<String> {
        let arguments: Map<String, Value> = arguments.as_object().expect("an object").clone();
        let answer = Answer {
            body: &body,
            link,
            counts: Counts::default(),
            url: "https://h/v1/a",
            base: "https://h/v1",
        };
        next(pages, &arguments, mark, &answer)
    }

    #[test]
    fn numbered_pages_end_where_the_server_says_so() {
        let page = pages(PageStyle::Page);
        let full = json!({"items": [1, 2]});
        let limit = Map::from_iter([("limit".to_owned(), json!(2))]);
        let found = |mark: Option<&str>, link: Option<&str>, counts: Counts, body: &Value| {
            let answer = Answer {
                body,
                link,
                counts,
                url: "https://h/v1/a",
                base: "https://h/v1",
            };
            next(&page, &limit, mark, &answer)
        };
        let pages_of = |pages: u64| Counts {
            pages: Some(pages),
            entries: None,
        };
        let entries = |entries: u64| Counts {
            pages: None,
            entries: Some(entries),
        };
        let none = Counts::default();
        let (forward, back) = (
            r#"<https://h/v1/a?p=3&limit=2>; rel="next""#,
            r#"<https://h/v1/a?p=1>; rel="prev""#,
        );
        for (mark, link, counts, expected) in [
            // An exactly full last page.
            (Some("2"), Some(back), none, None),
            (Some("2"), Some(forward), none, Some("3")),
            (Some("2"), None, pages_of(2), None),
            (Some("2"), None, pages_of(3), Some("3")),
            (Some("2"), None, entries(4), None),
            (Some("2"), None, entries(5), Some("3")),
            // Links that are not about pages do not count, and a page whose next page is itself is the last.
            (
                Some("2"),
                Some("<https://h/docs>; rel=\"help\""),
                none,
                Some("3"),
            ),
            (Some("3"), Some(forward), none, None),
        ] {
            let found = found(mark, link, counts, &full);
            assert_eq!(found.as_deref(), expected, "{mark:?} {link:?} {counts:?}");
        }
        // A short page does not end what a next link continues.
        let short = json!({"items": [1]});
        assert_eq!(
            found(Some("2"), Some(forward), none, &short).as_deref(),
            Some("3")
        );
        assert_eq!(
            Counts::from_headers(|name| (name == "x-wp-totalpages").then_some("7")).pages,
            Some(7)
        );
    }

    #[test]
    fn a_cursor_goes_on_until_it_is_empty_or_there_is_no_more() {
        let mut cursor = pages(PageStyle::Cursor);
        assert_eq!(
            after(&cursor, json!({}), None, json!({"next": "b"}), None).as_deref(),
            Some("b")
        );
        assert_eq!(
            after(&cursor, json!({}), None, json!({"next": 17}), None).as_deref(),
            Some("17")
        );
        for end in [json!({"next": ""}), json!({"next": null}), json!({})] {
            assert_eq!(after(&cursor, json!({}), None, end, None), None);
        }
        assert_eq!(
            after(&cursor, json!({}), Some("b"), json!({"next": "b"}), None),
            None
        );
        cursor.more = Some("/more".into());
        assert_eq!(
            after(
                &cursor,
                json!({}),
                None,
                json!({"next": "b", "more": false}),
                None
            ),
            None
        );
        cursor.next = Some("/items/-1/id".into());
        let body = json!({"items": [{"id": "x"}, {"id": "y"}], "more": true});
        assert_eq!(
            after(&cursor, json!({}), None, body, None).as_deref(),
            Some("y")
        );
        assert_eq!(
            turn(&cursor, "a b&c").expect("a turn").query,
            [("p".into(), "a%20b%26c".into())]
        );
    }

    #[test]
    fn pages_and_offsets_go_on_while_they_are_full() {
        let mut page = pages(PageStyle::Page);
        let two = json!({"items": [1, 2]});
        assert_eq!(
            after(&page, json!({"limit": 2}), None, two.clone(), None).as_deref(),
            Some("2")
        );
        assert_eq!(
            after(&page, json!({"limit": 3}), Some("2"), two.clone(), None),
            None
        );
        assert_eq!(
            after(&page, json!({}), Some("4"), two.clone(), None).as_deref(),
            Some("5")
        );
        assert_eq!(
            after(&page, json!({}), None, json!({"items": []}), None),
            None
        );
        page.total_pages = Some("/pages".into());
        assert_eq!(
            after(
                &page,
                json!({}),
                Some("3"),
                json!({"items": [1], "pages": 3}),
                None
            ),
            None
        );
        let mut offset = pages(PageStyle::Offset);
        assert_eq!(
            after(&offset, json!({"limit": 2}), Some("4"), two.clone(), None).as_deref(),
            Some("6")
        );
        offset.total = Some("/total".into());
        assert_eq!(
            after(
                &offset,
                json!({}),
                Some("4"),
                json!({"items": [1, 2], "total": 6}),
                None
            ),
            None
        );
        assert_eq!(turn(&offset, "not a number"), None);
    }

    #[test]
    fn of_a_next_address_only_the_query_is_kept_and_never_a_credential() {
        let link = pages(PageStyle::Link);
        let header = r#"<https://h/v1/a?p=1>; rel="prev", <https://evil.example/x?p=3&key=SECRET>; rel="next""#;
        assert_eq!(
            after(&link, json!({}), None, json!([]), Some(header)).as_deref(),
            Some("?p=3")
        );
        assert_eq!(
            after(
                &link,
                json!({}),
                None,
                json!([]),
                Some("<https://h/?p=1>; rel=last")
            ),
            None
        );
        let commas = r#"<https://h/v1/a?fields=id,name&p=2>; rel="next last""#;
        assert_eq!(
            after(&link, json!({}), None, json!([]), Some(commas)).as_deref(),
            Some("?fields=id,name&p=2")
        );
        assert_eq!(
            turn(&link, "?p=3").expect("a turn").query_text.as_deref(),
            Some("p=3")
        );
        for forged in [
            "https://evil.example/?p=1",
            "/other?p=1",
            "?p={secret}",
            "?a b",
        ] {
            assert_eq!(turn(&link, forged), None, "{forged}");
        }
    }

    #[test]
    fn a_next_path_stays_on_its_origin_and_below_its_base() {
        let mut open = pages(PageStyle::NextUrl);
        open.any_path = true;
        let found = |next: &str| after(&open, json!({}), None, json!({"next": next}), None);
        assert_eq!(
            found("/v1/query/01-2000").as_deref(),
            Some("/query/01-2000?")
        );
        assert_eq!(found("https://h/v1/b?x=1").as_deref(), Some("/b?x=1"));
        assert_eq!(found("https://evil.example/v1/b?x=1"), None);
        assert_eq!(
            turn(&open, "/b?x=1").expect("a turn").path.as_deref(),
            Some("/b")
        );
        for forged in ["//evil.example/?x", "/a/../b?x", "/a@b?x", "b?x"] {
            assert_eq!(turn(&open, forged), None, "{forged}");
        }
    }
}
