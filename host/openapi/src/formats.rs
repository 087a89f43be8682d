//! Which kind of description a document is, found out from its content, and the document as OpenAPI 3.1 or 3.0.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use crate::graphql::{introspection, sdl};
use crate::problem::{Notes, Problem};
use crate::{curl, discovery, har, newer, postman, swagger, words};

/// Bytes at the beginning of a file by which a text that is neither JSON nor YAML is known.
const BEGIN_BYTES: u64 = 64 * 1024;
/// The kinds that a build takes, for messages.
pub const KINDS: &str = "OpenAPI 3.0 to 3.2, Swagger 2.0, a Google discovery document or a Postman collection (2.0, 2.1)";

/// A description as OpenAPI, and what a reader should know of the conversion.
#[derive(Debug, Default)]
pub struct ConvertedDescription {
    pub value: Value,
    pub notes: Notes,
}

/// Converts a document of any kind. The error names the kinds, and the command for one that goes another way.
pub fn convert(name: &str, document: Value) -> Result<ConvertedDescription, Problem> {
    let mut notes = Notes::default();
    let value = if swagger::is_swagger(&document) {
        swagger::convert(document)
    } else if newer::is_newer(&document) {
        newer::convert(document, &mut notes)
    } else if discovery::is_discovery(&document) {
        discovery::convert(&document, &mut notes)
    } else if postman::is_collection(&document) {
        postman::convert(&document, &mut notes)
    } else {
        refuse_other(name, &document)?;
        document
    };
    Ok(ConvertedDescription { value, notes })
}

fn refuse_other(name: &str, document: &Value) -> Result<(), Problem> {
    if let Some(version) = document.get("openapi") {
        return check_version(name, version);
    }
    let what = if introspection::found(document).is_some() {
        "is the answer of a GraphQL server: use `toolgate plugin build --graphql FILE --endpoint URL`".to_owned()
    } else if har::is_archive(document) {
        "is a HAR archive, from which a description is started: `toolgate plugin new --from FILE`"
            .to_owned()
    } else if postman::is_old_collection(document) {
        "is a Postman collection of version 1; export it as version 2.1".to_owned()
    } else if document.get("asyncapi").is_some() {
        format!("is AsyncAPI, which describes messages and no requests; what is read: {KINDS}")
    } else {
        format!("is not an OpenAPI description or another kind that is read: {KINDS}")
    };
    Err(Problem::new(name, "", what))
}

fn check_version(name: &str, version: &Value) -> Result<(), Problem> {
    // Without quotes YAML reads a number.
    let version = version
        .as_str()
        .map_or_else(|| version.to_string(), str::to_owned);
    if version.starts_with("3.") {
        return Ok(());
    }
    let version = words::clean(&version, 20);
    let message = format!("version `{version}` is not read; 3.0, 3.1, 3.2 and Swagger 2.0 are");
    Err(Problem::new(name, "/openapi", message))
}

/// [`refuse_text`] of a file. One that cannot be read is for the reader of descriptions to refuse.
pub fn refuse_file(path: &Path) -> Result<(), Problem> {
    let mut begin = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(BEGIN_BYTES).read_to_end(&mut begin));
    match read {
        Ok(_) => refuse_text(
            &path.display().to_string(),
            &String::from_utf8_lossy(&begin),
        ),
        Err(_) => Ok(()),
    }
}

/// Refuses a text that is neither JSON nor YAML, with the command for its kind.
pub fn refuse_text(name: &str, text: &str) -> Result<(), Problem> {
    let what = if sdl::is_schema_text(text) {
        "is a GraphQL schema: use `toolgate plugin build --graphql FILE --endpoint URL`"
    } else if curl::is_command(text) {
        "is a `curl` command, from which a description is started: `toolgate plugin new --from FILE`"
    } else {
        return Ok(());
    };
    Err(Problem::new(name, "", what))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_kind_that_goes_another_way_is_named_with_its_command() {
        for (document, said) in [
            (json!({"data": {"__schema": {}}}), "--graphql"),
            (
                json!({"log": {"version": "1.2", "entries": []}}),
                "plugin new --from",
            ),
            (json!({"asyncapi": "3.0.0"}), "AsyncAPI"),
            (json!({"openapi": "4.0.0"}), "version `4.0.0` is not read"),
            (json!({"id": "1", "requests": [], "order": []}), "version 1"),
            (json!({"hello": 1}), "a Postman collection (2.0, 2.1)"),
            (json!([1]), "a Google discovery document"),
        ] {
            let refused = convert("x.json", document.clone()).unwrap_err();
            assert!(refused.message.contains(said), "{document}: {refused}");
        }
        for (text, said) in [
            ("type Query { a: Int }", "--graphql"),
            ("curl https://example.com", "plugin new --from"),
        ] {
            let refused = refuse_text("x", text).unwrap_err();
            assert!(refused.message.contains(said), "{refused}");
        }
        assert!(refuse_text("x", "openapi: 3.1.0").is_ok());
    }

    #[test]
    fn every_kind_that_is_read_becomes_openapi() {
        let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
        for document in [
            json!({"openapi": "3.0.3"}),
            json!({"openapi": "3.1.0"}),
            json!({"openapi": "3.2.0"}),
            json!({"swagger": "2.0"}),
            json!({"kind": "discovery#restDescription", "name": "a"}),
            json!({"info": {"name": "a", "schema": schema}, "item": []}),
        ] {
            let made = convert("x.json", document.clone()).unwrap();
            let version = made.value["openapi"].as_str().unwrap_or_default();
            assert!(version.starts_with("3."), "{document}");
        }
    }
}
