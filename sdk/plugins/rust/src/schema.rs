//! JSON Schema 2020-12 as constants.
//!
//! A schema is a tree of text [`Part`]s that refer to each other by constant; [`length`] and
//! [`write()`] flatten it at compile time. Nothing of this is left in the plugin but the finished
//! text inside its manifest.

use std::collections::BTreeMap;
use std::marker::PhantomData;

/// A piece of JSON text, or more pieces.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    Text(&'static str),
    Nested(&'static [Part]),
}

/// Pieces in order.
pub type Parts = &'static [Part];

/// A type that can be used in a tool's arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a tool's arguments",
    note = "give a type of your own `#[derive(Args)]`; else use `String`, `bool`, a number of at most 64 bits, `Option`, `Vec`, `BTreeMap<String, _>` or `Value`"
)]
pub trait Schema {
    /// The members of its schema object, without the braces and never empty.
    const MEMBERS: Parts;
}

/// A struct whose fields are a tool's arguments; made by `#[derive(Args)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a tool takes",
    note = "a tool takes one struct with `#[derive(Args)]`, whose fields are its arguments"
)]
pub trait Args {
    /// The members of `properties`.
    const PROPERTIES: Parts;
    /// The elements of `required`, quoted and separated by commas.
    const REQUIRED: &'static str;
}

/// The schema of `T` as an object that refuses unknown properties.
#[derive(Debug)]
pub struct ObjectOf<T>(PhantomData<T>);

impl<T: Args> ObjectOf<T> {
    pub const MEMBERS: Parts = &[
        Part::Text(r#""type":"object","properties":{"#),
        Part::Nested(T::PROPERTIES),
        Part::Nested(Self::END),
    ];

    const END: Parts = if T::REQUIRED.is_empty() {
        &[Part::Text(r#"},"additionalProperties":false"#)]
    } else {
        &[
            Part::Text(r#"},"required":["#),
            Part::Text(T::REQUIRED),
            Part::Text(r#"],"additionalProperties":false"#),
        ]
    };
}

/// [`ObjectOf`] with the `cursor` that every paginated tool takes.
#[derive(Debug)]
pub struct PagedOf<T>(PhantomData<T>);

impl<T: Args> PagedOf<T> {
    pub const MEMBERS: Parts = &[
        Part::Text(r#""type":"object","properties":{"#),
        Part::Nested(T::PROPERTIES),
        Part::Text(if T::PROPERTIES.is_empty() { "" } else { "," }),
        Part::Text(
            r#""cursor":{"description":"Where to go on: the next_cursor of the page before. Leave out for the first page.","type":"string","maxLength":2048}"#,
        ),
        Part::Nested(ObjectOf::<T>::END),
    ];
}

/// The number of bytes that [`write()`] will write.
pub const fn length(parts: Parts) -> usize {
    let mut total = 0;
    let mut index = 0;
    while index < parts.len() {
        total += match parts[index] {
            Part::Text(text) => text.len(),
            Part::Nested(nested) => length(nested),
        };
        index += 1;
    }
    total
}

/// All pieces, one after the other. `N` must be [`length`] of the same parts.
pub const fn write<const N: usize>(parts: Parts) -> [u8; N] {
    let mut out = [0; N];
    let end = write_at(parts, &mut out, 0);
    assert!(end == N, "the length is that of the same parts");
    out
}

const fn write_at(parts: Parts, out: &mut [u8], start: usize) -> usize {
    let mut at = start;
    let mut index = 0;
    while index < parts.len() {
        match parts[index] {
            Part::Text(text) => {
                let bytes = text.as_bytes();
                let (_, rest) = out.split_at_mut(at);
                let (target, _) = rest.split_at_mut(bytes.len());
                target.copy_from_slice(bytes);
                at += bytes.len();
            }
            Part::Nested(nested) => at = write_at(nested, out, at),
        }
        index += 1;
    }
    at
}

/// Whether a type takes a text: one that is not an enumeration takes any. `quoted` is the text in JSON.
pub const fn takes_word(members: Parts, quoted: &str) -> bool {
    const ENUMERATION: &[u8] = br#""type":"string","enum":["#;
    let [Part::Text(text)] = members else {
        return true;
    };
    let (text, quoted) = (text.as_bytes(), quoted.as_bytes());
    if !holds_at(text, 0, ENUMERATION) {
        return true;
    }
    let mut at = ENUMERATION.len();
    while at < text.len() {
        if holds_at(text, at, quoted) {
            return true;
        }
        at += 1;
    }
    false
}

const fn holds_at(text: &[u8], at: usize, wanted: &[u8]) -> bool {
    if at + wanted.len() > text.len() {
        return false;
    }
    let mut index = 0;
    while index < wanted.len() {
        if text[at + index] != wanted[index] {
            return false;
        }
        index += 1;
    }
    true
}

macro_rules! plain {
    ($($ty:ty => $members:literal;)*) => {
        $(impl Schema for $ty {
            const MEMBERS: Parts = &[Part::Text($members)];
        })*
    };
}

plain! {
    bool => r#""type":"boolean""#;
    String => r#""type":"string""#;
    i16 => r#""type":"integer""#;
    i32 => r#""type":"integer""#;
    i64 => r#""type":"integer""#;
    u8 => r#""type":"integer""#;
    u16 => r#""type":"integer""#;
    u32 => r#""type":"integer""#;
    u64 => r#""type":"integer""#;
    f32 => r#""type":"number""#;
    f64 => r#""type":"number""#;
    serde_json::Map<String, serde_json::Value> => r#""type":"object","additionalProperties":{"type":["string","number","boolean","array","object","null"]}"#;
    serde_json::Value => r#""type":["object","array","string","number","boolean","null"]"#;
}

impl<T: Schema> Schema for Option<T> {
    const MEMBERS: Parts = T::MEMBERS;
}

impl<T: Schema> Schema for Box<T> {
    const MEMBERS: Parts = T::MEMBERS;
}

impl<T: Schema> Schema for Vec<T> {
    const MEMBERS: Parts = &[
        Part::Text(r#""type":"array","items":{"#),
        Part::Nested(T::MEMBERS),
        Part::Text("}"),
    ];
}

impl<T: Schema> Schema for BTreeMap<String, T> {
    const MEMBERS: Parts = &[
        Part::Text(r#""type":"object","additionalProperties":{"#),
        Part::Nested(T::MEMBERS),
        Part::Text("}"),
    ];
}
