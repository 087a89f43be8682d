//! Reading a manifest that a stranger wrote.
//!
//! Bounded in bytes, depth and number of values before anything is built from it. Refuses a key
//! that appears twice, so that two readers can never see two different manifests in one text
//! (RFC 8259, section 4). Whether what was read is acceptable is [`super::lint()`]'s question.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::manifest::{MANIFEST_VERSION, Manifest};

/// Largest manifest text, in bytes.
pub const MANIFEST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Deepest nesting of objects and arrays.
pub(crate) const MANIFEST_DEPTH_MAX: usize = 64;
/// Most JSON values in one manifest, counting each object, array and scalar.
pub(crate) const MANIFEST_VALUES_MAX: usize = 500_000;
/// A problem quotes the manifest; no more of it than this, in characters.
const PROBLEM_CHARS_MAX: usize = 400;

/// Why a text is not a manifest. `path` is a JSON Pointer, empty for the document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error("the manifest has {bytes} bytes; at most {MANIFEST_BYTES_MAX} are read")]
    TooLarge { bytes: usize },
    #[error("the manifest is not acceptable JSON{}: {problem}", place(path))]
    Json { path: String, problem: String },
    #[error(
        "the manifest names schema version {found}; this build reads `\"manifest\": {MANIFEST_VERSION}`"
    )]
    Version { found: String },
    #[error("the manifest does not have its shape{}: {problem}", place(path))]
    Shape { path: String, problem: String },
}

impl Manifest {
    /// Reads a manifest from its JSON text. The result has the right shape; [`super::lint()`] says
    /// whether it may be accepted.
    pub fn parse(json: &str) -> Result<Self, ManifestError> {
        if json.len() > MANIFEST_BYTES_MAX {
            return Err(ManifestError::TooLarge { bytes: json.len() });
        }
        let value = strict(json)?;
        match value.get("manifest") {
            Some(Value::Number(version)) if version.as_u64() == Some(MANIFEST_VERSION.into()) => {}
            Some(found) => {
                return Err(ManifestError::Version {
                    found: clip(&found.to_string()),
                });
            }
            None => {
                return Err(ManifestError::Shape {
                    path: String::new(),
                    problem: if value.is_object() {
                        format!(
                            "the key `manifest` is missing; start with `\"manifest\": {MANIFEST_VERSION}`"
                        )
                    } else {
                        "a manifest is one JSON object".to_owned()
                    },
                });
            }
        }
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = pointer_of(error.path());
            let mut problem = clip(&error.inner().to_string());
            if path.contains("/placement") {
                problem = "a placement is one of {header, template}, {query, template}, {path}, \
                           {body, template}, {basic: {username, password}} or \
                           {aws_sigv4: {service, region}}, or a list of them"
                    .to_owned();
            }
            ManifestError::Shape { path, problem }
        })
    }

    /// Reads again what [`Manifest::parse`] has accepted once, in one pass: its bounds and its
    /// explanations are for strangers.
    ///
    /// # Errors
    /// Where this build's manifests have another shape.
    pub fn recall(json: &str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }
}

fn place(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!(" at {path}")
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(PROBLEM_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn pointer_of(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => push_segment(&mut pointer, &index.to_string()),
            Segment::Map { key } => push_segment(&mut pointer, key),
            Segment::Enum { variant } => push_segment(&mut pointer, variant),
            Segment::Unknown => {}
        }
    }
    clip(&pointer)
}

