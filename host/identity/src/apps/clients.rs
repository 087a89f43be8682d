//! Who a client is: what it may say of itself, and how it proves at the token endpoint that it is the
//! one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded;

use super::params::OAuthParams;
use super::refusal::{AppProblem, RefusalCode, refused};
use super::{AppPeer, REQUESTS_PER_MINUTE, client_keys, redirects};
use crate::Identity;
use toolgate_core::visible::visible_line;
use toolgate_oauth::client_assertion;
use toolgate_store::{AppClient, AppClientAuth, AppClientKind};
use toolgate_vault::opaque::hash;

/// Redirect addresses of one client.
pub const REDIRECTS_MAX: usize = 20;
/// Longest `client_id`.
pub const CLIENT_ID_BYTES_MAX: usize = 500;
/// Which redirect addresses are accepted, after one that is not.
pub(super) const REDIRECT_RULE: &str = "is not accepted: a redirect address must be https, http on 127.0.0.1, [::1] \
    or localhost, or have a scheme that belongs to an installed app alone, and must not have a fragment";
/// What a refusal shows of a redirect address.
const SHOWN_CHARS_MAX: usize = 200;
/// What is shown of a client's name.
const NAME_CHARS_MAX: usize = 60;
/// How much longer a metadata document is believed while too many others are read.
const STALE_MS_MAX: i64 = 24 * 60 * 60 * 1_000;

/// What a client says of itself (RFC 7591, section 2). What is not here is ignored, as the RFC has it.
#[derive(Debug, Deserialize)]
pub(super) struct ClientMetadata {
    pub client_id: Option<String>,
    pub client_secret: Option<Value>,
    pub client_name: Option<String>,
    #[serde(default)]
    pub redirect_uris: Vec<String>,
    pub token_endpoint_auth_method: Option<String>,
    /// All methods that it can use (OpenID Connect Relying Party Metadata Choices 1.0, section 2).
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub jwks_uri: Option<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
}

impl ClientMetadata {
    /// # Errors
    /// `invalid_redirect_uri` and `invalid_client_metadata`.
    pub(super) fn check(&self) -> Result<(), AppProblem> {
        let uris = &self.redirect_uris;
        if uris.is_empty() || uris.len() > REDIRECTS_MAX {
            return Err(refused(
                RefusalCode::InvalidRedirectUri,
                format!("redirect_uris has 1 to {REDIRECTS_MAX} addresses"),
            ));
        }
        let wrong = uris
            .iter()
            .find(|uri| redirects::destination(uri).is_none());
        if let Some(wrong) = wrong {
            let start: String = wrong.chars().take(SHOWN_CHARS_MAX).collect();
            let sentence = format!("redirect_uris: {} {REDIRECT_RULE}", visible_line(&start));
            return Err(refused(RefusalCode::InvalidRedirectUri, sentence));
        }
        let lacks = |list: &Option<Vec<String>>, word: &str| {
            list.as_ref()
                .is_some_and(|list| !list.iter().any(|one| one == word))
        };
        if lacks(&self.grant_types, "authorization_code") || lacks(&self.response_types, "code") {
            return Err(refused(
                RefusalCode::InvalidClientMetadata,
                "grant_types must include authorization_code, and response_types must include code",
            ));
        }
        Ok(())
    }

    /// How a client proves itself whose document is public, and holds no secret.
    ///
    /// # Errors
    /// `invalid_client` for a method that needs a secret, or keys that it does not publish.
    pub(super) fn proof_of_document(&self) -> Result<ClientProof, AppProblem> {
        let bad = |sentence: &str| Err(refused(RefusalCode::InvalidClient, sentence));
        if self.client_secret.is_some() {
            return bad(
                "the metadata document of the client holds a secret, which anybody can read",
            );
        }
        let method = self.token_endpoint_auth_method.as_deref().unwrap_or("none");
        let supported = self.token_endpoint_auth_methods_supported.as_deref();
        let offers_none =
            method == "none" || supported.is_some_and(|all| all.iter().any(|one| one == "none"));
        if method == "private_key_jwt" && (self.jwks_uri.is_some() || !offers_none) {
            return Ok(ClientProof {
                method: match offers_none {
                    true => AppClientAuth::None,
                    false => AppClientAuth::PrivateKeyJwt,
                },
                jwks_uri: Some(self.checked_jwks_uri(RefusalCode::InvalidClient)?),
            });
        }
        if offers_none {
            return Ok(ClientProof {
                method: AppClientAuth::None,
                jwks_uri: None,
            });
        }
        bad(&format!(
            "the metadata document of the client asks for the token_endpoint_auth_method {}: use none, or \
             private_key_jwt with jwks_uri",
            visible_line(&method.chars().take(NAME_CHARS_MAX).collect::<String>())
        ))
    }

