//! AWS Signature Version 4 over a finished request.
//!
//! Pure but for the time, which comes in. Signs what will be on the wire, host included, so it runs
//! after every other placement and after the address is settled. The secret key itself never leaves.

use std::collections::BTreeMap;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
    UriPathNormalizationMode,
};
use aws_sigv4::sign::v4::SigningParams;
use http::header::{HeaderName, HeaderValue};

use super::Injection;
use super::inject::{self, Draft, InjectRefusal};
use toolgate_catalog::manifest::{AwsSigv4, Placement};

/// The field of a temporary key whose value is sent beside the signature, as a header.
pub(super) const SESSION_TOKEN_FIELD: &str = "session_token";

/// Signs `draft` where the slot says so. Returns the signature, for the scrubber.
pub fn sign(
    draft: &mut Draft,
    injection: &Injection,
    parameters: &BTreeMap<String, String>,
    now: SystemTime,
) -> Result<Option<String>, InjectRefusal> {
    let placed = injection
        .placements
        .iter()
        .find_map(|placement| match placement {
            Placement::AwsSigv4 { aws_sigv4 } => Some(aws_sigv4),
            _ => None,
        });
    placed
        .map(|placed| sign_as(placed, draft, injection, parameters, now))
        .transpose()
}

fn sign_as(
    placed: &AwsSigv4,
    draft: &mut Draft,
    injection: &Injection,
    parameters: &BTreeMap<String, String>,
    now: SystemTime,
) -> Result<String, InjectRefusal> {
    let field = |key: &str| {
        injection
            .values
            .get(key)
            .map(|secret| secret.expose().to_owned())
    };
    let required = |key: &str| field(key).ok_or_else(|| InjectRefusal::Field(key.to_owned()));
    let identity = Credentials::new(
        required("access_key_id")?,
        required("secret_access_key")?,
        field(SESSION_TOKEN_FIELD),
        None,
        "connection",
    )
    .into();
    let region = inject::filled(&placed.region, injection, parameters)?;
    let refused = |_| InjectRefusal::Signature;
    let params = SigningParams::builder()
        .identity(&identity)
        .region(&region)
        .name(&placed.service)
        .time(now)
        .settings(settings(&placed.service))
        .build()
        .map_err(|_| InjectRefusal::Signature)?
        .into();
    let headers: Vec<(&str, &str)> = draft
        .headers
        .iter()
        .map(|(name, value)| value.to_str().map(|value| (name.as_str(), value)))
        .collect::<Result<_, _>>()
        .map_err(|_| InjectRefusal::Signature)?;
    let request = SignableRequest::new(
        draft.method.as_str(),
        draft.url.as_str(),
        headers.into_iter(),
        SignableBody::Bytes(&draft.body),
    )
    .map_err(refused)?;
    let (instructions, signature) = aws_sigv4::http_request::sign(request, &params)
        .map_err(refused)?
        .into_parts();
    for (name, value) in instructions.headers() {
        let refused = || InjectRefusal::Header(name.to_owned());
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
        value.set_sensitive(true);
        draft.headers.insert(key, value);
    }
    Ok(signature)
}

