//! Clients that an admin names for the workspace, in the dashboard and at the command line: programs that can
//! neither describe nor register themselves, and machines that act for a user by themselves.

use serde::Serialize;
use serde_json::json;

use super::APP_SCOPES;
use super::clients::{REDIRECT_RULE, REDIRECTS_MAX};
use super::redirects;
use crate::keys::random_base62;
use crate::{Caller, Error, Identity, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::UserId;
use toolgate_core::visible::visible_line;
use toolgate_operation::audit::AuditAction;
use toolgate_store::{AppClient, AppClientAuth, AppClientKind, Role, Store};
use toolgate_vault::Secret;
use toolgate_vault::opaque::hash;

/// Clients of one workspace.
pub const NAMED_MAX: i64 = 200;
const NAME_CHARS_MAX: usize = 60;
const ID_CHARS: usize = 22;
const SECRET_CHARS: usize = 43;

/// A client that is to be named.
#[derive(Clone, Debug)]
pub struct NewClient {
    pub name: String,
    /// Where answers to its authorization requests may go.
    pub redirect_uris: Vec<String>,
    /// The user that it gets tokens for by its secret alone.
    pub acts_for: Option<UserId>,
    /// What it may have at most; everything that an app may have, if empty.
    pub scopes: Vec<Scope>,
    /// A program on a person's computer, which can keep no secret.
    pub public: bool,
}

/// What is known of a client.
#[derive(Clone, Debug, Serialize)]
pub struct NamedClientInfo {
    pub client_id: String,
    pub name: String,
    pub redirect_uris: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acts_for: Option<String>,
    pub scopes: Vec<String>,
    pub has_secret: bool,
    pub created_at: String,
    /// When it last got a token, or a member last let it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
}

/// A client at the only time at which its secret can be read.
#[derive(Debug)]
pub struct CreatedClient {
    pub info: NamedClientInfo,
    pub secret: Option<Secret>,
}

impl From<AppClient> for NamedClientInfo {
    fn from(row: AppClient) -> Self {
        Self {
            client_id: row.id,
            name: row.name,
            redirect_uris: row.redirect_uris,
            acts_for: row.acts_for,
            scopes: row.scopes,
            has_secret: row.secret_hash.is_some(),
            created_at: rfc3339(row.created_at_ms),
            last_used_at: row.used_at_ms.map(rfc3339),
        }
    }
}

impl Identity {
    /// The clients of the workspace, newest first.
    pub async fn named_clients(&self, caller: &Caller) -> Result<Vec<NamedClientInfo>, Error> {
        caller.need_role(Role::Admin)?;
        list(&self.store, &caller.workspace_id).await
    }

    /// Names a client.
    ///
    /// # Errors
    /// As [`create`].
    pub async fn name_client(
        &self,
        caller: &Caller,
        new: NewClient,
    ) -> Result<CreatedClient, Error> {
        create(&self.store, caller, new, self.clock.now_ms()).await
    }

    /// Ends a client with all that it got.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn remove_client(&self, caller: &Caller, client_id: &str) -> Result<(), Error> {
        remove(&self.store, caller, client_id, self.clock.now_ms()).await?;
        Ok(())
    }
}

