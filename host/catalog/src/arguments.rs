//! Checking a call's arguments against a tool's input schema.
//!
//! Reports every violation, each with a JSON Pointer and a sentence from which the caller can
//! correct the call. Formats are asserted, patterns run in linear time, nothing outside the schema
//! is ever fetched. Bounded: depth of the arguments, number of violations, length of each message.
//! Numbers that fit are then written one way: [`write_integers`].

pub(super) mod coerce;
pub(super) mod places;
pub(super) mod rounded;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::cost::{CHECK_UNITS_MAX, PATTERN_COMPILED_BYTES_MAX, SchemaCost};
use super::parse::push_segment;

/// Deepest nesting of objects and arrays in arguments.
pub const ARGUMENTS_DEPTH_MAX: usize = 32;
/// Most violations reported for one call.
pub const VIOLATIONS_MAX: usize = 100;
/// Most JSON values in arguments, counting each object, array and scalar.
pub const ARGUMENTS_VALUES_MAX: usize = 100_000;
/// Arguments with more JSON values than this get their first violation only.
const VALUES_FULLY_REPORTED_MAX: usize = 20_000;
/// A report of alternatives copies what it is about for each of them: with more bytes of arguments times alternatives,
/// it says only that they do not fit.
const REPORTED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Longest message and longest path of a violation, in characters.
const VIOLATION_CHARS_MAX: usize = 500;
/// Bound of the cache of a `pattern` while it is matched, in bytes.
const PATTERN_CACHE_BYTES_MAX: usize = 1024 * 1024;

/// Why arguments are refused whose check would take too long.
pub(super) const TOO_COSTLY: &str =
    "would take too long to check against the tool's schema; send less at once, with shorter texts";

/// One place where arguments break their schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Violation {
    /// JSON Pointer into the arguments; empty for the arguments as a whole.
    pub path: String,
    pub message: String,
}

/// Compiles a schema. The error is a sentence for the schema's author.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(PATTERN_COMPILED_BYTES_MAX)
                .dfa_size_limit(PATTERN_CACHE_BYTES_MAX),
        )
        .build(schema)
        .map_err(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "the top".to_owned() } else { place };
            if place.contains("/pattern") {
                return clip(&format!(
                    "the pattern at {place} cannot be run in linear time (look-around and back-references cannot) or is too large: {}",
                    error.masked()
                ));
            }
            clip(&format!("{} at {place}", error.masked()))
        })
}

/// What keeps a value from a schema, in a sentence; `None` where it fits.
pub fn value_problem(schema: &Value, value: &Value) -> Option<String> {
    let validator = match compile(schema) {
        Ok(validator) => validator,
        Err(problem) => return Some(problem),
    };
    let cost = SchemaCost::measure(schema);
    if cost.is_some_and(|cost| !cost.is_within(value, CHECK_UNITS_MAX)) {
        return Some(TOO_COSTLY.to_owned());
    }
    let first = violations(&validator, schema, value).into_iter().next()?;
    Some(
        format!("{} {}", first.path, first.message)
            .trim()
            .to_owned(),
    )
}

/// Whether a value fits a schema. A schema that cannot be used fits nothing.
pub fn is_valid(schema: &RawValue, value: &Value) -> bool {
    let schema: Option<Value> = serde_json::from_str(schema.get()).ok();
    schema
        .and_then(|schema| compile(&schema).ok())
        .is_some_and(|validator| validator.is_valid(value))
}

