use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{CredentialVerdict, MissingScopes};
use toolgate_catalog::manifest::Manifest;

/// A service whose tool needs these scopes and whose manifest names these words.
fn manifest(scopes: &[&str], expired: &[&str]) -> Manifest {
    serde_json::from_value(json!({
        "manifest": 1, "service": "desk", "title": "Desk", "version": "1.0.0", "description": "Desks.",
        "hosts": ["api.desk.test"],
        "auth": [{"slot": "user", "title": "User", "type": "oauth2",
            "authorize_url": "https://id.desk.test/a", "token_url": "https://id.desk.test/t",
            "placement": {"header": "authorization", "template": "Bearer {secret}"},
            "audience": ["https://api.desk.test"], "expired": expired}],
        "tools": [{"name": "run", "description": "Runs.", "input": {"type": "object"}, "effect": "read",
            "auth": ["user"], "scopes": scopes}]
    }))
    .expect("a manifest")
}

fn judged(
    manifest: &Manifest,
    status: u16,
    headers: &[(&'static str, &'static str)],
    body: &Value,
) -> CredentialVerdict {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect();
    let body = match body {
        Value::Null => Vec::new(),
        Value::String(text) => text.clone().into_bytes(),
        body => body.to_string().into_bytes(),
    };
    CredentialVerdict::new(Some(manifest), "user", status, &headers, &body)
}

const CERTAIN: CredentialVerdict = CredentialVerdict::Refused {
    performed_nothing: true,
};
const LIKELY: CredentialVerdict = CredentialVerdict::Refused {
    performed_nothing: false,
};

#[test]
fn the_end_of_a_token_is_read_as_providers_say_it() {
    let plain = manifest(&[], &[]);
    let none = Value::Null;
    for (status, headers, body, expected) in [
        (401, &[][..], none.clone(), CERTAIN),
        // Salesforce, Bluesky, Zoho-like services, Azure.
        (
            401,
            &[],
            json!([{"errorCode": "INVALID_SESSION_ID"}]),
            CERTAIN,
        ),
        (
            400,
            &[],
            json!({"error": "ExpiredToken", "message": "Token has expired"}),
            LIKELY,
        ),
        (403, &[], json!({"error": "token_expired"}), LIKELY),
        (
            403,
            &[],
            json!({"error": {"code": "ExpiredAuthenticationToken", "message": "x"}}),
            LIKELY,
        ),
        (419, &[], json!({"message": "Token expired."}), LIKELY),
        (
            400,
            &[],
            json!({"errors": [{"code": "ACCESS_TOKEN_EXPIRED"}]}),
            LIKELY,
        ),
        (
            400,
            &[],
            json!({"__type": "com.amazon.coral#ExpiredTokenException"}),
            LIKELY,
        ),
        // Slack.
        (
            200,
            &[],
            json!({"ok": false, "error": "token_expired"}),
            LIKELY,
        ),
        (
            200,
            &[],
            json!({"ok": false, "error": "token_revoked"}),
            LIKELY,
        ),
        (
            200,
            &[],
            json!({"ok": false, "error": "channel_not_found"}),
            CredentialVerdict::Unclear,
        ),
        (
            200,
            &[],
            json!({"ok": true, "error": "token_expired"}),
            CredentialVerdict::Accepted,
        ),
        (
            200,
            &[],
            json!({"note": {"error": "token_expired"}, "done": false}),
            CredentialVerdict::Accepted,
        ),
        (200, &[], none.clone(), CredentialVerdict::Accepted),
        (
            403,
            &[(
                "www-authenticate",
                "Bearer realm=\"x\", error=\"invalid_token\"",
            )],
            none.clone(),
            LIKELY,
        ),
        // Other failures say nothing of the token.
        (
            403,
            &[],
            json!({"message": "Your token expired yesterday was not found"}),
            CredentialVerdict::Unclear,
        ),
        (
            403,
            &[],
            json!({"message": "Forbidden"}),
            CredentialVerdict::Unclear,
        ),
        (
            404,
            &[],
            json!({"error": "token_expired"}),
            CredentialVerdict::Unclear,
        ),
        (
            400,
            &[],
            json!({"error": "bad_request"}),
            CredentialVerdict::Unclear,
        ),
        (
            500,
            &[],
            json!({"error": "token_expired"}),
            CredentialVerdict::Unclear,
        ),
        (419, &[], none.clone(), CredentialVerdict::Unclear),
        (302, &[], none.clone(), CredentialVerdict::Unclear),
    ] {
        assert_eq!(
            judged(&plain, status, headers, &body),
            expected,
            "{status} {body}"
        );
    }
}

