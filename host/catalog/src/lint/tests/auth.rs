//! Credential slots.

use serde_json::{Value, json};

use super::{check, check_warning, found};

#[test]
fn credential_slots_are_checked() {
    let slot = |key: &'static str, value: Value| move |m: &mut Value| m["auth"][0][key] = value;
    check(slot("slot", json!("My Slot")), "/auth/0/slot", "slot name");
    check(
        slot("authorize_url", json!("http://github.com/login")),
        "/auth/0/authorize_url",
        "https://",
    );
    check(
        slot("authorize_url", Value::Null),
        "/auth/0",
        "needs `authorize_url`",
    );
    check(
        slot("token_url", json!("https://127.0.0.1/token")),
        "/auth/0/token_url",
        "IP address",
    );
    check(
        slot("token_url", json!("https://user@github.com/token")),
        "/auth/0/token_url",
        "user name",
    );
    check(
        slot("token_url", json!("https://github.com:8443/token")),
        "/auth/0/token_url",
        "port",
    );
    check(
        slot("token_url", json!("https://{site}.github.com/token")),
        "/auth/0/token_url",
        "not a connection parameter",
    );
    for (key, value, at, says) in [
        (
            "token_params",
            json!({"grant_type": "password"}),
            "/auth/0/token_params/grant_type",
            "set by the gateway",
        ),
        (
            "token_params",
            json!({"clientId": "x"}),
            "/auth/0/token_params/clientId",
            "set by the gateway",
        ),
        (
            "token_params",
            json!({"a b": "x"}),
            "/auth/0/token_params/a b",
            "a name has 1 to 40",
        ),
        (
            "token_params",
            json!({"store": "{hash}"}),
            "/auth/0/token_params/store",
            "not a connection parameter",
        ),
        (
            "token_params",
            json!({"web_type": "a", "webType": "b"}),
            "/auth/0/token_params/web_type",
            "sent twice",
        ),
        (
            "refresh_params",
            json!({"redirect_uri": "https://evil.example"}),
            "/auth/0/refresh_params/redirect_uri",
            "set by",
        ),
        (
            "client_id_param",
            json!("code"),
            "/auth/0/client_id_param",
            "may be called by",
        ),
        (
            "client_secret_param",
            json!("redirect_uri"),
            "/auth/0/client_secret_param",
            "may be called by",
        ),
        (
            "scope_param",
            json!("state"),
            "/auth/0/scope_param",
            "may be called by",
        ),
        (
            "scope_with",
            json!(["code", "code"]),
            "/auth/0/scope_with",
            "each request once",
        ),
        (
            "token_answer",
            json!({"scope": "scope"}),
            "/auth/0/token_answer/scope",
            "JSON Pointer",
        ),
        (
            "token_answer",
            json!({"access_token": []}),
            "/auth/0/token_answer/access_token",
            "1 to 4",
        ),
        (
            "token_lifetime_s",
            json!(0),
            "/auth/0/token_lifetime_s",
            "seconds",
        ),
        (
            "refresh_url",
            json!("http://github.com/t"),
            "/auth/0/refresh_url",
            "https://",
        ),
    ] {
        check(
            move |m: &mut Value| m["auth"][0][key] = value.clone(),
            at,
            says,
        );
    }
    for bad in ["", "ok", " token_expired", "token\u{e9}"] {
        let expired = slot("expired", json!([bad]));
        check(expired, "/auth/0/expired/0", "printable ASCII");
    }
    check(
        slot("expired", json!(["200"])),
        "/auth/0/expired/0",
        "success",
    );
    check(
        slot("expired", json!(vec!["abc"; 21])),
        "/auth/0/expired",
        "at most 20",
    );
    check(slot("audience", json!([])), "/auth/0/audience", "origins");
    check(
        slot(
            "audience",
            json!(["https://api.github.com", "https://evil.example.com"]),
        ),
        "/auth/0/audience/1",
        "not in `hosts`",
    );
    check(
        slot("audience", json!(["http://api.github.com"])),
        "/auth/0/audience/0",
        "must be an origin",
    );
    check(
        slot("audience", json!(["https://api.github.com/v1"])),
        "/auth/0/audience/0",
        "without scheme or path",
    );
    check(
        slot("audience", json!(["{api_base}"])),
        "/auth/0/audience/0",
        "not a setting",
    );
    check(
        slot("placement", json!([])),
        "/auth/0/placement",
        "where the credential goes",
    );
    check(
        slot(
            "placement",
            json!({"header": "authorization", "template": "Bearer {token}"}),
        ),
        "/auth/0/placement/0/template",
        "known: client_id, client_secret, secret",
    );
    check(
        slot(
            "placement",
            json!({"header": "authorization", "template": "Bearer"}),
        ),
        "/auth/0/placement/0",
        "names no field",
    );
    check(
        slot(
            "placement",
            json!({"header": "authorization", "template": "{secret"}),
        ),
        "/auth/0/placement/0/template",
        "brace",
    );
    check(
        slot("placement", json!({"header": "Host"})),
        "/auth/0/placement/0/header",
        "set by the gateway",
    );
    check(
        slot("placement", json!({"header": "x y"})),
        "/auth/0/placement/0/header",
        "header name",
    );
    check(
        slot("placement", json!({"path": "/../{secret}"})),
        "/auth/0/placement/0/path",
        "path",
    );
    check(
        slot(
            "placement",
            json!({"aws_sigv4": {"service": "s3", "region": "{region}"}}),
        ),
        "/auth/0/placement/0/aws_sigv4",
        "access_key_id",
    );
    check(
        slot(
            "placement",
            json!({"aws_sigv4": {"service": "{region}", "region": "eu-west-1"}}),
        ),
        "/auth/0/placement/0/aws_sigv4/service",
        "as its signatures name it",
    );
    check(
        slot("issuer", json!("http://id.example")),
        "/auth/0/issuer",
        "https://",
    );
    check(
        slot("authorize_params", json!({"state": "x"})),
        "/auth/0/authorize_params/state",
        "gateway itself",
    );
    check(
        slot(
            "authorize_params",
            json!({"Redirect_URI": "https://evil.example"}),
        ),
        "/auth/0/authorize_params/Redirect_URI",
        "gateway itself",
    );
    check(
        slot("scopes", json!(["read write"])),
        "/auth/0/scopes/0",
        "not one scope",
    );
    check(
        slot("scope_separator", json!("")),
        "/auth/0/scopes",
        "separator",
    );
    check(
        slot("fields", json!([{"key": "a", "title": "A"}])),
        "/auth/0/fields",
        "no fields",
    );
    check(
        slot(
            "account",
            json!({"request": "GET https://api.github.com.evil.example/user", "label": "/login"}),
        ),
        "/auth/0/account/request",
        "audience",
    );
    check(
        slot(
            "account",
            json!({"request": "DELETE https://api.github.com/user", "label": "/login"}),
        ),
        "/auth/0/account/request",
        "write `GET` and an address",
    );
    check(
        slot(
            "account",
            json!({"request": "GET https://api.github.com/user", "label": "login"}),
        ),
        "/auth/0/account/label",
        "JSON Pointer",
    );
    check(
        |m| {
            let twice = m["auth"][0].clone();
            m["auth"] = json!([twice.clone(), twice]);
        },
        "/auth/1/slot",
        "twice",
    );
    check(
        slot("type", json!("bearer")),
        "/auth/0/authorize_url",
        "has no `authorize_url`",
    );
    check_warning(slot("pkce", json!(false)), "/auth/0/pkce", "PKCE");
    let with_client_id = json!([
        { "header": "authorization", "template": "Bearer {secret}" },
        { "header": "client-id", "template": "{client_id}" }
    ]);
    let placed = found(slot("placement", with_client_id.clone()));
    assert!(placed.accepted(), "{:?}", placed.errors);
    check(
        |m| {
            m["auth"] = json!([{
                "slot": "user", "title": "Key", "type": "api_key", "placement": with_client_id,
                "audience": ["https://api.github.com"]
            }]);
        },
        "/auth/0/placement/1/template",
        "is not a field",
    );
}
