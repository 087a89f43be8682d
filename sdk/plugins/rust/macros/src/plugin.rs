//! `plugin! { ... }`: the manifest, the table of tools and the component's exports.
//!
//! Keys are checked against the manifest's shape here, so that a mistake is a compile error at the
//! word itself; the gateway checks the meaning again when it loads the file.

pub(crate) mod shape;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, Path, Token, bracketed};

use crate::json::{self, Json, Key};
use crate::slots::{slot_check, slot_names};
use shape::{TOP, check_shape, check_values};

struct Input {
    members: Vec<(Key, Json)>,
    tools: Vec<Path>,
    /// The function that reads deliveries.
    normalize: Option<Path>,
}

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

pub(crate) fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let input: Input = read.parse2(input)?;
    check_shape(&input.members, TOP, Span::call_site())?;
    check_values(&input.members)?;
    check_reader(&input.members, input.normalize.as_ref())?;
    if input.tools.is_empty() {
        return Err(syn::Error::new(
            Span::call_site(),
            "a plugin has at least one tool: `tools: [...]`",
        ));
    }
    let slots = slot_names(&input.members)?;
    let manifest = manifest(&input, &slots)?;
    let plugin = plugin(&input, &slots);
    let exports = exports(&input)?;
    Ok(quote! {
        #manifest
        #plugin
        #exports
    })
}

/// The constant with the manifest: texts of this macro around the specifications of the tools.
fn manifest(input: &Input, slots: &[String]) -> syn::Result<TokenStream> {
    let ManifestTexts {
        head,
        version,
        rest,
    } = ManifestTexts::write(&input.members)?;
    let slots_text = json::auth_member(slots);
    let listed = input.tools.iter().enumerate().map(|(index, tool)| {
        let comma = if index == 0 { "" } else { "," };
        quote! {
            Part::Text(#comma),
            Part::Nested(<#tool as Tool>::SPEC),
            Part::Text(match <#tool as Tool>::AUTH {
                Some(own) => own,
                None => #slots_text,
            }),
            Part::Text("}")
        }
    });
    let slot_checks = input.tools.iter().map(|tool| slot_check(tool, slots));
    Ok(quote! {
        /// The manifest of this plugin, as one JSON document.
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
    })
}

/// The manifest up to its tools.
struct ManifestTexts {
    /// Up to the value of `version`.
    head: String,
    /// The expression for the value of `version`: that of the plugin's crate where none is written.
    version: TokenStream,
    /// From the end of `version` to the first tool.
    rest: String,
}

impl ManifestTexts {
    fn write(members: &[(Key, Json)]) -> syn::Result<Self> {
        let mut texts = Self {
            head: "{\"manifest\":1".to_owned(),
            version: quote!(env!("CARGO_PKG_VERSION")),
            rest: "\"".to_owned(),
        };
        for (key, value) in members {
            let text = match key.name.as_str() {
                "version" => {
                    let version = value.text()?;
                    texts.version = quote!(#version);
                    continue;
                }
                "service" | "title" => &mut texts.head,
                _ => &mut texts.rest,
            };
            text.push(',');
            json::quote(&key.name, text);
            text.push(':');
            value.write(text);
        }
        texts.head.push_str(",\"version\":\"");
        texts.rest.push_str(",\"tools\":[");
        Ok(texts)
    }
}

fn plugin(input: &Input, slots: &[String]) -> TokenStream {
    let reader = match &input.normalize {
        Some(path) => quote!(::core::option::Option::Some(#path)),
        None => quote!(::core::option::Option::None),
    };
    let tools = &input.tools;
    quote! {
        /// The plugin as its tests run it.
        pub static PLUGIN: ::toolgate_sdk::Plugin = {
            use ::toolgate_sdk::__private::Tool;
            ::toolgate_sdk::Plugin {
                manifest: MANIFEST,
                slots: &[#(#slots),*],
                tools: &[#(::toolgate_sdk::__private::entry::<#tools>()),*],
                normalize: #reader,
            }
        };
    }
}

/// What the component exports, and the section with its manifest.
fn exports(input: &Input) -> syn::Result<TokenStream> {
    let log_panics = log_panics(&input.members)?;
    let normalize = input.normalize.as_ref();
    let second_export = normalize.map(|path| second_export(path, &log_panics));
    Ok(quote! {
        #[cfg(target_family = "wasm")]
        const _: () = {
            #[used]
            #[allow(unsafe_code, reason = "a section of the component")]
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
