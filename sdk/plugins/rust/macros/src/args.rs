//! `#[derive(Args)]`: serde on one side, a JSON Schema (2020-12) known at compile time on the other.
//!
//! A struct becomes an object schema that refuses unknown properties; an enum of unit variants
//! becomes a string with `enum`. The schema is a constant tree of text pieces
//! (`toolgate_sdk::schema`), so nested types cost nothing at run time. The serde side is written with
//! the shared functions of `toolgate_sdk::fields`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, Ident, Token, Type};

use crate::bounds::{self, ArgKeyword};
use crate::docs;
use crate::json::{self, Json, Value};

/// The options that `#[arg(...)]` takes for a field or a variant.
#[derive(Default)]
struct Options {
    rename: Option<String>,
    default: Option<Json>,
    path: bool,
    keywords: Vec<ArgKeyword>,
}

/// Schema keywords by the word an author writes, with the kind of value each takes.
const KEYWORDS: [(&str, &str); 14] = [
    ("min", "minimum"),
    ("max", "maximum"),
    ("exclusive_min", "exclusiveMinimum"),
    ("exclusive_max", "exclusiveMaximum"),
    ("multiple_of", "multipleOf"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
    ("min_properties", "minProperties"),
    ("unique_items", "uniqueItems"),
    ("pattern", "pattern"),
    ("format", "format"),
    ("examples", "examples"),
];

impl Options {
    fn read(attributes: &[syn::Attribute]) -> syn::Result<Self> {
        let mut options = Self::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("arg")) {
            attribute.parse_args_with(|input: ParseStream<'_>| {
                while !input.is_empty() {
                    options.read_one(input)?;
                    if !input.is_empty() {
                        input.parse::<Token![,]>()?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(options)
    }

    fn read_one(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let word: Ident = input.parse()?;
        let name = word.to_string();
        if name == "path" {
            self.path = true;
            return Ok(());
        }
        if name == "unique_items" && !input.peek(Token![=]) {
            self.keywords.push(ArgKeyword {
                word: "unique_items",
                name: "uniqueItems",
                text: "true".to_owned(),
                span: word.span(),
            });
            return Ok(());
        }
        let known = |(written, _): &(&str, &str)| *written == name;
        if !matches!(name.as_str(), "rename" | "default") && !KEYWORDS.iter().any(known) {
            let known: Vec<&str> = KEYWORDS.iter().map(|(written, _)| *written).collect();
            return Err(syn::Error::new(
                word.span(),
                format!(
                    "unknown word `{name}`; `arg` takes rename, default, path, {}",
                    known.join(", ")
                ),
            ));
        }
        input.parse::<Token![=]>()?;
        let value = Json::parse(input)?;
        match name.as_str() {
            "rename" => self.rename = Some(value.text()?.to_owned()),
            "default" => self.default = Some(value),
            _ => {
                let keyword = KEYWORDS.iter().find(|(written, _)| *written == name);
                self.keywords.extend(keyword.map(|(word, name)| ArgKeyword {
                    word,
                    name,
                    text: value.to_text(),
                    span: value.span,
                }));
            }
        }
        Ok(())
    }
}

/// Implementations for a type whose derive has failed, so that the compiler reports only that error.
pub(crate) fn placeholder(input: &DeriveInput) -> TokenStream {
    if !input.generics.params.is_empty() {
        return TokenStream::new();
    }
    let name = &input.ident;
    quote! {
        const _: () = {
            use ::toolgate_sdk::__private::serde;
            impl<'de> serde::Deserialize<'de> for #name {
                fn deserialize<D: serde::Deserializer<'de>>(_: D) -> ::core::result::Result<Self, D::Error> {
                    ::core::unreachable!()
                }
            }
            impl serde::Serialize for #name {
                fn serialize<S: serde::Serializer>(&self, _: S) -> ::core::result::Result<S::Ok, S::Error> {
                    ::core::unreachable!()
                }
            }
            impl ::toolgate_sdk::schema::Args for #name {
                const PROPERTIES: ::toolgate_sdk::schema::Parts = &[];
                const REQUIRED: &'static str = "";
            }
            impl ::toolgate_sdk::schema::Schema for #name {
                const MEMBERS: ::toolgate_sdk::schema::Parts =
                    &[::toolgate_sdk::schema::Part::Text("\"type\":\"object\"")];
            }
        };
    }
}

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(syn::Error::new(
            input.generics.span(),
            "Args needs a concrete type: its schema is written at compile time",
        ));
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => structure(&input.ident, fields.named.iter()),
            Fields::Unit => structure(&input.ident, [].into_iter()),
            Fields::Unnamed(_) => Err(syn::Error::new(
                input.ident.span(),
                "Args needs named fields: arguments are a JSON object",
            )),
        },
        Data::Enum(data) => enumeration(&input.ident, data),
        Data::Union(_) => Err(syn::Error::new(
            input.ident.span(),
            "Args needs a struct or an enum",
        )),
    }
}

