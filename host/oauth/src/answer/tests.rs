use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

fn read_by(
    places: &Value,
    refresh: bool,
    status: u16,
    kind: &str,
    body: &str,
) -> Result<Tokens, OAuthError> {
    let places: TokenAnswer = serde_json::from_value(places.clone()).unwrap();
    let reading = AnswerReading {
        separator: ",",
        places: &places,
        refresh,
        pointers: &["/instance_url", "/team/id"],
        sent: &["hunter2"],
    };
    answer(status, kind, body.as_bytes(), &reading)
}

fn read(status: u16, kind: &str, body: &str) -> Result<Tokens, OAuthError> {
    read_by(&json!({}), false, status, kind, body)
}

fn good(body: &Value) -> Tokens {
    read(200, "application/json", &body.to_string()).unwrap()
}

#[test]
fn tokens_are_read_from_json_and_from_forms() {
    let tokens = good(
        &json!({"access_token": "a", "refresh_token": "r", "expires_in": "3600", "scope": "x y,z",
        "instance_url": "https://i.test", "team": {"id": 7}}),
    );
    assert_eq!(
        (tokens.access.expose(), tokens.refresh.unwrap().expose()),
        ("a", "r")
    );
    assert_eq!(tokens.lifetime, Some(Lifetime::For(3_600_000)));
    assert_eq!(tokens.scopes.unwrap(), ["x", "y", "z"]);
    assert_eq!(
        tokens.read,
        [Some("https://i.test".to_owned()), Some("7".to_owned())]
    );
    for (kind, body) in [
        (
            "application/x-www-form-urlencoded; charset=utf-8",
            "access_token=a%2Fb&expires_in=5&scope=x",
        ),
        ("text/plain", "access_token=a%2Fb&expires_in=5&scope=x"),
        // With an unknown media type.
        ("text/html", "access_token=a%2Fb&expires=5&scope=x"),
        (
            "application/json",
            "\u{feff}{\"access_token\":\"a/b\",\"expires_in\":5.0,\"scope\":[\"x\"]}",
        ),
        (
            "text/javascript",
            r#"{"accessToken":"a/b","expireIn":5,"scopes":["x"]}"#,
        ),
    ] {
        let tokens = read(200, kind, body).unwrap();
        assert_eq!(tokens.access.expose(), "a/b", "{body}");
        assert_eq!(tokens.lifetime, Some(Lifetime::For(5_000)), "{body}");
        assert_eq!(tokens.scopes.unwrap(), ["x"], "{body}");
        assert!(tokens.refresh.is_none(), "{body}");
    }
}

