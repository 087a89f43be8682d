//! How the gateway is registered at providers: the operator's side of OAuth.

mod one_setting;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

pub use one_setting::{allow_scopes, move_callback, put_back};
pub(super) use settings::{again_from_ms, registered_ms, with_again_from};
pub use settings::{base_url, redirect_name, scopes_max, tenant};

use settings::NewSettings;

use super::callback::CallbackAddress;
use crate::audit::AuditAction;
use crate::{Caller, Error};
use toolgate_catalog::is_scope;
use toolgate_catalog::manifest::{AuthKind, Manifest, Slot};
use toolgate_egress as egress;
use toolgate_oauth::Provider;
use toolgate_oauth::dialect::Dialect;
use toolgate_store::{ALL_WORKSPACES, OAuthApp, Role, Store};
use toolgate_vault::{SealContext, Secret, Vault};

const CLIENT_ID_BYTES_MAX: usize = 1_000;
const CLIENT_SECRET_BYTES_MAX: usize = 8 * 1024;
const SCOPES_MAX: usize = 200;
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
    /// The provider's name of the callback address, for a slot with a `redirect_name`.
    pub redirect_name: Option<String>,
    /// The organization of the application, for a slot with a `tenant`.
    pub tenant: Option<String>,
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
    /// Absent keeps the one there is.
    pub redirect_name: Option<String>,
    /// Absent keeps the one there is.
    pub tenant: Option<String>,
    /// The redirect address that the application is registered with. Absent keeps the one there is; a new
    /// registration has that of its service.
    pub callback: Option<CallbackAddress>,
    /// The gateway has asked the authorization server for it, and may ask again when the server has forgotten it.
    pub by_itself: bool,
}

impl From<NewApp> for PutApp {
    fn from(new: NewApp) -> Self {
        Self {
            client_id: new.client_id,
            client_secret: Some(new.client_secret),
            scopes: new.scopes,
            scopes_max: Some(new.scopes_max),
            base_url: new.base_url,
            redirect_name: new.redirect_name,
            tenant: new.tenant,
            callback: new.callback,
            by_itself: false,
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

/// Keeps a registration that the gateway has asked for, and may ask for again.
pub async fn register_by_itself(
    store: &Store,
    vault: &Vault,
    caller: &Caller,
    manifest: &Manifest,
    workspace_id: &str,
    new: NewApp,
    now_ms: i64,
) -> Result<(), Error> {
    let all = PutApp {
        by_itself: true,
        ..PutApp::from(new)
    };
    change(store, vault, caller, manifest, workspace_id, all, now_ms).await
}

/// Keeps a registration; a client secret, a `scopes_max`, a `redirect_name`, a `tenant` and a `callback` that are not given stay as they are.
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
    check(&new)?;
    if new.callback == Some(CallbackAddress::SharedUnproven) {
        caller.need_operator()?;
    }
    let mut settings = NewSettings::default();
    settings.callback(new.callback);
    settings.scopes_max(new.scopes_max.as_deref());
    settings.base_url(new.base_url.as_deref())?;
    settings.redirect_name(manifest, new.redirect_name.as_deref())?;
    settings.tenant(manifest, new.tenant.as_deref())?;
    settings.by_itself(new.by_itself.then_some(now_ms));
    let sealed = match &new.client_secret {
        Some(Some(secret)) => Some(
            vault
                .seal(&place(workspace_id, service), secret)
                .map_err(|cause| Error::Internal(cause.into()))?,
        ),
        Some(None) | None => None,
    };
    let keeps_secret = new.client_secret.is_none();
    let mut details = settings.details;
    details.insert("client_id".to_owned(), json!(new.client_id));
    details.insert("scopes".to_owned(), json!(new.scopes));
    let everywhere = workspace_id == ALL_WORKSPACES;
    details.insert("everywhere".to_owned(), json!(everywhere));
    if !keeps_secret {
        details.insert("has_secret".to_owned(), json!(sealed.is_some()));
    }
    let app = OAuthApp {
        workspace_id: workspace_id.to_owned(),
        service: service.clone(),
        client_id: new.client_id,
        sealed,
        scopes: new.scopes.as_deref().map(OAuthApp::scopes_json),
        settings: Value::Object(settings.values).to_string(),
        updated_at_ms: now_ms,
    };
    caller
        .audited(
            store,
            now_ms,
            AuditAction::ServicesRegisterApp,
            service,
            Value::Object(details),
        )
        .change_oauth_app(&app, keeps_secret, &settings.kept)
        .await?;
    Ok(())
}

fn check(new: &PutApp) -> Result<(), Error> {
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
        check_scopes(scopes)?;
    }
    Ok(())
}

fn check_scopes(scopes: &[String]) -> Result<(), Error> {
    if scopes.len() > SCOPES_MAX || !scopes.iter().all(|scope| is_scope(scope)) {
        return Err(Error::InvalidRequest(format!(
            "scopes are at most {SCOPES_MAX} words of printable characters"
        )));
    }
    Ok(())
}

/// Whether a user can connect the service now; if not, what the operator has to do.
pub fn connectable(manifest: &Manifest, app: Option<&OAuthApp>) -> Result<(), &'static str> {
    if manifest.auth.is_empty() || manifest.auth.iter().any(|slot| slot_is_ready(slot, app)) {
        Ok(())
    } else {
        let named = manifest
            .auth
            .iter()
            .any(|slot| slot.redirect_name.is_some());
        Err(match named {
            true => {
                "needs --client-id, --client-secret-file and --redirect-name, the provider's name of the callback URL"
            }
            false => "needs --client-id and, unless it is a public client, --client-secret-file",
        })
    }
}

