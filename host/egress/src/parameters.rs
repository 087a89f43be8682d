//! A connection's parameters in the URLs of a plugin.
//!
//! Pure. Refuses every value that could be more than the label, segment or origin that it fills. The
//! tests are beside the policy that decides the filled URL.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::grant::label_value;
use super::target::{Refusal, parse, split};

/// Unreserved characters stay as they are (RFC 3986, section 2.3).
const NOT_UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Fills `{parameter}` in host and path. In a host a value is (part of) one label; in a path it is
/// percent-encoded as one segment; as the whole front of the URL (`{instance_url}/path`) it is an
/// https origin, which is then decided like any other. A value can therefore never move the
/// border between host and path.
pub fn fill(text: &str, parameters: &BTreeMap<String, String>) -> Result<String, Refusal> {
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let (mut front, behind) = text.split_at(end);
    if !front.contains('{') {
        return Ok(text.to_owned());
    }
    let mut filled = String::with_capacity(text.len());
    if let Some((key, rest)) = front
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'))
    {
        filled.push_str(&base_value(key, parameters)?);
        if !(rest.is_empty() || rest.starts_with('/')) {
            return Err(Refusal::Malformed);
        }
        front = rest;
    } else {
        let (_, authority) = split(front).ok_or(Refusal::Malformed)?;
        let start = front.find("://").map_or(0, |at| at + 3);
        filled.push_str(&front[..start]);
        filled.push_str(&replace(authority, parameters, |key, value| {
            value
                .and_then(label_value)
                .ok_or_else(|| Refusal::Parameter(key.to_owned()))
        })?);
        front = &front[start + authority.len()..];
    }
    filled.push_str(&replace(front, parameters, |key, value| match value {
        // Braces that name no parameter are the plugin's own text.
        None => Ok(format!("%7B{key}%7D")),
        Some(value) if value.bytes().all(|b| b == b'.') => Err(Refusal::Parameter(key.to_owned())),
        Some(value) => Ok(utf8_percent_encode(value, NOT_UNRESERVED).to_string()),
    })?);
    filled.push_str(behind);
    Ok(filled)
}

/// A parameter that holds a whole base address, as an origin without a trailing slash.
fn base_value(key: &str, parameters: &BTreeMap<String, String>) -> Result<String, Refusal> {
    let refused = || Refusal::Parameter(key.to_owned());
    let value = parameters.get(key).ok_or_else(refused)?;
    let target = parse(value, &[]).map_err(|_| refused())?;
    if target.url.path() != "/" || target.url.query().is_some() || value.contains('#') {
        return Err(refused());
    }
    Ok(target.origin.to_string())
}

fn replace(
    text: &str,
    parameters: &BTreeMap<String, String>,
    value_of: impl Fn(&str, Option<&str>) -> Result<String, Refusal>,
) -> Result<String, Refusal> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((key, behind)) = after.split_once('}') else {
            break;
        };
        out.push_str(before);
        out.push_str(&value_of(key, parameters.get(key).map(String::as_str))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}
