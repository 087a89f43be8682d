//! What a caller sends with a call: the tool's arguments and the session id.

use std::sync::Arc;

use serde_json::Value;

use super::requester;
use crate::tools::Arguments;
use crate::{Caller, Error, Gateway};
use toolgate_catalog::{CheckBudget, Misfit, Tool, write_integers};
use toolgate_core::exact::ExactNumbers;
use toolgate_core::json;

/// A session id as a caller may choose it.
const SESSION_ID_BYTES_MAX: usize = 64;

/// Arguments that fit their tool.
#[derive(Debug)]
pub(super) struct FittedArguments {
    pub value: Value,
    /// The numbers in it, digit by digit.
    pub exact: ExactNumbers,
    /// Places of texts that were taken as another kind of value.
    pub coerced: Vec<String>,
}

/// The arguments, and their numbers as they were written; `None` where another parser has read them.
fn parse_arguments(arguments: Arguments) -> Result<(Value, Option<ExactNumbers>), Error> {
    let (value, exact) = match arguments {
        Arguments::Object(value) => (value, None),
        Arguments::Text(text) if text.trim().is_empty() => {
            (Value::Object(Default::default()), None)
        }
        Arguments::Text(text) => {
            let invalid = |problem: String| Error::InvalidJson {
                place: "arguments",
                problem,
            };
            // A repeated key would have two values.
            json::check(text.as_bytes()).map_err(|problem| invalid(problem.to_string()))?;
            let value =
                serde_json::from_str(&text).map_err(|problem| invalid(problem.to_string()))?;
            (value, Some(ExactNumbers::read(&text)))
        }
    };
    if value.is_object() {
        Ok((value, exact))
    } else {
        Err(Error::InvalidRequest(
            "arguments must be a JSON object".to_owned(),
        ))
    }
}

impl Gateway {
    /// The arguments as the tool takes them. A check that is not cheap runs in the fair shares of the caller.
    ///
    /// # Errors
    /// `invalid_json`, `invalid_request`; `invalid_arguments` with every violation of the tool's schema.
    pub(super) async fn fit(
        &self,
        caller: &Caller,
        tool: &Arc<Tool>,
        arguments: Arguments,
    ) -> Result<FittedArguments, Error> {
        let (mut value, mut exact) = parse_arguments(arguments)?;
        let mut fitted = tool.fit(&mut value, exact.as_mut(), CheckBudget::Direct);
        if fitted == Err(Misfit::TooCostly) {
            let (by, service) = (requester(caller), Arc::from(tool.service()));
            let shared = tool.clone();
            let work = move || {
                let fitted = shared.fit(&mut value, exact.as_mut(), CheckBudget::Shared);
                (fitted, value, exact)
            };
            let checked = self.runtime.compute(by, &service, work).await;
            let overloaded = |_| Error::Overloaded { retry_after_s: 1 };
            (fitted, value, exact) = checked.map_err(overloaded)?;
        }
        let coerced = fitted.map_err(|misfit| Error::InvalidArguments {
            tool_name: tool.name.to_string(),
            violations: misfit.into_violations(),
        })?;
        write_integers(&mut value);
        Ok(FittedArguments {
            value,
            exact: exact.unwrap_or_default(),
            coerced,
        })
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
        let parsed = |arguments| parse_arguments(arguments).map(|(value, _)| value);
        let text = |text: &str| parsed(Arguments::Text(text.to_owned()));
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
        let refused = parsed(Arguments::Object(Value::Null)).unwrap_err();
        assert!(matches!(refused, Error::InvalidRequest(_)), "{refused}");
        for broken in ["{", r#"{"id":5,"id":36893488147419103232}"#] {
            let refused = text(broken).unwrap_err();
            let place = matches!(
                refused,
                Error::InvalidJson {
                    place: "arguments",
                    ..
                }
            );
            assert!(place, "{refused}");
        }
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
