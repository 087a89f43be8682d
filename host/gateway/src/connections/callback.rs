//! The addresses to which providers send browsers back, and which answer may arrive where.
//!
//! A server that mixes users up sends a browser on to an honest server with a state of its own flow
//! (RFC 9700, section 4.4). The honest server's code then arrives at the address that the honest service is
//! registered with, so each service has an address of its own, and a code is used only for the flow of the
//! service at whose address it has arrived. At the one address that services shared before, nothing but the
//! answer's `iss` (RFC 9207) says who sent it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use toolgate_oauth::Provider;
use toolgate_oauth::callback::{Callback, is_from};
use toolgate_store::OAuthApp;

/// The address that all services shared before each had its own; theirs are below it.
pub const SHARED_CALLBACK_PATH: &str = "/oauth/callback";
/// Name of the address in the settings of a registration.
pub(super) const CALLBACK_SETTING: &str = "callback";

/// Which redirect address an OAuth application is registered with at its provider.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CallbackAddress {
    /// `/oauth/callback/{service}`.
    Service,
    /// `/oauth/callback`, for a provider that names itself in each answer and issues its tokens at the same origin.
    Shared,
    /// `/oauth/callback`, also for answers that do not say who sent them. Every registration of before each service
    /// had an address is one.
    SharedUnproven,
}

impl CallbackAddress {
    /// The words of [`CallbackAddress`] as they are written in settings and at the command line.
    pub const WORDS: [&str; 3] = ["service", "shared", "shared-unproven"];

    /// As the registration says. A registration that says nothing is from before there was a choice: the provider
    /// knows the shared address.
    pub fn from_app(app: &OAuthApp) -> Self {
        let settings: Value = serde_json::from_str(&app.settings).unwrap_or_default();
        match settings.get(CALLBACK_SETTING) {
            None => Self::SharedUnproven,
            // What a later version may write is not guessed.
            Some(named) => Self::deserialize(named).unwrap_or(Self::Service),
        }
    }

    /// The redirect address of a service. `base`: the gateway's public address.
    pub fn url(self, base: &str, service: &str) -> String {
        match self {
            Self::Service => format!("{base}{SHARED_CALLBACK_PATH}/{service}"),
            Self::Shared | Self::SharedUnproven => format!("{base}{SHARED_CALLBACK_PATH}"),
        }
    }
}

/// The redirect address to register for a service: that of its application, else of the one to come.
pub fn callback_url(base: &str, service: &str, app: Option<&OAuthApp>) -> String {
    let address = app.map_or(CallbackAddress::Service, CallbackAddress::from_app);
    address.url(base, service)
}

/// Where an answer has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivedAt<'a> {
    /// At the address of this service.
    Service(&'a str),
    Shared,
}

/// Whether an answer belongs to a flow that was sent off with `sent_with` as its redirect address.
pub(super) fn belongs(
    arrived: ArrivedAt<'_>,
    sent_with: CallbackAddress,
    service: &str,
    provider: &Provider,
    answer: &Callback,
) -> bool {
    let named = answer.issuer.as_deref();
    let known = |issuer: &str| is_from(provider, issuer);
    match (arrived, sent_with) {
        (ArrivedAt::Service(at), CallbackAddress::Service) => {
            at == service && named.is_none_or(known)
        }
        (ArrivedAt::Shared, CallbackAddress::Shared) => {
            named.is_some_and(|issuer| known(issuer) && issues_tokens(provider, issuer))
        }
        (ArrivedAt::Shared, CallbackAddress::SharedUnproven) => named.is_none_or(known),
        (ArrivedAt::Service(_), CallbackAddress::Shared | CallbackAddress::SharedUnproven)
        | (ArrivedAt::Shared, CallbackAddress::Service) => false,
    }
}

