//! The words of the macro against the schema of the manifest.

use serde_json::Value;

use super::shape::{
    ACCOUNT, CONFIG, FIELD, LIMITS, PARAMETER, SIGNATURE, SLOT, TOP, TRIGGER, WEBHOOK,
};

fn schema() -> Value {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../../docs/manifest.schema.json"
    );
    let text = std::fs::read_to_string(file).expect("the schema is in the repository");
    serde_json::from_str(&text).expect("JSON")
}

/// The keys of one object of the schema, with whether each has to be there.
fn keys(object: &Value) -> Vec<(String, bool)> {
    let required = object["required"].as_array();
    let needed = |key: &str| required.into_iter().flatten().any(|one| one == key);
    let properties = object["properties"].as_object().expect("properties");
    let mut keys: Vec<_> = properties
        .keys()
        .map(|key| (key.clone(), needed(key)))
        .collect();
    keys.sort();
    keys
}

#[test]
fn the_words_of_the_macro_are_those_of_the_manifest() {
    let schema = schema();
    for (name, shape) in [
        ("Slot", SLOT),
        ("SecretField", FIELD),
        ("AccountProbe", ACCOUNT),
        ("Parameter", PARAMETER),
        ("ConfigKey", CONFIG),
        ("DeclaredLimits", LIMITS),
        ("HookSpec", WEBHOOK),
        ("HookSignature", SIGNATURE),
        ("TriggerSpec", TRIGGER),
    ] {
        let mut known: Vec<(String, bool)> = shape
            .iter()
            .map(|(key, needed)| ((*key).to_owned(), *needed))
            .collect();
        known.sort();
        assert_eq!(known, keys(&schema["$defs"][name]), "{name}");
    }
    // The macro writes these itself, and takes the version from the package.
    let own = ["manifest", "tools", "version"];
    let mut known: Vec<(String, bool)> = TOP
        .iter()
        .map(|(key, needed)| ((*key).to_owned(), *needed))
        .filter(|(key, _)| !own.contains(&key.as_str()))
        .collect();
    known.sort();
    let mut all = keys(&schema);
    all.retain(|(key, _)| !own.contains(&key.as_str()));
    assert_eq!(known, all);
}
