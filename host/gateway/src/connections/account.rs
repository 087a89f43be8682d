//! Reading the name of the account that was just connected.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::credential::OpenCredential;
use super::known::secrets_of;
use super::lend::{injection, is_secret, named_addresses};
use super::requests::HostRequests;
use super::{Error, apps, slot_of};
use crate::connections::services;
use crate::plugins::ServingPlugin;
use toolgate_catalog::manifest::{Manifest, Slot};
use toolgate_egress::scrub::REDACTED;
use toolgate_egress::{
    CallLimits, Credentials, Declarations, Egress, EgressFailure, FailureKind, Injection,
    LearnedSecrets, Mode, Scrubber,
};

const ANSWER_BYTES_MAX: usize = 1024 * 1024;
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const NAME_CHARS_MAX: usize = 200;

/// What the provider said to the first request with a credential.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProbeOutcome {
    Account(String),
    /// The answer names nobody, or none came.
    Unknown,
    /// The credential is not valid.
    Refused,
}

/// Asks the provider who the credential belongs to, under the plugin's own rights.
pub(super) async fn probe(
    egress: &Egress,
    requests: &Arc<HostRequests>,
    serving: &ServingPlugin,
    slot: &Slot,
    settings: &BTreeMap<String, String>,
    parameters: &BTreeMap<String, String>,
    credential: &OpenCredential,
) -> Result<ProbeOutcome, Error> {
    let manifest = &serving.manifest;
    let Some(account) = &slot.account else {
        return Ok(ProbeOutcome::Unknown);
    };
    // Whatever a manifest says: reading who somebody is changes nothing.
    let Some(("GET", url)) = account.request.split_once(' ') else {
        return Ok(ProbeOutcome::Unknown);
    };
    // An operator who named an address runs the service there.
    let url = match named_addresses(slot, manifest, settings).next() {
        Some(base) => apps::moved(url, base.trim_end_matches('/')),
        None => url.to_owned(),
    };
    let learned = Arc::new(LearnedSecrets::default());
    let secrets = secrets_of(Some(slot), credential, parameters, manifest);
    learned.learn(secrets.iter().map(|secret| secret.expose().as_bytes()));
    let scrubber = Scrubber::knowing(vec![learned.clone()]);
    let fixed = UnstoredCredential {
        manifest: manifest.clone(),
        slot: slot.slot.clone(),
        settings: settings.clone(),
        parameters: parameters.clone(),
        credential: credential.clone(),
    };
    let scope = toolgate_egress::CallScope::new(
        services::grant(serving, settings)?,
        parameters.clone(),
        Arc::new(fixed),
        CallLimits {
            requests_max: 5,
            timeout: ANSWER_TIMEOUT,
            ..CallLimits::default()
        },
        Mode::Live,
    )
    .declaring(Declarations::new(manifest.clone()))
    .knowing(vec![learned.clone()])
    .journaled_by(requests.clone());
    let request = toolgate_egress::GuestRequest {
        method: http::Method::GET,
        url,
        query: Vec::new(),
        headers: vec![("accept".to_owned(), "application/json".to_owned())],
        body: Bytes::new(),
        credential: toolgate_egress::CredentialChoice::Slot(slot.slot.clone()),
        response_bytes_max: ANSWER_BYTES_MAX,
        timeout: ANSWER_TIMEOUT,
        idempotency_key: None,
    };
    let answer = egress.send(&scope, request).await;
    let well = matches!(&answer, Ok(answer) if (200..300).contains(&answer.status));
    requests.ended(well, Some(scope.records())).await;
    Ok(match answer {
        Ok(answer) if answer.status == 401 || answer.status == 403 => ProbeOutcome::Refused,
        Ok(answer) if (200..300).contains(&answer.status) => {
            name(&answer.body, &account.label, &scrubber)
                .map_or(ProbeOutcome::Unknown, ProbeOutcome::Account)
        }
        Ok(answer) => {
            tracing::info!(
                service = manifest.service,
                http.status = answer.status,
                "connections.account_unknown"
            );
            ProbeOutcome::Unknown
        }
        Err(failure) => {
            tracing::info!(service = manifest.service, error = %failure, "connections.account_unknown");
            ProbeOutcome::Unknown
        }
    })
}