/// Names a client.
///
/// # Errors
/// `invalid_request` for what no client may be; `conflict` where the workspace has [`NAMED_MAX`].
pub async fn create(
    store: &Store,
    caller: &Caller,
    new: NewClient,
    now_ms: i64,
) -> Result<CreatedClient, Error> {
    caller.need_role(Role::Admin)?;
    check(&new)?;
    let secret = (!new.public).then(|| {
        let random = random_base62(SECRET_CHARS);
        Secret::new(format!("tg_ocs_{}", random.expose()))
    });
    let scopes = APP_SCOPES
        .into_iter()
        .filter(|scope| new.scopes.is_empty() || new.scopes.contains(scope));
    let client = AppClient {
        id: format!("tgc_{}", random_base62(ID_CHARS).expose()),
        kind: AppClientKind::Named,
        name: new.name.trim().to_owned(),
        redirect_uris: new.redirect_uris,
        auth_method: match new.public {
            true => AppClientAuth::None,
            false => AppClientAuth::Basic,
        },
        secret_hash: secret.as_ref().map(|secret| hash(secret.expose())),
        created_at_ms: now_ms,
        fresh_until_ms: None,
        used_at_ms: None,
        workspace_id: Some(caller.workspace_id.to_string()),
        acts_for: new.acts_for.map(|user| user.to_string()),
        scopes: scopes.map(|scope| scope.into_str().to_owned()).collect(),
        jwks_uri: None,
    };
    let details = json!({
        "client": client.name, "acts_for": client.acts_for, "scopes": client.scopes,
    });
    let action = AuditAction::AppsClientCreate;
    let made = caller
        .audited(store, now_ms, action, &client.id, details)
        .insert_named_client(&client, NAMED_MAX)
        .await?;
    if !made {
        return Err(Error::Conflict(format!(
            "the workspace has {NAMED_MAX} named clients: remove one first"
        )));
    }
    Ok(CreatedClient {
        info: client.into(),
        secret,
    })
}

/// Newest first.
pub async fn list(store: &Store, workspace_id: &str) -> Result<Vec<NamedClientInfo>, Error> {
    let rows = store.list_named_clients(workspace_id).await?;
    Ok(rows.into_iter().map(Into::into).collect())
}

/// Ends the client with this id or, where there is one, this name.
///
/// # Errors
/// `not_found`; `conflict` for a name that several have.
pub async fn remove(
    store: &Store,
    caller: &Caller,
    which: &str,
    now_ms: i64,
) -> Result<NamedClientInfo, Error> {
    caller.need_role(Role::Admin)?;
    let clients = store.list_named_clients(&caller.workspace_id).await?;
    let (mut found, other): (Vec<_>, Vec<_>) =
        clients.into_iter().partition(|client| client.id == which);
    if found.is_empty() {
        found = other.into_iter().filter(|one| one.name == which).collect();
    }
    let unknown = || Error::NotFound("the client".to_owned());
    if found.len() > 1 {
        let shown = visible_line(which);
        return Err(Error::Conflict(format!(
            "several clients are named {shown}: pass the id"
        )));
    }
    let client = found.pop().ok_or_else(unknown)?;
    let details = json!({ "client": client.name });
    let action = AuditAction::AppsClientRemove;
    let removed = caller
        .audited(store, now_ms, action, &client.id, details)
        .delete_named_client(&caller.workspace_id, &client.id)
        .await?;
    match removed {
        true => Ok(client.into()),
        false => Err(unknown()),
    }
}

fn check(new: &NewClient) -> Result<(), Error> {
    let bad = |sentence: String| Err(Error::InvalidRequest(sentence));
    let name = new.name.trim();
    let chars = name.chars().count();
    if !(1..=NAME_CHARS_MAX).contains(&chars) || visible_line(name) != name {
        return bad(format!(
            "name: must have 1 to {NAME_CHARS_MAX} visible characters"
        ));
    }
    if new.redirect_uris.len() > REDIRECTS_MAX {
        return bad(format!("redirect_uris: must have at most {REDIRECTS_MAX}"));
    }
    let mut redirect_uris = new.redirect_uris.iter();
    if let Some(wrong) = redirect_uris.find(|uri| redirects::destination(uri).is_none()) {
        let wrong = visible_line(wrong);
        return bad(format!("redirect_uris: {wrong} {REDIRECT_RULE}"));
    }
    if let Some(scope) = new.scopes.iter().find(|one| !APP_SCOPES.contains(one)) {
        return bad(format!(
            "scopes: an app cannot have {}; it may have {}",
            scope.into_str(),
            super::scopes::all_scopes()
        ));
    }
    if new.public && new.acts_for.is_some() {
        return bad("acts_for: a client without a secret cannot act by itself".to_owned());
    }
    Ok(())
}
