//! What each place of a manifest is. The one list of what is harmless; all else is a right.

use serde_json::Value;

use super::super::hosts;

/// How two values at a place are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompareRule {
    /// Key by key, and every difference is a right.
    Exact,
    /// A name of the version, which asks for nothing.
    Free,
    /// Read by people and models, of whom it asks nothing: bounded, shown.
    Text,
    /// A list of texts without order, to which something is added or from which it is taken.
    Set,
    /// A list of objects that this key names.
    Named(NamedList),
    /// A bound: a smaller one is less.
    AtMost,
    /// Something that narrows: where it was not, less is asked for; every other difference is a right.
    Restriction,
    /// A JSON Schema. `grows`: it says what a tool takes.
    Schema { grows: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedList {
    pub key: &'static str,
    /// The first of them counts for more.
    pub ordered: bool,
    /// Without one of them the plugin may do less.
    pub less_without: bool,
}

/// The rule of a place. `*` is the name of any object in a list.
///
/// Texts of connect forms and of operators' settings are not harmless texts: they say what a person
/// types in. Neither are the titles and the homepage that the page shows which asks for a credential.
pub(super) fn rule_for(place: &[&str]) -> CompareRule {
    match place {
        ["version"] => CompareRule::Free,
        ["description" | "categories"]
        | [
            "tools",
            "*",
            "description" | "keywords" | "requests" | "examples" | "deprecated",
        ]
        | ["tools", "*", "triggers", "*", "title" | "description"] => CompareRule::Text,
        ["hosts" | "capabilities"]
        | ["auth", "*", "scopes" | "audience"]
        | ["tools", "*", "scopes" | "queries"] => CompareRule::Set,
        ["tools"] | ["tools", "*", "triggers"] => CompareRule::Named(NamedList {
            key: "name",
            ordered: false,
            less_without: true,
        }),
        ["auth"] => CompareRule::Named(NamedList {
            key: "slot",
            ordered: true,
            less_without: true,
        }),
        ["parameters" | "config"] | ["auth", "*", "fields"] => CompareRule::Named(NamedList {
            key: "key",
            ordered: true,
            less_without: false,
        }),
        ["limits", _] => CompareRule::AtMost,
        ["tools", "*", "request"] => CompareRule::Restriction,
        ["tools", "*", "input"] => CompareRule::Schema { grows: true },
        ["tools", "*", "output"] => CompareRule::Schema { grows: false },
        _ => CompareRule::Exact,
    }
}

/// Whether what was approved at a [`CompareRule::Set`] covers `asked` without naming it.
pub(super) fn covers(place: &[&str], old: &str, asked: &str) -> bool {
    match place {
        ["hosts"] => hosts::covers(old, asked),
        ["auth", "*", "audience"] => {
            old.trim_end_matches('/') == asked.trim_end_matches('/')
                || hosts::covers_origin(old, asked)
        }
        _ => false,
    }
}

/// What a keyword of a JSON Schema holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// Says something about the value and decides nothing.
    Annotation,
    /// Schemas by name. `properties`: names of arguments.
    Map {
        properties: bool,
    },
    /// One schema; `grows`: arguments are in it.
    One {
        grows: bool,
    },
    List,
    Other,
}

pub(super) fn keyword(name: &str, value: &Value) -> Keyword {
    match name {
        "title" | "description" | "$comment" if value.is_string() => Keyword::Annotation,
        "examples" if value.is_array() => Keyword::Annotation,
        "properties" => Keyword::Map { properties: true },
        "$defs" | "definitions" | "patternProperties" | "dependentSchemas" => {
            Keyword::Map { properties: false }
        }
        "items" | "additionalProperties" => Keyword::One { grows: true },
        "unevaluatedItems"
        | "unevaluatedProperties"
        | "contains"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else" => Keyword::One { grows: false },
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Keyword::List,
        _ => Keyword::Other,
    }
}
