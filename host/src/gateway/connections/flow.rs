//! What a browser does behind a connect link: look, start, come back, be confirmed.
//!
//! Every step is one conditional update of the flow's state, so that a link, a state and a code are
//! good for one use, and only for the browser that was sent off. Looking changes nothing: links
//! are also opened by mail scanners.

use std::collections::BTreeMap;
use std::sync::Arc;

use url::Url;

use super::account::{self, Probed};
use super::credential::{Credential, Details, Started, Waiting};
use super::link::{hash, leaves_for_provider, random_token};
use super::refresh::{credential_of, ms, union};
use super::{ConnectionInfo, Error, Gateway, apps, shown, slot_of};
use crate::catalog::manifest::{AuthKind, Effect, Manifest, Parameter, Slot};
use crate::gateway::plugins::Serving;
use crate::gateway::{Caller, Scope};
use crate::ids::UserId;
use crate::oauth::callback::{self, Answer, BadCallback};
use crate::oauth::token::Grant;
use crate::oauth::{self, OAuthError, authorize};
use crate::store::{ConnectFlow, FlowState, NewConnection, OAuthApp, StoreError};
use crate::vault::{Place, Secret};

/// Longest value of one input of the form.
pub const FIELD_BYTES_MAX: usize = 16 * 1024;
const PARAMETER_BYTES_MAX: usize = 500;
/// No text is longer than a connect token.
const TOKEN_BYTES_MAX: usize = 200;

/// Everything the page says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectPage {
    pub workspace: String,
    pub user: String,
    pub service: String,
    pub slot: String,
    pub leaves_for_provider: bool,
    pub scopes: Vec<String>,
    pub tools: Vec<Unlocked>,
    pub inputs: Vec<Input>,
    /// The account whose connection is renewed.
    pub renews: Option<String>,
    /// The tool whose call asked for the link.
    pub asked_by: Option<String>,
    /// Why the form is shown again.
    pub problem: Option<String>,
}

/// One tool that the connection unlocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlocked {
    pub title: String,
    pub effect: Effect,
}

/// One input of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub key: String,
    pub title: String,
    pub help: Option<String>,
    pub secret: bool,
    pub required: bool,
    pub pattern: Option<String>,
    pub options: Vec<String>,
    /// What stands in it; never a secret.
    pub value: String,
}

/// What follows a step.
#[derive(Debug)]
pub enum Step {
    /// The browser goes to `url`, which is the provider's or the application's.
    Leave {
        url: Secret,
        cookie: Option<Cookie>,
    },
    Done(Connected),
    /// The form again, with what was wrong.
    Again(Box<ConnectPage>),
}

/// Binds the return to the browser that was sent off.
#[derive(Debug)]
pub struct Cookie {
    pub name: String,
    pub value: Secret,
    pub max_age_s: i64,
}

/// The last page.
#[derive(Debug)]
pub struct Connected {
    pub service: String,
    pub user: String,
    pub account: Option<String>,
}

