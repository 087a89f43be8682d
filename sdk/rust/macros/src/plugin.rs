//! `plugin! { ... }`: the manifest, the table of tools and the component's exports.
//!
//! Keys are checked against the manifest's shape here, so that a slip is a compile error at the
//! word itself; the gateway checks the meaning again when it loads the file.

#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, Path, Token, bracketed};

use crate::json::{self, Json, Key, Value};
use crate::slots::{slot_check, slot_names};

struct Input {
    members: Vec<(Key, Json)>,
    tools: Vec<Path>,
    /// The function that reads deliveries.
    normalize: Option<Path>,
}

/// The keys of one object: name, and whether it must be there.
type Shape = &'static [(&'static str, bool)];

const TOP: Shape = &[
    ("service", true),
    ("title", true),
    ("version", false),
    ("description", true),
    ("homepage", false),
    ("categories", false),
    ("hosts", false),
    ("request_headers", false),
    ("response_headers", false),
    ("response_types", false),
    ("capabilities", false),
    ("auth", false),
    ("parameters", false),
    ("config", false),
    ("limits", false),
    ("webhook", false),
];
const WEBHOOK: Shape = &[
    ("signature", true),
    ("delivery", false),
    ("challenge", false),
    ("event", false),
];
const SIGNATURE: Shape = &[
    ("header", true),
    ("element", false),
    ("prefix", false),
    ("signed", true),
    ("timestamp", false),
];
const SLOT: Shape = &[
    ("slot", true),
    ("title", true),
    ("type", true),
    ("authorize_url", false),
    ("token_url", false),
    ("revoke_url", false),
    ("issuer", false),
    ("pkce", false),
    ("scopes", false),
    ("scope_separator", false),
    ("authorize_params", false),
    ("token_auth", false),
    ("refresh_url", false),
    ("token_params", false),
    ("refresh_params", false),
    ("client_id_param", false),
    ("client_secret_param", false),
    ("redirect_uri_param", false),
    ("scope_param", false),
    ("scope_with", false),
    ("token_body", false),
    ("token_answer", false),
    ("token_lifetime_s", false),
    ("revoke_param", false),
    ("fields", false),
    ("placement", true),
    ("audience", true),
    ("expired", false),
    ("account", false),
    ("token_parameters", false),
];
const FIELD: Shape = &[
    ("key", true),
    ("title", true),
    ("secret", false),
    ("help", false),
];
const TOKEN_ANSWER: Shape = &[
    ("access_token", false),
    ("refresh_token", false),
    ("expires_in", false),
    ("refresh_token_expires_in", false),
    ("scope", false),
    ("error", false),
];
const ACCOUNT: Shape = &[("request", true), ("label", true)];
const PLACEMENTS: [(&str, Shape); 6] = [
    ("header", &[("header", true), ("template", false)]),
    ("query", &[("query", true), ("template", false)]),
    ("path", &[("path", true)]),
    ("body", &[("body", true), ("template", false)]),
    ("basic", &[("basic", true)]),
    ("aws_sigv4", &[("aws_sigv4", true)]),
];
const PARAMETER: Shape = &[
    ("key", true),
    ("title", true),
    ("pattern", false),
    ("enum", false),
    ("default", false),
    ("required", false),
    ("help", false),
];
const CONFIG: Shape = &[
    ("key", true),
    ("title", true),
    ("schema", true),
    ("adds_host", false),
];
const LIMITS: Shape = &[
    ("timeout_ms", false),
    ("memory_mib", false),
    ("response_mib", false),
];

