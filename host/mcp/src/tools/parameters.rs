//! What clients send where the schema says otherwise, read as what they mean.
//!
//! Models write `"20"` for 20, and `null` or `""` for a parameter they leave out.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A whole number, also as text or as a float without a fraction. `null` and an empty text are absent.
pub(super) fn whole_number<'de, D: Deserializer<'de>>(input: D) -> Result<Option<usize>, D::Error> {
    input.deserialize_any(WholeNumber)
}

/// A text; `null` and an empty or blank one are absent.
pub(super) fn filled<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(input)?;
    Ok(text.filter(|text| !text.trim().is_empty()))
}

struct WholeNumber;

impl Visitor<'_> for WholeNumber {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        usize::try_from(number).map(Some).map_err(|_| too_large())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        usize::try_from(number)
            .map(Some)
            .map_err(|_| E::custom(format_args!("{number} is not a whole number from 0 up")))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        // Up to 2^53 every whole float is exact.
        if number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number) {
            self.visit_u64(number as u64)
        } else {
            Err(E::custom(format_args!(
                "{number} is not a whole number from 0 up"
            )))
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let digits = text.trim();
        if digits.is_empty() {
            return Ok(None);
        }
        if let Ok(number) = digits.parse::<u64>() {
            return self.visit_u64(number);
        }
        match digits.parse::<f64>() {
            Ok(number) => self.visit_f64(number),
            Err(_) => Err(E::custom(format_args!("{text:?} is not a whole number"))),
        }
    }
}

fn too_large<E: Error>() -> E {
    E::custom("the number is too large")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    #[derive(Deserialize)]
    struct LimitParameters {
        #[serde(default, deserialize_with = "super::whole_number")]
        limit: Option<usize>,
        #[serde(default, deserialize_with = "super::filled")]
        service: Option<String>,
    }

    fn limit(value: Value) -> Option<Option<usize>> {
        let read = serde_json::from_value::<LimitParameters>(json!({ "limit": value }));
        read.ok().map(|read| read.limit)
    }

    #[test]
    fn whole_numbers_are_read_in_every_spelling() {
        for (value, number) in [
            (json!(20), 20),
            (json!("20"), 20),
            (json!(" 20 "), 20),
            (json!(20.0), 20),
            (json!("20.0"), 20),
            (json!(0), 0),
        ] {
            assert_eq!(limit(value.clone()), Some(Some(number)), "{value}");
        }
        for absent in [json!(null), json!(""), json!("  ")] {
            assert_eq!(limit(absent.clone()), Some(None), "{absent}");
        }
    }

    #[test]
    fn what_is_no_whole_number_is_refused() {
        for value in [
            json!(-1),
            json!("-1"),
            json!(1.5),
            json!("1.5"),
            json!("twenty"),
            json!("NaN"),
            json!("inf"),
            json!(1e300),
            json!([20]),
            json!({}),
            json!(true),
        ] {
            assert_eq!(limit(value.clone()), None, "{value}");
        }
    }

    #[test]
    fn an_empty_text_is_absent() {
        for (value, text) in [
            (json!("github"), Some("github")),
            (json!(""), None),
            (json!(" "), None),
            (json!(null), None),
        ] {
            let read: LimitParameters =
                serde_json::from_value(json!({ "service": value })).expect("readable");
            assert_eq!(read.service.as_deref(), text);
        }
    }
}
