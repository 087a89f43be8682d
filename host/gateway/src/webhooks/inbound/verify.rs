//! Whether a delivery comes from the provider: its signature, its time, its id.
//!
//! Pure. What is signed and where it is, the manifest says ([`HookSignature`]); the method
//! is always HMAC-SHA256 (RFC 2104), compared in constant time. A time outside the window is
//! refused, so that a delivery that somebody kept cannot be sent again later; inside the window its
//! id keeps it from being taken twice.

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use toolgate_catalog::manifest::{HookSignature, HookSpec, HookTimestamp, HookValue};
use toolgate_vault::Secret;

/// How far a provider's clock and ours may be apart, and how long a delivery may be under way.
pub const WINDOW_S: i64 = 300;
/// Signatures of one header that are looked at.
const SIGNATURES_MAX: usize = 8;
const NAME_CHARS_MAX: usize = 120;

/// Why a delivery is refused. Never says what the right signature would have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForgedDelivery {
    #[error("the header with the signature is missing")]
    NoSignature,
    #[error("the signature does not match")]
    BadSignature,
    #[error("the time of the signature is missing or not a number")]
    NoTime,
    #[error("the time of the signature is more than {WINDOW_S} s away")]
    OutsideWindow,
}

/// Verifies one delivery and answers what names it, so that it is taken once.
pub fn verify(
    spec: &HookSpec,
    secret: &Secret,
    headers: &HeaderMap,
    body: &[u8],
    now_ms: i64,
) -> Result<String, ForgedDelivery> {
    let signature = &spec.signature;
    let written = header(headers, &signature.header).ok_or(ForgedDelivery::NoSignature)?;
    let time = match &signature.timestamp {
        None => None,
        Some(place) => Some(time(place, written, headers)?),
    };
    let content = content(
        signature,
        time.map(|(text, _)| text).unwrap_or_default(),
        body,
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes())
        .map_err(|_| ForgedDelivery::BadSignature)?;
    mac.update(&content);
    let mut signatures = signatures(signature, written);
    if !signatures.any(|digits| mac.clone().verify_slice(&digits).is_ok()) {
        return Err(ForgedDelivery::BadSignature);
    }
    if let Some((_, at_s)) = time
        && (now_ms.div_euclid(1_000) - at_s).abs() > WINDOW_S
    {
        return Err(ForgedDelivery::OutsideWindow);
    }
    // Only what is signed may name it: with a header somebody could send the same again as new.
    let named = spec.delivery.as_deref().and_then(|at| text_at(at, body));
    Ok(
        match named.filter(|id| (1..=NAME_CHARS_MAX).contains(&id.len())) {
            Some(id) => format!("id {id}"),
            None => format!("sha256 {}", hex::encode(Sha256::digest(&content))),
        },
    )
}

fn time<'a>(
    place: &HookTimestamp,
    written: &'a str,
    headers: &'a HeaderMap,
) -> Result<(&'a str, i64), ForgedDelivery> {
    let text = match place {
        HookTimestamp::Header(name) => header(headers, name),
        HookTimestamp::Element(name) => elements(written, name).next(),
    };
    let text = text.ok_or(ForgedDelivery::NoTime)?;
    let digits = (1..=12).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let at_s = text.parse().ok().filter(|_| digits);
    Ok((text, at_s.ok_or(ForgedDelivery::NoTime)?))
}

/// The bytes that are signed: the template with its two places filled.
fn content(signature: &HookSignature, time: &str, body: &[u8]) -> Vec<u8> {
    let (before, after) = signature
        .signed
        .split_once("{body}")
        .unwrap_or((&signature.signed, ""));
    let mut content = before.replace("{timestamp}", time).into_bytes();
    content.extend_from_slice(body);
    content.extend_from_slice(after.replace("{timestamp}", time).as_bytes());
    content
}

fn signatures<'a>(
    signature: &'a HookSignature,
    written: &'a str,
) -> impl Iterator<Item = Vec<u8>> + 'a {
    let texts: Vec<&str> = match &signature.element {
        Some(name) => elements(written, name).take(SIGNATURES_MAX).collect(),
        None => vec![written.trim()],
    };
    texts
        .into_iter()
        .filter_map(|text| unhex(text.strip_prefix(signature.prefix.as_str())?))
}

/// The values of `name` in `name=value,other=value`.
fn elements<'a>(written: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    written
        .split(',')
        .filter_map(|element| element.trim().split_once('='))
        .filter(move |(key, _)| *key == name)
        .map(|(_, value)| value)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(
        digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect(),
    )
}

/// A header that is there once.
pub(super) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let (value, None) = (values.next()?, values.next()) else {
        return None;
    };
    value.to_str().ok()
}

/// What the manifest points at, as text.
pub(super) fn value(place: &HookValue, headers: &HeaderMap, body: &[u8]) -> Option<String> {
    match place {
        HookValue::Header(name) => header(headers, name).map(str::to_owned),
        HookValue::Body(pointer) => text_at(pointer, body),
    }
}