fn read(input: ParseStream<'_>) -> syn::Result<Input> {
    let mut members = Vec::new();
    let mut tools = Vec::new();
    let mut normalize = None;
    let mut seen: Vec<String> = Vec::new();
    while !input.is_empty() {
        let fork = input.fork();
        if let Ok(key) = fork.parse::<Key>() {
            if seen.contains(&key.name) {
                let message = format!("`{}` is set twice", key.name);
                return Err(syn::Error::new(key.span, message));
            }
            seen.push(key.name);
        }
        let word = match input.peek(Ident::peek_any) {
            true => Some(input.fork().call(Ident::parse_any)?),
            false => None,
        };
        if word.as_ref().is_some_and(|word| word == "normalize") {
            input.call(Ident::parse_any)?;
            input.parse::<Token![:]>()?;
            normalize = Some(Path::parse_mod_style(input)?);
        } else if word.is_some_and(|word| word == "tools") {
            input.call(Ident::parse_any)?;
            input.parse::<Token![:]>()?;
            let inner;
            bracketed!(inner in input);
            tools.extend(inner.parse_terminated(Path::parse_mod_style, Token![,])?);
        } else {
            let key: Key = input.parse()?;
            input.parse::<Token![:]>()?;
            members.push((key, input.parse::<Json>()?));
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(Input {
        members,
        tools,
        normalize,
    })
}

/// Deliveries are read by the manifest or by a function, and by one of them alone.
fn check_reader(members: &[(Key, Json)], normalize: Option<&Path>) -> syn::Result<()> {
    let webhook = members.iter().find(|(key, _)| key.name == "webhook");
    let Some((key, webhook)) = webhook else {
        return match normalize {
            Some(path) => Err(syn::Error::new_spanned(
                path,
                "`normalize` reads what `webhook` says is signed; name that too",
            )),
            None => Ok(()),
        };
    };
    let event = webhook.object()?.iter().any(|(key, _)| key.name == "event");
    match (event, normalize) {
        (true, None) | (false, Some(_)) => Ok(()),
        (false, None) => Err(syn::Error::new(
            key.span,
            "say how a delivery is read: `event` in `webhook`, or `normalize: path` beside it",
        )),
        (true, Some(path)) => Err(syn::Error::new_spanned(
            path,
            "`webhook` says with `event` how a delivery is read; leave one of them out",
        )),
    }
}

pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Input {
        members,
        tools,
        normalize,
    } = read.parse2(input)?;
    check_shape(&members, TOP, Span::call_site())?;
    check_values(&members)?;
    check_reader(&members, normalize.as_ref())?;
    if tools.is_empty() {
        return Err(syn::Error::new(
            Span::call_site(),
            "a plugin has at least one tool: `tools: [...]`",
        ));
    }

    let mut head = "{\"manifest\":1".to_owned();
    let mut version = quote!(env!("CARGO_PKG_VERSION"));
    let mut rest = String::new();
    for (key, value) in &members {
        match key.name.as_str() {
            "version" => {
                let text = value.text()?;
                version = quote!(#text);
            }
            "service" | "title" => {
                head.push(',');
                json::quote(&key.name, &mut head);
                head.push(':');
                value.write(&mut head);
            }
            _ => {
                rest.push(',');
                json::quote(&key.name, &mut rest);
                rest.push(':');
                value.write(&mut rest);
            }
        }
    }
    head.push_str(",\"version\":\"");
    rest.insert(0, '"');
    rest.push_str(",\"tools\":[");

    let slots = slot_names(&members)?;
    let slots_text = json::auth_member(&slots);
    let mut listed = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        listed.push(quote! {
            Part::Text(#comma),
            Part::Nested(<#tool as Tool>::SPEC),
            Part::Text(match <#tool as Tool>::AUTH {
                Some(own) => own,
                None => #slots_text,
            }),
            Part::Text("}")
        });
    }
    let reader = match &normalize {
        Some(path) => quote!(::core::option::Option::Some(#path)),
        None => quote!(::core::option::Option::None),
    };
    let log_panics = log_panics(&members)?;
    let second_export = normalize
        .as_ref()
        .map(|path| second_export(path, &log_panics));
    let slot_checks: Vec<TokenStream> = tools.iter().map(|tool| slot_check(tool, &slots)).collect();
    let tool_paths: Vec<TokenStream> = tools.iter().map(ToTokens::to_token_stream).collect();
    Ok(quote! {
        /// What this plugin is, needs and offers, as one JSON document.
        pub const MANIFEST: &str = {
            use ::toolgate_sdk::__private::Tool;
            use ::toolgate_sdk::schema::{Part, Parts, length, write};
            #(#slot_checks)*
            const PARTS: Parts = &[
                Part::Text(#head),
                Part::Text(#version),
                Part::Text(#rest),
                #(#listed,)*
                Part::Text("]}"),
            ];
            const BYTES: [u8; length(PARTS)] = write(PARTS);
            match ::core::str::from_utf8(&BYTES) {
                Ok(text) => text,
                Err(_) => panic!("the manifest is made of whole strings"),
            }
        };

        /// The plugin as its tests run it.
        pub static PLUGIN: ::toolgate_sdk::Plugin = {
            use ::toolgate_sdk::__private::Tool;
            ::toolgate_sdk::Plugin {
                manifest: MANIFEST,
                slots: &[#(#slots),*],
                tools: &[#(::toolgate_sdk::__private::entry::<#tool_paths>()),*],
                normalize: #reader,
            }
        };

        #[cfg(target_family = "wasm")]
        const _: () = {
            #[used]
            #[allow(unsafe_code)]
            #[unsafe(link_section = "toolgate:manifest")]
            static SECTION: [u8; MANIFEST.len()] =
                ::toolgate_sdk::__private::bytes_of::<{ MANIFEST.len() }>(MANIFEST);

            struct Component;
            impl ::toolgate_sdk::__private::Guest for Component {
                fn describe() -> ::std::string::String {
                    MANIFEST.into()
                }
                fn invoke(
                    call: ::toolgate_sdk::__private::Invocation,
                ) -> ::core::result::Result<
                    ::toolgate_sdk::__private::GuestOutput,
                    ::toolgate_sdk::__private::GuestError,
                > {
                    #log_panics
                    ::toolgate_sdk::__private::invoke(&PLUGIN, call)
                }
            }
            ::toolgate_sdk::__private::export_plugin!(
                Component with_types_in ::toolgate_sdk::__private::bindings
            );
            #second_export
        };
    })
}

/// A plugin without capabilities imports nothing, not even the log: an instance is made for every call,
/// and with an import that takes text a component has three modules and not one.
fn log_panics(members: &[(Key, Json)]) -> syn::Result<Option<TokenStream>> {
    let capabilities = members.iter().find(|(key, _)| key.name == "capabilities");
    Ok(match capabilities {
        Some((_, list)) if !list.array()?.is_empty() => {
            Some(quote!(::toolgate_sdk::__private::log_panics();))
        }
        _ => None,
    })
}

fn second_export(normalize: &Path, log_panics: &Option<TokenStream>) -> TokenStream {
    quote! {
        impl ::toolgate_sdk::__private::WebhookGuest for Component {
            fn normalize(
                delivery: ::toolgate_sdk::__private::GuestDelivery,
            ) -> ::core::result::Result<
                ::std::vec::Vec<::toolgate_sdk::__private::GuestEvent>,
                ::toolgate_sdk::__private::GuestError,
            > {
                #log_panics
                ::toolgate_sdk::__private::normalize(#normalize, delivery)
            }
        }
        ::toolgate_sdk::__private::export_webhook!(
            Component with_types_in ::toolgate_sdk::__private::bindings::webhook
        );
    }
}

fn check_shape(members: &[(Key, Json)], shape: Shape, whole: Span) -> syn::Result<()> {
    for (key, _) in members {
        if !shape.iter().any(|(name, _)| *name == key.name) {
            let known: Vec<&str> = shape.iter().map(|(name, _)| *name).collect();
            return Err(syn::Error::new(
                key.span,
                format!("unknown key `{}`; known are {}", key.name, known.join(", ")),
            ));
        }
    }
    for (name, needed) in shape {
        if *needed && !members.iter().any(|(key, _)| key.name == *name) {
            return Err(syn::Error::new(whole, format!("`{name}` is missing")));
        }
    }
    Ok(())
}

fn check_each(value: &Json, shape: Shape) -> syn::Result<()> {
    for one in value.array()? {
        check_shape(one.object()?, shape, one.span)?;
    }
    Ok(())
}

fn check_word(value: &Json, known: &[&str]) -> syn::Result<()> {
    if known.contains(&value.text()?) {
        return Ok(());
    }
    Err(syn::Error::new(
        value.span,
        format!("expected one of {}", known.join(", ")),
    ))
}

fn check_values(members: &[(Key, Json)]) -> syn::Result<()> {
    for (key, value) in members {
        match key.name.as_str() {
            "service" => {
                let name = value.text()?;
                let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
                let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                if !starts || !name.chars().all(rest) {
                    return Err(syn::Error::new(
                        value.span,
                        "a service name matches [a-z][a-z0-9_]*",
                    ));
                }
            }
            "capabilities" => {
                for one in value.array()? {
                    check_word(one, &["egress", "blobs", "kv", "wasi-http"])?;
                }
            }
            "auth" => {
                for one in value.array()? {
                    check_slot(one)?;
                }
            }
            "parameters" => check_each(value, PARAMETER)?,
            "config" => check_each(value, CONFIG)?,
            "limits" => check_shape(value.object()?, LIMITS, value.span)?,
            "webhook" => check_webhook(value)?,
            "hosts" | "categories" | "request_headers" | "response_headers" | "response_types" => {
                for one in value.array()? {
                    one.text()?;
                }
            }
            _ => {
                value.text()?;
            }
        }
    }
    Ok(())
}

fn check_webhook(webhook: &Json) -> syn::Result<()> {
    let members = webhook.object()?;
    check_shape(members, WEBHOOK, webhook.span)?;
    for (key, value) in members {
        if key.name == "signature" {
            check_shape(value.object()?, SIGNATURE, value.span)?;
        }
    }
    Ok(())
}

fn check_slot(slot: &Json) -> syn::Result<()> {
    let members = slot.object()?;
    check_shape(members, SLOT, slot.span)?;
    for (key, value) in members {
        match key.name.as_str() {
            "type" => check_word(
                value,
                &[
                    "oauth2",
                    "oauth2_client_credentials",
                    "api_key",
                    "bearer",
                    "basic",
                ],
            )?,
            "token_auth" => check_word(value, &["basic", "basic_raw", "post", "none"])?,
            "token_body" => check_word(value, &["form", "json"])?,
            "token_answer" => check_shape(value.object()?, TOKEN_ANSWER, value.span)?,
            "scope_with" => {
                for one in value.array()? {
                    check_word(one, &["code", "refresh"])?;
                }
            }
            "fields" => check_each(value, FIELD)?,
            "account" => check_shape(value.object()?, ACCOUNT, value.span)?,
            "placement" => match &value.value {
                Value::Array(all) => all.iter().try_for_each(check_placement)?,
                _ => check_placement(value)?,
            },
            _ => {}
        }
    }
    Ok(())
}

fn check_placement(placement: &Json) -> syn::Result<()> {
    let members = placement.object()?;
    for (name, shape) in PLACEMENTS {
        if members.iter().any(|(key, _)| key.name == name) {
            return check_shape(members, shape, placement.span);
        }
    }
    Err(syn::Error::new(
        placement.span,
        "a placement is one of header, query, path, body, basic, aws_sigv4",
    ))
}
