//! What a script gets of a call: the tool's result, with handles of the files beside it.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::wire::{StepFailure, StepValue, step_value};
use crate::tools::{ResultFile, ToolError};
use toolgate_catalog::Tool;

/// A call that was made before, as the answer to its key was kept.
#[derive(Deserialize)]
pub(super) struct AgainExecution {
    pub execution_id: String,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    files: Vec<ResultFile>,
    #[serde(default)]
    next_cursor: Option<String>,
    #[serde(default)]
    error: Option<ToolError>,
}

impl AgainExecution {
    pub(super) fn read(kept: &RawValue) -> Result<Self, serde_json::Error> {
        serde_json::from_str(kept.get())
    }

    pub(super) fn value(self, tool: &Tool) -> StepValue {
        match (self.error, self.result) {
            (Some(error), _) => Err(error.into()),
            (None, Some(result)) => {
                tool_value(tool, &result, self.files, self.next_cursor.as_deref())
            }
            // A result that is null.
            (None, None) => tool_value(
                tool,
                RawValue::NULL,
                self.files,
                self.next_cursor.as_deref(),
            ),
        }
    }
}

impl From<ToolError> for StepFailure {
    fn from(error: ToolError) -> Self {
        let message = match error.suggested_fix {
            Some(fix) => format!("{} {fix}", error.message),
            None => error.message,
        };
        Self {
            can_retry: error.can_retry,
            ..Self::new(&error.code, message)
        }
    }
}

/// The result as it is; one of a paginated tool with the cursor of the next page, null on the last, as `next_cursor`; one
/// with files with these as `files`. A result that is no object is `result` beside them, and a member that the tool
/// itself has stays.
pub(super) fn tool_value(
    tool: &Tool,
    result: &RawValue,
    files: Vec<ResultFile>,
    next_cursor: Option<&str>,
) -> StepValue {
    let is_paginated = tool.spec().paginated;
    if !is_paginated && files.is_empty() {
        return Ok(result.to_owned());
    }
    let mut shown = match serde_json::from_str(result.get()) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::from_iter([("result".to_owned(), written(result))]),
    };
    if is_paginated && !shown.contains_key("next_cursor") {
        shown.insert("next_cursor".to_owned(), json!(next_cursor));
    }
    if !files.is_empty() && !shown.contains_key("files") {
        let handles: Vec<ResultFile> = files.into_iter().map(handle_of).collect();
        shown.insert("files".to_owned(), json!(handles));
    }
    step_value(&shown)
}

fn written(result: &RawValue) -> Value {
    serde_json::from_str(result.get()).unwrap_or_default()
}

/// A file that can be read by its handle is not copied into the journal.
fn handle_of(file: ResultFile) -> ResultFile {
    match file.file_id {
        Some(_) => ResultFile {
            content: None,
            ..file
        },
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn tool(paginated: bool) -> Arc<Tool> {
        let catalog = toolgate_catalog::fixture::catalog();
        let mut tools = catalog.tools().iter();
        let found = tools.find(|tool| tool.spec().paginated == paginated);
        found.expect("the fixtures have one of each").clone()
    }

    fn file(file_id: Option<&str>) -> ResultFile {
        ResultFile {
            file_id: file_id.map(str::to_owned),
            name: Some("a.txt".to_owned()),
            media_type: "text/plain".to_owned(),
            size_bytes: 1,
            sha256: None,
            expires_at: None,
            content: Some("YQ==".to_owned()),
        }
    }

    fn value(paginated: bool, result: &str, files: Vec<ResultFile>, next: Option<&str>) -> Value {
        let result = RawValue::from_string(result.to_owned()).unwrap();
        let value = tool_value(&tool(paginated), &result, files, next).unwrap();
        serde_json::from_str(value.get()).unwrap()
    }

    #[test]
    fn a_result_is_what_the_tool_returned() {
        for result in [r#"{"a":1}"#, "[1]", "null", r#""text""#] {
            let expected: Value = serde_json::from_str(result).unwrap();
            assert_eq!(value(false, result, Vec::new(), None), expected);
        }
    }

    #[test]
    fn a_page_says_where_the_next_begins_and_the_last_that_there_is_none() {
        assert_eq!(
            value(true, r#"{"items":[1]}"#, Vec::new(), Some("c2")),
            json!({ "items": [1], "next_cursor": "c2" })
        );
        assert_eq!(
            value(true, "[1]", Vec::new(), None),
            json!({ "result": [1], "next_cursor": null })
        );
        assert_eq!(
            value(true, r#"{"next_cursor":"own"}"#, Vec::new(), Some("c2")),
            json!({ "next_cursor": "own" })
        );
    }

    #[test]
    fn a_file_with_a_handle_is_given_without_its_content() {
        let given = value(false, "{}", vec![file(Some("file_1")), file(None)], None);
        assert_eq!(given["files"][0]["file_id"], "file_1");
        assert_eq!(given["files"][0].get("content"), None);
        assert_eq!(given["files"][1]["content"], "YQ==", "it would be lost");
    }

    #[test]
    fn an_answer_that_was_kept_is_the_same_outcome() {
        let read = |text: &str| {
            let text = RawValue::from_string(text.to_owned()).unwrap();
            AgainExecution::read(&text).unwrap()
        };
        let ran = read(r#"{"execution_id":"exe_1","status":"success","result":{"n":7}}"#);
        assert_eq!(ran.value(&tool(false)).unwrap().get(), r#"{"n":7}"#);
        let failed = read(
            r#"{"execution_id":"exe_1","status":"error","reason":"provider_error","error":{"code":"not_found","message":"Gone.","can_retry":false,"suggested_fix":"Look first."}}"#,
        );
        let failure = failed.value(&tool(false)).unwrap_err();
        assert_eq!(failure.code, "not_found");
        assert_eq!(failure.message, "Gone. Look first.");
    }
}
