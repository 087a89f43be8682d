//! Every bound, at it and beyond it.

use super::*;

#[tokio::test]
async fn an_answer_over_the_cap_is_cut_off() {
    let chunked = |size: usize| {
        let parts: Vec<Result<Bytes, std::io::Error>> =
            (0..size).map(|_| Ok(Bytes::from_static(b"a"))).collect();
        plain(
            200,
            &[],
            Body::from_stream(futures_util::stream::iter(parts)),
        )
    };
    let upstream = Upstream::start(move |seen, _| {
        let size = if seen.target.contains("over") {
            101
        } else {
            100
        };
        if seen.target.contains("chunked") {
            chunked(size)
        } else {
            plain(200, &[], vec![b'a'; size])
        }
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    for (path, fits) in [
        ("/sized", true),
        ("/chunked", true),
        ("/sized/over", false),
        ("/chunked/over", false),
    ] {
        let scope = scope(TestConnection::bearer());
        match egress
            .send(
                &scope,
                GuestRequest {
                    response_bytes_max: 100,
                    ..get(path)
                },
            )
            .await
        {
            Ok(response) => assert!(fits && response.body.len() == 100, "{path}"),
            Err(failure) => assert!(
                !fits && failure.kind == FailureKind::TooLarge && failure.sent,
                "{path}: {failure}"
            ),
        }
        assert_eq!(scope.records().len(), 1, "{path}");
    }
    // The call's own cap holds where the request asks for more.
    let limits = CallLimits {
        response_bytes_max: 99,
        ..CallLimits::default()
    };
    let scope = scope_with(TestConnection::bearer(), limits, Mode::Live);
    assert_eq!(
        egress
            .send(&scope, get("/sized"))
            .await
            .expect_err("too large")
            .kind,
        FailureKind::TooLarge
    );
}

#[tokio::test]
async fn a_head_is_answered_whatever_its_length_says() {
    let upstream = Upstream::start(|_, _| plain(200, &[], vec![b'a'; 1000])).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let request = GuestRequest {
        method: http::Method::HEAD,
        response_bytes_max: 10,
        ..get("/")
    };
    let response = egress
        .send(&scope(TestConnection::bearer()), request)
        .await
        .expect("an answer");
    assert!(
        response
            .headers
            .contains(&("content-length".to_owned(), "1000".to_owned()))
    );
}

#[tokio::test]
async fn requests_and_bytes_of_a_call_are_counted() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "12345")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let limits = CallLimits {
        requests_max: 2,
        ..CallLimits::default()
    };
    let scope = scope_with(TestConnection::bearer(), limits, Mode::Live);
    let kinds: Vec<Option<FailureKind>> =
        send_all(&egress, &scope, vec![get("/1"), get("/2"), get("/3")])
            .await
            .into_iter()
            .map(|result| result.err().map(|failure| failure.kind))
            .collect();
    assert_eq!(kinds, [None, None, Some(FailureKind::BudgetExhausted)]);
    assert_eq!((upstream.seen().len(), scope.requests_sent()), (2, 2));

    let limits = CallLimits {
        total_bytes_max: 12,
        ..CallLimits::default()
    };
    let scope = scope_with(TestConnection::bearer(), limits, Mode::Live);
    egress
        .send(&scope, post("/", "{}"))
        .await
        .expect("seven bytes");
    egress.send(&scope, get("/")).await.expect("twelve bytes");
    let failure = egress
        .send(&scope, get("/"))
        .await
        .expect_err("seventeen bytes");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::BudgetExhausted, true)
    );
}

#[tokio::test]
async fn redirects_and_repeats_use_up_the_budget() {
    let upstream = Upstream::start(|_, number| match number {
        1 => plain(302, &[("location", "/next")], ""),
        2 => plain(503, &[("retry-after", "0")], ""),
        _ => plain(200, &[], ""),
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let limits = CallLimits {
        requests_max: 2,
        ..CallLimits::default()
    };
    let scope = scope_with(TestConnection::bearer(), limits, Mode::Live);
    let failure = egress.send(&scope, get("/")).await.expect_err("used up");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::BudgetExhausted, true)
    );
    assert_eq!(upstream.seen().len(), 2);
}

