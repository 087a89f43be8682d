//! A planted token, the forms in which it may not be found, and a service that repeats it.

use axum::body::Body;
use axum::http::Response;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use futures_util::stream;
use serde_json::{Value, json};
use toolgate_tests::upstream::{Received, Upstream};

/// Planted as the user's token.
pub const BAIT: &str = "bait~9f4c/1d27+b80e5a63-Zq7Lw2Xk";
/// Said beside it, and no secret: the search has to find this.
pub const DECOY: &str = "decoy-5be1a1ff40c2";

/// A secret as it is, percent-encoded, and what base64 makes of it at each alignment.
pub fn forms(secret: &str) -> Vec<String> {
    let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let url = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let mut forms = vec![secret.to_owned(), percent, url];
    for before in 0..3 {
        let text = STANDARD_NO_PAD.encode([&vec![0; before], secret.as_bytes()].concat());
        // The first and last letters depend on the neighbours.
        forms.push(text[(before * 4).div_ceil(3)..text.len() - 1].to_owned());
    }
    forms
}

/// A service that answers with the credential it was sent, under both of its names.
pub async fn echo() -> Upstream {
    Upstream::start(answer).await
}

fn answer(request: &Received) -> Response<Body> {
    let sent = format!("{} {:?}", request.target, request.headers);
    let wanted = request.target.split(['/', '?']).find(|part| {
        [
            "echo", "encoded", "chunks", "redirect", "within", "leaking", "refuse",
        ]
        .contains(part)
    });
    let plain = |status: u16| Response::builder().status(status).header("x-says", DECOY);
    let done = match wanted {
        Some("encoded") => {
            let percent: String = sent.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let said = json!({
                "decoy": DECOY, "base64": STANDARD.encode(BAIT), "within": STANDARD.encode(&sent),
                "percent": percent, "form": forms(BAIT)[2], "bait": BAIT.to_uppercase(),
            });
            plain(200).body(Body::from(said.to_string()))
        }
        // A byte at a time, each flushed.
        Some("chunks") => {
            let said = format!("{DECOY} {sent} {}", STANDARD.encode(BAIT)).into_bytes();
            let bytes = said
                .into_iter()
                .map(|byte| Ok::<_, std::io::Error>(vec![byte]));
            plain(200).body(Body::from_stream(stream::iter(bytes)))
        }
        Some("redirect") => plain(302)
            .header("location", "https://elsewhere.hunter.test/echo")
            .body(Body::empty()),
        Some("within") => plain(307).header("location", "/echo").body(Body::empty()),
        Some("leaking") => plain(302)
            .header(
                "location",
                format!("https://elsewhere.hunter.test/echo?took={}", forms(BAIT)[2]),
            )
            .body(Body::empty()),
        Some("refuse") => plain(500).body(Body::from(format!("{DECOY} {sent} failed"))),
        _ => plain(200)
            .header("x-echo", BAIT)
            .header("x-basic", STANDARD.encode(format!("ada:{BAIT}")))
            .body(Body::from(format!("{DECOY} {sent}"))),
    };
    done.expect("a plain answer")
}

/// The arguments of a hunt for the decoy and for every form of the bait.
pub fn hunt(path: &str, second_door: bool) -> Value {
    let masked = |text: &String| -> String {
        text.bytes()
            .map(|byte| format!("{:02x}", byte ^ 0x5a))
            .collect()
    };
    let prey: Vec<String> = std::iter::once(DECOY.to_owned())
        .chain(forms(BAIT))
        .map(|text| masked(&text))
        .collect();
    json!({"path": path, "second_door": second_door, "prey": prey})
}
