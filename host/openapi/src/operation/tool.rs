//! Names, texts and effect of a tool.

use serde_json::Value;
use toolgate_catalog::Schema;
use toolgate_catalog::manifest::{Effect, ToolSpec};

use super::effect::{self, DecidedEffect};
use super::{OperationContext, OperationLocation};
use crate::document::Node;
use crate::keys::OperationKeys;
use crate::names::{self, NamedOperation};
use crate::security::SecurityNeeds;
use crate::words;

const TITLE_CHARS_MAX: usize = 100;
const DESCRIPTION_CHARS_MAX: usize = 1_000;
/// A shorter description is preceded by the summary.
const DESCRIPTION_CHARS_MIN: usize = 20;
const KEYWORDS_MAX: usize = 32;
/// Tags that become keywords where the author wrote none.
const TAGS_MAX: usize = 5;

/// The tool of an operation, and how its effect was decided. Its schema and examples follow when all tools are known.
pub(super) fn tool(
    shared: &OperationContext<'_, '_>,
    place: &OperationLocation<'_>,
    own: &OperationKeys,
    needs: SecurityNeeds,
    paginated: bool,
) -> (ToolSpec, DecidedEffect) {
    let node = place.node;
    let name = match &own.name {
        Some(name) => name.clone(),
        None => names::tool(&NamedOperation {
            service: shared.service,
            id: node.text("operationId"),
            method: place.method,
            path: place.path,
            patched: place.item.get("patch").is_some(),
        }),
    };
    let summary = node.text("summary").or_else(|| place.item.text("summary"));
    let summary = summary
        .map(|text| words::prose(text, TITLE_CHARS_MAX))
        .filter(|text| !text.is_empty());
    let title = own.title.as_ref();
    let title = title.map(|text| words::clean(text, TITLE_CHARS_MAX));
    let description = description(place, summary.as_deref(), &name);
    let decided = effect::decide(place, own, shared.keys, &name);
    let by_method = matches!(place.method, "put" | "delete");
    let tool = ToolSpec {
        name,
        title: title.or(summary),
        description,
        input: Schema::from_value(&Value::Null),
        output: None,
        effect: decided.effect,
        queries: Vec::new(),
        request: None,
        idempotent: own.idempotent.unwrap_or(by_method) && decided.effect != Effect::Read,
        paginated,
        auth: needs.slots.clone(),
        auth_optional: needs.optional,
        scopes: if needs.slots.is_empty() {
            Vec::new()
        } else {
            own.scopes.clone().unwrap_or(needs.scopes)
        },
        keywords: keywords(node, own),
        requests: own.requests.clone(),
        triggers: own.triggers.clone(),
        examples: own.examples.clone(),
        deprecated: node
            .flag("deprecated")
            .then(|| "The service marks this operation as deprecated.".to_owned()),
    };
    (tool, decided)
}

/// The description of the operation or its path, else the summary, else the name with the request.
fn description(place: &OperationLocation<'_>, summary: Option<&str>, name: &str) -> String {
    let description = place
        .node
        .text("description")
        .or_else(|| place.item.text("description"))
        .map(|text| words::prose(text, DESCRIPTION_CHARS_MAX))
        .filter(|text| !text.is_empty());
    let is_short = |text: &str| text.chars().count() < DESCRIPTION_CHARS_MIN;
    match (description, summary) {
        (Some(text), Some(summary)) if is_short(&text) && text != summary => {
            format!("{summary}. {text}")
        }
        (Some(text), _) => text,
        (None, Some(summary)) => summary.to_owned(),
        (None, None) => format!(
            "{} ({} {})",
            words::title(name),
            place.method.to_uppercase(),
            words::clean(place.path, 200)
        ),
    }
}

/// The author's keywords, else the tags of the operation.
fn keywords(node: Node<'_>, own: &OperationKeys) -> Vec<String> {
    if own.keywords.is_empty() {
        let tags = node.elements("tags").filter_map(|tag| tag.value.as_str());
        tags.map(|tag| words::clean(tag, 60))
            .filter(|tag| !tag.is_empty())
            .take(TAGS_MAX)
            .collect()
    } else {
        own.keywords
            .iter()
            .map(|word| words::clean(word, 64))
            .take(KEYWORDS_MAX)
            .collect()
    }
}