#[tokio::test]
async fn a_provider_that_never_ends_is_left() {
    let upstream = Upstream::start(|_, _| {
        plain(
            200,
            &[],
            Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>()),
        )
    })
    .await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let silent_address = silent.local_addr().expect("a bound port");
    let mapping = AllowUpstream::parse(&format!("other.example.com=http://{silent_address}"))
        .expect("a mapping");
    let egress = egress(vec![upstream.as_host(API), mapping], &[]);
    for url in ["https://api.example.com/", "https://other.example.com/"] {
        let request = || GuestRequest {
            url: url.into(),
            credential: CredentialChoice::Anonymous,
            timeout: Duration::from_millis(50),
            ..get("/")
        };
        let scope_of_request = scope(TestConnection::bearer());
        let failure = egress
            .send(&scope_of_request, request())
            .await
            .expect_err("no end");
        assert_eq!(
            (failure.kind, failure.sent),
            (FailureKind::Timeout, true),
            "{url}"
        );
        assert_eq!(
            scope_of_request.records().len(),
            1,
            "what may have left is in the receipt"
        );
        // The call's time holds where the request asks for more.
        let limits = CallLimits {
            timeout: Duration::from_millis(50),
            ..CallLimits::default()
        };
        let scope = scope_with(TestConnection::bearer(), limits, Mode::Live);
        let longer = GuestRequest {
            timeout: Duration::from_secs(3600),
            ..request()
        };
        assert_eq!(
            egress.send(&scope, longer).await.expect_err("no end").kind,
            FailureKind::Timeout,
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_fan_out_keeps_the_order() {
    let upstream = Upstream::start(|seen, _| plain(200, &[], seen.target.clone())).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let limits = CallLimits {
        concurrency_max: 2,
        ..CallLimits::default()
    };
    let scope = scope_with(TestConnection::bearer(), limits, Mode::Live);
    let requests: Vec<GuestRequest> = (0..9).map(|n| get(&format!("/{n}"))).collect();
    let bodies: Vec<Bytes> = send_all(&egress, &scope, requests)
        .await
        .into_iter()
        .map(|result| result.expect("an answer").body)
        .collect();
    assert_eq!(
        bodies,
        (0..9)
            .map(|n| Bytes::from(format!("/{n}")))
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn a_dry_run_plans_no_more_than_a_call_may_send() {
    let limits = CallLimits {
        requests_max: 2,
        ..CallLimits::default()
    };
    let scope = scope_with(TestConnection::bearer(), limits, Mode::DryRun);
    let egress = egress(vec![], &[]);
    let long = GuestRequest {
        body: Bytes::from(vec![b'a'; plan::PLANNED_BODY_BYTES_MAX + 1]),
        ..post("/", "")
    };
    for (request, kind) in [
        (get("/"), FailureKind::Cancelled),
        (long, FailureKind::Cancelled),
        (get("/"), FailureKind::BudgetExhausted),
    ] {
        assert_eq!(
            egress
                .send(&scope, request)
                .await
                .expect_err("dry run")
                .kind,
            kind
        );
    }
    let bodies: Vec<String> = scope
        .planned()
        .into_iter()
        .map(|planned| planned.body)
        .collect();
    assert_eq!(
        bodies,
        [
            "".to_owned(),
            format!("[{} bytes]", plan::PLANNED_BODY_BYTES_MAX + 1)
        ]
    );
}

#[tokio::test]
async fn what_a_compressed_answer_grows_to_counts() {
    use std::io::Write as _;

    let plain_bytes = 100_000;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&vec![b'a'; plain_bytes]).expect("memory");
    let small = gzip.finish().expect("memory");
    let wire_bytes = small.len() as u64;
    let upstream =
        Upstream::start(move |_, _| plain(200, &[("content-encoding", "gzip")], small.clone()))
            .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let limits = CallLimits {
        total_bytes_max: 2 * plain_bytes as u64,
        ..CallLimits::default()
    };
    let scope = scope_with(TestConnection::bearer(), limits, Mode::Live);
    for _ in 0..2 {
        let response = egress.send(&scope, get("/")).await.expect("within it");
        assert_eq!(response.body.len(), plain_bytes);
    }
    let failure = egress
        .send(&scope, get("/"))
        .await
        .expect_err("three times as much");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::BudgetExhausted, true)
    );
    let received: Vec<u64> = scope.records().iter().map(|one| one.bytes_in).collect();
    assert_eq!(received, [wire_bytes; 3], "the receipt says what came in");
}

#[tokio::test]
async fn a_way_out_that_is_closed_looks_nobody_up() {
    let (looked_up, reported) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(vec![])));
    let (counted, heard) = (Arc::clone(&looked_up), Arc::clone(&reported));
    let upstream = Upstream::start(|_, number| match number {
        1 => plain(200, &[], "here"),
        _ => plain(302, &[("location", "https://other.example.com/")], ""),
    })
    .await;
    let egress = Egress::new(EgressConfig {
        allow_upstreams: vec![upstream.as_host(API)],
        lookup: Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Box::pin(std::future::ready(Ok(vec![IpAddr::from([127, 0, 0, 1])])))
        }),
        only_upstreams: Some(Arc::new(move |host: &str| {
            heard
                .lock()
                .expect("no panic holds it")
                .push(host.to_owned());
        })),
        ..EgressConfig::default()
    })
    .expect("a client");
    let scope = scope(TestConnection::bearer());
    egress.send(&scope, get("/")).await.expect("the upstream");
    let named = GuestRequest {
        url: "https://private.example.com/".into(),
        credential: CredentialChoice::Anonymous,
        ..get("/")
    };
    for request in [get("/moved"), named] {
        let failure = egress.send(&scope, request).await.expect_err("elsewhere");
        assert_eq!(failure.kind, FailureKind::Denied, "{failure}");
    }
    assert_eq!(
        *reported.lock().expect("no panic holds it"),
        ["other.example.com", "private.example.com"]
    );
    assert_eq!(looked_up.load(Ordering::Relaxed), 0);
    assert_eq!(upstream.seen().len(), 2);
}
