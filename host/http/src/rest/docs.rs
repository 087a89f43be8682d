//! `/docs`: the OpenAPI document as one page for people.
//!
//! Rendered once at start, without scripts, fonts, images or requests, so that its content
//! security policy can forbid all of them. `maud` escapes everything that comes from the document.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::HeaderValue;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

mod schema;

const STYLE: &str = include_str!("docs/style.css");

/// The page and the policy that fits it.
pub(super) struct DocsPage {
    pub html: Bytes,
    pub content_security_policy: HeaderValue,
}

impl DocsPage {
    pub(super) fn render(document: &Value) -> Self {
        let style_hash = BASE64.encode(Sha256::digest(STYLE));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{style_hash}'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'"
        );
        Self {
            html: DocsWriter(document).page().into_string().into(),
            content_security_policy: HeaderValue::from_str(&policy)
                .expect("a hash in base64 is visible ASCII"),
        }
    }
}

/// Writes the document out as HTML.
#[derive(Clone, Copy)]
struct DocsWriter<'a>(&'a Value);

impl<'a> DocsWriter<'a> {
    fn page(self) -> Markup {
        let info = &self.0["info"];
        let title = format!("{} {}", text(&info["title"]), text(&info["version"]));
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        h1 { (title) }
                        (prose(text(&info["description"])))
                        p { "The same as " a href="/openapi.json" { "OpenAPI document" } "." }
                    }
                    (self.contents())
                    main {
                        @for tag in list(&self.0["tags"]) { (self.tag(tag)) }
                        (self.refusals())
                    }
                }
            }
        }
    }

    /// All operations that carry `tag`, as method, path and declaration.
    fn operations(self, tag: &str) -> Vec<(&'a str, &'a str, &'a Value)> {
        let mut found = Vec::new();
        for (path, item) in object(&self.0["paths"]) {
            for (method, operation) in object(item) {
                if list(&operation["tags"]).any(|own| own == tag) {
                    found.push((method.as_str(), path.as_str(), operation));
                }
            }
        }
        found
    }

    fn contents(self) -> Markup {
        html! {
            nav {
                ul {
                    @for name in list(&self.0["tags"]).map(|tag| text(&tag["name"])) {
                        li {
                            (name)
                            ul {
                                @for (method, path, operation) in self.operations(name) {
                                    @let id = text(&operation["operationId"]);
                                    li { a href={ "#" (id) } { (endpoint(method, path)) } }
                                }
                            }
                        }
                    }
                    li { a href="#refusals" { "Refusals" } }
                }
            }
        }
    }

    fn tag(self, tag: &Value) -> Markup {
        let name = text(&tag["name"]);
        html! {
            section {
                h2 { (name) }
                (prose(text(&tag["description"])))
                @for (method, path, operation) in self.operations(name) {
                    (self.operation(method, path, operation))
                }
            }
        }
    }

    fn operation(self, method: &str, path: &str, operation: &'a Value) -> Markup {
        let key = if operation["security"].is_array() {
            "Needs the header `Authorization: Bearer <API_KEY>`."
        } else {
            "Needs no key."
        };
        let responses = || object(&operation["responses"]);
        let refusal = |(status, response): (&'a String, &'a Value)| {
            let name = response["$ref"].as_str()?.rsplit('/').next()?;
            Some((status, name))
        };
        html! {
            article id=(text(&operation["operationId"])) {
                h3 { (text(&operation["summary"])) }
                p class="endpoint" { (endpoint(method, path)) }
                (prose(text(&operation["description"])))
                (prose(key))
                (self.parameters(operation))
                @for (media_type, content) in object(&operation["requestBody"]["content"]) {
                    h4 { "Body, " (media_type) }
                    (self.content(content))
                }
                @for (status, response) in responses().filter(|(_, it)| it["$ref"].is_null()) {
                    h4 { "Answer " (status) }
                    (prose(text(&response["description"])))
                    @for (_, content) in object(&response["content"]) { (self.content(content)) }
                }
                h4 { "Refusals" }
                p {
                    @for (status, name) in responses().filter_map(refusal) {
                        a href={ "#" (name) } { (status) } " "
                    }
                }
            }
        }
    }

    fn parameters(self, operation: &'a Value) -> Markup {
        let needed = |parameter: &Value| match parameter["required"] == true {
            true => "required",
            false => "optional",
        };
        html! {
            @if list(&operation["parameters"]).next().is_some() {
                h4 { "Parameters" }
                dl {
                    @for parameter in list(&operation["parameters"]) {
                        dt {
                            code { (text(&parameter["name"])) }
                            " " (self.kind(&parameter["schema"])) ", " (text(&parameter["in"]))
                            ", " (needed(parameter))
                        }
                        dd {
                            (inline(text(&parameter["description"])))
                            (self.bounds(&parameter["schema"]))
                        }
                    }
                }
            }
        }
    }

    fn content(self, content: &'a Value) -> Markup {
        html! {
            (self.schema(&content["schema"], 0))
            @if !content["example"].is_null() { (example("Example", &content["example"])) }
            @for (name, one) in object(&content["examples"]) {
                (example(one["summary"].as_str().unwrap_or(name), &one["value"]))
            }
        }
    }

    fn refusals(self) -> Markup {
        let components = &self.0["components"];
        html! {
            section id="refusals" {
                h2 { "Refusals" }
                (prose("A refusal of any route has this body."))
                (self.schema(&components["schemas"]["Failure"], 0))
                @for (name, response) in object(&components["responses"]) {
                    article id=(name) {
                        h3 { (name) }
                        (prose(text(&response["description"])))
                        @for (_, content) in object(&response["content"]) {
                            @for (code, one) in object(&content["examples"]) {
                                (example(code, &one["value"]))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn endpoint(method: &str, path: &str) -> Markup {
    html! { b { (method.to_uppercase()) } " " code { (path) } }
}

fn example(summary: &str, value: &Value) -> Markup {
    html! { details { summary { (summary) } pre { (format!("{value:#}")) } } }
}

/// A paragraph of [`inline`] text.
fn prose(text: &str) -> Markup {
    html! { p { (inline(text)) } }
}

/// Text in which `code` is marked as in Markdown.
fn inline(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// A value as text, empty if it is no text.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// A value's items, none if it is not an array.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A value's members, none if it is not an object.
fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn html(document: &Value) -> String {
        String::from_utf8(DocsPage::render(document).html.to_vec()).unwrap()
    }

    #[test]
    fn the_page_shows_every_operation_and_every_refusal() {
        let document = serde_json::to_value(crate::rest::document()).unwrap();
        let page = html(&document);
        for item in document["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                let name = operation["operationId"].as_str().unwrap();
                assert!(page.contains(&format!("<article id=\"{name}\">")), "{name}");
            }
        }
        for name in document["components"]["responses"]
            .as_object()
            .unwrap()
            .keys()
        {
            assert!(page.contains(&format!("<article id=\"{name}\">")), "{name}");
        }
    }

    #[test]
    fn the_page_loads_nothing_and_runs_nothing() {
        let document = serde_json::to_value(crate::rest::document()).unwrap();
        let page = html(&document);
        for forbidden in [
            "<script",
            " src=",
            "@import",
            "url(",
            " onclick=",
            " style=",
        ] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        let policy = DocsPage::render(&document).content_security_policy;
        assert!(
            policy
                .to_str()
                .unwrap()
                .starts_with("default-src 'none'; style-src 'sha256-")
        );
    }

    #[test]
    fn what_the_document_says_is_escaped() {
        let hostile = "</title><script>alert('x')</script>\"&`<b>`";
        let document = json!({
            "info": { "title": hostile, "description": hostile },
            "tags": [{ "name": hostile }],
            "paths": { hostile: { "get": { "tags": [hostile], "operationId": hostile } } },
        });
        let page = html(&document);
        assert!(
            !page.contains("<script") && !page.contains("<b><"),
            "{page}"
        );
        assert!(page.contains("<code>&lt;b&gt;</code>"));
    }

    #[test]
    fn a_schema_that_holds_itself_ends() {
        let document = json!({
            "components": { "schemas": { "Failure": { "properties": {
                "inner": { "$ref": "#/components/schemas/Failure" }
            } } } }
        });
        assert!(html(&document).len() < 20_000);
    }
}
