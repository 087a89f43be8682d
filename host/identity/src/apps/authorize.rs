//! The authorization request (RFC 6749, section 4.1.1; PKCE with S256 alone; RFC 8707; RFC 9207) and
//! the decision of a member about it.
//!
//! A request that is refused before a member has decided is refused on a page: anybody can register a client, so that a
//! redirect with an error would send browsers from this address to any other (RFC 9700, section 4.11.2). Only a client
//! that an admin has named gets its refusal, with `state` and `iss`. So does each client the refusal of a member.

use serde::Serialize;

use super::documents;
use super::params::OAuthParams;
use super::redirects::{self, Destination};
use super::refusal::{AppProblem, RefusalCode, refused};
use super::{
    APP_SCOPES, AppPeer, REQUESTS_PER_MINUTE, about, resources, scope_words, scopes, toolset_of,
};
use crate::{Caller, Error, Identity, Scope};
use serde_json::json;
use toolgate_core::ids;
use toolgate_operation::audit::AuditAction;
use toolgate_store::{AppClient, AppClientKind, AppGrant, AppRequest, Role};
use toolgate_vault::opaque::{hash, random_token};

/// How long a member may take.
pub const REQUEST_LIFE_MS: i64 = 10 * 60 * 1_000;
/// How long a client may take to exchange its code (RFC 6749, section 4.1.2, recommends this at most).
pub const CODE_LIFE_MS: i64 = 60 * 1_000;
const STATE_BYTES_MAX: usize = 2_048;
/// SHA-256 in base64url (RFC 7636, section 4.2).
const CHALLENGE_CHARS: usize = 43;

/// What follows from an authorization request.
#[derive(Debug)]
pub enum AuthorizeOutcome {
    /// A member decides, on the page of this request.
    Ask { request_id: String },
    /// The browser goes back to a client that an admin has named, with a refusal.
    Back { url: String },
}

/// An authorization request as the member sees it who decides.
#[derive(Debug, Serialize)]
pub struct AppRequestInfo {
    pub client_name: String,
    /// The host that vouches for the client's name. `None`: nobody has checked what it says, unless an admin
    /// has named it.
    pub verified_host: Option<String>,
    /// Whether an admin of the workspace has named it.
    pub named_by_admin: bool,
    /// Whether the member has let it in before.
    pub connected_before: bool,
    /// Whether the workspace has switched it off: then it can only be refused.
    pub blocked: bool,
    pub goes_to: RedirectKind,
    pub workspace: String,
    /// The user that its calls are for.
    pub user_id: String,
    pub scopes: Vec<ScopeInWords>,
    /// Where it asks for a toolset alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolset: Option<RequestedToolset>,
}

/// The toolset whose address the client was given.
#[derive(Debug, Serialize)]
pub struct RequestedToolset {
    pub name: String,
    /// Absent where the workspace has no such toolset: then the request can only be refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Where the browser goes with the answer.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum RedirectKind {
    Site(String),
    ThisComputer,
    Program(String),
}

#[derive(Debug, Serialize)]
pub struct ScopeInWords {
    pub scope: &'static str,
    pub words: &'static str,
}

/// What a request says beside its client and redirect address.
struct Asked {
    challenge: String,
    resource: String,
    scopes: Vec<String>,
}

