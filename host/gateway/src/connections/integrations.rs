//! Integrations as people set them up: what each service is, whether it can be connected, its
//! settings and its OAuth application.
//!
//! What the workspace that runs the installation sets holds for all; what another one sets holds for
//! itself. Addresses are the first one's alone to set: they decide which machines the gateway
//! reaches.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

pub use crate::connections::apps::PutApp;

use crate::audit::AuditAction;
use crate::connections::apps;
use crate::connections::callback::{CallbackAddress, callback_url};
use crate::connections::services;
use crate::connections::setup::needed_first;
use crate::tools::ListedTool;
use crate::tools::find::listed;
use crate::{Caller, Error, Gateway};
use toolgate_catalog::manifest::{AuthKind, ConfigKey, Manifest, Slot};
use toolgate_store::{ALL_WORKSPACES, ConnectionCount, OAuthApp, Role, ServiceSetting};

#[derive(Clone, Debug, Serialize)]
pub struct ServiceList {
    pub services: Vec<ServiceInfo>,
}

/// One integration.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceInfo {
    pub service: String,
    pub title: String,
    pub description: String,
    pub version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    pub categories: Vec<String>,
    pub tools: usize,
    pub auth_type: String,
    pub auth: Vec<SlotInfo>,
    pub connectable: bool,
    /// What is missing before a user can connect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    pub app: Option<AppInfo>,
    /// The redirect address to register at the provider, of a service that uses OAuth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_url: Option<String>,
    pub settings: Vec<SettingInfo>,
    /// Connections of the workspace, or of a member without a larger role.
    pub connections: usize,
    pub connections_broken: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct SlotInfo {
    pub slot: String,
    pub title: String,
    pub r#type: String,
    pub scopes: Vec<String>,
    pub needs_app: bool,
    /// What the provider calls its name of the callback address, which it takes in place of the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_name: Option<String>,
    /// What the tenant in its addresses is, unless the application's is registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl SlotInfo {
    fn from_slot(slot: &Slot) -> Self {
        Self {
            slot: slot.slot.clone(),
            title: slot.title.clone(),
            r#type: slot.kind.as_str().to_owned(),
            scopes: slot.scopes.clone(),
            needs_app: apps::needs_app(slot),
            redirect_name: slot.redirect_name.clone(),
            tenant: slot.tenant.clone(),
        }
    }
}

/// A registered OAuth application, without its secret.
#[derive(Clone, Debug, Serialize)]
pub struct AppInfo {
    /// Absent for who may not change it.
    pub client_id: Option<String>,
    pub has_secret: bool,
    pub scopes: Option<Vec<String>>,
    pub scopes_max: Vec<String>,
    pub base_url: Option<String>,
    /// The provider's name of the callback address.
    pub redirect_name: Option<String>,
    /// The organization of the application.
    pub tenant: Option<String>,
    /// Whether it holds for all workspaces.
    pub everywhere: bool,
    /// Which redirect address it is registered with.
    pub callback: CallbackAddress,
}

#[derive(Clone, Debug, Serialize)]
pub struct SettingInfo {
    pub key: String,
    pub title: String,
    pub schema: Value,
    pub set: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Its value is an address that is granted, so only the operator sets it.
    pub operator_only: bool,
}

/// Everything that is known of settings and connections at one moment.
pub(super) struct IntegrationState {
    settings: Vec<ServiceSetting>,
    apps: Vec<OAuthApp>,
    connections: Vec<ConnectionCount>,
}

impl Gateway {
    /// All integrations that serve, by name.
    pub async fn service_list(&self, caller: &Caller) -> Result<ServiceList, Error> {
        caller.need_role(Role::Member)?;
        let known = self.known_of_services(caller).await?;
        let snapshot = self.snapshot();
        let manifests = snapshot
            .catalog
            .services()
            .filter_map(|service| snapshot.catalog.manifest(service));
        Ok(ServiceList {
            services: manifests
                .map(|manifest| described(caller, manifest, &known, &self.public_url))
                .collect(),
        })
    }

    /// One integration that serves.
    pub async fn service(&self, caller: &Caller, service: &str) -> Result<ServiceInfo, Error> {
        caller.need_role(Role::Member)?;
        let manifest = self.manifest_of(service)?;
        let known = self.known_of_services(caller).await?;
        Ok(described(caller, &manifest, &known, &self.public_url))
    }

