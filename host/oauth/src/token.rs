//! Requests to the token and revocation endpoints (RFC 6749, section 4; RFC 7009).
//!
//! Pure. The gateway's own parameters are each sent once, under the name that the provider has for them; a parameter of
//! the manifest with the same name is left out. Responses are read in [`super::answer`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use url::form_urlencoded;
use zeroize::Zeroizing;

use super::Provider;
use super::dialect::Dialect;
use toolgate_catalog::manifest::{TokenAuth, TokenBody, TokenStep};
use toolgate_catalog::token_requests::{REDIRECT_URI, STATE, folded};
use toolgate_vault::Secret;

pub use super::answer::Tokens;

/// A request to the token endpoint, by its grant.
#[derive(Debug)]
pub enum TokenGrant<'a> {
    Code {
        code: &'a Secret,
        redirect_uri: &'a str,
        verifier: &'a Secret,
        /// The value of the authorization request, for a provider that requires it again.
        state: Option<&'a Secret>,
        scopes: &'a [String],
    },
    Refresh {
        token: &'a Secret,
        redirect_uri: &'a str,
        scopes: &'a [String],
    },
    ClientCredentials {
        scopes: &'a [String],
    },
}

impl TokenGrant<'_> {
    pub(crate) fn is_refresh(&self) -> bool {
        matches!(self, Self::Refresh { .. })
    }
}

/// A request's headers and body; the body is zeroed on drop.
pub struct TokenRequest {
    pub authorization: Option<Zeroizing<String>>,
    pub content_type: &'static str,
    pub body: Zeroizing<String>,
}

/// The request to the token endpoint.
pub fn request(provider: &Provider, grant: &TokenGrant<'_>) -> TokenRequest {
    let dialect = &provider.dialect;
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    // A manifest may have repeated one under another name.
    let mut repeated: Vec<(&str, &str)> = Vec::new();
    let named = match grant {
        TokenGrant::Code {
            code,
            redirect_uri,
            verifier,
            state,
            scopes,
        } => {
            pairs.push(("grant_type", "authorization_code"));
            pairs.push(("code", code.expose()));
            pairs.push((dialect.redirect_uri(), redirect_uri));
            if provider.pkce {
                pairs.push(("code_verifier", verifier.expose()));
            }
            repeated.push((REDIRECT_URI, redirect_uri));
            repeated.extend(state.map(|state| (STATE, state.expose())));
            dialect.names_scope(TokenStep::Code).then_some(scopes)
        }
        TokenGrant::Refresh {
            token,
            redirect_uri,
            scopes,
        } => {
            pairs.push(("grant_type", "refresh_token"));
            pairs.push(("refresh_token", token.expose()));
            repeated.push((REDIRECT_URI, redirect_uri));
            dialect.names_scope(TokenStep::Refresh).then_some(scopes)
        }
        TokenGrant::ClientCredentials { scopes } => {
            pairs.push(("grant_type", "client_credentials"));
            Some(scopes)
        }
    };
    let scope = named.map(|scopes| scopes.join(&provider.scope_separator));
    if let Some(scope) = scope.as_ref().filter(|scope| !scope.is_empty()) {
        pairs.push(("scope", scope));
    }
    let own = dialect.own_params(grant.is_refresh(), &repeated);
    written(provider, pairs, &own)
}

/// The request to the revocation endpoint (RFC 7009, section 2.1).
pub fn revocation(provider: &Provider, token: &Secret, refresh: bool) -> TokenRequest {
    let hint = if refresh {
        "refresh_token"
    } else {
        "access_token"
    };
    let mut pairs = Vec::new();
    match provider.dialect.revoke_param.as_deref() {
        None => {
            pairs.push(("token", token.expose()));
            pairs.push(("token_type_hint", hint));
        }
        Some(name) => pairs.push((name, token.expose())),
    }
    written(provider, pairs, &[])
}