#[test]
fn words_that_the_manifest_names_count_whole_and_for_every_status() {
    let own = manifest(&[], &["190", "session gone", "E_OLD", "419"]);
    for (status, body, expected) in [
        (
            400,
            json!({"error": {"code": 190, "message": "Error validating access token"}}),
            CERTAIN,
        ),
        (500, json!({"message": "session gone"}), CERTAIN),
        (404, json!({"code": "E_OLD"}), CERTAIN),
        (200, json!({"errcode": "E_OLD"}), CERTAIN),
        (400, json!("<Error><Code>E_OLD</Code></Error>"), CERTAIN),
        (419, Value::Null, CERTAIN),
        (
            400,
            json!({"error": {"code": 1900}}),
            CredentialVerdict::Unclear,
        ),
        (
            400,
            json!({"message": "the session gone wrong"}),
            CredentialVerdict::Unclear,
        ),
        (404, json!({"code": "e_old"}), CredentialVerdict::Unclear),
        (
            200,
            json!({"items": ["E_OLD"]}),
            CredentialVerdict::Accepted,
        ),
    ] {
        assert_eq!(
            judged(&own, status, &[], &body),
            expected,
            "{status} {body}"
        );
    }
}

#[test]
fn a_missing_scope_is_no_bad_token() {
    const SEND: &str = "https://www.googleapis.com/auth/gmail.send";
    let scopes = [
        SEND,
        "chat:write",
        "repo",
        "Mail.Send",
        "Mail.Send.Shared",
        "playlist-modify-public",
    ];
    let desk = manifest(&scopes, &[]);
    let none = Value::Null;
    let google = json!({"error": {"code": 403, "message": "Request had insufficient authentication scopes.",
        "status": "PERMISSION_DENIED", "details": [{"reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]}});
    let graph = "Missing scope permissions on the request. API requires one of 'Mail.Send'. Scopes on the request 'x'";
    let named = |names: &[&str], any_of: bool| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        CredentialVerdict::ScopeMissing(MissingScopes { names, any_of })
    };
    let challenge = "Bearer realm=\"https://accounts.google.com/\", error=\"insufficient_scope\", \
                     scope=\"https://www.googleapis.com/auth/gmail.send\"";
    for (status, headers, body, expected) in [
        (
            403,
            &[("www-authenticate", challenge)][..],
            google.clone(),
            named(&[SEND], false),
        ),
        (
            401,
            &[("www-authenticate", "Bearer error=insufficient_scope")],
            none.clone(),
            named(&[], false),
        ),
        (403, &[], google, named(&[], true)),
        (
            403,
            &[
                ("x-oauth-scopes", "gist"),
                ("x-accepted-oauth-scopes", "repo, admin:org"),
            ],
            json!({"message": "Must have admin rights"}),
            named(&["repo", "admin:org"], true),
        ),
        (
            200,
            &[],
            json!({"ok": false, "error": "missing_scope", "needed": "chat:write", "provided": "identify"}),
            named(&["chat:write"], false),
        ),
        (
            403,
            &[],
            json!({"error": {"code": "Forbidden", "message": graph}}),
            named(&["Mail.Send"], true),
        ),
        (
            403,
            &[],
            json!({"category": "MISSING_SCOPES", "errors": [{"context": {"requiredGranularScopes": ["a.read", "a.write"]}}]}),
            named(&["a.read", "a.write"], true),
        ),
        (
            403,
            &[],
            json!({"error": "insufficient_scope", "scope": "api read_api"}),
            named(&["api", "read_api"], true),
        ),
        (
            403,
            &[],
            json!({"error": {"status": 403, "message": "Insufficient client scope"}}),
            named(&[], true),
        ),
        (
            401,
            &[],
            json!({"code": 401, "message": "Unauthorized; scope does not match"}),
            named(&[], true),
        ),
        // The token has one of those that would do.
        (
            403,
            &[
                ("x-oauth-scopes", "repo"),
                ("x-accepted-oauth-scopes", "repo, admin:org"),
            ],
            json!({"message": "Must have admin rights"}),
            CredentialVerdict::Unclear,
        ),
        (
            403,
            &[],
            json!({"message": "The repo is outside of your scope of work, repository"}),
            named(&["repo"], true),
        ),
        (
            403,
            &[],
            json!({"message": "Out of scope"}),
            CredentialVerdict::Unclear,
        ),
        (
            404,
            &[],
            json!({"error": "missing_scope"}),
            CredentialVerdict::Unclear,
        ),
        (
            200,
            &[],
            json!({"ok": true, "error": "missing_scope"}),
            CredentialVerdict::Accepted,
        ),
    ] {
        assert_eq!(
            judged(&desk, status, headers, &body),
            expected,
            "{status} {headers:?} {body}"
        );
    }
}