/// Every violation of `arguments`, at most [`VIOLATIONS_MAX`], sorted by path.
pub(super) fn violations(
    validator: &Validator,
    schema: &Value,
    arguments: &Value,
) -> Vec<Violation> {
    let mut values = 0;
    if !within(arguments, ARGUMENTS_DEPTH_MAX, &mut values) {
        return vec![Violation {
            path: String::new(),
            message: format!("nested deeper than {ARGUMENTS_DEPTH_MAX} levels"),
        }];
    }
    if values > ARGUMENTS_VALUES_MAX {
        return vec![Violation {
            path: String::new(),
            message: format!("more than {ARGUMENTS_VALUES_MAX} values; send less at once"),
        }];
    }
    if validator.is_valid(arguments) {
        return Vec::new();
    }
    let bytes = bytes_of(arguments);
    if bytes.saturating_mul(alternatives(schema)) > REPORTED_BYTES_MAX {
        return vec![Violation {
            path: String::new(),
            message: format!(
                "do not fit the tool's schema; {bytes} bytes are too many to say where, so try with shorter values"
            ),
        }];
    }
    let mut found = Vec::new();
    if values > VALUES_FULLY_REPORTED_MAX {
        if let Err(first) = validator.validate(arguments) {
            report(&first, schema, &mut found);
        }
    } else {
        for error in validator.iter_errors(arguments) {
            report(&error, schema, &mut found);
            if found.len() >= VIOLATIONS_MAX {
                break;
            }
        }
    }
    found.truncate(VIOLATIONS_MAX);
    found.sort_by(|a, b| (&a.path, &a.message).cmp(&(&b.path, &b.message)));
    found.dedup();
    found
}

/// Whether arguments are neither too deep nor too many to look inside.
pub(super) fn is_readable(arguments: &Value) -> bool {
    let mut values = 0;
    within(arguments, ARGUMENTS_DEPTH_MAX, &mut values) && values <= ARGUMENTS_VALUES_MAX
}

/// Writes whole numbers as integers in arguments that fit their schema: `7.0`, which clients send
/// whose numbers are all floating point, is the integer 7 in JSON Schema, but neither in an address
/// nor to a plugin that reads an integer. Where the schema asks for any number the two are equal.
/// Numbers past 2^53 stay: there a floating point number no longer names one integer.
pub fn write_integers(arguments: &mut Value) {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    match arguments {
        Value::Array(items) => items.iter_mut().for_each(write_integers),
        Value::Object(map) => map.values_mut().for_each(write_integers),
        Value::Number(number) if number.is_f64() => {
            let whole = number
                .as_f64()
                .filter(|n| n.fract() == 0.0 && n.abs() < EXACT_MAX);
            if let Some(whole) = whole {
                *arguments = (whole as i64).into();
            }
        }
        _ => {}
    }
}

fn within(value: &Value, depth: usize, values: &mut usize) -> bool {
    *values += 1;
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|v| within(v, depth - 1, values)),
        Value::Object(map) => depth > 0 && map.values().all(|v| within(v, depth - 1, values)),
        _ => true,
    }
}

/// Bytes of all texts and names.
fn bytes_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes_of).sum(),
        Value::Object(map) => map.iter().map(|(name, v)| name.len() + bytes_of(v)).sum(),
        _ => 8,
    }
}

/// How many alternatives a schema names; one where it names none.
fn alternatives(schema: &Value) -> usize {
    fn count(schema: &Value) -> usize {
        match schema {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(map) => {
                let own = ["anyOf", "oneOf"]
                    .iter()
                    .filter_map(|word| map.get(*word)?.as_array());
                own.map(Vec::len).sum::<usize>() + map.values().map(count).sum::<usize>()
            }
            _ => 0,
        }
    }
    count(schema).max(1)
}

fn report(error: &ValidationError<'_>, schema: &Value, found: &mut Vec<Violation>) {
    let path = error.instance_path().to_string();
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            found.push(violation(
                below(&path, name),
                "is required and missing".to_owned(),
            ));
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = known_names(error, schema);
            for name in unexpected.iter().take(VIOLATIONS_MAX) {
                found.push(violation(
                    below(&path, name),
                    format!("is not accepted here{known}"),
                ));
            }
        }
        _ => found.push(violation(path, sentence(error, schema))),
    }
}