impl Identity {
    /// Takes an authorization request; `query` is its query, `host` what it was sent to.
    ///
    /// # Errors
    /// Where no browser may be sent to the client: it or its redirect address is not known, or the request is wrong
    /// and no admin has named the client.
    pub async fn authorize_app(
        &self,
        query: &str,
        host: Option<&str>,
        peer: &AppPeer,
    ) -> Result<AuthorizeOutcome, AppProblem> {
        let now_ms = self.clock.now_ms();
        self.apps
            .requests
            .take(peer.address, REQUESTS_PER_MINUTE, now_ms)?;
        let params = OAuthParams::parse(query)?;
        let client = self.named_client(params.need("client_id")?, peer).await?;
        let redirect_uri = params.need("redirect_uri")?;
        if !redirects::is_registered(redirect_uri, &client.redirect_uris) {
            return Err(refused(
                RefusalCode::InvalidRequest,
                "redirect_uri is not registered for this client",
            ));
        }
        let state = params.get("state");
        let issuer = self.app_issuer_at(host);
        let asked = match asked(&params, &self.mcp_resource()) {
            Ok(asked) => asked,
            Err(AppProblem::Refused { code, sentence }) if client.kind == AppClientKind::Named => {
                tracing::warn!(
                    request_id = peer.request_id,
                    client.id = client.id,
                    refusal = code.into_str(),
                    "apps.authorize_refused"
                );
                let state = state.filter(|state| state.len() <= STATE_BYTES_MAX);
                let url = refusal_url(redirect_uri, state, code, &sentence, &issuer);
                return Ok(AuthorizeOutcome::Back { url });
            }
            Err(other) => return Err(other),
        };
        let request = AppRequest {
            id: ids::hex128("areq"),
            client_id: client.id,
            redirect_uri: redirect_uri.to_owned(),
            state: state.map(str::to_owned),
            challenge: asked.challenge,
            resource: asked.resource,
            scopes: asked.scopes,
            created_at_ms: now_ms,
            expires_at_ms: now_ms + REQUEST_LIFE_MS,
            issuer: (issuer != self.app_issuer()).then_some(issuer),
        };
        self.store.insert_app_request(&request).await?;
        Ok(AuthorizeOutcome::Ask {
            request_id: request.id,
        })
    }

    /// What a member is to decide.
    ///
    /// # Errors
    /// `not_found` for a request that is decided or over.
    pub async fn app_request(
        &self,
        caller: &Caller,
        request_id: &str,
    ) -> Result<AppRequestInfo, Error> {
        let (request, client) = self.open_request(caller, request_id).await?;
        let now_ms = self.clock.now_ms();
        let workspace_id = &caller.workspace_id;
        let own = self
            .store
            .list_app_grants(workspace_id, Some(&caller.key_id), now_ms, 500);
        let connected_before = own.await?.iter().any(|grant| grant.client_id == client.id);
        let blocked = self.store.is_app_blocked(workspace_id, &client.id).await?;
        Ok(AppRequestInfo {
            connected_before,
            blocked,
            verified_host: match client.kind {
                AppClientKind::Document => documents::host_of(&client.id),
                AppClientKind::Registered | AppClientKind::Named => None,
            },
            named_by_admin: client.kind == AppClientKind::Named,
            goes_to: match redirects::destination(&request.redirect_uri) {
                Some(Destination::Site(host)) => RedirectKind::Site(host),
                Some(Destination::Program(scheme)) => RedirectKind::Program(scheme),
                Some(Destination::Loopback) | None => RedirectKind::ThisComputer,
            },
            toolset: self.requested_toolset(caller, &request.resource).await?,
            workspace: caller.workspace_name.to_string(),
            user_id: caller.default_user.to_string(),
            scopes: granted(caller, &client, &request.scopes)
                .into_iter()
                .map(|scope| ScopeInWords {
                    scope: scope.into_str(),
                    words: scope_words(scope),
                })
                .collect(),
            client_name: client.name,
        })
    }

    /// Decides a request, once. Answers where the browser goes with the answer.
    ///
    /// # Errors
    /// `not_found` for a request that is decided or over; `conflict` for a client that the workspace
    /// has switched off, for a toolset that the workspace does not have, and where the member has none of the scopes.
    pub async fn decide_app_request(
        &self,
        caller: &Caller,
        request_id: &str,
        allow: bool,
    ) -> Result<String, Error> {
        let (request, client) = self.open_request(caller, request_id).await?;
        let state = request.state.as_deref();
        let own_issuer = self.app_issuer();
        let issuer = request.issuer.as_deref().unwrap_or(&own_issuer);
        if !allow {
            let details = json!({ "client": client.name, "client_id": client.id });
            let action = AuditAction::AppsRefuse;
            let refused = self
                .audited(caller, action, &client.id, details)
                .refuse_app_request(&request.id)
                .await?;
            if !refused {
                return Err(over());
            }
            let (code, sentence) = (RefusalCode::AccessDenied, "the person denied access");
            let to = &request.redirect_uri;
            return Ok(refusal_url(to, state, code, sentence, issuer));
        }
        let workspace_id = &caller.workspace_id;
        if self.store.is_app_blocked(workspace_id, &client.id).await? {
            return Err(Error::Conflict(format!(
                "an admin of the workspace has switched {} off",
                client.name
            )));
        }
        if let Some(RequestedToolset { name, title: None }) =
            self.requested_toolset(caller, &request.resource).await?
        {
            return Err(Error::Conflict(format!(
                "the workspace {} has no toolset {name}",
                caller.workspace_name
            )));
        }
        let now_ms = self.clock.now_ms();
        let code = random_token();
        let scopes = granted(caller, &client, &request.scopes);
        if scopes.is_empty() {
            return Err(Error::Conflict(format!(
                "you cannot grant what {} asks for: {}",
                client.name,
                request.scopes.join(" ")
            )));
        }
        let grant = AppGrant {
            workspace_id: workspace_id.to_string(),
            id: ids::ulid("app"),
            member_id: caller.key_id.to_string(),
            client_id: client.id,
            client_name: client.name,
            scopes: scopes.iter().map(|one| one.into_str().to_owned()).collect(),
            resource: request.resource.clone(),
            redirect_uri: request.redirect_uri.clone(),
            challenge: request.challenge.clone(),
            code_hash: hash(code.expose()),
            code_expires_at_ms: now_ms + CODE_LIFE_MS,
            code_used_at_ms: None,
            created_at_ms: now_ms,
            last_used_at_ms: None,
            expires_at_ms: now_ms + CODE_LIFE_MS,
        };
        let action = AuditAction::AppsConnect;
        let made = self
            .audited(caller, action, &grant.id, about(&grant))
            .grant_app_request(&request, &grant)
            .await?;
        if !made {
            return Err(over());
        }
        let mut answer = vec![("code", code.expose()), ("iss", issuer)];
        answer.extend(state.map(|state| ("state", state)));
        Ok(redirects::with_answer(&request.redirect_uri, &answer))
    }

