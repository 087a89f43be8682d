//! The global of each service: `github.createIssue({..})` asks for a step.

use boa_engine::object::builtins::JsFunction;
use boa_engine::object::{IntegrityLevel, JsObject};
use boa_engine::property::{Attribute, PropertyKey};
use boa_engine::{
    Context, JsArgs, JsNativeError, JsResult, JsString, JsValue, NativeFunction, js_string,
};

use crate::limits::{ARGUMENT_BYTES_MAX, NAME_BYTES_MAX};
use crate::state::{AskedKind, ask};
use crate::text::bounded;
use crate::to_json;

/// Words that a module cannot use as a name; `catalog/src/script_names.rs` has the same ones for declarations.
const RESERVED: [&str; 49] = [
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// What JavaScript itself looks up in any object: a service answers that it has no such function, so that `await`,
/// printing and comparing a service calls nothing.
const NOT_FUNCTIONS: [&str; 8] = [
    "__proto__",
    "constructor",
    "inspect",
    "prototype",
    "then",
    "toJSON",
    "toString",
    "valueOf",
];

/// Defines the services, and `tools`, which has them all.
pub(crate) fn define(services: &[String], context: &mut Context) -> JsResult<()> {
    let members = JsObject::with_null_proto();
    let mut names = Vec::new();
    for service in services.iter().filter(|name| name.len() <= NAME_BYTES_MAX) {
        let object = service_object(service, context)?;
        members.create_data_property_or_throw(key(service), object.clone(), context)?;
        names.push(service.as_str());
        let is_free = !context
            .global_object()
            .has_own_property(key(service), context)?;
        if is_free && is_name(service) {
            define_global(service, object, context)?;
        }
    }
    members.set_integrity_level(IntegrityLevel::Frozen, context)?;
    let known = JsString::from(names.join(", ").as_str());
    let lookup = NativeFunction::from_copy_closure_with_captures(
        |_, args, known: &JsString, context| look_up_service(args, known, context),
        known,
    );
    let tools = proxy(members, lookup, context)?;
    define_global("tools", tools, context)
}

/// Defines a global that a script can neither replace nor remove.
pub(crate) fn define_global(
    name: &str,
    value: impl Into<JsValue>,
    context: &mut Context,
) -> JsResult<()> {
    let fixed = Attribute::READONLY | Attribute::ENUMERABLE | Attribute::PERMANENT;
    context.register_global_property(JsString::from(name), value, fixed)
}

/// A function that a script cannot change.
pub(crate) fn function(native: NativeFunction, context: &mut Context) -> JsResult<JsFunction> {
    let function = native.to_js_function(context.realm());
    function.set_integrity_level(IntegrityLevel::Frozen, context)?;
    Ok(function)
}

fn key(name: &str) -> PropertyKey {
    PropertyKey::from(JsString::from(name))
}

/// A plain name of ASCII letters, digits and `_`.
fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_word)
        && name.starts_with(|first: char| !first.is_ascii_digit())
        && !RESERVED.contains(&name)
}

fn service_object(service: &str, context: &mut Context) -> JsResult<JsObject> {
    let target = JsObject::with_null_proto();
    target.set_integrity_level(IntegrityLevel::Frozen, context)?;
    let lookup = NativeFunction::from_copy_closure_with_captures(
        |_, args, service: &JsString, context| look_up_function(args, service, context),
        JsString::from(service),
    );
    proxy(target, lookup, context)
}

fn proxy(target: JsObject, lookup: NativeFunction, context: &mut Context) -> JsResult<JsObject> {
    let handler = JsObject::with_null_proto();
    let lookup = function(lookup, context)?;
    handler.create_data_property_or_throw(js_string!("get"), lookup, context)?;
    handler.set_integrity_level(IntegrityLevel::Frozen, context)?;
    let constructor = context.intrinsics().constructors().proxy().constructor();
    constructor.construct(&[target.into(), handler.into()], None, context)
}

/// The trap `get` of `tools`.
fn look_up_service(args: &[JsValue], known: &JsString, context: &mut Context) -> JsResult<JsValue> {
    let Some(name) = args.get_or_undefined(1).as_string() else {
        return Ok(JsValue::undefined());
    };
    let found = match args.get_or_undefined(0).as_object() {
        Some(members) => members.get(name.clone(), context)?,
        None => JsValue::undefined(),
    };
    let name = name.to_std_string_lossy();
    if found.is_undefined() && !NOT_FUNCTIONS.contains(&name.as_str()) {
        let name = bounded(&name, NAME_BYTES_MAX);
        let known = known.to_std_string_lossy();
        let message =
            format!("no service `{name}` whose tools this script may call; it has: {known}");
        return Err(JsNativeError::reference().with_message(message).into());
    }
    Ok(found)
}

/// The trap `get` of a service.
fn look_up_function(
    args: &[JsValue],
    service: &JsString,
    context: &mut Context,
) -> JsResult<JsValue> {
    let Some(name) = args.get_or_undefined(1).as_string() else {
        return Ok(JsValue::undefined());
    };
    let text = name.to_std_string_lossy();
    if text.len() > NAME_BYTES_MAX || NOT_FUNCTIONS.contains(&text.as_str()) {
        return Ok(JsValue::undefined());
    }
    let native = NativeFunction::from_copy_closure_with_captures(
        |_, args, (service, name): &(JsString, JsString), context| {
            call_tool(
                &service.to_std_string_lossy(),
                &name.to_std_string_lossy(),
                args,
                context,
            )
        },
        (service.clone(), name),
    );
    Ok(function(native, context)?.into())
}

fn call_tool(
    service: &str,
    function: &str,
    args: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    let called = format!("{service}.{function}");
    let given = args.get_or_undefined(0);
    let is_object = given
        .as_object()
        .is_some_and(|object| !object.is_array() && !object.is_callable());
    let arguments = match given.is_undefined() {
        true => Some("{}".to_owned()),
        false if is_object && args.len() == 1 => to_json::text(given, ARGUMENT_BYTES_MAX, context)?,
        false => None,
    };
    let Some(arguments) = arguments.filter(|text| text.starts_with('{')) else {
        let message = format!("`{called}` takes one object with its arguments");
        return Err(JsNativeError::typ().with_message(message).into());
    };
    ask(
        AskedKind::Tool { service, function },
        called,
        arguments,
        context,
    )
}
