//! What is kept of the bodies of a call.

use super::*;
use crate::payload::{BODY_BYTES_MAX, Payload, PayloadSide};

async fn kept(request_body: impl Into<Bytes>, answer_body: &'static str) -> Vec<Payload> {
    let upstream = Upstream::start(move |_, _| plain(200, &[], answer_body)).await;
    let egress = egress(vec![upstream.as_host(API)], &[]);
    let scope = scope(TestConnection::bearer()).with_payload_capture();
    let request = GuestRequest {
        body: request_body.into(),
        ..post("/issues", "")
    };
    egress.send(&scope, request).await.expect("an answer");
    let mut payloads = scope.payloads();
    payloads.sort_by_key(|payload| payload.side);
    payloads
}

#[tokio::test]
async fn both_halves_of_an_exchange_are_kept_under_one_number() {
    let payloads = kept("{\"a\":1}", "hello").await;
    let found: Vec<_> = payloads
        .iter()
        .map(|one| (one.number, one.side, one.bytes_total, &one.content[..]))
        .collect();
    assert_eq!(
        found,
        [
            (1, PayloadSide::Request, 7, &b"{\"a\":1}"[..]),
            (1, PayloadSide::Answer, 5, &b"hello"[..]),
        ]
    );
}

#[tokio::test]
async fn of_a_body_the_beginning_is_kept_and_its_size_is_told() {
    for (sent, kept_bytes) in [
        (BODY_BYTES_MAX, BODY_BYTES_MAX),
        (BODY_BYTES_MAX + 1, BODY_BYTES_MAX),
    ] {
        let request = &kept("x".repeat(sent), "").await[0];
        assert_eq!(
            (request.bytes_total, request.content.len()),
            (sent, kept_bytes)
        );
    }
}