fn structure<'a>(
    name: &Ident,
    fields: impl Iterator<Item = &'a Field>,
) -> syn::Result<TokenStream> {
    let fields: Vec<ArgField<'a>> = fields.map(ArgField::read).collect::<syn::Result<_>>()?;
    let checks = fields.iter().filter_map(ArgField::default_check);
    let builders = fields.iter().map(ArgField::builder);
    let members = fields.iter().filter_map(ArgField::member);
    let properties = fields.iter().enumerate();
    let properties = properties.map(|(index, field)| field.property(index == 0));
    let required: Vec<String> = fields
        .iter()
        .filter(|field| field.is_required())
        .map(|field| json::quoted(&field.key))
        .collect();
    let required = required.join(",");
    Ok(quote! {
        const _: () = {
            use ::toolgate_sdk::__private::{fields, serde};
            #(#checks)*
            impl<'de> serde::Deserialize<'de> for #name {
                fn deserialize<D: serde::Deserializer<'de>>(input: D) -> ::core::result::Result<Self, D::Error> {
                    fields::deserialize(input, |fields| Ok(Self { #(#builders),* }))
                }
            }
            impl serde::Serialize for #name {
                fn serialize<S: serde::Serializer>(&self, output: S) -> ::core::result::Result<S::Ok, S::Error> {
                    fields::serialize(&[#(#members),*], output)
                }
            }
            impl ::toolgate_sdk::schema::Args for #name {
                const PROPERTIES: ::toolgate_sdk::schema::Parts = &[#(#properties),*];
                const REQUIRED: &'static str = #required;
            }
            impl ::toolgate_sdk::schema::Schema for #name {
                const MEMBERS: ::toolgate_sdk::schema::Parts =
                    ::toolgate_sdk::schema::ObjectOf::<#name>::MEMBERS;
            }
        };
    })
}

/// One field of a struct of arguments.
struct ArgField<'a> {
    field: &'a Field,
    ident: &'a Ident,
    /// The name in the arguments.
    key: String,
    options: Options,
    /// `None` for a type of the plugin's own.
    kind: Option<bounds::ArgumentKind>,
    /// Its type is an `Option`.
    optional: bool,
}

impl<'a> ArgField<'a> {
    fn read(field: &'a Field) -> syn::Result<Self> {
        let options = Options::read(&field.attrs)?;
        let kind = bounds::ArgumentKind::from_type(last_segment(&field.ty).as_deref());
        bounds::check(kind, &options.keywords, options.default.as_ref())?;
        let ident = field.ident.as_ref().expect("named fields have names");
        let optional = is_option(&field.ty);
        if optional && options.default.is_some() {
            return Err(syn::Error::new(
                ident.span(),
                "an Option needs no default: leave one out",
            ));
        }
        let key = options.rename.clone();
        Ok(Self {
            field,
            ident,
            key: key.unwrap_or_else(|| ident.unraw().to_string()),
            options,
            kind,
            optional,
        })
    }

    fn is_required(&self) -> bool {
        !self.optional && self.options.default.is_none()
    }

    /// Checks while the plugin is compiled that the default is a value of the field's enumeration, which this macro
    /// does not see.
    fn default_check(&self) -> Option<TokenStream> {
        let Some(Json {
            span,
            value: Value::Text(word),
        }) = &self.options.default
        else {
            return None;
        };
        if self.kind.is_some() {
            return None;
        }
        let ty = &self.field.ty;
        let quoted = json::quoted(word);
        Some(quote_spanned! {*span=>
            const _: () = ::core::assert!(
                ::toolgate_sdk::schema::takes_word(
                    <#ty as ::toolgate_sdk::schema::Schema>::MEMBERS,
                    #quoted,
                ),
                "the default is not one of the values that this argument takes"
            );
        })
    }

