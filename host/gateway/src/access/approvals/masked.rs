//! Arguments and planned requests as an approver reads them: secrets hidden. Pure.
//!
//! Hidden is what the tool's schema calls a password or write-only, what is named like a credential,
//! and what looks like one. A value that is hidden in the arguments is hidden in the requests too.

use serde_json::{Map, Value};
use url::form_urlencoded;

use toolgate_egress::PlannedRequest;

/// Stands in place of a secret.
pub(super) const HIDDEN: &str = "[hidden]";
/// Longer arguments are cut.
const SHOWN_BYTES_MAX: usize = 64 * 1024;
/// A shorter secret is hidden at its own place alone, or half of a text would be.
const SPREAD_BYTES_MIN: usize = 4;
const DEPTH_MAX: usize = 100;

/// Names of credentials, in lower case without separators: these whole, or at the end of a longer one.
const NAMES: [&str; 22] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secretkey",
    "clientsecret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "authorization",
    "credential",
    "credentials",
    "cookie",
    "otp",
    "cvv",
    "cvc",
    "pin",
];
/// Too short to be looked for at the end of another word.
const WHOLE_NAMES: [&str; 4] = ["otp", "cvv", "cvc", "pin"];
/// Tokens that point into a list and open nothing.
const PLACES: [&str; 8] = [
    "page",
    "next",
    "nextpage",
    "prevpage",
    "previouspage",
    "sync",
    "nextsync",
    "continuation",
];
/// How well-known credentials begin.
const PREFIXES: [&str; 17] = [
    "tg_live_",
    "tg_oat_",
    "tg_ort_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "sk-",
    "sk_live_",
    "rk_live_",
    "AKIA",
    "eyJ",
    "-----BEGIN",
];

/// Arguments without secrets, and the secrets that were taken out.
pub(super) struct Masked {
    pub arguments: Value,
    secrets: Vec<String>,
}

/// Hides the secrets of `arguments`. `schema`: the tool's input schema.
pub(super) fn mask(mut arguments: Value, schema: &Value) -> Masked {
    let mut secrets = Vec::new();
    hide(&mut arguments, &[schema], &mut secrets, 0);
    let bytes = arguments.to_string().len();
    if bytes > SHOWN_BYTES_MAX {
        let text = arguments.to_string();
        let end = text.floor_char_boundary(SHOWN_BYTES_MAX);
        arguments = Value::String(format!("{}... [{bytes} bytes in all]", &text[..end]));
    }
    secrets.retain(|secret| secret.len() >= SPREAD_BYTES_MIN);
    // The longest first: one may be a part of another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.dedup();
    Masked { arguments, secrets }
}

impl Masked {
    /// Planned requests without the secrets of the arguments.
    pub(super) fn requests(&self, planned: &[PlannedRequest]) -> Vec<PlannedRequest> {
        let clean = |text: &str| self.clean(text);
        let shown = planned.iter().map(|request| PlannedRequest {
            method: request.method.clone(),
            url: clean(&request.url),
            headers: request
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), clean(value)))
                .collect(),
            body: clean(&request.body),
        });
        shown.collect()
    }

    fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            let quoted = Value::String(secret.clone()).to_string();
            let encoded: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            let percent = encoded.replace('+', "%20");
            for form in [
                secret.as_str(),
                &quoted[1..quoted.len() - 1],
                &encoded,
                &percent,
            ] {
                text = text.replace(form, HIDDEN);
            }
        }
        text
    }
}

/// `schemas`: all that may describe this value.
fn hide(value: &mut Value, schemas: &[&Value], secrets: &mut Vec<String>, depth: usize) {
    if depth > DEPTH_MAX {
        take(value, secrets);
        return;
    }
    let schemas: Vec<&Value> = schemas.iter().flat_map(|one| branches(one, 0)).collect();
    if schemas.iter().any(|schema| says_secret(schema)) {
        take(value, secrets);
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                if names_secret(name) && !field.is_boolean() && !field.is_number() {
                    take(field, secrets);
                } else {
                    hide(field, &field_schemas(&schemas, name), secrets, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            let of_items: Vec<&Value> = schemas.iter().filter_map(|one| one.get("items")).collect();
            for item in items {
                hide(item, &of_items, secrets, depth + 1);
            }
        }
        Value::String(text) if looks_secret(text) => take(value, secrets),
        _ => {}
    }
}

fn take(value: &mut Value, secrets: &mut Vec<String>) {
    texts(value, secrets);
    *value = Value::String(HIDDEN.to_owned());
}

/// Every text in a value, and its numbers.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// A schema and what it is put together from.
fn branches(schema: &Value, depth: usize) -> Vec<&Value> {
    let mut all = vec![schema];
    if depth < 8 {
        for word in ["allOf", "anyOf", "oneOf"] {
            for one in schema
                .get(word)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                all.extend(branches(one, depth + 1));
            }
        }
    }
    all
}