fn written<'a>(
    provider: &'a Provider,
    mut pairs: Vec<(&'a str, &'a str)>,
    own: &'a [(String, String)],
) -> TokenRequest {
    let dialect = &provider.dialect;
    let secret = provider.client_secret.as_ref().map(Secret::expose);
    let client = (dialect.client_id(), provider.client_id.as_str());
    let mut authorization = None;
    match (provider.token_auth, secret) {
        (TokenAuth::Basic, Some(secret)) => {
            // Both halves are form-encoded first (RFC 6749, section 2.3.1).
            let encode = |text: &str| {
                Zeroizing::new(form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>())
            };
            authorization = Some(basic(&encode(&provider.client_id), &encode(secret)));
        }
        (TokenAuth::BasicRaw, Some(secret)) => {
            authorization = Some(basic(&provider.client_id, secret));
        }
        (TokenAuth::Post, Some(secret)) => {
            pairs.push(client);
            pairs.push((dialect.client_secret(), secret));
        }
        (TokenAuth::None, _) | (_, None) => pairs.push(client),
    }
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

fn basic(user: &str, password: &str) -> Zeroizing<String> {
    let pair = Zeroizing::new(format!("{user}:{password}"));
    Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn provider(token_auth: TokenAuth, secret: Option<&str>) -> Provider {
        Provider {
            authorize_url: None,
            token_url: "https://id.test/token".to_owned(),
            revoke_url: None,
            issuer: None,
            client_id: "a b".to_owned(),
            client_secret: secret.map(Secret::new),
            token_auth,
            pkce: true,
            scope_separator: ",".to_owned(),
            authorize_params: BTreeMap::new(),
            redirect_name: None,
            origins: Vec::new(),
            refresh_url: None,
            dialect: Dialect::default(),
        }
    }

    fn refresh(token: &Secret) -> TokenGrant<'_> {
        TokenGrant::Refresh {
            token,
            redirect_uri: "https://g.test/cb",
            scopes: &[],
        }
    }

    #[test]
    fn the_gateway_names_itself_as_the_manifest_says() {
        let token = Secret::new("r/1");
        for (auth, secret, header, body) in [
            (
                TokenAuth::Basic,
                Some("s:1"),
                Some("Basic YStiOnMlM0Ex"),
                "grant_type=refresh_token&refresh_token=r%2F1",
            ),
            (
                TokenAuth::Post,
                Some("s:1"),
                None,
                "grant_type=refresh_token&refresh_token=r%2F1&client_id=a+b&client_secret=s%3A1",
            ),
            (
                TokenAuth::None,
                Some("s:1"),
                None,
                "grant_type=refresh_token&refresh_token=r%2F1&client_id=a+b",
            ),
            (
                TokenAuth::Basic,
                None,
                None,
                "grant_type=refresh_token&refresh_token=r%2F1&client_id=a+b",
            ),
            (
                TokenAuth::BasicRaw,
                Some("s/1+="),
                Some("Basic YSBiOnMvMSs9"),
                "grant_type=refresh_token&refresh_token=r%2F1",
            ),
        ] {
            let form = request(&provider(auth, secret), &refresh(&token));
            assert_eq!(
                form.authorization.as_ref().map(|text| text.as_str()),
                header
            );
            assert_eq!(form.body.as_str(), body);
        }
    }

    #[test]
    fn each_grant_sends_its_own_fields() {
        let provider = provider(TokenAuth::None, None);
        let (code, verifier) = (Secret::new("c"), Secret::new("v"));
        let exchange = TokenGrant::Code {
            code: &code,
            redirect_uri: "https://g.test/cb",
            verifier: &verifier,
            state: None,
            scopes: &[],
        };
        assert_eq!(
            request(&provider, &exchange).body.as_str(),
            "grant_type=authorization_code&code=c&redirect_uri=https%3A%2F%2Fg.test%2Fcb&code_verifier=v&client_id=a+b"
        );
        let scopes = ["x".to_owned(), "y".to_owned()];
        assert_eq!(
            request(
                &provider,
                &TokenGrant::ClientCredentials { scopes: &scopes }
            )
            .body
            .as_str(),
            "grant_type=client_credentials&scope=x%2Cy&client_id=a+b"
        );
        assert_eq!(
            revocation(&provider, &code, true).body.as_str(),
            "token=c&token_type_hint=refresh_token&client_id=a+b"
        );
    }

    fn dialect(keys: Value) -> Dialect {
        let mut slot = serde_json::json!({
            "slot": "user", "title": "User", "type": "oauth2", "audience": [],
            "placement": {"header": "authorization"},
        });
        slot.as_object_mut()
            .unwrap()
            .extend(keys.as_object().unwrap().clone());
        let values = BTreeMap::from([("store".to_owned(), "h 1".to_owned())]);
        Dialect::from_slot(&serde_json::from_value(slot).unwrap(), &values)
    }

    fn bodies(auth: TokenAuth, keys: Value) -> [String; 2] {
        let provider = Provider {
            dialect: dialect(keys),
            pkce: false,
            ..provider(auth, Some("s"))
        };
        let (code, verifier, state) = (Secret::new("c"), Secret::new("v"), Secret::new("st"));
        let scopes = ["x".to_owned(), "y".to_owned()];
        let exchange = TokenGrant::Code {
            code: &code,
            redirect_uri: "https://g.test",
            verifier: &verifier,
            state: Some(&state),
            scopes: &scopes,
        };
        let renewal = TokenGrant::Refresh {
            token: &code,
            redirect_uri: "https://g.test",
            scopes: &scopes,
        };
        [exchange, renewal].map(|grant| request(&provider, &grant).body.as_str().to_owned())
    }

    #[test]
    fn a_manifest_adds_parameters_and_names_those_of_the_gateway() {
        use serde_json::json;
        let code = "grant_type=authorization_code&code=c&redirect_uri=https%3A%2F%2Fg.test";
        let renewal = "grant_type=refresh_token&refresh_token=c";
        for (keys, exchange, refresh) in [
            // Shopify
            (
                json!({"token_params": {"expiring": "1"}}),
                "&expiring=1",
                "&expiring=1",
            ),
            // Basecamp
            (
                json!({"token_params": {"type": "web_server"}, "refresh_params": {"type": "refresh"}}),
                "&type=web_server",
                "&type=refresh",
            ),
            // BigCommerce
            (
                json!({"token_params": {"context": "stores/{store}"}, "refresh_params": {}, "scope_with": ["code"]}),
                "&scope=x%2Cy&context=stores%2Fh+1",
                "",
            ),
            // FreshBooks, Dropbox Sign
            (
                json!({"token_params": {"state": "{state}"}, "refresh_params": {"redirect_uri": "{redirect_uri}"}}),
                "&state=st",
                "&redirect_uri=https%3A%2F%2Fg.test",
            ),
            // Microsoft
            (json!({"scope_with": ["refresh"]}), "", "&scope=x%2Cy"),
            // A parameter without a known value, and parameters of the gateway itself.
            (
                json!({"token_params": {"context": "{other}", "Grant-Type": "password", "code": "x", "redirectUri": "y"},
                    "refresh_params": {"refreshToken": "x"}}),
                "",
                "",
            ),
        ] {
            let sent = bodies(TokenAuth::Basic, keys.clone());
            assert_eq!(
                sent,
                [format!("{code}{exchange}"), format!("{renewal}{refresh}")],
                "{keys}"
            );
        }
        // TikTok
        let named = json!({"client_id_param": "client_key", "client_secret_param": "secret",
            "redirect_uri_param": "redirect_url", "token_params": {"clientkey": "mine"}});
        assert_eq!(
            bodies(TokenAuth::Post, named),
            [
                "grant_type=authorization_code&code=c&redirect_url=https%3A%2F%2Fg.test&client_key=a+b&secret=s",
                "grant_type=refresh_token&refresh_token=c&client_key=a+b&secret=s"
            ]
        );
        let json = bodies(TokenAuth::Post, json!({"token_body": "json"}));
        let refresh: Value = serde_json::from_str(&json[1]).unwrap();
        assert_eq!(
            refresh,
            json!({"grant_type": "refresh_token", "refresh_token": "c", "client_id": "a b", "client_secret": "s"})
        );
    }

    #[test]
    fn a_revocation_may_name_its_token_otherwise() {
        let provider = Provider {
            dialect: dialect(serde_json::json!({"revoke_param": "access_token"})),
            ..provider(TokenAuth::None, None)
        };
        let sent = revocation(&provider, &Secret::new("a"), false);
        assert_eq!(sent.body.as_str(), "access_token=a&client_id=a+b");
    }
}