    /// Every tool of a service, whether its users may use it or not: what there can be rules for.
    pub async fn service_tools(
        &self,
        caller: &Caller,
        service: &str,
    ) -> Result<Vec<ListedTool>, Error> {
        caller.need_role(Role::Member)?;
        self.manifest_of(service)?;
        let snapshot = self.snapshot();
        let tools = snapshot.catalog.tools().iter();
        Ok(tools
            .filter(|tool| tool.service() == service)
            .map(|tool| listed(tool))
            .collect())
    }

    /// Sets values of a service; `null` takes one away.
    pub async fn set_service(
        &self,
        caller: &Caller,
        service: &str,
        values: BTreeMap<String, Value>,
    ) -> Result<ServiceInfo, Error> {
        caller.need_role(Role::Admin)?;
        let manifest = self.manifest_of(service)?;
        for key in values.keys() {
            let declared = manifest.config.iter().find(|declared| declared.key == *key);
            if declared.is_some_and(|declared| declared.adds_host) {
                caller.need_operator()?;
            }
        }
        let owner = owner(caller);
        let (gone, set): (Vec<_>, Vec<_>) =
            values.into_iter().partition(|(_, value)| value.is_null());
        let texts: Vec<(String, String)> = set
            .into_iter()
            .map(|(key, value)| match value {
                Value::String(text) => (key, text),
                other => (key, other.to_string()),
            })
            .collect();
        let now_ms = self.clock.now_ms();
        let unset: Vec<String> = gone.into_iter().map(|(key, _)| key).collect();
        let change = services::ChangeSettings {
            manifest: &manifest,
            workspace_id: owner,
            set: &texts,
            unset: &unset,
        };
        services::configure(&self.store, caller, change, now_ms).await?;
        self.service(caller, service).await
    }

    /// Keeps the registration of an OAuth application, as [`apps::change`] does.
    pub async fn put_service_app(
        &self,
        caller: &Caller,
        service: &str,
        app: PutApp,
    ) -> Result<ServiceInfo, Error> {
        caller.need_role(Role::Admin)?;
        if app.base_url.is_some() {
            caller.need_operator()?;
        }
        let manifest = self.manifest_of(service)?;
        let (owner, now_ms) = (owner(caller), self.clock.now_ms());
        let (store, vault) = (&self.store, self.vault());
        apps::change(store, vault, caller, &manifest, owner, app, now_ms).await?;
        self.service(caller, service).await
    }

    /// Forgets the registration that the caller's side has made.
    pub async fn delete_service_app(
        &self,
        caller: &Caller,
        service: &str,
    ) -> Result<ServiceInfo, Error> {
        caller.need_role(Role::Admin)?;
        let owner = owner(caller);
        let details = json!({ "everywhere": owner == ALL_WORKSPACES });
        let audited = self.audited(caller, AuditAction::ServicesForgetApp, service, details);
        if !audited.delete_oauth_app(owner, service).await? {
            return Err(Error::NotFound("a registration of yours".to_owned()));
        }
        self.service(caller, service).await
    }

    pub(super) fn manifest_of(&self, service: &str) -> Result<Arc<Manifest>, Error> {
        let snapshot = self.snapshot();
        let manifest = snapshot.catalog.manifest(service);
        manifest
            .cloned()
            .ok_or_else(|| Error::ServiceNotFound(toolgate_core::visible::shown_name(service)))
    }

    pub(super) async fn known_of_services(
        &self,
        caller: &Caller,
    ) -> Result<IntegrationState, Error> {
        let ours = |of: &str| of == ALL_WORKSPACES || caller.workspace_id == of;
        let mut settings = self.store.list_service_config().await?;
        settings.retain(|row| ours(&row.workspace_id));
        let mut apps = self.store.list_oauth_apps().await?;
        apps.retain(|app| ours(&app.workspace_id));
        let user = caller.confined.then(|| caller.default_user.as_str());
        Ok(IntegrationState {
            settings,
            apps,
            connections: self
                .store
                .count_connections(&caller.workspace_id, user, self.clock.now_ms())
                .await?,
        })
    }
}

