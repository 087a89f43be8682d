//! The credential slots of a plugin, and the ones that its tools name.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::Path;
use syn::spanned::Spanned as _;

use crate::json::{Json, Key};

/// The names in the manifest's `auth`, in its order.
pub(crate) fn slot_names(members: &[(Key, Json)]) -> syn::Result<Vec<String>> {
    let Some((_, auth)) = members.iter().find(|(key, _)| key.name == "auth") else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for slot in auth.array()? {
        for (key, value) in slot.object()? {
            if key.name == "slot" {
                names.push(value.text()?.to_owned());
            }
        }
    }
    Ok(names)
}

/// Refuses, while compiling, a tool that names a slot which the plugin does not have.
pub(crate) fn slot_check(tool: &Path, slots: &[String]) -> TokenStream {
    let has = match slots {
        [] => "has no slot".to_owned(),
        all => format!("has {}", all.join(", ")),
    };
    let name = tool.segments.last().map(|last| last.ident.to_string());
    let message = format!(
        "`{}` names a slot in its `auth` that the plugin does not have: `auth` of `plugin!` {has}",
        name.unwrap_or_default()
    );
    quote_spanned! {tool.span()=>
        const _: () = if !::toolgate_sdk::__private::has_slots(
            <#tool as ::toolgate_sdk::__private::Tool>::SLOTS,
            &[#(#slots),*],
        ) {
            ::core::panic!("{}", #message)
        };
    }
}