    async fn requested_toolset(
        &self,
        caller: &Caller,
        resource: &str,
    ) -> Result<Option<RequestedToolset>, Error> {
        let main = self.mcp_resource();
        let Some(name) = toolset_of(resource, &main) else {
            return Ok(None);
        };
        let found = self.store.find_toolset(&caller.workspace_id, name).await?;
        Ok(Some(RequestedToolset {
            name: name.to_owned(),
            title: found.map(|row| row.title),
        }))
    }

    async fn open_request(
        &self,
        caller: &Caller,
        request_id: &str,
    ) -> Result<(AppRequest, AppClient), Error> {
        caller.need_role(Role::Member)?;
        let now_ms = self.clock.now_ms();
        let found = self.store.find_app_request(request_id, now_ms).await?;
        let request = found.ok_or_else(over)?;
        let client = self.store.find_app_client(&request.client_id).await?;
        let own = |client: &AppClient| {
            let whose = client.workspace_id.as_deref();
            whose.is_none_or(|whose| whose == &*caller.workspace_id)
        };
        // A client that another workspace's admin has named is not known in this one.
        let client = client.filter(own).ok_or_else(over)?;
        Ok((request, client))
    }
}

fn refusal_url(
    redirect_uri: &str,
    state: Option<&str>,
    code: RefusalCode,
    sentence: &str,
    issuer: &str,
) -> String {
    let mut answer = vec![
        ("error", code.into_str()),
        ("error_description", sentence),
        ("iss", issuer),
    ];
    answer.extend(state.map(|state| ("state", state)));
    redirects::with_answer(redirect_uri, &answer)
}

/// Decided before, or too late.
fn over() -> Error {
    Error::NotFound("an open request of this app".to_owned())
}

/// What of the scopes the member may grant, and the client have.
fn granted(caller: &Caller, client: &AppClient, scopes: &[String]) -> Vec<Scope> {
    let limited = client.kind == AppClientKind::Named;
    APP_SCOPES
        .into_iter()
        .filter(|scope| scopes.iter().any(|asked| asked == scope.into_str()))
        .filter(|scope| !limited || client.scopes.iter().any(|one| one == scope.into_str()))
        .filter(|scope| caller.need(*scope).is_ok())
        .collect()
}

