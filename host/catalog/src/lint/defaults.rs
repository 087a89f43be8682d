//! Defaults that their own schema refuses: more than the maximum, none of the enumeration.
//!
//! An agent that sends such a default is refused, and what the plugin does when it is left out is
//! anybody's guess.

use serde_json::Value;

use super::{Lint, ManifestPath};
use crate::arguments;

/// Most defaults of one schema that are tried.
const DEFAULTS_MAX: usize = 200;

/// Tries every default of a schema that is usable.
pub(super) fn check(schema: &Value, found: &mut Lint, at: &ManifestPath<'_>) {
    let mut left = DEFAULTS_MAX;
    DefaultCheck { root: schema }.visit(schema, found, at, &mut left);
}

struct DefaultCheck<'a> {
    root: &'a Value,
}

impl DefaultCheck<'_> {
    fn visit(&self, schema: &Value, found: &mut Lint, at: &ManifestPath<'_>, left: &mut usize) {
        let Value::Object(members) = schema else {
            return;
        };
        if let Some(default) = members.get("default") {
            if *left == 0 {
                return;
            }
            *left -= 1;
            if let Some(why) = self.refusal(schema, default) {
                found.warn(
                    &at.key("default"),
                    format!("the default does not fit its own schema: {why}"),
                );
            }
        }
        for keyword in ["properties", "$defs", "patternProperties"] {
            let below = at.key(keyword);
            let named = members.get(keyword).and_then(Value::as_object);
            for (name, one) in named.into_iter().flatten() {
                self.visit(one, found, &below.key(name), left);
            }
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(one) = members.get(keyword) {
                self.visit(one, found, &at.key(keyword), left);
            }
        }
        for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            let below = at.key(keyword);
            let listed = members.get(keyword).and_then(Value::as_array);
            for (index, one) in listed.into_iter().flatten().enumerate() {
                self.visit(one, found, &below.index(index), left);
            }
        }
    }

    /// Why the schema refuses its default. None also where it refers to another place than `$defs`:
    /// then it cannot be tried alone.
    fn refusal(&self, schema: &Value, default: &Value) -> Option<String> {
        let mut alone = schema.clone();
        if let (Some(definitions), Some(members)) = (self.root.get("$defs"), alone.as_object_mut())
        {
            members.insert("$defs".to_owned(), definitions.clone());
        }
        let validator = arguments::compile(&alone).ok()?;
        let first = arguments::violations(&validator, &alone, default)
            .into_iter()
            .next()?;
        Some(
            format!("{} {}", first.path, first.message)
                .trim()
                .to_owned(),
        )
    }
}