/// Appends one escaped reference token (RFC 6901, section 3).
pub(crate) fn push_segment(pointer: &mut String, segment: &str) {
    pointer.push('/');
    for c in segment.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// Where the reader is, shared by all levels; left as it is when reading fails.
struct ReadPosition {
    path: RefCell<Vec<String>>,
    values: Cell<usize>,
}

fn strict(json: &str) -> Result<Value, ManifestError> {
    let progress = ReadPosition {
        path: RefCell::default(),
        values: Cell::new(0),
    };
    let mut input = serde_json::Deserializer::from_str(json);
    let read = StrictSeed {
        depth: 0,
        progress: &progress,
    }
    .deserialize(&mut input)
    .and_then(|value| input.end().map(|()| value));
    read.map_err(|error| {
        let mut path = String::new();
        for segment in progress.path.borrow().iter() {
            push_segment(&mut path, segment);
        }
        ManifestError::Json {
            path: clip(&path),
            problem: clip(&error.to_string()),
        }
    })
}

#[derive(Clone, Copy)]
struct StrictSeed<'p> {
    depth: usize,
    progress: &'p ReadPosition,
}

impl<'p> StrictSeed<'p> {
    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == MANIFEST_DEPTH_MAX {
            return Err(E::custom(format_args!(
                "nested deeper than {MANIFEST_DEPTH_MAX} levels"
            )));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }
}

