//! The result of a guest: bounded, scrubbed, and JSON that every parser reads.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use wasmtime::Store;

use super::bindings::{integration, types};
use super::blob::Blob;
use super::guest::{Guest, cut};
use super::limits::{self, LimitExceeded};
use super::listener::CallEvent;
use super::outcome::{CallEnd, CallOutput, Crash, PluginError, RefusalKind};
use toolgate_core::json;
use toolgate_egress::CallScope;

/// Text of a plugin's error that reaches an agent.
pub(super) const MESSAGE_BYTES_MAX: usize = 4 << 10;
const DETAILS_BYTES_MAX: usize = 32 << 10;

pub(super) type Returned = Result<integration::Output, types::ToolError>;

/// Takes the result out of the store while its blobs still exist.
pub(super) fn collect(
    store: &mut Store<Guest>,
    returned: Returned,
) -> wasmtime::Result<Result<(integration::Output, Vec<Blob>), types::ToolError>> {
    let mut output = match returned {
        Ok(output) => output,
        Err(error) => return Ok(Err(error)),
    };
    if output.data.len() > limits::RESULT_BYTES_MAX {
        return Err(LimitExceeded::Result(limits::RESULT_BYTES_MAX >> 20).into());
    }
    let cursor = output.next_cursor.as_ref();
    if cursor.is_some_and(|cursor| cursor.len() > limits::CURSOR_BYTES_MAX) {
        return Err(LimitExceeded::Cursor(limits::CURSOR_BYTES_MAX >> 10).into());
    }
    let mut files = Vec::with_capacity(output.files.len());
    for handle in std::mem::take(&mut output.files) {
        files.push(store.data_mut().table.delete(handle)?);
    }
    Ok(Ok((output, files)))
}

pub(super) fn scrub_output(
    scope: &CallScope,
    (output, files): (integration::Output, Vec<Blob>),
) -> CallEnd {
    let text = scope.scrub_owned(output.data);
    // A raw value may be nested without limit and contain numbers that no parser accepts.
    let read = json::check_levels(text.as_bytes(), limits::RESULT_DEPTH_MAX);
    if let Err(problem) = read {
        return match serde_json::from_str::<IgnoredAny>(&text) {
            Ok(_) => CallEnd::Unreadable(format!("the result cannot be passed on: {problem}")),
            Err(_) => not_json(&problem.to_string()),
        };
    }
    let data = match RawValue::from_string(text) {
        Ok(data) => data,
        Err(problem) => return not_json(&problem.to_string()),
    };
    let word = |text: &str| cut(&scope.scrub(text), limits::BLOB_WORD_BYTES_MAX);
    let files = files.into_iter().map(|file| {
        let name = file.name.as_deref().map(word);
        Blob::new(word(&file.media_type), name, scope.scrub_bytes(file.data))
    });
    CallEnd::Returned(CallOutput {
        data,
        files: files.collect(),
        next_cursor: output.next_cursor.map(|cursor| scope.scrub_owned(cursor)),
        summary: output
            .summary
            .map(|line| cut(&scope.scrub(&line), MESSAGE_BYTES_MAX)),
    })
}

/// Progress as it is sent to the caller.
pub(super) fn progress(
    scope: &CallScope,
    done: u64,
    total: Option<u64>,
    message: &str,
) -> CallEvent {
    CallEvent::Progress {
        done,
        total,
        message: cut(&scope.scrub(message), limits::PROGRESS_MESSAGE_BYTES_MAX),
    }
}

/// A part of a result; `None` where it is not JSON that a caller can read.
pub(super) fn partial(scope: &CallScope, data: String) -> Option<CallEvent> {
    let text = scope.scrub_owned(data);
    json::check_levels(text.as_bytes(), limits::RESULT_DEPTH_MAX).ok()?;
    RawValue::from_string(text).ok().map(CallEvent::Partial)
}

fn not_json(problem: &str) -> CallEnd {
    CallEnd::Crashed(Crash {
        message: format!("the plugin's result is not JSON: {problem}"),
        trapped: false,
        panic: None,
        function: None,
    })
}

