//! What a change of a credential means, in words.

use serde_json::Value;

use super::change::{ManifestChange, changed, string_at, text};

impl ManifestChange<'_> {
    /// A credential: whether there is one, what it is, where it is written and sent.
    pub(super) fn credential(&self) -> Option<String> {
        let (old, new) = (self.old, self.new);
        let (slot, last) = (self.name(1), self.last());
        Some(match (self.pattern.as_slice(), old, new) {
            (["auth", "*"], None, new) => {
                format!("use a new credential `{slot}` ({})", string_at(new, "type"))
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
                let field = self.name(3);
                match new {
                    Some(Value::Bool(false)) => format!(
                        "treat the field `{field}` of the credential `{slot}` as no secret: it is shown and not scrubbed"
                    ),
                    _ => {
                        format!("treat the field `{field}` of the credential `{slot}` as a secret")
                    }
                }
            }
            _ => return None,
        })
    }

    /// How a user authorizes, and what is asked of the account then.
    pub(super) fn sign_in(&self) -> Option<String> {
        let (old, new) = (self.old, self.new);
        let (slot, last) = (self.name(1), self.last());
        Some(match (self.pattern.as_slice(), old, new) {
            (["auth", "*", "authorize_params", _], old, Some(new)) => changed(
                format!(
                    "send `{last}={}` when a user authorizes `{slot}`",
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
                string_at(Some(new), "request"),
                string_at(Some(new), "label")
            ),
            (["auth", "*", "account", "request"], old, Some(new)) => changed(
                format!(
                    "have the gateway send `{}` with the credential `{slot}` after a user connects",
                    text(new)
                ),
                old,
            ),
            _ => return None,
        })
    }

    /// What the gateway sends to the token endpoint.
    pub(super) fn token_request(&self) -> Option<String> {
        let (old, new) = (self.old, self.new);
        let (slot, last) = (self.name(1), self.last());
        Some(match (self.pattern.as_slice(), old, new) {
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
            (["auth", "*", "redirect_name"], old, Some(new)) => changed(
                format!(
                    "have the operator register the {} of the callback address of `{slot}`, and send it in place of the address",
                    text(new)
                ),
                old,
            ),
            (["auth", "*", "tenant"], old, Some(new)) => changed(
                format!("take the tenant {} in the addresses of `{slot}`", text(new)),
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
            _ => return None,
        })
    }

    /// Where the gateway reads the answer of the token endpoint, and when it renews a token.
    pub(super) fn token_answer(&self) -> Option<String> {
        let (old, new) = (self.old, self.new);
        let (slot, last) = (self.name(1), self.last());
        Some(match (self.pattern.as_slice(), old, new) {
            (["auth", "*", "token_answer", ..], old, Some(new)) => changed(
                format!(
                    "read {} of the token answer of `{slot}` at {}",
                    self.step(3).unwrap_or("the tokens"),
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
            _ => return None,
        })
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