/// Why a page cannot be had. The sentences are for the person before the browser.
#[derive(Debug, thiserror::Error)]
pub enum ConnectProblem {
    #[error("This link does not exist. Ask for a new one.")]
    UnknownLink,
    #[error("This link has been used. Ask for a new one if the connection is not there.")]
    Used,
    #[error("This link has expired: it is good for 15 minutes. Ask for a new one.")]
    Expired,
    #[error("This link has ended without a connection ({0}). Ask for a new one.")]
    Failed(String),
    #[error("The service is not available here at the moment.")]
    NotServing,
    #[error("The operator of this gateway has not set the service up yet.")]
    NotSetUp,
    #[error("This answer belongs to no link of this gateway, or to one that was started again.")]
    UnknownState,
    #[error(
        "This answer belongs to a link that was opened in another browser. Open the link here and start again."
    )]
    OtherBrowser,
    #[error("The provider's answer cannot be read: {0}.")]
    BadAnswer(#[from] BadCallback),
    #[error("You did not grant access at the provider ({0}). Ask for a new link to try again.")]
    Denied(String),
    #[error("The provider refused the connection ({0}). Ask for a new link to try again.")]
    Refused(String),
    #[error("The provider does not answer at the moment. Ask for a new link and try again later.")]
    Away,
    #[error("Something went wrong here. Ask for a new link to try again.")]
    Internal(#[source] Error),
}

impl ConnectProblem {
    /// For the log.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownLink => "unknown_link",
            Self::Used => "used",
            Self::Expired => "expired",
            Self::Failed(_) => "failed",
            Self::NotServing => "not_serving",
            Self::NotSetUp => "not_set_up",
            Self::UnknownState => "unknown_state",
            Self::OtherBrowser => "other_browser",
            Self::BadAnswer(_) => "bad_answer",
            Self::Denied(_) => "denied",
            Self::Refused(_) => "refused",
            Self::Away => "provider_away",
            Self::Internal(_) => "internal",
        }
    }
}

impl From<Error> for ConnectProblem {
    fn from(cause: Error) -> Self {
        Self::Internal(cause)
    }
}

impl From<StoreError> for ConnectProblem {
    fn from(cause: StoreError) -> Self {
        Self::Internal(cause.into())
    }
}

fn internal(cause: impl Into<anyhow::Error>) -> Error {
    Error::Internal(cause.into())
}

/// A flow with what it is about.
struct Open {
    flow: ConnectFlow,
    serving: Arc<Serving>,
    slot: Slot,
    app: Option<OAuthApp>,
}

impl Open {
    fn manifest(&self) -> &Manifest {
        &self.serving.manifest
    }

    fn place(&self) -> Place<'_> {
        Place {
            kind: "connect_flow",
            workspace_id: &self.flow.workspace_id,
            user_id: &self.flow.user_id,
            service: &self.flow.service,
            id: &self.flow.id,
        }
    }
}

/// The name of the cookie that belongs to an OAuth state. One for each, so that two links can be
/// under way in one browser.
pub fn cookie_name(state: &Secret, secure: bool) -> String {
    let prefix = if secure { "__Host-" } else { "" };
    format!("{prefix}toolgate_connect_{}", &hash(state.expose())[..16])
}

impl Gateway {
    /// The page behind a link. Changes nothing.
    pub async fn connect_page(&self, token: &str) -> Result<ConnectPage, ConnectProblem> {
        let open = self.open_link(token).await?;
        self.page(&open, &BTreeMap::new(), None).await
    }

    /// The page's button: sends the browser off, or takes the form.
    pub async fn connect_submit(
        &self,
        token: &str,
        form: &BTreeMap<String, String>,
    ) -> Result<Step, ConnectProblem> {
        let open = self.open_link(token).await?;
        let parameters = match parameters(open.manifest(), form) {
            Ok(parameters) => parameters,
            Err(problem) => return self.again(&open, form, problem).await,
        };
        if leaves_for_provider(&open.slot) {
            return self.leave(&open, parameters).await;
        }
        let values = if open.slot.kind == AuthKind::Oauth2ClientCredentials {
            None
        } else {
            match values(&open.slot, form) {
                Ok(values) => Some(values),
                Err(problem) => return self.again(&open, form, problem).await,
            }
        };
        let now_ms = self.clock.now_ms();
        if self
            .store
            .complete_form_flow(&open.flow.token_hash, now_ms)
            .await?
            .is_none()
        {
            return Err(ConnectProblem::Used);
        }
        let Some(values) = values else {
            return self.connect_as_client(&open, parameters).await;
        };
        let credential = Credential {
            values,
            ..Credential::default()
        };
        let details = Details {
            parameters,
            ..Details::default()
        };
        self.conclude(&open, credential, details, Some(form)).await
    }