fn field_schemas<'a>(schemas: &[&'a Value], name: &str) -> Vec<&'a Value> {
    let field = |schema: &&'a Value| -> Option<&'a Value> {
        let properties: Option<&'a Map<String, Value>> = schema.get("properties")?.as_object();
        properties?
            .get(name)
            .or_else(|| schema.get("additionalProperties"))
    };
    schemas.iter().filter_map(field).collect()
}

fn says_secret(schema: &Value) -> bool {
    schema["format"] == "password" || schema["writeOnly"] == true || schema["x-secret"] == true
}

fn names_secret(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if PLACES.iter().any(|place| plain == format!("{place}token")) {
        return false;
    }
    NAMES
        .iter()
        .any(|known| plain == *known || (!WHOLE_NAMES.contains(known) && plain.ends_with(known)))
}

fn looks_secret(text: &str) -> bool {
    let body = |prefix: &str| {
        text.strip_prefix(prefix)
            .is_some_and(|rest| rest.len() >= 12)
    };
    PREFIXES.iter().any(|prefix| body(prefix)) && !text.contains(' ')
        || text.starts_with("-----BEGIN")
        || text
            .get(..7)
            .is_some_and(|word| word.eq_ignore_ascii_case("bearer "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_secret_by_schema_name_or_shape_is_hidden() {
        let schema = json!({"type": "object", "properties": {
            "card": {"type": "string", "format": "password"},
            "deep": {"type": "array", "items": {"anyOf": [
                {"type": "object", "properties": {"code": {"writeOnly": true}}}, {"type": "null"}]}},
        }});
        let arguments = json!({
            "title": "A new engine", "card": "4111-1111", "page_token": "abc", "max_tokens": 5,
            "deep": [{"code": {"a": "inner-secret"}}], "db_password": "hunter22", "apiKey": "k-123456",
            "note": "ghp_0123456789abcdef", "spin": "left", "pin": "1234",
        });
        let masked = mask(arguments, &schema);
        assert_eq!(
            masked.arguments,
            json!({
                "title": "A new engine", "card": HIDDEN, "page_token": "abc", "max_tokens": 5,
                "deep": [{"code": HIDDEN}], "db_password": HIDDEN, "apiKey": HIDDEN,
                "note": HIDDEN, "spin": "left", "pin": HIDDEN,
            })
        );
    }

    #[test]
    fn a_hidden_argument_is_hidden_in_the_requests_however_it_is_written() {
        let masked = mask(json!({"password": "a b\"c&d"}), &json!({}));
        let planned = PlannedRequest {
            method: "POST".to_owned(),
            url: "https://x.test/?p=a+b%22c%26d&q=a%20b%22c%26d".to_owned(),
            headers: vec![("x-p".to_owned(), "a b\"c&d".to_owned())],
            body: r#"{"p":"a b\"c&d","q":1}"#.to_owned(),
        };
        let shown = masked.requests(&[planned]).remove(0);
        assert_eq!(shown.url, "https://x.test/?p=[hidden]&q=[hidden]");
        assert_eq!(shown.headers[0].1, HIDDEN);
        assert_eq!(shown.body, r#"{"p":"[hidden]","q":1}"#);
    }

    #[test]
    fn endless_arguments_are_cut() {
        let masked = mask(json!({"text": "x".repeat(SHOWN_BYTES_MAX)}), &json!({}));
        assert!(
            masked
                .arguments
                .as_str()
                .unwrap()
                .ends_with("bytes in all]")
        );
    }
}
