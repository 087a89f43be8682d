//! Reading one answer.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::page;
use crate::blob::Blob;
use crate::error::ToolError;

/// An answer as the host lets it through: capped, scrubbed, without credential-bearing headers.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The body, when the request asked to keep it on the host.
    pub stored: Option<Blob>,
    /// Final URL after redirects.
    pub url: String,
}

impl Response {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of that name, in any case (RFC 9110, section 5.1).
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text; bytes that are not UTF-8 become the replacement character.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; an empty one is null.
    pub fn json(&self) -> Result<Value, ToolError> {
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        self.json_as()
    }

    pub fn json_as<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        let body = self
            .body
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.body);
        serde_json::from_slice(body).map_err(|error| {
            ToolError::upstream(match page::read(&self.text()) {
                Some(title) => page::sentence(title.as_deref()),
                None => format!("the provider's answer is not the expected JSON: {error}"),
            })
        })
    }

    /// The target of `Link: <...>; rel="next"` (RFC 8288, section 3).
    pub fn next_link(&self) -> Option<&str> {
        let mut links = self
            .headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("link"));
        links.find_map(|(_, value)| toolgate_link::next(value))
    }
}

/// The value of `key` in the query of `url`, as written there.
pub fn query_value<'a>(url: &'a str, key: &str) -> Option<&'a str> {
    let (_, query) = url.split_once('?')?;
    let query = query.split_once('#').map_or(query, |(query, _)| query);
    query.split('&').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        (name == key).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_link(link: &str) -> Response {
        Response {
            status: 200,
            headers: vec![("Link".to_owned(), link.to_owned())],
            body: Vec::new(),
            stored: None,
            url: String::new(),
        }
    }

    #[test]
    fn the_next_link_is_found_among_others() {
        let response = with_link(
            "<https://a.example/x?page=1>; rel=\"prev\", <https://a.example/x?page=3&n=2>; rel=\"next\"",
        );
        let next = response.next_link().expect("a next link");
        assert_eq!(query_value(next, "page"), Some("3"));
        assert_eq!(query_value(next, "per_page"), None);
    }

    #[test]
    fn a_next_link_may_hold_commas_and_be_the_last_one_too() {
        for relation in ["\"next\"", "\"next last\"", "next"] {
            let response = with_link(&format!(
                "<https://a.example/x?fields=id,name&page=2>; rel={relation}"
            ));
            let next = response.next_link().expect("a next link");
            assert_eq!(query_value(next, "page"), Some("2"));
        }
    }

    #[test]
    fn the_last_page_has_no_next_link() {
        assert_eq!(
            with_link("<https://a.example/x?page=1>; rel=\"prev\"").next_link(),
            None
        );
    }

    #[test]
    fn a_page_instead_of_json_is_named_and_a_mark_at_the_front_is_no_matter() {
        let answered = |body: &str| Response {
            body: body.as_bytes().to_vec(),
            ..with_link("")
        };
        let page = "<!DOCTYPE html>\n<html><head><TITLE>Sign\n in</TITLE></head></html>";
        let error = answered(page).json().unwrap_err();
        assert_eq!(
            error.message,
            "the service answered with an HTML page (title: Sign in), probably a sign-in or proxy page"
        );
        let plain = answered("nothing").json().unwrap_err();
        assert!(plain.message.contains("expected JSON"), "{plain}");
        assert_eq!(
            answered("\u{feff}{\"a\":1}").json(),
            Ok(serde_json::json!({"a": 1}))
        );
    }

    #[test]
    fn an_empty_answer_is_null() {
        assert_eq!(with_link("").json(), Ok(Value::Null));
    }
}
