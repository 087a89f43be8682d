//! What all requests share: whose storage, and S3's errors.

use toolgate_sdk::http::problem;
use toolgate_sdk::prelude::*;

use crate::xml;

pub fn s3(cx: &Context) -> Result<Client<'_>, ToolError> {
    let own = cx.config::<String>("endpoint")?;
    let base = own.unwrap_or_else(|| "https://s3.{region}.amazonaws.com".to_owned());
    Ok(cx.client(base).errors(problem_of))
}

/// Errors are XML with a code of their own (docs: error responses).
pub fn problem_of(response: &Response) -> ToolError {
    let mut error = problem::from_response(response);
    let body = response.text();
    let code = xml::text(&body, "Code");
    if let Some(text) = xml::text(&body, "Message") {
        error.message = text.chars().take(500).collect();
    }
    error.kind = match code.as_deref() {
        Some("NoSuchKey" | "NoSuchBucket" | "NoSuchVersion" | "NoSuchUpload") => {
            ErrorKind::NotFound
        }
        Some(
            "InvalidAccessKeyId"
            | "SignatureDoesNotMatch"
            | "ExpiredToken"
            | "InvalidToken"
            | "TokenRefreshRequired",
        ) => ErrorKind::AuthExpired,
        Some("AccessDenied" | "AllAccessDisabled" | "AccountProblem") => {
            ErrorKind::PermissionDenied
        }
        Some("SlowDown" | "RequestLimitExceeded" | "TooManyRequests") => ErrorKind::RateLimited,
        Some("InternalError" | "ServiceUnavailable" | "RequestTimeout") => ErrorKind::Unavailable,
        Some(
            "BucketAlreadyExists"
            | "BucketAlreadyOwnedByYou"
            | "OperationAborted"
            | "PreconditionFailed"
            | "ConditionalRequestConflict",
        ) => ErrorKind::Conflict,
        Some("EntityTooLarge") => ErrorKind::TooLarge,
        Some(
            "PermanentRedirect"
            | "AuthorizationHeaderMalformed"
            | "IllegalLocationConstraintException",
        ) => {
            error
                .message
                .push_str(" The bucket is in another region than the connection.");
            ErrorKind::InvalidArguments
        }
        _ if matches!(response.status, 301 | 307) => {
            error.message = "the bucket is in another region than the connection".to_owned();
            ErrorKind::InvalidArguments
        }
        _ => error.kind,
    };
    error.code = code.or(error.code);
    error.details = None;
    error
}

/// A copy answers 200 before it knows; what failed then stands in the body.
pub fn done(response: &Response) -> Result<(), ToolError> {
    let body = response.text();
    let failed = !xml::all(&body, "Error").is_empty();
    if failed {
        Err(problem_of(response))
    } else {
        Ok(())
    }
}
