//! The authorization request of the browser, and the secrets that bind the response to it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::Rng as _;
use sha2::{Digest as _, Sha256};
use url::{Url, form_urlencoded};
use zeroize::Zeroizing;

use super::{OAuthError, Provider};
use toolgate_catalog::token_requests::filled;
use toolgate_vault::Secret;

/// The parameters of one authorization request.
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

/// Parameters that only the gateway may write, even where it does not write them.
const RESERVED: &[&str] = &[
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "redirect_uri",
    "scope",
];

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

/// The authorization request (RFC 6749, section 4.1.1). The gateway's own parameters come last and
/// once: those of the same name in the manifest's address or extra parameters are removed.
pub fn url(provider: &Provider, ask: &Authorize<'_>) -> Result<String, OAuthError> {
    let refused = || OAuthError::Address("authorize_url");
    let text = provider.authorize_url.as_deref().ok_or_else(refused)?;
    let mut url = Url::parse(text).map_err(|_| refused())?;
    if !matches!(url.scheme(), "https" | "http") || url.fragment().is_some() {
        return Err(refused());
    }
    let dialect = &provider.dialect;
    let mut own = vec![
        ("response_type", "code"),
        (dialect.client_id(), provider.client_id.as_str()),
        (dialect.redirect_uri(), ask.redirect_uri),
        ("state", ask.state),
    ];
    if provider.pkce {
        own.push(("code_challenge", ask.challenge));
        own.push(("code_challenge_method", "S256"));
    }
    let reserved = |name: &str| {
        RESERVED.contains(&name)
            || name == dialect.scope()
            || own.iter().any(|(key, _)| *key == name)
    };
    let mut pairs: Vec<(String, String)> = Vec::new();
    let given = url
        .query_pairs()
        .map(|(key, value)| (key.into_owned(), value.into_owned()));
    let extra = provider.authorize_params.iter().map(|(key, value)| {
        let find = |name: &str| dialect.values.get(name).map(String::as_str);
        let value = filled(value, find).unwrap_or_else(|| value.clone());
        (key.clone(), value)
    });
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
    let scope = scope(ask.scopes, &provider.scope_separator);
    if !scope.is_empty() {
        let query = url.query().unwrap_or_default();
        let query = format!("{query}&{}={scope}", dialect.scope());
        url.set_query(Some(&query));
    }
    Ok(url.into())
}

/// The scopes as the value of a query parameter. A comma is not percent-encoded, since some providers split the value
/// before they decode it; a query may contain commas (RFC 3986, section 3.4).
fn scope(scopes: &[String], separator: &str) -> String {
    let written = match separator {
        "," => separator.to_owned(),
        other => encoded(other),
    };
    let scopes: Vec<String> = scopes.iter().map(|scope| encoded(scope)).collect();
    scopes.join(&written)
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
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
            redirect_name: None,
            origins: Vec::new(),
            refresh_url: None,
            dialect: Default::default(),
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
             &redirect_uri=https%3A%2F%2Fgate.test%2Foauth%2Fcallback&state=s1\
             &code_challenge=c1&code_challenge_method=S256&scope=read,write"
        );
    }

    #[test]
    fn a_provider_may_have_its_own_names_and_separators() {
        let named = Provider {
            dialect: Dialect {
                client_id_param: Some("client_key".to_owned()),
                redirect_uri_param: Some("redirect_url".to_owned()),
                scope_param: Some("user_scope".to_owned()),
                values: BTreeMap::from([("store".to_owned(), "h1".to_owned())]),
                ..Dialect::default()
            },
            pkce: false,
            authorize_params: BTreeMap::from([
                ("client_id".to_owned(), "other".to_owned()),
                ("client_key".to_owned(), "other".to_owned()),
                ("user_scope".to_owned(), "all".to_owned()),
                ("context".to_owned(), "stores/{store}".to_owned()),
                ("claims".to_owned(), "{\"a\":1}".to_owned()),
            ]),
            ..provider("https://id.test/auth")
        };
        let scopes = ["user.info.basic".to_owned(), "a,b&c=d".to_owned()];
        assert_eq!(
            url(&named, &ask(&scopes, "c1")).unwrap(),
            "https://id.test/auth?claims=%7B%22a%22%3A1%7D&context=stores%2Fh1&response_type=code&client_key=the+client\
             &redirect_url=https%3A%2F%2Fgate.test%2Foauth%2Fcallback&state=s1\
             &user_scope=user.info.basic,a%2Cb%26c%3Dd"
        );
        for (separator, expected) in [(" ", "x+y"), ("+", "x%2By"), (";", "x%3By"), (",", "x,y")] {
            let scopes = ["x".to_owned(), "y".to_owned()];
            assert_eq!(scope(&scopes, separator), expected);
        }
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
