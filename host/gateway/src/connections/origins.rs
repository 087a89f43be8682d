//! Origins of applications that a workspace's connect links may lead to: an admin registers them, in a gateway or at
//! the command line ([`OriginAdmin`]), and keys choose among them.
//!
//! At the end of a link the browser carries a code with which the application vouches for its user. A key that could
//! name any page would have that code sent to whom it likes.

use serde::Serialize;
use serde_json::json;
use url::{Host, Url};

use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids;
use toolgate_store::{AuditedStore, InsertedOrigin, PageOrigin, Role, Store};

/// Origins of one workspace.
pub const ORIGINS_MAX: usize = 100;
const ORIGIN_BYTES_MAX: usize = 300;

/// A registered origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OriginInfo {
    /// `ori_<ULID>`.
    pub origin_id: String,
    /// Scheme, host and port, as browsers write them.
    pub origin: String,
    pub created_at: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct OriginList {
    /// By origin.
    pub origins: Vec<OriginInfo>,
}

#[derive(Clone, Debug, Serialize)]
pub struct DeletedOrigin {
    pub origin_id: String,
    /// Always `true`.
    pub deleted: bool,
}

impl From<PageOrigin> for OriginInfo {
    fn from(row: PageOrigin) -> Self {
        Self {
            origin_id: row.id,
            origin: row.origin,
            created_at: rfc3339(row.created_at_ms),
        }
    }
}

/// What an admin does with the origins of the caller's workspace.
pub struct OriginAdmin<'a> {
    pub store: &'a Store,
    pub caller: &'a Caller,
    pub now_ms: i64,
}

impl OriginAdmin<'_> {
    /// # Errors
    /// `invalid_request` for what is not an https origin (http on this machine), `conflict` for one that is there or
    /// beyond [`ORIGINS_MAX`].
    pub async fn add(&self, origin: &str) -> Result<OriginInfo, Error> {
        self.caller.need_role(Role::Admin)?;
        let row = PageOrigin {
            workspace_id: self.caller.workspace_id.to_string(),
            id: ids::ulid("ori"),
            origin: checked_origin(origin)?,
            created_at_ms: self.now_ms,
        };
        let details = json!({ "origin": row.origin });
        let store = self.audited(AuditAction::OriginsAdd, &row.id, details);
        let most = i64::try_from(ORIGINS_MAX).unwrap_or(i64::MAX);
        match store.insert_page_origin(&row, most).await? {
            InsertedOrigin::Done => Ok(row.into()),
            InsertedOrigin::Taken => Err(Error::Conflict(format!(
                "the origin {} is registered",
                row.origin
            ))),
            InsertedOrigin::Full => Err(Error::Conflict(format!(
                "a workspace has at most {ORIGINS_MAX} origins"
            ))),
        }
    }

    pub async fn list(&self) -> Result<OriginList, Error> {
        self.caller.need_role(Role::Admin)?;
        let rows = self.store.list_page_origins(&self.caller.workspace_id);
        Ok(OriginList {
            origins: rows.await?.into_iter().map(Into::into).collect(),
        })
    }

    /// `which`: an id, or the origin itself.
    pub async fn remove(&self, which: &str) -> Result<DeletedOrigin, Error> {
        self.caller.need_role(Role::Admin)?;
        let workspace_id = &self.caller.workspace_id;
        let missing = || Error::NotFound("the origin".to_owned());
        let rows = self.store.list_page_origins(workspace_id).await?;
        let row = rows
            .into_iter()
            .find(|row| row.id == which || row.origin == which)
            .ok_or_else(missing)?;
        let details = json!({ "origin": row.origin });
        let store = self.audited(AuditAction::OriginsRemove, &row.id, details);
        let gone = store.delete_page_origin(workspace_id, &row.id).await?;
        Ok(DeletedOrigin {
            origin_id: gone.ok_or_else(missing)?.id,
            deleted: true,
        })
    }

    fn audited(&self, action: AuditAction, id: &str, details: serde_json::Value) -> AuditedStore {
        self.caller
            .audited(self.store, self.now_ms, action, id, details)
    }
}

