//! Making connect links: one use, fifteen minutes, bound to a user and a service.

use serde::Serialize;
use url::Url;

use super::granted::union;
use super::origins::is_loopback;
use super::setup::needed_first;
use super::{ConnectionManager, Error, Gateway, apps, slot_of};
use crate::{Caller, Scope};
use toolgate_catalog::manifest::{AuthKind, Manifest, Slot};
use toolgate_catalog::{SCOPE_BYTES_MAX, is_scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::{self, UserId};
use toolgate_store::{ConnectFlow, Connection, FlowState};
use toolgate_vault::Secret;
pub(crate) use toolgate_vault::opaque::{hash, random_token};

/// How long a link may be used.
pub const LINK_LIFE_MS: i64 = 15 * 60 * 1_000;
const SCOPES_MAX: usize = 100;
const PAGE_URL_BYTES_MAX: usize = 2_000;

/// `POST /v1/connections/link`.
#[derive(Clone, Debug)]
pub struct LinkConnection {
    pub service: String,
    pub user_id: Option<UserId>,
    /// Asked for beside the slot's: of those that the manifest or the operator names.
    pub scopes: Vec<String>,
    /// Renew this connection, which keeps its id.
    pub connection_id: Option<String>,
    /// Which credential slot; the first that can be connected if absent.
    pub slot: Option<String>,
    /// Where the browser goes at the end, so that the application can confirm who sits before it.
    pub confirm_url: Option<String>,
    /// Where the browser returns, however the link ends.
    pub return_url: Option<String>,
    /// The origin of the page that opens the link in a popup.
    pub popup_origin: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ConnectLink {
    /// Absolute, one use, 15 minutes.
    pub connect_url: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// The connection that it makes or renews.
    pub connection_id: String,
}

/// What a link is to be for.
pub(super) struct LinkRequest<'a> {
    pub workspace_id: &'a str,
    pub user: &'a UserId,
    pub manifest: &'a Manifest,
    /// Slots that will do, best first.
    pub slots: &'a [String],
    pub scopes: &'a [String],
    pub tool_name: Option<&'a str>,
    /// The connection to renew.
    pub connection: Option<&'a Connection>,
    /// The requester may not add or replace connections.
    pub first_only: bool,
    pub ending: LinkEnding,
}

/// Where a browser goes at the end of a link; each checked.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkEnding {
    pub confirm_url: Option<String>,
    pub return_url: Option<String>,
    pub popup_origin: Option<String>,
}

/// A fresh link.
pub(super) struct FreshLink {
    pub url: Secret,
    pub auth_type: &'static str,
    pub connection_id: String,
    pub expires_at_ms: i64,
}

impl ConnectionManager {
    /// `None` while the operator has not set up any slot that will do.
    pub(super) async fn make_link(&self, ask: LinkRequest<'_>) -> Result<Option<FreshLink>, Error> {
        let manifest = ask.manifest;
        let app = apps::find(&self.store, manifest, ask.workspace_id).await?;
        let ready = |slot: &&Slot| apps::slot_is_ready(slot, app.as_ref());
        let renewed = ask
            .connection
            .and_then(|row| slot_of(manifest, &row.slot))
            .filter(ready);
        let slot = renewed.or_else(|| {
            ask.slots
                .iter()
                .filter_map(|name| slot_of(manifest, name))
                .find(ready)
        });
        let Some(slot) = slot else { return Ok(None) };
        let renews = ask.connection.filter(|row| row.slot == slot.slot);
        let scopes = if apps::needs_app(slot) {
            let default = app
                .as_ref()
                .and_then(toolgate_store::OAuthApp::scopes)
                .unwrap_or_else(|| slot.scopes.clone());
            let ceiling = apps::scope_ceiling(manifest, slot, app.as_ref());
            let above: Vec<&str> = ask
                .scopes
                .iter()
                .filter(|scope| !ceiling.contains(*scope))
                .map(String::as_str)
                .collect();
            if !above.is_empty() {
                return Err(Error::InvalidRequest(format!(
                    "scopes: {} is not allowed: the plugin does not name it; the operator can allow it with `toolgate service configure {} --scopes-max`",
                    above.join(", "),
                    manifest.service
                )));
            }
            // What the provider has granted beside is not asked for again.
            let mut had = renews.map(|row| row.scopes.clone()).unwrap_or_default();
            had.retain(|scope| ceiling.contains(scope));
            union(&default, ask.scopes.iter().cloned().chain(had))
        } else {
            Vec::new()
        };
        let token = random_token();
        let now_ms = self.clock.now_ms();
        let flow = ConnectFlow {
            id: ids::ulid("flw"),
            token_hash: hash(token.expose()),
            workspace_id: ask.workspace_id.to_owned(),
            user_id: ask.user.to_string(),
            service: manifest.service.clone(),
            slot: slot.slot.clone(),
            connection_id: renews.map_or_else(|| ids::ulid("con"), |row| row.id.clone()),
            scopes,
            tool_name: ask.tool_name.map(str::to_owned),
            confirm_url: ask.ending.confirm_url,
            return_url: ask.ending.return_url,
            popup_origin: ask.ending.popup_origin,
            state: FlowState::Pending,
            oauth_state_hash: None,
            cookie_hash: None,
            confirm_hash: None,
            sealed: None,
            last_error: None,
            created_at_ms: now_ms,
            expires_at_ms: now_ms + LINK_LIFE_MS,
            state_since_ms: now_ms,
            first_only: ask.first_only,
        };
        self.store.insert_flow(&flow).await?;
        Ok(Some(FreshLink {
            url: Secret::new(format!("{}/connect/{}", self.public_url, token.expose())),
            auth_type: slot.kind.as_str(),
            connection_id: flow.connection_id,
            expires_at_ms: flow.expires_at_ms,
        }))
    }
}

