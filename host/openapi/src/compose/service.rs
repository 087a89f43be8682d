//! What the manifest says about the service: its name, title, version, description and homepage.

use crate::document::{Documents, Node};
use crate::keys::DocumentKeys;
use crate::problem::Problem;
use crate::words;

const SERVICE_NAME_CHARS_MAX: usize = 40;
const TITLE_CHARS_MAX: usize = 100;
const DESCRIPTION_CHARS_MAX: usize = 600;
/// A shorter description is completed by the summary.
const DESCRIPTION_CHARS_MIN: usize = 20;
const SUMMARY_CHARS_MAX: usize = 400;
const HOMEPAGE_BYTES_MAX: usize = 500;

/// The parts of the manifest that describe the service as a whole.
pub(super) struct ServiceTexts {
    /// The service name that is the prefix of every tool name.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) homepage: Option<String>,
}

impl ServiceTexts {
    /// Reads `info`. `name` is the service name that the build was given, in place of the description's own.
    pub(super) fn read(
        docs: &Documents,
        keys: &DocumentKeys,
        name: Option<&str>,
    ) -> Result<Self, Problem> {
        let info = docs.root().get("info");
        let text = |key: &str| info.and_then(|info| info.text(key)).unwrap_or_default();
        let title = words::clean(text("title"), TITLE_CHARS_MAX);
        let title = if title.is_empty() {
            "Service".to_owned()
        } else {
            title
        };
        let name = match name.or(keys.service.as_deref()) {
            Some(name) => name.to_owned(),
            None => words::service(&title),
        };
        check_name(docs, &name)?;
        Ok(Self {
            name,
            version: words::version(text("version")),
            description: description(&title, text("description"), text("summary")),
            homepage: homepage(docs, keys, info),
            title,
        })
    }
}

fn check_name(docs: &Documents, name: &str) -> Result<(), Problem> {
    let valid = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !name.ends_with('_')
        && !name.contains("__")
        && name.len() <= SERVICE_NAME_CHARS_MAX;
    if valid {
        return Ok(());
    }
    Err(Problem::new(
        docs.name(),
        "/x-toolgate/service",
        format!(
            "`{}` is not a service name: a-z, 0-9 and single `_`, at most {SERVICE_NAME_CHARS_MAX} characters, a letter first",
            words::clean(name, 60)
        ),
    ))
}

/// The description, completed by the summary or by a sentence of ours where it is too short for search.
fn description(title: &str, description: &str, summary: &str) -> String {
    let description = words::prose(description, DESCRIPTION_CHARS_MAX);
    if description.chars().count() >= DESCRIPTION_CHARS_MIN {
        return description;
    }
    let summary = words::prose(summary, SUMMARY_CHARS_MAX);
    let completion = if summary.is_empty() {
        format!("Tools of {title}, made from its OpenAPI description.")
    } else {
        summary
    };
    if description.is_empty() {
        completion
    } else {
        format!("{description} {completion}")
    }
}

/// The first that is declared of `x-toolgate`'s homepage, `externalDocs` and `info.contact`, where it is a web address.
fn homepage(docs: &Documents, keys: &DocumentKeys, info: Option<Node<'_>>) -> Option<String> {
    let external = docs.root().get("externalDocs");
    let contact = info.and_then(|info| info.get("contact"));
    let linked = [external, contact].into_iter().flatten();
    let linked = linked.filter_map(|node| node.text("url")).next();
    let url = keys.homepage.as_deref().or(linked)?;
    let is_web = |url: url::Url| matches!(url.scheme(), "http" | "https");
    let valid = url.len() <= HOMEPAGE_BYTES_MAX && url::Url::parse(url).is_ok_and(is_web);
    valid.then(|| url.to_owned())
}
