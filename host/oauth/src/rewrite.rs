//! A request that the crate `oauth2` has built, in the provider's dialect.
//!
//! Pure. The gateway's own parameters are each sent once, under the name that the provider has for them; a parameter of
//! the manifest with the same name is left out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header;
use oauth2::HttpRequest;
use serde_json::{Map, Value};
use url::form_urlencoded;
use zeroize::Zeroizing;

use super::Provider;
use super::dialect::Dialect;
use toolgate_catalog::manifest::{TokenAuth, TokenBody};
use toolgate_catalog::token_requests::folded;
use toolgate_vault::Secret;

/// The order in which parameters are sent: the grant, then the client.
const ORDER: &[&str] = &[
    "grant_type",
    "code",
    "refresh_token",
    "token",
    "token_type_hint",
    "redirect_uri",
    "code_verifier",
    "scope",
    "client_id",
    "client_secret",
];

/// A request's headers and body; both are zeroed on drop.
pub(crate) struct TokenRequest {
    pub(crate) authorization: Option<Zeroizing<String>>,
    pub(crate) content_type: &'static str,
    pub(crate) body: Zeroizing<String>,
}

/// The request as the provider expects it. `own` are the parameters that its manifest adds. The crate's body is zeroed.
pub(crate) fn in_dialect(
    provider: &Provider,
    built: HttpRequest,
    own: &[(String, String)],
) -> TokenRequest {
    let dialect = &provider.dialect;
    let authorization = match (provider.token_auth, &provider.client_secret) {
        (TokenAuth::BasicRaw, Some(secret)) => Some(raw_basic(&provider.client_id, secret)),
        _ => built
            .headers()
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .map(|value| Zeroizing::new(value.to_owned())),
    };
    let form = Zeroizing::new(built.into_body());
    let mut parsed: Vec<(String, Zeroizing<String>)> = form_urlencoded::parse(&form)
        .map(|(name, value)| (name.into_owned(), Zeroizing::new(value.into_owned())))
        .collect();
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    parsed.sort_by_key(|(name, _)| place(name).unwrap_or(ORDER.len()));
    let mut pairs: Vec<(&str, &str)> = parsed
        .iter()
        .filter_map(|(name, value)| Some((renamed(dialect, name)?, value.as_str())))
        .collect();
    let sent: Vec<String> = pairs.iter().map(|(name, _)| folded(name)).collect();
    let more = own
        .iter()
        .filter(|(name, _)| !sent.contains(&folded(name)))
        .map(|(name, value)| (name.as_str(), value.as_str()));
    pairs.extend(more);
    let (content_type, body) = body(dialect, &pairs);
    TokenRequest {
        authorization,
        content_type,
        body,
    }
}

/// The provider's name of a parameter. `None`: it is not sent.
fn renamed<'a>(dialect: &'a Dialect, name: &'a str) -> Option<&'a str> {
    let revoke = dialect.revoke_param.as_deref();
    match name {
        "client_id" => Some(dialect.client_id()),
        "client_secret" => Some(dialect.client_secret()),
        "redirect_uri" => Some(dialect.redirect_uri()),
        "token" => Some(revoke.unwrap_or(name)),
        "token_type_hint" if revoke.is_some() => None,
        _ => Some(name),
    }
}

fn body(dialect: &Dialect, pairs: &[(&str, &str)]) -> (&'static str, Zeroizing<String>) {
    match dialect.body {
        TokenBody::Form => {
            let mut body = form_urlencoded::Serializer::new(String::with_capacity(2 * 1024));
            body.extend_pairs(pairs);
            (
                "application/x-www-form-urlencoded",
                Zeroizing::new(body.finish()),
            )
        }
        TokenBody::Json => {
            let members: Map<String, Value> = pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Value::from(*value)))
                .collect();
            (
                "application/json",
                Zeroizing::new(Value::Object(members).to_string()),
            )
        }
    }
}

/// Neither half form-encoded, unlike RFC 6749, section 2.3.1.
fn raw_basic(user: &str, password: &Secret) -> Zeroizing<String> {
    let pair = Zeroizing::new(format!("{user}:{}", password.expose()));
    Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())))
}