/// The slots that a link offers: the named one, else all.
fn offered_slots(manifest: &Manifest, named: Option<&str>) -> Result<Vec<String>, Error> {
    let Some(name) = named else {
        return Ok(manifest.auth.iter().map(|slot| slot.slot.clone()).collect());
    };
    let slot = slot_of(manifest, name)
        .ok_or_else(|| Error::InvalidRequest("the service has no such slot".to_owned()))?;
    Ok(vec![slot.slot.clone()])
}

impl Gateway {
    /// Makes a connect link for a user, who opens it in a browser.
    ///
    /// # Errors
    /// `service_not_found`; `scope_denied` for a key that makes first connections alone; `invalid_request` for a scope
    /// that nobody has named, or a page whose origin nobody has registered; `not_found` for a connection of another user or service; `conflict`
    /// while the operator has not set the service up.
    pub async fn link_connection(
        &self,
        caller: &Caller,
        request: LinkConnection,
    ) -> Result<ConnectLink, Error> {
        let may_replace = caller.need(Scope::Connections);
        if may_replace.is_err() {
            caller.need(Scope::ConnectionsFirst)?;
        }
        let unknown =
            || Error::ServiceNotFound(toolgate_core::visible::shown_name(&request.service));
        let serving = self
            .connections
            .serving(&request.service)
            .ok_or_else(unknown)?;
        let manifest = &serving.manifest;
        let settings = self.services.get(&caller.workspace_id, &request.service);
        if let Some(missing) = needed_first(manifest, |key| settings.contains_key(key)) {
            return Err(Error::Conflict(format!(
                "{} cannot be connected yet: the operator has to run `toolgate service configure {} --set {}=...`",
                manifest.title, manifest.service, missing.key
            )));
        }
        check_scopes(&request.scopes)?;
        let ending = self.link_ending(caller, &request).await?;
        let user = caller.user(request.user_id.as_ref())?;
        let first_only = may_replace.is_err();
        if let Err(refused) = may_replace {
            self.check_first(caller, &user, &request)
                .await?
                .then_some(())
                .ok_or(refused)?;
        }
        let connection = self.renewed_connection(caller, &user, &request).await?;
        let slots = offered_slots(manifest, request.slot.as_deref())?;
        if slots.is_empty() {
            return Err(Error::Conflict(format!(
                "{} needs no connection",
                manifest.title
            )));
        }
        let made = self
            .connections
            .make_link(LinkRequest {
                workspace_id: &caller.workspace_id,
                user: &user,
                manifest,
                slots: &slots,
                scopes: &request.scopes,
                tool_name: None,
                connection: connection.as_ref(),
                first_only,
                ending,
            })
            .await?
            .ok_or_else(|| {
                Error::Conflict(format!(
                    "{} cannot be connected yet: the operator has to run `toolgate service configure {}`",
                    manifest.title, manifest.service
                ))
            })?;
        Ok(ConnectLink {
            connect_url: made.url.expose().to_owned(),
            expires_at: rfc3339(made.expires_at_ms),
            connection_id: made.connection_id,
        })
    }
}

impl Gateway {
    /// The connection that the link renews.
    async fn renewed_connection(
        &self,
        caller: &Caller,
        user: &UserId,
        request: &LinkConnection,
    ) -> Result<Option<Connection>, Error> {
        let Some(id) = &request.connection_id else {
            return Ok(None);
        };
        let found = self.store.find_connection(&caller.workspace_id, id).await?;
        let own =
            found.filter(|row| row.user_id == user.as_str() && row.service == request.service);
        own.map(Some).ok_or_else(super::not_found)
    }

