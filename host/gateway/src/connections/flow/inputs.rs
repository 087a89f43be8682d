//! The form of a connect page: what it asks for, and what of the answer is taken.
//!
//! Pure. The connection's parameters come first, then the fields of the slot.

use std::collections::BTreeMap;

use crate::connections::apps;
use toolgate_catalog::manifest::{AuthKind, Manifest, Parameter, Slot};
use toolgate_vault::Secret;

/// Longest value of one input of the form.
pub const FIELD_BYTES_MAX: usize = 16 * 1024;
const PARAMETER_BYTES_MAX: usize = 500;

/// One input of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub key: String,
    pub title: String,
    pub help: Option<String>,
    pub secret: bool,
    pub required: bool,
    pub pattern: Option<String>,
    pub options: Vec<String>,
    /// Its content; never a secret.
    pub value: String,
}

/// The form's inputs: the connection's parameters, then the slot's fields.
pub(super) fn inputs(
    manifest: &Manifest,
    slot: &Slot,
    form: &BTreeMap<String, String>,
) -> Vec<Input> {
    let value = |key: &str| form.get(&format!("p_{key}")).cloned();
    let parameters = manifest.parameters.iter().map(|parameter| Input {
        key: format!("p_{}", parameter.key),
        title: parameter.title.clone(),
        help: parameter.help.clone(),
        secret: false,
        required: parameter.required,
        pattern: parameter.pattern.clone(),
        options: parameter.options.clone(),
        value: value(&parameter.key)
            .or_else(|| parameter.default.clone())
            .unwrap_or_default(),
    });
    let fields = fields(slot)
        .into_iter()
        .map(|(key, title, secret, help)| Input {
            value: if secret {
                String::new()
            } else {
                form.get(&format!("f_{key}")).cloned().unwrap_or_default()
            },
            key: format!("f_{key}"),
            title,
            help,
            secret,
            required: true,
            pattern: None,
            options: Vec::new(),
        });
    parameters.chain(fields).collect()
}

/// Key, title, secret, help of what the user fills in.
fn fields(slot: &Slot) -> Vec<(String, String, bool, Option<String>)> {
    if apps::needs_app(slot) {
        return Vec::new();
    }
    if !slot.fields.is_empty() {
        return slot
            .fields
            .iter()
            .map(|field| {
                (
                    field.key.clone(),
                    field.title.clone(),
                    field.secret,
                    field.help.clone(),
                )
            })
            .collect();
    }
    let plain = |key: &str, title: &str, secret| (key.to_owned(), title.to_owned(), secret, None);
    match slot.kind {
        AuthKind::Basic => vec![
            // Some services take a key as user name.
            plain("username", "User name", true),
            plain("password", "Password", true),
        ],
        _ => vec![plain("secret", &slot.title, true)],
    }
}

/// The slot's values from the form, or the sentence that says what is wrong.
pub(super) fn values(
    slot: &Slot,
    form: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Secret>, String> {
    fields(slot)
        .into_iter()
        .map(|(key, title, _, _)| {
            let value = form
                .get(&format!("f_{key}"))
                .map(|value| value.trim())
                .unwrap_or_default();
            if value.is_empty() {
                return Err(format!("{title} is missing."));
            }
            if value.len() > FIELD_BYTES_MAX || value.chars().any(char::is_control) {
                return Err(format!("{title} is too long or not plain text."));
            }
            Ok((key, Secret::new(value)))
        })
        .collect()
}

/// The connection's parameters from the form, or the sentence that says what is wrong.
pub(super) fn parameters(
    manifest: &Manifest,
    form: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    for parameter in &manifest.parameters {
        let value = form
            .get(&format!("p_{}", parameter.key))
            .map(|value| value.trim())
            .filter(|value| !value.is_empty());
        let value = match (value, &parameter.default) {
            (Some(value), _) => value.to_owned(),
            (None, Some(default)) => default.clone(),
            (None, None) if parameter.required => {
                return Err(format!("{} is missing.", parameter.title));
            }
            (None, None) => continue,
        };
        if !fits(parameter, &value) {
            return Err(format!(
                "{} has a form that {} does not take.",
                parameter.title, manifest.title
            ));
        }
        found.insert(parameter.key.clone(), value);
    }
    Ok(found)
}

fn fits(parameter: &Parameter, value: &str) -> bool {
    let listed = parameter.options.is_empty() || parameter.options.iter().any(|one| one == value);
    let matches = match &parameter.pattern {
        // The lint has accepted the pattern; one that does not compile accepts nothing.
        Some(pattern) => regex::RegexBuilder::new(pattern)
            .size_limit(256 * 1024)
            .build()
            .is_ok_and(|pattern| pattern.is_match(value)),
        None => true,
    };
    value.len() <= PARAMETER_BYTES_MAX && !value.chars().any(char::is_control) && listed && matches
}
