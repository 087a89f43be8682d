//! Writing a credential into a request that has been decided and cleaned.
//!
//! Pure. [`write()`] fills the placements of a slot; it runs after the scan for leaked secrets, on a
//! copy of the request that only the wire sees, and only where the origin is in the slot's audience.
//! [`strip`] takes the same credential out of a redirect's address again. No error says a value.
//! AWS signatures cover the finished request and are in [`super::sigv4`].

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;
use url::form_urlencoded;

use super::Injection;
use super::scrub::SECRET_BYTES_MIN;
use toolgate_catalog::manifest::{BasicTemplate, Placement};

/// What may be unescaped in one path segment (RFC 3986, section 3.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// A request as it will be sent.
#[derive(Clone, Debug)]
pub struct Draft {
    pub method: http::Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why a credential cannot be written. Names fields and places, never values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InjectRefusal {
    #[error("the connection has no value for field `{0}`")]
    Field(String),
    #[error("the credential cannot be written into header `{0}`")]
    Header(String),
    #[error("the credential cannot be written into the URL")]
    Url,
    #[error("the credential goes into the body, which is neither a JSON object nor a form")]
    Body,
    #[error("the request cannot be signed")]
    Signature,
}

/// Fills every placement but signatures. Returns, for the scrubber, the texts that were written and
/// hold a field that `is_secret` but is too short to be searched for by itself.
pub fn write(
    draft: &mut Draft,
    injection: &Injection,
    parameters: &BTreeMap<String, String>,
    is_secret: impl Fn(&str) -> bool,
) -> Result<Vec<String>, InjectRefusal> {
    let hides = |template: &str| {
        injection.values.iter().any(|(field, value)| {
            value.expose().len() < SECRET_BYTES_MIN
                && is_secret(field)
                && template.contains(&format!("{{{field}}}"))
        })
    };
    let mut written = Vec::new();
    for placement in &injection.placements {
        match placement {
            Placement::Header { header, template } => {
                let value = filled(template, injection, parameters)?;
                set_header(&mut draft.headers, header, &value)?;
                written.extend(hides(template).then_some(value));
            }
            Placement::Query { query, template } => {
                let value = filled(template, injection, parameters)?;
                remove_query(&mut draft.url, query);
                draft.url.query_pairs_mut().append_pair(query, &value);
                written.extend(hides(template).then_some(value));
            }
            Placement::Path { path: template } => {
                let prefix = path_prefix(template, injection, parameters)?;
                let path = format!("{prefix}{}", draft.url.path());
                draft.url.set_path(&path);
                // A value must not have been read as a dot segment.
                if draft.url.path() != path {
                    return Err(InjectRefusal::Url);
                }
                written.extend(hides(template).then_some(prefix));
            }
            Placement::Body { body, template } => {
                let value = filled(template, injection, parameters)?;
                set_field(draft, body, &value)?;
                written.extend(hides(template).then_some(value));
            }
            Placement::Basic { basic } => {
                let pair = basic_pair(basic, injection, parameters)?;
                let encoded = STANDARD.encode(&pair);
                set_header(
                    &mut draft.headers,
                    AUTHORIZATION.as_str(),
                    &format!("Basic {encoded}"),
                )?;
                if hides(&basic.username) || hides(&basic.password) {
                    written.extend([pair, encoded]);
                }
            }
            Placement::AwsSigv4 { .. } => {}
        }
    }
    Ok(written)
}

/// Removes what [`write()`] put into a URL, where a redirect repeats it.
pub fn strip(url: &mut Url, injection: &Injection, parameters: &BTreeMap<String, String>) {
    for placement in &injection.placements {
        match placement {
            Placement::Query { query, .. } => remove_query(url, query),
            Placement::Path { path } => {
                let Ok(prefix) = path_prefix(path, injection, parameters) else {
                    continue;
                };
                let rest = url
                    .path()
                    .strip_prefix(&prefix)
                    .filter(|rest| rest.starts_with('/'));
                if let Some(rest) = rest.map(str::to_owned) {
                    url.set_path(&rest);
                }
            }
            _ => {}
        }
    }
}

/// `{name}` filled from the credential's fields, then from the connection's parameters. Other braces
/// stay.
pub fn filled(
    template: &str,
    injection: &Injection,
    parameters: &BTreeMap<String, String>,
) -> Result<String, InjectRefusal> {
    fill(template, injection, parameters, str::to_owned)
}

fn fill(
    template: &str,
    injection: &Injection,
    parameters: &BTreeMap<String, String>,
    encode: impl Fn(&str) -> String,
) -> Result<String, InjectRefusal> {
    let mut out = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((key, behind)) = after.split_once('}') else {
            break;
        };
        let value = injection.values.get(key).map(|secret| secret.expose());
        let value = value.or_else(|| parameters.get(key).map(String::as_str));
        out.push_str(before);
        out.push_str(&encode(
            value.ok_or_else(|| InjectRefusal::Field(key.to_owned()))?,
        ));
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

fn path_prefix(
    template: &str,
    injection: &Injection,
    parameters: &BTreeMap<String, String>,
) -> Result<String, InjectRefusal> {
    let prefix = fill(template, injection, parameters, |value| {
        utf8_percent_encode(value, SEGMENT).to_string()
    })?;
    let prefix = prefix.trim_end_matches('/');
    if !prefix.starts_with('/') || prefix.contains(['?', '#', '\\']) {
        return Err(InjectRefusal::Url);
    }
    Ok(prefix.to_owned())
}

fn basic_pair(
    basic: &BasicTemplate,
    injection: &Injection,
    parameters: &BTreeMap<String, String>,
) -> Result<String, InjectRefusal> {
    let username = filled(&basic.username, injection, parameters)?;
    // A colon would move the border between user and password (RFC 7617, section 2).
    if username.contains(':') {
        return Err(InjectRefusal::Header(AUTHORIZATION.to_string()));
    }
    Ok(format!(
        "{username}:{}",
        filled(&basic.password, injection, parameters)?
    ))
}

fn set_header(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), InjectRefusal> {
    let refused = || InjectRefusal::Header(name.to_owned());
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
    let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
    value.set_sensitive(true);
    headers.insert(parsed, value);
    Ok(())
}

fn remove_query(url: &mut Url, name: &str) {
    if !url.query_pairs().any(|(key, _)| key == name) {
        return;
    }
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(key, _)| key != name)
        .map(|(k, v)| (k.into_owned(), v.into_owned()))
        .collect();
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
}

/// Sets one field of a JSON object or a form; an empty body becomes a form.
fn set_field(draft: &mut Draft, name: &str, value: &str) -> Result<(), InjectRefusal> {
    let kind = draft
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence == "application/json" || essence.ends_with("+json") {
        let mut json: serde_json::Value = match draft.body.is_empty() {
            true => serde_json::Value::Object(serde_json::Map::new()),
            false => serde_json::from_slice(&draft.body).map_err(|_| InjectRefusal::Body)?,
        };
        json.as_object_mut()
            .ok_or(InjectRefusal::Body)?
            .insert(name.to_owned(), value.into());
        draft.body = Bytes::from(json.to_string());
        return Ok(());
    }
    let form = essence == "application/x-www-form-urlencoded";
    if !(form || (draft.body.is_empty() && essence.is_empty())) {
        return Err(InjectRefusal::Body);
    }
    let kept = form_urlencoded::parse(&draft.body).filter(|(key, _)| key != name);
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(kept)
        .append_pair(name, value)
        .finish();
    draft.body = Bytes::from(body);
    draft.headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/x-www-form-urlencoded"),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolgate_vault::Secret;

    fn injection(placements: serde_json::Value, values: &[(&str, &str)]) -> Injection {
        Injection {
            slot: "user".into(),
            generation: 1,
            placements: serde_json::from_value(placements).expect("placements"),
            values: values
                .iter()
                .map(|(k, v)| ((*k).to_owned(), Secret::new(*v)))
                .collect(),
            audience: vec!["https://api.example.com".into()],
        }
    }

    fn draft(url: &str, kind: Option<&'static str>, body: &'static str) -> Draft {
        let mut headers = HeaderMap::new();
        if let Some(kind) = kind {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        Draft {
            method: http::Method::POST,
            url: Url::parse(url).expect("a URL"),
            headers,
            body: Bytes::from_static(body.as_bytes()),
        }
    }

    fn parameters() -> BTreeMap<String, String> {
        BTreeMap::from([("region".to_owned(), "eu".to_owned())])
    }

    #[test]
    fn headers_replace_what_was_there() {
        let mut draft = draft("https://api.example.com/", None, "");
        draft
            .headers
            .append("x-api-key", HeaderValue::from_static("guest"));
        let injection = injection(
            json!([{ "header": "authorization", "template": "Bearer {secret}" }, { "header": "X-Api-Key" }, { "header": "x-region", "template": "{region}" }]),
            &[("secret", "t0ken")],
        );
        let written = write(&mut draft, &injection, &parameters(), |_| true).expect("written");
        assert_eq!(
            written,
            ["Bearer t0ken", "t0ken"],
            "a parameter is not a secret"
        );
        assert_eq!(draft.headers["authorization"], "Bearer t0ken");
        assert_eq!(
            draft
                .headers
                .get_all("x-api-key")
                .iter()
                .collect::<Vec<_>>(),
            ["t0ken"]
        );
        assert!(
            !format!("{:?}", draft.headers).contains("t0ken"),
            "a sensitive value prints nowhere"
        );
    }

    #[test]
    fn urls_get_query_and_path_and_lose_them_again() {
        for (placement, secret, expected) in [
            (
                json!([{ "query": "key" }]),
                "a&b",
                "https://api.example.com/me?q=1&key=a%26b",
            ),
            (
                json!([{ "path": "/bot{secret}" }]),
                "12:AB-c",
                "https://api.example.com/bot12:AB-c/me?key=guest&q=1",
            ),
            (
                json!([{ "path": "/x/{secret}/" }]),
                "a/../b?c",
                "https://api.example.com/x/a%2F..%2Fb%3Fc/me?key=guest&q=1",
            ),
        ] {
            let mut draft = draft("https://api.example.com/me?key=guest&q=1", None, "");
            let injection = injection(placement, &[("secret", secret)]);
            write(&mut draft, &injection, &parameters(), |_| true).expect("written");
            assert_eq!(draft.url.as_str(), expected);
            strip(&mut draft.url, &injection, &parameters());
            assert!(
                !draft.url.as_str().contains("AB") && draft.url.path() == "/me",
                "{}",
                draft.url
            );
        }
        for secret in ["..", "."] {
            let injection = injection(json!([{ "path": "/{secret}" }]), &[("secret", secret)]);
            let mut draft = draft("https://api.example.com/me", None, "");
            assert_eq!(
                write(&mut draft, &injection, &parameters(), |_| true),
                Err(InjectRefusal::Url),
                "{secret}"
            );
        }
    }

    #[test]
    fn bodies_get_a_field_of_json_or_form() {
        for (kind, body, expected) in [
            (
                Some("application/json; charset=utf-8"),
                r#"{"a":1,"token":"guest"}"#,
                Ok(r#"{"a":1,"token":"s&t"}"#),
            ),
            (
                Some("application/vnd.api+json"),
                "",
                Ok(r#"{"token":"s&t"}"#),
            ),
            (
                Some("application/x-www-form-urlencoded"),
                "a=1&token=guest",
                Ok("a=1&token=s%26t"),
            ),
            (None, "", Ok("token=s%26t")),
            (Some("application/json"), "[1]", Err(InjectRefusal::Body)),
            (Some("application/json"), "{", Err(InjectRefusal::Body)),
            (Some("text/plain"), "a", Err(InjectRefusal::Body)),
            (None, "a=1", Err(InjectRefusal::Body)),
        ] {
            let mut draft = draft("https://api.example.com/", kind, body);
            let injection = injection(json!([{ "body": "token" }]), &[("secret", "s&t")]);
            let result = write(&mut draft, &injection, &parameters(), |_| true)
                .map(|_| std::str::from_utf8(&draft.body).expect("text"));
            assert_eq!(result, expected, "{kind:?} {body}");
        }
    }

    #[test]
    fn basic_is_user_colon_password() {
        for (template, values, expected) in [
            (
                json!([{ "basic": {} }]),
                vec![("username", "ann"), ("password", "p:w")],
                Ok("Basic YW5uOnA6dw=="),
            ),
            (
                json!([{ "basic": { "username": "{secret}", "password": "" } }]),
                vec![("secret", "key")],
                Ok("Basic a2V5Og=="),
            ),
            (
                json!([{ "basic": {} }]),
                vec![("username", "a:b"), ("password", "p")],
                Err(InjectRefusal::Header("authorization".into())),
            ),
            (
                json!([{ "basic": {} }]),
                vec![("username", "ann")],
                Err(InjectRefusal::Field("password".into())),
            ),
        ] {
            let mut draft = draft("https://api.example.com/", None, "");
            let result = write(
                &mut draft,
                &injection(template, &values),
                &parameters(),
                |_| true,
            )
            .map(|_| draft.headers["authorization"].to_str().expect("text"));
            assert_eq!(result, expected);
        }
    }

    #[test]
    fn a_secret_that_could_split_a_header_is_refused_without_saying_it() {
        let mut draft = draft("https://api.example.com/", None, "");
        let injection = injection(
            json!([{ "header": "x-key" }]),
            &[("secret", "hunter2\r\nx: y")],
        );
        let refusal = write(&mut draft, &injection, &parameters(), |_| true).expect_err("refused");
        assert!(!format!("{refusal} {refusal:?}").contains("hunter2"));
    }
}