/// Whose settings the caller's changes are.
pub(super) fn owner(caller: &Caller) -> &str {
    if caller.operator {
        ALL_WORKSPACES
    } else {
        &caller.workspace_id
    }
}

pub(super) fn described(
    caller: &Caller,
    manifest: &Manifest,
    known: &IntegrationState,
    public_url: &str,
) -> ServiceInfo {
    let service = manifest.service.as_str();
    // A workspace's own precedes the one for all.
    let app = known
        .apps
        .iter()
        .filter(|app| app.service == service)
        .max_by_key(|app| app.workspace_id != ALL_WORKSPACES);
    let missing = missing_setup(manifest, known, app);
    let connections = known.connections.iter();
    let connections = connections.filter(|count| count.service == service);
    let broken = connections.clone().filter(|count| count.state.is_broken());
    let auth_type = manifest.auth.first().map(|slot| slot.kind.as_str());
    let has_sign_in = |slot: &Slot| slot.kind == AuthKind::Oauth2;
    ServiceInfo {
        service: service.to_owned(),
        title: manifest.title.clone(),
        description: manifest.description.clone(),
        version: manifest.version.clone(),
        homepage: manifest.homepage.clone(),
        categories: manifest.categories.clone(),
        tools: manifest.tools.len(),
        auth_type: auth_type.unwrap_or("none").to_owned(),
        auth: manifest.auth.iter().map(SlotInfo::from_slot).collect(),
        connectable: missing.is_none(),
        callback_url: (manifest.auth.iter())
            .any(has_sign_in)
            .then(|| callback_url(public_url, service, app)),
        missing,
        app: app.map(|app| app_info(caller, app)),
        settings: setting_infos(caller, manifest, known),
        connections_broken: broken.map(|count| count.connections).sum(),
        connections: connections.map(|count| count.connections).sum(),
    }
}

fn missing_setup(
    manifest: &Manifest,
    known: &IntegrationState,
    app: Option<&OAuthApp>,
) -> Option<String> {
    let of_service = |row: &&ServiceSetting| row.service == manifest.service;
    let unset = needed_first(manifest, |key| {
        let mut rows = known.settings.iter().filter(of_service);
        rows.any(|row| row.key == key)
    });
    match (unset, apps::connectable(manifest, app)) {
        (Some(key), _) => Some(format!("needs setup: {} is not set", key.key)),
        (None, Err(_)) => Some("an OAuth application has to be registered first".to_owned()),
        (None, Ok(())) => None,
    }
}

/// Whether the caller may see what was registered or set in this workspace.
fn is_shown(caller: &Caller, workspace_id: &str) -> bool {
    let is_own = caller.operator || workspace_id != ALL_WORKSPACES;
    is_own && caller.need_role(Role::Admin).is_ok()
}

fn app_info(caller: &Caller, app: &OAuthApp) -> AppInfo {
    let shown = is_shown(caller, &app.workspace_id);
    AppInfo {
        client_id: shown.then(|| app.client_id.clone()),
        has_secret: app.sealed.is_some(),
        scopes: app.scopes(),
        scopes_max: apps::scopes_max(app),
        base_url: apps::base_url(app).filter(|_| shown),
        everywhere: app.workspace_id == ALL_WORKSPACES,
        redirect_name: apps::redirect_name(app).filter(|_| shown),
        tenant: apps::tenant(app).filter(|_| shown),
        callback: CallbackAddress::from_app(app),
    }
}

fn setting_infos(
    caller: &Caller,
    manifest: &Manifest,
    known: &IntegrationState,
) -> Vec<SettingInfo> {
    let info = |declared: &ConfigKey| {
        let set = known
            .settings
            .iter()
            .filter(|row| row.service == manifest.service && row.key == declared.key)
            .max_by_key(|row| row.workspace_id != ALL_WORKSPACES);
        // The operator's own addresses are nobody else's business.
        let shown = set.filter(|row| is_shown(caller, &row.workspace_id));
        SettingInfo {
            key: declared.key.clone(),
            title: declared.title.clone(),
            schema: declared.schema.clone(),
            set: set.is_some(),
            value: shown.and_then(|row| serde_json::from_str(&row.value).ok()),
            operator_only: declared.adds_host,
        }
    };
    manifest.config.iter().map(info).collect()
}
