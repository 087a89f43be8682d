//! `/docs`: the OpenAPI document as one page for people.
//!
//! Rendered once at start, without scripts, fonts, images or requests, so that its content
//! security policy can forbid all of them. Everything that comes from the document is escaped.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::HeaderValue;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

mod html;
mod schema;

use html::{HtmlWriter, list, object, text};

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
            html: HtmlWriter::page(document).into(),
            content_security_policy: HeaderValue::from_str(&policy)
                .expect("a hash in base64 is visible ASCII"),
        }
    }
}

impl<'a> HtmlWriter<'a> {
    fn page(document: &'a Value) -> String {
        let mut page = Self::new(document);
        let info = &document["info"];
        let title = format!("{} {}", text(&info["title"]), text(&info["version"]));
        page.raw("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");
        page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        page.element("title", &title);
        page.raw("<style>");
        page.raw(STYLE);
        page.raw("</style></head><body><header>");
        page.element("h1", &title);
        page.prose(text(&info["description"]));
        page.raw("<p>The same as <a href=\"/openapi.json\">OpenAPI document</a>.</p></header>");
        page.contents();
        page.raw("<main>");
        for tag in list(&document["tags"]) {
            page.tag(tag);
        }
        page.refusals();
        page.raw("</main></body></html>");
        page.html
    }

    /// All operations that carry `tag`, as method, path and declaration.
    fn operations(&self, tag: &str) -> Vec<(&'a str, &'a str, &'a Value)> {
        let mut found = Vec::new();
        for (path, item) in object(&self.document["paths"]) {
            for (method, operation) in object(item) {
                if list(&operation["tags"]).any(|own| own == tag) {
                    found.push((method.as_str(), path.as_str(), operation));
                }
            }
        }
        found
    }

    fn contents(&mut self) {
        self.raw("<nav><ul>");
        for tag in list(&self.document["tags"]) {
            let name = text(&tag["name"]);
            self.raw("<li>");
            self.text(name);
            self.raw("<ul>");
            for (method, path, operation) in self.operations(name) {
                self.raw("<li><a href=\"#");
                self.text(text(&operation["operationId"]));
                self.raw("\">");
                self.endpoint(method, path);
                self.raw("</a></li>");
            }
            self.raw("</ul></li>");
        }
        self.raw("<li><a href=\"#refusals\">Refusals</a></li></ul></nav>");
    }

    fn endpoint(&mut self, method: &str, path: &str) {
        self.element("b", &method.to_uppercase());
        self.raw(" ");
        self.element("code", path);
    }

    fn tag(&mut self, tag: &Value) {
        let name = text(&tag["name"]);
        self.raw("<section>");
        self.element("h2", name);
        self.prose(text(&tag["description"]));
        for (method, path, operation) in self.operations(name) {
            self.operation(method, path, operation);
        }
        self.raw("</section>");
    }

    fn operation(&mut self, method: &str, path: &str, operation: &'a Value) {
        self.raw("<article id=\"");
        self.text(text(&operation["operationId"]));
        self.raw("\">");
        self.element("h3", text(&operation["summary"]));
        self.raw("<p class=\"endpoint\">");
        self.endpoint(method, path);
        self.raw("</p>");
        self.prose(text(&operation["description"]));
        if operation["security"].is_array() {
            self.prose("Needs the header `Authorization: Bearer <API_KEY>`.");
        } else {
            self.prose("Needs no key.");
        }
        self.parameters(operation);
        for (media_type, content) in object(&operation["requestBody"]["content"]) {
            self.element("h4", &format!("Body, {media_type}"));
            self.content(content);
        }
        for (status, response) in object(&operation["responses"]) {
            if response["$ref"].is_null() {
                self.element("h4", &format!("Answer {status}"));
                self.prose(text(&response["description"]));
                for (_, content) in object(&response["content"]) {
                    self.content(content);
                }
            }
        }
        self.raw("<h4>Refusals</h4><p>");
        for (status, response) in object(&operation["responses"]) {
            if let Some(name) = response["$ref"].as_str().and_then(last_segment) {
                self.raw("<a href=\"#");
                self.text(name);
                self.raw("\">");
                self.text(status);
                self.raw("</a> ");
            }
        }
        self.raw("</p></article>");
    }

    fn parameters(&mut self, operation: &'a Value) {
        if list(&operation["parameters"]).next().is_none() {
            return;
        }
        self.raw("<h4>Parameters</h4><dl>");
        for parameter in list(&operation["parameters"]) {
            self.raw("<dt>");
            self.element("code", text(&parameter["name"]));
            let place = text(&parameter["in"]);
            let needed = if parameter["required"] == true {
                "required"
            } else {
                "optional"
            };
            let kind = self.kind(&parameter["schema"]);
            self.text(&format!(" {kind}, {place}, {needed}"));
            self.raw("</dt><dd>");
            self.inline(text(&parameter["description"]));
            self.bounds(&parameter["schema"]);
            self.raw("</dd>");
        }
        self.raw("</dl>");
    }

    fn content(&mut self, content: &'a Value) {
        self.schema(&content["schema"], 0);
        let single = Some(("Example", &content["example"])).filter(|(_, value)| !value.is_null());
        let several = object(&content["examples"]).map(|(name, example)| {
            let summary = example["summary"].as_str().unwrap_or(name);
            (summary, &example["value"])
        });
        for (summary, value) in single.into_iter().chain(several) {
            self.example(summary, value);
        }
    }

    fn example(&mut self, summary: &str, value: &Value) {
        self.raw("<details>");
        self.element("summary", summary);
        self.raw("<pre>");
        self.text(&format!("{value:#}"));
        self.raw("</pre></details>");
    }

    fn refusals(&mut self) {
        self.raw("<section id=\"refusals\"><h2>Refusals</h2>");
        self.prose("A refusal of any route has this body.");
        let components = &self.document["components"];
        self.schema(&components["schemas"]["Failure"], 0);
        for (name, response) in object(&components["responses"]) {
            self.raw("<article id=\"");
            self.text(name);
            self.raw("\">");
            self.element("h3", name);
            self.prose(text(&response["description"]));
            for (_, content) in object(&response["content"]) {
                for (code, example) in object(&content["examples"]) {
                    self.example(code, &example["value"]);
                }
            }
            self.raw("</article>");
        }
        self.raw("</section>");
    }
}

fn last_segment(reference: &str) -> Option<&str> {
    reference.rsplit('/').next()
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
