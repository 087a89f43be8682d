//! `#[tool(...)]`: keeps a plain function and adds a tool that calls it.
//!
//! The tool is a type of the function's own name (types and functions live in different
//! namespaces), which `plugin!` lists. Its description is the doc comment.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned as _;
use syn::{FnArg, Ident, ItemFn, Token, Type};

use crate::docs;
use crate::json::{self, Json};
use crate::plugin::shape::check_trigger;

#[derive(Default)]
struct Options {
    effect: Option<String>,
    title: Option<String>,
    idempotent: bool,
    paginated: bool,
    auth_optional: bool,
    auth: Option<Vec<String>>,
    scopes: Vec<String>,
    keywords: Vec<String>,
    requests: Vec<String>,
    queries: Vec<String>,
    triggers: Vec<Json>,
    examples: Vec<Json>,
    deprecated: Option<String>,
}

const WORDS: [&str; 13] = [
    "effect",
    "title",
    "idempotent",
    "paginated",
    "auth",
    "auth_optional",
    "scopes",
    "keywords",
    "requests",
    "queries",
    "trigger",
    "example",
    "deprecated",
];

fn read(input: ParseStream<'_>) -> syn::Result<Options> {
    let mut options = Options::default();
    while !input.is_empty() {
        let word: Ident = input.parse()?;
        if !WORDS.contains(&word.to_string().as_str()) {
            let message = format!("unknown word `{word}`; `tool` takes {}", WORDS.join(", "));
            return Err(syn::Error::new(word.span(), message));
        }
        match word.to_string().as_str() {
            "idempotent" => options.idempotent = true,
            "paginated" => options.paginated = true,
            "auth_optional" => options.auth_optional = true,
            name => {
                input.parse::<Token![=]>()?;
                let value: Json = input.parse()?;
                match name {
                    "effect" => {
                        let effect = value.text()?;
                        if !["read", "write", "destructive"].contains(&effect) {
                            return Err(syn::Error::new(
                                value.span,
                                "effect is \"read\", \"write\" or \"destructive\"",
                            ));
                        }
                        options.effect = Some(effect.to_owned());
                    }
                    "title" => options.title = Some(value.text()?.to_owned()),
                    "deprecated" => options.deprecated = Some(value.text()?.to_owned()),
                    "auth" => options.auth = Some(texts(&value)?),
                    "scopes" => options.scopes = texts(&value)?,
                    "keywords" => options.keywords = texts(&value)?,
                    "requests" => options.requests = texts(&value)?,
                    "queries" => options.queries = texts(&value)?,
                    "trigger" => {
                        check_trigger(&value)?;
                        options.triggers.push(value);
                    }
                    // `example`, the last of the words.
                    _ => {
                        value.object()?;
                        options.examples.push(value);
                    }
                }
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(options)
}

fn texts(value: &Json) -> syn::Result<Vec<String>> {
    value
        .array()?
        .iter()
        .map(|one| one.text().map(str::to_owned))
        .collect()
}

pub(crate) fn expand(attribute: TokenStream, function: &ItemFn) -> syn::Result<TokenStream> {
    let options = read.parse2(attribute)?;
    let name = &function.sig.ident;
    let name_text = name.to_string();
    let (head, tail) = specification(&options, function)?;
    let (args_type, call) = signature(function)?;
    let schema = if options.paginated {
        quote!(PagedOf)
    } else {
        quote!(ObjectOf)
    };
    let (slots, auth) = match &options.auth {
        Some(all) => {
            let member = json::auth_member(all);
            (quote!(Some(&[#(#all),*])), quote!(Some(#member)))
        }
        None => (quote!(None), quote!(None)),
    };
    let (paginated, auth_optional) = (options.paginated, options.auth_optional);
    // A type that does not derive `Args` is an error at the type itself.
    let takes = quote_spanned! {args_type.span()=>
        const _: () = ::toolgate_sdk::__private::takes::<#args_type>();
    };
    Ok(quote! {
        #function

        #takes

        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "named as its function")]
        pub enum #name {}

        impl ::toolgate_sdk::__private::Tool for #name {
            const NAME: &'static str = #name_text;
            const SLOTS: Option<&'static [&'static str]> = #slots;
            const AUTH: Option<&'static str> = #auth;
            const PAGINATED: bool = #paginated;
            const AUTH_OPTIONAL: bool = #auth_optional;
            const SPEC: ::toolgate_sdk::schema::Parts = &[
                ::toolgate_sdk::schema::Part::Text(#head),
                ::toolgate_sdk::schema::Part::Text("{"),
                ::toolgate_sdk::schema::Part::Nested(
                    ::toolgate_sdk::schema::#schema::<#args_type>::MEMBERS,
                ),
                ::toolgate_sdk::schema::Part::Text("}"),
                ::toolgate_sdk::schema::Part::Text(#tail),
            ];
            fn run(
                arguments: ::toolgate_sdk::Value,
                cx: &::toolgate_sdk::Context,
            ) -> ::core::result::Result<::toolgate_sdk::Output, ::toolgate_sdk::ToolError> {
                let args: #args_type = ::toolgate_sdk::__private::arguments(arguments)?;
                ::toolgate_sdk::IntoOutput::into_output(#call?)
            }
        }
    })
}

/// The tool's entry in the manifest as two texts: before its input schema, and after it up to `auth`.
fn specification(options: &Options, function: &ItemFn) -> syn::Result<(String, String)> {
    let name = &function.sig.ident;
    let Some(effect) = &options.effect else {
        return Err(syn::Error::new(
            name.span(),
            "say what the tool does: #[tool(effect = \"read\" | \"write\" | \"destructive\")]",
        ));
    };
    if effect != "read"
        && let Some(trigger) = options.triggers.first()
    {
        return Err(syn::Error::new(
            trigger.span,
            "only a tool with `effect = \"read\"` is polled",
        ));
    }
    let description = docs::text(&function.attrs);
    if description.is_empty() {
        return Err(syn::Error::new(
            name.span(),
            "a tool needs a doc comment: it is the description that people and models choose by",
        ));
    }
    let name = name.to_string();
    let title = options.title.clone();
    let title = title.unwrap_or_else(|| docs::title_case(&name));
    let head = format!(
        "{{\"name\":{},\"title\":{},\"description\":{},\"input\":",
        json::quoted(&name),
        json::quoted(&title),
        json::quoted(&description)
    );
    let mut tail = format!(",\"effect\":\"{effect}\"");
    for (set, word) in [
        (options.idempotent, "idempotent"),
        (options.paginated, "paginated"),
        (options.auth_optional, "auth_optional"),
    ] {
        if set {
            tail.push_str(&format!(",\"{word}\":true"));
        }
    }
    for (all, word) in [
        (&options.scopes, "scopes"),
        (&options.keywords, "keywords"),
        (&options.requests, "requests"),
        (&options.queries, "queries"),
    ] {
        if !all.is_empty() {
            tail.push_str(&format!(",\"{word}\":{}", json::list(all)));
        }
    }
    for (all, word) in [
        (&options.triggers, "triggers"),
        (&options.examples, "examples"),
    ] {
        if !all.is_empty() {
            let texts: Vec<String> = all.iter().map(Json::to_text).collect();
            tail.push_str(&format!(",\"{word}\":[{}]", texts.join(",")));
        }
    }
    if let Some(reason) = &options.deprecated {
        tail.push_str(&format!(",\"deprecated\":{}", json::quoted(reason)));
    }
    Ok((head, tail))
}

/// The type of the arguments and the call: `f(args, cx)`, `f(args)` or `f(cx)`.
fn signature(function: &ItemFn) -> syn::Result<(TokenStream, TokenStream)> {
    let name = &function.sig.ident;
    let mut args_type = quote!(::toolgate_sdk::NoArgs);
    let mut passed = Vec::new();
    for input in &function.sig.inputs {
        let FnArg::Typed(input) = input else {
            return Err(syn::Error::new(name.span(), "a tool is a plain function"));
        };
        match &*input.ty {
            Type::Reference(_) => passed.push(quote!(cx)),
            ty if passed.is_empty() => {
                args_type = quote!(#ty);
                passed.push(quote!(args));
            }
            _ => return Err(syn::Error::new(name.span(), SHAPE)),
        }
    }
    if passed.len() > 2 || function.sig.asyncness.is_some() {
        return Err(syn::Error::new(name.span(), SHAPE));
    }
    let call = if passed.iter().any(|one| one.to_string() == "args") {
        quote!(#name(#(#passed),*))
    } else {
        quote!({ let ::toolgate_sdk::NoArgs {} = args; #name(#(#passed),*) })
    };
    Ok((args_type, call))
}

const SHAPE: &str =
    "a tool is `fn name(args: MyArgs, cx: &Context) -> Result<impl Serialize, ToolError>`";
