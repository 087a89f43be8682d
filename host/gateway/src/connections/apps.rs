//! How the gateway is registered at providers: the operator's side of OAuth.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use url::Url;

use super::callback::{CALLBACK_SETTING, CallbackAddress};
use crate::audit::AuditAction;
use crate::{Caller, Error};
use toolgate_catalog::is_scope;
use toolgate_catalog::manifest::{AuthKind, Manifest, Slot};
use toolgate_egress::{self as egress, Grant};
use toolgate_oauth::Provider;
use toolgate_oauth::dialect::Dialect;
use toolgate_store::{ALL_WORKSPACES, OAuthApp, Role, Store};
use toolgate_vault::{SealContext, Secret, Vault};

const CLIENT_ID_BYTES_MAX: usize = 1_000;
const CLIENT_SECRET_BYTES_MAX: usize = 8 * 1024;
const SCOPES_MAX: usize = 200;
/// Name of [`NewApp::scopes_max`] in the settings of a registration.
const SCOPES_MAX_SETTING: &str = "scopes_max";

/// What an operator registers.
#[derive(Debug)]
pub struct NewApp {
    pub client_id: String,
    /// Absent for a public client.
    pub client_secret: Option<Secret>,
    /// In place of the manifest's default scopes.
    pub scopes: Option<Vec<String>>,
    /// Scopes that a connect link may ask for beside those that the manifest names.
    pub scopes_max: Vec<String>,
    /// Address of an on-premise server in front of the manifest's paths.
    pub base_url: Option<String>,
    /// Absent: as [`PutApp::callback`].
    pub callback: Option<CallbackAddress>,
}

/// What is registered at a provider. `client_secret`: absent keeps the one there is, `Some(None)`
/// makes it a public client.
#[derive(Debug)]
pub struct PutApp {
    pub client_id: String,
    pub client_secret: Option<Option<Secret>>,
    pub scopes: Option<Vec<String>>,
    /// Absent keeps those that there are.
    pub scopes_max: Option<Vec<String>>,
    pub base_url: Option<String>,
    /// The redirect address that the application is registered with. Absent keeps the one there is; a new
    /// registration has that of its service.
    pub callback: Option<CallbackAddress>,
}

impl From<NewApp> for PutApp {
    fn from(new: NewApp) -> Self {
        Self {
            client_id: new.client_id,
            client_secret: Some(new.client_secret),
            scopes: new.scopes,
            scopes_max: Some(new.scopes_max),
            base_url: new.base_url,
            callback: new.callback,
        }
    }
}

/// Keeps a registration, for one workspace or for all.
pub async fn register(
    store: &Store,
    vault: &Vault,
    caller: &Caller,
    manifest: &Manifest,
    workspace_id: &str,
    new: NewApp,
    now_ms: i64,
) -> Result<(), Error> {
    let all = new.into();
    change(store, vault, caller, manifest, workspace_id, all, now_ms).await
}

