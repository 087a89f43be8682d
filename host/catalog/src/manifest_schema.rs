//! The JSON Schema of the manifest, made of the types that read it. Editors, the SDKs' words and the
//! documentation are held to `docs/manifest.schema.json`; this keeps that file current.

use std::path::Path;

use serde_json::{Value, json};

use crate::Schema;
use crate::manifest::{Manifest, Placement, SECTION};

impl schemars::JsonSchema for Schema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Schema".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "JSON Schema 2020-12 of an object.",
            "type": "object",
        })
    }
}

/// A placement, or a list of them.
pub(crate) fn one_or_many(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let one = generator.subschema_for::<Placement>();
    schemars::json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
}

fn generated() -> Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(Manifest)).expect("JSON");
    schema["$comment"] = json!(format!(
        "The document that a plugin's component carries in its custom section {SECTION}. \
         The gateway checks more than a schema can say: `toolgate plugin check` checks a file."
    ));
    // What serde writes is not what an author has to write.
    schema["title"] = json!("Manifest of a toolgate plugin");
    schema
}

#[test]
fn the_file_in_docs_is_what_the_types_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manifest.schema.json");
    let text = serde_json::to_string_pretty(&generated()).expect("JSON") + "\n";
    if std::env::var_os("INSTA_UPDATE").is_some_and(|wish| wish == "always") {
        std::fs::write(&file, &text).expect("docs can be written");
    }
    let kept = std::fs::read_to_string(&file).expect("docs/manifest.schema.json is there");
    assert!(
        kept == text,
        "docs/manifest.schema.json is not current: INSTA_UPDATE=always cargo test -p toolgate-catalog manifest_schema"
    );
}

#[test]
fn the_schema_takes_what_the_types_take_and_refuses_unknown_keys() {
    let schema = generated();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let manifest = json!({
        "manifest": 1, "service": "notes", "title": "Notes", "version": "1.0.0", "description": "Notes.",
        "hosts": ["api.example.com"], "capabilities": ["egress"],
        "auth": [{
            "slot": "user", "title": "Key", "type": "api_key", "audience": ["https://api.example.com"],
            "placement": { "header": "x-key" },
        }],
        "limits": { "timeout_ms": 5 },
        "webhook": { "signature": { "header": "x-sign", "signed": "{body}", "timestamp": { "header": "x-time" } } },
        "tools": [{ "name": "list", "description": "Lists.", "input": { "type": "object" }, "effect": "read" }],
    });
    assert!(
        validator.is_valid(&manifest),
        "{:?}",
        validator
            .iter_errors(&manifest)
            .map(|e| e.to_string())
            .collect::<Vec<_>>()
    );
    assert!(Manifest::parse(&manifest.to_string()).is_ok());
    for (place, value) in [
        ("/rights", json!([])),
        ("/capabilities", json!(["sockets"])),
        ("/service", json!("Notes")),
        ("/tools/0/effect", json!("reads")),
        ("/auth/0/type", json!("digest")),
        ("/auth/0/secret", json!("x")),
        ("/tools/0/run", json!(true)),
    ] {
        let mut wrong = manifest.clone();
        let (parent, key) = place.rsplit_once('/').expect("a pointer");
        wrong.pointer_mut(parent).expect("there")[key] = value;
        assert!(!validator.is_valid(&wrong), "{place}");
    }
}
