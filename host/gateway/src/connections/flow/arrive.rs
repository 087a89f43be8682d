//! The way back: the provider's answer is taken once, and its code becomes tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::page::FilledForm;
use super::problem::why_not;
use super::{ConnectEnd, ConnectProblem, OpenFlow, Step, WayBack, cookie_name, internal};
use crate::connections::apps;
use crate::connections::callback::{self, ArrivedAt};
use crate::connections::credential::{ConnectionDetails, StartedFlow};
use crate::connections::granted::believed;
use crate::connections::issued::credential_of;
use crate::connections::link::hash;
use crate::connections::requests::ConnectionPurpose;
use crate::connections::token_parameters::TokenParameters;
use crate::{Error, Gateway};
use toolgate_catalog::manifest::AuthKind;
use toolgate_oauth::callback::{Callback, CallbackOutcome, parse};
use toolgate_oauth::token::TokenGrant;
use toolgate_oauth::{self as oauth, OAuthError};
use toolgate_vault::Secret;

impl Gateway {
    /// The provider sends the browser back. `query`: without `?`. `cookie`: looks one up by name.
    pub async fn connect_callback(
        self: &Arc<Self>,
        arrived: ArrivedAt<'_>,
        query: &str,
        cookie: impl Fn(&str) -> Option<String>,
    ) -> Result<Step, ConnectProblem> {
        let answer = parse(query)?;
        let secure = self.connections.public_url.starts_with("https://");
        let cookie_hash = cookie(&cookie_name(&answer.state, secure)).map(|value| hash(&value));
        let service = match arrived {
            ArrivedAt::Service(service) => Some(service.to_owned()),
            ArrivedAt::Shared => None,
        };
        let accepted = Box::pin(self.clone().accept_answer(service, answer, cookie_hash));
        self.finish_step(accepted).await
    }

    /// Accepts the answer, once and from the browser that was sent off, and does what follows from it. `service`: at
    /// whose address it has arrived.
    async fn accept_answer(
        self: Arc<Self>,
        service: Option<String>,
        answer: Callback,
        cookie_hash: Option<String>,
    ) -> Result<Step, ConnectProblem> {
        let state_hash = hash(answer.state.expose());
        let now_ms = self.clock.now_ms();
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
        let started = match self.started(&open) {
            Ok(started) => started,
            Err(problem) => return self.end(&open, problem).await,
        };
        match self.take_answer(&open, &started, service, answer).await {
            Ok(step) => Ok(step),
            Err(problem) => match &started.token {
                Some(token) if problem.passes() => self.try_again(&open, token, &problem).await,
                _ => self.end(&open, problem).await,
            },
        }
    }

    fn started(&self, open: &OpenFlow) -> Result<StartedFlow, ConnectProblem> {
        let sealed = open.flow.sealed.as_deref().ok_or(ConnectProblem::Used)?;
        let opened = self
            .connections
            .vault
            .unseal(&open.place(), sealed)
            .map_err(internal)?;
        Ok(StartedFlow::parse(&opened).map_err(internal)?)
    }

    async fn end(&self, open: &OpenFlow, problem: ConnectProblem) -> Result<Step, ConnectProblem> {
        let (id, why) = (&open.flow.id, problem.why());
        self.store.fail_flow(id, why, self.clock.now_ms()).await?;
        let way_back = WayBack::new(&open.flow, ConnectEnd::Failed);
        Ok(Step::Ended { problem, way_back })
    }

    /// Back to the link's page, which says what happened.
    async fn try_again(
        &self,
        open: &OpenFlow,
        token: &Secret,
        problem: &ConnectProblem,
    ) -> Result<Step, ConnectProblem> {
        let (id, why) = (&open.flow.id, problem.to_string());
        let now_ms = self.clock.now_ms();
        if !self.store.reopen_flow(id, &why, now_ms).await? {
            return Err(ConnectProblem::Used);
        }
        let page = format!("{}/connect/{}", self.connections.public_url, token.expose());
        Ok(Step::Leave {
            url: Secret::new(page),
            cookie: None,
        })
    }

