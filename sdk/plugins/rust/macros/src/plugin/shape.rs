//! The keys of a manifest and the values that some of them take.

use proc_macro2::Span;

use crate::json::{Json, Key, Value};

/// The keys of one object: name, and whether it must be there.
pub(super) type Shape = &'static [(&'static str, bool)];

pub(super) const TOP: Shape = &[
    ("service", true),
    ("title", true),
    ("version", false),
    ("description", true),
    ("homepage", false),
    ("categories", false),
    ("hosts", false),
    ("request_headers", false),
    ("response_headers", false),
    ("response_types", false),
    ("capabilities", false),
    ("auth", false),
    ("parameters", false),
    ("config", false),
    ("limits", false),
    ("webhook", false),
];
pub(super) const WEBHOOK: Shape = &[
    ("signature", true),
    ("delivery", false),
    ("challenge", false),
    ("event", false),
];
pub(super) const SIGNATURE: Shape = &[
    ("header", true),
    ("element", false),
    ("prefix", false),
    ("signed", true),
    ("timestamp", false),
];
pub(super) const SLOT: Shape = &[
    ("slot", true),
    ("title", true),
    ("type", true),
    ("authorize_url", false),
    ("token_url", false),
    ("revoke_url", false),
    ("issuer", false),
    ("pkce", false),
    ("scopes", false),
    ("scope_separator", false),
    ("authorize_params", false),
    ("token_auth", false),
    ("refresh_url", false),
    ("token_params", false),
    ("refresh_params", false),
    ("client_id_param", false),
    ("client_secret_param", false),
    ("redirect_uri_param", false),
    ("redirect_name", false),
    ("tenant", false),
    ("scope_param", false),
    ("scope_with", false),
    ("token_body", false),
    ("token_answer", false),
    ("token_lifetime_s", false),
    ("revoke_param", false),
    ("fields", false),
    ("placement", true),
    ("audience", true),
    ("expired", false),
    ("account", false),
    ("token_parameters", false),
];
pub(super) const FIELD: Shape = &[
    ("key", true),
    ("title", true),
    ("secret", false),
    ("help", false),
];
pub(super) const TOKEN_ANSWER: Shape = &[
    ("access_token", false),
    ("refresh_token", false),
    ("expires_in", false),
    ("refresh_token_expires_in", false),
    ("scope", false),
    ("error", false),
];
pub(super) const ACCOUNT: Shape = &[("request", true), ("label", true)];
pub(super) const PLACEMENTS: [(&str, Shape); 6] = [
    ("header", &[("header", true), ("template", false)]),
    ("query", &[("query", true), ("template", false)]),
    ("path", &[("path", true)]),
    ("body", &[("body", true), ("template", false)]),
    ("basic", &[("basic", true)]),
    ("aws_sigv4", &[("aws_sigv4", true)]),
];
pub(super) const PARAMETER: Shape = &[
    ("key", true),
    ("title", true),
    ("pattern", false),
    ("enum", false),
    ("default", false),
    ("required", false),
    ("help", false),
];
pub(super) const CONFIG: Shape = &[
    ("key", true),
    ("title", true),
    ("schema", true),
    ("adds_host", false),
];
pub(super) const TRIGGER: Shape = &[
    ("name", true),
    ("title", true),
    ("description", true),
    ("arguments", false),
    ("items", true),
    ("id", true),
    ("time", false),
    ("order", false),
    ("interval_s", false),
];
pub(super) const LIMITS: Shape = &[
    ("timeout_ms", false),
    ("memory_mib", false),
    ("response_mib", false),
];

pub(super) fn check_shape(members: &[(Key, Json)], shape: Shape, whole: Span) -> syn::Result<()> {
    for (key, _) in members {
        if !shape.iter().any(|(name, _)| *name == key.name) {
            let known: Vec<&str> = shape.iter().map(|(name, _)| *name).collect();
            return Err(syn::Error::new(
                key.span,
                format!("unknown key `{}`; known are {}", key.name, known.join(", ")),
            ));
        }
    }
    for (name, needed) in shape {
        if *needed && !members.iter().any(|(key, _)| key.name == *name) {
            return Err(syn::Error::new(whole, format!("`{name}` is missing")));
        }
    }
    Ok(())
}

fn check_each(value: &Json, shape: Shape) -> syn::Result<()> {
    for one in value.array()? {
        check_shape(one.object()?, shape, one.span)?;
    }
    Ok(())
}

