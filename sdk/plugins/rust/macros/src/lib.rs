//! The three macros of the plugin SDK. Use them through `toolgate_sdk`, which documents them.
//!
//! Everything they make is text that exists at compile time: the manifest is one static string,
//! and a mistake in it is a compile error at the place where it was written. Read [`json`]
//! (literals in token form), [`args`] (schemas), [`bounds`] (which values their keywords allow), [`mod@tool`], then [`mod@plugin`].

mod args;
mod bounds;
mod docs;
mod json;
mod plugin;
mod slots;
mod tool;

use proc_macro::TokenStream;

/// Makes a struct or an enum usable as a tool's arguments; see `toolgate_sdk::Args`.
#[proc_macro_derive(Args, attributes(arg))]
pub fn derive_args(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    args::derive(&input)
        .unwrap_or_else(|error| {
            let mut tokens = error.into_compile_error();
            tokens.extend(args::placeholder(&input));
            tokens
        })
        .into()
}

/// Makes a plain function a tool; see `toolgate_sdk::tool`.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = syn::parse_macro_input!(item as syn::ItemFn);
    tool::expand(attribute.into(), &function)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes the crate a plugin; see `toolgate_sdk::plugin`.
#[proc_macro]
pub fn plugin(input: TokenStream) -> TokenStream {
    plugin::expand(input.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
