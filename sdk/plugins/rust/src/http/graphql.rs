//! GraphQL over HTTP: one document, its variables, and errors that come with status 200.
//!
//! A document is fixed text of the plugin; a caller's values go only into the variables, so that
//! no argument can change the query.

use serde_json::{Value, json};

use super::address::Address;
use super::problem;
use super::request::Client;
use super::response::Response;
use crate::error::{ErrorKind, ToolError};

impl Client<'_> {
    /// Sends a document and answers its `data`. The first of `errors` is the error, whatever the
    /// status; data that comes with errors is dropped.
    pub fn graphql(
        &self,
        address: impl Into<Address>,
        document: &str,
        variables: Value,
    ) -> Result<Value, ToolError> {
        let body = json!({ "query": document, "variables": variables });
        let request = self.post(address).json(&body);
        let map_error = request.error_mapper();
        let response = request.send_any()?;
        if let Some(error) = graphql_error(&response) {
            return Err(error);
        }
        if !response.is_success() {
            return Err(map_error(&response));
        }
        match response.json()?.get_mut("data") {
            Some(data) if !data.is_null() => Ok(data.take()),
            _ => {
                let mut error = map_error(&response);
                let code = error.code.as_deref();
                error.kind = code.and_then(kind_of_code).unwrap_or(ErrorKind::Upstream);
                Err(error)
            }
        }
    }
}

/// The first GraphQL error of an answer (GraphQL specification, section 7.1.2).
fn graphql_error(response: &Response) -> Option<ToolError> {
    let body: Value = serde_json::from_slice(&response.body).ok()?;
    let first = body.get("errors")?.as_array()?.first()?;
    let extensions = &first["extensions"];
    let code = extensions["code"]
        .as_str()
        .or_else(|| extensions["type"].as_str());
    let mut error = problem::from_response(response);
    let message = extensions["userPresentableMessage"]
        .as_str()
        .or_else(|| first["message"].as_str())
        .filter(|text| !text.trim().is_empty());
    if let Some(text) = message {
        error.message = problem::cut(text);
    }
    error.kind = code
        .and_then(kind_of_code)
        .or_else(|| kind_of_status(&extensions["status_code"]))
        .unwrap_or(if response.is_success() {
            ErrorKind::Upstream
        } else {
            error.kind
        });
    error.code = code.map(problem::cut);
    if error.retry_after_ms.is_none() {
        let seconds = extensions["retry_in_seconds"].as_u64();
        error.retry_after_ms = seconds.map(|seconds| seconds.saturating_mul(1000));
    }
    Some(error)
}

/// The kind of a code that several servers use; separators and case do not count.
fn kind_of_code(code: &str) -> Option<ErrorKind> {
    let code: String = code
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    Some(match () {
        () if has(&["ratelimit", "throttled", "complexity", "maxconcurrency"]) => {
            ErrorKind::RateLimited
        }
        () if has(&["unauthenticated", "authenticationerror", "notauthenticated"]) => {
            ErrorKind::AuthExpired
        }
        () if has(&["forbidden", "accessdenied", "unauthorized"]) => ErrorKind::PermissionDenied,
        () if has(&["notfound"]) => ErrorKind::NotFound,
        () if has(&[
            "input",
            "validation",
            "invalid",
            "argument",
            "parseerror",
            "columnvalue",
        ]) =>
        {
            ErrorKind::InvalidArguments
        }
        () => return None,
    })
}

fn kind_of_status(status: &Value) -> Option<ErrorKind> {
    let status = u16::try_from(status.as_u64()?).ok()?;
    (status >= 400).then(|| problem::kind_of_status(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: Value) -> Response {
        Response {
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
            stored: None,
            url: String::new(),
        }
    }

    #[test]
    fn an_error_under_status_200_is_an_error() {
        for (status, error, kind, code) in [
            (
                200,
                json!({ "message": "no", "extensions": { "code": "AUTHENTICATION_ERROR" } }),
                ErrorKind::AuthExpired,
                Some("AUTHENTICATION_ERROR"),
            ),
            (
                200,
                json!({ "message": "no", "extensions": { "code": "UserUnauthorizedException", "status_code": 403 } }),
                ErrorKind::PermissionDenied,
                Some("UserUnauthorizedException"),
            ),
            (
                400,
                json!({ "message": "no", "extensions": { "code": "RATELIMITED" } }),
                ErrorKind::RateLimited,
                Some("RATELIMITED"),
            ),
            (
                200,
                json!({ "message": "no", "extensions": { "code": "ResourceNotFoundException" } }),
                ErrorKind::NotFound,
                Some("ResourceNotFoundException"),
            ),
            (
                200,
                json!({ "message": "no", "extensions": { "type": "invalid input" } }),
                ErrorKind::InvalidArguments,
                Some("invalid input"),
            ),
            (
                200,
                json!({ "message": "no", "extensions": { "code": "X", "status_code": 409 } }),
                ErrorKind::Conflict,
                Some("X"),
            ),
            (200, json!({ "message": "no" }), ErrorKind::Upstream, None),
            (500, json!({ "message": "no" }), ErrorKind::Upstream, None),
        ] {
            let found = graphql_error(&answer(status, json!({ "errors": [error], "data": null })))
                .expect("an error");
            assert_eq!(
                (found.kind, found.code.as_deref(), found.message.as_str()),
                (kind, code, "no"),
                "{error}"
            );
        }
    }

    #[test]
    fn data_alone_is_no_error() {
        for body in [json!({ "data": {} }), json!({ "data": {}, "errors": [] })] {
            assert!(graphql_error(&answer(200, body)).is_none());
        }
    }
}
