//! Reading the name of the account that was just connected.

use bytes::Bytes;
use serde_json::Value;

use super::lend::named_addresses;
use super::tried::{CandidateCredential, TRY_TIMEOUT};
use super::{Error, apps};
use toolgate_catalog::manifest::AccountProbe;
use toolgate_core::visible::is_hidden;
use toolgate_egress::scrub::REDACTED;
use toolgate_egress::{Egress, FailureKind, Scrubber};

const ANSWER_BYTES_MAX: usize = 1024 * 1024;
const NAME_CHARS_MAX: usize = 200;

/// What the provider said to the first request with a credential.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProbeOutcome {
    /// With the account's name, where the answer has one.
    Accepted(Option<String>),
    /// No answer came, or one that says nothing of the credential.
    Unknown,
    Refused(RefusedKey),
}

/// What a provider refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefusedKey {
    /// The credential is not valid, whatever it may be used for. Else it may be one for other things
    /// than the one that was tried.
    pub surely: bool,
    /// The provider's words, without a trace of the credential.
    pub words: Option<String>,
}

impl RefusedKey {
    fn surely() -> Self {
        Self {
            surely: true,
            words: None,
        }
    }

    pub(super) fn perhaps(words: Option<String>) -> Self {
        Self {
            surely: false,
            words,
        }
    }
}

/// Asks the provider who the credential belongs to, under the plugin's own rights.
pub(super) async fn probe(
    egress: &Egress,
    tried: &CandidateCredential<'_>,
    account: &AccountProbe,
) -> Result<ProbeOutcome, Error> {
    let (manifest, slot) = (&tried.serving.manifest, tried.slot);
    // Whatever a manifest says: reading who somebody is changes nothing.
    let Some(("GET", url)) = account.request.split_once(' ') else {
        return Ok(ProbeOutcome::Unknown);
    };
    // An operator who named an address runs the service there.
    let url = match named_addresses(slot, manifest, tried.settings).next() {
        Some(base) => apps::moved(url, base.trim_end_matches('/')),
        None => url.to_owned(),
    };
    let (scope, heard) = tried.scope()?;
    let request = toolgate_egress::GuestRequest {
        method: http::Method::GET,
        url,
        query: Vec::new(),
        headers: vec![("accept".to_owned(), "application/json".to_owned())],
        body: Bytes::new(),
        credential: toolgate_egress::CredentialChoice::Slot(slot.slot.clone()),
        response_bytes_max: ANSWER_BYTES_MAX,
        timeout: TRY_TIMEOUT,
        idempotency_key: None,
        as_file: false,
    };
    let answer = egress.send(&scope, request).await;
    let well = answer.is_ok() && heard.accepted();
    tried.requests.ended(well, Some(scope.records())).await;
    Ok(match answer {
        Ok(_) if heard.refused() => ProbeOutcome::Refused(RefusedKey::surely()),
        Ok(answer) if answer.status == 403 => ProbeOutcome::Refused(RefusedKey::perhaps(None)),
        Ok(answer) if heard.accepted() => {
            let name = name(&answer.body, &account.label, &tried.scrubber());
            ProbeOutcome::Accepted(name)
        }
        Ok(answer) => {
            tracing::info!(
                service = manifest.service,
                http.status = answer.status,
                "connections.account_unknown"
            );
            ProbeOutcome::Unknown
        }
        // A key in the address of its own check is not an account's name.
        Err(failure) if failure.kind == FailureKind::LeakBlocked => {
            ProbeOutcome::Refused(RefusedKey::surely())
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
        .filter(|c| !is_hidden(*c))
        .take(NAME_CHARS_MAX)
        .collect();
    let told = scrubber.finds(text.as_bytes()) || text.contains(REDACTED);
    (!told && !text.trim().is_empty()).then_some(text)
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
