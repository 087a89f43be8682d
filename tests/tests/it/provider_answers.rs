//! Answers as services send them, through the whole gateway: pages of a proxy, charsets, moments to wait for, names of
//! files. The plugin has a key, so that each answer is searched for it.

use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::upstream::{Received, Upstream};

use crate::described::built;

const KEY: &str = "key-of-the-provider-0123456789";

/// An answer: status, headers, body.
#[derive(Clone)]
pub(crate) struct Given {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

pub(crate) fn given(
    status: u16,
    headers: &[(&'static str, &str)],
    body: impl Into<Vec<u8>>,
) -> Given {
    let headers = headers
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    Given {
        status,
        headers: headers.collect(),
        body: body.into(),
    }
}

/// The service: `get_thing` and `make_thing`, which speak JSON, `get_file`, and `put_file`.
fn document() -> Value {
    let answers = json!({ "200": { "description": "ok", "content": { "application/json": {} } } });
    let file = json!({ "200": { "description": "ok", "content": { "application/pdf": { "schema": { "type": "string", "format": "binary" } } } } });
    let multipart = json!({ "content": { "multipart/form-data": { "schema": { "type": "object", "properties": {
        "file": { "type": "string", "format": "binary" } } } } } });
    let body = json!({ "content": { "application/json": { "schema": { "type": "object", "properties": { "n": { "type": "integer" } } } } } });
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Things", "version": "1.0.0", "description": "A service for tests." },
        "servers": [{ "url": "https://api.goodsvc.com" }],
        "security": [{ "user": [] }],
        "components": { "securitySchemes": { "user": { "type": "apiKey", "in": "header", "name": "x-api-key" } } },
        "x-toolgate": { "service": "things" },
        "paths": {
            "/thing": {
                "get": { "operationId": "get_thing", "summary": "Gets a thing.", "responses": answers },
                "post": { "operationId": "make_thing", "summary": "Makes a thing.", "responses": answers, "requestBody": body },
            },
            "/file": {
                "get": { "operationId": "get_file", "summary": "Gets a file.", "responses": file },
                "post": { "operationId": "put_file", "summary": "Puts a file.", "responses": answers, "requestBody": multipart },
            },
        },
    })
}

/// The gateway with the service, connected, whose next answers are `next`.
pub(crate) async fn start() -> (
    TestGateway,
    Upstream,
    std::sync::Arc<std::sync::Mutex<Given>>,
) {
    start_with(Options::default()).await
}

/// [`start`] with other options; the plugin, its address and the repeat guard are set here.
pub(crate) async fn start_with(
    options: Options,
) -> (
    TestGateway,
    Upstream,
    std::sync::Arc<std::sync::Mutex<Given>>,
) {
    let next = std::sync::Arc::new(std::sync::Mutex::new(given(
        200,
        &[("content-type", "application/json")],
        "{}",
    )));
    let shown = next.clone();
    let upstream = Upstream::start(move |_: &Received| {
        let given = shown.lock().unwrap().clone();
        let mut answer = Response::builder().status(given.status);
        for (name, value) in given.headers {
            answer = answer.header(name, value);
        }
        answer.body(Body::from(given.body)).unwrap()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("things.json");
    std::fs::write(&description, document().to_string()).unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("things.wasm".to_owned(), built(description).await)],
        allow_upstream: vec![format!("api.goodsvc.com={}", upstream.url())],
        no_repeat_guard: true,
        ..options
    })
    .await;
    let asked = json!({ "service": "things" });
    let link = gateway.post("/v1/connections/link", &asked).await.data();
    let url = link["connect_url"].as_str().unwrap();
    let page = crate::connect::submit(&gateway.client, url, &[("f_secret", KEY)]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    (gateway, upstream, next)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_where_json_was_declared_is_an_error_with_its_title() {
    let (gateway, _upstream, next) = start().await;
    for (status, page, title) in [
        (
            200,
            "<html><head><title>Sign in</title></head><body>x</body></html>",
            "Sign in",
        ),
        // Cloudflare's challenge, Okta's sign-in, a captive portal in capitals.
        (
            403,
            "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>",
            "Just a moment...",
        ),
        (
            200,
            "<!doctype html>\n<html lang=\"en\"><head>\n<title>Acme - Sign In</title></head></html>",
            "Acme - Sign In",
        ),
        (
            200,
            "<HTML><HEAD><TITLE>Hotspot &amp; Login</TITLE></HEAD></HTML>",
            "Hotspot & Login",
        ),
    ] {
        for tool in ["things_get_thing", "things_make_thing"] {
            *next.lock().unwrap() = given(status, &[("content-type", "text/html")], page);
            let answer = gateway.execute(tool, json!({})).await;
            assert_eq!(answer["status"], "error", "{tool} {status}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(
                message.contains("HTML page") && message.contains(title),
                "{answer}"
            );
            let fix = answer["error"]["suggested_fix"].to_string();
            assert!(!fix.contains("lacks this right"), "{answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_decoded_by_its_charset_also_where_the_answer_is_searched_for_a_key() {
    let (gateway, _upstream, next) = start().await;
    let utf8 = "{\"a\":\"é\"}".as_bytes();
    let marked = [b"\xef\xbb\xbf".as_slice(), utf8].concat();
    for (kind, body) in [
        (
            "application/json; charset=iso-8859-1",
            b"{\"a\":\"\xe9\"}".as_slice(),
        ),
        ("application/json; charset=none", utf8),
        ("application/json, application/json", utf8),
        ("application/json; charset=utf-8; charset=utf-8", utf8),
        ("application/json;charset=windows-1252", b"{\"a\":\"\xe9\"}"),
        ("application/json; charset=\"UTF8\"", utf8),
        ("application/json", &marked),
    ] {
        *next.lock().unwrap() = given(200, &[("content-type", kind)], body);
        let answer = gateway.execute("things_get_thing", json!({})).await;
        assert_eq!(answer["result"], json!({ "a": "é" }), "{kind}: {answer}");
    }
    // A key that the service repeats in another charset is masked all the same.
    let repeated = format!("{{\"a\":\"\u{e9} {KEY}\"}}");
    let repeated: Vec<u8> = repeated.chars().map(|c| c as u8).collect();
    *next.lock().unwrap() = given(
        200,
        &[("content-type", "application/json; charset=iso-8859-1")],
        repeated,
    );
    let answer = gateway.execute("things_get_thing", json!({})).await;
    assert!(!answer.to_string().contains(KEY), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moment_to_wait_for_is_read_in_every_form_and_bounded() {
    let (gateway, _upstream, next) = start().await;
    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
    let now = || {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
    };
    let date = httpdate(now() + Duration::from_secs(20));
    let in_a_minute = now() + Duration::from_secs(60);
    for (header, least, most) in [
        (date, 10_000, 21_000),
        ("1.5".to_owned(), 1_500, 1_500),
        // GitHub's and Shopify's seconds, a moment as seconds and as milliseconds, the far future.
        ("2.0".to_owned(), 2_000, 2_000),
        (in_a_minute.as_secs().to_string(), 40_000, 60_000),
        (in_a_minute.as_millis().to_string(), 40_000, 60_000),
        ("99999999999".to_owned(), 1, DAY_MS),
    ] {
        *next.lock().unwrap() = given(
            429,
            &[
                ("content-type", "application/json"),
                ("retry-after", &header),
            ],
            "{}",
        );
        let answer = gateway.execute("things_make_thing", json!({})).await;
        assert_eq!(
            answer["reason"], "provider_rate_limited",
            "{header}: {answer}"
        );
        let wait = answer["error"]["retry_after_ms"].as_u64();
        let wait = wait.unwrap_or_else(|| panic!("{header}: {answer}"));
        assert!((least..=most).contains(&wait), "{header}: {wait}");
    }
}

/// A moment as HTTP writes it (RFC 9110, section 5.6.7).
fn httpdate(since_epoch: Duration) -> String {
    let days = since_epoch.as_secs() / 86_400;
    let seconds = since_epoch.as_secs() % 86_400;
    // Days since 0000-03-01, in eras of 400 years (proleptic Gregorian calendar).
    let since_march = days + 719_468;
    let (era, day) = (since_march / 146_097, since_march % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, year) = match month {
        0..=9 => (month + 2, year + era * 400),
        _ => (month - 10, year + era * 400 + 1),
    };
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    format!(
        "{}, {of_month:02} {} {year} {:02}:{:02}:{:02} GMT",
        DAYS[(days % 7) as usize],
        MONTHS[month as usize],
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn files_keep_their_names_both_ways() {
    let (gateway, upstream, next) = start().await;
    let content = "data:application/pdf;name=r%C3%A9sum%C3%A9%20%22q%22.pdf;base64,aGVsbG8=";
    let answer = gateway
        .execute("things_put_file", json!({ "file": content }))
        .await;
    assert_eq!(answer["status"], "success", "{answer}");
    let body = upstream.received().pop().unwrap().body;
    assert!(
        body.contains("filename*=UTF-8''r%C3%A9sum%C3%A9%20%22q%22.pdf"),
        "{body}"
    );
    assert!(
        body.contains("filename=\"r\u{e9}sum\u{e9} %22q%22.pdf\""),
        "{body}"
    );
    for (disposition, name) in [
        (
            "attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf",
            "résumé.pdf",
        ),
        ("attachment; filename=\"plain.pdf\"", "plain.pdf"),
        // Both, as Google Drive and Dropbox send them: the extended one counts.
        (
            "attachment; filename=\"resume.pdf\"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf",
            "résumé.pdf",
        ),
        ("attachment; filename=\"a \\\"b\\\".pdf\"", "a \"b\".pdf"),
    ] {
        *next.lock().unwrap() = given(
            200,
            &[
                ("content-type", "application/pdf"),
                ("content-disposition", disposition),
            ],
            "%PDF-1.4 hello",
        );
        let answer = gateway.execute("things_get_file", json!({})).await;
        assert_eq!(answer["files"][0]["name"], name, "{disposition}: {answer}");
    }
}
