//! What a script sees beside the services: `args`, `search`, `describe`, `skills`, `sleep`, `log`, `console`,
//! `progress`, and random numbers of its seed. All of it is made before the script runs and cannot be replaced.

use boa_engine::builtins::error::Error;
use boa_engine::object::{IntegrityLevel, JsObject};
use boa_engine::property::PropertyKey;
use boa_engine::{
    Context, JsArgs, JsNativeError, JsResult, JsString, JsValue, NativeFunction, js_string,
};

use crate::failure::GuestFailure;
use crate::limits::{ARGUMENT_BYTES_MAX, LOG_LINE_BYTES_MAX, PROGRESS_MESSAGE_BYTES_MAX};
use crate::services::{define_global, function};
use crate::state::{AskedKind, GuestState, ask};
use crate::text::{bounded, json_string};
use crate::to_json;

/// What shows a script more than its input does, for example when memory is freed.
const REMOVED: [&str; 4] = [
    "Atomics",
    "FinalizationRegistry",
    "SharedArrayBuffer",
    "WeakRef",
];

/// Defines what every script has, and keeps the functions that the engine itself uses.
pub(crate) fn define(context: &mut Context) -> JsResult<()> {
    keep_intrinsics(context)?;
    for name in REMOVED {
        context
            .global_object()
            .delete_property_or_throw(JsString::from(name), context)?;
    }
    define_function("search", search, context)?;
    define_function("describe", describe, context)?;
    define_function("sleep", sleep, context)?;
    define_function("progress", progress, context)?;
    define_function("log", log_info, context)?;
    let skills = object_of(&[("get", skill)], context)?;
    define_global("skills", skills, context)?;
    let console = object_of(
        &[
            ("debug", log_info),
            ("error", log_error),
            ("info", log_info),
            ("log", log_info),
            ("warn", log_warn),
        ],
        context,
    )?;
    context
        .global_object()
        .delete_property_or_throw(js_string!("console"), context)?;
    define_global("console", console, context)?;
    let math = context.global_object().get(js_string!("Math"), context)?;
    if let Some(math) = math.as_object() {
        let random = function(NativeFunction::from_fn_ptr(random), context)?;
        math.set(js_string!("random"), random, true, context)?;
    }
    Ok(())
}

