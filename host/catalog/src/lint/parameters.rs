//! Connection parameters and operator settings.
//!
//! A parameter in a host is a part of one DNS label: the characters that its pattern accepts
//! are checked, so that no value can add a dot, a slash or a port.

use std::collections::HashSet;

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::{Lint, ManifestPath, NAME_RULE, is_name, schema, text};
use crate::manifest::{Manifest, Parameter};

const PARAMETERS_MAX: usize = 20;
const CONFIG_KEYS_MAX: usize = 50;
const PATTERN_BYTES_MAX: usize = 500;
/// Bound of a compiled pattern, in bytes.
const PATTERN_COMPILED_BYTES_MAX: usize = 256 * 1024;

/// Whether a connection has a parameter of this name, from its user or from a token answer.
pub(in crate::lint) fn is_known(manifest: &Manifest, name: &str) -> bool {
    let mut slots = manifest.auth.iter();
    manifest.parameters.iter().any(|one| one.key == name)
        || slots.any(|slot| slot.token_parameters.contains_key(name))
}

pub(super) fn check(manifest: &Manifest, found: &mut Lint) {
    let root = ManifestPath::Root;
    let at = root.key("parameters");
    if manifest.parameters.len() > PARAMETERS_MAX {
        found.error(&at, format!("at most {PARAMETERS_MAX} parameters"));
    }
    let mut seen = HashSet::new();
    for (i, parameter) in manifest.parameters.iter().take(PARAMETERS_MAX).enumerate() {
        let at = at.index(i);
        if !seen.insert(parameter.key.as_str()) {
            found.error(
                &at,
                format!(
                    "the parameter `{}` is declared twice",
                    text::shown(&parameter.key)
                ),
            );
        }
        one(parameter, found, &at);
    }

    let at = root.key("config");
    if manifest.config.len() > CONFIG_KEYS_MAX {
        found.error(&at, format!("at most {CONFIG_KEYS_MAX} settings"));
    }
    let mut seen = HashSet::new();
    for (i, key) in manifest.config.iter().take(CONFIG_KEYS_MAX).enumerate() {
        let at = at.index(i);
        if !is_name(&key.key) || key.key.len() > 64 {
            found.error(
                &at,
                format!("the setting `{}` must {NAME_RULE}", text::shown(&key.key)),
            );
        }
        if !seen.insert(key.key.as_str()) {
            found.error(
                &at,
                format!("the setting `{}` is declared twice", text::shown(&key.key)),
            );
        }
        text::check(found, &at.key("title"), "title", &key.title, 1, 200);
        let schema_at = at.key("schema");
        schema::check(found, &schema_at, &key.schema);
        if key.adds_host && key.schema.get("type").and_then(|t| t.as_str()) != Some("string") {
            found.error(
                &schema_at,
                "a setting that adds a host is an address: use `type: string`",
            );
        }
    }
}

fn one(parameter: &Parameter, found: &mut Lint, at: &ManifestPath<'_>) {
    if !is_name(&parameter.key) || parameter.key.len() > 64 {
        found.error(
            at,
            format!(
                "the parameter `{}` must {NAME_RULE}",
                text::shown(&parameter.key)
            ),
        );
    }
    text::check(found, &at.key("title"), "title", &parameter.title, 1, 200);
    if let Some(help) = &parameter.help {
        text::check(found, &at.key("help"), "help text", help, 0, 2_000);
    }
    if parameter.options.len() > 500
        || parameter
            .options
            .iter()
            .any(|o| o.is_empty() || o.len() > 200)
    {
        found.error(&at.key("enum"), "at most 500 options of 1 to 200 bytes");
    }
    let compiled = parameter.pattern.as_deref().map(compile);
    if let Some(Err(problem)) = &compiled {
        found.error(&at.key("pattern"), problem.as_str());
    }
    if let Some(default) = &parameter.default {
        let listed = parameter.options.is_empty() || parameter.options.contains(default);
        let fits = match &compiled {
            Some(Ok(pattern)) => pattern.is_match(default),
            _ => true,
        };
        if !listed || !fits {
            found.error(
                &at.key("default"),
                "the default is not a value that the parameter accepts",
            );
        }
    }
}

fn compile(pattern: &str) -> Result<regex::Regex, String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!(
            "the pattern is longer than {PATTERN_BYTES_MAX} bytes"
        ));
    }
    if !is_anchored(pattern) {
        return Err("anchor the pattern: start it with `^` and end it with `$`".to_owned());
    }
    regex::RegexBuilder::new(pattern)
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        .build()
        .map_err(|_| "the pattern is not a regular expression that can be run in linear time (look-around and back-references cannot), or it is too large".to_owned())
}

