//! The authorization request of the browser, and the secrets that bind the response to it.
//!
//! The crate `oauth2` builds the request; here it gets the provider's names and the parameters of its manifest.

use oauth2::{AuthUrl, CsrfToken, PkceCodeChallenge, PkceCodeVerifier, Scope};
use url::{Url, form_urlencoded};
use zeroize::Zeroizing;

use super::client;
use super::dialect::Dialect;
use super::{OAuthError, Provider};
use toolgate_catalog::token_requests::filled;
use toolgate_vault::Secret;

/// The parameters of one authorization request.
#[derive(Debug)]
pub struct Authorize<'a> {
    pub redirect_uri: &'a str,
    pub scopes: &'a [String],
    pub state: &'a str,
    /// Of [`verifier`]; only its challenge is part of the request.
    pub verifier: &'a Secret,
}

/// Characters of a verifier (RFC 7636, section 4.1).
const VERIFIER_CHARS: std::ops::RangeInclusive<usize> = 43..=128;

/// Parameters that only the gateway may write, even where it does not write them, in the order in which it does.
const RESERVED: &[&str] = &[
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "code_challenge",
    "code_challenge_method",
    "scope",
];

/// A fresh PKCE verifier.
pub fn verifier() -> Secret {
    let (_, verifier) = PkceCodeChallenge::new_random_sha256();
    Secret::new(verifier.into_secret())
}

/// Whether `challenge` is `BASE64URL(SHA256(verifier))` (RFC 7636, section 4.6).
pub fn is_challenge_of(challenge: &str, verifier: &Secret) -> bool {
    pkce(verifier).is_some_and(|known| known.as_str() == challenge)
}

/// `None`: no verifier has this length, and the crate panics.
fn pkce(verifier: &Secret) -> Option<PkceCodeChallenge> {
    let text = verifier.expose();
    if !VERIFIER_CHARS.contains(&text.len()) {
        return None;
    }
    let verifier = PkceCodeVerifier::new(text.to_owned());
    let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
    drop(Zeroizing::new(verifier.into_secret()));
    Some(challenge)
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
    let built = built(provider, &url, ask).ok_or_else(refused)?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(given(provider, &url));
    let mut query = query.finish();
    for (name, value) in own(provider, built.query().unwrap_or_default()) {
        if !query.is_empty() {
            query.push('&');
        }
        query.extend([&encoded(name), "=", &value]);
    }
    url.set_query(Some(&query));
    Ok(url.into())
}

/// The request of the crate. It would repeat a parameter of the address, so the address has none.
fn built(provider: &Provider, address: &Url, ask: &Authorize<'_>) -> Option<Url> {
    let mut address = address.clone();
    address.set_query(None);
    let client = client::named(provider).set_auth_uri(AuthUrl::from_url(address));
    let mut request = client
        .authorize_url(|| CsrfToken::new(ask.state.to_owned()))
        // Not as the crate's own parameter, which has to be a URL: eBay's name of the address is none.
        .add_extra_param("redirect_uri", ask.redirect_uri)
        .add_scopes(ask.scopes.iter().cloned().map(Scope::new));
    if provider.pkce {
        request = request.set_pkce_challenge(pkce(ask.verifier)?);
    }
    Some(request.url().0)
}

/// The parameters that the manifest adds, each once.
fn given(provider: &Provider, address: &Url) -> Vec<(String, String)> {
    let dialect = &provider.dialect;
    let extra = provider.authorize_params.iter().map(|(key, value)| {
        let find = |name: &str| dialect.values.get(name).map(String::as_str);
        let value = filled(value, find).unwrap_or_else(|| value.clone());
        (key.clone(), value)
    });
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (key, value) in address.query_pairs().into_owned().chain(extra) {
        let reserved = RESERVED
            .iter()
            .any(|name| key == *name || key == renamed(dialect, name));
        if !reserved {
            pairs.retain(|(other, _)| *other != key);
            pairs.push((key, value));
        }
    }
    pairs
}

/// The gateway's parameters of the query that the crate built, with their encoded values.
fn own<'a>(provider: &'a Provider, query: &'a str) -> Vec<(&'a str, String)> {
    let mut pairs: Vec<(&str, &str)> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .collect();
    let place = |name: &str| RESERVED.iter().position(|known| *known == name);
    pairs.sort_by_key(|(name, _)| place(name).unwrap_or(RESERVED.len()));
    pairs
        .into_iter()
        .map(|(name, value)| {
            let value = match name {
                "scope" => value.replace('+', &separator(&provider.scope_separator)),
                _ => value.to_owned(),
            };
            (renamed(&provider.dialect, name), value)
        })
        .collect()
}

