//! Requests whose method is known and whose parameters are not of its type.
//!
//! The protocol's library takes such a request for one of a method that it does not know. Here it is
//! read once more, to say what does not fit.

use rmcp::model::{
    CallToolRequestParams, ErrorData, GetPromptRequestParams, GetSkillRequestParams,
    InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Methods of the session protocols that 2026-07-28 has no more.
const OF_SESSIONS: [&str; 3] = ["initialize", "ping", "logging/setLevel"];

/// Whether the stateless protocol serves the method no more.
pub(crate) fn is_gone(method: &str) -> bool {
    OF_SESSIONS.contains(&method)
}

/// Why `params` are none of `method`, whatever the library found. `None`: the method is not served.
pub(crate) fn explain(method: &str, params: Option<&Value>) -> Option<ErrorData> {
    let problem = read(method, params)?;
    let problem = problem.unwrap_or_else(|| "they are not of its type".to_owned());
    Some(invalid_params(method, &problem))
}

/// The same, if they are none. `None`: they fit, or the method is not served.
pub(crate) fn misfit(method: &str, params: Option<&Value>) -> Option<ErrorData> {
    let problem = read(method, params)??;
    Some(invalid_params(method, &problem))
}

fn invalid_params(method: &str, problem: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Invalid params of {method}: {problem}"), None)
}

/// What is wrong, if anything is. `None`: the method is not served.
#[expect(deprecated, reason = "session clients may still set a log level")]
fn read(method: &str, params: Option<&Value>) -> Option<Option<String>> {
    Some(match method {
        "initialize" => problem::<InitializeRequestParams>(params),
        "tools/call" => problem::<CallToolRequestParams>(params),
        "prompts/get" => problem::<GetPromptRequestParams>(params),
        "resources/read" => problem::<ReadResourceRequestParams>(params),
        "skills/get" => problem::<GetSkillRequestParams>(params),
        "logging/setLevel" => problem::<rmcp::model::SetLevelRequestParams>(params),
        "ping"
        | "server/discover"
        | "tools/list"
        | "prompts/list"
        | "resources/list"
        | "resources/templates/list"
        | "skills/list" => problem::<Option<PaginatedRequestParams>>(params),
        _ => return None,
    })
}

fn problem<T: DeserializeOwned>(params: Option<&Value>) -> Option<String> {
    let empty = Value::Object(serde_json::Map::new());
    let read = serde_path_to_error::deserialize::<_, T>(params.unwrap_or(&empty));
    let problem = read.err()?;
    let path = problem.path().to_string();
    let inner = problem.into_inner();
    Some(match path.as_str() {
        "." | "?" => inner.to_string(),
        path => format!("{path}: {inner}"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        for (method, params, named) in [
            ("tools/call", None, "missing field `name`"),
            ("tools/call", Some(json!({})), "missing field `name`"),
            (
                "tools/call",
                Some(json!({ "name": 7 })),
                "name: invalid type",
            ),
            (
                "tools/call",
                Some(json!({ "name": "svc_health_check", "arguments": "{}" })),
                "arguments: invalid type: string",
            ),
            (
                "tools/call",
                Some(json!([1])),
                "Invalid params of tools/call",
            ),
            ("resources/read", Some(json!({})), "missing field `uri`"),
            (
                "tools/list",
                Some(json!({ "cursor": 1 })),
                "cursor: invalid type",
            ),
            (
                "initialize",
                Some(json!({})),
                "missing field `protocolVersion`",
            ),
        ] {
            let error = explain(method, params.as_ref()).expect("a method that is served");
            assert_eq!(error.code.0, -32602);
            assert!(error.message.contains(named), "{method}: {}", error.message);
        }
        let fits = json!({ "name": "svc_health_check", "arguments": {} });
        assert!(misfit("tools/call", Some(&fits)).is_none());
        assert!(misfit("tools/call", None).is_some() && misfit("tools/list", None).is_none());
        for unknown in ["tools/drop", "", "resources/subscribe"] {
            assert!(explain(unknown, None).is_none(), "{unknown}");
        }
    }
}