    /// The field in `Deserialize`.
    fn builder(&self) -> TokenStream {
        let Self { ident, key, .. } = self;
        match (&self.options.default, self.optional) {
            (Some(default), _) => {
                let text = default.to_text();
                quote!(#ident: fields.or_default(#key, #text)?)
            }
            (None, true) => quote!(#ident: fields.optional(#key)?),
            (None, false) => quote!(#ident: fields.required(#key)?),
        }
    }

    /// The field in `Serialize`, which writes the query or body of a request: a part of the path is not in it.
    fn member(&self) -> Option<TokenStream> {
        let Self { ident, key, .. } = self;
        (!self.options.path)
            .then(|| quote!((#key, ::toolgate_sdk::__private::fields::member(&self.#ident))))
    }

    /// One member of `properties`: the type's own keywords between those of the field.
    fn property(&self, first: bool) -> TokenStream {
        let Self { field, options, .. } = self;
        let mut head = if first { String::new() } else { ",".to_owned() };
        json::quote(&self.key, &mut head);
        head.push_str(":{");
        let description = docs::text(&field.attrs);
        if !description.is_empty() {
            head.push_str("\"description\":");
            json::quote(&description, &mut head);
            head.push(',');
        }
        let mut tail = String::new();
        let has_minimum = |keyword: &ArgKeyword| keyword.name == "minimum";
        if is_unsigned(&field.ty) && !options.keywords.iter().any(has_minimum) {
            tail.push_str(",\"minimum\":0");
        }
        for ArgKeyword { name, text, .. } in &options.keywords {
            tail.push_str(&format!(",\"{name}\":{text}"));
        }
        if let Some(default) = &options.default {
            tail.push_str(",\"default\":");
            default.write(&mut tail);
        }
        tail.push('}');
        let ty = &field.ty;
        quote! {
            ::toolgate_sdk::schema::Part::Text(#head),
            ::toolgate_sdk::schema::Part::Nested(<#ty as ::toolgate_sdk::schema::Schema>::MEMBERS),
            ::toolgate_sdk::schema::Part::Text(#tail)
        }
    }
}

fn enumeration(name: &Ident, data: &syn::DataEnum) -> syn::Result<TokenStream> {
    let mut idents = Vec::new();
    let mut words = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(syn::Error::new(
                variant.span(),
                "Args needs variants without data: the enum is a string in the schema",
            ));
        }
        let options = Options::read(&variant.attrs)?;
        words.push(
            options
                .rename
                .unwrap_or_else(|| docs::snake_case(&variant.ident.to_string())),
        );
        idents.push(&variant.ident);
    }
    if idents.is_empty() {
        return Err(syn::Error::new(
            Span::call_site(),
            "Args needs at least one variant",
        ));
    }
    let listed: Vec<String> = words.iter().map(|word| json::quoted(word)).collect();
    let members = format!("\"type\":\"string\",\"enum\":[{}]", listed.join(","));
    let expected = format!("one of {}", words.join(", "));
    Ok(quote! {
        impl #name {
            /// The value as it is written in the arguments.
            pub const fn as_str(&self) -> &'static str {
                match self { #(Self::#idents => #words),* }
            }
        }
        const _: () = {
            use ::toolgate_sdk::__private::serde;
            impl<'de> serde::Deserialize<'de> for #name {
                fn deserialize<D: serde::Deserializer<'de>>(input: D) -> ::core::result::Result<Self, D::Error> {
                    match ::toolgate_sdk::__private::word(input)?.as_str() {
                        #(#words => Ok(Self::#idents),)*
                        other => Err(::toolgate_sdk::__private::unknown_word(other, #expected)),
                    }
                }
            }
            impl serde::Serialize for #name {
                fn serialize<S: serde::Serializer>(&self, output: S) -> ::core::result::Result<S::Ok, S::Error> {
                    output.serialize_str(self.as_str())
                }
            }
            impl ::core::fmt::Display for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(self.as_str())
                }
            }
            impl ::toolgate_sdk::http::QueryValue for #name {
                fn add_to(self, key: &str, pairs: &mut ::std::vec::Vec<(String, String)>) {
                    pairs.push((key.into(), self.as_str().into()));
                }
            }
            impl ::toolgate_sdk::schema::Schema for #name {
                const MEMBERS: ::toolgate_sdk::schema::Parts =
                    &[::toolgate_sdk::schema::Part::Text(#members)];
            }
        };
    })
}

fn last_segment(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

fn is_option(ty: &Type) -> bool {
    last_segment(ty).as_deref() == Some("Option")
}

/// `u32` or `Option<u32>`: a number that cannot be negative.
fn is_unsigned(ty: &Type) -> bool {
    if let Type::Path(path) = ty
        && let Some(segment) = path.path.segments.last()
        && segment.ident == "Option"
        && let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments
        && let Some(syn::GenericArgument::Type(inner)) = arguments.args.first()
    {
        return is_unsigned(inner);
    }
    matches!(
        last_segment(ty).as_deref(),
        Some("u8" | "u16" | "u32" | "u64" | "usize")
    )
}
