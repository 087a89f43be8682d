//! What a caller sends with a call: the tool's arguments and the session id.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::requester;
use crate::tools::Arguments;
use crate::{Caller, Error, Gateway};
use toolgate_catalog::{Tool, Violation};

/// A session id as a caller may choose it.
const SESSION_ID_BYTES_MAX: usize = 64;

pub(super) fn parse_arguments(arguments: Arguments) -> Result<Value, Error> {
    let value = match arguments {
        Arguments::Object(value) => value,
        Arguments::Text(text) => {
            let text = if text.trim().is_empty() {
                Cow::Borrowed("{}")
            } else {
                Cow::Owned(text)
            };
            serde_json::from_str(&text).map_err(|problem| Error::InvalidJson {
                place: "arguments",
                problem: problem.to_string(),
            })?
        }
    };
    if value.is_object() {
        Ok(value)
    } else {
        Err(Error::InvalidRequest(
            "arguments must be a JSON object".to_owned(),
        ))
    }
}

impl Gateway {
    /// Every violation of the tool's schema. A check that is not cheap runs in the fair shares of the caller.
    pub(super) async fn violations(
        &self,
        caller: &Caller,
        tool: &Arc<Tool>,
        arguments: &mut Value,
    ) -> Result<Vec<Violation>, Error> {
        if tool.is_checked_at_once(arguments) {
            return Ok(tool.validate(arguments));
        }
        let (by, service) = (requester(caller), Arc::from(tool.service()));
        let (tool, whole) = (tool.clone(), arguments.take());
        let work = move || (tool.validate_bounded(&whole), whole);
        let checked = self.runtime.compute(by, &service, work).await;
        let overloaded = |_| Error::Overloaded { retry_after_s: 1 };
        let (found, checked) = checked.map_err(overloaded)?;
        *arguments = checked;
        Ok(found)
    }
}

pub(crate) fn checked_session_id(id: String) -> Result<String, Error> {
    let fits = (1..=SESSION_ID_BYTES_MAX).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if fits {
        Ok(id)
    } else {
        Err(Error::InvalidRequest(format!(
            "session_id is 1 to {SESSION_ID_BYTES_MAX} characters of A-Z a-z 0-9 _ -"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_or_a_text_of_one() {
        let text = |text: &str| parse_arguments(Arguments::Text(text.to_owned()));
        for nothing in ["", " \n", "{}"] {
            assert_eq!(text(nothing).unwrap(), serde_json::json!({}), "{nothing:?}");
        }
        assert_eq!(
            text(r#"{"query":"up"}"#).unwrap(),
            serde_json::json!({ "query": "up" })
        );
        for other in ["[]", "null", "7", r#""{}""#] {
            let refused = text(other).unwrap_err();
            assert!(matches!(refused, Error::InvalidRequest(_)), "{refused}");
        }
        let refused = parse_arguments(Arguments::Object(Value::Null)).unwrap_err();
        assert!(matches!(refused, Error::InvalidRequest(_)), "{refused}");
        let refused = text("{").unwrap_err();
        let place = matches!(
            refused,
            Error::InvalidJson {
                place: "arguments",
                ..
            }
        );
        assert!(place, "{refused}");
    }

    #[test]
    fn a_session_id_has_a_largest_size_and_plain_characters() {
        for fits in ["a", "A-z_09", &"a".repeat(SESSION_ID_BYTES_MAX)] {
            assert_eq!(checked_session_id(fits.to_owned()).unwrap(), fits);
        }
        for refused in [
            "",
            "a b",
            "a/b",
            "\u{e4}",
            &"a".repeat(SESSION_ID_BYTES_MAX + 1),
        ] {
            assert!(checked_session_id(refused.to_owned()).is_err(), "{refused}");
        }
    }
}