    /// Whether it would be the first connection of the key's own user for the service.
    async fn check_first(
        &self,
        caller: &Caller,
        user: &UserId,
        request: &LinkConnection,
    ) -> Result<bool, Error> {
        if *user != caller.default_user || request.connection_id.is_some() {
            return Ok(false);
        }
        let (workspace_id, service) = (&caller.workspace_id, Some(request.service.as_str()));
        let rows = self
            .store
            .list_connections(workspace_id, Some(user.as_str()), service);
        Ok(rows.await?.is_empty())
    }

    /// A page that a link may lead to.
    async fn link_page(
        &self,
        caller: &Caller,
        name: &'static str,
        text: Option<&str>,
    ) -> Result<Option<Url>, Error> {
        let Some(text) = text else { return Ok(None) };
        let own = Url::parse(&self.connections.public_url).ok();
        let url = checked_page(name, text, own.as_ref())?;
        self.check_origin(caller, name, &url).await?;
        Ok(Some(url))
    }

    async fn link_ending(
        &self,
        caller: &Caller,
        request: &LinkConnection,
    ) -> Result<LinkEnding, Error> {
        let confirm_url = request.confirm_url.as_deref();
        self.link_page(caller, "confirm_url", confirm_url).await?;
        let return_url = request.return_url.as_deref();
        let return_url = self.link_page(caller, "return_url", return_url).await?;
        let popup_origin = request.popup_origin.as_deref();
        let popup_origin = self.link_page(caller, "popup_origin", popup_origin).await?;
        let popup_origin = popup_origin.map(|url| {
            let bare = url.path() == "/" && url.query().is_none();
            let origin = url.origin().ascii_serialization();
            bare.then_some(origin).ok_or_else(|| {
                Error::InvalidRequest(
                    "popup_origin must be a scheme, host and port only, for example https://app.example.com"
                        .to_owned(),
                )
            })
        });
        Ok(LinkEnding {
            confirm_url: request.confirm_url.clone(),
            return_url: return_url.map(String::from),
            popup_origin: popup_origin.transpose()?,
        })
    }
}

fn check_scopes(scopes: &[String]) -> Result<(), Error> {
    if scopes.len() <= SCOPES_MAX && scopes.iter().all(|scope| is_scope(scope)) {
        Ok(())
    } else {
        Err(Error::InvalidRequest(format!(
            "scopes are at most {SCOPES_MAX} words of at most {SCOPE_BYTES_MAX} printable characters"
        )))
    }
}

/// An https page, one on this machine or one of the gateway itself (`own`); nothing that a browser
/// would run or that hides where it leads.
fn checked_page(name: &'static str, text: &str, own: Option<&Url>) -> Result<Url, Error> {
    let refused = || {
        Error::InvalidRequest(format!(
            "{name} must be an absolute https URL (http on localhost) without a user name or fragment"
        ))
    };
    if text.len() > PAGE_URL_BYTES_MAX || text.chars().any(|c| c.is_control() || c == '\\') {
        return Err(refused());
    }
    let url = Url::parse(text).map_err(|_| refused())?;
    let local = is_loopback(&url);
    let ours = own.is_some_and(|own| own.origin() == url.origin());
    let scheme =
        (url.scheme() == "https" && url.has_host()) || (url.scheme() == "http" && (local || ours));
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if scheme && plain {
        Ok(url)
    } else {
        Err(refused())
    }
}

/// Whether a browser goes to the provider for this slot.
pub(super) fn leaves_for_provider(slot: &Slot) -> bool {
    slot.kind == AuthKind::Oauth2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_redirect_by_confirm_url_is_refused() {
        for good in [
            "https://app.test/connected",
            "https://app.test:8443/c?x=1",
            "http://localhost:3000/c",
            "http://127.0.0.1:3000/c",
        ] {
            assert!(checked_page("confirm_url", good, None).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/connected",
            "//evil.test",
            "javascript:alert(1)",
            "data:text/html,x",
            "http://app.test/c",
            "http://localhost.evil.test/c",
            "https://app.test@evil.test/",
            "https://app.test/c#x",
            "https:\\\\evil.test",
            "https://app.test/\nLocation: x",
        ] {
            assert!(checked_page("confirm_url", bad, None).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_page_of_the_gateway_itself_needs_no_https() {
        let own = Url::parse("http://10.0.0.7:8080").unwrap();
        for (text, good) in [
            ("http://10.0.0.7:8080/integrations/github", true),
            ("http://10.0.0.7:8081/integrations/github", false),
            ("http://10.0.0.8:8080/", false),
        ] {
            let checked = checked_page("return_url", text, Some(&own));
            assert_eq!(checked.is_ok(), good, "{text}");
        }
    }
}