fn check_word(value: &Json, known: &[&str]) -> syn::Result<()> {
    if known.contains(&value.text()?) {
        return Ok(());
    }
    Err(syn::Error::new(
        value.span,
        format!("expected one of {}", known.join(", ")),
    ))
}

fn check_name(value: &Json, what: &str) -> syn::Result<()> {
    let name = value.text()?;
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if starts && name.chars().all(rest) {
        return Ok(());
    }
    Err(syn::Error::new(
        value.span,
        format!("{what} matches [a-z][a-z0-9_]*"),
    ))
}

/// A JSON Pointer (RFC 6901); the gateway checks the escapes.
fn check_pointer(value: &Json) -> syn::Result<()> {
    if value.text()?.starts_with('/') {
        return Ok(());
    }
    Err(syn::Error::new(
        value.span,
        "expected a JSON Pointer such as \"/id\"",
    ))
}

/// One event that the gateway finds by polling the tool.
pub(crate) fn check_trigger(trigger: &Json) -> syn::Result<()> {
    let members = trigger.object()?;
    check_shape(members, TRIGGER, trigger.span)?;
    for (key, value) in members {
        match key.name.as_str() {
            "name" => check_name(value, "a trigger name")?,
            "arguments" => {
                value.object()?;
            }
            // Empty: the result is the list.
            "items" if value.text()?.is_empty() => {}
            "items" | "time" => check_pointer(value)?,
            "id" => value.array()?.iter().try_for_each(check_pointer)?,
            "order" => check_word(value, &["newest_first"])?,
            "interval_s" => check_seconds(value)?,
            _ => {
                value.text()?;
            }
        }
    }
    Ok(())
}

fn check_seconds(value: &Json) -> syn::Result<()> {
    match &value.value {
        Value::Number(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Ok(()),
        _ => Err(syn::Error::new(
            value.span,
            "expected a whole number of seconds",
        )),
    }
}

pub(super) fn check_values(members: &[(Key, Json)]) -> syn::Result<()> {
    for (key, value) in members {
        match key.name.as_str() {
            "service" => check_name(value, "a service name")?,
            "capabilities" => {
                for one in value.array()? {
                    check_word(one, &["egress", "blobs", "kv", "wasi-http"])?;
                }
            }
            "auth" => {
                for one in value.array()? {
                    check_slot(one)?;
                }
            }
            "parameters" => check_each(value, PARAMETER)?,
            "config" => check_each(value, CONFIG)?,
            "limits" => check_shape(value.object()?, LIMITS, value.span)?,
            "webhook" => check_webhook(value)?,
            "hosts" | "categories" | "request_headers" | "response_headers" | "response_types" => {
                for one in value.array()? {
                    one.text()?;
                }
            }
            _ => {
                value.text()?;
            }
        }
    }
    Ok(())
}

fn check_webhook(webhook: &Json) -> syn::Result<()> {
    let members = webhook.object()?;
    check_shape(members, WEBHOOK, webhook.span)?;
    for (key, value) in members {
        if key.name == "signature" {
            check_shape(value.object()?, SIGNATURE, value.span)?;
        }
    }
    Ok(())
}

fn check_slot(slot: &Json) -> syn::Result<()> {
    let members = slot.object()?;
    check_shape(members, SLOT, slot.span)?;
    for (key, value) in members {
        match key.name.as_str() {
            "type" => check_word(
                value,
                &[
                    "oauth2",
                    "oauth2_client_credentials",
                    "api_key",
                    "bearer",
                    "basic",
                ],
            )?,
            "token_auth" => check_word(value, &["basic", "basic_raw", "post", "none"])?,
            "token_body" => check_word(value, &["form", "json"])?,
            "token_answer" => check_shape(value.object()?, TOKEN_ANSWER, value.span)?,
            "scope_with" => {
                for one in value.array()? {
                    check_word(one, &["code", "refresh"])?;
                }
            }
            "fields" => check_each(value, FIELD)?,
            "account" => check_shape(value.object()?, ACCOUNT, value.span)?,
            "placement" => match &value.value {
                Value::Array(all) => all.iter().try_for_each(check_placement)?,
                _ => check_placement(value)?,
            },
            _ => {}
        }
    }
    Ok(())
}

fn check_placement(placement: &Json) -> syn::Result<()> {
    let members = placement.object()?;
    for (name, shape) in PLACEMENTS {
        if members.iter().any(|(key, _)| key.name == name) {
            return check_shape(members, shape, placement.span);
        }
    }
    Err(syn::Error::new(
        placement.span,
        "a placement is one of header, query, path, body, basic, aws_sigv4",
    ))
}