fn asked(params: &OAuthParams, own_resource: &str) -> Result<Asked, AppProblem> {
    for unknown in ["request", "request_uri"] {
        if params.get(unknown).is_some() {
            let sentence = format!("{unknown} is not supported");
            return Err(refused(RefusalCode::RequestNotSupported, sentence));
        }
    }
    let bad = |sentence: &str| refused(RefusalCode::InvalidRequest, sentence);
    if params
        .get("state")
        .is_some_and(|state| state.len() > STATE_BYTES_MAX)
    {
        return Err(bad("state is too long"));
    }
    if params.need("response_type")? != "code" {
        let sentence = "response_type must be code";
        return Err(refused(RefusalCode::UnsupportedResponseType, sentence));
    }
    if params
        .get("response_mode")
        .is_some_and(|mode| mode != "query")
    {
        return Err(bad("response_mode must be query"));
    }
    if params.get("code_challenge_method") != Some("S256") {
        return Err(bad("PKCE is required: code_challenge_method must be S256"));
    }
    let challenge = params.need("code_challenge")?;
    if challenge.len() != CHALLENGE_CHARS || !challenge.bytes().all(is_base64url) {
        return Err(bad("code_challenge must be 43 characters of base64url"));
    }
    // Which workspace a toolset is of is known when a member decides.
    let resource = resources::requested(params, own_resource, None)?;
    if params.get("prompt") == Some("none") {
        let sentence = "prompt=none is not possible: a person has to consent";
        return Err(refused(RefusalCode::ConsentRequired, sentence));
    }
    Ok(Asked {
        challenge: challenge.to_owned(),
        resource,
        scopes: scopes::narrowed(params.get("scope"), &scopes::every())?,
    })
}

fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "https://gate.example/mcp";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    fn code_of(query: &str) -> Result<Vec<String>, &'static str> {
        let params = OAuthParams::parse(query).unwrap();
        match asked(&params, OWN) {
            Ok(asked) => Ok(asked.scopes),
            Err(AppProblem::Refused { code, .. }) => Err(code.into_str()),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_uses_a_code_with_s256_for_this_resource() {
        let good = format!(
            "response_type=code&code_challenge_method=S256&code_challenge={CHALLENGE}&resource={OWN}"
        );
        assert_eq!(code_of(&good).unwrap(), APP_SCOPES.map(<&str>::from));
        let some = code_of(&format!("{good}&scope=tools:read+offline_access"));
        assert_eq!(some.unwrap(), ["tools:read"]);
        let unknown = code_of(&format!("{good}&scope=tools:read+users:any"));
        assert_eq!(unknown.unwrap(), ["tools:read"]);
        let absent = good.replace("&resource=https://gate.example/mcp", "");
        for same in [
            absent.clone(),
            format!("{good}/"),
            good.replace("/mcp", ""),
            good.replace("https://gate.", "HTTPS://GATE."),
        ] {
            let params = OAuthParams::parse(&same).unwrap();
            assert_eq!(asked(&params, OWN).unwrap().resource, OWN, "{same}");
        }
        let long_state = format!("{good}&state={}", "s".repeat(STATE_BYTES_MAX + 1));
        let toolset = good.replace("/mcp", "/mcp/t/support");
        assert_eq!(code_of(&toolset).unwrap(), APP_SCOPES.map(<&str>::from));
        for (query, code) in [
            (
                good.replace("=code&", "=token&"),
                "unsupported_response_type",
            ),
            (good.replace("response_type=code&", ""), "invalid_request"),
            (good.replace("S256", "plain"), "invalid_request"),
            (
                good.replace("code_challenge_method=S256&", ""),
                "invalid_request",
            ),
            (good.replace(CHALLENGE, "short"), "invalid_request"),
            (good.replace("-cM", "+cM"), "invalid_request"),
            (
                good.replace(&format!("code_challenge={CHALLENGE}&"), ""),
                "invalid_request",
            ),
            (good.replace("/mcp", "/mcp/key"), "invalid_target"),
            (good.replace("/mcp", "/mcp/t"), "invalid_target"),
            (good.replace("/mcp", "/mcp/t//"), "invalid_target"),
            (good.replace("/mcp", "/mcp/t/Support"), "invalid_target"),
            (good.replace("/mcp", "/mcp/t/a/b"), "invalid_target"),
            (good.replace("/mcp", "/mcp/t/a//"), "invalid_target"),
            (good.replace("/mcp", "/mcp/t/../key"), "invalid_target"),
            (good.replace("/mcp", "/t/support"), "invalid_target"),
            (good.replace("gate.example", "evil.test"), "invalid_target"),
            (format!("{good}&response_mode=fragment"), "invalid_request"),
            (format!("{good}&prompt=none"), "consent_required"),
            (format!("{good}&request=x"), "request_not_supported"),
            (format!("{good}&request_uri=x"), "request_not_supported"),
            (long_state, "invalid_request"),
        ] {
            assert_eq!(code_of(&query), Err(code), "{query}");
        }
    }
}
