//! The authorization response that the browser brings (RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207).
//!
//! Pure. Refuses a repeated parameter (section 3.1) and everything that is longer than a response can
//! be, before any of it is looked up.

use url::{Url, form_urlencoded};

use super::Provider;
use toolgate_catalog::is_scope;
use toolgate_egress::Scrubber;
use toolgate_vault::Secret;

/// The longest query that is read.
pub const QUERY_BYTES_MAX: usize = 8 * 1024;
const SCOPES_MAX: usize = 200;

/// A well-formed response.
#[derive(Debug, PartialEq, Eq)]
pub struct Callback {
    pub state: Secret,
    /// The issuer of the response, where it names one (RFC 9207).
    pub issuer: Option<String>,
    /// The granted scopes, where the provider sends them here and not with the token.
    pub scopes: Option<Vec<String>>,
    pub answer: CallbackOutcome,
}

#[derive(Debug, PartialEq, Eq)]
pub enum CallbackOutcome {
    Code(Secret),
    /// The provider's error code, safe to show.
    Error(String),
}

/// Why a query is not an authorization response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCallback {
    #[error("the answer is too long")]
    TooLong,
    #[error("the answer names a parameter twice")]
    Repeated,
    #[error("the answer has no state")]
    NoState,
    #[error("the answer has neither a code nor an error, or both")]
    NoAnswer,
}

/// Reads the query of the callback, without `?`.
pub fn parse(query: &str) -> Result<Callback, BadCallback> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(BadCallback::TooLong);
    }
    let (mut state, mut code, mut error, mut issuer) = (None, None, None, None);
    let mut scope = None;
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let place = match &*name {
            "state" => &mut state,
            "code" => &mut code,
            "error" => &mut error,
            "iss" => &mut issuer,
            "scope" => &mut scope,
            _ => continue,
        };
        if place.replace(value.into_owned()).is_some() {
            return Err(BadCallback::Repeated);
        }
    }
    let state = state
        .filter(|state| !state.is_empty())
        .ok_or(BadCallback::NoState)?;
    let code = code.filter(|code| !code.is_empty());
    let answer = match (code, error) {
        (Some(code), None) => CallbackOutcome::Code(Secret::new(code)),
        (None, Some(error)) => CallbackOutcome::Error(error_code(&error, &[])),
        _ => return Err(BadCallback::NoAnswer),
    };
    Ok(Callback {
        state: Secret::new(state),
        issuer,
        scopes: scope.map(|text: String| {
            let scopes = text.split([' ', ',']).filter(|scope| is_scope(scope));
            scopes.take(SCOPES_MAX).map(str::to_owned).collect()
        }),
        answer,
    })
}

/// Whether a response of `issuer` can be one of `provider` (RFC 9207, section 2.4). In a mix-up attack
/// a server sends the user on to another one, whose code must not reach it (RFC 9700, section 4.4).
/// Compared character by character with the issuer that the manifest names. Where it names none, the
/// provider's addresses have to be below the issuer: one host may serve several.
pub fn is_from(provider: &Provider, issuer: &str) -> bool {
    if let Some(known) = &provider.issuer {
        return known == issuer;
    }
    let below = format!("{}/", issuer.strip_suffix('/').unwrap_or(issuer));
    let plain = Url::parse(issuer).is_ok_and(|url| {
        url.has_host() && url.query().is_none() && url.fragment().is_none() && below.len() > 9
    });
    let serves = |address: &str| {
        // Only the path: a query may contain anything.
        let path = address.split(['?', '#']).next().unwrap_or_default();
        path.starts_with(&below)
    };
    let authorize = provider.authorize_url.as_deref();
    plain && (authorize.is_some_and(serves) || serves(&provider.token_url))
}

