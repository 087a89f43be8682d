//! What a hostile provider can tell a plugin: nothing about the credential.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;

fn assert_clean(what: &str, response: &Response) {
    let whole = format!("{response:?} {}", String::from_utf8_lossy(&response.body));
    for form in [
        SECRET.to_owned(),
        STANDARD.encode(SECRET),
        SECRET
            .replace('/', "%2F")
            .replace('+', "%2B")
            .replace('=', "%3D"),
    ] {
        assert!(!whole.contains(&form[..12]), "{what}: {whole}");
    }
}

#[tokio::test]
async fn an_echo_of_the_credential_is_scrubbed_wherever_it_stands() {
    let upstream = Upstream::start(|seen, number| {
        let value = seen.header("authorization").unwrap_or_default().to_owned();
        match number {
            1 => plain(200, &[], value),
            2 => plain(
                200,
                &[
                    ("x-echo", &value),
                    ("www-authenticate", &value),
                    ("authorization", &value),
                ],
                "",
            ),
            3 => plain(200, &[], STANDARD.encode(format!("ab{value}"))),
            4 => plain(
                500,
                &[],
                serde_json::json!({ "error": value })
                    .to_string()
                    .replace('/', "\\/"),
            ),
            // Byte by byte, so that no part of the answer holds the whole.
            5 => {
                let parts: Vec<Result<Bytes, std::io::Error>> = value
                    .bytes()
                    .map(|byte| Ok(Bytes::from(vec![byte])))
                    .collect();
                plain(
                    200,
                    &[],
                    Body::from_stream(futures_util::stream::iter(parts)),
                )
            }
            _ => plain(302, &[("location", &format!("mailto:{value}"))], value),
        }
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection::bearer());
    for what in [
        "body", "headers", "base64", "escaped", "chunked", "location",
    ] {
        match egress.send(&scope, get("/")).await {
            Ok(response) => assert_clean(what, &response),
            Err(failure) => assert!(!failure.message.contains("tok"), "{what}: {failure}"),
        }
    }
    assert_eq!(scope.scrub(&format!("trap: {SECRET}")), "trap: [redacted]");
    assert_eq!(
        &scope.scrub_bytes(Bytes::from(format!("log {SECRET}")))[..],
        b"log [redacted]"
    );
}

#[tokio::test]
async fn no_charset_hides_an_echo_of_the_credential() {
    let upstream = Upstream::start(|seen, _| {
        let value = seen.header("authorization").unwrap_or_default().to_owned();
        let text = format!("{{\"é\":\"{value}\"}}");
        let little = || {
            text.encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<_>>()
        };
        let big = || {
            text.encode_utf16()
                .flat_map(u16::to_be_bytes)
                .collect::<Vec<_>>()
        };
        let (kind, body) = match seen.target.as_str() {
            "/1" => ("text/plain; charset=utf-16le", little()),
            "/2" => ("application/json; charset=utf-16", big()),
            "/3" => (
                "application/json",
                [b"\xfe\xff".as_slice(), &big()].concat(),
            ),
            "/4" => (
                "text/plain; charset=\"iso-2022-jp\"",
                value.clone().into_bytes(),
            ),
            "/5" => ("text/plain; charset=none", value.clone().into_bytes()),
            "/6" => (
                "application/json, application/json",
                text.clone().into_bytes(),
            ),
            _ => ("text/plain; charset=utf-7", value.clone().into_bytes()),
        };
        plain(200, &[("content-type", kind)], body)
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection::bearer());
    for path in ["/1", "/2", "/3", "/4", "/5", "/6"] {
        for as_file in [false, true] {
            let request = GuestRequest {
                as_file,
                ..get(path)
            };
            let mut response = egress.send(&scope, request).await.expect("an answer");
            let kind = response
                .headers
                .iter()
                .find(|(name, _)| name == "content-type");
            if !as_file && path != "/6" {
                let utf8 = kind.is_some_and(|(_, kind)| kind.ends_with("; charset=utf-8"));
                assert!(utf8, "{path}: {kind:?}");
                std::str::from_utf8(&response.body).expect("UTF-8");
            }
            // What is left of UTF-16 reads as text without its zeros.
            let letters = response.body.iter().copied().filter(|byte| *byte != 0);
            response.body = letters.collect::<Vec<u8>>().into();
            assert_clean(path, &response);
        }
    }
    let refused = egress.send(&scope, get("/7")).await.expect_err("refused");
    assert_eq!(refused.kind, FailureKind::Protocol);
}

#[tokio::test]
async fn a_block_page_gives_its_title_and_nothing_else() {
    let upstream = Upstream::start(|seen, _| {
        let value = seen.header("authorization").unwrap_or_default();
        let page = format!("<!DOCTYPE html><title>Attention Required!</title><p>{value}</p>");
        plain(403, &[("content-type", "text/html")], page)
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection::bearer());
    let response = egress.send(&scope, get("/")).await.expect("an answer");
    assert_eq!(
        &response.body[..],
        b"<html><head><title>Attention Required!</title></head></html>"
    );
}

#[tokio::test]
async fn a_basic_credential_is_scrubbed_in_its_encoded_form() {
    let upstream = Upstream::start(|seen, _| {
        plain(
            200,
            &[],
            seen.header("authorization").unwrap_or_default().to_owned(),
        )
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    // Too short to be searched for by itself; what is written is still known.
    let connected = TestConnection {
        placements: serde_json::json!([{ "basic": {} }]),
        values: BTreeMap::from([
            ("username", "ann".to_owned()),
            ("password", "p4ss".to_owned()),
        ]),
        ..TestConnection::bearer()
    };
    let response = egress
        .send(&scope(connected), get("/"))
        .await
        .expect("an answer");
    assert_eq!(&response.body[..], b"Basic [redacted]");
}

#[tokio::test]
async fn secrets_in_query_and_path_show_neither_in_url_nor_receipt() {
    for placement in [
        serde_json::json!([{ "query": "key" }]),
        serde_json::json!([{ "path": "/bot{secret}" }]),
    ] {
        let upstream = Upstream::start(|seen, number| match number {
            1 => plain(302, &[("location", &seen.target.replace("me", "you"))], ""),
            _ => plain(200, &[], seen.target.clone()),
        })
        .await;
        let egress = egress(vec![upstream.as_host(API)], &[]);
        let scope = scope(TestConnection {
            placements: placement,
            ..TestConnection::bearer()
        });
        let response = egress.send(&scope, get("/me")).await.expect("an answer");
        assert_eq!(response.url, "https://api.example.com/you");
        assert_clean("target", &response);
        let paths: Vec<String> = scope
            .records()
            .into_iter()
            .map(|record| record.path)
            .collect();
        assert_eq!(paths, ["/me", "/you"]);
        let seen = upstream.seen();
        assert_eq!(
            seen[0].target.replace("me", "you"),
            seen[1].target,
            "the hop has it once"
        );
    }
}

#[tokio::test]
async fn cookies_and_connection_fields_stay_with_the_host() {
    let upstream = Upstream::start(|_, _| {
        plain(
            200,
            &[
                ("set-cookie", "session=1"),
                ("x-hop", "1"),
                ("connection", "x-hop"),
                ("x-not-declared", "1"),
                ("etag", "1"),
                ("proxy-authenticate", "Basic"),
            ],
            "ok",
        )
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection::bearer());
    let response = egress.send(&scope, get("/")).await.expect("an answer");
    let names: Vec<&str> = response
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["etag", "date"]);
    egress.send(&scope, get("/")).await.expect("an answer");
    assert_eq!(
        upstream.seen()[1].header("cookie"),
        None,
        "no cookie is kept"
    );
}

#[tokio::test]
async fn a_compressed_answer_is_opened_under_the_cap_and_scrubbed() {
    let upstream = Upstream::start(|seen, number| {
        let echo = seen.header("authorization").unwrap_or_default().to_owned();
        let packed = |bytes: &[u8]| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            std::io::Write::write_all(&mut encoder, bytes).expect("memory");
            encoder.finish().expect("memory")
        };
        match number {
            1 => plain(
                200,
                &[("content-encoding", "gzip")],
                packed(echo.as_bytes()),
            ),
            2 => plain(200, &[("content-encoding", "gzip")], packed(&[b'a'; 101])),
            3 => plain(200, &[("content-encoding", "gzip")], "no gzip at all"),
            _ => plain(200, &[("content-encoding", "br")], echo),
        }
    })
    .await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection::bearer());
    let request = || GuestRequest {
        response_bytes_max: 100,
        ..get("/")
    };
    let response = egress.send(&scope, request()).await.expect("an answer");
    assert_eq!(&response.body[..], b"Bearer [redacted]");
    assert!(
        response
            .headers
            .iter()
            .all(|(name, _)| name != "content-encoding")
    );
    for kind in [
        FailureKind::TooLarge,
        FailureKind::Protocol,
        FailureKind::Protocol,
    ] {
        let failure = egress.send(&scope, request()).await.expect_err("refused");
        assert_eq!((failure.kind, failure.sent), (kind, true));
    }
    assert_eq!(
        upstream.seen()[0].header("accept-encoding"),
        Some("identity")
    );
}

#[tokio::test]
async fn nothing_that_is_logged_on_the_way_names_the_credential() {
    let upstream = Upstream::start(|_, _| plain(200, &[], "")).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let log = TraceLog::start();
    for placement in [
        serde_json::json!([{ "header": "authorization", "template": "Bearer {secret}" }]),
        serde_json::json!([{ "path": "/bot{secret}" }]),
        serde_json::json!([{ "query": "key" }]),
        serde_json::json!([{ "basic": { "username": "{secret}", "password": "" } }]),
    ] {
        let scope = scope(TestConnection {
            placements: placement,
            ..TestConnection::bearer()
        });
        egress.send(&scope, get("/me")).await.expect("an answer");
    }
    let text = log.text();
    assert!(
        text.contains("idle connection"),
        "the layers below do log: {text}"
    );
    assert_unplanted(&text);
}
