//! What is sent twice, and what never is.

use super::*;

#[tokio::test]
async fn a_busy_provider_is_asked_again_where_that_does_no_harm() {
    let with_key = |request| GuestRequest {
        idempotency_key: Some("key-1".into()),
        ..request
    };
    for (name, request, busy, retry_after, attempts, status) in [
        ("get once", get("/"), 1, Some("0"), 2, 200),
        ("get twice", get("/"), 2, Some("0"), 3, 200),
        ("get never better", get("/"), 9, Some("0"), 3, 429),
        ("post", post("/", "{}"), 1, Some("0"), 1, 429),
        (
            "post with key",
            with_key(post("/", "{}")),
            1,
            Some("0"),
            2,
            200,
        ),
        ("no retry-after", get("/"), 1, None, 1, 429),
        (
            "later than the call lives",
            get("/"),
            1,
            Some("3600"),
            1,
            429,
        ),
    ] {
        let upstream = Upstream::start(move |_, number| {
            if number > busy {
                return plain(200, &[], "");
            }
            let headers: Vec<(&str, &str)> = retry_after
                .map(|value| ("retry-after", value))
                .into_iter()
                .collect();
            plain(429, &headers, "slow down")
        })
        .await;
        let egress = egress(vec![upstream.as_host(API)], &[]);
        let scope = scope(TestConnection::bearer());
        let keyed = request.idempotency_key.is_some();
        let response = egress.send(&scope, request).await.expect("an answer");
        assert_eq!(
            (response.status, upstream.seen().len()),
            (status, attempts),
            "{name}"
        );
        assert_eq!(
            (scope.records().len(), scope.requests_sent()),
            (attempts, attempts),
            "{name}"
        );
        assert!(
            upstream
                .seen()
                .iter()
                .all(|seen| seen.header("idempotency-key").is_some() == keyed),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_refused_credential_is_refreshed_once_and_the_request_repeated_once() {
    for (still_refused, attempts, status) in [(false, 2, 200), (true, 2, 401)] {
        let upstream = Upstream::start(move |seen, _| {
            let fresh = seen
                .header("authorization")
                .is_some_and(|value| value.ends_with("-fresh"));
            let value = seen.header("authorization").unwrap_or_default().to_owned();
            plain(if fresh && !still_refused { 200 } else { 401 }, &[], value)
        })
        .await;
        let egress = egress(vec![upstream.as_host(API)], &[]);
        let connected = Arc::new(TestConnection::bearer());
        let grant = Grant::new(&[API.to_owned()], &[]).expect("a grant");
        let credentials: Arc<dyn Credentials> = Arc::<TestConnection>::clone(&connected);
        let scope = CallScope::new(
            Arc::new(grant),
            BTreeMap::new(),
            credentials,
            CallLimits::default(),
            Mode::Live,
        );
        let response = egress
            .send(&scope, post("/", "{}"))
            .await
            .expect("an answer");
        assert_eq!((response.status, upstream.seen().len()), (status, attempts));
        assert_eq!(connected.refreshed.load(Ordering::Relaxed), 1);
        assert_eq!(
            &response.body[..],
            b"Bearer [redacted]",
            "both generations are known"
        );
        assert_eq!(scope.records()[0].status, Some(401));
    }
}

#[tokio::test]
async fn a_credential_that_cannot_be_refreshed_is_not_sent_twice() {
    let upstream = Upstream::start(|_, _| plain(401, &[], "no")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection {
        refreshable: false,
        ..TestConnection::bearer()
    });
    let response = egress.send(&scope, get("/")).await.expect("an answer");
    assert_eq!((response.status, upstream.seen().len()), (401, 1));
}

#[tokio::test]
async fn a_plain_401_asks_for_no_refresh() {
    let upstream = Upstream::start(|_, _| plain(401, &[], "no")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection::bearer());
    let request = GuestRequest {
        credential: CredentialChoice::Anonymous,
        ..get("/")
    };
    assert_eq!(
        egress
            .send(&scope, request)
            .await
            .expect("an answer")
            .status,
        401
    );
    assert_eq!(upstream.seen().len(), 1);
}
