//! Token responses in the standard form (RFC 6749, section 5.1), as the crate `oauth2` reads them.
//!
//! Pure. A response has been read by the provider's dialect in [`super::answer`]. What the standard has no member for is
//! in members of our own.

use oauth2::basic::BasicTokenType;
use oauth2::{
    AccessToken, ExtraTokenFields, HttpResponse, RefreshToken, Scope, StandardTokenResponse,
    TokenResponse as _,
};
use serde::{Deserialize, Serialize};

use super::OAuthError;
use super::answer::Tokens;
use super::lifetime::Lifetime;
use toolgate_vault::Secret;

/// A token response of every provider.
pub(crate) type StandardAnswer = StandardTokenResponse<MoreTokenFields, BasicTokenType>;

/// The members of our own. `expires_in` of the standard has whole seconds only, and no time of expiry.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct MoreTokenFields {
    lifetime: Option<LifetimeText>,
    refresh_lifetime: Option<LifetimeText>,
    /// Of OpenID Connect. The type is the one that does not print.
    id_token: Option<AccessToken>,
    read: Vec<Option<String>>,
}

impl ExtraTokenFields for MoreTokenFields {}

/// Milliseconds as text: serde buffers members of our own, and reads no number from its buffer where another crate has
/// turned on `serde_json/arbitrary_precision`.
#[derive(Debug, Deserialize, Serialize)]
enum LifetimeText {
    For(String),
    Until(String),
}

impl LifetimeText {
    fn from_lifetime(lifetime: Lifetime) -> Self {
        match lifetime {
            Lifetime::For(life_ms) => Self::For(life_ms.to_string()),
            Lifetime::Until(end_ms) => Self::Until(end_ms.to_string()),
        }
    }

    fn lifetime(&self) -> Option<Lifetime> {
        match self {
            Self::For(life_ms) => life_ms.parse().ok().map(Lifetime::For),
            Self::Until(end_ms) => end_ms.parse().ok().map(Lifetime::Until),
        }
    }
}

/// Writes tokens in the standard form, for the crate to read.
pub(crate) fn response(tokens: &Tokens) -> Result<HttpResponse, OAuthError> {
    let access = |token: &Secret| AccessToken::new(token.expose().to_owned());
    let more = MoreTokenFields {
        lifetime: tokens.lifetime.map(LifetimeText::from_lifetime),
        refresh_lifetime: tokens.refresh_lifetime.map(LifetimeText::from_lifetime),
        id_token: tokens.id_token.as_ref().map(access),
        read: tokens.read.clone(),
    };
    let mut answer = StandardAnswer::new(access(&tokens.access), BasicTokenType::Bearer, more);
    let refresh = tokens.refresh.as_ref();
    answer.set_refresh_token(refresh.map(|token| RefreshToken::new(token.expose().to_owned())));
    let scopes = tokens.scopes.as_ref();
    answer.set_scopes(scopes.map(|scopes| scopes.iter().cloned().map(Scope::new).collect()));
    let body = serde_json::to_vec(&answer);
    let body = body.map_err(|_| OAuthError::Answer("it has no standard form"))?;
    // Status 200, and no media type: the crate takes it as JSON.
    Ok(HttpResponse::new(body))
}

impl From<StandardAnswer> for Tokens {
    fn from(answer: StandardAnswer) -> Self {
        let more = answer.extra_fields();
        let scopes = answer.scopes().map(|scopes| {
            // No scope at all is written as an empty text, and read as one empty scope.
            let named = scopes.iter().filter(|scope| !scope.is_empty());
            named.map(|scope| scope.to_string()).collect()
        });
        Self {
            access: Secret::new(answer.access_token().secret().as_str()),
            refresh: answer
                .refresh_token()
                .map(|token| Secret::new(token.secret().as_str())),
            lifetime: more.lifetime.as_ref().and_then(LifetimeText::lifetime),
            refresh_lifetime: more
                .refresh_lifetime
                .as_ref()
                .and_then(LifetimeText::lifetime),
            scopes,
            id_token: more
                .id_token
                .as_ref()
                .map(|token| Secret::new(token.secret().as_str())),
            read: more.read.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(tokens: &Tokens) -> Tokens {
        let written = response(tokens).unwrap();
        let answer: StandardAnswer = serde_json::from_slice(written.body()).unwrap();
        assert!(!format!("{answer:?}").contains("t-7f3a"), "{answer:?}");
        answer.into()
    }

    #[test]
    fn nothing_of_an_answer_is_lost_in_the_standard_form() {
        let full = Tokens {
            access: Secret::new("at-7f3a\"/\\"),
            refresh: Some(Secret::new("rt-7f3a")),
            lifetime: Some(Lifetime::For(3_599_500)),
            refresh_lifetime: Some(Lifetime::Until(1_700_003_600_250)),
            scopes: Some(vec!["read".to_owned(), "a:b".to_owned()]),
            id_token: Some(Secret::new("it-7f3a")),
            read: vec![Some("https://i.test".to_owned()), None],
        };
        let least = Tokens {
            access: Secret::new("at-7f3a"),
            refresh: None,
            lifetime: None,
            refresh_lifetime: None,
            scopes: None,
            id_token: None,
            read: Vec::new(),
        };
        for tokens in [&full, &least] {
            let came = again(tokens);
            assert_eq!(came.access, tokens.access);
            assert_eq!(came.refresh, tokens.refresh);
            assert_eq!(came.lifetime, tokens.lifetime);
            assert_eq!(came.refresh_lifetime, tokens.refresh_lifetime);
            assert_eq!(came.scopes, tokens.scopes);
            assert_eq!(came.id_token, tokens.id_token);
            assert_eq!(came.read, tokens.read);
        }
        let none_granted = Tokens {
            scopes: Some(Vec::new()),
            ..least
        };
        assert_eq!(again(&none_granted).scopes, Some(Vec::new()));
    }

    #[test]
    fn the_standard_form_is_the_one_of_the_standard() {
        let tokens = Tokens {
            access: Secret::new("a"),
            refresh: Some(Secret::new("r")),
            lifetime: None,
            refresh_lifetime: None,
            scopes: Some(vec!["x".to_owned(), "y".to_owned()]),
            id_token: None,
            read: Vec::new(),
        };
        let written = response(&tokens).unwrap();
        let written: serde_json::Value = serde_json::from_slice(written.body()).unwrap();
        for (name, expected) in [
            ("access_token", "a"),
            ("token_type", "bearer"),
            ("refresh_token", "r"),
            ("scope", "x y"),
        ] {
            assert_eq!(written[name], expected, "{name}");
        }
    }
}
