//! Guesses of a credential: what is blocked and what is removed must not say which of them are right.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;

/// Three pieces, each with characters that the others lack.
const PIECES: [&str; 3] = ["tok/3n+plant", "3n+plant=ed-", "plant=ed-8801"];

fn counted(connected: TestConnection) -> CallScope {
    scope(connected).knowing(scrub::Scrubber::default().counted_by(Some(Arc::default())))
}

fn anonymous(path: &str) -> GuestRequest {
    GuestRequest {
        url: format!("https://other.example.com{path}"),
        credential: CredentialChoice::Anonymous,
        ..get("/")
    }
}

#[tokio::test]
async fn a_piece_in_a_request_is_sent_and_the_whole_value_is_not() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = counted(TestConnection::bearer());
    for piece in PIECES {
        let sent = egress.send(&scope, post("/", piece)).await;
        assert!(sent.is_ok(), "{piece}: {sent:?}");
    }
    let failure = egress.send(&scope, post("/", SECRET)).await;
    let failure = failure.expect_err("the whole value");
    assert_eq!(failure.kind, FailureKind::LeakBlocked);
    assert_eq!(upstream.seen().len(), PIECES.len());
}

/// A dry run is answered to the agent that wrote its texts, and costs it nothing.
#[tokio::test]
async fn a_plan_shows_pieces_as_they_were_written_and_no_whole_value() {
    let exposure = Arc::new(scrub::Exposure::default());
    let mut scrubber = scrub::Scrubber::default().counted_by(Some(exposure.clone()));
    scrubber.learn([SECRET.as_bytes()]);
    let egress = egress(vec![], &[]);
    let plan = async |text: &str| {
        let connected = TestConnection::bearer();
        let scope = scope_with(connected, CallLimits::default(), Mode::DryRun);
        let scope = scope.knowing(scrubber.clone());
        let request = GuestRequest {
            body: Bytes::from(text.to_owned()),
            ..post(&format!("/?q={text}"), "")
        };
        let failure = egress.send(&scope, request).await.expect_err("a dry run");
        assert_eq!(failure.kind, FailureKind::Cancelled, "{text}");
        (scope.planned().remove(0), scope.plan_is_masked())
    };
    let prefixes = (1..SECRET.len()).map(|end| &SECRET[..end]);
    // An escape before a value may take up to four of its characters along, so that these may be missing.
    let rests = (5..SECRET.len()).map(|start| &SECRET[start..]);
    for piece in prefixes.chain(rests).chain(PIECES) {
        let (planned, masked) = plan(piece).await;
        assert_eq!(planned.url, format!("https://{API}/?q={piece}"));
        assert_eq!((planned.body.as_str(), masked), (piece, false));
    }
    assert!(exposure.is_empty(), "nothing was confirmed");
    let each = |form: fn(u8) -> String| SECRET.bytes().map(form).collect::<String>();
    for whole in [
        SECRET.to_owned(),
        SECRET.to_uppercase(),
        STANDARD.encode(SECRET),
        each(|byte| format!("{byte:02x}")),
        each(|byte| format!("%{byte:02X}")),
    ] {
        let (planned, masked) = plan(&whole).await;
        for text in [&planned.url, &planned.body] {
            assert!(
                text.contains(scrub::REDACTED) && masked,
                "{whole} as {text}"
            );
        }
    }
}

#[tokio::test]
async fn a_blocked_request_uses_up_the_budget() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let limits = CallLimits {
        requests_max: 2,
        ..CallLimits::default()
    };
    let scope = scope_with(TestConnection::bearer(), limits, Mode::Live);
    for expected in [
        FailureKind::LeakBlocked,
        FailureKind::LeakBlocked,
        FailureKind::BudgetExhausted,
    ] {
        let failure = egress.send(&scope, post("/", SECRET)).await;
        assert_eq!(failure.expect_err("a refusal").kind, expected);
    }
    assert!(upstream.seen().is_empty());
}

#[tokio::test]
async fn a_plugin_cannot_ask_for_refused_requests_without_end() {
    let egress = egress(vec![], &[]);
    let limits = CallLimits {
        requests_max: 1,
        ..CallLimits::default()
    };
    let scope = scope_with(TestConnection::bearer(), limits, Mode::Live);
    let refused = GuestRequest {
        url: "https://evil.test/".into(),
        ..get("/")
    };
    let answers = send_all(&egress, &scope, vec![refused; 12]).await;
    let kinds: Vec<FailureKind> = answers
        .into_iter()
        .map(|answer| answer.expect_err("a refusal").kind)
        .collect();
    assert_eq!(kinds[..10], [FailureKind::Denied; 10]);
    assert_eq!(kinds[10..], [FailureKind::BudgetExhausted; 2]);
}