/// Whether a user can connect this slot now.
pub fn slot_is_ready(slot: &Slot, app: Option<&OAuthApp>) -> bool {
    !needs_app(slot)
        || app.is_some_and(|app| slot.redirect_name.is_none() || redirect_name(app).is_some())
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
    let tenant = slot
        .tenant
        .clone()
        .map(|default| tenant(app).unwrap_or(default));
    let address = |url: &Option<String>| -> Result<Option<String>, Error> {
        let Some(url) = url else { return Ok(None) };
        let url = match &base {
            Some(base) => moved(url, base),
            None => url.clone(),
        };
        let url = match &tenant {
            Some(tenant) => url.replace("/{tenant}", &format!("/{tenant}")),
            None => url,
        };
        if base.is_some() {
            return Ok(Some(url));
        }
        egress::fill_parameters(&url, parameters)
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
        redirect_name: slot.redirect_name.as_ref().and_then(|_| redirect_name(app)),
        origins: base.into_iter().collect(),
    })
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

/// `url` with everything up to its path replaced.
pub(super) fn moved(url: &str, base: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find(['/', '?']).map_or("", |at| &rest[at..]);
    format!("{base}{path}")
}

pub(super) fn place<'a>(workspace_id: &'a str, service: &'a str) -> SealContext<'a> {
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

    fn manifest(redirect_name: Option<&str>) -> Manifest {
        serde_json::from_value(json!({
            "manifest": 1, "service": "desk", "title": "Desk", "version": "1.0.0", "description": "d",
            "auth": [{
                "slot": "user", "title": "User", "type": "oauth2", "redirect_name": redirect_name,
                "authorize_url": "https://desk.test/authorize", "token_url": "https://desk.test/token",
                "placement": {"header": "authorization"}, "audience": ["https://desk.test"]
            }],
            "tools": []
        }))
        .unwrap()
    }

    fn app(settings: Value) -> OAuthApp {
        OAuthApp {
            workspace_id: "w".to_owned(),
            service: "desk".to_owned(),
            client_id: "c".to_owned(),
            sealed: None,
            scopes: None,
            settings: settings.to_string(),
            updated_at_ms: 0,
        }
    }

    #[test]
    fn a_tenant_is_filled_into_paths() {
        let mut manifest = manifest(None);
        let slot = &mut manifest.auth[0];
        slot.tenant = Some("common".to_owned());
        slot.authorize_url = Some("https://login.test/{tenant}/authorize".to_owned());
        slot.token_url = Some("https://login.test/{tenant}/token".to_owned());
        let slot = &manifest.auth[0];
        let folder = tempfile::TempDir::new().unwrap();
        let vault = Vault::open(&folder.path().join("master.key")).unwrap();
        let urls = |settings: Value| {
            let provider = provider(&vault, slot, &app(settings), &BTreeMap::new()).unwrap();
            [provider.authorize_url.unwrap(), provider.token_url]
        };
        assert_eq!(
            urls(json!({})),
            [
                "https://login.test/common/authorize",
                "https://login.test/common/token"
            ]
        );
        assert_eq!(
            urls(json!({"tenant": "acme.example"})),
            [
                "https://login.test/acme.example/authorize",
                "https://login.test/acme.example/token"
            ]
        );
    }

    #[test]
    fn a_slot_with_a_redirect_name_is_ready_once_the_name_is_registered() {
        let (named, plain) = (manifest(Some("RuName")), manifest(None));
        let without = app(json!({}));
        let with = app(json!({"redirect_name": "Acme-PRD"}));
        assert!(connectable(&plain, Some(&without)).is_ok());
        assert!(connectable(&named, Some(&with)).is_ok());
        for missing in [None, Some(&without)] {
            let said = connectable(&named, missing).unwrap_err();
            assert!(said.contains("--redirect-name"), "{said}");
        }
        assert!(!connectable(&plain, None).unwrap_err().contains("redirect"));
    }
}
