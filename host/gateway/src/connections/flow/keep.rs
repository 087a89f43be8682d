//! The end of a flow: the account is read, the credential sealed and kept, at once or after the
//! application has confirmed who sits before the browser.

use std::collections::BTreeMap;

use serde_json::json;
use url::Url;

use super::account_question::{ANSWER_LIFE_MS, AccountChange, OpenQuestion};
use super::page::FilledForm;
use super::{ConnectEnd, ConnectProblem, Connected, OpenFlow, Step, WayBack, internal};
use crate::audit::{self, AuditAction};
use crate::connections::account::{ProbeOutcome, RefusedKey};
use crate::connections::apps;
use crate::connections::credential::{ConnectionDetails, OpenCredential, UnconfirmedConnection};
use crate::connections::granted::lacking;
use crate::connections::guesses::REFUSED_PER_LINK;
use crate::connections::link::{hash, random_token};
use crate::connections::requests::ConnectionPurpose;
use crate::connections::tried::CandidateCredential;
use crate::connections::{ConnectionInfo, shown};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::ids::UserId;
use toolgate_store::{ConnectFlow, FlowState, NewConnection};
use toolgate_vault::{SealContext, Secret};

/// The name of the button that keeps a key which the provider may have refused for another reason.
pub const UNCHECKED: &str = "unchecked";

impl RefusedKey {
    fn stops(&self, form: &BTreeMap<String, String>) -> bool {
        self.surely || !form.contains_key(UNCHECKED)
    }

    fn sentence(&self, title: &str) -> String {
        match &self.words {
            Some(words) => format!("{title} did not accept it and says: {words}"),
            None => format!("{title} did not accept it. Check that you have copied all of it."),
        }
    }
}

impl Gateway {
    /// Tries the credential, then keeps the connection or waits for the application's word. `form`: to
    /// be shown again if the provider refuses what was in it.
    pub(super) async fn conclude(
        &self,
        open: &OpenFlow,
        credential: OpenCredential,
        mut details: ConnectionDetails,
        form: Option<&FilledForm>,
    ) -> Result<Step, ConnectProblem> {
        let tried = self.try_filled(open, &credential, &details, form).await?;
        // A provider that has just given tokens has checked them.
        let mut checked = form.is_none();
        match (tried, form) {
            (ProbeOutcome::Accepted(name), _) => {
                checked = true;
                details.account = name;
            }
            (ProbeOutcome::Refused(refused), Some(form)) if refused.stops(&form.inputs) => {
                return self.show_refused(open, form, refused).await;
            }
            (ProbeOutcome::Refused(_) | ProbeOutcome::Unknown, _) => {}
        }
        if let Some(confirm_url) = &open.flow.confirm_url {
            return self
                .ask_application(open, confirm_url, credential, details)
                .await;
        }
        match self.account_change(open, &credential, &details).await? {
            AccountChange::None => {
                self.keep_connection(open, &credential, details, checked)
                    .await
            }
            AccountChange::Replaces(before) | AccountChange::Adds(before) => {
                self.ask_about_account(open, before, credential, details)
                    .await
            }
        }
    }

    async fn try_filled(
        &self,
        open: &OpenFlow,
        credential: &OpenCredential,
        details: &ConnectionDetails,
        form: Option<&FilledForm>,
    ) -> Result<ProbeOutcome, ConnectProblem> {
        let flow = &open.flow;
        let settings = self.services.get(&flow.workspace_id, &flow.service);
        let requests = self
            .connections
            .requests(ConnectionPurpose::AccountCheck, open.about());
        let candidate = CandidateCredential {
            serving: &open.serving,
            slot: &open.slot,
            settings: &settings,
            parameters: &details.parameters,
            credential,
            requests,
            exposure: self.connections.known.exposure(
                &flow.workspace_id,
                &flow.user_id,
                &flow.service,
            ),
        };
        let permissions = match form {
            Some(_) => {
                let reading = self.reading_permissions(&flow.workspace_id, &flow.user_id);
                Some(reading.await?)
            }
            None => None,
        };
        let tried = self.try_credential(&candidate, &flow.workspace_id, permissions.as_ref());
        Ok(tried.await?)
    }