    /// Where the client publishes its keys.
    pub(super) fn checked_jwks_uri(&self, code: RefusalCode) -> Result<String, AppProblem> {
        let uri = self
            .jwks_uri
            .as_deref()
            .filter(|uri| client_keys::is_address(uri));
        uri.map(str::to_owned).ok_or_else(|| {
            let sentence = "private_key_jwt needs jwks_uri, the https address of the client's keys";
            refused(code, sentence)
        })
    }

    /// Its name on one line, with nothing hidden in it; `otherwise` where it has none.
    pub(super) fn name(&self, otherwise: &str) -> String {
        let name = self.client_name.as_deref().unwrap_or_default().trim();
        let name = if name.is_empty() { otherwise } else { name };
        let start: String = name.chars().take(NAME_CHARS_MAX).collect();
        visible_line(&start).into_owned()
    }
}

/// How a client proves itself at the token endpoint. With [`AppClientAuth::None`] and keys it may do either.
#[derive(Debug)]
pub(super) struct ClientProof {
    pub method: AppClientAuth,
    pub jwks_uri: Option<String>,
}

/// What a request proves of its client.
struct Presented {
    client_id: String,
    proof: PresentedProof,
}

enum PresentedProof {
    Nothing,
    Secret(AppClientAuth, String),
    Assertion(String),
}

impl Identity {
    /// The client that a request to the token endpoint comes from (RFC 6749, section 2.3).
    ///
    /// # Errors
    /// `invalid_client`.
    pub(super) async fn authenticated_client(
        &self,
        authorization: Option<&str>,
        form: &OAuthParams,
        peer: &AppPeer,
    ) -> Result<AppClient, AppProblem> {
        let presented = presented(authorization, form)?;
        let found = match presented.client_id.len() <= CLIENT_ID_BYTES_MAX {
            true => self.store.find_app_client(&presented.client_id).await?,
            false => None,
        };
        let unproven = || {
            let sentence = "the client is unknown, or did not authenticate with its registered method and secret";
            refused(RefusalCode::InvalidClient, sentence)
        };
        let client = found.ok_or_else(unproven)?;
        let proven = match (&client.secret_hash, &presented.proof) {
            (_, PresentedProof::Assertion(assertion)) => {
                self.check_client_assertion(&client, assertion, peer)
                    .await?;
                true
            }
            (None, PresentedProof::Nothing) => match client.auth_method {
                AppClientAuth::None => true,
                AppClientAuth::PrivateKeyJwt => {
                    let sentence = "the client has to authenticate with private_key_jwt: send client_assertion";
                    return Err(refused(RefusalCode::InvalidClient, sentence));
                }
                AppClientAuth::Basic | AppClientAuth::Post => false,
            },
            // Of random texts, so that what comparing hashes takes tells nothing.
            (Some(kept), PresentedProof::Secret(method, secret)) => {
                // An admin names a client without saying how it sends its secret.
                let named = client.kind == AppClientKind::Named;
                (named || *method == client.auth_method) && hash(secret) == *kept
            }
            (Some(_), PresentedProof::Nothing) | (None, PresentedProof::Secret(..)) => false,
        };
        proven.then_some(client).ok_or_else(unproven)
    }

    /// The same for a client that may come to the token endpoint first: its metadata document is read where
    /// it is not known or no longer fresh.
    ///
    /// # Errors
    /// `invalid_client`; too many from one address.
    pub(super) async fn known_or_documented(
        &self,
        authorization: Option<&str>,
        form: &OAuthParams,
        peer: &AppPeer,
    ) -> Result<AppClient, AppProblem> {
        let named = form.get("client_id").filter(|_| authorization.is_none());
        if let Some(id) = named.filter(|id| id.starts_with("https://")) {
            let now_ms = self.clock.now_ms();
            let known = self.store.find_app_client(id).await?;
            let fresh = known.is_some_and(|client| is_fresh(&client, now_ms));
            if !fresh || !self.apps.config.documents {
                let requests = &self.apps.requests;
                requests.take(peer.address, REQUESTS_PER_MINUTE, now_ms)?;
                self.named_client(id, peer).await?;
            }
        }
        self.authenticated_client(authorization, form, peer).await
    }

