//! What a tool answers: any serialisable value, or an [`Output`] with more than data.

use serde::Serialize;
use serde_json::Value;

use crate::blob::Blob;
use crate::error::ToolError;

/// A result with the next cursor, a summary of one line and files.
#[derive(Debug, Default)]
pub struct Output {
    /// One JSON document.
    pub data: String,
    pub files: Vec<Blob>,
    pub next_cursor: Option<String>,
    pub summary: Option<String>,
}

impl Output {
    pub fn new(data: impl Serialize) -> Result<Self, ToolError> {
        let text = serde_json::to_string(&data)
            .map_err(|error| ToolError::internal(format!("the result is not JSON: {error}")))?;
        // In the sandbox a call has its own memory and ends here: all of it is freed at once.
        #[cfg(target_family = "wasm")]
        std::mem::forget(data);
        Ok(Self {
            data: text,
            ..Self::default()
        })
    }

    /// One page. `next` is the cursor of the next page, none at the end.
    pub fn page(data: impl Serialize, next: Option<String>) -> Result<Self, ToolError> {
        Ok(Self {
            next_cursor: next,
            ..Self::new(data)?
        })
    }

    /// One line for people and models.
    #[must_use]
    pub fn summary(mut self, line: impl Into<String>) -> Self {
        self.summary = Some(line.into());
        self
    }

    #[must_use]
    pub fn file(mut self, file: Blob) -> Self {
        self.files.push(file);
        self
    }

    /// The result as a value, for tests.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or(Value::Null)
    }
}

/// What a tool function may return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot answer `{Self}`",
    note = "answer `Result<T, ToolError>`, where `T` is an `Output` or implements `serde::Serialize`"
)]
pub trait IntoOutput {
    fn into_output(self) -> Result<Output, ToolError>;
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output, ToolError> {
        Ok(self)
    }
}

impl<T: Serialize> IntoOutput for T {
    fn into_output(self) -> Result<Output, ToolError> {
        Output::new(self)
    }
}