    /// The form again, or the end of the link once it was refused too often.
    async fn show_refused(
        &self,
        open: &OpenFlow,
        form: &FilledForm,
        refused: RefusedKey,
    ) -> Result<Step, ConnectProblem> {
        let why = refused.sentence(&open.manifest().title);
        let (id, now_ms) = (&open.flow.id, self.clock.now_ms());
        let goes_on = self
            .store
            .reopen_refused_flow(id, &why, REFUSED_PER_LINK, now_ms)
            .await?;
        if goes_on {
            return self.again(open, form, why, !refused.surely).await;
        }
        Ok(Step::Ended {
            problem: ConnectProblem::LinkRefused,
            way_back: WayBack::new(&open.flow, ConnectEnd::Failed),
        })
    }

    /// Sends the browser to the application, which says who sits before it.
    async fn ask_application(
        &self,
        open: &OpenFlow,
        confirm_url: &str,
        credential: OpenCredential,
        details: ConnectionDetails,
    ) -> Result<Step, ConnectProblem> {
        let until_ms = open.flow.expires_at_ms;
        let code = self
            .wait_for_word(open, credential, details, until_ms)
            .await?;
        let mut url = Url::parse(confirm_url).map_err(internal)?;
        url.query_pairs_mut()
            .append_pair("connect_code", code.expose());
        Ok(Step::Leave {
            url: Secret::new(url),
            cookie: None,
        })
    }

    /// Asks the user whether another account than `before` is meant.
    async fn ask_about_account(
        &self,
        open: &OpenFlow,
        before: Option<String>,
        credential: OpenCredential,
        details: ConnectionDetails,
    ) -> Result<Step, ConnectProblem> {
        let flow = &open.flow;
        let now = details.account.clone();
        let until_ms = flow.expires_at_ms.max(self.clock.now_ms() + ANSWER_LIFE_MS);
        let code = self
            .wait_for_word(open, credential, details, until_ms)
            .await?;
        tracing::info!(connect.flow = flow.id, "connect.account_asked");
        Ok(Step::Asked(OpenQuestion {
            service: open.manifest().title.clone(),
            user: flow.user_id.clone(),
            before,
            now,
            url: format!(
                "{}/integrations/{}/account?code={}",
                self.connections.public_url,
                flow.service,
                code.expose()
            ),
        }))
    }

    /// Keeps the connection.
    async fn keep_connection(
        &self,
        open: &OpenFlow,
        credential: &OpenCredential,
        details: ConnectionDetails,
        checked: bool,
    ) -> Result<Step, ConnectProblem> {
        let (flow, now_ms) = (&open.flow, self.clock.now_ms());
        let account = details.account.clone();
        let asked = match apps::needs_app(&open.slot) {
            true => lacking(&details.scopes, &flow.scopes),
            false => Vec::new(),
        };
        let not_granted: Vec<String> = asked.into_iter().cloned().collect();
        let new = self.new_connection(open, credential, details)?;
        let details = json!({ "user_id": flow.user_id, "service": flow.service });
        let entry = audit::entry(
            &flow.workspace_id,
            format!("user:{}", flow.user_id),
            now_ms,
            AuditAction::ConnectionsConnect,
            &new.id,
            details,
        );
        if !self
            .store
            .audited(entry)
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
        let way_back = WayBack::new(flow, ConnectEnd::Connected);
        Ok(way_back.leaves_at_once().unwrap_or_else(|| {
            Step::Done(Connected {
                service: open.manifest().title.clone(),
                user: flow.user_id.clone(),
                account,
                checked,
                not_granted,
                way_back,
            })
        }))
    }

