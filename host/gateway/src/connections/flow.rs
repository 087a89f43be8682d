//! What a browser does behind a connect link: look ([`page`]), start or cancel ([`start`]), come back
//! ([`arrive`]), be kept or confirmed ([`keep`]), leave for the application ([`way_back`]). A page's button works for
//! the browser that was shown the page ([`binding`]), and an account is not replaced unasked ([`account_question`]).
//!
//! Every step is one conditional update of the flow's state, so that a link, a state and a code are
//! good for one use, and only for the browser that was sent off. Looking changes nothing: links
//! are also opened by mail scanners. Who does not agree at the provider, or types a key that it
//! refuses, may try again as long as the link lives. What uses a link up goes on when the browser is gone: its
//! code, its form and its tokens come only once. Tokens of a flow that ends without a connection are revoked.

mod account_question;
mod arrive;
mod binding;
mod inputs;
mod keep;
mod page;
mod problem;
mod start;
mod way_back;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use account_question::{
    ANSWER_LIFE_MS, AccountAnswer, AccountQuestion, AnsweredQuestion, OpenQuestion,
};
pub use binding::PAGE_FIELD;
pub use inputs::{FIELD_BYTES_MAX, Input};
pub use keep::UNCHECKED;
pub use page::{ConnectPage, ShownPage, Unlocked};
pub use problem::ConnectProblem;
pub use start::{CANCEL, SentForm};
pub use way_back::{ConnectEnd, PopupMessage, WayBack};

use super::credential::OpenCredential;
use super::link::hash;
use super::requests::ConnectionRef;
use super::revoke::EndedCredential;
use super::{Error, Gateway, apps, slot_of};
use crate::detached::detach;
use crate::plugins::ServingPlugin;
use toolgate_catalog::manifest::{Manifest, Slot};
use toolgate_store::{ConnectFlow, FlowState, OAuthApp};
use toolgate_vault::{SealContext, Secret};

/// No text is longer than a connect token.
const TOKEN_BYTES_MAX: usize = 200;

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
    Again(Box<ShownPage>),
    /// Its user has to say whether another account is to be used.
    Asked(OpenQuestion),
    /// The user went back; the link is as good as before.
    Cancelled(WayBack),
    /// The link has ended without a connection.
    Ended {
        problem: ConnectProblem,
        way_back: WayBack,
    },
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
    /// Whether the provider has taken the credential.
    pub checked: bool,
    /// Scopes that were asked for and that the user did not agree to.
    pub not_granted: Vec<String>,
    pub way_back: WayBack,
}

fn internal(cause: impl Into<anyhow::Error>) -> Error {
    Error::Internal(cause.into())
}

/// A flow with what it is about.
struct OpenFlow {
    flow: ConnectFlow,
    serving: Arc<ServingPlugin>,
    slot: Slot,
    app: Option<OAuthApp>,
}

impl OpenFlow {
    fn manifest(&self) -> &Manifest {
        &self.serving.manifest
    }

    fn about(&self) -> ConnectionRef<'_> {
        ConnectionRef {
            workspace_id: &self.flow.workspace_id,
            user_id: &self.flow.user_id,
            service: &self.flow.service,
            connection_id: Some(&self.flow.connection_id),
        }
    }

    /// Its credential, where it ends without a connection.
    fn ended<'a>(
        &'a self,
        parameters: &'a BTreeMap<String, String>,
        credential: &'a OpenCredential,
    ) -> EndedCredential<'a> {
        EndedCredential {
            about: self.about(),
            slot: &self.flow.slot,
            parameters,
            credential,
        }
    }

    fn place(&self) -> SealContext<'_> {
        SealContext {
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
    async fn open_link(&self, token: &str) -> Result<OpenFlow, ConnectProblem> {
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

    async fn with_service(&self, flow: ConnectFlow) -> Result<OpenFlow, ConnectProblem> {
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
        Ok(OpenFlow {
            flow,
            serving,
            slot,
            app,
        })
    }

    /// Takes the step that uses a link up, to its end also when the browser is gone.
    async fn finish_step<F>(&self, step: F) -> Result<Step, ConnectProblem>
    where
        F: Future<Output = Result<Step, ConnectProblem>> + Send + 'static,
    {
        detach(&self.running, &self.workers, step)
            .await
            .map_err(|cause| internal(anyhow::Error::from(cause).context("the connect flow")))?
    }
}
