//! The address the browser is sent to, and the secrets that bind its return.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::Rng as _;
use sha2::{Digest as _, Sha256};
use url::Url;
use zeroize::Zeroizing;

use super::{OAuthError, Provider};
use toolgate_vault::Secret;

/// What one authorization asks for.
#[derive(Debug)]
pub struct Authorize<'a> {
    pub redirect_uri: &'a str,
    pub scopes: &'a [String],
    pub state: &'a str,
    /// PKCE challenge, method S256.
    pub challenge: &'a str,
}

/// Random bytes of a verifier, as many as RFC 7636, section 4.1, recommends.
const VERIFIER_BYTES: usize = 32;

/// A fresh PKCE verifier.
pub fn verifier() -> Secret {
    let mut bytes = Zeroizing::new([0; VERIFIER_BYTES]);
    rand::rng().fill_bytes(&mut bytes[..]);
    Secret::new(URL_SAFE_NO_PAD.encode(&bytes[..]))
}

/// `BASE64URL(SHA256(verifier))` (RFC 7636, section 4.2).
pub fn challenge(verifier: &Secret) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.expose()))
}

/// The authorization request (RFC 6749, section 4.1.1). The gateway's own parameters stand last and
/// once, whatever the manifest's address or extra parameters hold.
pub fn url(provider: &Provider, ask: &Authorize<'_>) -> Result<String, OAuthError> {
    let refused = || OAuthError::Address("authorize_url");
    let text = provider.authorize_url.as_deref().ok_or_else(refused)?;
    let mut url = Url::parse(text).map_err(|_| refused())?;
    if !matches!(url.scheme(), "https" | "http") || url.fragment().is_some() {
        return Err(refused());
    }
    let scope = ask.scopes.join(&provider.scope_separator);
    let mut own = vec![
        ("response_type", "code"),
        ("client_id", provider.client_id.as_str()),
        ("redirect_uri", ask.redirect_uri),
        ("state", ask.state),
    ];
    if !scope.is_empty() {
        own.push(("scope", &scope));
    }
    if provider.pkce {
        own.push(("code_challenge", ask.challenge));
        own.push(("code_challenge_method", "S256"));
    }
    let reserved = |name: &str| {
        ["scope", "code_challenge", "code_challenge_method"].contains(&name)
            || own.iter().any(|(key, _)| *key == name)
    };
    let mut pairs: Vec<(String, String)> = Vec::new();
    let given = url
        .query_pairs()
        .map(|(key, value)| (key.into_owned(), value.into_owned()));
    let extra = provider
        .authorize_params
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()));
    for (key, value) in given.chain(extra) {
        if !reserved(&key) {
            pairs.retain(|(other, _)| *other != key);
            pairs.push((key, value));
        }
    }
    url.query_pairs_mut()
        .clear()
        .extend_pairs(pairs)
        .extend_pairs(own);
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn provider(authorize_url: &str) -> Provider {
        Provider {
            authorize_url: Some(authorize_url.to_owned()),
            token_url: "https://id.test/token".to_owned(),
            revoke_url: None,
            issuer: None,
            client_id: "the client".to_owned(),
            client_secret: None,
            token_auth: Default::default(),
            pkce: true,
            scope_separator: ",".to_owned(),
            authorize_params: BTreeMap::from([
                ("access_type".to_owned(), "offline".to_owned()),
                ("state".to_owned(), "fixed".to_owned()),
            ]),
            origins: Vec::new(),
        }
    }

    fn ask<'a>(scopes: &'a [String], challenge: &'a str) -> Authorize<'a> {
        Authorize {
            redirect_uri: "https://gate.test/oauth/callback",
            scopes,
            state: "s1",
            challenge,
        }
    }

    #[test]
    fn the_challenge_is_the_one_of_the_standard() {
        // RFC 7636, appendix B.
        let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(
            challenge(&verifier),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn a_verifier_is_random_and_of_the_length_and_characters_of_the_standard() {
        let (one, other) = (super::verifier(), super::verifier());
        assert_ne!(one, other);
        // RFC 7636, section 4.1: 43 characters at least.
        for verifier in [one, other] {
            let text = verifier.expose();
            assert_eq!(text.len(), 43, "{text}");
            let unreserved = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
            assert!(text.chars().all(unreserved), "{text}");
        }
    }

    #[test]
    fn the_request_says_everything_once() {
        let scopes = ["read".to_owned(), "write".to_owned()];
        let url = url(
            &provider("https://id.test/auth?tenant=7&state=x"),
            &ask(&scopes, "c1"),
        )
        .unwrap();
        assert_eq!(
            url,
            "https://id.test/auth?tenant=7&access_type=offline&response_type=code&client_id=the+client\
             &redirect_uri=https%3A%2F%2Fgate.test%2Foauth%2Fcallback&state=s1&scope=read%2Cwrite\
             &code_challenge=c1&code_challenge_method=S256"
        );
    }

    #[test]
    fn a_pkce_downgrade_by_address_or_parameter_is_impossible() {
        let mut provider = provider(
            "https://id.test/auth?code_challenge_method=plain&code_challenge=evil&response_type=token",
        );
        provider
            .authorize_params
            .insert("code_challenge_method".to_owned(), "plain".to_owned());
        let url = url(&provider, &ask(&[], "c1")).unwrap();
        assert!(
            !url.contains("plain") && !url.contains("evil") && !url.contains("=token"),
            "{url}"
        );
        assert!(
            url.contains("code_challenge=c1&code_challenge_method=S256"),
            "{url}"
        );
    }

    #[test]
    fn addresses_that_are_no_web_page_are_refused() {
        for bad in [
            "",
            "id.test/auth",
            "javascript:alert(1)",
            "https://id.test/a#b",
        ] {
            assert!(url(&provider(bad), &ask(&[], "c")).is_err(), "{bad}");
        }
    }
}
