//! Whether a service is ready: its settings, its OAuth application, its provider.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::connections::apps;
use crate::connections::callback::callback_url;
use crate::{Caller, Error, Gateway};
use toolgate_catalog::manifest::ConfigKey;
use toolgate_oauth::authorize::{self, verifier};
use toolgate_oauth::token::TokenGrant;
use toolgate_oauth::{OAuthError, Provider};
use toolgate_store::Role;
use toolgate_vault::Secret;

/// Whether a service is ready, step by step.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceTest {
    pub ok: bool,
    pub checks: Vec<ServiceCheck>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ServiceCheck {
    pub check: &'static str,
    pub ok: bool,
    pub message: String,
}

impl Gateway {
    /// Tries what a connection will need: settings, addresses, and whether the provider knows this
    /// application. No user's data is touched.
    pub async fn test_service(&self, caller: &Caller, service: &str) -> Result<ServiceTest, Error> {
        caller.need_role(Role::Admin)?;
        let manifest = self.manifest_of(service)?;
        let workspace = &caller.workspace_id;
        let set = self.store.service_config(workspace, service).await?;
        let mut checks: Vec<ServiceCheck> = manifest
            .config
            .iter()
            .map(|key| setting(key, &set))
            .collect();
        let app = apps::find(&self.store, &manifest, workspace).await?;
        for slot in manifest.auth.iter().filter(|slot| apps::needs_app(slot)) {
            let Some(app) = &app else {
                checks.push(ServiceCheck {
                    check: "application",
                    ok: false,
                    message: "no OAuth application is registered".to_owned(),
                });
                break;
            };
            if !manifest.parameters.is_empty() {
                checks.push(ServiceCheck {
                    check: "application",
                    ok: true,
                    message: format!(
                        "registered as {}; its addresses depend on what each user names, so they are tried when a user connects",
                        app.client_id
                    ),
                });
                continue;
            }
            let provider = apps::provider(self.vault(), slot, app, &BTreeMap::new())?;
            let address = callback_url(&self.public_url, service, Some(app));
            let redirect_uri = provider.redirect_uri(&address);
            if provider.authorize_url.is_some() {
                checks.push(authorize_address(&provider, redirect_uri, &slot.scopes));
            }
            // A code that nobody was given: who is known is told that the code is bad, who is not
            // is told so.
            let (code, verifier) = (Secret::new("toolgate-test"), verifier());
            let grant = TokenGrant::Code {
                code: &code,
                redirect_uri,
                verifier: &verifier,
                state: None,
                scopes: &slot.scopes,
            };
            let tried = self
                .connections
                .try_application(caller, service, &provider, &grant);
            let answer = tried.await;
            checks.push(judged(answer.err()));
        }
        Ok(ServiceTest {
            ok: checks.iter().all(|check| check.ok),
            checks,
        })
    }
}

/// Whether a setting has a value.
fn setting(declared: &ConfigKey, set: &BTreeMap<String, String>) -> ServiceCheck {
    let optional = declared.schema.get("default").is_some();
    let there = set.contains_key(&declared.key);
    ServiceCheck {
        check: "setting",
        ok: there || optional,
        message: match (there, optional) {
            (true, _) => format!("{} is set", declared.key),
            (false, true) => format!("{} has its default", declared.key),
            (false, false) => format!("{} is not set", declared.key),
        },
    }
}

/// Whether the address that users are sent to can be built.
fn authorize_address(provider: &Provider, redirect_uri: &str, scopes: &[String]) -> ServiceCheck {
    let built = authorize::url(
        provider,
        &authorize::Authorize {
            redirect_uri,
            scopes,
            state: "test",
            verifier: &verifier(),
        },
    );
    ServiceCheck {
        check: "authorize_url",
        ok: built.is_ok(),
        message: match built {
            Ok(_) => "the address that users are sent to can be built".to_owned(),
            Err(cause) => cause.to_string(),
        },
    }
}

/// What the answer to a bad code says of the registration.
fn judged(refused: Option<OAuthError>) -> ServiceCheck {
    let (ok, message) = match refused {
        None | Some(OAuthError::Refused(_)) => (
            true,
            "the token endpoint answers and knows this application".to_owned(),
        ),
        Some(cause @ OAuthError::Client(_)) => (false, cause.to_string()),
        Some(OAuthError::Unreachable(cause)) => (
            false,
            format!("the token endpoint cannot be reached: {cause}"),
        ),
        Some(cause) => (false, cause.to_string()),
    };
    ServiceCheck {
        check: "token_endpoint",
        ok,
        message,
    }
}