    /// The provider sends the browser back. `query`: without `?`. `cookie`: looks one up by name.
    pub async fn connect_callback(
        &self,
        query: &str,
        cookie: impl Fn(&str) -> Option<String>,
    ) -> Result<Step, ConnectProblem> {
        let callback = callback::parse(query)?;
        let state_hash = hash(callback.state.expose());
        let now_ms = self.clock.now_ms();
        let secure = self.connections.public_url.starts_with("https://");
        let cookie_hash = cookie(&cookie_name(&callback.state, secure)).map(|value| hash(&value));
        let completed = match &cookie_hash {
            Some(cookie_hash) => {
                self.store
                    .complete_flow(&state_hash, cookie_hash, now_ms)
                    .await?
            }
            None => None,
        };
        let Some(flow) = completed else {
            let flow = self.store.find_flow_by_oauth_state(&state_hash).await?;
            return Err(why_not(flow.as_ref(), now_ms));
        };
        let open = self.with_service(flow).await?;
        let code = match callback.answer {
            Answer::Code(code) => code,
            Answer::Error(error) => {
                self.store.fail_flow(&open.flow.id, &error, now_ms).await?;
                return Err(match error.as_str() {
                    "access_denied" | "user_denied" => ConnectProblem::Denied(error),
                    _ => ConnectProblem::Refused(error),
                });
            }
        };
        let result = self.exchange(&open, &code).await;
        if let Err(problem) = &result {
            let (id, code) = (&open.flow.id, problem.code());
            self.store.fail_flow(id, code, self.clock.now_ms()).await?;
        }
        result
    }

    /// The application confirms that the browser it received belongs to `user`; only then is the
    /// connection there. Another user ends the flow.
    pub async fn confirm_connection(
        &self,
        caller: &Caller,
        code: &str,
        user: &UserId,
    ) -> Result<ConnectionInfo, Error> {
        caller.need(Scope::Connections)?;
        let gone = || Error::NotFound("the confirmation code".to_owned());
        let now_ms = self.clock.now_ms();
        let flow = self
            .store
            .find_flow_to_confirm(&caller.workspace_id, &hash(code), now_ms)
            .await?
            .ok_or_else(gone)?;
        if flow.user_id != user.as_str() {
            let why = "confirmed for another user";
            self.store.fail_flow(&flow.id, why, now_ms).await?;
            tracing::warn!(connect.flow = flow.id, "connect.mixed_up_users");
            return Err(Error::PermissionDenied {
                user_id: user.to_string(),
                subject: "a connect link that was made for another user".to_owned(),
            });
        }
        let id = flow.connection_id.clone();
        let open = self
            .with_service(flow)
            .await
            .map_err(|problem| match problem {
                ConnectProblem::Internal(cause) => cause,
                other => Error::Conflict(other.to_string()),
            })?;
        let sealed = open.flow.sealed.as_deref().ok_or_else(gone)?;
        let opened = self
            .connections
            .vault
            .unseal(&open.place(), sealed)
            .map_err(internal)?;
        let waiting = Waiting::parse(&opened).map_err(internal)?;
        let new = self.new_connection(&open, &waiting.credential, waiting.details)?;
        let stored = self
            .store
            .finish_flow(&open.flow.id, FlowState::AwaitingConfirmation, &new, now_ms)
            .await?;
        if !stored {
            return Err(gone());
        }
        let row = self
            .store
            .find_connection(&caller.workspace_id, &id)
            .await?
            .ok_or_else(gone)?;
        Ok(shown(&row, now_ms))
    }

    async fn open_link(&self, token: &str) -> Result<Open, ConnectProblem> {
        if token.is_empty() || token.len() > TOKEN_BYTES_MAX {
            return Err(ConnectProblem::UnknownLink);
        }
        let flow = self
            .store
            .find_flow(&hash(token))
            .await?
            .ok_or(ConnectProblem::UnknownLink)?;
        match flow.state {
            FlowState::Completed | FlowState::AwaitingConfirmation | FlowState::Consumed => {
                return Err(ConnectProblem::Used);
            }
            FlowState::Failed => {
                return Err(ConnectProblem::Failed(flow.last_error.unwrap_or_default()));
            }
            FlowState::Pending | FlowState::Started
                if flow.expires_at_ms <= self.clock.now_ms() =>
            {
                return Err(ConnectProblem::Expired);
            }
            FlowState::Pending | FlowState::Started => {}
        }
        self.with_service(flow).await
    }