/// S3 signs the path as it is sent and wants the body's digest; all others sign it encoded once more.
fn settings(service: &str) -> SigningSettings {
    let mut settings = SigningSettings::default();
    if service == "s3" {
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    settings
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use bytes::Bytes;
    use http::header::HeaderMap;
    use serde_json::json;
    use url::Url;

    use super::*;
    use toolgate_vault::Secret;

    fn draft(url: &str) -> Draft {
        Draft {
            method: http::Method::GET,
            url: Url::parse(url).expect("a URL"),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    fn injection(placement: serde_json::Value, values: &[(&str, &str)]) -> Injection {
        Injection {
            slot: "aws".into(),
            generation: 1,
            placements: serde_json::from_value(json!([placement])).expect("a placement"),
            values: values
                .iter()
                .map(|(k, v)| ((*k).to_owned(), Secret::new(*v)))
                .collect(),
            audience: vec![],
        }
    }

    const KEYS: [(&str, &str); 2] = [
        ("access_key_id", "AKIDEXAMPLE"),
        (
            "secret_access_key",
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        ),
    ];

    #[test]
    fn the_published_vanilla_request_gets_its_published_signature() {
        // "get-vanilla" of the AWS Signature Version 4 test suite, 20150830T123600Z.
        let mut draft = draft("https://example.amazonaws.com/");
        let placement = json!({ "aws_sigv4": { "service": "service", "region": "{region}" } });
        let parameters = BTreeMap::from([("region".to_owned(), "us-east-1".to_owned())]);
        let now = UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        let signature =
            sign(&mut draft, &injection(placement, &KEYS), &parameters, now).expect("signed");
        assert_eq!(
            signature.as_deref(),
            Some("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
        );
        assert_eq!(
            draft.headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
        assert_eq!(draft.headers["x-amz-date"], "20150830T123600Z");
        assert!(
            !format!("{:?}", draft.headers).contains("Signature"),
            "prints as sensitive"
        );
    }

    /// A request of the AWS Signature Version 4 test suite, and what the suite publishes for it where the body's digest
    /// is no header of its own.
    struct PublishedCase {
        name: &'static str,
        method: http::Method,
        url: &'static str,
        header: Option<(&'static str, &'static str)>,
        body: &'static str,
        session_token: Option<&'static str>,
        signed_headers: &'static str,
        signature: &'static str,
    }

    const SESSION_TOKEN: &str = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

    fn published_cases() -> Vec<PublishedCase> {
        let vanilla = || PublishedCase {
            name: "post-vanilla",
            method: http::Method::POST,
            url: "https://example.amazonaws.com/",
            header: None,
            body: "",
            session_token: None,
            signed_headers: "host;x-amz-date",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        };
        vec![
            vanilla(),
            PublishedCase {
                name: "post-x-www-form-urlencoded",
                header: Some(("content-type", "application/x-www-form-urlencoded")),
                body: "Param1=value1",
                signed_headers: "content-type;host;x-amz-date",
                signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
                ..vanilla()
            },
            PublishedCase {
                name: "post-header-key-sort",
                header: Some(("my-header1", "value1")),
                signed_headers: "host;my-header1;x-amz-date",
                signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
                ..vanilla()
            },
            PublishedCase {
                name: "get-vanilla-query-order-key-case",
                method: http::Method::GET,
                url: "https://example.amazonaws.com/?Param2=value2&Param1=value1",
                signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
                ..vanilla()
            },
            PublishedCase {
                name: "get-vanilla-query-order-encoded",
                method: http::Method::GET,
                url: "https://example.amazonaws.com/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
                signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac",
                ..vanilla()
            },
            PublishedCase {
                name: "post-sts-header-before",
                session_token: Some(SESSION_TOKEN),
                signed_headers: "host;x-amz-date;x-amz-security-token",
                signature: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
                ..vanilla()
            },
        ]
    }

    #[test]
    fn requests_of_the_published_suite_get_their_published_signatures() {
        let placement = json!({ "aws_sigv4": { "service": "service", "region": "us-east-1" } });
        let now = UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        for case in published_cases() {
            let mut draft = draft(case.url);
            draft.method = case.method;
            draft.body = Bytes::from_static(case.body.as_bytes());
            if let Some((name, value)) = case.header {
                draft.headers.insert(name, HeaderValue::from_static(value));
            }
            let mut values = KEYS.to_vec();
            values.extend(case.session_token.map(|token| (SESSION_TOKEN_FIELD, token)));
            let injection = injection(placement.clone(), &values);
            let signature = sign(&mut draft, &injection, &BTreeMap::new(), now);
            let published = Ok(Some(case.signature.to_owned()));
            assert_eq!(signature, published, "{}", case.name);
            let expected = format!(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                 SignedHeaders={}, Signature={}",
                case.signed_headers, case.signature
            );
            assert_eq!(draft.headers["authorization"], expected, "{}", case.name);
            let token = draft.headers.get("x-amz-security-token");
            let token = token.map(|value| value.to_str().expect("text"));
            assert_eq!(token, case.session_token, "{}", case.name);
        }
    }

    #[test]
    fn body_target_service_and_region_are_part_of_the_signature() {
        let signature = |service: &str, region: &str, target: &'static str, body: &'static str| {
            let mut draft = draft("https://sqs.eu-west-1.amazonaws.com/");
            draft.method = http::Method::POST;
            draft.body = Bytes::from_static(body.as_bytes());
            let target = HeaderValue::from_static(target);
            draft.headers.insert("x-amz-target", target);
            let placement = json!({ "aws_sigv4": { "service": service, "region": region } });
            let injection = injection(placement, &KEYS);
            let signature = sign(&mut draft, &injection, &BTreeMap::new(), UNIX_EPOCH);
            assert!(!draft.headers.contains_key("x-amz-content-sha256"));
            signature.expect("signed").expect("a signature")
        };
        let own = signature("sqs", "eu-west-1", "AmazonSQS.ListQueues", "{}");
        for other in [
            signature("sns", "eu-west-1", "AmazonSQS.ListQueues", "{}"),
            signature("sqs", "us-east-1", "AmazonSQS.ListQueues", "{}"),
            signature("sqs", "eu-west-1", "AmazonSQS.DeleteQueue", "{}"),
            signature("sqs", "eu-west-1", "AmazonSQS.ListQueues", "[]"),
        ] {
            assert_ne!(own, other);
        }
    }

    #[test]
    fn a_temporary_key_sends_its_session_token_and_s3_its_digest() {
        let mut draft = draft("https://bucket.s3.amazonaws.com/a%20b");
        let mut values = KEYS.to_vec();
        values.push(("session_token", "temporary"));
        let placement = json!({ "aws_sigv4": { "service": "s3", "region": "us-east-1" } });
        sign(
            &mut draft,
            &injection(placement, &values),
            &BTreeMap::new(),
            UNIX_EPOCH,
        )
        .expect("signed");
        assert_eq!(draft.headers["x-amz-security-token"], "temporary");
        assert!(draft.headers.contains_key("x-amz-content-sha256"));
    }

    #[test]
    fn a_missing_key_is_named_and_other_placements_sign_nothing() {
        let placement = json!({ "aws_sigv4": { "service": "s3", "region": "us-east-1" } });
        let missing = sign(
            &mut draft("https://a.test/"),
            &injection(placement, &KEYS[..1]),
            &BTreeMap::new(),
            UNIX_EPOCH,
        );
        assert_eq!(
            missing,
            Err(InjectRefusal::Field("secret_access_key".into()))
        );
        let other = injection(json!({ "header": "x-key" }), &[("secret", "x")]);
        let mut draft = draft("https://a.test/");
        assert_eq!(
            sign(&mut draft, &other, &BTreeMap::new(), UNIX_EPOCH),
            Ok(None)
        );
        assert!(draft.headers.is_empty());
    }
}
