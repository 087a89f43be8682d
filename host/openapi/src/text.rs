//! A description that arrives as text, such as from a browser. Nothing on the disk and nothing on the network is read: a
//! reference to another file is not followed.

use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{self, Documents};
use crate::formats::{self, ConvertedDescription};
use crate::{BuiltPlugin, Described, METHODS, Problem, bake, compose, words};

/// What problems call the text.
const NAME: &str = "the description";
/// Characters of a summary.
const SUMMARY_CHARS: usize = 200;

/// A description, and which of its operations become tools.
#[derive(Clone, Debug, Default)]
pub struct DescriptionText {
    /// JSON or YAML.
    pub text: String,
    /// Service name in place of the derived one.
    pub service: Option<String>,
    /// `METHOD /path` of each operation that becomes a tool. All of them, or those that the description chooses, if empty.
    pub operations: Vec<String>,
}

/// What a description offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfferedOperations {
    pub title: String,
    /// The name that the service gets if no other is given.
    pub service: String,
    pub operations: Vec<OfferedOperation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfferedOperation {
    /// `METHOD /path`, as [`DescriptionText::operations`] takes it.
    pub operation: String,
    pub summary: String,
    pub deprecated: bool,
}

/// Lists the operations of a description, in its order.
pub fn offered(text: &str) -> Result<OfferedOperations, Problem> {
    with_stack(|| {
        let value = read(text)?.value;
        let docs = Documents::from_value(NAME, value);
        let root = docs.root();
        let title = root.get("info").and_then(|info| info.text("title"));
        let title = words::clean(title.unwrap_or_default(), 100);
        let named = root.get("x-toolgate").and_then(|own| own.text("service"));
        let service = named.map_or_else(|| words::service(&title), str::to_owned);
        let mut operations = Vec::new();
        for (path, item) in root.members("paths") {
            let Ok(item) = docs.resolve(item) else {
                continue;
            };
            for method in METHODS {
                let Some(node) = item.get(method).filter(|node| node.value.is_object()) else {
                    continue;
                };
                let about = node.text("summary").or(node.text("description"));
                operations.push(OfferedOperation {
                    operation: format!("{} {path}", method.to_uppercase()),
                    summary: words::clean(about.unwrap_or_default(), SUMMARY_CHARS),
                    deprecated: node.flag("deprecated"),
                });
            }
        }
        if operations.is_empty() {
            return Err(Problem::new(NAME, "/paths", "has no operation"));
        }
        Ok(OfferedOperations {
            title,
            service,
            operations,
        })
    })
}

/// Builds the plugin of a description.
pub async fn build(input: &DescriptionText) -> anyhow::Result<BuiltPlugin> {
    let described = describe(input)?;
    let wasm = bake::bake(&described).await?;
    Ok(BuiltPlugin { wasm, described })
}

/// Reads a description into a manifest and a table.
pub fn describe(input: &DescriptionText) -> Result<Described, Problem> {
    with_stack(|| {
        let mut converted = read(&input.text)?;
        if !input.operations.is_empty() {
            choose(&mut converted.value, &input.operations)?;
        }
        let docs = Documents::from_value(NAME, converted.value);
        let described = compose::compose(&docs, input.service.as_deref())?;
        Ok(described.with_notes(converted.notes))
    })
}

fn read(text: &str) -> Result<ConvertedDescription, Problem> {
    formats::refuse_text(NAME, text)?;
    formats::convert(NAME, document::parse(NAME, text)?)
}

/// Writes the choice into the description's `x-toolgate`, where an author writes it.
fn choose(value: &mut Value, operations: &[String]) -> Result<(), Problem> {
    let root = value.as_object_mut();
    let root = root.ok_or_else(|| Problem::new(NAME, "", "is not an object"))?;
    let own = root.entry("x-toolgate").or_insert_with(|| json!({}));
    let own = own.as_object_mut();
    let own = own.ok_or_else(|| Problem::new(NAME, "/x-toolgate", "write an object"))?;
    own.insert("operations".to_owned(), json!(operations));
    Ok(())
}

/// Deep documents get a stack that does not depend on the caller's.
fn with_stack<T: Send>(work: impl FnOnce() -> Result<T, Problem> + Send) -> Result<T, Problem> {
    let made = document::with_stack(work);
    made.unwrap_or_else(|| Err(Problem::new(NAME, "", "could not be read to its end")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
openapi: 3.1.0
info: { title: Ice Cream Shop, version: 1.0.0 }
servers: [{ url: https://api.example.com }]
paths:
  /cones:
    get: { operationId: list_cones, summary: Lists all cones, responses: { '200': { description: ok } } }
    post: { operationId: add_cone, summary: Adds a cone, responses: { '200': { description: ok } } }
  /cones/{id}:
    delete:
      operationId: eat_cone
      deprecated: true
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { '204': { description: ok } }
";

    #[test]
    fn operations_are_offered_in_the_order_of_the_text() {
        let offer = offered(TEXT).unwrap();
        assert_eq!(offer.service, "ice_cream_shop");
        let names: Vec<&str> = offer.operations.iter().map(|one| &*one.operation).collect();
        assert_eq!(names, ["GET /cones", "POST /cones", "DELETE /cones/{id}"]);
        assert!(offer.operations[2].deprecated);
    }

    #[test]
    fn only_chosen_operations_become_tools() {
        let input = DescriptionText {
            text: TEXT.to_owned(),
            service: Some("ice".to_owned()),
            operations: vec!["GET /cones".to_owned()],
        };
        let described = describe(&input).unwrap();
        let tools: Vec<&str> = described
            .manifest
            .tools
            .iter()
            .map(|tool| &*tool.name)
            .collect();
        assert_eq!(tools, ["list_cones"]);
        assert_eq!(described.manifest.hosts, ["api.example.com"]);
        let unknown = DescriptionText {
            operations: vec!["GET /nowhere".to_owned()],
            ..input
        };
        assert!(
            describe(&unknown)
                .unwrap_err()
                .message
                .contains("GET /nowhere")
        );
    }

    /// The text comes from a browser, and the gateway's disk is not the browser's.
    #[test]
    fn no_file_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "{ type: string, enum: [from-the-disk] }").unwrap();
        let refers = TEXT
            .replace("deprecated: true", "deprecated: false")
            .replace(
                "schema: { type: string }",
                &format!("schema: {{ $ref: '{}' }}", file.path().display()),
            );
        let input = DescriptionText {
            text: refers,
            ..DescriptionText::default()
        };
        let described = describe(&input).unwrap().manifest_json;
        assert!(described.contains("is another file"), "{described}");
        assert!(!described.contains("from-the-disk"), "{described}");
    }

    #[test]
    fn a_text_that_is_not_a_description_is_refused_with_a_reason() {
        for (text, said) in [
            ("", "OpenAPI"),
            ("{", "unclosed bracket"),
            ("openapi: 2.0", "version"),
            ("openapi: 3.1.0\npaths: {}", "no operation"),
        ] {
            let refused = offered(text).unwrap_err().to_string();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
