//! JSON from outside: checked before anything is built from it.
//!
//! Refuses what a plain parser lets pass or resolves silently: an object that names a key twice
//! (RFC 8259, section 4, leaves its meaning open), more than [`DEPTH_MAX`] levels, text that is not
//! UTF-8, anything after the document. Says where the problem is.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Levels of nesting that are read; the parser's own bound.
pub const DEPTH_MAX: usize = 127;

/// Keys of one object that are compared one by one; what a larger object has beyond them goes into a
/// hash set.
const KEYS_COMPARED_MAX: usize = 8;

/// Why a text is not an acceptable JSON document. Lines and columns count from 1, columns in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at line {line} column {column}")]
pub struct JsonProblem {
    pub what: String,
    pub line: usize,
    pub column: usize,
}

/// Reads `text` once without keeping anything of it.
pub fn check(text: &[u8]) -> Result<(), JsonProblem> {
    let reader = JsonReader {
        levels: DEPTH_MAX,
        keys_once: true,
    };
    reader.read(text)
}

/// Whether any parser can read `text`, also inside another document: at most
/// `levels` of nesting. A key that occurs twice is left to the reader.
pub fn check_levels(text: &[u8], levels: usize) -> Result<(), JsonProblem> {
    let reader = JsonReader {
        levels,
        keys_once: false,
    };
    reader.read(text)
}

impl JsonProblem {
    /// What `error` says, its position apart from its sentence.
    pub fn from_error(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let sentence = error.to_string();
        let what = sentence
            .strip_suffix(&format!(" at line {line} column {column}"))
            .unwrap_or(&sentence)
            .to_owned();
        Self { what, line, column }
    }
}

/// Reads one value and keeps nothing.
#[derive(Clone, Copy)]
struct JsonReader {
    /// Levels that may still be entered.
    levels: usize,
    keys_once: bool,
}

impl JsonReader {
    fn read(self, text: &[u8]) -> Result<(), JsonProblem> {
        let mut parser = serde_json::Deserializer::from_slice(text);
        self.deserialize(&mut parser)
            .and_then(|()| parser.end())
            .map_err(|error| JsonProblem::from_error(&error))
    }

    fn inside<E: Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1);
        let levels = levels.ok_or_else(|| E::custom("the nesting is too deep"))?;
        Ok(Self { levels, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for JsonReader {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonReader {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inside = self.inside()?;
        while items.next_element_seed(inside)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let inside = self.inside()?;
        let mut keys = ObjectKeys::default();
        while let Some(ObjectKey(key)) = entries.next_key()? {
            if self.keys_once
                && let Err(twice) = keys.add(key)
            {
                return Err(A::Error::custom(format_args!(
                    "the key {twice:?} appears twice"
                )));
            }
            entries.next_value_seed(inside)?;
        }
        Ok(())
    }
}

/// An object key, borrowed from the text where it holds no escape.
struct ObjectKey<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for ObjectKey<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct KeyReader;
        impl<'de> Visitor<'de> for KeyReader {
            type Value = ObjectKey<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<ObjectKey<'de>, E> {
                Ok(ObjectKey(key.into()))
            }

            fn visit_str<E>(self, key: &str) -> Result<ObjectKey<'de>, E> {
                Ok(ObjectKey(key.to_owned().into()))
            }
        }
        from.deserialize_str(KeyReader)
    }
}

/// The keys of one object so far: the first ones in place, for most objects have no more.
#[derive(Default)]
struct ObjectKeys<'de> {
    first: [Cow<'de, str>; KEYS_COMPARED_MAX],
    count: usize,
    more: HashSet<Cow<'de, str>>,
}

impl<'de> ObjectKeys<'de> {
    /// Gives the key back if it was there already.
    fn add(&mut self, key: Cow<'de, str>) -> Result<(), String> {
        let known = self.first.get(..self.count).unwrap_or(&self.first);
        if known.contains(&key) || self.more.contains(&key) {
            return Err(key.into_owned());
        }
        match self.first.get_mut(self.count) {
            Some(place) => *place = key,
            None => drop(self.more.insert(key)),
        }
        self.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_documents_pass() {
        let wide: String = (0..40).map(|n| format!("\"k{n}\":{n},")).collect();
        for text in [
            "null",
            " [1, -2, 3.5e10, \"\\u0000\", true] ",
            r#"{"a":{"x":1},"b":{"x":1}}"#,
            &format!("{{{}}}", wide.trim_end_matches(',')),
            &format!("{}{}", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX)),
        ] {
            assert_eq!(check(text.as_bytes()), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_problem_says_what_and_where() {
        let many: String = (0..40).map(|n| format!("\"k{n}\":0,")).collect();
        for (text, what, line, column) in [
            ("", "EOF while parsing a value", 1, 0),
            ("{\"a\":\n tru}", "expected ident", 2, 5),
            ("{\"a\":1} x", "trailing characters", 1, 9),
            (
                r#"{"a":1,"b":{"c":1,"c":2}}"#,
                "the key \"c\" appears twice",
                1,
                21,
            ),
            (
                r#"{"a":1,"\u0061":2}"#,
                "the key \"a\" appears twice",
                1,
                15,
            ),
            (
                &format!("{{{many}\"k7\":1}}"),
                "the key \"k7\" appears twice",
                1,
                315,
            ),
            ("1e999", "number out of range", 1, 5),
            (r#""\ud800""#, "unexpected end of hex escape", 1, 8),
            (
                &"[".repeat(DEPTH_MAX + 1),
                "recursion limit exceeded",
                1,
                128,
            ),
        ] {
            let problem = check(text.as_bytes()).unwrap_err();
            assert_eq!(
                (problem.what.as_str(), problem.line, problem.column),
                (what, line, column),
                "{text}"
            );
        }
        assert_eq!(
            check(b"\"\xff\"").unwrap_err().what,
            "invalid unicode code point"
        );
    }

    #[test]
    fn a_key_that_occurs_twice_is_found_at_any_distance() {
        for count in [
            KEYS_COMPARED_MAX,
            KEYS_COMPARED_MAX + 1,
            KEYS_COMPARED_MAX + 2,
        ] {
            let keys: Vec<String> = (0..count).map(|n| format!("\"k{n}\":0")).collect();
            let sound = format!("{{{}}}", keys.join(","));
            assert_eq!(check(sound.as_bytes()), Ok(()), "{sound}");
            for twice in &keys {
                let text = format!("{{{},{twice}}}", keys.join(","));
                assert!(check(text.as_bytes()).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn levels_are_counted_and_keys_may_be_left_alone() {
        for (text, levels, fits) in [
            ("[[1]]", 2, true),
            ("[[1]]", 1, false),
            (r#"{"a":[{}]}"#, 3, true),
            (r#"{"a":[{}]}"#, 2, false),
            ("[[1],[2],[3]]", 2, true),
            (r#""[[[[""#, 0, true),
            (r#"{"a":1,"a":2}"#, 1, true),
            ("1e999", 9, false),
            (r#""\ud800""#, 9, false),
            ("[1", 9, false),
            ("[1] x", 9, false),
        ] {
            let read = check_levels(text.as_bytes(), levels);
            assert_eq!(read.is_ok(), fits, "{text}: {read:?}");
        }
        let deep = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
        assert!(check_levels(deep.as_bytes(), usize::MAX).is_err());
    }
}
