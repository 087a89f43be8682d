//! Credential slots: where a secret comes from, where it is written and who may receive it.

mod dialect;
mod placement;

use std::collections::HashSet;

use super::{Lint, ManifestPath, NAME_RULE, is_name, parameters, text};
use crate::manifest::{AuthKind, Manifest, Slot};
use crate::{hosts, is_scope, token_parameters as from_tokens};

const SLOTS_MAX: usize = 20;
const SCOPES_MAX: usize = 200;
const FIELDS_MAX: usize = 20;
const URL_BYTES_MAX: usize = 500;
const EXPIRED_WORDS_MAX: usize = 20;
const EXPIRED_WORD_CHARS_MAX: usize = 100;

/// Parameters of an authorization request that are the gateway's own (RFC 6749, section 4.1.1;
/// RFC 7636, section 4.3).
const OWN_AUTHORIZE_PARAMS: &[&str] = &[
    "client_id",
    "client_secret",
    "code_challenge",
    "code_challenge_method",
    "nonce",
    "redirect_uri",
    "request",
    "request_uri",
    "response_mode",
    "response_type",
    "scope",
    "state",
];

pub(super) fn check(manifest: &Manifest, found: &mut Lint) {
    let root = ManifestPath::Root;
    let at = root.key("auth");
    if manifest.auth.len() > SLOTS_MAX {
        found.error(&at, format!("at most {SLOTS_MAX} credential slots"));
    }
    let mut seen = HashSet::new();
    for (i, slot) in manifest.auth.iter().take(SLOTS_MAX).enumerate() {
        let at = at.index(i);
        if !is_name(&slot.slot) || slot.slot.len() > 40 {
            found.error(
                &at.key("slot"),
                format!(
                    "the slot name `{}` must {NAME_RULE}, in at most 40 characters",
                    text::shown(&slot.slot)
                ),
            );
        }
        if !seen.insert(slot.slot.as_str()) {
            found.error(
                &at.key("slot"),
                format!("the slot `{}` is declared twice", text::shown(&slot.slot)),
            );
        }
        text::check(found, &at.key("title"), "title", &slot.title, 1, 200);
        endpoints(manifest, slot, found, &at);
        scopes(
            &slot.scopes,
            &slot.scope_separator,
            found,
            &at.key("scopes"),
        );
        fields(slot, found, &at);
        audience(manifest, slot, found, &at);
        expired(&slot.expired, found, &at.key("expired"));
        account(manifest, slot, found, &at);
        token_parameters(manifest, slot, found, &at);
        dialect::check(manifest, slot, found, &at);
        placement::check(manifest, slot, found, &at.key("placement"));
    }
}

fn endpoints(manifest: &Manifest, slot: &Slot, found: &mut Lint, at: &ManifestPath<'_>) {
    let oauth = matches!(
        slot.kind,
        AuthKind::Oauth2 | AuthKind::Oauth2ClientCredentials
    );
    for (key, url, needed, allowed) in [
        (
            "authorize_url",
            &slot.authorize_url,
            slot.kind == AuthKind::Oauth2,
            slot.kind == AuthKind::Oauth2,
        ),
        ("token_url", &slot.token_url, oauth, oauth),
        (
            "refresh_url",
            &slot.refresh_url,
            false,
            slot.kind == AuthKind::Oauth2,
        ),
        ("revoke_url", &slot.revoke_url, false, oauth),
        ("issuer", &slot.issuer, false, slot.kind == AuthKind::Oauth2),
    ] {
        match url {
            None if needed => found.error(
                at,
                format!("a slot of type {} needs `{key}`", slot.kind.as_str()),
            ),
            Some(_) if !allowed => found.error(
                &at.key(key),
                format!("a slot of type {} has no `{key}`", slot.kind.as_str()),
            ),
            Some(url) => {
                if let Err(problem) = check_url(manifest, url) {
                    found.error(&at.key(key), problem);
                }
            }
            None => {}
        }
    }
    if !oauth && !slot.scopes.is_empty() {
        found.warn(
            &at.key("scopes"),
            "scopes mean nothing to a slot without OAuth",
        );
    }
    if slot.kind == AuthKind::Oauth2 && !slot.pkce {
        found.warn(
            &at.key("pkce"),
            "PKCE is off; leave it on unless the provider refuses it",
        );
    }
    if slot.authorize_params.len() > 20 {
        found.error(
            &at.key("authorize_params"),
            "at most 20 authorize parameters",
        );
    }
    let params = at.key("authorize_params");
    for (name, value) in slot.authorize_params.iter().take(20) {
        if OWN_AUTHORIZE_PARAMS.contains(&name.to_ascii_lowercase().as_str()) {
            found.error(
                &params.key(name),
                format!("`{name}` is set by the gateway itself"),
            );
        } else if name.is_empty()
            || name.len() > 100
            || value.len() > 500
            || name.chars().chain(value.chars()).any(char::is_control)
        {
            found.error(
                &params.key(name),
                "a name of 1 to 100 and a value of at most 500 printable bytes",
            );
        }
    }
}

