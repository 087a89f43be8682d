//! A change in words: what the operator allows by saying yes.

use serde_json::Value;

use super::place::{PathStep, pattern};

/// Whether the sentence about a new object says this key of it.
pub(super) fn says_already(place: &[&str]) -> bool {
    matches!(
        place,
        ["auth", "*", "slot" | "type"]
            | ["tools", "*", "name" | "effect"]
            | ["parameters" | "config", "*", "key" | "title" | "adds_host"]
            | ["auth", "*", "fields", "*", "key" | "title" | "secret"]
    )
}

/// What changes at a place. `None` is what is not there.
pub(super) fn describe(place: &[PathStep], old: Option<&Value>, new: Option<&Value>) -> String {
    let name = |index: usize| place.get(index).map_or("", |step| step.name.as_str());
    let last = place.last().map_or("", |step| step.name.as_str());
    let (slot, tool) = (name(1), name(1));
    let key = |value: Option<&Value>, key: &str| {
        let found = value.and_then(|value| value.get(key));
        found.and_then(Value::as_str).unwrap_or("").to_owned()
    };
    match (pattern(place).as_slice(), old, new) {
        (["hosts", _], None, _) => format!("reach {last}"),
        (["hosts", _], ..) => format!("no longer reach {last}"),
        (["capabilities", _], None, _) => format!("import {last}"),
        (["capabilities", _], ..) => format!("no longer import {last}"),

        (["auth", "*"], None, new) => {
            format!("use a new credential `{slot}` ({})", key(new, "type"))
        }
        (["auth", "*"], ..) => format!("no longer use the credential `{slot}`"),
        (["auth", "*", "type"], Some(old), Some(new)) => format!(
            "take another credential as `{slot}`: {} in place of {}",
            text(new),
            text(old)
        ),
        (["auth", "*", "scopes", _], None, _) => {
            format!("ask users for the scope {last} of the credential `{slot}`")
        }
        (["auth", "*", "audience", _], None, _) => {
            format!("have the credential `{slot}` sent to {last}")
        }
        (["auth", "*", "placement"], _, Some(new)) => {
            let mut said = format!("have the credential `{slot}` written {}", placements(new));
            if let Some(old) = old {
                said.push_str(&format!("; before: {}", placements(old)));
            }
            said
        }
        (["auth", "*", "fields", "*"], None, Some(new)) => field(slot, last, new),
        (["auth", "*", "fields", "*", "secret"], _, new) => {
            let field = name(3);
            match new {
                Some(Value::Bool(false)) => format!(
                    "treat the field `{field}` of the credential `{slot}` as no secret: it is shown and not scrubbed"
                ),
                _ => format!("treat the field `{field}` of the credential `{slot}` as a secret"),
            }
        }
        (["auth", "*", "authorize_params", _], old, Some(new)) => changed(
            format!(
                "send `{last}={}` when a user authorizes `{slot}`",
                text(new)
            ),
            old,
        ),
        (["auth", "*", "token_params", _], old, Some(new)) => changed(
            format!(
                "send `{last}={}` with each token request of `{slot}`",
                text(new)
            ),
            old,
        ),
        (["auth", "*", "refresh_params", _], old, Some(new)) => changed(
            format!(
                "send `{last}={}` when the token of `{slot}` is renewed",
                text(new)
            ),
            old,
        ),
        (["auth", "*", "refresh_params"], None, Some(new)) => format!(
            "send {} when the token of `{slot}` is renewed, in place of `token_params`",
            new
        ),
        (
            [
                "auth",
                "*",
                "client_id_param"
                | "client_secret_param"
                | "redirect_uri_param"
                | "scope_param"
                | "revoke_param",
            ],
            old,
            Some(new),
        ) => changed(
            format!(
                "name the parameter `{}` {} at the authorization server of `{slot}`",
                match last {
                    "revoke_param" => "token",
                    _ => last.trim_end_matches("_param"),
                },
                text(new)
            ),
            old,
        ),
        (["auth", "*", "scope_with"], old, Some(new)) => changed(
            format!(
                "name the scopes of `{slot}` in the token requests {}",
                text(new)
            ),
            old,
        ),
        (["auth", "*", "token_body"], _, Some(new)) => {
            format!("send the token requests of `{slot}` as {}", text(new))
        }
        (["auth", "*", "token_auth"], old, Some(new)) => changed(
            format!(
                "show the client secret to the authorization server of `{slot}` by {}",
                text(new)
            ),
            old,
        ),
        (["auth", "*", "token_answer", ..], old, Some(new)) => changed(
            format!(
                "read {} of the token answer of `{slot}` at {}",
                place.get(3).map_or("the tokens", |step| step.name.as_str()),
                text(new)
            ),
            old,
        ),
        (["auth", "*", "token_lifetime_s"], old, Some(new)) => changed(
            format!(
                "take a token of `{slot}` to live {} seconds where the provider does not say it",
                text(new)
            ),
            old,
        ),
        (["auth", "*", "token_parameters", _], old, Some(new)) => changed(
            format!(
                "read the value `{last}` from {} of the token answer of `{slot}` and hand it to the plugin",
                text(new)
            ),
            old,
        ),
        (["auth", "*", "expired"], old, Some(new)) => changed(
            format!(
                "renew the credential `{slot}`, and repeat the request, when an answer has the code {}",
                text(new)
            ),
            old,
        ),
        (["auth", "*", "pkce"], _, Some(Value::Bool(false))) => {
            format!("have users authorize `{slot}` without PKCE")
        }
        (
            [
                "auth",
                "*",
                "authorize_url" | "token_url" | "refresh_url" | "revoke_url" | "issuer",
            ],
            old,
            Some(new),
        ) => changed(
            format!(
                "have the credential `{slot}` obtained through {} ({last})",
                text(new)
            ),
            old,
        ),
        (["auth", "*", "account"], None, Some(new)) => format!(
            "have the gateway send `{}` with the credential `{slot}` after a user connects, and keep {} of the answer as the account's name",
            key(Some(new), "request"),
            key(Some(new), "label")
        ),
        (["auth", "*", "account", "request"], old, Some(new)) => changed(
            format!(
                "have the gateway send `{}` with the credential `{slot}` after a user connects",
                text(new)
            ),
            old,
        ),

        (["parameters", "*"], None, Some(new)) => format!(
            "ask users for the value `{last}`, under the title \"{}\"",
            key(Some(new), "title")
        ),
        (["config", "*"], None, Some(new)) => {
            let title = key(Some(new), "title");
            if new.get("adds_host") == Some(&Value::Bool(true)) {
                format!("reach the address set by the operator in {last} (\"{title}\")")
            } else {
                format!("take the operator's setting {last} (\"{title}\")")
            }
        }
        (["config", "*", "adds_host"], _, Some(Value::Bool(true))) => {
            format!("reach the address set by the operator in {}", name(1))
        }
        (["limits", _], old, Some(new)) => {
            changed(format!("have a limit {last} of {}", text(new)), old)
        }
        (["webhook"], None, Some(new)) => format!("take events, verified by {}", text(new)),

        (["tools", "*"], None, new) => {
            format!("offer a new tool `{tool}`, declared {}", key(new, "effect"))
        }
        (["tools", "*"], ..) => format!("no longer offer the tool `{tool}`"),
        (["tools", "*", "effect"], Some(old), Some(new)) => format!(
            "declare the tool `{tool}` {} in place of {}",
            text(new),
            text(old)
        ),
        (["tools", "*", "queries", _], None, _) => {
            format!("let the reading tool `{tool}` send {last}")
        }
        (["tools", "*", "request"], None, Some(new)) => {
            format!("have the tool `{tool}` send only {}", sent(new))
        }
        (["tools", "*", "request"], Some(old), None) => format!(
            "have the tool `{tool}` send any request to its hosts; before: only {}",
            sent(old)
        ),
        (["tools", "*", "request", "send"], Some(old), Some(new)) => format!(
            "have the tool `{tool}` send {} in place of {}",
            text(new),
            text(old)
        ),
        (["tools", "*", "request", "with"], old, new) => {
            let listed = |side: Option<&Value>| side.map_or_else(|| "nothing".to_owned(), text);
            format!(
                "have the tool `{tool}` fill its request in another way, with {}; before: {}",
                listed(new),
                listed(old)
            )
        }
        (["tools", "*", "scopes", _], None, _) => {
            format!("ask users for the scope {last} for the tool `{tool}`")
        }
        (["tools", "*", "auth"], old, Some(new)) => changed(
            format!("run the tool `{tool}` with the credentials {}", text(new)),
            old,
        ),
        (["tools", "*", "input"], None, Some(new)) => {
            format!("take the arguments of `{tool}` as {}", text(new))
        }
        (["tools", "*", "input", ..], None, Some(new)) => format!(
            "take as {} of the arguments of `{tool}`: {}",
            pointer(&place[3..]),
            text(new)
        ),
        (["tools", "*", "input", ..], Some(old), None) => format!(
            "no longer take as {} of the arguments of `{tool}`: {}",
            pointer(&place[3..]),
            text(old)
        ),
        (_, old, Some(new)) => changed(format!("have {} as {}", pointer(place), text(new)), old),
        (_, Some(old), None) => {
            format!("have no {} any more; before: {}", pointer(place), text(old))
        }
        (_, None, None) => pointer(place),
    }
}

