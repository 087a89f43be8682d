//! The page's buttons: the browser goes to the provider, the form is taken, or all is taken back.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::inputs::{parameters, values};
use super::{ConnectEnd, ConnectProblem, Cookie, OpenFlow, Step, WayBack, cookie_name, internal};
use crate::Gateway;
use crate::connections::apps;
use crate::connections::callback::CallbackAddress;
use crate::connections::credential::{ConnectionDetails, OpenCredential, StartedFlow};
use crate::connections::link::{hash, leaves_for_provider, random_token};
use toolgate_catalog::manifest::AuthKind;
use toolgate_oauth::authorize;
use toolgate_vault::Secret;

/// The name of the button that takes it all back.
pub const CANCEL: &str = "cancel";

impl Gateway {
    /// The page's button: sends the browser off, or takes the form.
    pub async fn connect_submit(
        self: &Arc<Self>,
        token: &str,
        form: BTreeMap<String, String>,
    ) -> Result<Step, ConnectProblem> {
        let open = self.open_link(token).await?;
        if form.contains_key(CANCEL) {
            let way_back = WayBack::new(&open.flow, ConnectEnd::Cancelled);
            let leaves = way_back.leaves_at_once();
            return Ok(leaves.unwrap_or(Step::Cancelled(way_back)));
        }
        let parameters = match parameters(open.manifest(), &form) {
            Ok(parameters) => parameters,
            Err(problem) => return self.again(&open, &form, problem, false).await,
        };
        if leaves_for_provider(&open.slot) {
            return self.leave(&open, token, parameters).await;
        }
        let values = if open.slot.kind == AuthKind::Oauth2ClientCredentials {
            None
        } else {
            match values(&open.slot, &form) {
                Ok(values) => Some(values),
                Err(problem) => return self.again(&open, &form, problem, false).await,
            }
        };
        let taken = Box::pin(self.clone().take_form(open, form, parameters, values));
        self.finish_step(taken).await
    }

    /// Accepts a filled form, once, and does what follows from it. `values`: none where the gateway's own
    /// registration is the credential.
    async fn take_form(
        self: Arc<Self>,
        open: OpenFlow,
        form: BTreeMap<String, String>,
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
            return self.connect_as_client(&open, &form, parameters).await;
        };
        let credential = OpenCredential {
            values,
            ..OpenCredential::default()
        };
        let details = ConnectionDetails {
            parameters,
            ..ConnectionDetails::default()
        };
        self.conclude(&open, credential, details, Some(&form)).await
    }

    /// Binds the flow to a state, a PKCE verifier and a cookie, and sends the browser off.
    async fn leave(
        &self,
        open: &OpenFlow,
        token: &str,
        parameters: BTreeMap<String, String>,
    ) -> Result<Step, ConnectProblem> {
        let app = open.app.as_ref().ok_or(ConnectProblem::NotSetUp)?;
        let provider = apps::provider(&self.connections.vault, &open.slot, app, &parameters)?;
        let (state, cookie, verifier) = (random_token(), random_token(), authorize::verifier());
        let challenge = authorize::challenge(&verifier);
        let callback = CallbackAddress::from_app(app);
        let url = authorize::url(
            &provider,
            &authorize::Authorize {
                redirect_uri: &callback.url(&self.connections.public_url, &open.flow.service),
                scopes: &open.flow.scopes,
                state: state.expose(),
                challenge: &challenge,
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