impl Gateway {
    fn origin_admin<'a>(&'a self, caller: &'a Caller) -> OriginAdmin<'a> {
        OriginAdmin {
            store: &self.store,
            caller,
            now_ms: self.clock.now_ms(),
        }
    }

    /// Registers an origin.
    pub async fn add_origin(&self, caller: &Caller, origin: &str) -> Result<OriginInfo, Error> {
        self.origin_admin(caller).add(origin).await
    }

    /// The registered origins.
    pub async fn list_origins(&self, caller: &Caller) -> Result<OriginList, Error> {
        self.origin_admin(caller).list().await
    }

    /// Takes an origin away. Links that were made with it go on.
    pub async fn remove_origin(&self, caller: &Caller, id: &str) -> Result<DeletedOrigin, Error> {
        self.origin_admin(caller).remove(id).await
    }

    /// Refuses a page whose origin nobody has registered.
    pub(super) async fn check_origin(
        &self,
        caller: &Caller,
        name: &'static str,
        page: &Url,
    ) -> Result<(), Error> {
        let own = Url::parse(&self.connections.public_url).ok();
        if own.is_some_and(|own| own.origin() == page.origin())
            || (self.loopback_pages && is_loopback(page))
        {
            return Ok(());
        }
        let origin = page.origin().ascii_serialization();
        let registered = self.store.list_page_origins(&caller.workspace_id).await?;
        if registered.iter().any(|row| row.origin == origin) {
            return Ok(());
        }
        Err(Error::InvalidRequest(format!(
            "{name}: the origin {origin} is not registered in this workspace; an admin registers it with `toolgate origin add {origin}` or in the dashboard under Settings, Workspace"
        )))
    }
}

/// An origin as browsers write it: https, or http on this machine; nothing but scheme, host and port.
fn checked_origin(text: &str) -> Result<String, Error> {
    let refused = || {
        Error::InvalidRequest(
            "an origin is an https scheme, a host and a port (http on localhost), for example https://app.example.com"
                .to_owned(),
        )
    };
    if text.len() > ORIGIN_BYTES_MAX || text.contains(['\\', '?', '#', '@']) {
        return Err(refused());
    }
    let url = Url::parse(text.trim()).map_err(|_| refused())?;
    // A pattern such as `https://*.example.com` would be a host of that name.
    let plain = |host: &str| {
        host.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
    };
    let named = match url.host() {
        Some(Host::Domain(host)) => plain(host),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    };
    let scheme = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
    if named && scheme && url.path() == "/" {
        Ok(url.origin().ascii_serialization())
    } else {
        Err(refused())
    }
}

/// Whether the page is on the machine of its browser.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_kept_as_browsers_write_it() {
        for (text, expected) in [
            ("https://app.example.com", Some("https://app.example.com")),
            (
                "https://APP.example.com:443/",
                Some("https://app.example.com"),
            ),
            (
                "https://app.example.com:8443",
                Some("https://app.example.com:8443"),
            ),
            (
                "https://bücher.example",
                Some("https://xn--bcher-kva.example"),
            ),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("http://127.0.0.1:3000", Some("http://127.0.0.1:3000")),
            ("http://[::1]:3000", Some("http://[::1]:3000")),
            ("http://app.example.com", None),
            ("http://localhost.evil.example", None),
            ("https://*.example.com", None),
            ("https://app.example.com/connected", None),
            ("https://app.example.com/?x", None),
            ("https://app.example.com/#x", None),
            ("https://ada@app.example.com", None),
            ("https:\\\\evil.example", None),
            ("javascript:alert(1)", None),
            ("file:///etc", None),
            ("null", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(checked_origin(text).ok().as_deref(), expected, "{text:?}");
        }
    }
}
