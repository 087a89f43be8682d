//! Numbers of a JSON text, digit by digit.
//!
//! A parsed value holds integers up to 64 bits and floating point numbers; ids beyond them and long decimals lose
//! digits. What a value cannot hold is kept beside it, by its place, and written back with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

/// Decimal digits that every floating point number of 64 bits keeps.
const DIGITS_KEPT: usize = 15;

/// Numbers as they are written, by JSON Pointer (RFC 6901).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactNumbers(BTreeMap<String, String>);

impl ExactNumbers {
    /// The numbers of `text` that a value does not hold as they are written. `text` is valid JSON; of another text the
    /// beginning is read.
    pub fn read(text: &str) -> Self {
        let mut found = Self::default();
        if has_inexact(text.as_bytes()) {
            NumberScan::new(text).run(&mut found.0);
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How the number at `pointer` is written, where a value does not hold it so.
    pub fn get(&self, pointer: &str) -> Option<&str> {
        self.0.get(pointer).map(String::as_str)
    }

    /// Notes how the number at `pointer` is written, where a value would not hold it so.
    pub fn note(&mut self, pointer: &str, token: &str) {
        if !is_exact(token) {
            self.0.insert(pointer.to_owned(), token.to_owned());
        }
    }

    /// Takes in the numbers of a value that is now at `pointer`.
    pub fn adopt(&mut self, pointer: &str, inner: Self) {
        let inner = inner.0.into_iter();
        self.0
            .extend(inner.map(|(below, token)| (format!("{pointer}{below}"), token)));
    }

    /// Takes in the numbers below `from` of another value, of which the part there is now at `to`.
    pub fn adopt_part(&mut self, other: &Self, from: &str, to: &str) {
        for (pointer, token) in other.0.range(from.to_owned()..) {
            let Some(below) = pointer.strip_prefix(from) else {
                break;
            };
            if below.is_empty() || below.starts_with('/') {
                self.0.insert(format!("{to}{below}"), token.clone());
            }
        }
    }

    /// The value as compact JSON, each noted number as it was written.
    pub fn write(&self, value: &Value) -> String {
        if self.is_empty() {
            return value.to_string();
        }
        self.written(value, None)
    }

    /// The same on indented lines.
    pub fn write_pretty(&self, value: &Value) -> String {
        if self.is_empty() {
            return format!("{value:#}");
        }
        self.written(value, Some(0))
    }

    fn written(&self, value: &Value, level: Option<usize>) -> String {
        let mut writer = NumberWriter {
            exact: self,
            pointer: String::new(),
            text: String::new(),
            level,
        };
        writer.value(value);
        writer.text
    }

    /// Replaces each noted number by the text of its digits: for comparing, where two numbers that round to one value
    /// are two.
    pub fn spell_out(&self, value: &mut Value) {
        for (pointer, token) in &self.0 {
            if let Some(number) = value.pointer_mut(pointer).filter(|value| value.is_number()) {
                *number = Value::from(token.as_str());
            }
        }
    }
}

/// Writes a value and knows where it is.
struct NumberWriter<'e> {
    exact: &'e ExactNumbers,
    pointer: String,
    text: String,
    /// How far lines are indented; `None`: there is one line.
    level: Option<usize>,
}

impl NumberWriter<'_> {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                self.inside('[', ']', items.iter().enumerate(), |writer, index, _| {
                    let _ = write!(writer.pointer, "/{index}");
                });
            }
            Value::Object(members) if !members.is_empty() => {
                self.inside('{', '}', members, |writer, key, space| {
                    let _ = write!(writer.text, "{}:{space}", Value::from(key.as_str()));
                    push_segment(&mut writer.pointer, key);
                });
            }
            Value::Number(_) if self.exact.0.contains_key(&self.pointer) => {
                self.text.push_str(&self.exact.0[&self.pointer]);
            }
            other => {
                let _ = write!(self.text, "{other}");
            }
        }
    }

    fn inside<'v, K>(
        &mut self,
        open: char,
        close: char,
        values: impl IntoIterator<Item = (K, &'v Value)>,
        enter: impl Fn(&mut Self, K, &str),
    ) {
        self.text.push(open);
        self.level = self.level.map(|level| level + 1);
        let length = self.pointer.len();
        let space = if self.level.is_some() { " " } else { "" };
        for (place, (key, value)) in values.into_iter().enumerate() {
            if place > 0 {
                self.text.push(',');
            }
            self.line();
            enter(self, key, space);
            self.value(value);
            self.pointer.truncate(length);
        }
        self.level = self.level.map(|level| level - 1);
        self.line();
        self.text.push(close);
    }

    fn line(&mut self) {
        if let Some(level) = self.level {
            self.text.push('\n');
            self.text.push_str(&"  ".repeat(level));
        }
    }
}

