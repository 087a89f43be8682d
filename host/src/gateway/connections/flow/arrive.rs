//! The way back: the provider's answer is taken once, and its code becomes tokens.

use std::collections::BTreeMap;

use super::inputs::PARAMETER_BYTES_MAX;
use super::problem::why_not;
use super::{ConnectProblem, Open, Step, cookie_name, internal};
use crate::catalog::manifest::AuthKind;
use crate::gateway::connections::apps;
use crate::gateway::connections::credential::{Details, Started};
use crate::gateway::connections::link::hash;
use crate::gateway::connections::refresh::{credential_of, ms, union};
use crate::gateway::connections::requests::Why;
use crate::gateway::{Error, Gateway};
use crate::oauth::callback::{self, Answer, Callback};
use crate::oauth::token::Grant;
use crate::oauth::{self, OAuthError};

impl Gateway {
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
        let result = self.take_answer(&open, callback).await;
        if let Err(problem) = &result {
            let (id, why) = (&open.flow.id, problem.why());
            self.store.fail_flow(id, why, self.clock.now_ms()).await?;
        }
        result
    }

    /// The answer is the provider's own, or it is refused; then its code becomes a connection.
    async fn take_answer(&self, open: &Open, callback: Callback) -> Result<Step, ConnectProblem> {
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
        if let Some(issuer) = &callback.issuer
            && !callback::is_from(&provider, issuer)
        {
            return Err(ConnectProblem::OtherProvider);
        }
        let code = match callback.answer {
            Answer::Code(code) => code,
            Answer::Error(error) => {
                return Err(match error.as_str() {
                    "access_denied" | "user_denied" => ConnectProblem::Denied(error),
                    _ => ConnectProblem::Refused(error),
                });
            }
        };
        let grant = Grant::Code {
            code: &code,
            redirect_uri: &self.callback_url(),
            verifier: &started.verifier,
        };
        self.take_tokens(open, &provider, &grant, started.parameters)
            .await
    }

    pub(super) async fn connect_as_client(
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
        let requests = self.connections.requests(Why::TokenRequest, open.about());
        let egress = self.connections.egress.journaled_by(requests.clone());
        let answer = oauth::send::tokens(&egress, provider, grant, &pointers).await;
        requests.ended(answer.is_ok(), None).await;
        let tokens = answer
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
        let hosts = &open.manifest().hosts;
        for (key, value) in keys.into_iter().zip(&tokens.read) {
            let label = value
                .as_deref()
                .and_then(|value| label_in(value, key, hosts));
            if let Some(value) = label.as_ref().or(value.as_ref())
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
        let credential = credential_of(&tokens, &provider.client_id);
        self.conclude(open, credential, details, None).await
    }
}

/// The label that stands for `key` in one of the manifest's hosts, where the provider answers with a
/// whole address of that form: `acme` of `https://acme.my.example.com`.
fn label_in(address: &str, key: &str, hosts: &[String]) -> Option<String> {
    let host = address.strip_prefix("https://")?;
    let host = host.strip_suffix('/').unwrap_or(host);
    hosts.iter().find_map(|pattern| {
        let (before, after) = pattern.split_once(&format!("{{{key}}}"))?;
        let label = host.strip_prefix(before)?.strip_suffix(after)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (!label.is_empty() && label.bytes().all(plain)).then(|| label.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_taken_out_of_an_address_of_the_manifests_form_alone() {
        let hosts = ["login.test".to_owned(), "{instance}.my.test".to_owned()];
        for (address, expected) in [
            ("https://acme.my.test", Some("acme")),
            ("https://acme--dev.my.test/", Some("acme--dev")),
            ("https://a.b.my.test", None),
            ("https://.my.test", None),
            ("https://acme.my.test/x", None),
            ("https://acme.my.test.evil.test", None),
            ("https://evil.test/.my.test", None),
            ("https://evil.test?.my.test", None),
            ("https://user@acme.my.test", None),
            ("http://acme.my.test", None),
            ("acme", None),
        ] {
            assert_eq!(
                label_in(address, "instance", &hosts).as_deref(),
                expected,
                "{address}"
            );
        }
        assert_eq!(label_in("https://acme.my.test", "other", &hosts), None);
    }
}
