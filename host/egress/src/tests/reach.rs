//! Which addresses are dialled.

use super::*;
use crate::DestinationClass;

async fn send_to(egress: &Egress, grant: &Grant, url: &str) -> Result<Response, EgressFailure> {
    let scope = CallScope::new(
        Arc::new(grant.clone()),
        BTreeMap::new(),
        Arc::new(TestConnection::bearer()),
        CallLimits::default(),
        Mode::Live,
    );
    let request = GuestRequest {
        url: url.into(),
        credential: CredentialChoice::Anonymous,
        ..get("/")
    };
    let result = egress.send(&scope, request).await;
    if result.as_ref().is_err_and(|failure| !failure.sent) {
        assert!(scope.records().is_empty(), "{url}");
    }
    result
}

#[tokio::test]
async fn a_public_name_with_a_private_address_is_refused() {
    let grant = Grant::new(&[API.to_owned()], &[]).expect("a grant");
    for address in [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "fd00::1",
    ] {
        let egress = egress(vec![], &[(API, address)]);
        let failure = send_to(&egress, &grant, "https://api.example.com/")
            .await
            .expect_err(address);
        assert_eq!(
            (failure.kind, failure.sent),
            (FailureKind::Denied, false),
            "{address}"
        );
        assert_eq!(
            failure.message,
            "host `api.example.com` has no public address"
        );
    }
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_a_dns_failure() {
    let grant = Grant::new(&[API.to_owned()], &[]).expect("a grant");
    let failure = send_to(&egress(vec![], &[]), &grant, "https://api.example.com/")
        .await
        .expect_err("unknown");
    assert_eq!((failure.kind, failure.sent), (FailureKind::Dns, false));
}

#[tokio::test]
async fn an_origin_that_the_operator_named_may_be_private() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "metrics")).await;
    let port = upstream.address.port();
    let origins = [
        format!("http://127.0.0.1:{port}/base"),
        format!("http://monitor.test:{port}"),
    ];
    let grant = Grant::new(&[], &origins).expect("a grant");
    let egress = egress(
        vec![],
        &[("monitor.test", "127.0.0.1"), ("localhost", "127.0.0.1")],
    );
    for (url, kind) in [
        (format!("http://127.0.0.1:{port}/api"), None),
        (format!("http://monitor.test:{port}/api"), None),
        (
            format!("http://localhost:{port}/api"),
            Some(FailureKind::Denied),
        ),
        (
            format!("https://127.0.0.1:{port}/api"),
            Some(FailureKind::Denied),
        ),
        (
            format!("http://127.0.0.1:{}/api", port ^ 1),
            Some(FailureKind::Denied),
        ),
    ] {
        let result = send_to(&egress, &grant, &url).await;
        assert_eq!(result.err().map(|failure| failure.kind), kind, "{url}");
    }
    assert_eq!(upstream.seen().len(), 2);
}

#[tokio::test]
async fn an_upstream_serves_its_host_within_the_grant_alone() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let none = Grant::default();
    let failure = send_to(&egress, &none, "https://api.example.com/")
        .await
        .expect_err("not granted");
    assert_eq!(failure.kind, FailureKind::Denied);
    assert!(upstream.seen().is_empty());
}

#[tokio::test]
async fn a_closed_port_is_a_connect_failure_without_an_address() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let port = listener.local_addr().expect("a bound port").port();
    drop(listener);
    let egress = egress(
        vec![AllowUpstream::parse(&format!("{API}=http://127.0.0.1:{port}")).expect("a mapping")],
        &[],
    );
    let scope = scope(TestConnection::bearer());
    let failure = egress.send(&scope, get("/")).await.expect_err("closed");
    assert_eq!((failure.kind, failure.sent), (FailureKind::Connect, false));
    assert!(!failure.message.contains(SECRET) && scope.records().is_empty());
}

#[tokio::test]
async fn the_host_itself_obeys_the_same_address_policy() {
    let upstream = Upstream::start(|seen, _| {
        plain(
            302,
            &[("location", "https://evil.test/"), ("set-cookie", "a=b")],
            seen.header("authorization").unwrap_or_default().to_owned(),
        )
    })
    .await;
    let egress = egress(
        vec![upstream.as_host("login.example.com")],
        &[("hooks.example.com", "10.0.0.1")],
    );
    let request = |url: &str, origins: &[String]| HostRequest {
        method: http::Method::POST,
        class: DestinationClass::Webhook,
        url: url.into(),
        headers: vec![
            ("authorization".into(), "Basic own".into()),
            ("host".into(), "evil.test".into()),
        ],
        body: Bytes::from_static(b"grant_type=refresh_token"),
        origins: origins.to_vec(),
        response_bytes_max: 1024,
        timeout: Duration::from_secs(30),
    };
    let answer = egress
        .send_for_host(request("https://login.example.com/token", &[]))
        .await
        .expect("an answer");
    assert_eq!(
        (answer.status, &answer.body[..]),
        (302, &b"Basic own"[..]),
        "redirects come back as they are"
    );
    let own = format!("http://{}", upstream.address);
    for (url, origins, kind) in [
        (
            "https://hooks.example.com/",
            vec![],
            Some(FailureKind::Denied),
        ),
        (
            "https://unknown.example.com/",
            vec![],
            Some(FailureKind::Dns),
        ),
        (
            "http://login.example.com/",
            vec![],
            Some(FailureKind::Denied),
        ),
        ("https://127.0.0.1/", vec![], Some(FailureKind::Denied)),
        (own.as_str(), vec![], Some(FailureKind::Denied)),
        (own.as_str(), vec![own.clone()], None),
    ] {
        let result = egress.send_for_host(request(url, &origins)).await;
        assert_eq!(result.err().map(|failure| failure.kind), kind, "{url}");
    }
}
