//! JSON written as Rust tokens: `{ slot: "user", scopes: ["repo"], pkce: true }`.
//!
//! Keys may be bare words (keywords too) or strings. Order is kept. Nothing else of Rust is
//! accepted, so the text is known at compile time.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Lit, LitStr, Token, braced, bracketed};

const JSON_VALUE: &str =
    "expected a JSON value: a string, a number, true, false, null, [...] or { ... }";

/// A value and where it was written.
pub(crate) struct Json {
    pub span: Span,
    pub value: Value,
}

pub(crate) enum Value {
    Null,
    Bool(bool),
    /// As written; Rust's and JSON's spelling of the accepted numbers agree.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(Key, Json)>),
}

pub(crate) struct Key {
    pub span: Span,
    pub name: String,
}

impl Parse for Key {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            Ok(Self {
                span: text.span(),
                name: text.value(),
            })
        } else {
            let word = input.call(Ident::parse_any)?;
            Ok(Self {
                span: word.span(),
                name: word.unraw().to_string(),
            })
        }
    }
}

impl Parse for Json {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let span = input.span();
        let value = if input.peek(syn::token::Brace) {
            let inner;
            braced!(inner in input);
            Value::Object(members(&inner)?)
        } else if input.peek(syn::token::Bracket) {
            let inner;
            bracketed!(inner in input);
            let all = inner.parse_terminated(Json::parse, Token![,])?;
            Value::Array(all.into_iter().collect())
        } else if input.peek(Token![-]) {
            input.parse::<Token![-]>()?;
            Value::Number(format!("-{}", number(&input.parse()?)?))
        } else if input.peek(Ident) {
            let word: Ident = input.parse()?;
            if word == "null" {
                Value::Null
            } else {
                return Err(syn::Error::new(span, JSON_VALUE));
            }
        } else {
            match input.parse::<Lit>()? {
                Lit::Str(text) => Value::Text(text.value()),
                Lit::Bool(value) => Value::Bool(value.value),
                other => Value::Number(number(&other)?),
            }
        };
        Ok(Self { span, value })
    }
}

/// The members of an object, without its braces.
pub(crate) fn members(input: ParseStream<'_>) -> syn::Result<Vec<(Key, Json)>> {
    let mut all: Vec<(Key, Json)> = Vec::new();
    while !input.is_empty() {
        let key: Key = input.parse()?;
        if all.iter().any(|(known, _)| known.name == key.name) {
            return Err(syn::Error::new(
                key.span,
                format!("`{}` is set twice", key.name),
            ));
        }
        input.parse::<Token![:]>()?;
        all.push((key, input.parse()?));
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(all)
}

fn number(literal: &Lit) -> syn::Result<String> {
    match literal {
        Lit::Int(value) if value.suffix().is_empty() => Ok(value.base10_digits().to_owned()),
        Lit::Float(value) if value.suffix().is_empty() => {
            let digits = value.base10_digits();
            Ok(if digits.ends_with('.') {
                format!("{digits}0")
            } else {
                digits.to_owned()
            })
        }
        other => Err(syn::Error::new(other.span(), JSON_VALUE)),
    }
}

impl Json {
    pub(crate) fn text(&self) -> syn::Result<&str> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => Err(syn::Error::new(self.span, "expected a string: \"...\"")),
        }
    }

    pub(crate) fn array(&self) -> syn::Result<&[Json]> {
        match &self.value {
            Value::Array(all) => Ok(all),
            _ => Err(syn::Error::new(self.span, "expected an array: [...]")),
        }
    }

    pub(crate) fn object(&self) -> syn::Result<&[(Key, Json)]> {
        match &self.value {
            Value::Object(all) => Ok(all),
            _ => Err(syn::Error::new(self.span, "expected an object: { ... }")),
        }
    }

    /// Compact JSON text.
    pub(crate) fn write(&self, out: &mut String) {
        match &self.value {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(digits) => out.push_str(digits),
            Value::Text(text) => quote(text, out),
            Value::Array(all) => {
                out.push('[');
                for (index, one) in all.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    one.write(out);
                }
                out.push(']');
            }
            Value::Object(all) => {
                out.push('{');
                for (index, (key, one)) in all.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    quote(&key.name, out);
                    out.push(':');
                    one.write(out);
                }
                out.push('}');
            }
        }
    }

    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// Writes `text` as a JSON string (RFC 8259, section 7).
pub(crate) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// [`quote()`] into a new string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::new();
    quote(text, &mut out);
    out
}

/// The array of `all` as strings.
pub(crate) fn list(all: &[String]) -> String {
    let quoted: Vec<String> = all.iter().map(|one| quoted(one)).collect();
    format!("[{}]", quoted.join(","))
}

/// A tool's `auth` member with its leading comma; empty without slots.
pub(crate) fn auth_member(slots: &[String]) -> String {
    if slots.is_empty() {
        String::new()
    } else {
        format!(",\"auth\":{}", list(slots))
    }
}
