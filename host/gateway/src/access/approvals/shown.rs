//! Arguments as an approver reads them: whole, as they run. Pure.
//!
//! Nothing that the caller wrote is hidden from the person who decides: neither by its name, nor by its look, nor by
//! its length. Only the connection's own secrets are read by nobody, so that arguments with a whole one are not asked
//! about: no call needs them, because the host adds these itself, and the caller may have chosen the secret, to have words
//! of its own masked. A piece of one is shown: the caller wrote it, and a refusal would tell it that a guess was right.

use serde_json::Value;

use toolgate_core::exact::ExactNumbers;

/// Most bytes of arguments and planned requests that a person is asked about, as JSON. A larger call is refused.
pub(super) const QUESTION_BYTES_MAX: usize = 512 * 1024;

/// Arguments as they are kept with a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShownArguments {
    pub arguments: Value,
    /// Its numbers, digit by digit.
    pub numbers: ExactNumbers,
}

/// `arguments`: the JSON text that the plugin is given. `cursor`: what was taken out of it for a paginated tool.
/// `scrub`: masks the connection's whole secrets in one text ([`toolgate_egress::CallScope::scrub_wholes`]). `None`: there
/// is one.
pub(super) fn shown(
    arguments: &str,
    cursor: Option<&str>,
    scrub: impl Fn(&str) -> String,
) -> Result<Option<ShownArguments>, serde_json::Error> {
    let mut whole: Value = serde_json::from_str(arguments)?;
    let numbers = ExactNumbers::read(arguments);
    if let (Some(fields), Some(cursor)) = (whole.as_object_mut(), cursor) {
        fields
            .entry("cursor")
            .or_insert_with(|| Value::String(cursor.to_owned()));
    }
    let written = numbers.write(&whole);
    if scrub(&written) != written {
        return Ok(None);
    }
    Ok(Some(ShownArguments {
        arguments: whole,
        numbers,
    }))
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
        let found = shown(&arguments.to_string(), None, nothing).unwrap();
        found.expect("it holds no secret")
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
        }
    }

    #[test]
    fn every_digit_of_a_number_is_shown() {
        let runs = r#"{"id":36893488147419103232,"amount":1234567890.123456789}"#;
        let found = shown(runs, None, nothing).unwrap().unwrap();
        assert_eq!(found.numbers.write(&found.arguments), runs);
        let scrub = |text: &str| text.replace("893488147", "[redacted]");
        assert_eq!(shown(runs, None, scrub).unwrap(), None);
    }

    #[test]
    fn a_page_that_the_call_continues_from_is_shown_too() {
        let found = shown(r#"{"a":1}"#, Some("page-2"), nothing)
            .unwrap()
            .unwrap();
        assert_eq!(found.arguments, json!({"a": 1, "cursor": "page-2"}));
        let own = shown(r#"{"cursor":"mine"}"#, Some("mine"), nothing)
            .unwrap()
            .unwrap();
        assert_eq!(own.arguments, json!({"cursor": "mine"}));
    }

    #[test]
    fn arguments_with_a_secret_of_the_connection_are_not_asked_about() {
        let scrub = |text: &str| text.replace("12345678", "[redacted]");
        for (arguments, holds) in [
            (json!({"a": "x12345678y", "to": "eve"}), true),
            (json!({"n": 12345678}), true),
            (json!({"12345678": 1}), true),
            (json!({"a": ["1234", "5678"], "to": "[redacted]"}), false),
        ] {
            let found = shown(&arguments.to_string(), None, scrub).unwrap();
            assert_eq!(found.is_none(), holds, "{arguments}");
        }
        // One that lies across several values.
        let across = |text: &str| text.replace(r#"1,"b":2"#, "[redacted]");
        assert_eq!(
            shown(r#"{"a":1,"b":2,"to":"eve"}"#, None, across).unwrap(),
            None
        );
        assert_eq!(shown(r#"{"a":1}"#, Some("12345678"), scrub).unwrap(), None);
    }

    #[test]
    fn pieces_of_a_secret_are_shown_as_they_were_written() {
        const SECRET: &str = "nk_live_51qztp8vxk2mnd7rcyw4bhlgue9ajf3s";
        let mut scrubber = toolgate_egress::scrub::Scrubber::default();
        scrubber.learn([SECRET.as_bytes()]);
        let depth = toolgate_egress::scrub::SearchDepth::OwnWholes;
        let scrub = |text: &str| scrubber.text_to(depth, text).into_owned();
        for end in 1..SECRET.len() {
            let guess = json!({ "t": format!("{} gggggg {}x", &SECRET[..end], &SECRET[..end]) });
            let found = shown(&guess.to_string(), None, scrub).unwrap();
            let found = found.unwrap_or_else(|| panic!("{guess} is refused"));
            assert_eq!(found.arguments, guess);
        }
        let hex = SECRET.bytes().map(|byte| format!("{byte:02x}"));
        for whole in [SECRET.to_owned(), SECRET.to_uppercase(), hex.collect()] {
            let found = shown(&json!({ "t": whole }).to_string(), None, scrub).unwrap();
            assert_eq!(found, None, "{whole}");
        }
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
            let found = shown(&runs, None, nothing).unwrap().unwrap();
            let text = super::super::arguments_text(&found.arguments, &found.numbers);
            let unseen = text.chars().find(|c| is_hidden(*c) && *c != '\n');
            assert_eq!(unseen, None, "seed {seed}: {text}");
            let back: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(back.to_string(), runs, "seed {seed}");
        }
    }
}