/// A provider's error code as it may be shown and logged: letters, digits and `._-` only, short, and
/// not a secret that was sent to the provider.
pub fn error_code(text: &str, sent: &[&str]) -> String {
    let mut scrubber = Scrubber::default();
    scrubber.learn(sent.iter().map(|secret| secret.as_bytes()));
    let known = scrubber.finds(text.as_bytes())
        || sent
            .iter()
            .any(|secret| secret.len() >= 4 && text.contains(secret));
    let plain = (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if plain && !known {
        text.to_owned()
    } else {
        "provider_error".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_answer_to_one_state_is_read() {
        let code = |state: &str, code: &str| {
            Ok(Callback {
                state: Secret::new(state),
                issuer: None,
                scopes: None,
                answer: CallbackOutcome::Code(Secret::new(code)),
            })
        };
        let error = |state: &str, error: &str| {
            Ok(Callback {
                state: Secret::new(state),
                issuer: None,
                scopes: None,
                answer: CallbackOutcome::Error(error.to_owned()),
            })
        };
        for (query, expected) in [
            ("state=s&code=c", code("s", "c")),
            ("code=a%2Fb&state=s+t&session_state=y", code("s t", "a/b")),
            (
                "code=c&state=s&iss=https%3A%2F%2Fid.test",
                code("s", "c").map(|came| Callback {
                    issuer: Some("https://id.test".to_owned()),
                    ..came
                }),
            ),
            (
                "state=s&code=c&scope=read,activity%3Aread+x%22",
                code("s", "c").map(|came| Callback {
                    scopes: Some(vec!["read".to_owned(), "activity:read".to_owned()]),
                    ..came
                }),
            ),
            ("state=s&code=c&iss=a&iss=b", Err(BadCallback::Repeated)),
            (
                "state=s&error=access_denied&error_description=No",
                error("s", "access_denied"),
            ),
            ("state=s&error=%3Cscript%3E", error("s", "provider_error")),
            ("state=s&code=c&code=d", Err(BadCallback::Repeated)),
            ("state=s&state=t&code=c", Err(BadCallback::Repeated)),
            ("code=c", Err(BadCallback::NoState)),
            ("state=&code=c", Err(BadCallback::NoState)),
            ("state=s", Err(BadCallback::NoAnswer)),
            ("state=s&code=", Err(BadCallback::NoAnswer)),
            ("state=s&code=c&error=e", Err(BadCallback::NoAnswer)),
            ("", Err(BadCallback::NoState)),
        ] {
            assert_eq!(parse(query), expected, "{query}");
        }
        let most = format!("state=s&code=c&x={}", "y".repeat(QUERY_BYTES_MAX - 17));
        assert_eq!(parse(&most), code("s", "c"));
        assert_eq!(parse(&format!("{most}y")), Err(BadCallback::TooLong));
    }

    fn provider(issuer: Option<&str>) -> Provider {
        Provider {
            authorize_url: Some(
                "https://login.test/realms/a/authorize?x=https://q.test/".to_owned(),
            ),
            token_url: "https://api.test:8443/token".to_owned(),
            revoke_url: Some("https://revoke.test/".to_owned()),
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
    fn a_named_issuer_is_compared_whole() {
        let named = provider(Some("https://identity.test/oauth2/a1"));
        for (issuer, known) in [
            ("https://identity.test/oauth2/a1", true),
            ("https://identity.test/oauth2/a1/", false),
            ("https://identity.test/oauth2/a2", false),
            ("https://identity.test/oauth2", false),
            ("https://identity.test", false),
            ("https://IDENTITY.test/oauth2/a1", false),
            ("https://identity.test:443/oauth2/a1", false),
            ("https://login.test/realms/a", false),
            ("", false),
        ] {
            assert_eq!(is_from(&named, issuer), known, "{issuer}");
        }
    }

    #[test]
    fn an_unnamed_issuer_is_known_by_what_is_below_it() {
        let unnamed = provider(None);
        for (issuer, known) in [
            ("https://login.test", true),
            ("https://login.test/", true),
            ("https://login.test/realms/a", true),
            ("https://login.test/realms/a/", true),
            ("https://api.test:8443", true),
            ("https://login.test/realms/b", false),
            ("https://login.test/realm", false),
            ("https://login.test/realms/a/authorize", false),
            ("https://LOGIN.test", false),
            ("https://login.test:443", false),
            ("https://api.test", false),
            ("http://login.test", false),
            ("https://evil.test", false),
            ("https://login.test.evil.test", false),
            ("https://login.test@evil.test", false),
            ("https://evil.test/https://login.test", false),
            ("https://revoke.test", false),
            ("https://q.test", false),
            ("https://login.test?x", false),
            ("https://", false),
            ("https:/", false),
            ("login.test", false),
            ("data:https://login.test", false),
            ("", false),
        ] {
            assert_eq!(is_from(&unnamed, issuer), known, "{issuer}");
        }
    }

    #[test]
    fn an_error_code_repeats_no_secret() {
        for (text, sent, expected) in [
            ("invalid_grant", &["hunter2"][..], "invalid_grant"),
            ("hunter2", &["hunter2"], "provider_error"),
            ("x.hunter2.y", &["hunter2"], "provider_error"),
            ("two words", &[], "provider_error"),
            ("", &[], "provider_error"),
        ] {
            assert_eq!(error_code(text, sent), expected, "{text}");
        }
        assert_eq!(error_code(&"e".repeat(64), &[]).len(), 64);
        assert_eq!(error_code(&"e".repeat(65), &[]), "provider_error");
    }
}
