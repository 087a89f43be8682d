//! Deviations of one provider from the standards, as its manifest declares them.

use std::collections::BTreeMap;

use toolgate_catalog::manifest::{Slot, TokenAnswer, TokenBody, TokenStep};
use toolgate_catalog::token_requests;

/// The default is the standard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// More parameters of the token requests, with `{names}` of [`Self::values`].
    pub token_params: BTreeMap<String, String>,
    /// Replace them in a refresh request.
    pub refresh_params: Option<BTreeMap<String, String>>,
    /// Values of the connection.
    pub values: BTreeMap<String, String>,
    pub client_id_param: Option<String>,
    pub client_secret_param: Option<String>,
    pub redirect_uri_param: Option<String>,
    pub scope_param: Option<String>,
    pub scope_with: Vec<TokenStep>,
    pub body: TokenBody,
    pub answer: TokenAnswer,
    pub revoke_param: Option<String>,
}

impl Dialect {
    /// `values`: the parameters of the connection.
    pub fn from_slot(slot: &Slot, values: &BTreeMap<String, String>) -> Self {
        Self {
            token_params: slot.token_params.clone(),
            refresh_params: slot.refresh_params.clone(),
            values: values.clone(),
            client_id_param: slot.client_id_param.clone(),
            client_secret_param: slot.client_secret_param.clone(),
            redirect_uri_param: slot.redirect_uri_param.clone(),
            scope_param: slot.scope_param.clone(),
            scope_with: slot.scope_with.clone(),
            body: slot.token_body,
            answer: slot.token_answer.clone(),
            revoke_param: slot.revoke_param.clone(),
        }
    }

    pub(crate) fn client_id(&self) -> &str {
        self.client_id_param.as_deref().unwrap_or("client_id")
    }

    pub(crate) fn client_secret(&self) -> &str {
        let name = self.client_secret_param.as_deref();
        name.unwrap_or("client_secret")
    }

    pub(crate) fn redirect_uri(&self) -> &str {
        let name = self.redirect_uri_param.as_deref();
        name.unwrap_or("redirect_uri")
    }

    pub(crate) fn scope(&self) -> &str {
        self.scope_param.as_deref().unwrap_or("scope")
    }

    pub(crate) fn names_scope(&self, step: TokenStep) -> bool {
        self.scope_with.contains(&step)
    }

    /// The provider's own parameters of a request. One whose value is not known is left out. `sent` are the values of
    /// the authorization that the gateway repeats.
    pub(crate) fn own_params(&self, refresh: bool, sent: &[(&str, &str)]) -> Vec<(String, String)> {
        let params = match &self.refresh_params {
            Some(params) if refresh => params,
            _ => &self.token_params,
        };
        let find = |name: &str| {
            let repeated = sent.iter().find(|(key, _)| *key == name);
            let repeated = repeated.map(|(_, value)| *value);
            repeated.or_else(|| self.values.get(name).map(String::as_str))
        };
        params
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), token_requests::filled(value, find)?)))
            .collect()
    }
}