pub(super) fn refusal(scope: &CallScope, error: types::ToolError) -> PluginError {
    let details = error
        .details
        .filter(|details| details.len() <= DETAILS_BYTES_MAX)
        .map(|details| scope.scrub_owned(details))
        .filter(|text| json::check_levels(text.as_bytes(), limits::RESULT_DEPTH_MAX).is_ok())
        .and_then(|text| serde_json::from_str(&text).ok());
    PluginError {
        kind: match error.kind {
            types::ErrorKind::InvalidArguments => RefusalKind::InvalidArguments,
            types::ErrorKind::AuthRequired => RefusalKind::AuthRequired,
            types::ErrorKind::AuthExpired => RefusalKind::AuthExpired,
            types::ErrorKind::PermissionDenied => RefusalKind::PermissionDenied,
            types::ErrorKind::NotFound => RefusalKind::NotFound,
            types::ErrorKind::Conflict => RefusalKind::Conflict,
            types::ErrorKind::RateLimited => RefusalKind::RateLimited,
            types::ErrorKind::Upstream => RefusalKind::Upstream,
            types::ErrorKind::Unavailable => RefusalKind::Unavailable,
            types::ErrorKind::TooLarge => RefusalKind::TooLarge,
            types::ErrorKind::Cancelled => RefusalKind::Cancelled,
            types::ErrorKind::Internal => RefusalKind::Internal,
        },
        code: error.code.map(|code| cut(&scope.scrub(&code), 128)),
        message: cut(&scope.scrub(&error.message), MESSAGE_BYTES_MAX),
        retry_after_ms: error.retry_after_ms,
        http_status: error.http_status,
        field: error.field.map(|field| cut(&scope.scrub(&field), 256)),
        details,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use futures_util::future::BoxFuture;

    use super::*;
    use toolgate_catalog::manifest::Placement;
    use toolgate_egress::{
        CallLimits, CredentialChoice, Credentials, Egress, EgressConfig, EgressFailure, Grant,
        GuestRequest, Injection, Mode,
    };
    use toolgate_vault::Secret;

    const SECRET: &str = "planted/secret+of=the-test";

    /// One slot, connected.
    struct Bearer;

    impl Credentials for Bearer {
        fn fetch<'a>(
            &'a self,
            slot: &'a str,
            _rejected: Option<u64>,
        ) -> BoxFuture<'a, Result<Injection, EgressFailure>> {
            let placement = serde_json::json!([{
                "header": "authorization", "template": "Bearer {secret}"
            }]);
            let placements: Vec<Placement> =
                serde_json::from_value(placement).expect("a placement");
            Box::pin(std::future::ready(Ok(Injection {
                slot: slot.to_owned(),
                generation: 1,
                placements,
                values: [("secret".to_owned(), Secret::new(SECRET.to_owned()))].into(),
                audience: vec!["https://api.example.com".to_owned()],
            })))
        }

        fn connected(&self, _slot: &str) -> bool {
            true
        }

        fn slot_for_origin(&self, _origin: &str) -> Option<String> {
            None
        }
    }

    /// A scope that has sent the secret, without a response.
    async fn scope_that_knows() -> CallScope {
        let grant = Grant::new(&["api.example.com".to_owned()], &[]).expect("a grant");
        let scope = CallScope::new(
            Arc::new(grant),
            BTreeMap::new(),
            Arc::new(Bearer),
            CallLimits::default(),
            Mode::Live,
        );
        let egress = Egress::new(EgressConfig {
            lookup: Arc::new(|_| {
                Box::pin(std::future::ready(Err(std::io::Error::other("nobody"))))
            }),
            ..EgressConfig::default()
        })
        .expect("a client");
        let request = GuestRequest {
            method: http::Method::GET,
            url: "https://api.example.com/".to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            body: Bytes::new(),
            credential: CredentialChoice::Slot("user".to_owned()),
            response_bytes_max: 1,
            timeout: Duration::from_secs(30),
            idempotency_key: None,
            as_file: false,
        };
        egress
            .send(&scope, request)
            .await
            .expect_err("nobody answers");
        scope
    }

    fn output(data: &str) -> integration::Output {
        integration::Output {
            data: data.to_owned(),
            files: Vec::new(),
            next_cursor: None,
            summary: None,
            meta: None,
        }
    }

    #[tokio::test]
    async fn every_text_of_a_result_leaves_scrubbed_and_cut() {
        let scope = scope_that_knows().await;
        let returned = integration::Output {
            next_cursor: Some(format!("https://api.example.com/?page=2&key={SECRET}")),
            summary: Some(format!("sent {SECRET}")),
            ..output(&format!(r#"{{"key":"{SECRET}"}}"#))
        };
        let file = Blob::new(
            format!("text/{SECRET}\r\n{}", "x".repeat(2000)),
            Some(format!("{SECRET}.txt")),
            Bytes::from(format!("it is {SECRET}")),
        );
        let CallEnd::Returned(output) = scrub_output(&scope, (returned, vec![file])) else {
            panic!("a good result");
        };
        assert_eq!(output.data.get(), r#"{"key":"[redacted]"}"#);
        assert_eq!(
            output.next_cursor.as_deref(),
            Some("https://api.example.com/?page=2&key=[redacted]")
        );
        assert_eq!(output.summary.as_deref(), Some("sent [redacted]"));
        let file = &output.files[0];
        assert!(
            file.media_type.starts_with("text/[redacted]  xx"),
            "{}",
            file.media_type
        );
        assert_eq!(file.media_type.len(), limits::BLOB_WORD_BYTES_MAX);
        assert_eq!(file.name.as_deref(), Some("[redacted].txt"));
        assert_eq!(&file.data[..], b"it is [redacted]");
    }

    #[tokio::test]
    async fn reports_of_a_guest_are_scrubbed_and_bounded() {
        let scope = scope_that_knows().await;
        let message = format!("{SECRET}\n{}", "x".repeat(2_000));
        let CallEvent::Progress { message, .. } = progress(&scope, 1, None, &message) else {
            panic!("progress");
        };
        assert!(message.starts_with("[redacted] xx"), "{message}");
        assert_eq!(message.len(), limits::PROGRESS_MESSAGE_BYTES_MAX);
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for (data, passed_on) in [
            (
                format!(r#"{{"key":"{SECRET}"}}"#),
                Some(r#"{"key":"[redacted]"}"#.to_owned()),
            ),
            (
                nested(limits::RESULT_DEPTH_MAX),
                Some(nested(limits::RESULT_DEPTH_MAX)),
            ),
            (nested(limits::RESULT_DEPTH_MAX + 1), None),
            ("not JSON".to_owned(), None),
            (String::new(), None),
        ] {
            let event = partial(&scope, data.clone()).map(|event| match event {
                CallEvent::Partial(data) => data.get().to_owned(),
                CallEvent::Progress { .. } => panic!("a part"),
            });
            assert_eq!(event, passed_on, "{data}");
        }
    }

    #[tokio::test]
    async fn details_of_an_error_are_left_out_where_a_reader_could_not_take_them() {
        let scope = scope_that_knows().await;
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for (details, kept) in [
            (format!(r#"{{"key":"{SECRET}"}}"#), true),
            (nested(limits::RESULT_DEPTH_MAX), true),
            (nested(limits::RESULT_DEPTH_MAX + 1), false),
            ("not JSON".to_owned(), false),
        ] {
            let error = types::ToolError {
                kind: types::ErrorKind::Upstream,
                code: None,
                message: String::new(),
                retry_after_ms: None,
                http_status: None,
                field: None,
                details: Some(details.clone()),
            };
            let returned = refusal(&scope, error).details;
            assert_eq!(returned.is_some(), kept, "{details}");
            assert!(!returned.is_some_and(|details| details.to_string().contains(SECRET)));
        }
    }
}
