use super::*;
use std::collections::BTreeMap;
use std::future::ready;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use serde_json::Value;

use crate::answer::{AnswerReading, answer};
use crate::dialect::Dialect;
use crate::rewrite::{TokenRequest, in_dialect};
use crate::standard;
use toolgate_catalog::manifest::{TokenAnswer, TokenAuth};

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

/// The outcome of a future that waits for nothing.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("it waits"),
    }
}

/// The request that is sent for a grant.
fn request(provider: &Provider, grant: &TokenGrant<'_>) -> TokenRequest {
    let own = own_params(provider, grant);
    let sent = Mutex::new(None);
    let http = |built: HttpRequest| -> Exchange<'_> {
        *sent.lock().unwrap() = Some(in_dialect(provider, built, &own));
        Box::pin(ready(Err(OAuthError::Busy(503))))
    };
    let refused = at_once(issue(provider, grant, &HttpClient(&http))).unwrap_err();
    assert!(matches!(refused, OAuthError::Busy(503)), "{refused}");
    sent.into_inner().unwrap().expect("a request")
}

/// The request that is sent to revoke a token.
fn revocation(provider: &Provider, token: &Secret, refresh: bool) -> TokenRequest {
    let sent = Mutex::new(None);
    let http = |built: HttpRequest| -> Exchange<'_> {
        *sent.lock().unwrap() = Some(in_dialect(provider, built, &[]));
        Box::pin(ready(Ok(HttpResponse::new(Vec::new()))))
    };
    at_once(revoke(provider, token, refresh, &HttpClient(&http))).unwrap();
    sent.into_inner().unwrap().expect("a request")
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

/// What the crate makes of a response to a refresh request.
fn answered(
    places: &TokenAnswer,
    status: u16,
    kind: &str,
    body: &str,
) -> Result<Tokens, OAuthError> {
    let reading = AnswerReading {
        separator: " ",
        places,
        refresh: false,
        pointers: &["/team/id"],
        sent: &["hunter2"],
    };
    let http = |_: HttpRequest| -> Exchange<'_> {
        let tokens = answer(status, kind, body.as_bytes(), &reading);
        Box::pin(ready(tokens.and_then(|tokens| standard::response(&tokens))))
    };
    let provider = provider(TokenAuth::Post, Some("hunter2"));
    at_once(issue(
        &provider,
        &refresh(&Secret::new("r")),
        &HttpClient(&http),
    ))
}

#[test]
fn answers_of_every_dialect_pass_the_crate() {
    let standard = TokenAnswer::default();
    let slack: TokenAnswer =
        serde_json::from_value(serde_json::json!({"access_token": "/authed_user/access_token"}))
            .unwrap();
    for (places, status, kind, body) in [
        // eBay
        (
            &standard,
            200,
            "application/json",
            r#"{"access_token":"a-1","token_type":"User Access Token","expires_in":7200,"team":{"id":"T1"}}"#,
        ),
        // Slack
        (
            &slack,
            200,
            "application/json; charset=utf-8",
            r#"{"ok":true,"authed_user":{"access_token":"a-1","token_type":"user","expires_in":"7200"},"team":{"id":"T1"}}"#,
        ),
        // Another status, another media type, and no type of token.
        (
            &standard,
            201,
            "text/html",
            r#"{"accessToken":"a-1","expireIn":7200.0,"team":{"id":"T1"}}"#,
        ),
    ] {
        let tokens = answered(places, status, kind, body).unwrap();
        assert_eq!(tokens.access.expose(), "a-1", "{body}");
        assert_eq!(
            tokens.lifetime,
            Some(crate::lifetime::Lifetime::For(7_200_000)),
            "{body}"
        );
        assert_eq!(tokens.read, [Some("T1".to_owned())], "{body}");
    }
    let form = answered(&standard, 200, "text/plain", "access_token=a%2F1&scope=x,y").unwrap();
    assert_eq!(form.access.expose(), "a/1");
    assert_eq!(form.scopes.unwrap(), ["x", "y"]);
}

#[test]
fn a_refusal_keeps_its_words_and_no_error_contains_the_answer() {
    let places = TokenAnswer::default();
    for (status, body, expected) in [
        (
            200,
            r#"{"ok":false,"error":"invalid_code"}"#,
            "the provider refused: invalid_code",
        ),
        (
            401,
            r#"{"error":"invalid_client","error_description":"wrong: hunter2"}"#,
            "the provider refused this gateway's registration: invalid_client",
        ),
        (
            503,
            "<html>hunter2",
            "the provider cannot answer now (HTTP status 503)",
        ),
        (
            200,
            r#"{"access_token":"a","token_type":"dpop"}"#,
            "the provider's answer is not understood: the token is not a bearer token",
        ),
    ] {
        let refused = answered(&places, status, "application/json", body).unwrap_err();
        assert_eq!(refused.to_string(), expected, "{body}");
    }
    // Nor where the client's answer is not in the standard form.
    for (status, body) in [
        (200, r#"{"access_token":"hunter2"}"#),
        (400, r#"{"error":"hunter2"}"#),
        (400, "hunter2"),
        (200, ""),
    ] {
        let http = |_: HttpRequest| -> Exchange<'_> {
            let mut came = HttpResponse::new(body.as_bytes().to_vec());
            *came.status_mut() = http::StatusCode::from_u16(status).unwrap();
            Box::pin(ready(Ok(came)))
        };
        let provider = provider(TokenAuth::None, None);
        let refused = at_once(issue(
            &provider,
            &refresh(&Secret::new("r")),
            &HttpClient(&http),
        ))
        .unwrap_err();
        assert!(
            !format!("{refused:?} {refused}").contains("hunter2"),
            "{body}"
        );
    }
}

#[test]
fn a_name_of_the_callback_and_an_address_without_tls_are_sent_as_they_are() {
    let provider = Provider {
        token_url: "http://10.0.0.1:8080/token?tenant=7".to_owned(),
        revoke_url: Some("http://10.0.0.1:8080/revoke".to_owned()),
        pkce: false,
        ..provider(TokenAuth::Post, Some("s"))
    };
    let (code, verifier) = (Secret::new("c"), Secret::new("v"));
    let exchange = TokenGrant::Code {
        code: &code,
        redirect_uri: "Company-App-PRD-1a2b",
        verifier: &verifier,
        state: None,
        scopes: &[],
    };
    assert_eq!(
        request(&provider, &exchange).body.as_str(),
        "grant_type=authorization_code&code=c&redirect_uri=Company-App-PRD-1a2b&client_id=a+b&client_secret=s"
    );
    assert_eq!(
        revocation(&provider, &code, false).body.as_str(),
        "token=c&token_type_hint=access_token&client_id=a+b&client_secret=s"
    );
    let renewed = Provider {
        refresh_url: Some("no address".to_owned()),
        ..provider
    };
    let http =
        |_: HttpRequest| -> Exchange<'_> { Box::pin(ready(Ok(HttpResponse::new(Vec::new())))) };
    let refused = at_once(issue(&renewed, &refresh(&code), &HttpClient(&http))).unwrap_err();
    assert_eq!(refused.to_string(), "the address token_url is not usable");
}