/// The same; a client secret, a `scopes_max` and a `callback` that are not given stay as they are.
pub async fn change(
    store: &Store,
    vault: &Vault,
    caller: &Caller,
    manifest: &Manifest,
    workspace_id: &str,
    new: PutApp,
    now_ms: i64,
) -> Result<(), Error> {
    caller.need_role(Role::Admin)?;
    let service = &manifest.service;
    if !manifest.auth.iter().any(needs_app) {
        return Err(Error::InvalidRequest(format!(
            "{service} does not use OAuth; users connect it without a client id"
        )));
    }
    let plain = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
    };
    if !plain(&new.client_id, CLIENT_ID_BYTES_MAX) {
        return Err(Error::InvalidRequest(format!(
            "a client id has 1 to {CLIENT_ID_BYTES_MAX} printable characters"
        )));
    }
    if let Some(Some(secret)) = &new.client_secret
        && !plain(secret.expose(), CLIENT_SECRET_BYTES_MAX)
    {
        return Err(Error::InvalidRequest(format!(
            "a client secret has 1 to {CLIENT_SECRET_BYTES_MAX} printable characters"
        )));
    }
    for scopes in [&new.scopes, &new.scopes_max].into_iter().flatten() {
        if scopes.len() > SCOPES_MAX || !scopes.iter().all(|scope| is_scope(scope)) {
            return Err(Error::InvalidRequest(format!(
                "scopes are at most {SCOPES_MAX} words of printable characters"
            )));
        }
    }
    if new.callback == Some(CallbackAddress::SharedUnproven) {
        caller.need_operator()?;
    }
    let mut settings =
        json!({ CALLBACK_SETTING: new.callback.unwrap_or(CallbackAddress::Service) });
    if let Some(scopes_max) = new.scopes_max.as_ref().filter(|named| !named.is_empty()) {
        settings[SCOPES_MAX_SETTING] = json!(scopes_max);
    }
    if let Some(base) = &new.base_url {
        let refused = || {
            Error::InvalidRequest(
                "the base URL is an http or https address without a query".to_owned(),
            )
        };
        let url = Url::parse(base).map_err(|_| refused())?;
        Grant::new(&[], std::slice::from_ref(base)).map_err(|_| refused())?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused());
        }
        settings["base_url"] = Value::String(base.trim_end_matches('/').to_owned());
    }
    let sealed = match &new.client_secret {
        Some(Some(secret)) => Some(
            vault
                .seal(&place(workspace_id, service), secret)
                .map_err(|cause| Error::Internal(cause.into()))?,
        ),
        Some(None) | None => None,
    };
    let mut details = json!({
        "client_id": new.client_id,
        "scopes": new.scopes,
        "base_url": new.base_url,
        "everywhere": workspace_id == ALL_WORKSPACES,
    });
    // What is kept is no part of the change: another one may write it at the same time.
    let keeps_secret = new.client_secret.is_none();
    if !keeps_secret {
        details["has_secret"] = json!(sealed.is_some());
    }
    let mut kept_settings = Vec::new();
    match &new.scopes_max {
        Some(scopes_max) => details["scopes_max"] = json!(scopes_max),
        None => kept_settings.push(SCOPES_MAX_SETTING),
    }
    match new.callback {
        Some(callback) => details[CALLBACK_SETTING] = json!(callback),
        None => kept_settings.push(CALLBACK_SETTING),
    }
    let app = OAuthApp {
        workspace_id: workspace_id.to_owned(),
        service: service.clone(),
        client_id: new.client_id,
        sealed,
        scopes: new.scopes.as_deref().map(OAuthApp::scopes_json),
        settings: settings.to_string(),
        updated_at_ms: now_ms,
    };
    caller
        .audited(
            store,
            now_ms,
            AuditAction::ServicesRegisterApp,
            service,
            details,
        )
        .change_oauth_app(&app, keeps_secret, &kept_settings)
        .await?;
    Ok(())
}

/// Changes the redirect address of the registration at this place, and nothing else of it.
///
/// # Errors
/// `not_found` where no application is registered there.
pub async fn move_callback(
    store: &Store,
    caller: &Caller,
    service: &str,
    workspace_id: &str,
    callback: CallbackAddress,
    now_ms: i64,
) -> Result<(), Error> {
    caller.need_role(Role::Admin)?;
    if callback == CallbackAddress::SharedUnproven {
        caller.need_operator()?;
    }
    let found = store.find_oauth_app(workspace_id, service).await?;
    let mut app = found
        .filter(|app| app.workspace_id == workspace_id)
        .ok_or_else(|| Error::NotFound(format!("the OAuth application of {service}")))?;
    let mut settings: Value = serde_json::from_str(&app.settings).unwrap_or_else(|_| json!({}));
    settings[CALLBACK_SETTING] = json!(callback);
    app.settings = settings.to_string();
    app.updated_at_ms = now_ms;
    let details = json!({
        "client_id": app.client_id,
        CALLBACK_SETTING: callback,
        "everywhere": workspace_id == ALL_WORKSPACES,
    });
    caller
        .audited(
            store,
            now_ms,
            AuditAction::ServicesRegisterApp,
            service,
            details,
        )
        .change_oauth_app(&app, true, &[])
        .await?;
    Ok(())
}

/// Whether a user can connect the service now; if not, what the operator has to do.
pub fn connectable(manifest: &Manifest, app: Option<&OAuthApp>) -> Result<(), &'static str> {
    if manifest.auth.is_empty() || manifest.auth.iter().any(|slot| slot_is_ready(slot, app)) {
        Ok(())
    } else {
        Err("needs --client-id and, unless it is a public client, --client-secret-file")
    }
}

/// Whether a user can connect this slot now.
pub fn slot_is_ready(slot: &Slot, app: Option<&OAuthApp>) -> bool {
    !needs_app(slot) || app.is_some()
}

pub fn needs_app(slot: &Slot) -> bool {
    matches!(
        slot.kind,
        AuthKind::Oauth2 | AuthKind::Oauth2ClientCredentials
    )
}