/// The provider's name of a parameter.
fn renamed<'a>(dialect: &'a Dialect, name: &'a str) -> &'a str {
    match name {
        "client_id" => dialect.client_id(),
        "redirect_uri" => dialect.redirect_uri(),
        "scope" => dialect.scope(),
        _ => name,
    }
}

/// What is written for the space between two scopes; a scope has none (RFC 6749, section 3.3). A comma is not
/// percent-encoded, since some providers split the value before they decode it; a query may contain commas (RFC 3986,
/// section 3.4).
fn separator(separator: &str) -> String {
    match separator {
        "," => separator.to_owned(),
        other => encoded(other),
    }
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
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
            redirect_name: None,
            origins: Vec::new(),
            refresh_url: None,
            dialect: Default::default(),
        }
    }

    /// RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    fn asked(provider: &Provider, scopes: &[String]) -> Result<String, OAuthError> {
        let ask = Authorize {
            redirect_uri: "https://gate.test/oauth/callback",
            scopes,
            state: "s1",
            verifier: &Secret::new(VERIFIER),
        };
        url(provider, &ask)
    }

    #[test]
    fn the_challenge_is_the_one_of_the_standard() {
        let verifier = Secret::new(VERIFIER);
        assert!(is_challenge_of(CHALLENGE, &verifier));
        for other in ["", VERIFIER, &CHALLENGE[1..], &CHALLENGE.to_lowercase()] {
            assert!(!is_challenge_of(other, &verifier), "{other}");
        }
    }

    #[test]
    fn a_text_that_is_no_verifier_has_no_challenge() {
        for (chars, expected) in [
            (0, false),
            (42, false),
            (43, true),
            (128, true),
            (129, false),
        ] {
            assert_eq!(
                pkce(&Secret::new("x".repeat(chars))).is_some(),
                expected,
                "{chars}"
            );
        }
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
        let asked = asked(&provider("https://id.test/auth?tenant=7&state=x"), &scopes);
        assert_eq!(
            asked.unwrap(),
            "https://id.test/auth?tenant=7&access_type=offline&response_type=code&client_id=the+client\
             &redirect_uri=https%3A%2F%2Fgate.test%2Foauth%2Fcallback&state=s1\
             &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM\
             &code_challenge_method=S256&scope=read,write"
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
            asked(&named, &scopes).unwrap(),
            "https://id.test/auth?claims=%7B%22a%22%3A1%7D&context=stores%2Fh1&response_type=code&client_key=the+client\
             &redirect_url=https%3A%2F%2Fgate.test%2Foauth%2Fcallback&state=s1\
             &user_scope=user.info.basic,a%2Cb%26c%3Dd"
        );
        for (separator, expected) in [(" ", "x+y"), ("+", "x%2By"), (";", "x%3By"), (",", "x,y")] {
            let scopes = ["x".to_owned(), "y".to_owned()];
            let separated = Provider {
                scope_separator: separator.to_owned(),
                ..provider("https://id.test/auth")
            };
            let asked = asked(&separated, &scopes).unwrap();
            assert!(asked.ends_with(&format!("&scope={expected}")), "{asked}");
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
        let url = asked(&provider, &[]).unwrap();
        assert!(
            !url.contains("plain") && !url.contains("evil") && !url.contains("=token"),
            "{url}"
        );
        assert!(
            url.contains(&format!(
                "code_challenge={CHALLENGE}&code_challenge_method=S256"
            )),
            "{url}"
        );
    }

    #[test]
    fn nothing_that_the_gateway_writes_comes_from_the_address() {
        let address = "https://id.test/auth?state=evil&code_challenge=evil&client_key=evil&client_id=evil\
            &redirect_uri=https%3A%2F%2Fevil.test&scope=evil&%73tate=evil&tenant=7";
        for pkce in [true, false] {
            let named = Provider {
                pkce,
                dialect: Dialect {
                    client_id_param: Some("client_key".to_owned()),
                    ..Dialect::default()
                },
                ..provider(address)
            };
            let url = asked(&named, &["read".to_owned()]).unwrap();
            assert!(!url.contains("evil"), "{url}");
            assert!(url.contains("tenant=7&access_type=offline&"), "{url}");
            let url = Url::parse(&url).unwrap();
            let mut names: Vec<_> = url.query_pairs().map(|(name, _)| name).collect();
            let all = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all, "{url}");
        }
    }

    #[test]
    fn addresses_that_are_no_web_page_are_refused() {
        for bad in [
            "",
            "id.test/auth",
            "javascript:alert(1)",
            "https://id.test/a#b",
        ] {
            assert!(asked(&provider(bad), &[]).is_err(), "{bad}");
        }
    }
}
