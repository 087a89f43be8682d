//! Values in the place of those of a connection, where a request is planned without one.

use std::collections::BTreeMap;

use super::manifest::{Manifest, Parameter};

/// What most parameters accept: a name, a number, a region, a key, an identifier.
const GUESSES: [&str; 6] = [
    "example",
    "1",
    "us1",
    "EXAMPLE",
    "a1b2c3d4",
    "00000000-0000-4000-8000-000000000000",
];

/// A value for every connection parameter, and for those that a token response would tell.
pub fn parameters(manifest: &Manifest) -> BTreeMap<String, String> {
    let told = manifest
        .auth
        .iter()
        .flat_map(|slot| slot.token_parameters.keys())
        .map(|key| (key.clone(), GUESSES[0].to_owned()));
    let asked = manifest
        .parameters
        .iter()
        .map(|parameter| (parameter.key.clone(), value(parameter)));
    told.chain(asked).collect()
}

/// The default, the first option, or the first guess that fits.
fn value(parameter: &Parameter) -> String {
    let known = parameter
        .default
        .clone()
        .or_else(|| parameter.options.first().cloned());
    let pattern = parameter
        .pattern
        .as_deref()
        .and_then(|pattern| regex::Regex::new(pattern).ok());
    let fits = |text: &&str| {
        pattern
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(text))
    };
    known.unwrap_or_else(|| {
        let guess = GUESSES.into_iter().find(fits);
        guess.unwrap_or(GUESSES[0]).to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::parameters;
    use crate::Manifest;
    use crate::fixture::MANIFESTS;
    use crate::manifest::Parameter;

    #[test]
    fn a_stand_in_is_the_default_an_option_or_what_the_pattern_allows() {
        let parameter = |key: &str, rest: serde_json::Value| -> Parameter {
            let mut whole = serde_json::json!({ "key": key, "title": key });
            whole
                .as_object_mut()
                .unwrap()
                .extend(rest.as_object().unwrap().clone());
            serde_json::from_value(whole).unwrap()
        };
        let mut manifest = Manifest::parse(MANIFESTS[0]).unwrap();
        manifest.parameters = vec![
            parameter("region", serde_json::json!({ "default": "eu" })),
            parameter("cluster", serde_json::json!({ "enum": ["a", "b"] })),
            parameter("site", serde_json::json!({})),
            parameter("account", serde_json::json!({ "pattern": "^[0-9]+$" })),
        ];
        let made = parameters(&manifest);
        for (key, value) in [
            ("region", "eu"),
            ("cluster", "a"),
            ("site", "example"),
            ("account", "1"),
        ] {
            assert_eq!(made[key], value, "{key}");
        }
    }
}