impl<'de> DeserializeSeed<'de> for StrictSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        let values = self.progress.values.get() + 1;
        if values > MANIFEST_VALUES_MAX {
            return Err(D::Error::custom(format_args!(
                "more than {MANIFEST_VALUES_MAX} values"
            )));
        }
        self.progress.values.set(values);
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        loop {
            self.progress.path.borrow_mut().push(list.len().to_string());
            let next = items.next_element_seed(inside)?;
            self.progress.path.borrow_mut().pop();
            match next {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key `{key}` appears twice"
                )));
            }
            self.progress.path.borrow_mut().push(key.clone());
            let value = entries.next_value_seed(inside)?;
            self.progress.path.borrow_mut().pop();
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::{MANIFEST_BYTES_MAX, MANIFEST_DEPTH_MAX, Manifest, ManifestError};
    use crate::fixture::MANIFESTS;
    use crate::lint;

    fn refusal(json: &str) -> String {
        Manifest::parse(json)
            .expect_err("not a manifest")
            .to_string()
    }

    fn with(change: &str) -> String {
        let small = r#"{"manifest": 1, "service": "s", "title": "S", "version": "1.0.0", "description": "d", "tools": []CHANGE}"#;
        small.replace("CHANGE", change)
    }

    #[test]
    fn a_manifest_survives_being_written_and_read() {
        for json in MANIFESTS {
            let manifest = Manifest::parse(json).expect("a fixture is a manifest");
            let again = serde_json::to_string(&manifest).expect("it can be written");
            assert_eq!(Manifest::recall(&again).expect("it was accepted"), manifest);
            assert_eq!(Manifest::parse(&again), Ok(manifest));
        }
    }

    #[test]
    fn each_refusal_names_its_place_and_reason() {
        let nested = |levels: usize| {
            with(&format!(
                r#", "config": [{{"key": "k", "title": "t", "schema": {}{}}}]"#,
                "[".repeat(levels),
                "]".repeat(levels)
            ))
        };
        for (json, reason) in [
            (String::new(), "EOF"),
            ("null".to_owned(), "one JSON object"),
            ("[]".to_owned(), "one JSON object"),
            ("{}".to_owned(), "`manifest` is missing"),
            (r#"{"manifest": 2}"#.to_owned(), "schema version 2"),
            (r#"{"manifest": "1"}"#.to_owned(), "schema version \"1\""),
            (r#"{"manifest": 1.0}"#.to_owned(), "schema version 1.0"),
            (r#"{"manifest": 1}"#.to_owned(), "missing field `service`"),
            (with("") + " x", "trailing"),
            (
                with(r#", "hosts": ["a.b"], "hosts": []"#),
                "`hosts` appears twice",
            ),
            (
                with(r#", "config": [{"key": "k", "title": "t", "schema": {"a": 1, "a": 2}}]"#),
                "at /config/0/schema: the key `a` appears twice",
            ),
            (with(r#", "surprise": 1"#), "unknown field `surprise`"),
            (with(r#", "capabilities": ["sockets"]"#), "/capabilities/0"),
            (
                with(r#", "limits": {"timeout_ms": -1}"#),
                "/limits/timeout_ms",
            ),
            (with(r#", "limits": {"timeout_ms": 1e400}"#), "out of range"),
            (
                with(r#", "limits": {"timeout_ms": 99999999999999999999999}"#),
                "/limits/timeout_ms",
            ),
            (
                with(
                    r#", "auth": [{"slot": "s", "title": "t", "type": "bearer", "audience": [], "placement": {"header": "x", "cookie": "y"}}]"#,
                ),
                "a placement is one of",
            ),
            (
                with(
                    r#", "auth": [{"slot": "s", "title": "t", "type": "oauth1", "audience": [], "placement": []}]"#,
                ),
                "/auth/0/type",
            ),
            (nested(MANIFEST_DEPTH_MAX), "nested deeper"),
            ("[".repeat(1_000_000), "nested deeper"),
            (
                format!(
                    r#"{{"manifest": 1, "x": "{}"}}"#,
                    "y".repeat(MANIFEST_BYTES_MAX)
                ),
                "bytes; at most",
            ),
            (format!("[{}0]", "0,".repeat(600_000)), "values"),
            ("{\"manifest\": 1, \"\\ud800\": 1}".to_owned(), "JSON"),
        ] {
            let found = refusal(&json);
            assert!(found.contains(reason), "{reason}: {found}");
            assert!(found.len() < 3_000, "{reason}: a refusal is short");
        }
        // Three levels down in the document; one less is within the bound.
        assert!(Manifest::parse(&nested(MANIFEST_DEPTH_MAX - 3)).is_ok());
        assert!(matches!(
            Manifest::parse(&nested(MANIFEST_DEPTH_MAX - 2)),
            Err(ManifestError::Json { .. })
        ));
    }

    /// A small generator, so that the odd inputs are the same in every run.
    struct Odd(u64);

    impl Odd {
        fn next(&mut self, below: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % below as u64) as usize
        }
    }

    #[test]
    fn odd_input_is_refused_or_linted_without_a_panic() {
        let mut odd = Odd(0x9e37_79b9_7f4a_7c15);
        let pieces = [
            "null",
            "true",
            "-0",
            "1e308",
            "18446744073709551616",
            "\"\"",
            "\"\\u0000\"",
            "{}",
            "[]",
            "[[[[]]]]",
            "{\"type\":\"object\"}",
            "{\"$ref\":\"#\"}",
            "\"\u{202e}\"",
            "\"{{}}\"",
            "\"https://[::1]:99\"",
            "\"*\"",
            "{\"\":{}}",
            "\"{\"",
            "\"^(a+)+$\"",
            "\"__\"",
        ];
        for round in 0..1_500 {
            let text = MANIFESTS[round % MANIFESTS.len()];
            let mut bytes = text.as_bytes().to_vec();
            match odd.next(4) {
                // bytes overwritten
                0 => {
                    for _ in 0..=odd.next(8) {
                        let at = odd.next(bytes.len());
                        bytes[at] = odd.next(256) as u8;
                    }
                }
                // cut off
                1 => bytes.truncate(odd.next(text.len())),
                // one string or number replaced by something of another kind
                2 => {
                    let starts: Vec<usize> =
                        text.match_indices(": ").map(|(at, _)| at + 2).collect();
                    let start = starts[odd.next(starts.len())];
                    let end = start + text[start..].find([',', '}']).unwrap_or(0);
                    bytes.splice(start..end, pieces[odd.next(pieces.len())].bytes());
                }
                // noise
                _ => bytes = (0..odd.next(400)).map(|_| odd.next(256) as u8).collect(),
            }
            let text = String::from_utf8_lossy(&bytes);
            match Manifest::parse(&text) {
                Ok(manifest) => {
                    let found = lint(&manifest);
                    assert!(found.errors.len() <= lint::FINDINGS_MAX);
                }
                Err(refusal) => assert!(refusal.to_string().len() < 3_000),
            }
        }
    }
}