    async fn with_service(&self, flow: ConnectFlow) -> Result<Open, ConnectProblem> {
        let changes = self.store.changes().await?;
        self.services.refresh(&self.store, changes).await?;
        let serving = self
            .connections
            .serving(&flow.service)
            .ok_or(ConnectProblem::NotServing)?;
        let slot = slot_of(&serving.manifest, &flow.slot)
            .cloned()
            .ok_or(ConnectProblem::NotServing)?;
        let app = apps::find(&self.store, &serving.manifest, &flow.workspace_id).await?;
        if !apps::slot_is_ready(&slot, app.as_ref()) {
            return Err(ConnectProblem::NotSetUp);
        }
        Ok(Open {
            flow,
            serving,
            slot,
            app,
        })
    }

    async fn page(
        &self,
        open: &Open,
        form: &BTreeMap<String, String>,
        problem: Option<String>,
    ) -> Result<ConnectPage, ConnectProblem> {
        let (flow, manifest) = (&open.flow, open.manifest());
        let workspace = self.store.find_workspace(&flow.workspace_id).await?;
        let renewed = self
            .store
            .find_connection(&flow.workspace_id, &flow.connection_id)
            .await?;
        let unlocked = manifest
            .tools
            .iter()
            .filter(|tool| tool.auth.contains(&open.slot.slot))
            .map(|tool| Unlocked {
                title: tool.title.clone().unwrap_or_else(|| tool.name.clone()),
                effect: tool.effect,
            });
        Ok(ConnectPage {
            workspace: workspace.map(|found| found.name).unwrap_or_default(),
            user: flow.user_id.clone(),
            service: manifest.title.clone(),
            slot: open.slot.title.clone(),
            leaves_for_provider: leaves_for_provider(&open.slot),
            scopes: flow.scopes.clone(),
            tools: unlocked.collect(),
            inputs: inputs(manifest, &open.slot, form),
            renews: renewed.map(|row| row.account.unwrap_or_else(|| row.id.clone())),
            asked_by: flow.tool_name.clone(),
            problem: problem.or_else(|| flow.last_error.clone()),
        })
    }

    async fn again(
        &self,
        open: &Open,
        form: &BTreeMap<String, String>,
        problem: String,
    ) -> Result<Step, ConnectProblem> {
        let page = self.page(open, form, Some(problem)).await?;
        Ok(Step::Again(Box::new(page)))
    }

    /// Binds the flow to a state, a PKCE verifier and a cookie, and sends the browser off.
    async fn leave(
        &self,
        open: &Open,
        parameters: BTreeMap<String, String>,
    ) -> Result<Step, ConnectProblem> {
        let app = open.app.as_ref().ok_or(ConnectProblem::NotSetUp)?;
        let provider = apps::provider(&self.connections.vault, &open.slot, app, &parameters)?;
        let (state, cookie, verifier) = (random_token(), random_token(), authorize::verifier());
        let challenge = authorize::challenge(&verifier);
        let url = authorize::url(
            &provider,
            &authorize::Authorize {
                redirect_uri: &self.callback_url(),
                scopes: &open.flow.scopes,
                state: state.expose(),
                challenge: &challenge,
            },
        )
        .map_err(internal)?;
        let started = Started {
            verifier,
            parameters,
        };
        let sealed = self.connections.seal(&open.place(), &started.to_secret())?;
        let now_ms = self.clock.now_ms();
        let bound = self
            .store
            .start_flow(
                &open.flow.id,
                &hash(state.expose()),
                &hash(cookie.expose()),
                &sealed,
                now_ms,
            )
            .await?;
        if !bound {
            return Err(ConnectProblem::Used);
        }
        let secure = self.connections.public_url.starts_with("https://");
        Ok(Step::Leave {
            url: Secret::new(url),
            cookie: Some(Cookie {
                name: cookie_name(&state, secure),
                value: cookie,
                max_age_s: (open.flow.expires_at_ms - now_ms).max(0) / 1_000 + 1,
            }),
        })
    }