#[tokio::test]
async fn refused_requests_in_a_row_let_other_tasks_run() {
    let egress = egress(vec![], &[]);
    let scope = scope(TestConnection::bearer());
    let refused = GuestRequest {
        url: "https://evil.test/".into(),
        ..get("/")
    };
    let turns = Arc::new(AtomicUsize::new(0));
    let other = tokio::spawn({
        let turns = turns.clone();
        async move {
            loop {
                turns.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        }
    });
    for _ in 0..10 {
        egress
            .send(&scope, refused.clone())
            .await
            .expect_err("a refusal");
    }
    other.abort();
    assert!(turns.load(Ordering::Relaxed) >= 9, "{turns:?}");
}

#[tokio::test]
async fn a_server_outside_the_audience_learns_nothing_from_what_is_removed() {
    let upstream = Upstream::start(|seen, _| match seen.target.as_str() {
        "/whole" => plain(200, &[], format!("a {SECRET} b")),
        _ => plain(200, &[("etag", PIECES[0])], PIECES.join(" ")),
    })
    .await;
    let hosts = vec![upstream.as_host(API), upstream.as_host("other.example.com")];
    let egress = egress(hosts, &[]);
    let scope = counted(TestConnection::bearer());
    // From here on the credential is known.
    let audience = egress.send(&scope, get("/")).await.expect("an answer");
    assert!(!String::from_utf8_lossy(&audience.body).contains("plant"));
    let pieces = egress.send(&scope, anonymous("/")).await;
    let pieces = pieces.expect("an answer");
    assert_eq!(pieces.body, PIECES.join(" ").as_bytes());
    let etag = pieces.headers.iter().find(|(name, _)| name == "etag");
    assert_eq!(etag.map(|(_, value)| value.as_str()), Some(PIECES[0]));
    let whole = egress.send(&scope, anonymous("/whole")).await;
    assert_eq!(
        &whole.expect("an answer").body[..],
        b"a [redacted] b".as_slice()
    );
}

#[tokio::test]
async fn after_three_different_pieces_nothing_more_is_sent() {
    let upstream = Upstream::start(|seen, _| {
        let piece = seen.target.trim_start_matches('/').parse::<usize>();
        let body = match piece {
            Ok(piece) => PIECES[piece].to_owned(),
            // A provider that repeats the whole value confirms nothing.
            Err(_) => format!("{SECRET} {{\"again\": \"{SECRET}\"}}"),
        };
        plain(200, &[], body)
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = counted(TestConnection::bearer());
    for path in ["/whole", "/0", "/0", "/whole", "/1", "/0", "/1", "/2"] {
        let answer = egress.send(&scope, get(path)).await;
        let body = answer.expect(path).body;
        assert!(
            !String::from_utf8_lossy(&body).contains("plant"),
            "{path}: {body:?}"
        );
    }
    let failure = egress.send(&scope, get("/whole")).await;
    let failure = failure.expect_err("the pieces could be put together");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::LeakBlocked, false)
    );
    assert_eq!(upstream.seen().len(), 8);
}

#[tokio::test]
async fn a_moved_token_endpoint_is_refused_as_well() {
    let manifest = serde_json::from_value(serde_json::json!({
        "manifest": 1, "service": "desk", "title": "Desk", "version": "1.0.0", "description": "x", "tools": [],
        "auth": [{
            "slot": "user", "title": "Desk", "type": "oauth2",
            "audience": ["{api_base}"],
            "token_url": "https://desk.example.com/login/oauth/token",
            "authorize_url": "https://desk.example.com/login/oauth/authorize",
            "placement": {"header": "authorization"},
        }],
    }))
    .expect("a manifest");
    let grant = Grant::new(&[], &["https://desk.corp.test/api/v3".to_owned()]).expect("a grant");
    let upstream = Upstream::start(|_, _| plain(200, &[], "")).await;
    let egress = egress(vec![upstream.as_host("desk.corp.test")], &[]);
    let connected = TestConnection {
        audience: vec!["https://desk.corp.test".into()],
        ..TestConnection::bearer()
    };
    let scope = CallScope::new(
        Arc::new(grant),
        BTreeMap::new(),
        Arc::new(connected),
        CallLimits::default(),
        Mode::Live,
    )
    .with_declarations(Declarations::new(Arc::new(manifest)));
    for (path, allowed) in [
        ("/api/v3/tickets", true),
        ("/login/oauth/token", false),
        ("/desk//login/oauth/TOKEN", false),
        ("/login/oauth/token;v=1", false),
    ] {
        let request = GuestRequest {
            url: format!("https://desk.corp.test{path}"),
            ..get("/")
        };
        let sent = egress.send(&scope, request).await;
        assert_eq!(sent.is_ok(), allowed, "{path}: {sent:?}");
    }
}