/// Whether the token endpoint is at the issuer's origin. A manifest may name the authorization endpoint and the issuer
/// of another server beside a token endpoint of its own.
fn issues_tokens(provider: &Provider, issuer: &str) -> bool {
    let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin());
    match (origin(issuer), origin(&provider.token_url)) {
        (Some(issuer), Some(endpoint)) => issuer.is_tuple() && issuer == endpoint,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_oauth::callback::parse;

    fn provider(authorize_url: &str, token_url: &str, issuer: Option<&str>) -> Provider {
        Provider {
            authorize_url: Some(authorize_url.to_owned()),
            token_url: token_url.to_owned(),
            revoke_url: None,
            issuer: issuer.map(str::to_owned),
            client_id: "c".to_owned(),
            client_secret: None,
            token_auth: Default::default(),
            pkce: true,
            scope_separator: " ".to_owned(),
            authorize_params: Default::default(),
            redirect_name: None,
            origins: Vec::new(),
            refresh_url: None,
            dialect: Default::default(),
        }
    }

    #[test]
    fn an_answer_belongs_only_where_its_flow_was_sent_off_to_arrive() {
        use ArrivedAt::{Service as At, Shared as AtShared};
        use CallbackAddress::{Service, Shared, SharedUnproven};
        let evil = provider(
            "https://evil.test/authorize",
            "https://evil.test/token",
            None,
        );
        // RFC 9700, section 4.4: the address of the honest server, the token endpoint of another one.
        let lying = provider(
            "https://honest.test/authorize",
            "https://evil.test/token",
            Some("https://honest.test"),
        );
        let (plain, honest, own) = (
            "state=s&code=c",
            "state=s&code=c&iss=https%3A%2F%2Fhonest.test",
            "state=s&code=c&iss=https%3A%2F%2Fevil.test",
        );
        for (arrived, sent, provider, query, good) in [
            (At("evil"), Service, &evil, plain, true),
            (At("evil"), Service, &evil, own, true),
            (At("evil"), Service, &evil, honest, false),
            (At("honest"), Service, &evil, plain, false),
            (At("honest"), Service, &evil, own, false),
            (At("honest"), Service, &lying, honest, false),
            (At("EVIL"), Service, &evil, plain, false),
            (At(""), Service, &evil, plain, false),
            (AtShared, Service, &evil, plain, false),
            (AtShared, Service, &evil, own, false),
            (At("evil"), Shared, &evil, own, false),
            (At("evil"), SharedUnproven, &evil, plain, false),
            (AtShared, Shared, &evil, own, true),
            (AtShared, Shared, &evil, plain, false),
            (AtShared, Shared, &evil, honest, false),
            (AtShared, Shared, &lying, honest, false),
            (AtShared, SharedUnproven, &evil, plain, true),
            (AtShared, SharedUnproven, &evil, own, true),
            (AtShared, SharedUnproven, &evil, honest, false),
        ] {
            let answer = parse(query).unwrap();
            let belongs = belongs(arrived, sent, "evil", provider, &answer);
            assert_eq!(belongs, good, "{arrived:?} {sent:?} {query}");
        }
    }

    #[test]
    fn a_registration_of_before_keeps_the_address_that_its_provider_knows() {
        let app = |settings: &str| OAuthApp {
            workspace_id: String::new(),
            service: "desk".to_owned(),
            client_id: "c".to_owned(),
            sealed: None,
            scopes: None,
            settings: settings.to_owned(),
            updated_at_ms: 1,
        };
        let (own, shared) = (
            "https://gate.test/oauth/callback/desk",
            "https://gate.test/oauth/callback",
        );
        for (settings, expected) in [
            ("{}", shared),
            (r#"{"base_url":"https://x.test"}"#, shared),
            (r#"{"callback":"shared"}"#, shared),
            (r#"{"callback":"shared-unproven"}"#, shared),
            (r#"{"callback":"service"}"#, own),
            (r#"{"callback":"of a later version"}"#, own),
        ] {
            let app = app(settings);
            assert_eq!(
                callback_url("https://gate.test", "desk", Some(&app)),
                expected,
                "{settings}"
            );
        }
        assert_eq!(callback_url("https://gate.test", "desk", None), own);
        for word in CallbackAddress::WORDS {
            let address: CallbackAddress = word.parse().unwrap();
            assert_eq!(serde_json::json!(address), word);
        }
    }
}