/// An https address with a host that [`hosts::check`] accepts, its parameters declared.
fn check_url(manifest: &Manifest, url: &str) -> Result<(), String> {
    if url.len() > URL_BYTES_MAX || url.chars().any(|c| c.is_control() || c == ' ' || c == '\\') {
        return Err(format!(
            "use an address of at most {URL_BYTES_MAX} bytes without spaces"
        ));
    }
    let rest = url.strip_prefix("https://").ok_or_else(|| {
        format!(
            "`{}` must be an absolute https:// address",
            text::shown(url)
        )
    })?;
    if rest.contains('#') {
        return Err("the address must not have a fragment (`#`)".to_owned());
    }
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    if host.contains('@') {
        return Err("the address must not contain a user name".to_owned());
    }
    if host.starts_with('*') {
        return Err("an address cannot have a wildcard host".to_owned());
    }
    let names = hosts::check(host)?;
    for name in names {
        if !parameters::is_known(manifest, name) {
            return Err(format!(
                "`{{{}}}` is not a connection parameter",
                text::shown(name)
            ));
        }
    }
    Ok(())
}

/// Scope tokens of RFC 6749, section 3.3; none may contain the slot's separator.
pub(super) fn scopes(scopes: &[String], separator: &str, found: &mut Lint, at: &ManifestPath<'_>) {
    if scopes.len() > SCOPES_MAX {
        found.error(at, format!("at most {SCOPES_MAX} scopes"));
    }
    if separator.is_empty()
        || separator.len() > 3
        || !separator
            .chars()
            .all(|c| matches!(c, ' ' | ',' | ';' | '+' | '|'))
    {
        found.error(
            at,
            "the scope separator must be a space, `,`, `;`, `+` or `|`",
        );
        return;
    }
    for (i, scope) in scopes.iter().take(SCOPES_MAX).enumerate() {
        if !is_scope(scope) || scope.contains(separator) {
            found.error(
                &at.index(i),
                format!("`{}` is not one scope: printable ASCII without spaces, quotes, `\\` and the separator", text::shown(scope)),
            );
        }
    }
}

fn fields(slot: &Slot, found: &mut Lint, at: &ManifestPath<'_>) {
    let at = at.key("fields");
    let oauth = matches!(
        slot.kind,
        AuthKind::Oauth2 | AuthKind::Oauth2ClientCredentials
    );
    if oauth && !slot.fields.is_empty() {
        found.error(
            &at,
            "an OAuth slot has no fields: the user signs in at the provider",
        );
    }
    if slot.fields.len() > FIELDS_MAX {
        found.error(&at, format!("at most {FIELDS_MAX} fields"));
    }
    let mut seen = HashSet::new();
    for (i, field) in slot.fields.iter().take(FIELDS_MAX).enumerate() {
        let at = at.index(i);
        if !is_name(&field.key) || field.key.len() > 64 {
            found.error(
                &at,
                format!("the field `{}` must {NAME_RULE}", text::shown(&field.key)),
            );
        }
        if !seen.insert(field.key.as_str()) {
            found.error(
                &at,
                format!("the field `{}` is declared twice", text::shown(&field.key)),
            );
        }
        text::check(found, &at.key("title"), "title", &field.title, 1, 200);
        if let Some(help) = &field.help {
            text::check(found, &at.key("help"), "help text", help, 0, 2_000);
        }
    }
    if !slot.fields.is_empty() && !slot.fields.iter().any(|field| field.secret) {
        found.warn(&at, "no field is secret, so none is hidden or scrubbed");
    }
}