/// A text or number of a JSON body.
pub(super) fn text_at(pointer: &str, body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    match body.pointer(pointer)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW_S: i64 = 1_531_420_618;

    fn spec(signature: Value) -> HookSpec {
        serde_json::from_value(json!({ "signature": signature })).unwrap()
    }

    fn github() -> HookSpec {
        spec(json!({"header": "x-hub-signature-256", "prefix": "sha256=", "signed": "{body}"}))
    }

    fn slack() -> HookSpec {
        spec(json!({
            "header": "x-slack-signature", "prefix": "v0=", "signed": "v0:{timestamp}:{body}",
            "timestamp": {"header": "x-slack-request-timestamp"},
        }))
    }

    fn stripe() -> HookSpec {
        spec(json!({
            "header": "stripe-signature", "element": "v1", "signed": "{timestamp}.{body}",
            "timestamp": {"element": "t"},
        }))
    }

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (http::HeaderName::from_static(name), value.parse().unwrap())
        };
        all.iter().map(pair).collect()
    }

    fn check(
        spec: &HookSpec,
        secret: &str,
        all: &[(&'static str, &str)],
        body: &str,
        at_s: i64,
    ) -> Result<(), ForgedDelivery> {
        let secret = Secret::new(secret);
        verify(spec, &secret, &headers(all), body.as_bytes(), at_s * 1_000).map(drop)
    }

    /// The values of GitHub's page "Validating webhook deliveries".
    #[test]
    fn the_vector_that_github_publishes_is_met() {
        let good = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let secret = "It's a Secret to Everybody";
        let at = |signature: &str, body: &str| {
            check(
                &github(),
                secret,
                &[("x-hub-signature-256", signature)],
                body,
                NOW_S,
            )
        };
        assert_eq!(at(good, "Hello, World!"), Ok(()));
        assert_eq!(at(good, "Hello, World?"), Err(ForgedDelivery::BadSignature));
        assert_eq!(
            at(&good.replace("sha256=", ""), "Hello, World!"),
            Err(ForgedDelivery::BadSignature)
        );
        assert_eq!(
            at("sha256=", "Hello, World!"),
            Err(ForgedDelivery::BadSignature)
        );
        assert_eq!(
            at("sha256=zz", "Hello, World!"),
            Err(ForgedDelivery::BadSignature)
        );
        assert_eq!(
            at(&good[..good.len() - 2], "Hello, World!"),
            Err(ForgedDelivery::BadSignature)
        );
        assert_eq!(
            check(&github(), secret, &[], "Hello, World!", NOW_S),
            Err(ForgedDelivery::NoSignature)
        );
        let twice = [("x-hub-signature-256", good), ("x-hub-signature-256", good)];
        let mut both = headers(&twice[..1]);
        both.append("x-hub-signature-256", good.parse().unwrap());
        let refused = verify(&github(), &Secret::new(secret), &both, b"Hello, World!", 0);
        assert_eq!(refused, Err(ForgedDelivery::NoSignature));
    }

    /// The values of Slack's page "Verifying requests from Slack".
    #[test]
    fn the_vector_that_slack_publishes_is_met_inside_the_window_only() {
        let body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
        let good = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
        let secret = "8f742231b10e8888abcd99yyyzzz85a5";
        let at = |time: &str, at_s| {
            let all = [
                ("x-slack-signature", good),
                ("x-slack-request-timestamp", time),
            ];
            check(&slack(), secret, &all, body, at_s)
        };
        let time = "1531420618";
        assert_eq!(at(time, NOW_S), Ok(()));
        assert_eq!(at(time, NOW_S + WINDOW_S), Ok(()));
        assert_eq!(
            at(time, NOW_S + WINDOW_S + 1),
            Err(ForgedDelivery::OutsideWindow)
        );
        assert_eq!(
            at(time, NOW_S - WINDOW_S - 1),
            Err(ForgedDelivery::OutsideWindow)
        );
        assert_eq!(at("1531420619", NOW_S), Err(ForgedDelivery::BadSignature));
        assert_eq!(at("soon", NOW_S), Err(ForgedDelivery::NoTime));
        let untimed = check(
            &slack(),
            secret,
            &[("x-slack-signature", good)],
            body,
            NOW_S,
        );
        assert_eq!(untimed, Err(ForgedDelivery::NoTime));
    }

    #[test]
    fn one_good_signature_of_several_is_enough_for_stripe() {
        let (secret, body) = ("whsec_test", r#"{"id":"evt_1"}"#);
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(format!("{NOW_S}.{body}").as_bytes());
        let good = hex::encode(mac.finalize().into_bytes());
        let bad = "0".repeat(64);
        for (written, expected) in [
            (format!("t={NOW_S},v1={good}"), Ok(())),
            (format!("t={NOW_S},v1={bad},v1={good},v0={bad}"), Ok(())),
            (
                format!("t={NOW_S},v1={bad}"),
                Err(ForgedDelivery::BadSignature),
            ),
            (
                format!("t={NOW_S},v0={good}"),
                Err(ForgedDelivery::BadSignature),
            ),
            (format!("v1={good}"), Err(ForgedDelivery::NoTime)),
            (
                format!("t={},v1={good}", NOW_S + 1),
                Err(ForgedDelivery::BadSignature),
            ),
        ] {
            let all = [("stripe-signature", written.as_str())];
            assert_eq!(
                check(&stripe(), secret, &all, body, NOW_S),
                expected,
                "{written}"
            );
        }
    }

    #[test]
    fn what_is_signed_names_the_delivery() {
        let secret = Secret::new("s");
        let signed = |body: &str| {
            let mut mac = Hmac::<Sha256>::new_from_slice(b"s").unwrap();
            mac.update(body.as_bytes());
            let written = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
            let all = headers(&[("x-hub-signature-256", &written)]);
            verify(&github(), &secret, &all, body.as_bytes(), 0).unwrap()
        };
        assert_eq!(signed("a"), signed("a"));
        assert_ne!(signed("a"), signed("b"));
        assert!(signed("a").starts_with("sha256 "));
    }
}