    /// The code becomes tokens, the tokens a connection.
    async fn exchange(&self, open: &Open, code: &Secret) -> Result<Step, ConnectProblem> {
        let app = open.app.as_ref().ok_or(ConnectProblem::NotSetUp)?;
        let sealed = open.flow.sealed.as_deref().ok_or(ConnectProblem::Used)?;
        let opened = self
            .connections
            .vault
            .unseal(&open.place(), sealed)
            .map_err(internal)?;
        let started = Started::parse(&opened).map_err(internal)?;
        let provider = apps::provider(
            &self.connections.vault,
            &open.slot,
            app,
            &started.parameters,
        )?;
        let grant = Grant::Code {
            code,
            redirect_uri: &self.callback_url(),
            verifier: &started.verifier,
        };
        self.take_tokens(open, &provider, &grant, started.parameters)
            .await
    }

    async fn connect_as_client(
        &self,
        open: &Open,
        parameters: BTreeMap<String, String>,
    ) -> Result<Step, ConnectProblem> {
        let app = open.app.as_ref().ok_or(ConnectProblem::NotSetUp)?;
        let provider = apps::provider(&self.connections.vault, &open.slot, app, &parameters)?;
        let grant = Grant::ClientCredentials {
            scopes: &open.flow.scopes,
        };
        let result = self.take_tokens(open, &provider, &grant, parameters).await;
        if let Err(problem) = &result {
            let (id, code) = (&open.flow.id, problem.code());
            self.store.fail_flow(id, code, self.clock.now_ms()).await?;
        }
        result
    }

    async fn take_tokens(
        &self,
        open: &Open,
        provider: &oauth::Provider,
        grant: &Grant<'_>,
        mut parameters: BTreeMap<String, String>,
    ) -> Result<Step, ConnectProblem> {
        let (keys, pointers): (Vec<&str>, Vec<&str>) = open
            .slot
            .token_parameters
            .iter()
            .map(|(key, pointer)| (key.as_str(), pointer.as_str()))
            .unzip();
        let tokens = oauth::send::tokens(&self.connections.egress, provider, grant, &pointers)
            .await
            .map_err(|refused| {
                tracing::warn!(connect.flow = open.flow.id, service = open.flow.service, error = %refused, "connect.no_token");
                match refused {
                    OAuthError::Refused(code) | OAuthError::Client(code) => {
                        ConnectProblem::Refused(code)
                    }
                    OAuthError::Busy(_) | OAuthError::Unreachable(_) => ConnectProblem::Away,
                    OAuthError::Answer(_) => ConnectProblem::Refused("unreadable_answer".to_owned()),
                    OAuthError::Address(_) => ConnectProblem::Internal(Error::Internal(refused.into())),
                }
            })?;
        for (key, value) in keys.into_iter().zip(&tokens.read) {
            if let Some(value) = value
                && value.len() <= PARAMETER_BYTES_MAX
                && !value.chars().any(char::is_control)
            {
                parameters.insert(key.to_owned(), value.clone());
            }
        }
        let now_ms = self.clock.now_ms();
        let granted = tokens.scopes.clone().unwrap_or_default();
        let details = Details {
            account: None,
            scopes: union(&open.flow.scopes, granted),
            parameters,
            token_expires_at_ms: tokens.lifetime_s.map(|life| now_ms + ms(life)),
            refreshable: tokens.refresh.is_some()
                || open.slot.kind == AuthKind::Oauth2ClientCredentials,
        };
        self.conclude(open, credential_of(&tokens), details, None)
            .await
    }