/// The types are those of eBay, Slack, Stripe, HubSpot, Notion and Discord, and invented ones.
#[test]
fn only_a_type_with_a_proof_of_possession_is_refused() {
    for kind in [
        json!("bearer"),
        json!("BEARER"),
        json!("User Access Token"),
        json!("Application Access Token"),
        json!("bot"),
        json!("user"),
        json!("bearertoken"),
        json!("Bearer,Bearer"),
        json!("OAuth"),
        json!(""),
        json!(null),
        json!(1),
        json!("whatever comes"),
    ] {
        assert_eq!(
            good(&json!({"access_token": "v^1.1#x", "token_type": kind}))
                .access
                .expose(),
            "v^1.1#x"
        );
    }
    assert!(read(200, "", r#"{"access_token":"a"}"#).is_ok());
    for kind in [
        json!("DPoP"),
        json!("dpop"),
        json!("mac"),
        json!("MAC"),
        json!(" PoP "),
        json!("bearer mac"),
        json!("http-mac"),
        json!(["Bearer", "DPoP"]),
    ] {
        let body = json!({"access_token": "a", "token_type": kind});
        let refused = read(200, "application/json", &body.to_string()).unwrap_err();
        assert!(matches!(refused, OAuthError::Answer(_)), "{kind}");
    }
}

#[test]
fn lifetimes_of_both_tokens_are_read_under_every_name() {
    for (said, expected, refresh) in [
        // eBay
        (
            json!({"expires_in": 7200, "refresh_token_expires_in": 47_304_000}),
            Some(Lifetime::For(7_200_000)),
            Some(Lifetime::For(47_304_000_000)),
        ),
        // QuickBooks
        (
            json!({"expires_in": 3600, "x_refresh_token_expires_in": 8_726_400}),
            Some(Lifetime::For(3_600_000)),
            Some(Lifetime::For(8_726_400_000)),
        ),
        // Keycloak: an offline token has no end.
        (
            json!({"expires_in": 300, "refresh_expires_in": 0}),
            Some(Lifetime::For(300_000)),
            None,
        ),
        // TikTok
        (
            json!({"expires_in": 86_400, "refresh_expires_in": 31_536_000}),
            Some(Lifetime::For(86_400_000)),
            Some(Lifetime::For(31_536_000_000)),
        ),
        // Square
        (
            json!({"expires_at": "2023-11-14T23:13:20Z", "refresh_token_expires_at": "2023-11-14T23:13:20Z"}),
            Some(Lifetime::Until(1_700_003_600_000)),
            Some(Lifetime::Until(1_700_003_600_000)),
        ),
        // Squarespace
        (
            json!({"access_token_expires_at": "1700003600.5", "refresh_token_expires_at": "1700003600"}),
            Some(Lifetime::Until(1_700_003_600_500)),
            Some(Lifetime::Until(1_700_003_600_000)),
        ),
        // Strava
        (
            json!({"expires_at": 1_700_003_600, "expires_in": 21_600}),
            Some(Lifetime::For(21_600_000)),
            None,
        ),
        // Azure AD v1
        (
            json!({"expires_in": 0, "expires_on": "1700003600"}),
            Some(Lifetime::Until(1_700_003_600_000)),
            None,
        ),
        // Mailchimp
        (json!({"expires_in": 0, "scope": null}), None, None),
        (json!({}), None, None),
    ] {
        let mut body = said.clone();
        body["access_token"] = json!("a");
        let tokens = good(&body);
        assert_eq!(tokens.lifetime, expected, "{said}");
        assert_eq!(tokens.refresh_lifetime, refresh, "{said}");
    }
}

#[test]
fn scopes_are_granted_as_the_answer_says() {
    for (said, expected) in [
        (
            json!({"scope": ["read", "write"]}),
            Some(vec!["read", "write"]),
        ),
        (json!({"scope": ["read"]}), Some(vec!["read"])),
        (json!({"scope": ""}), Some(vec![])),
        (json!({"scope": []}), Some(vec![])),
        (json!({"scope": " "}), Some(vec![])),
        (json!({"scope": "read write"}), Some(vec!["read", "write"])),
        (
            json!({"scope": "read,write,read"}),
            Some(vec!["read", "write"]),
        ),
        (json!({"scope": "read\nwrite"}), Some(vec!["read", "write"])),
        (json!({"scopes": ["read"]}), Some(vec!["read"])),
        (json!({"scope": null}), None),
        (json!({"scope": {"read": true}}), None),
        (json!({}), None),
    ] {
        let mut body = said.clone();
        body["access_token"] = json!("a");
        let expected = expected.map(|scopes| scopes.into_iter().map(str::to_owned).collect());
        assert_eq!(good(&body).scopes, expected, "{said}");
    }
}

#[test]
fn a_token_is_read_where_the_manifest_says_and_with_what_belongs_to_it() {
    let slack = json!({
        "ok": true, "access_token": "bot", "refresh_token": "bot-r", "expires_in": 1, "scope": "chat:write",
        "token_type": "bot",
        "authed_user": {"id": "U1", "access_token": "user", "scope": "search:read", "token_type": "user"},
    });
    let user = json!({"access_token": "/authed_user/access_token"});
    let either = json!({"access_token": ["/access_token", "/authed_user/access_token"]});
    let read = |places: &Value, refresh: bool, body: &Value| {
        let came = read_by(places, refresh, 200, "application/json", &body.to_string());
        came.map(|tokens| {
            let refresh = tokens.refresh.map(|token| token.expose().to_owned());
            (tokens.access.expose().to_owned(), refresh, tokens.scopes)
        })
    };
    let scopes = |scope: &str| Some(vec![scope.to_owned()]);
    // The bot's refresh token is not the user's.
    let (access, refresh, granted) = read(&user, false, &slack).unwrap();
    assert_eq!(
        (access.as_str(), refresh, granted),
        ("user", None, scopes("search:read"))
    );
    let (access, refresh, granted) = read(&either, false, &slack).unwrap();
    let bot = Some("bot-r".to_owned());
    assert_eq!(
        (access.as_str(), refresh, granted),
        ("bot", bot.clone(), scopes("chat:write"))
    );
    // An installation without a bot, and one without a user.
    let only =
        json!({"ok": true, "authed_user": {"access_token": "user", "refresh_token": "user-r"}});
    let own = Some("user-r".to_owned());
    assert_eq!(
        read(&either, false, &only).unwrap(),
        ("user".to_owned(), own, None)
    );
    let mut none = slack.clone();
    none["authed_user"] = json!({"id": "U1"});
    assert!(matches!(
        read(&user, false, &none),
        Err(OAuthError::Refused(_))
    ));
    // The response of a refresh belongs to the token that was sent.
    let renewed = json!({"ok": true, "access_token": "user-2", "refresh_token": "user-r2", "token_type": "user"});
    let declared = json!({"access_token": "/authed_user/access_token", "refresh_token": "/authed_user/refresh_token"});
    for places in [&user, &declared] {
        let (access, refresh, _) = read(places, true, &renewed).unwrap();
        assert_eq!(
            (access.as_str(), refresh.as_deref()),
            ("user-2", Some("user-r2"))
        );
        assert!(read(places, false, &renewed).is_err());
    }
    let listed = json!({"code": 0, "data": [{"access_token": "a", "user_id": "7"}], "life": 60, "granted": "x"});
    let places =
        json!({"access_token": "/data/0/access_token", "expires_in": "/life", "scope": "/granted"});
    let tokens = read_by(&places, false, 200, "", &listed.to_string()).unwrap();
    assert_eq!(tokens.lifetime, Some(Lifetime::For(60_000)));
    assert_eq!((tokens.access.expose(), tokens.scopes), ("a", scopes("x")));
}

#[test]
fn an_answer_without_a_token_is_a_refusal_and_an_outage_is_not() {
    let kind = |status, body| match read(status, "application/json", body).unwrap_err() {
        OAuthError::Refused(_) => "refused",
        OAuthError::Client(_) => "client",
        OAuthError::Busy(_) => "busy",
        OAuthError::Answer(_) => "answer",
        other => panic!("{other}"),
    };
    for (status, body, expected) in [
        (400, r#"{"error":"invalid_grant"}"#, "refused"),
        (200, r#"{"ok":false,"error":"invalid_code"}"#, "refused"),
        (401, r#"{"error":"invalid_client"}"#, "client"),
        (400, "<html>", "refused"),
        (400, "", "refused"),
        (403, "{}", "refused"),
        (404, "[]", "refused"),
        (422, "null", "refused"),
        (200, "<html>", "refused"),
        (200, "{}", "refused"),
        (204, "", "refused"),
        (200, r#"{"access_token":""}"#, "refused"),
        (200, r#"{"access_token":7}"#, "refused"),
        // A token in an error response is ignored.
        (400, r#"{"access_token":"a"}"#, "refused"),
        (503, r#"{"error":"invalid_grant"}"#, "busy"),
        (429, "", "busy"),
        (502, "<html>", "busy"),
        (302, "", "answer"),
        (200, "{\"access_token\":\"a\\nb\"}", "answer"),
    ] {
        assert_eq!(kind(status, body), expected, "{status} {body}");
    }
    let form = read(200, "application/x-www-form-urlencoded", "error=bad_code");
    assert_eq!(
        form.unwrap_err().to_string(),
        "the provider refused: bad_code"
    );
}

#[test]
fn nothing_of_a_credential_is_kept_in_clear() {
    let access = "ya29.A0tok7f3a9c1e5b2d8064xyz";
    let reversed: String = access.chars().rev().collect();
    for value in [
        access.to_owned(),
        format!("a-{access}"),
        access[4..].to_owned(),
        access[..12].to_owned(),
        STANDARD.encode(access),
        reversed,
        "second-9f8e7d6c5b4a".to_owned(),
        "nested-1a2b3c4d5e6f".to_owned(),
    ] {
        let body = json!({
            "access_token": access, "instance_url": value, "scope": format!("read {value}"),
            "session_key": "second-9f8e7d6c5b4a", "secrets": {"list": ["nested-1a2b3c4d5e6f"]},
        });
        let tokens = good(&body);
        assert_eq!(tokens.read[0], None, "{value}");
        assert_eq!(tokens.scopes.unwrap(), ["read"], "{value}");
        // Nor where a manifest names a credential as the scopes.
        let places = json!({"scope": "/session_key"});
        let tokens = read_by(&places, false, 200, "", &body.to_string()).unwrap();
        assert_eq!(tokens.scopes.unwrap(), [""; 0], "{value}");
    }
}

#[test]
fn a_token_has_a_largest_size() {
    let body = |bytes: usize| format!(r#"{{"access_token":"{}"}}"#, "a".repeat(bytes));
    assert!(read(200, "application/json", &body(TOKEN_BYTES_MAX)).is_ok());
    assert!(read(200, "application/json", &body(TOKEN_BYTES_MAX + 1)).is_err());
}
