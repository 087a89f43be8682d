//! How a slot's authorization server differs from the standard.

use std::collections::{BTreeMap, HashSet};

use crate::lint::{Lint, ManifestPath, parameters, text};
use crate::manifest::{AuthKind, Manifest, Slot, TokenAnswer, TokenBody, TokenStep, is_tenant};
use crate::token_requests::{
    self, PARAMS_MAX, REDIRECT_URI, STATE, check_name, check_param, folded,
};

/// Places in which an access token may be.
const PLACES_MAX: usize = 4;
const REDIRECT_NAME_CHARS_MAX: usize = 100;
const POINTER_BYTES_MAX: usize = 200;
/// Ten years, in seconds.
const LIFETIME_S_MAX: u64 = 10 * 365 * 24 * 3600;

pub(super) fn check(manifest: &Manifest, slot: &Slot, found: &mut Lint, at: &ManifestPath<'_>) {
    let oauth = matches!(
        slot.kind,
        AuthKind::Oauth2 | AuthKind::Oauth2ClientCredentials
    );
    if !oauth {
        if has_any(slot) {
            found.error(
                at,
                "only an OAuth slot has keys about token requests and answers",
            );
        }
        return;
    }
    params(
        manifest,
        slot,
        &slot.token_params,
        found,
        &at.key("token_params"),
    );
    if let Some(refresh) = &slot.refresh_params {
        params(manifest, slot, refresh, found, &at.key("refresh_params"));
    }
    names(slot, found, at);
    if let Some(name) = &slot.redirect_name {
        let at = at.key("redirect_name");
        text::check(
            found,
            &at,
            "redirect name",
            name,
            1,
            REDIRECT_NAME_CHARS_MAX,
        );
        if slot.authorize_url.is_none() {
            found.error(
                &at,
                "only a slot with an `authorize_url` has a callback address",
            );
        }
    }
    if let Some(tenant) = &slot.tenant {
        let at = at.key("tenant");
        if !is_tenant(tenant) {
            found.error(&at, "a tenant is letters, digits, `-` and `.`");
        }
        if !slot.addresses().any(|url| url.contains("/{tenant}")) {
            found.error(&at, "no address of the slot has `{tenant}` in its path");
        }
    }
    answer(&slot.token_answer, found, &at.key("token_answer"));
    if let Some(life) = slot.token_lifetime_s
        && !(1..=LIFETIME_S_MAX).contains(&life)
    {
        found.error(
            &at.key("token_lifetime_s"),
            format!("1 to {LIFETIME_S_MAX} seconds"),
        );
    }
    let steps: HashSet<_> = slot
        .scope_with
        .iter()
        .map(|step| matches!(step, TokenStep::Code))
        .collect();
    if steps.len() != slot.scope_with.len() {
        found.error(&at.key("scope_with"), "each request once");
    }
}

fn has_any(slot: &Slot) -> bool {
    !slot.token_params.is_empty()
        || slot.refresh_params.is_some()
        || slot.client_id_param.is_some()
        || slot.client_secret_param.is_some()
        || slot.redirect_uri_param.is_some()
        || slot.redirect_name.is_some()
        || slot.tenant.is_some()
        || slot.scope_param.is_some()
        || !slot.scope_with.is_empty()
        || slot.token_body != TokenBody::default()
        || slot.token_answer != TokenAnswer::default()
        || slot.token_lifetime_s.is_some()
        || slot.revoke_param.is_some()
}

fn params(
    manifest: &Manifest,
    slot: &Slot,
    params: &BTreeMap<String, String>,
    found: &mut Lint,
    at: &ManifestPath<'_>,
) {
    if params.len() > PARAMS_MAX {
        found.error(at, format!("at most {PARAMS_MAX} parameters"));
    }
    let mut seen: HashSet<String> = own_names(slot).map(|(_, _, name)| folded(name)).collect();
    for (name, value) in params.iter().take(PARAMS_MAX) {
        let at = at.key(name);
        if let Err(problem) = check_param(name, value) {
            found.error(&at, problem);
            continue;
        }
        if !seen.insert(folded(name)) {
            found.error(&at, format!("`{name}` is sent twice"));
        }
        for key in token_requests::names_in(value) {
            if !matches!(key, REDIRECT_URI | STATE) && !parameters::is_known(manifest, key) {
                found.error(
                    &at,
                    format!("`{{{}}}` is not a connection parameter", text::shown(key)),
                );
            }
        }
    }
}

/// The gateway's parameters that the slot calls by another name: key, usual name, name.
fn own_names(slot: &Slot) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
    [
        ("client_id_param", "client_id", &slot.client_id_param),
        (
            "client_secret_param",
            "client_secret",
            &slot.client_secret_param,
        ),
        (
            "redirect_uri_param",
            "redirect_uri",
            &slot.redirect_uri_param,
        ),
    ]
    .into_iter()
    .filter_map(|(key, usual, name)| Some((key, usual, name.as_deref()?)))
}

fn names(slot: &Slot, found: &mut Lint, at: &ManifestPath<'_>) {
    let mut seen = HashSet::new();
    for (key, usual, name) in own_names(slot) {
        if let Err(problem) = check_name(usual, name) {
            found.error(&at.key(key), problem);
        } else if !seen.insert(folded(name)) {
            found.error(&at.key(key), format!("`{name}` is sent twice"));
        }
    }
    for (key, usual, name) in [
        ("scope_param", "scope", &slot.scope_param),
        ("revoke_param", "token", &slot.revoke_param),
    ] {
        // Many revoke with the parameter `access_token`, which means the same there.
        if let Some(name) = name
            && !(usual == "token" && name == "access_token")
            && let Err(problem) = check_name(usual, name)
        {
            found.error(&at.key(key), problem);
        }
    }
}

fn answer(answer: &TokenAnswer, found: &mut Lint, at: &ManifestPath<'_>) {
    let places = answer
        .access_token
        .as_ref()
        .map(|places| places.list().len());
    if places.is_some_and(|places| !(1..=PLACES_MAX).contains(&places)) {
        found.error(
            &at.key("access_token"),
            format!("1 to {PLACES_MAX} JSON Pointers"),
        );
    }
    for (key, pointer) in answer.pointers().into_iter().take(PLACES_MAX + 5) {
        let plain = pointer.bytes().all(|byte| (0x21..0x7f).contains(&byte));
        if !pointer.starts_with('/') || pointer.len() > POINTER_BYTES_MAX || !plain {
            found.error(
                &at.key(key),
                "must be a JSON Pointer such as /authed_user/access_token",
            );
        }
    }
}