/// The registration that holds for a workspace, for a service that has an OAuth slot.
pub async fn find(
    store: &Store,
    manifest: &Manifest,
    workspace_id: &str,
) -> Result<Option<OAuthApp>, Error> {
    if manifest.auth.iter().any(needs_app) {
        Ok(store
            .find_oauth_app(workspace_id, &manifest.service)
            .await?)
    } else {
        Ok(None)
    }
}

/// The client secret of a registration; `None` for a public client.
pub fn secret(vault: &Vault, app: &OAuthApp) -> Result<Option<Secret>, Error> {
    let opened = app
        .sealed
        .as_ref()
        .map(|sealed| vault.unseal(&place(&app.workspace_id, &app.service), sealed));
    opened
        .transpose()
        .map_err(|cause| Error::Internal(cause.into()))
}

/// The authorization server of a slot as this workspace sees it.
pub fn provider(
    vault: &Vault,
    slot: &Slot,
    app: &OAuthApp,
    parameters: &BTreeMap<String, String>,
) -> Result<Provider, Error> {
    let secret = secret(vault, app)?;
    let base = base_url(app);
    let address = |url: &Option<String>| -> Result<Option<String>, Error> {
        let Some(url) = url else { return Ok(None) };
        if let Some(base) = &base {
            return Ok(Some(moved(url, base)));
        }
        egress::fill_parameters(url, parameters)
            .map(Some)
            .map_err(|cause| Error::InvalidRequest(cause.to_string()))
    };
    Ok(Provider {
        authorize_url: address(&slot.authorize_url)?,
        token_url: address(&slot.token_url)?
            .ok_or_else(|| Error::Internal(anyhow::anyhow!("an OAuth slot has a token_url")))?,
        refresh_url: address(&slot.refresh_url)?,
        revoke_url: address(&slot.revoke_url)?,
        issuer: address(&slot.issuer)?,
        client_id: app.client_id.clone(),
        client_secret: secret,
        token_auth: slot.token_auth,
        pkce: slot.pkce,
        scope_separator: slot.scope_separator.clone(),
        authorize_params: slot.authorize_params.clone(),
        dialect: Dialect::from_slot(slot, parameters),
        origins: base.into_iter().collect(),
    })
}

pub fn base_url(app: &OAuthApp) -> Option<String> {
    let settings: Value = serde_json::from_str(&app.settings).ok()?;
    settings["base_url"].as_str().map(str::to_owned)
}

/// Every scope that a link for this slot may ask for: those of the slot, of its tools, and what the
/// operator has named.
pub fn scope_ceiling(manifest: &Manifest, slot: &Slot, app: Option<&OAuthApp>) -> BTreeSet<String> {
    let of_tools = manifest
        .tools
        .iter()
        .filter(|tool| tool.auth.contains(&slot.slot))
        .flat_map(|tool| tool.scopes.iter().cloned());
    let mut ceiling: BTreeSet<String> = slot.scopes.iter().cloned().chain(of_tools).collect();
    if let Some(app) = app {
        ceiling.extend(app.scopes().unwrap_or_default());
        ceiling.extend(scopes_max(app));
    }
    ceiling
}

/// What the operator has named beside the manifest's scopes.
pub fn scopes_max(app: &OAuthApp) -> Vec<String> {
    let settings: Value = serde_json::from_str(&app.settings).unwrap_or_default();
    let named = &settings[SCOPES_MAX_SETTING];
    let named = named.as_array().into_iter().flatten();
    named.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// `url` with everything up to its path replaced.
pub(super) fn moved(url: &str, base: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find(['/', '?']).map_or("", |at| &rest[at..]);
    format!("{base}{path}")
}

fn place<'a>(workspace_id: &'a str, service: &'a str) -> SealContext<'a> {
    SealContext {
        kind: "oauth_app",
        workspace_id,
        user_id: "",
        service,
        id: "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_on_premise_address_stands_in_front_of_the_path() {
        for (url, base, expected) in [
            (
                "https://github.com/login/oauth/authorize",
                "https://ghe.test",
                "https://ghe.test/login/oauth/authorize",
            ),
            (
                "https://github.com/a?b=c",
                "http://127.0.0.1:8/ghe",
                "http://127.0.0.1:8/ghe/a?b=c",
            ),
            (
                "https://{site}.x.test/a",
                "https://ghe.test",
                "https://ghe.test/a",
            ),
            ("https://github.com", "https://ghe.test", "https://ghe.test"),
        ] {
            assert_eq!(moved(url, base), expected);
        }
    }
}
