//! The page's buttons: the browser goes to the provider, the form is taken, or all is taken back.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::inputs::{parameters, values};
use super::page::FilledForm;
use super::{
    ConnectEnd, ConnectProblem, Cookie, OpenFlow, PAGE_FIELD, Step, WayBack, cookie_name, internal,
};
use crate::Gateway;
use crate::connections::apps;
use crate::connections::callback::CallbackAddress;
use crate::connections::credential::{ConnectionDetails, OpenCredential, StartedFlow};
use crate::connections::guesses::{CountedTry, TryingUser};
use crate::connections::link::{hash, leaves_for_provider, random_token};
use toolgate_catalog::manifest::AuthKind;
use toolgate_oauth::authorize;
use toolgate_vault::Secret;

/// The name of the button that takes it all back.
pub const CANCEL: &str = "cancel";

/// What a browser has sent.
#[derive(Debug)]
pub struct SentForm {
    pub inputs: BTreeMap<String, String>,
    /// The client's; absent where the request came from this process.
    pub address: Option<IpAddr>,
}

impl Gateway {
    /// The page's button: sends the browser off, or takes the form. `cookie`: looks one up by name.
    pub async fn connect_submit(
        self: &Arc<Self>,
        token: &str,
        sent: SentForm,
        cookie: impl Fn(&str) -> Option<String>,
    ) -> Result<Step, ConnectProblem> {
        let open = self.open_link(token).await?;
        let binding = self.binding(&open, cookie);
        let filled = FilledForm {
            inputs: sent.inputs,
            binding,
        };
        let form = &filled.inputs;
        if !filled
            .binding
            .holds(form.get(PAGE_FIELD).map(String::as_str))
        {
            return self.unbound(&open, &filled).await;
        }
        if form.contains_key(CANCEL) {
            let way_back = WayBack::new(&open.flow, ConnectEnd::Cancelled);
            let leaves = way_back.leaves_at_once();
            return Ok(leaves.unwrap_or(Step::Cancelled(way_back)));
        }
        let parameters = match parameters(open.manifest(), form) {
            Ok(parameters) => parameters,
            Err(problem) => return self.again(&open, &filled, problem, false).await,
        };
        if leaves_for_provider(&open.slot) {
            return self.leave(&open, token, parameters).await;
        }
        let values = if open.slot.kind == AuthKind::Oauth2ClientCredentials {
            None
        } else {
            match values(&open.slot, form) {
                Ok(values) => Some(values),
                Err(problem) => return self.again(&open, &filled, problem, false).await,
            }
        };
        let counted = self.count_try(&open, sent.address)?;
        let tried = self
            .clone()
            .try_form(open, filled, parameters, values, counted);
        self.finish_step(Box::pin(tried)).await
    }

    /// Counts a try as refused, or says when the next one may be made.
    fn count_try(
        &self,
        open: &OpenFlow,
        address: Option<IpAddr>,
    ) -> Result<CountedTry, ConnectProblem> {
        let flow = &open.flow;
        let of = TryingUser {
            workspace: &flow.workspace_id,
            user: &flow.user_id,
            service: &flow.service,
            address,
        };
        let counted = self.connections.guesses.begin(of, self.clock.now_ms());
        counted.map_err(|retry_after_s| ConnectProblem::TooManyRefused { retry_after_s })
    }

    /// Takes the form, and the try back unless the provider has refused what was in it.
    async fn try_form(
        self: Arc<Self>,
        open: OpenFlow,
        filled: FilledForm,
        parameters: BTreeMap<String, String>,
        values: Option<BTreeMap<String, Secret>>,
        counted: CountedTry,
    ) -> Result<Step, ConnectProblem> {
        let step = Box::pin(self.clone().take_form(open, filled, parameters, values)).await;
        if !matches!(step, Ok(Step::Again(_) | Step::Ended { .. })) {
            self.connections.guesses.forgive(counted);
        }
        step
    }

    /// Accepts a filled form, once, and does what follows from it. `values`: none where the gateway's own
    /// registration is the credential.
    async fn take_form(
        self: Arc<Self>,
        open: OpenFlow,
        filled: FilledForm,
        parameters: BTreeMap<String, String>,
        values: Option<BTreeMap<String, Secret>>,
    ) -> Result<Step, ConnectProblem> {
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
            return self.connect_as_client(&open, &filled, parameters).await;
        };
        let credential = OpenCredential {
            values,
            ..OpenCredential::default()
        };
        let details = ConnectionDetails {
            parameters,
            ..ConnectionDetails::default()
        };
        self.conclude(&open, credential, details, Some(&filled))
            .await
    }

    /// Binds the flow to a state, a PKCE verifier and a cookie, and sends the browser off.
    async fn leave(
        &self,
        open: &OpenFlow,
        token: &str,
        parameters: BTreeMap<String, String>,
    ) -> Result<Step, ConnectProblem> {
        let app = open.app.as_ref().ok_or(ConnectProblem::NotSetUp)?;
        if !apps::slot_is_ready(&open.slot, Some(app)) {
            return Err(ConnectProblem::NotSetUp);
        }
        let renewed = self
            .connections
            .renewed_client(open.manifest(), &open.slot, app, &parameters)
            .await;
        let app = renewed.as_ref().unwrap_or(app);
        let provider = apps::provider(&self.connections.vault, &open.slot, app, &parameters)?;
        let (state, cookie, verifier) = (random_token(), random_token(), authorize::verifier());
        let callback = CallbackAddress::from_app(app);
        let address = callback.url(&self.connections.public_url, &open.flow.service);
        let url = authorize::url(
            &provider,
            &authorize::Authorize {
                redirect_uri: provider.redirect_uri(&address),
                scopes: &open.flow.scopes,
                state: state.expose(),
                verifier: &verifier,
            },
        )
        .map_err(internal)?;
        let started = StartedFlow {
            verifier,
            token: Some(Secret::new(token)),
            parameters,
            callback,
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
}
