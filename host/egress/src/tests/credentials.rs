//! Where a credential goes, and that a plugin cannot see or misuse it.

use super::*;

#[tokio::test]
async fn the_provider_gets_the_credential_and_the_receipt_its_slot() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "hello")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection::bearer());
    let mut request = post("/issues?x=1", "{}");
    request
        .headers
        .push(("Authorization".into(), "Bearer of-the-plugin".into()));
    request.headers.push(("Host".into(), "evil.test".into()));
    request
        .headers
        .push(("X-Forwarded-For".into(), "127.0.0.1".into()));
    request.query.push(("y".into(), "2".into()));
    let response = egress.send(&scope, request).await.expect("an answer");
    assert_eq!((response.status, &response.body[..]), (200, &b"hello"[..]));
    assert_eq!(response.url, "https://api.example.com/issues?x=1&y=2");
    let seen = upstream.seen();
    assert_eq!(seen[0].method, "POST");
    assert_eq!(seen[0].target, "/issues?x=1&y=2");
    assert_eq!(seen[0].headers.get_all("authorization").iter().count(), 1);
    assert_eq!(
        seen[0].header("authorization"),
        Some(format!("Bearer {SECRET}").as_str())
    );
    assert_eq!(
        seen[0].header("host"),
        Some(upstream.address.to_string().as_str())
    );
    assert_eq!(seen[0].header("x-forwarded-for"), None);
    assert_eq!(&seen[0].body[..], b"{}");
    let record = &scope.records()[0];
    assert_eq!(
        (
            record.method.as_str(),
            record.host.as_str(),
            record.path.as_str()
        ),
        ("POST", API, "/issues")
    );
    assert_eq!(
        (record.status, record.bytes_out, record.bytes_in),
        (Some(200), 2, 5)
    );
    assert_eq!(record.credential_slot.as_deref(), Some("user"));
}

#[tokio::test]
async fn an_anonymous_request_carries_nothing() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection::bearer());
    egress
        .send(
            &scope,
            GuestRequest {
                credential: CredentialChoice::Anonymous,
                ..get("/")
            },
        )
        .await
        .expect("an answer");
    assert_eq!(upstream.seen()[0].header("authorization"), None);
    assert_eq!(scope.records()[0].credential_slot, None);
}

#[tokio::test]
async fn a_credential_goes_to_its_audience_alone() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "")).await;
    let egress = egress(
        vec![upstream.as_host("other.example.com"), upstream.as_host(API)],
        &[],
    );
    let scope = scope(TestConnection::bearer());
    let elsewhere = || GuestRequest {
        url: "https://other.example.com/".into(),
        ..get("/")
    };
    let failure = egress.send(&scope, elsewhere()).await.expect_err("refused");
    assert_eq!((failure.kind, failure.sent), (FailureKind::Denied, false));
    assert!(upstream.seen().is_empty() && scope.records().is_empty());
    let by_audience = |request| GuestRequest {
        credential: CredentialChoice::ByAudience,
        ..request
    };
    egress
        .send(&scope, by_audience(elsewhere()))
        .await
        .expect("an answer without");
    egress
        .send(&scope, by_audience(get("/")))
        .await
        .expect("an answer with");
    let seen = upstream.seen();
    assert_eq!(seen[0].header("authorization"), None);
    assert!(seen[1].header("authorization").is_some());
}

#[tokio::test]
async fn a_slot_that_is_not_connected_is_said_before_anything_is_sent() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let request = GuestRequest {
        credential: CredentialChoice::Slot("admin".into()),
        ..get("/")
    };
    let failure = egress
        .send(&scope(TestConnection::bearer()), request)
        .await
        .expect_err("not connected");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::AuthRequired, false)
    );
    assert!(upstream.seen().is_empty());
}

#[tokio::test]
async fn a_request_that_holds_a_known_secret_is_blocked() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    for (name, request) in [
        (
            "url",
            GuestRequest {
                query: vec![("q".into(), SECRET.into())],
                ..get("/")
            },
        ),
        (
            "header",
            GuestRequest {
                headers: vec![("x-request-id".into(), format!("a{SECRET}b"))],
                ..get("/")
            },
        ),
        (
            "body",
            GuestRequest {
                body: Bytes::from(format!("[\"{SECRET}\"]")),
                ..post("/", "")
            },
        ),
    ] {
        let scope = scope(TestConnection::bearer());
        let failure = egress.send(&scope, request).await.expect_err(name);
        assert_eq!(
            (failure.kind, failure.sent),
            (FailureKind::LeakBlocked, false),
            "{name}"
        );
        assert!(!failure.message.contains(SECRET));
        assert!(upstream.seen().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_dry_run_shows_slots_and_sends_nothing() {
    for (placement, url, header, body) in [
        (
            serde_json::json!({ "header": "authorization", "template": "Bearer {secret}" }),
            "https://api.example.com/a?b=c",
            Some(("authorization", "Bearer [slot user]")),
            r#"{"n":1}"#,
        ),
        (
            serde_json::json!({ "basic": {} }),
            "https://api.example.com/a?b=c",
            Some(("authorization", "Basic [slot user]")),
            r#"{"n":1}"#,
        ),
        (
            serde_json::json!({ "query": "key" }),
            "https://api.example.com/a?b=c&key=[slot user]",
            None,
            r#"{"n":1}"#,
        ),
        (
            serde_json::json!({ "path": "/bot{secret}" }),
            "https://api.example.com/bot[slot user]/a?b=c",
            None,
            r#"{"n":1}"#,
        ),
        (
            serde_json::json!({ "body": "token" }),
            "https://api.example.com/a?b=c",
            None,
            r#"{"n":1,"token":"[slot user]"}"#,
        ),
    ] {
        let connected = TestConnection {
            placements: serde_json::json!([placement]),
            ..TestConnection::bearer()
        };
        let scope = scope_with(connected, CallLimits::default(), Mode::DryRun);
        let failure = egress(vec![], &[])
            .send(&scope, post("/a?b=c", r#"{"n":1}"#))
            .await
            .expect_err("dry run");
        assert_eq!(
            failure,
            EgressFailure {
                kind: FailureKind::Cancelled,
                message: "dry run".into(),
                sent: false
            }
        );
        let planned = scope.planned();
        assert_eq!(
            (
                planned[0].method.as_str(),
                planned[0].url.as_str(),
                planned[0].body.as_str()
            ),
            ("POST", url, body)
        );
        let found = planned[0]
            .headers
            .iter()
            .find(|(name, _)| name == "authorization");
        assert_eq!(
            found.map(|(name, value)| (name.as_str(), value.as_str())),
            header
        );
        assert!(scope.records().is_empty() && scope.requests_sent() == 0);
    }
    let scope = scope_with(
        TestConnection::bearer(),
        CallLimits::default(),
        Mode::DryRun,
    );
    let evil = GuestRequest {
        url: "https://evil.test/".into(),
        ..get("/")
    };
    let failure = egress(vec![], &[])
        .send(&scope, evil)
        .await
        .expect_err("refused");
    assert_eq!(failure.kind, FailureKind::Denied);
    assert!(scope.planned().is_empty());
}
