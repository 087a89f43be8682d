//! Arguments as an approver reads them: whole, as they run. Pure.
//!
//! Nothing that the caller wrote is hidden from the person who decides: neither by its name, nor by its look, nor by
//! its length. No argument needs the connection's own secrets, because the host adds these itself; they alone are
//! masked, by their values, and the question says that something was.

use serde_json::{Map, Value};

/// Most bytes of arguments and planned requests that a person is asked about, as JSON. A larger call is refused.
pub(super) const QUESTION_BYTES_MAX: usize = 512 * 1024;

/// Arguments as they are kept with a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShownArguments {
    pub arguments: Value,
    /// A secret of the connection was taken out.
    pub masked: bool,
}

/// `arguments`: the JSON text that the plugin is given. `cursor`: what was taken out of it for a paginated tool.
/// `scrub`: masks the connection's secrets in one text.
pub(super) fn shown(
    arguments: &str,
    cursor: Option<&str>,
    scrub: impl Fn(&str) -> String,
) -> Result<ShownArguments, serde_json::Error> {
    let mut whole: Value = serde_json::from_str(arguments)?;
    if let (Some(fields), Some(cursor)) = (whole.as_object_mut(), cursor) {
        fields
            .entry("cursor")
            .or_insert_with(|| Value::String(cursor.to_owned()));
    }
    let written = whole.to_string();
    if scrub(&written) == written {
        return Ok(ShownArguments {
            arguments: whole,
            masked: false,
        });
    }
    let masked = mask(whole, &scrub).to_string();
    // A secret that lies across several values is masked in the text of all of them.
    let scrubbed = scrub(&masked);
    let arguments = if scrubbed == masked {
        serde_json::from_str(&masked)?
    } else {
        Value::String(scrubbed)
    };
    Ok(ShownArguments {
        arguments,
        masked: true,
    })
}

/// Masks value by value, so that what is left is JSON still.
fn mask(value: Value, scrub: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(scrub(&text)),
        Value::Number(number) => {
            let text = number.to_string();
            let scrubbed = scrub(&text);
            if scrubbed == text {
                Value::Number(number)
            } else {
                Value::String(scrubbed)
            }
        }
        Value::Array(items) => items.into_iter().map(|item| mask(item, scrub)).collect(),
        Value::Object(fields) => {
            let mut all = Map::new();
            for (name, field) in fields {
                let mut name = scrub(&name);
                // Two names may be the same once they are masked.
                while all.contains_key(&name) {
                    name.push('*');
                }
                all.insert(name, mask(field, scrub));
            }
            Value::Object(all)
        }
        Value::Null | Value::Bool(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_core::visible::is_hidden;

    use super::*;

    fn nothing(text: &str) -> String {
        text.to_owned()
    }

    fn of(arguments: &Value) -> ShownArguments {
        shown(&arguments.to_string(), None, nothing).unwrap()
    }

    #[test]
    fn nothing_is_hidden_for_its_name_its_look_or_its_length() {
        for arguments in [
            json!({"body": "Bearer of bad news: wire 900 to account 7"}),
            json!({"body": "sk-transfer-everything-now", "to": "eyJ-everybody-else", "x": "AKIA and all of it"}),
            json!({"x_token": {"amount": 900}, "password": "hunter22", "pin": "1234", "cookie": ["a", "b"]}),
            json!({"body": format!("{}and then delete all", " ".repeat(100_000))}),
            json!({"key": "-----BEGIN NOTHING", "note": "ghp_0123456789abcdef", "mark": "[hidden]"}),
        ] {
            let found = of(&arguments);
            assert_eq!(found.arguments, arguments);
            assert!(!found.masked);
        }
    }

    #[test]
    fn a_page_that_the_call_continues_from_is_shown_too() {
        let found = shown(r#"{"a":1}"#, Some("page-2"), nothing).unwrap();
        assert_eq!(found.arguments, json!({"a": 1, "cursor": "page-2"}));
        let own = shown(r#"{"cursor":"mine"}"#, Some("mine"), nothing).unwrap();
        assert_eq!(own.arguments, json!({"cursor": "mine"}));
    }

    #[test]
    fn only_a_secret_of_the_connection_is_masked_and_the_rest_can_be_read() {
        let scrub = |text: &str| text.replace("12345678", "[redacted]");
        let arguments = json!({"a": "x12345678y", "n": 12345678, "12345678": 1, "to": "eve"});
        let found = shown(&arguments.to_string(), None, scrub).unwrap();
        assert!(found.masked);
        assert_eq!(
            found.arguments,
            json!({"a": "x[redacted]y", "n": "[redacted]", "[redacted]": 1, "to": "eve"})
        );
        let across = |text: &str| text.replace(r#"1,"b":2"#, "[redacted]");
        let found = shown(r#"{"a":1,"b":2,"to":"eve"}"#, None, across).unwrap();
        assert_eq!(found.arguments, json!(r#"{"a":[redacted],"to":"eve"}"#));
        assert!(found.masked);
    }

    /// Draws JSON that a caller may send, from a seed, so that a failure repeats.
    struct DrawnJson(u64);

    impl DrawnJson {
        fn below(&mut self, most: u64) -> u64 {
            // SplitMix64.
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) % most
        }

        fn text(&mut self) -> String {
            const BEGINS: [&str; 9] = [
                "Bearer ",
                "sk-",
                "eyJ",
                "AKIA",
                "ghp_",
                "-----BEGIN",
                "[hidden]",
                "[redacted]",
                "",
            ];
            let mut text = BEGINS[self.below(9) as usize].to_owned();
            for _ in 0..self.below(20) {
                let most = [0x80, 0x250, 0x2100, 0x11_0000][self.below(4) as usize];
                text.extend(char::from_u32(self.below(most) as u32));
            }
            text
        }

        fn name(&mut self) -> String {
            const NAMES: [&str; 6] = ["x_token", "password", "secret", "pin", "7", "cookie"];
            match self.below(2) {
                0 => NAMES[self.below(6) as usize].to_owned(),
                _ => self.text(),
            }
        }

        fn value(&mut self, depth: u64) -> Value {
            match self.below(if depth > 6 { 6 } else { 8 }) {
                0 => Value::Null,
                1 => Value::Bool(self.below(2) == 0),
                2 => Value::from(self.below(u64::MAX)),
                3 => Value::from(-(self.below(1 << 62) as i64)),
                4 => Value::from(f64::from_bits(self.below(u64::MAX))),
                5 => Value::from(self.text()),
                6 => (0..self.below(5)).map(|_| self.value(depth + 1)).collect(),
                _ => {
                    let fields = (0..self.below(5)).map(|_| (self.name(), self.value(depth + 1)));
                    Value::Object(fields.collect())
                }
            }
        }
    }

    #[test]
    fn what_is_shown_reads_back_as_what_runs() {
        for seed in 0..2_000 {
            let runs = json!({ "field": DrawnJson(seed).value(0) }).to_string();
            let found = shown(&runs, None, nothing).unwrap();
            let text = super::super::arguments_text(&found.arguments);
            let unseen = text.chars().find(|c| is_hidden(*c) && *c != '\n');
            assert_eq!(unseen, None, "seed {seed}: {text}");
            let back: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(back.to_string(), runs, "seed {seed}");
        }
    }
}