    /// Keeps the credential apart until somebody vouches for it; answers the code for that.
    async fn wait_for_word(
        &self,
        open: &OpenFlow,
        credential: OpenCredential,
        details: ConnectionDetails,
        until_ms: i64,
    ) -> Result<Secret, ConnectProblem> {
        let code = random_token();
        let waiting = UnconfirmedConnection {
            credential,
            details,
        };
        let sealed = self.connections.seal(&open.place(), &waiting.to_secret())?;
        let (id, now_ms) = (&open.flow.id, self.clock.now_ms());
        let waits = self
            .store
            .await_confirmation(id, &hash(code.expose()), &sealed, until_ms, now_ms)
            .await?;
        if waits {
            Ok(code)
        } else {
            Err(ConnectProblem::Used)
        }
    }

    /// The application confirms that the browser it received belongs to `user`; only then is the
    /// connection there. Another user ends the flow, and its tokens are revoked.
    pub async fn confirm_connection(
        &self,
        caller: &Caller,
        code: &str,
        user: &UserId,
    ) -> Result<ConnectionInfo, Error> {
        caller.need(Scope::Connections)?;
        caller.user(Some(user))?;
        let now_ms = self.clock.now_ms();
        let flow = self
            .store
            .find_flow_to_confirm(&caller.workspace_id, &hash(code), now_ms)
            .await?
            .filter(|flow| flow.confirm_url.is_some())
            .ok_or_else(no_such_code)?;
        if flow.user_id != user.as_str() {
            let why = "confirmed for another user";
            let failed = self.store.fail_flow(&flow.id, why, now_ms).await?;
            tracing::warn!(connect.flow = flow.id, "connect.mixed_up_users");
            if failed {
                self.revoke_unconfirmed(flow).await;
            }
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
        self.check_vouching(caller, &open, user).await?;
        let waiting = self.unconfirmed(&open)?;
        let new = self.new_connection(&open, &waiting.credential, waiting.details)?;
        let details = json!({ "user_id": new.user_id, "service": new.service });
        let stored = self
            .audited(caller, AuditAction::ConnectionsConnect, &new.id, details)
            .finish_flow(&open.flow.id, FlowState::AwaitingConfirmation, &new, now_ms)
            .await?;
        if !stored {
            return Err(no_such_code());
        }
        let row = self
            .store
            .find_connection(&caller.workspace_id, &id)
            .await?
            .ok_or_else(no_such_code)?;
        Ok(shown(&row, now_ms))
    }

    /// What waits for the application's word.
    pub(super) fn unconfirmed(&self, open: &OpenFlow) -> Result<UnconfirmedConnection, Error> {
        let sealed = open.flow.sealed.as_deref().ok_or_else(no_such_code)?;
        let opened = self
            .connections
            .vault
            .unseal(&open.place(), sealed)
            .map_err(internal)?;
        UnconfirmedConnection::parse(&opened).map_err(internal)
    }

    /// Revokes what waited for the application's word, which came for another user or not in time: its tokens may be
    /// those of another person.
    pub(crate) async fn revoke_unconfirmed(&self, flow: ConnectFlow) {
        // Without its service nobody knows where the tokens were issued.
        let Ok(open) = self.with_service(flow).await else {
            return;
        };
        match self.unconfirmed(&open) {
            Ok(waiting) => {
                let ended = open.ended(&waiting.details.parameters, &waiting.credential);
                self.connections.revoke_unused(ended).await;
            }
            Err(cause) => {
                tracing::warn!(connect.flow = open.flow.id, error = %cause, "connections.revoke_failed");
            }
        }
    }

    pub(super) fn new_connection(
        &self,
        open: &OpenFlow,
        credential: &OpenCredential,
        details: ConnectionDetails,
    ) -> Result<NewConnection, Error> {
        let flow = &open.flow;
        let place = SealContext {
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
            refresh_end: credential.refresh_end(self.clock.now_ms()),
        })
    }
}

fn no_such_code() -> Error {
    Error::NotFound("the confirmation code".to_owned())
}
