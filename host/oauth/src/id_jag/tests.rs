use super::*;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

const NOW_S: i64 = 1_795_167_030;
const EXPECTED: ExpectedAssertion<'_> = ExpectedAssertion {
    issuer: "https://id.test",
    audience: "https://gate.test/oauth",
    client_id: "the-client",
    resource: "https://gate.test/mcp",
    now_ms: NOW_S * 1_000,
};

struct AssertingIssuer {
    pair: EcdsaKeyPair,
    key: Value,
}

fn issuer() -> AssertingIssuer {
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
    AssertingIssuer { pair, key }
}

impl AssertingIssuer {
    fn keys(&self) -> JwkSet {
        serde_json::from_value(json!({ "keys": [self.key] })).unwrap()
    }

    fn signed(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(header), part(claims));
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes());
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.unwrap()))
    }
}

fn header_value() -> Value {
    json!({ "alg": "ES256", "kid": "k", "typ": TYPE })
}

fn claims() -> Value {
    json!({
        "iss": "https://id.test", "sub": "7", "aud": "https://gate.test/oauth", "client_id": "the-client",
        "resource": "https://gate.test/mcp", "scope": "tools:read", "jti": "j-1",
        "iat": NOW_S, "exp": NOW_S + 300, "email": "ada@example.com", "aud_tenant": "acme",
    })
}

#[test]
fn an_assertion_of_the_issuer_for_this_server_client_and_resource_is_believed() {
    let issuer = issuer();
    let read = |changed: &[(&str, Value)]| {
        let mut claims = claims();
        for (name, value) in changed {
            claims[*name] = value.clone();
        }
        let assertion = issuer.signed(&header_value(), &claims);
        assert_eq!(named_issuer(&assertion).unwrap(), "https://id.test");
        verified(&assertion, &issuer.keys(), &EXPECTED)
    };
    let claims = read(&[]).unwrap();
    assert_eq!((claims.subject.as_str(), claims.id.as_str()), ("7", "j-1"));
    assert_eq!(claims.email.as_deref(), Some("ada@example.com"));
    assert_eq!(claims.tenant.as_deref(), Some("acme"));
    assert_eq!(claims.scope.as_deref(), Some("tools:read"));
    assert_eq!(claims.over_at_ms, (NOW_S + 300 + LEEWAY_S) * 1_000);
    for allowed in [
        ("aud", json!(["https://gate.test/oauth"])),
        (
            "resource",
            json!(["https://gate.test/mcp", "https://other.test"]),
        ),
        ("exp", json!(NOW_S - LEEWAY_S + 1)),
        ("iat", json!(NOW_S + LEEWAY_S)),
        ("act", json!({ "sub": "agent" })),
    ] {
        assert!(read(std::slice::from_ref(&allowed)).is_ok(), "{allowed:?}");
    }
    let unproven = read(&[("email_verified", json!(false))]).unwrap();
    assert_eq!(unproven.email, None);
}

#[test]
fn every_other_assertion_is_refused_for_its_reason() {
    let (issuer, other) = (issuer(), self::issuer());
    let refused = |assertion: &str, reason: BadAssertion| {
        let read = verified(assertion, &issuer.keys(), &EXPECTED);
        assert_eq!(read.unwrap_err(), reason, "{assertion}");
    };
    use BadAssertion as Bad;
    for (name, value, reason) in [
        ("iss", json!("https://evil.test"), Bad::Issuer),
        ("aud", json!("https://gate.test/mcp"), Bad::Audience),
        (
            "aud",
            json!(["https://gate.test/oauth", "https://other.test"]),
            Bad::Audience,
        ),
        ("aud", json!([]), Bad::Audience),
        ("client_id", json!("another"), Bad::Client),
        ("resource", json!("https://gate.test/"), Bad::Resource),
        ("resource", json!([]), Bad::Resource),
        ("exp", json!(NOW_S - LEEWAY_S), Bad::Expired),
        ("exp", json!(NOW_S + LIFE_S_MAX + 1), Bad::LongLived),
        ("exp", json!("never"), Bad::Claims),
        ("iat", json!(NOW_S + LEEWAY_S + 1), Bad::NotYetValid),
        ("nbf", json!(NOW_S + LEEWAY_S + 1), Bad::NotYetValid),
        ("jti", json!(""), Bad::Claims),
        ("jti", json!("j".repeat(ID_BYTES_MAX + 1)), Bad::Claims),
        ("sub", json!(""), Bad::Claims),
        ("cnf", json!({ "jkt": "x" }), Bad::Bound),
        ("authorization_details", json!([]), Bad::Bound),
    ] {
        let mut claims = claims();
        claims[name] = value;
        refused(&issuer.signed(&header_value(), &claims), reason);
    }
    for name in ["iss", "sub", "aud", "client_id", "jti", "exp", "iat"] {
        let mut claims = claims();
        claims.as_object_mut().unwrap().remove(name);
        refused(&issuer.signed(&header_value(), &claims), Bad::Claims);
    }
    for (name, value, reason) in [
        ("typ", json!("JWT"), Bad::Type),
        ("typ", json!("at+jwt"), Bad::Type),
        ("typ", Value::Null, Bad::Type),
        ("alg", json!("none"), Bad::Algorithm),
        ("alg", json!("HS256"), Bad::Algorithm),
        ("alg", json!("ES999"), Bad::Algorithm),
        ("alg", json!("RS256"), Bad::Signature),
        ("kid", json!("unknown"), Bad::Signature),
        ("crit", json!(["b64"]), Bad::Bound),
    ] {
        let mut header = header_value();
        header[name] = value;
        refused(&issuer.signed(&header, &claims()), reason);
    }
    refused(&other.signed(&header_value(), &claims()), Bad::Signature);
    let unsigned = issuer.signed(&header_value(), &claims());
    let unsigned = unsigned.rsplit_once('.').unwrap().0;
    refused(&format!("{unsigned}."), Bad::Signature);
    refused("a.b.c", Bad::Malformed);
    assert_eq!(named_issuer("a.b"), Err(Bad::Malformed));
}

#[test]
fn a_key_that_is_not_for_signing_or_for_another_algorithm_proves_nothing() {
    let mut issuer = issuer();
    let assertion = issuer.signed(&header_value(), &claims());
    for (name, value) in [("use", json!("enc")), ("alg", json!("ES384"))] {
        let before = issuer.key[name].clone();
        issuer.key[name] = value;
        let read = verified(&assertion, &issuer.keys(), &EXPECTED);
        assert_eq!(read.unwrap_err(), BadAssertion::Signature, "{name}");
        issuer.key[name] = before;
    }
    assert!(verified(&assertion, &issuer.keys(), &EXPECTED).is_ok());
}
