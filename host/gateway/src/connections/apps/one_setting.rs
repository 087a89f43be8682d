//! Changes of one setting of a registration, which keeps its client: a connection made with it goes on.

use serde_json::{Value, json};

use super::check_scopes;
use super::settings::SCOPES_MAX_SETTING;
use crate::audit::AuditAction;
use crate::connections::callback::{CALLBACK_SETTING, CallbackAddress};
use crate::{Caller, Error};
use toolgate_store::{ALL_WORKSPACES, OAuthApp, Role, Store};

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
    let setting = (CALLBACK_SETTING, json!(callback));
    change(store, caller, service, workspace_id, setting, now_ms).await
}

/// Lets connect links ask for these scopes beside those that the manifest names, in place of those that were allowed so
/// far, and changes nothing else of the registration.
///
/// # Errors
/// `not_found` where no application is registered there; `invalid_request` for what is no scope.
pub async fn allow_scopes(
    store: &Store,
    caller: &Caller,
    service: &str,
    workspace_id: &str,
    scopes: &[String],
    now_ms: i64,
) -> Result<(), Error> {
    caller.need_role(Role::Admin)?;
    check_scopes(scopes)?;
    let setting = (SCOPES_MAX_SETTING, json!(scopes));
    change(store, caller, service, workspace_id, setting, now_ms).await
}

/// Puts a registration back as it was before one that did not succeed. `earlier`: `None` where there was none.
pub async fn put_back(
    store: &Store,
    caller: &Caller,
    service: &str,
    workspace_id: &str,
    earlier: Option<&OAuthApp>,
    now_ms: i64,
) -> Result<(), Error> {
    caller.need_role(Role::Admin)?;
    let now = store.find_oauth_app(workspace_id, service).await?;
    let now = now.filter(|app| app.workspace_id == workspace_id);
    if now.as_ref() == earlier {
        return Ok(());
    }
    let everywhere = workspace_id == ALL_WORKSPACES;
    match earlier {
        Some(app) => {
            let action = AuditAction::ServicesRegisterApp;
            let details = json!({ "client_id": app.client_id, "everywhere": everywhere });
            caller
                .audited(store, now_ms, action, service, details)
                .change_oauth_app(app, false, &[])
                .await?;
        }
        None => {
            let action = AuditAction::ServicesForgetApp;
            let details = json!({ "everywhere": everywhere });
            caller
                .audited(store, now_ms, action, service, details)
                .delete_oauth_app(workspace_id, service)
                .await?;
        }
    }
    Ok(())
}

async fn change(
    store: &Store,
    caller: &Caller,
    service: &str,
    workspace_id: &str,
    (key, value): (&str, Value),
    now_ms: i64,
) -> Result<(), Error> {
    let found = store.find_oauth_app(workspace_id, service).await?;
    let mut app = found
        .filter(|app| app.workspace_id == workspace_id)
        .ok_or_else(|| Error::NotFound(format!("the OAuth application of {service}")))?;
    let mut settings: Value = serde_json::from_str(&app.settings).unwrap_or_else(|_| json!({}));
    settings[key] = value.clone();
    app.settings = settings.to_string();
    app.updated_at_ms = now_ms;
    let details = json!({
        "client_id": app.client_id,
        key: value,
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