/// The names that the schema knows where an unexpected one was found.
fn known_names(error: &ValidationError<'_>, schema: &Value) -> String {
    let place = error.schema_path().to_string();
    let names = place
        .rsplit_once('/')
        .and_then(|(parent, _)| schema.pointer(&format!("{parent}/properties")))
        .and_then(Value::as_object);
    match names {
        Some(names) if !names.is_empty() => {
            let names: Vec<&str> = names.keys().take(40).map(String::as_str).collect();
            format!("; known names: {}", names.join(", "))
        }
        _ => String::new(),
    }
}

fn sentence(error: &ValidationError<'_>, schema: &Value) -> String {
    match error.kind() {
        Kind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(kind) => kind.to_string(),
                TypeKind::Multiple(kinds) => kinds
                    .iter()
                    .map(|kind| kind.to_string())
                    .collect::<Vec<_>>()
                    .join(" or "),
            };
            format!("must be {expected}, not {}", kind_of(error.instance()))
        }
        Kind::Enum { options } => format!("must be one of {}", list(options)),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} entries"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} entries"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::Pattern { pattern } => format!("must match the pattern {pattern}"),
        Kind::Format { format } => format!("must be in the format `{format}`"),
        Kind::UniqueItems => "must not contain the same item twice".to_owned(),
        Kind::Contains => "must contain an item of the kind that the schema names".to_owned(),
        Kind::FalseSchema => "is not accepted here".to_owned(),
        Kind::Not { .. } => "has a form that the schema excludes".to_owned(),
        Kind::PropertyNames { error } => {
            format!("has an entry whose name {}", sentence(error, schema))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            nearest(error, schema, context)
        }
        Kind::OneOfMultipleValid { .. } => {
            "fits several of the alternatives of which it must fit exactly one".to_owned()
        }
        _ => error.masked_with("the value").to_string(),
    }
}

/// What keeps a value from the alternative it comes closest to.
fn nearest(
    error: &ValidationError<'_>,
    schema: &Value,
    alternatives: &[Vec<ValidationError<'static>>],
) -> String {
    let base = error.instance_path().to_string();
    // An alternative of another type is further away than one with several small faults.
    let distance = |errors: &Vec<ValidationError<'static>>| {
        let other_type = errors.iter().any(|e| {
            matches!(e.kind(), Kind::Type { .. }) && e.instance_path().to_string() == base
        });
        (other_type, errors.len())
    };
    let count = alternatives.len();
    let Some(best) = alternatives.iter().min_by_key(|errors| distance(errors)) else {
        return "fits none of the alternatives".to_owned();
    };
    if distance(best).0 {
        let mut kinds: Vec<String> = alternatives
            .iter()
            .flatten()
            .filter(|e| e.instance_path().to_string() == base)
            .map(|e| sentence(e, schema))
            .collect();
        kinds.dedup();
        return format!("fits none of {count} alternatives: {}", kinds.join("; or "));
    }
    let mut inner = Vec::new();
    for error in best.iter().take(5) {
        report(error, schema, &mut inner);
    }
    let faults: Vec<String> = inner
        .iter()
        .take(5)
        .map(|v| match v.path.strip_prefix(&base).unwrap_or(&v.path) {
            "" => v.message.clone(),
            path => format!("{path} {}", v.message),
        })
        .collect();
    format!(
        "fits none of {count} alternatives; nearest: {}",
        faults.join("; ")
    )
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn list(options: &Value) -> String {
    match options.as_array() {
        Some(all) if all.len() > 30 => {
            let first: Vec<String> = all.iter().take(30).map(Value::to_string).collect();
            format!("{} and {} more", first.join(", "), all.len() - 30)
        }
        Some(all) => all
            .iter()
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join(", "),
        None => options.to_string(),
    }
}

fn below(path: &str, name: &str) -> String {
    let mut path = path.to_owned();
    push_segment(&mut path, name);
    path
}

fn violation(path: String, message: String) -> Violation {
    Violation {
        path: clip(&path),
        message: clip(&message),
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(VIOLATION_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