    /// The answer is the provider's own, or it is refused; then its code becomes a connection.
    async fn take_answer(
        &self,
        open: &OpenFlow,
        started: &StartedFlow,
        service: Option<String>,
        answer: Callback,
    ) -> Result<Step, ConnectProblem> {
        let app = open.app.as_ref().ok_or(ConnectProblem::NotSetUp)?;
        let provider = apps::provider(
            &self.connections.vault,
            &open.slot,
            app,
            &started.parameters,
        )?;
        let arrived = service
            .as_deref()
            .map_or(ArrivedAt::Shared, ArrivedAt::Service);
        let own = &open.flow.service;
        // Before anything of the answer is sent anywhere: the code may be another provider's.
        if !callback::belongs(arrived, started.callback, own, &provider, &answer) {
            return Err(ConnectProblem::OtherProvider);
        }
        let code = match answer.answer {
            CallbackOutcome::Code(code) => code,
            CallbackOutcome::Error(error) => {
                return Err(match error.as_str() {
                    "access_denied" | "user_denied" => {
                        ConnectProblem::Denied(open.manifest().title.clone())
                    }
                    _ => ConnectProblem::Refused(error),
                });
            }
        };
        let address = started.callback.url(&self.connections.public_url, own);
        let grant = TokenGrant::Code {
            code: &code,
            redirect_uri: provider.redirect_uri(&address),
            verifier: &started.verifier,
            state: Some(&answer.state),
            scopes: &open.flow.scopes,
        };
        let parameters = started.parameters.clone();
        self.take_tokens(open, &provider, &grant, parameters, answer.scopes)
            .await
    }

    pub(super) async fn connect_as_client(
        &self,
        open: &OpenFlow,
        filled: &FilledForm,
        parameters: BTreeMap<String, String>,
    ) -> Result<Step, ConnectProblem> {
        let app = open.app.as_ref().ok_or(ConnectProblem::NotSetUp)?;
        let provider = apps::provider(&self.connections.vault, &open.slot, app, &parameters)?;
        let grant = TokenGrant::ClientCredentials {
            scopes: &open.flow.scopes,
        };
        let result = self
            .take_tokens(open, &provider, &grant, parameters, None)
            .await;
        match result {
            Ok(step) => Ok(step),
            Err(problem) if problem.passes() => {
                let (id, why) = (&open.flow.id, problem.to_string());
                let now_ms = self.clock.now_ms();
                self.store.reopen_flow(id, &why, now_ms).await?;
                self.again(open, filled, why, false).await
            }
            Err(problem) => self.end(open, problem).await,
        }
    }

    /// What follows from a refusal of the token endpoint.
    async fn without_tokens(&self, open: &OpenFlow, refused: OAuthError) -> ConnectProblem {
        tracing::warn!(connect.flow = open.flow.id, service = open.flow.service, error = %refused, "connect.no_token");
        match refused {
            OAuthError::Refused(code) => ConnectProblem::Refused(code),
            OAuthError::Client(code) => {
                let Some(app) = &open.app else {
                    return ConnectProblem::Refused(code);
                };
                let (manifest, slot) = (open.manifest(), &open.slot);
                let again = self
                    .connections
                    .is_registered_again(manifest, slot, app, &code);
                match again.await {
                    true => ConnectProblem::RegisteredAgain,
                    false => ConnectProblem::Refused(code),
                }
            }
            OAuthError::Busy(_) | OAuthError::Unreachable(_) => ConnectProblem::Away,
            OAuthError::Answer(_) => ConnectProblem::Refused("unreadable_answer".to_owned()),
            OAuthError::Address(_) => ConnectProblem::Internal(Error::Internal(refused.into())),
        }
    }

    async fn take_tokens(
        &self,
        open: &OpenFlow,
        provider: &oauth::Provider,
        grant: &TokenGrant<'_>,
        parameters: BTreeMap<String, String>,
        named: Option<Vec<String>>,
    ) -> Result<Step, ConnectProblem> {
        let places = TokenParameters::of(&open.slot);
        let requests = self
            .connections
            .requests(ConnectionPurpose::TokenRequest, open.about());
        let egress = self.connections.egress.with_journal(requests.clone());
        let asked_ms = self.clock.now_ms();
        let answer = oauth::send::tokens(&egress, provider, grant, &places.pointers).await;
        requests.ended(answer.is_ok(), None).await;
        let tokens = match answer {
            Ok(tokens) => tokens,
            Err(refused) => return Err(self.without_tokens(open, refused).await),
        };
        let parameters = places.taken(open.manifest(), &tokens.read, parameters);
        let credential = credential_of(&tokens, &open.slot, provider, asked_ms);
        let granted = tokens.scopes.clone().or(named);
        let details = ConnectionDetails {
            account: None,
            scopes: believed(&open.flow.scopes, granted),
            parameters,
            token_expires_at_ms: credential.lifetime_ms.map(|life_ms| asked_ms + life_ms),
            refreshable: tokens.refresh.is_some()
                || open.slot.kind == AuthKind::Oauth2ClientCredentials,
        };
        let parameters = details.parameters.clone();
        let concluded = Box::pin(self.conclude(open, credential.clone(), details, None)).await;
        if concluded.is_err() {
            let ended = open.ended(&parameters, &credential);
            Box::pin(self.connections.revoke_unused(ended)).await;
        }
        concluded
    }
}