fn changed(said: String, old: Option<&Value>) -> String {
    match old {
        Some(old) => format!("{said}; before: {}", text(old)),
        None => said,
    }
}

/// A described request in one line.
fn sent(request: &Value) -> String {
    let send = request.get("send").map(text).unwrap_or_default();
    match request.get("with") {
        Some(with) => format!("{send} with {}", text(with)),
        None => send,
    }
}

fn pointer(place: &[PathStep]) -> String {
    let names: Vec<&str> = place.iter().map(|step| step.name.as_str()).collect();
    format!("/{}", names.join("/"))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: Vec<String> = items.iter().map(text).collect();
            match items.len() {
                0 => "none".to_owned(),
                _ => items.join(", "),
            }
        }
        other => other.to_string(),
    }
}

fn field(slot: &str, name: &str, value: &Value) -> String {
    let title = value.get("title").map(text).unwrap_or_default();
    let open = value.get("secret") == Some(&Value::Bool(false));
    let kind = if open { "open" } else { "secret" };
    format!(
        "ask users for the {kind} field `{name}` of the credential `{slot}`, under the title {title}"
    )
}

fn placements(value: &Value) -> String {
    let all: Vec<String> = match value {
        Value::Array(all) => all.iter().map(placement).collect(),
        one => vec![placement(one)],
    };
    all.join(", and ")
}

fn placement(value: &Value) -> String {
    let part = |key: &str| {
        let found = value.get(key).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let template = part("template");
    let known = value.as_object().and_then(|map| {
        let known = ["header", "query", "path", "body", "basic", "aws_sigv4"];
        known.into_iter().find(|kind| map.contains_key(*kind))
    });
    match known {
        Some("header") => format!("in the header `{}` as `{template}`", part("header")),
        Some("query") => format!("in the query parameter `{}` as `{template}`", part("query")),
        Some("path") => format!("in the path as `{}`", part("path")),
        Some("body") => format!("in the body field `{}` as `{template}`", part("body")),
        Some("basic") => format!("as basic authentication {}", value["basic"]),
        Some("aws_sigv4") => format!("as an AWS signature {}", value["aws_sigv4"]),
        _ => value.to_string(),
    }
}