/// The account's name as it can be shown: what a reader can see of it, without a trace of a credential.
fn name(body: &[u8], label: &str, scrubber: &Scrubber) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let text = match answer.pointer(label)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    shown_name(&text, scrubber)
}

/// `None` for a name that shows a credential, or nothing.
pub(super) fn shown_name(text: &str, scrubber: &Scrubber) -> Option<String> {
    let text: String = text
        .chars()
        .filter(|c| !c.is_control() && !is_invisible(*c))
        .take(NAME_CHARS_MAX)
        .collect();
    let told = scrubber.finds(text.as_bytes()) || text.contains(REDACTED);
    (!told && !text.trim().is_empty()).then_some(text)
}

/// Characters that a reader does not see, and behind which a text is another than it seems: what Unicode
/// calls default-ignorable, and blanks that are no spaces.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A credential that is not stored yet.
struct UnstoredCredential {
    manifest: Arc<Manifest>,
    slot: String,
    settings: BTreeMap<String, String>,
    parameters: BTreeMap<String, String>,
    credential: OpenCredential,
}

impl Credentials for UnstoredCredential {
    fn fetch<'a>(
        &'a self,
        name: &'a str,
        _rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, EgressFailure>> {
        let slot = slot_of(&self.manifest, name).filter(|slot| slot.slot == self.slot);
        let result = match slot {
            Some(slot) => Ok(injection(
                slot,
                &self.parameters,
                &self.manifest,
                &self.settings,
                self.credential.clone(),
                1,
            )),
            None => Err(EgressFailure {
                kind: FailureKind::AuthRequired,
                message: "another slot is being connected".to_owned(),
                sent: false,
            }),
        };
        std::future::ready(result).boxed()
    }

    fn connected(&self, slot: &str) -> bool {
        slot == self.slot
    }

    fn slot_for_origin(&self, _origin: &str) -> Option<String> {
        None
    }

    fn is_secret(&self, slot: &str, field: &str) -> bool {
        is_secret(slot_of(&self.manifest, slot), field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_from_the_answer_and_cut() {
        let long = "x".repeat(NAME_CHARS_MAX + 1);
        for (body, label, expected) in [
            (
                r#"{"login":"ada"}"#.to_owned(),
                "/login",
                Some("ada".to_owned()),
            ),
            (r#"{"id":7}"#.to_owned(), "/id", Some("7".to_owned())),
            (
                r#"{"user":{"name":"a\u0000b"}}"#.to_owned(),
                "/user/name",
                Some("ab".to_owned()),
            ),
            (
                format!(r#"{{"login":"{long}"}}"#),
                "/login",
                Some("x".repeat(NAME_CHARS_MAX)),
            ),
            (r#"{"login":" "}"#.to_owned(), "/login", None),
            (r#"{"login":null}"#.to_owned(), "/login", None),
            ("<html>".to_owned(), "/login", None),
        ] {
            assert_eq!(
                name(body.as_bytes(), label, &Scrubber::default()),
                expected,
                "{body}"
            );
        }
    }

    #[test]
    fn a_name_never_holds_a_credential() {
        let mut scrubber = Scrubber::default();
        scrubber.learn([b"tok-7f3a9c1e5b2d8064".as_slice()]);
        for text in [
            "tok-7f3a9c1e5b2d8064",
            r"ada t\u200bo\u200bk-7f3a\u00ad9c1e5b\u20602d80\u180e64",
            "7f3a9c1e5b2d8064",
            "dG9rLTdmM2E5YzFlNWIyZDgwNjQ=",
            "[redacted]",
        ] {
            let body = format!(r#"{{"login":"{text}"}}"#);
            assert_eq!(name(body.as_bytes(), "/login", &scrubber), None, "{text}");
        }
        let body = r#"{"login":"A\u200bda"}"#;
        let read = name(body.as_bytes(), "/login", &scrubber);
        assert_eq!(read.as_deref(), Some("Ada"));
    }
}