type Native = fn(&JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>;

fn define_function(name: &str, native: Native, context: &mut Context) -> JsResult<()> {
    let function = function(NativeFunction::from_fn_ptr(native), context)?;
    define_global(name, function, context)
}

fn object_of(functions: &[(&str, Native)], context: &mut Context) -> JsResult<JsObject> {
    let object = JsObject::with_object_proto(context.intrinsics());
    for (name, native) in functions {
        let function = function(NativeFunction::from_fn_ptr(*native), context)?;
        let key = PropertyKey::from(JsString::from(*name));
        object.create_data_property_or_throw(key, function, context)?;
    }
    object.set_integrity_level(IntegrityLevel::Frozen, context)?;
    Ok(object)
}

fn keep_intrinsics(context: &mut Context) -> JsResult<()> {
    let constructors = context.intrinsics().constructors();
    let (object, errors) = (
        constructors.object().constructor(),
        constructors.error().prototype(),
    );
    let keys = object.get(js_string!("keys"), context)?.as_object();
    let lookup = object.get(js_string!("getOwnPropertyDescriptor"), context)?;
    let stack = match lookup.as_callable() {
        Some(lookup) => lookup.call(
            &JsValue::undefined(),
            &[errors.into(), js_string!("stack").into()],
            context,
        )?,
        None => JsValue::undefined(),
    };
    let getter = match stack.as_object() {
        Some(descriptor) => descriptor.get(js_string!("get"), context)?.as_object(),
        None => None,
    };
    GuestState::from_context(context)
        .borrow_mut()
        .keep(getter, keys);
    Ok(())
}

fn type_error(message: impl Into<String>) -> boa_engine::JsError {
    JsNativeError::typ().with_message(message.into()).into()
}

/// The text that a function takes first, as JSON.
fn named(args: &[JsValue], message: &'static str) -> JsResult<String> {
    let text = args
        .get_or_undefined(0)
        .as_string()
        .ok_or_else(|| type_error(message))?;
    if text.len() > ARGUMENT_BYTES_MAX {
        return Err(type_error("the text is too long"));
    }
    Ok(json_string(&text.to_std_string_lossy()))
}

fn search(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let query = named(args, "`search` takes the text to search for")?;
    let mut arguments = format!("{{\"query\":{query}");
    let options = args.get_or_undefined(1);
    match options.as_object() {
        Some(options) => {
            for option in ["limit", "services"] {
                let value = options.get(JsString::from(option), context)?;
                if let Some(text) = to_json::text(&value, ARGUMENT_BYTES_MAX, context)? {
                    arguments.push_str(&format!(",\"{option}\":{text}"));
                }
            }
        }
        None if options.is_null_or_undefined() => {}
        None => return Err(type_error("the options of `search` are an object")),
    }
    arguments.push('}');
    ask(AskedKind::Search, "search".to_owned(), arguments, context)
}

fn describe(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let tool = named(args, "`describe` takes the name of a tool")?;
    let arguments = format!("{{\"tool\":{tool}}}");
    ask(
        AskedKind::Describe,
        "describe".to_owned(),
        arguments,
        context,
    )
}

fn skill(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = named(args, "`skills.get` takes the name of a skill")?;
    let arguments = format!("{{\"name\":{name}}}");
    ask(
        AskedKind::Skill,
        "skills.get".to_owned(),
        arguments,
        context,
    )
}

fn sleep(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let milliseconds = args
        .get_or_undefined(0)
        .as_number()
        .filter(|number| (0.0..=f64::from(u32::MAX)).contains(number))
        .ok_or_else(|| type_error("`sleep` takes a number of milliseconds"))?;
    let arguments = format!("{{\"ms\":{}}}", milliseconds.ceil() as u32);
    ask(AskedKind::Sleep, "sleep".to_owned(), arguments, context)
}

fn progress(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let number = |index: usize| match args.get_or_undefined(index) {
        value if value.is_null_or_undefined() => Ok(None),
        value => match value.as_number().filter(|number| number.is_finite()) {
            Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                Ok(Some((number as i64).to_string()))
            }
            Some(number) => Ok(Some(serde_json::Value::from(number).to_string())),
            None => Err(type_error(
                "`progress` takes numbers: what is done, and of how much",
            )),
        },
    };
    let done = number(0)?.ok_or_else(|| type_error("`progress` takes a number: what is done"))?;
    let total = number(1)?.unwrap_or_else(|| "null".to_owned());
    let message = match args.get_or_undefined(2).as_string() {
        Some(text) => {
            let text = text.to_std_string_lossy();
            json_string(bounded(&text, PROGRESS_MESSAGE_BYTES_MAX))
        }
        None => "null".to_owned(),
    };
    let report = format!("{{\"done\":{done},\"total\":{total},\"message\":{message}}}");
    GuestState::from_context(context)
        .borrow_mut()
        .report_progress(report);
    Ok(JsValue::undefined())
}

fn random(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(JsValue::new(
        GuestState::from_context(context).borrow_mut().random(),
    ))
}

fn log_info(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(log("info", args, context))
}

fn log_warn(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(log("warn", args, context))
}

fn log_error(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(log("error", args, context))
}

fn log(level: &str, args: &[JsValue], context: &mut Context) -> JsValue {
    let mut line = String::new();
    for (index, value) in args.iter().enumerate() {
        if line.len() > LOG_LINE_BYTES_MAX {
            break;
        }
        if index > 0 {
            line.push(' ');
        }
        line.push_str(&shown(value, context));
    }
    GuestState::from_context(context)
        .borrow_mut()
        .log(level, &line);
    JsValue::undefined()
}

/// How the log shows a value: texts as they are, errors by name and message, all else as JSON.
fn shown(value: &JsValue, context: &mut Context) -> String {
    if let Some(text) = value.as_string() {
        // One byte more than a line has, so that the line is seen to be cut.
        let end = text.len().min(LOG_LINE_BYTES_MAX + 1);
        return text.get_expect(0..end).to_std_string_lossy();
    }
    let is_error = value.as_object().is_some_and(|object| object.is::<Error>());
    if is_error {
        let failure = GuestFailure::from_thrown(value, context);
        return format!("{}: {}", failure.name, failure.message);
    }
    let text = to_json::beginning(value, LOG_LINE_BYTES_MAX + 1, context);
    if text.is_empty() {
        value.type_of().to_owned()
    } else {
        text
    }
}
