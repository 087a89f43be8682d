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
        "known: client_id, secret",
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