/// Adds one segment to a JSON Pointer.
pub fn push_segment(pointer: &mut String, key: &str) {
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

/// Whether a value holds the number as it is written, or as the same whole number.
fn is_exact(token: &str) -> bool {
    const WHOLE_MAX: u64 = 1 << 53;
    if token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok() {
        return true;
    }
    let no_fraction = |(_, fraction): &(&str, &str)| fraction.bytes().all(|digit| digit == b'0');
    if let Some((whole, _)) = token.split_once('.').filter(no_fraction)
        && let Ok(whole) = whole.parse::<i64>()
    {
        return whole.unsigned_abs() < WHOLE_MAX;
    }
    let Ok(number) = token.parse::<f64>() else {
        return true;
    };
    let mantissa = token.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.trim_start_matches(['-', '0', '.']);
    let digits = digits.bytes().filter(u8::is_ascii_digit).count();
    let whole = number.fract() == 0.0 && digits <= DIGITS_KEPT && number.abs() < 1e15;
    whole || serde_json::Number::from_f64(number).is_some_and(|read| read.to_string() == token)
}

/// Whether there is a number that a value would not hold.
fn has_inexact(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = string_end(text, at),
            b'-' | b'0'..=b'9' => {
                let end = number_end(text, at);
                // So short a number has few enough digits.
                let token = std::str::from_utf8(&text[at..end]).unwrap_or_default();
                if !is_exact(token) {
                    return true;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    false
}

/// Behind the string that begins at `at`.
fn string_end(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn number_end(text: &[u8], at: usize) -> usize {
    let part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    text[at..]
        .iter()
        .position(|byte| !part(byte))
        .map_or(text.len(), |length| at + length)
}

/// Reads a text once and knows where it is.
struct NumberScan<'t> {
    text: &'t str,
    pointer: String,
    /// What is around: the pointer's length there, and of a list the index.
    around: Vec<(usize, Option<usize>)>,
}

impl<'t> NumberScan<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            pointer: String::new(),
            around: Vec::new(),
        }
    }

    fn run(mut self, found: &mut BTreeMap<String, String>) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        let mut key_next = false;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'{' => {
                    self.around.push((self.pointer.len(), None));
                    key_next = true;
                }
                b'[' => {
                    self.around.push((self.pointer.len(), Some(0)));
                    self.pointer.push_str("/0");
                    key_next = false;
                }
                b'}' | b']' => {
                    if let Some((length, _)) = self.around.pop() {
                        self.pointer.truncate(length);
                    }
                    key_next = false;
                }
                b',' => key_next = self.next_place(),
                b'"' => {
                    let end = string_end(bytes, at);
                    if key_next {
                        self.enter(self.text.get(at..end).unwrap_or_default());
                        key_next = false;
                    }
                    at = end;
                    continue;
                }
                b'-' | b'0'..=b'9' => {
                    let end = number_end(bytes, at);
                    let token = &self.text[at..end];
                    if !is_exact(token) {
                        found.insert(self.pointer.clone(), token.to_owned());
                    }
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Behind a comma. Whether a key comes.
    fn next_place(&mut self) -> bool {
        let Some((length, index)) = self.around.last_mut() else {
            return false;
        };
        self.pointer.truncate(*length);
        match index {
            Some(index) => {
                *index += 1;
                let _ = write!(self.pointer, "/{index}");
                false
            }
            None => true,
        }
    }

    fn enter(&mut self, quoted: &str) {
        let key: String = serde_json::from_str(quoted).unwrap_or_default();
        push_segment(&mut self.pointer, &key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(text: &str) -> String {
        let value: Value = serde_json::from_str(text).expect("JSON");
        ExactNumbers::read(text).write(&value)
    }

    #[test]
    fn every_digit_is_written_back() {
        for text in [
            r#"{"id":36893488147419103232}"#,
            r#"{"p":1234567890.123456789}"#,
            r#"{"price":1.50}"#,
            r#"{"a":[1,{"b":[0.1234567890123456789,2]},-18446744073709551617],"c":9007199254740993}"#,
            r#"{"a/b":{"~":36893488147419103232},"é\n":[[],[36893488147419103232]]}"#,
            r#"[{"x":"36893488147419103232","y":36893488147419103233},36893488147419103234]"#,
            "36893488147419103232",
            r#"{"\"k\\":1234567890.123456789,"t":"[1,\"2\\\",3]"}"#,
            r#"{"z":1,"a":2}"#,
        ] {
            assert_eq!(back(text), text);
        }
        // Whole numbers are one whichever way they are written.
        assert_eq!(back("[7.0,1e3]"), "[7.0,1000.0]");
        assert_eq!(back("[1.0000000000000000001]"), "[1.0000000000000000001]");
        assert_eq!(back("[1234567890123456.00]"), "[1234567890123456.0]");
        assert_eq!(back("[9007199254740993.0]"), "[9007199254740993.0]");
    }

    #[test]
    fn indented_lines_are_those_of_the_parser() {
        let text = r#"{"a":[1,{"b":[],"c":{}},"x"],"d":{"e":null},"f":[[2]]}"#;
        let value: Value = serde_json::from_str(text).expect("JSON");
        let mut exact = ExactNumbers::default();
        assert_eq!(exact.write_pretty(&value), format!("{value:#}"));
        exact.note("/nowhere", "36893488147419103232");
        assert_eq!(exact.write_pretty(&value), format!("{value:#}"));
        exact.note("/f/0/0", "36893488147419103232");
        let written = exact.write_pretty(&value);
        assert_eq!(
            written,
            format!("{value:#}").replace("      2\n", "      36893488147419103232\n")
        );
    }

    #[test]
    fn a_number_that_a_value_keeps_is_not_noted() {
        for text in [
            r#"{"id":725653563933458432,"n":18446744073709551615,"m":-9223372036854775808}"#,
            r#"[1.5,0.1,-2.25,1e5,7.0,3]"#,
            r#""36893488147419103232""#,
        ] {
            assert!(ExactNumbers::read(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_replaced_number_is_not_written_and_numbers_can_be_spelt_out() {
        let text = r#"{"a":36893488147419103232,"b":36893488147419103232}"#;
        let exact = ExactNumbers::read(text);
        let mut value: Value = serde_json::from_str(text).expect("JSON");
        value["a"] = Value::from("x");
        assert_eq!(exact.write(&value), r#"{"a":"x","b":36893488147419103232}"#);
        exact.spell_out(&mut value);
        assert_eq!(value.to_string(), r#"{"a":"x","b":"36893488147419103232"}"#);
    }
}