    /// Reads the account, then keeps the connection or waits for the application's word. `form`: to
    /// be shown again if the provider refuses what was in it.
    async fn conclude(
        &self,
        open: &Open,
        credential: Credential,
        mut details: Details,
        form: Option<&BTreeMap<String, String>>,
    ) -> Result<Step, ConnectProblem> {
        let flow = &open.flow;
        let settings = self.services.of(&flow.workspace_id, &flow.service);
        let probed = account::probe(
            &self.connections.egress,
            &open.serving,
            &open.slot,
            &settings,
            &details.parameters,
            &credential,
        )
        .await?;
        let now_ms = self.clock.now_ms();
        match (probed, form) {
            (Probed::Account(name), _) => details.account = Some(name),
            (Probed::Refused, Some(form)) => {
                let why = format!("{} did not accept it.", open.manifest().title);
                self.store.reopen_flow(&flow.id, &why, now_ms).await?;
                return self.again(open, form, why).await;
            }
            (Probed::Refused | Probed::Unknown, _) => {}
        }
        if let Some(confirm_url) = &flow.confirm_url {
            let code = random_token();
            let waiting = Waiting {
                credential,
                details,
            };
            let sealed = self.connections.seal(&open.place(), &waiting.to_secret())?;
            let waits = self
                .store
                .await_confirmation(&flow.id, &hash(code.expose()), &sealed, now_ms)
                .await?;
            if !waits {
                return Err(ConnectProblem::Used);
            }
            let mut url = Url::parse(confirm_url).map_err(internal)?;
            url.query_pairs_mut()
                .append_pair("connect_code", code.expose());
            return Ok(Step::Leave {
                url: Secret::new(url),
                cookie: None,
            });
        }
        let account = details.account.clone();
        let new = self.new_connection(open, &credential, details)?;
        if !self
            .store
            .finish_flow(&flow.id, FlowState::Completed, &new, now_ms)
            .await?
        {
            return Err(ConnectProblem::Used);
        }
        tracing::info!(
            connection.id = new.id,
            service = new.service,
            "connections.connected"
        );
        Ok(Step::Done(Connected {
            service: open.manifest().title.clone(),
            user: flow.user_id.clone(),
            account,
        }))
    }

    fn new_connection(
        &self,
        open: &Open,
        credential: &Credential,
        details: Details,
    ) -> Result<NewConnection, Error> {
        let flow = &open.flow;
        let place = Place {
            kind: "connection",
            id: &flow.connection_id,
            ..open.place()
        };
        Ok(NewConnection {
            sealed: self.connections.seal(&place, &credential.to_secret())?,
            workspace_id: flow.workspace_id.clone(),
            id: flow.connection_id.clone(),
            user_id: flow.user_id.clone(),
            service: flow.service.clone(),
            slot: flow.slot.clone(),
            auth_type: open.slot.kind.as_str().to_owned(),
            account: details.account,
            scopes: details.scopes,
            parameters: details.parameters,
            token_expires_at_ms: details.token_expires_at_ms,
            refreshable: details.refreshable,
        })
    }

    fn callback_url(&self) -> String {
        format!("{}{}", self.connections.public_url, apps::CALLBACK_PATH)
    }
}

/// Why a callback moved nothing.
fn why_not(flow: Option<&ConnectFlow>, now_ms: i64) -> ConnectProblem {
    match flow {
        None => ConnectProblem::UnknownState,
        Some(flow) => match flow.state {
            FlowState::Started if flow.expires_at_ms <= now_ms => ConnectProblem::Expired,
            FlowState::Started => ConnectProblem::OtherBrowser,
            FlowState::Failed => {
                ConnectProblem::Failed(flow.last_error.clone().unwrap_or_default())
            }
            _ => ConnectProblem::Used,
        },
    }
}