fn audience(manifest: &Manifest, slot: &Slot, found: &mut Lint, at: &ManifestPath<'_>) {
    let at = at.key("audience");
    if slot.audience.is_empty() || slot.audience.len() > super::HOSTS_MAX {
        found.error(
            &at,
            "name the origins that receive the credential, such as https://api.example.com",
        );
    }
    for (i, origin) in slot.audience.iter().take(super::HOSTS_MAX).enumerate() {
        let at = at.index(i);
        // An address that the operator sets: `{key}` of a setting with `adds_host`.
        let setting = origin
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        if let Some(setting) = setting.filter(|key| !key.contains(['{', '}'])) {
            if !manifest
                .config
                .iter()
                .any(|key| key.adds_host && key.key == setting)
            {
                found.error(
                    &at,
                    format!(
                        "`{{{}}}` is not a setting that adds a host",
                        text::shown(setting)
                    ),
                );
            }
            continue;
        }
        let Some(host) = origin.strip_prefix("https://") else {
            found.error(
                &at,
                format!("`{}` must be an origin: https://HOST", text::shown(origin)),
            );
            continue;
        };
        let host = host.strip_suffix('/').unwrap_or(host);
        match hosts::check(host) {
            Err(problem) => {
                found.error(&at, problem);
                continue;
            }
            Ok(names) => parameters::check_host_parameters(manifest, found, &at, &names),
        }
        if !manifest
            .hosts
            .iter()
            .any(|pattern| hosts::covers(pattern, host))
        {
            found.error(
                &at,
                format!("`{host}` would receive the credential but is not in `hosts`; add it there or remove it here"),
            );
        }
    }
}

fn account(manifest: &Manifest, slot: &Slot, found: &mut Lint, at: &ManifestPath<'_>) {
    let Some(probe) = &slot.account else {
        return;
    };
    let at = at.key("account");
    let request = at.key("request");
    match probe.request.split_once(' ') {
        Some(("GET", url)) => match check_url(manifest, url) {
            Err(problem) => found.error(&request, problem),
            Ok(()) => {
                let host = url["https://".len()..]
                    .split(['/', '?'])
                    .next()
                    .unwrap_or_default();
                let origin = format!("https://{host}");
                let received = slot
                    .audience
                    .iter()
                    .any(|o| hosts::covers_origin(o.trim_end_matches('/'), &origin));
                if !received {
                    found.error(&request, format!("`{host}` is not in the slot's `audience`, so the request would have no credential"));
                }
            }
        },
        _ => found.error(
            &request,
            "write `GET` and an address, such as `GET https://api.example.com/me`: the gateway sends it with each new credential, so it may only read",
        ),
    }
    pointer(&probe.label, found, &at.key("label"));
}

fn pointer(pointer: &str, found: &mut Lint, at: &ManifestPath<'_>) {
    if !pointer.starts_with('/') || pointer.len() > 300 {
        found.error(at, "must be a JSON Pointer such as /user/name");
    }
}

/// Words that are compared whole: one that providers write in every answer would end every token.
fn expired(words: &[String], found: &mut Lint, at: &ManifestPath<'_>) {
    if words.len() > EXPIRED_WORDS_MAX {
        found.error(at, format!("at most {EXPIRED_WORDS_MAX} words"));
    }
    for (i, word) in words.iter().take(EXPIRED_WORDS_MAX).enumerate() {
        let chars = word.chars().count();
        if !(3..=EXPIRED_WORD_CHARS_MAX).contains(&chars)
            || !word.chars().all(|c| c.is_ascii_graphic() || c == ' ')
            || word.trim() != word
        {
            found.error(
                &at.index(i),
                format!("a word of 3 to {EXPIRED_WORD_CHARS_MAX} printable ASCII characters"),
            );
        } else if word.bytes().all(|byte| byte.is_ascii_digit())
            && word.starts_with('2')
            && chars == 3
        {
            found.error(
                &at.index(i),
                "a status of success is not the end of a credential",
            );
        }
    }
}

fn token_parameters(manifest: &Manifest, slot: &Slot, found: &mut Lint, at: &ManifestPath<'_>) {
    let at = at.key("token_parameters");
    if slot.token_parameters.len() > 20 {
        found.error(&at, "at most 20 parameters from the token answer");
    }
    for (key, path) in slot.token_parameters.iter().take(20) {
        if !is_name(key) || key.len() > 64 {
            found.error(
                &at.key(key),
                format!("the parameter `{}` must {NAME_RULE}", text::shown(key)),
            );
        }
        if manifest.parameters.iter().any(|p| p.key == *key) {
            found.error(
                &at.key(key),
                format!("`{key}` is also in `parameters`; a value has one source"),
            );
        }
        if let Err(problem) = from_tokens::check_pointer(path) {
            found.error(&at.key(key), problem);
        }
    }
}