/// Checks that each parameter named in a host is declared and can only be part of a DNS label.
pub(super) fn check_host_parameters(
    manifest: &Manifest,
    found: &mut Lint,
    at: &ManifestPath<'_>,
    names: &[&str],
) {
    for name in names {
        let from_token = manifest
            .auth
            .iter()
            .any(|slot| slot.token_parameters.contains_key(*name));
        match manifest
            .parameters
            .iter()
            .find(|parameter| parameter.key == *name)
        {
            None if from_token => {}
            None => found.error(
                at,
                format!(
                    "`{{{}}}` is neither in `parameters` nor in a slot's `token_parameters`",
                    text::shown(name)
                ),
            ),
            Some(parameter) => {
                let listed = !parameter.options.is_empty();
                if listed && !parameter.options.iter().all(|option| is_label_part(option)) {
                    found.error(
                        at,
                        format!("an option of `{name}` is not part of a DNS label (a-z, 0-9, `-`)"),
                    );
                }
                let safe = parameter.pattern.as_deref().is_some_and(stays_in_label);
                if !listed && !safe {
                    found.error(
                        at,
                        format!(
                            "the parameter `{name}` is part of a host, so it needs an `enum` or an anchored `pattern` that allows only a-z, 0-9 and `-`, such as ^[a-z0-9-]+$"
                        ),
                    );
                }
            }
        }
    }
}

fn is_label_part(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_label_byte)
}

fn is_label_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'-'
}

fn is_anchored(pattern: &str) -> bool {
    let Ok(hir) = regex_syntax::parse(pattern) else {
        return true; // refused for its own reason
    };
    let HirKind::Concat(parts) = hir.kind() else {
        return false;
    };
    matches!(
        parts.first().map(Hir::kind),
        Some(HirKind::Look(Look::Start))
    ) && matches!(parts.last().map(Hir::kind), Some(HirKind::Look(Look::End)))
}

/// Whether every text that the anchored pattern matches consists of label characters. Sound, not
/// complete: it looks at the characters the pattern mentions.
fn stays_in_label(pattern: &str) -> bool {
    fn only_label_characters(hir: &Hir) -> bool {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => literal.0.iter().copied().all(is_label_byte),
            HirKind::Class(Class::Unicode(class)) => class.iter().all(|range| {
                range.end() <= 'z' && (range.start()..=range.end()).all(|c| is_label_byte(c as u8))
            }),
            HirKind::Class(Class::Bytes(class)) => class
                .iter()
                .all(|range| (range.start()..=range.end()).all(is_label_byte)),
            HirKind::Repetition(repetition) => only_label_characters(&repetition.sub),
            HirKind::Capture(capture) => only_label_characters(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                parts.iter().all(only_label_characters)
            }
        }
    }
    pattern.len() <= PATTERN_BYTES_MAX
        && is_anchored(pattern)
        && regex_syntax::parse(pattern).is_ok_and(|hir| only_label_characters(&hir))
}

#[cfg(test)]
mod tests {
    use super::{compile, stays_in_label};

    #[test]
    fn only_a_pattern_of_label_characters_may_stand_in_a_host() {
        for pattern in [
            "^[a-z0-9-]+$",
            "^[a-z0-9][a-z0-9-]{0,62}$",
            "^(eu|us)[0-9]?$",
            "^acme$",
            "^[a-zA-Z0-9-]+$",
        ] {
            assert!(stays_in_label(pattern), "{pattern}");
        }
        for pattern in [
            "[a-z]+",
            "^[a-z]+",
            "[a-z]+$",
            "^.+$",
            "^[a-z.]+$",
            r"^\w+$",
            r"^[^/]+$",
            "^a|b$",
            "^[a-z]+\n?$",
            "^\u{e9}$",
            "(?m)^[a-z]+$",
            "^(?s:.)$",
            "^[[:word:]]+$",
            "^[",
            "",
        ] {
            assert!(!stays_in_label(pattern), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_could_be_slow_or_huge_is_refused() {
        assert!(compile("^[a-z]{1,63}$").is_ok());
        assert!(compile("^(?=a)a$").is_err());
        assert!(compile("^((a{1000}){1000}){1000}$").is_err());
        assert!(compile(&format!("^{}$", "a".repeat(600))).is_err());
    }
}
