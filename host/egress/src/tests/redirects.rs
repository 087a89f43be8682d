//! Each hop is decided anew.

use super::*;

async fn redirecting(status: u16, location: &'static str) -> Upstream {
    Upstream::start(move |seen, _| {
        if seen.target.starts_with("/from") {
            plain(status, &[("location", location)], "")
        } else {
            plain(200, &[], "there")
        }
    })
    .await
}

#[tokio::test]
async fn the_same_origin_keeps_the_credential_and_another_loses_it() {
    for (location, expected) in [
        ("/to", true),
        ("https://api.example.com/to", true),
        ("https://other.example.com/to", false),
    ] {
        let upstream = redirecting(302, location).await;
        let egress = egress(
            vec![upstream.as_host(API), upstream.as_host("other.example.com")],
            &[],
        );
        let connected = TestConnection {
            audience: vec![
                "https://api.example.com".into(),
                "https://other.example.com".into(),
            ],
            ..TestConnection::bearer()
        };
        let scope = scope(connected);
        let response = egress.send(&scope, get("/from")).await.expect("an answer");
        assert_eq!(&response.body[..], b"there");
        assert!(response.url.ends_with("/to"), "{}", response.url);
        assert_eq!(
            upstream.seen()[1].header("authorization").is_some(),
            expected,
            "{location}"
        );
        let slots: Vec<bool> = scope
            .records()
            .iter()
            .map(|record| record.credential_slot.is_some())
            .collect();
        assert_eq!(slots, [true, expected]);
    }
}

#[tokio::test]
async fn a_redirect_of_an_allowed_upstream_to_its_own_address_means_the_host() {
    let upstream = Upstream::start(|seen, _| match seen.target.as_str() {
        "/from" => {
            let own = format!("http://{}/to?x", seen.header("host").unwrap_or_default());
            plain(307, &[("location", &own)], "")
        }
        _ => plain(200, &[], ""),
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let response = egress
        .send(&scope(TestConnection::bearer()), get("/from"))
        .await
        .expect("an answer");
    assert_eq!(response.url, "https://api.example.com/to?x");
    assert!(upstream.seen()[1].header("authorization").is_some());
}

#[tokio::test]
async fn a_location_below_the_path_of_an_allowed_upstream_means_the_host() {
    let upstream = Upstream::start(|seen, _| match seen.target.as_str() {
        "/api/v3/from" => plain(307, &[("location", "/api/v3/to")], ""),
        "/api/v3/to" => plain(200, &[], "there"),
        _ => plain(404, &[], ""),
    })
    .await;
    let mapping = format!("{API}=http://{}/api/v3", upstream.address);
    let mapping = AllowUpstream::parse(&mapping).expect("a mapping");
    let response = egress(vec![mapping], &[])
        .send(&scope(TestConnection::bearer()), get("/from"))
        .await
        .expect("an answer");
    assert_eq!(response.url, "https://api.example.com/to");
    assert_eq!(&response.body[..], b"there");
}

#[tokio::test]
async fn a_failure_names_the_host_and_not_the_address_of_an_allowed_upstream() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let address = listener.expect("a free port").local_addr();
    let mapping = format!("{API}=http://{}", address.expect("a bound port"));
    let mapping = AllowUpstream::parse(&mapping).expect("a mapping");
    let failure = egress(vec![mapping], &[])
        .send(&scope(TestConnection::bearer()), get("/"))
        .await
        .expect_err("nobody listens");
    assert!(failure.message.contains(API), "{failure}");
    assert!(!failure.message.contains("127.0.0.1"), "{failure}");
}

#[tokio::test]
async fn a_redirect_to_a_place_that_is_not_granted_is_refused() {
    for location in [
        "http://169.254.169.254/latest/meta-data/",
        "https://169.254.169.254/",
        "http://127.0.0.1:1/",
        "https://evil.test/",
        "http://api.example.com/",
        "https://api.example.com:8443/",
        "https://user@api.example.com/",
        "file:///etc/passwd",
        "https://private.example.com/",
    ] {
        let upstream = redirecting(302, location).await;
        let egress = egress(
            vec![upstream.as_host(API)],
            &[("private.example.com", "10.0.0.1")],
        );
        let scope = scope(TestConnection::bearer());
        let failure = egress.send(&scope, get("/from")).await.expect_err(location);
        assert_eq!(
            (failure.kind, failure.sent),
            (FailureKind::Denied, true),
            "{location}: {failure}"
        );
        assert_eq!(scope.records().len(), 1, "{location}");
        assert!(!failure.message.contains("10.0.0.1"), "{failure}");
    }
}

#[tokio::test]
async fn three_redirects_are_followed_and_no_more() {
    for (length, followed) in [(3, true), (4, false)] {
        let upstream = Upstream::start(move |_, number| {
            if number <= length {
                plain(302, &[("location", "/next")], "")
            } else {
                plain(200, &[], "")
            }
        })
        .await;
        let egress = egress(vec![upstream.as_host(API)], &[]);
        let result = egress
            .send(&scope(TestConnection::bearer()), get("/"))
            .await;
        assert_eq!(result.is_ok(), followed, "{length}");
        assert_eq!(upstream.seen().len(), 4);
    }
}

#[tokio::test]
async fn a_body_goes_along_within_the_origin_only() {
    for (status, location, expected) in [
        (307, "/to", Some(("POST", "{}", true))),
        (308, "/to", Some(("POST", "{}", true))),
        (302, "/to", Some(("GET", "", false))),
        (
            303,
            "https://other.example.com/to",
            Some(("GET", "", false)),
        ),
        (307, "https://other.example.com/to", None),
        (308, "https://other.example.com/to", None),
    ] {
        let upstream = redirecting(status, location).await;
        let egress = egress(
            vec![upstream.as_host(API), upstream.as_host("other.example.com")],
            &[],
        );
        let result = egress
            .send(&scope(TestConnection::bearer()), post("/from", "{}"))
            .await;
        assert_eq!(result.is_ok(), expected.is_some(), "{status} {location}");
        let seen = upstream.seen();
        let second = seen.get(1).map(|seen| {
            (
                seen.method.as_str(),
                std::str::from_utf8(&seen.body).expect("text"),
                seen.header("content-type").is_some(),
            )
        });
        assert_eq!(second, expected, "{status} {location}");
    }
}
