//! How a script fails, and how the failure is told to the host.

use boa_engine::error::EngineError;
use boa_engine::object::JsObject;
use boa_engine::{Context, JsError, JsValue, js_string};

use crate::limits::MESSAGE_BYTES_MAX;
use crate::place::Place;
use crate::state::{GuestState, place_of};
use crate::text::bounded;

/// Code of a script that cannot be parsed.
pub(crate) const SYNTAX_ERROR: &str = "syntax_error";
/// Code of a script that uses what no script may use.
pub(crate) const UNSUPPORTED_SYNTAX: &str = "unsupported_syntax";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuestFailure {
    pub(crate) name: String,
    pub(crate) message: String,
    pub(crate) place: Option<Place>,
    pub(crate) code: Option<String>,
    pub(crate) step: Option<u32>,
}

impl GuestFailure {
    pub(crate) fn new(name: &str, code: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            message: message.into(),
            place: None,
            code: Some(code.to_owned()),
            step: None,
        }
    }

    /// A script that cannot be parsed, or that uses what is not supported.
    pub(crate) fn syntax(code: &str, message: impl Into<String>, place: Place) -> Self {
        Self {
            place: Some(place),
            ..Self::new("SyntaxError", code, message)
        }
    }

    pub(crate) fn from_error(error: JsError, context: &mut Context) -> Self {
        if is_limit(&error) {
            return Self {
                code: None,
                ..Self::new("RangeError", "", "the script calls itself too deeply")
            };
        }
        match error.into_opaque(context) {
            Ok(value) => Self::from_thrown(&value, context),
            Err(error) => Self::new(
                "Error",
                "internal",
                bounded(&error.to_string(), MESSAGE_BYTES_MAX),
            ),
        }
    }

    /// The failure that `value` stands for, which the script may have made up as it likes.
    pub(crate) fn from_thrown(value: &JsValue, context: &mut Context) -> Self {
        let Some(object) = value.as_object() else {
            let message = value.to_string(context).map_or_else(
                |_| value.display().to_string(),
                |text| text.to_std_string_lossy(),
            );
            return Self {
                code: None,
                ..Self::new("Error", "", bounded(&message, MESSAGE_BYTES_MAX))
            };
        };
        let name = text_of(&object, "name", context);
        let message = text_of(&object, "message", context);
        let code = text_of(&object, "code", context);
        let step = property(&object, "step", context)
            .and_then(|value| value.as_number())
            .filter(|step| step.fract() == 0.0 && (0.0..=f64::from(u16::MAX)).contains(step))
            .map(|step| step as u32);
        let call = step.and_then(|step| GuestState::from_context(context).borrow().place_of(step));
        let mut failure = Self {
            name: name.unwrap_or_else(|| "Error".to_owned()),
            message: message.unwrap_or_default(),
            place: call.or_else(|| place_of(value, context)),
            code,
            step: step.filter(|_| call.is_some()),
        };
        if failure.place.is_none()
            && failure.name == "SyntaxError"
            && let Some((place, message)) = Place::from_parser_message(&failure.message)
        {
            failure.message = message.to_owned();
            failure.place = place;
        }
        failure
    }
}

/// Whether the script reached a limit of the interpreter, which it cannot catch.
fn is_limit(error: &JsError) -> bool {
    match error.as_engine() {
        Some(EngineError::RuntimeLimit(_)) => true,
        Some(EngineError::Panic(panic)) => std::error::Error::source(panic).is_some_and(|source| {
            let boxed = source.downcast_ref::<Box<JsError>>().map(AsRef::as_ref);
            boxed
                .or_else(|| source.downcast_ref::<JsError>())
                .is_some_and(is_limit)
        }),
        _ => false,
    }
}

fn property(object: &JsObject, name: &str, context: &mut Context) -> Option<JsValue> {
    object.get(js_string!(name), context).ok()
}

fn text_of(object: &JsObject, name: &str, context: &mut Context) -> Option<String> {
    let text = property(object, name, context)?
        .as_string()?
        .to_std_string_lossy();
    Some(bounded(&text, MESSAGE_BYTES_MAX).to_owned())
}
