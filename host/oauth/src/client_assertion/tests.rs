use super::*;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

const NOW_S: i64 = 1_795_167_030;
const CLIENT: &str = "https://chatgpt.com/oauth/abc/client.json";

struct SigningClient {
    pair: EcdsaKeyPair,
    key: Value,
}

fn signing_client() -> SigningClient {
    toolgate_vault::jwt::install();
    let (how, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
    let document = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(how, document.as_ref(), &random).unwrap();
    let point = pair.public_key().as_ref();
    let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let key = json!({
        "kty": "EC", "crv": "P-256", "kid": "k", "alg": "ES256", "use": "sig",
        "x": part(&point[1..33]), "y": part(&point[33..]),
    });
    SigningClient { pair, key }
}

impl SigningClient {
    fn signed(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(header), part(claims));
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes());
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.unwrap()))
    }

    fn judged(
        &self,
        header: &Value,
        claims: &Value,
    ) -> Result<ProvenAssertion, BadClientAssertion> {
        let keys = serde_json::from_value(json!({ "keys": [self.key] })).unwrap();
        let own = ["https://gate.test/oauth", "https://gate.test/oauth/token"].map(String::from);
        verified(
            &self.signed(header, claims),
            &keys,
            CLIENT,
            &own,
            NOW_S * 1_000,
        )
    }
}

fn header() -> Value {
    json!({ "alg": "ES256", "kid": "k", "typ": "JWT" })
}

fn changed(name: &str, value: Value) -> Value {
    let mut claims = json!({
        "iss": CLIENT, "sub": CLIENT, "aud": "https://gate.test/oauth/token", "jti": "j-1", "iat": NOW_S,
        "exp": NOW_S + 300,
    });
    match value {
        Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
        value => claims[name] = value,
    }
    claims
}

#[test]
fn a_client_proves_itself_with_its_own_key_for_this_server() {
    let client = signing_client();
    let proven = client.judged(&header(), &changed("", Value::Null)).unwrap();
    assert_eq!(proven.id, "j-1");
    assert_eq!(proven.over_at_ms, (NOW_S + 300 + LEEWAY_S) * 1_000);
    for (name, value) in [
        ("aud", json!("https://gate.test/oauth")),
        ("aud", json!(["https://gate.test/oauth"])),
        ("iat", Value::Null),
        ("exp", json!(NOW_S as f64 + 59.5)),
        ("exp", json!(NOW_S - LEEWAY_S + 1)),
        ("nbf", json!(NOW_S + LEEWAY_S)),
        ("exp", json!(NOW_S + LIFE_S_MAX)),
    ] {
        let judged = client.judged(&header(), &changed(name, value.clone()));
        assert!(judged.is_ok(), "{name} {value}: {judged:?}");
    }
    let mut plain = header();
    plain
        .as_object_mut()
        .unwrap()
        .retain(|name, _| name == "alg");
    assert!(client.judged(&plain, &changed("", Value::Null)).is_ok());
    let assertion = client.signed(&header(), &changed("", Value::Null));
    assert_eq!(named_client(&assertion).as_deref(), Ok(CLIENT));
}

#[test]
fn an_assertion_for_another_client_server_or_time_proves_nothing() {
    let client = signing_client();
    use BadClientAssertion as Bad;
    for (name, value, problem) in [
        ("iss", json!("https://evil.test/client.json"), Bad::Client),
        ("sub", json!("https://evil.test/client.json"), Bad::Client),
        ("iss", Value::Null, Bad::Claims),
        ("sub", Value::Null, Bad::Claims),
        ("jti", Value::Null, Bad::Claims),
        ("jti", json!(""), Bad::Claims),
        ("jti", json!("j".repeat(501)), Bad::Claims),
        ("exp", Value::Null, Bad::Claims),
        ("exp", json!("soon"), Bad::Claims),
        ("exp", json!(-1), Bad::Claims),
        ("exp", json!(1e300), Bad::Claims),
        ("aud", Value::Null, Bad::Claims),
        ("aud", json!("https://evil.test/oauth"), Bad::Audience),
        ("aud", json!("https://gate.test/oauth/"), Bad::Audience),
        ("aud", json!([]), Bad::Audience),
        (
            "aud",
            json!(["https://gate.test/oauth", "https://evil.test"]),
            Bad::Audience,
        ),
        ("exp", json!(NOW_S - LEEWAY_S), Bad::Expired),
        ("exp", json!(NOW_S + LIFE_S_MAX + 1), Bad::LongLived),
        ("nbf", json!(NOW_S + LEEWAY_S + 1), Bad::NotYetValid),
        ("iat", json!(NOW_S + LEEWAY_S + 1), Bad::NotYetValid),
    ] {
        let judged = client.judged(&header(), &changed(name, value.clone()));
        assert_eq!(judged, Err(problem), "{name} {value}");
    }
    let good = changed("", Value::Null);
    for (name, value, problem) in [
        ("alg", json!("none"), Bad::Algorithm),
        ("alg", json!("HS256"), Bad::Algorithm),
        ("alg", json!(7), Bad::Algorithm),
        ("alg", json!("RS256"), Bad::Signature),
        ("kid", json!("other"), Bad::Signature),
        ("crit", json!(["exp"]), Bad::Critical),
    ] {
        let mut header = header();
        header[name] = value;
        assert_eq!(client.judged(&header, &good), Err(problem), "{header}");
    }
    let stranger = SigningClient {
        key: client.key.clone(),
        ..signing_client()
    };
    assert_eq!(stranger.judged(&header(), &good), Err(Bad::Signature));
    let keys = JwkSet { keys: Vec::new() };
    let long = "a".repeat(BYTES_MAX + 1);
    for text in ["", "a", "a.b", "a.b.c", "..", &long] {
        let judged = verified(text, &keys, CLIENT, &[], NOW_S * 1_000);
        assert_eq!(judged, Err(Bad::Malformed), "{text}");
        assert!(named_client(text).is_err(), "{text}");
    }
}