    /// The client that an authorization request names: a metadata document is read where it is not
    /// known or no longer fresh.
    ///
    /// # Errors
    /// `invalid_client`; `temporarily_unavailable` where its document cannot be read now.
    pub(super) async fn named_client(
        &self,
        client_id: &str,
        peer: &AppPeer,
    ) -> Result<AppClient, AppProblem> {
        let unknown = || {
            let sentence =
                "the client is not registered here: let it register again, or connect again";
            refused(RefusalCode::InvalidClient, sentence)
        };
        if client_id.len() > CLIENT_ID_BYTES_MAX {
            return Err(unknown());
        }
        let found = self.store.find_app_client(client_id).await?;
        if !client_id.starts_with("https://") {
            return found
                .filter(|client| match client.kind {
                    AppClientKind::Registered => self.apps.config.registration,
                    AppClientKind::Named => true,
                    AppClientKind::Document => false,
                })
                .ok_or_else(unknown);
        }
        if !self.apps.config.documents {
            return Err(unknown());
        }
        let now_ms = self.clock.now_ms();
        match found {
            Some(client) if is_fresh(&client, now_ms) => Ok(client),
            // Others who have documents read take nothing from a client that is known.
            Some(client) => match self.read_document(client_id, peer).await {
                Err(AppProblem::Refused {
                    code: RefusalCode::TemporarilyUnavailable,
                    ..
                }) if is_fresh(&client, now_ms - STALE_MS_MAX) => Ok(client),
                read => read,
            },
            None => self.read_document(client_id, peer).await,
        }
    }
}

/// Whether what a metadata document said is still believed.
fn is_fresh(client: &AppClient, now_ms: i64) -> bool {
    client.fresh_until_ms.is_some_and(|until| until > now_ms)
}

fn presented(authorization: Option<&str>, form: &OAuthParams) -> Result<Presented, AppProblem> {
    let bad = |sentence: &str| refused(RefusalCode::InvalidClient, sentence);
    let in_form = form.get("client_id");
    let secret = form.get("client_secret");
    let assertion = form.get("client_assertion");
    let methods = [
        authorization.is_some(),
        secret.is_some(),
        assertion.is_some(),
    ];
    if methods.into_iter().filter(|used| *used).count() > 1 {
        let sentence = "use only one client authentication method";
        return Err(refused(RefusalCode::InvalidRequest, sentence));
    }
    if let Some(header) = authorization {
        let (client_id, secret) =
            basic(header).ok_or_else(|| bad("the header Authorization is not understood"))?;
        if in_form.is_some_and(|other| other != client_id) {
            return Err(bad("client_id does not match the Authorization header"));
        }
        return Ok(Presented {
            client_id,
            proof: PresentedProof::Secret(AppClientAuth::Basic, secret),
        });
    }
    if let Some(assertion) = assertion {
        if form.get("client_assertion_type") != Some(client_assertion::TYPE) {
            let sentence = format!("client_assertion_type must be {}", client_assertion::TYPE);
            return Err(refused(RefusalCode::InvalidClient, sentence));
        }
        let client_id = client_assertion::named_client(assertion);
        let client_id = client_id.map_err(|cause| bad(&cause.to_string()))?;
        if in_form.is_some_and(|other| other != client_id) {
            return Err(bad("client_id does not match client_assertion"));
        }
        return Ok(Presented {
            client_id,
            proof: PresentedProof::Assertion(assertion.to_owned()),
        });
    }
    let client_id = in_form.ok_or_else(|| bad("client_id is missing"))?;
    Ok(Presented {
        client_id: client_id.to_owned(),
        proof: match secret {
            Some(secret) => PresentedProof::Secret(AppClientAuth::Post, secret.to_owned()),
            None => PresentedProof::Nothing,
        },
    })
}

/// Id and secret of `Basic`, each of which is encoded as in a form (RFC 6749, section 2.3.1).
fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let plain = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = plain.split_once(':')?;
    let decoded = |text: &str| {
        let pair = format!("v={}", text.replace('&', "%26"));
        let value = form_urlencoded::parse(pair.as_bytes())
            .next()
            .map(|(_, value)| value.into_owned());
        value.filter(|value| !value.is_empty())
    };
    Some((decoded(id)?, decoded(secret)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_holds_an_id_and_a_secret_encoded_as_in_a_form() {
        let header = |plain: &str| format!("Basic {}", STANDARD.encode(plain));
        let read = |plain: &str| basic(&header(plain));
        assert_eq!(read("a:b"), Some(("a".into(), "b".into())));
        assert_eq!(
            read("https%3A%2F%2Fx:b+%3A&c"),
            Some(("https://x".into(), "b :&c".into()))
        );
        for bad in ["", "a", "a:", ":b"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        for bad in ["Basic", "Basic %%%", "Bearer YTpi", ""] {
            assert_eq!(basic(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_client_is_named_on_one_line_that_hides_nothing() {
        let mut metadata: ClientMetadata = serde_json::from_str("{}").unwrap();
        assert_eq!(metadata.name("app.example"), "app.example");
        metadata.client_name = Some(" Claude\u{202e}\nCode ".to_owned());
        assert_eq!(metadata.name(""), "Claude\\u{202e}\\u{a}Code");
        metadata.client_name = Some("x".repeat(1_000));
        assert_eq!(metadata.name("").chars().count(), NAME_CHARS_MAX);
    }
}