/// The form's inputs: the connection's parameters, then the slot's fields.
fn inputs(manifest: &Manifest, slot: &Slot, form: &BTreeMap<String, String>) -> Vec<Input> {
    let value = |key: &str| form.get(&format!("p_{key}")).cloned();
    let parameters = manifest.parameters.iter().map(|parameter| Input {
        key: format!("p_{}", parameter.key),
        title: parameter.title.clone(),
        help: parameter.help.clone(),
        secret: false,
        required: parameter.required,
        pattern: parameter.pattern.clone(),
        options: parameter.options.clone(),
        value: value(&parameter.key)
            .or_else(|| parameter.default.clone())
            .unwrap_or_default(),
    });
    let fields = fields(slot)
        .into_iter()
        .map(|(key, title, secret, help)| Input {
            value: if secret {
                String::new()
            } else {
                form.get(&format!("f_{key}")).cloned().unwrap_or_default()
            },
            key: format!("f_{key}"),
            title,
            help,
            secret,
            required: true,
            pattern: None,
            options: Vec::new(),
        });
    parameters.chain(fields).collect()
}

/// Key, title, secret, help of what the user fills in.
fn fields(slot: &Slot) -> Vec<(String, String, bool, Option<String>)> {
    if apps::needs_app(slot) {
        return Vec::new();
    }
    if !slot.fields.is_empty() {
        return slot
            .fields
            .iter()
            .map(|field| {
                (
                    field.key.clone(),
                    field.title.clone(),
                    field.secret,
                    field.help.clone(),
                )
            })
            .collect();
    }
    let plain = |key: &str, title: &str, secret| (key.to_owned(), title.to_owned(), secret, None);
    match slot.kind {
        AuthKind::Basic => vec![
            plain("username", "User name", false),
            plain("password", "Password", true),
        ],
        _ => vec![plain("secret", &slot.title, true)],
    }
}

/// The slot's values from the form, or the sentence that says what is wrong.
fn values(
    slot: &Slot,
    form: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Secret>, String> {
    fields(slot)
        .into_iter()
        .map(|(key, title, _, _)| {
            let value = form
                .get(&format!("f_{key}"))
                .map(|value| value.trim())
                .unwrap_or_default();
            if value.is_empty() {
                return Err(format!("{title} is missing."));
            }
            if value.len() > FIELD_BYTES_MAX || value.chars().any(char::is_control) {
                return Err(format!("{title} is too long or not plain text."));
            }
            Ok((key, Secret::new(value)))
        })
        .collect()
}

/// The connection's parameters from the form, or the sentence that says what is wrong.
fn parameters(
    manifest: &Manifest,
    form: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    for parameter in &manifest.parameters {
        let value = form
            .get(&format!("p_{}", parameter.key))
            .map(|value| value.trim())
            .filter(|value| !value.is_empty());
        let value = match (value, &parameter.default) {
            (Some(value), _) => value.to_owned(),
            (None, Some(default)) => default.clone(),
            (None, None) if parameter.required => {
                return Err(format!("{} is missing.", parameter.title));
            }
            (None, None) => continue,
        };
        if !fits(parameter, &value) {
            return Err(format!(
                "{} has a form that {} does not take.",
                parameter.title, manifest.title
            ));
        }
        found.insert(parameter.key.clone(), value);
    }
    Ok(found)
}

fn fits(parameter: &Parameter, value: &str) -> bool {
    let listed = parameter.options.is_empty() || parameter.options.iter().any(|one| one == value);
    let matches = match &parameter.pattern {
        // The lint has accepted the pattern; one that does not compile accepts nothing.
        Some(pattern) => regex::RegexBuilder::new(pattern)
            .size_limit(256 * 1024)
            .build()
            .is_ok_and(|pattern| pattern.is_match(value)),
        None => true,
    };
    value.len() <= PARAMETER_BYTES_MAX && !value.chars().any(char::is_control) && listed && matches
}
