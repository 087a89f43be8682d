//! The lifetime of a token, as token responses express it.
//!
//! Pure. The standard has seconds as a number (RFC 6749, section 5.1). Providers also send strings, fractions, the time
//! of expiry in seconds or milliseconds since 1970, or as a date. After 0, an empty string and everything else the
//! lifetime is not known.

use serde_json::Value;

use toolgate_core::clock::parse_rfc3339;

/// A longer lifetime is not believed: ten years.
pub const LIFETIME_MS_MAX: i64 = 10 * 365 * 24 * 3600 * 1_000;
/// From here a number is a time and not a lifetime. Seconds since 1970, in the year 2001.
const MOMENT_S_MIN: f64 = 1e9;
/// From here a time is in milliseconds; as seconds it would be in the year 5138.
const MOMENT_MS_MIN: f64 = 1e11;
/// From here a number is neither.
const MOMENT_MS_MAX: f64 = 1e14;

/// When a token expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Milliseconds from the time of the response.
    For(i64),
    /// Milliseconds since 1970.
    Until(i64),
}

impl Lifetime {
    /// `None`: not stated, or not possible for a token that was just issued.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Self::number(number.as_f64()?),
            Value::String(text) => {
                let text = text.trim();
                match text.parse::<f64>() {
                    Ok(number) => Self::number(number),
                    // Without an offset it is UTC.
                    Err(_) => parse_rfc3339(text)
                        .or_else(|| parse_rfc3339(&format!("{text}Z")))
                        .map(Self::Until),
                }
            }
            _ => None,
        }
    }

    fn number(number: f64) -> Option<Self> {
        // Below 1e14 a float holds every whole number.
        let whole = |number: f64| number as i64;
        if number < MOMENT_S_MIN {
            let life_ms = whole((number * 1_000.0).max(0.0));
            (life_ms > 0).then_some(Self::For(life_ms))
        } else if number < MOMENT_MS_MIN {
            Some(Self::Until(whole(number * 1_000.0)))
        } else if number < MOMENT_MS_MAX {
            Some(Self::Until(whole(number)))
        } else {
            None
        }
    }

    /// Counted from the time of the request. `None`: the token has expired already, so one of the two clocks
    /// is wrong.
    pub fn from_ms(self, asked_ms: i64) -> Option<i64> {
        let life_ms = match self {
            Self::For(life_ms) => life_ms,
            Self::Until(end_ms) => end_ms.saturating_sub(asked_ms),
        };
        (life_ms > 0).then_some(life_ms.min(LIFETIME_MS_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lifetimes_and_expiry_times_are_read_in_every_form_that_providers_send() {
        let end_ms = 1_700_003_600_000;
        for (value, expected) in [
            (json!(3600), Some(Lifetime::For(3_600_000))),
            (json!("3600"), Some(Lifetime::For(3_600_000))),
            (json!(" 3600 "), Some(Lifetime::For(3_600_000))),
            (json!(3599.5), Some(Lifetime::For(3_599_500))),
            (json!("7199.0"), Some(Lifetime::For(7_199_000))),
            (json!(0.5), Some(Lifetime::For(500))),
            (json!(1_700_003_600), Some(Lifetime::Until(end_ms))),
            (json!("1700003600"), Some(Lifetime::Until(end_ms))),
            (json!(1_700_003_600.25), Some(Lifetime::Until(end_ms + 250))),
            (json!(1_700_003_600_000_i64), Some(Lifetime::Until(end_ms))),
            (json!("1700003600000"), Some(Lifetime::Until(end_ms))),
            (json!("2023-11-14T23:13:20Z"), Some(Lifetime::Until(end_ms))),
            (
                json!("2023-11-15T00:13:20+01:00"),
                Some(Lifetime::Until(end_ms)),
            ),
            (json!("2023-11-14T23:13:20"), Some(Lifetime::Until(end_ms))),
            (json!("2023-11-14 23:13:20"), Some(Lifetime::Until(end_ms))),
            (json!(0), None),
            (json!("0"), None),
            (json!(0.0), None),
            (json!(-1), None),
            (json!("-1"), None),
            (json!(""), None),
            (json!("never"), None),
            (json!("NaN"), None),
            (json!("inf"), None),
            (json!(null), None),
            (json!(true), None),
            (json!([3600]), None),
            (json!({"seconds": 3600}), None),
            (json!(1e20), None),
        ] {
            assert_eq!(Lifetime::read(&value), expected, "{value}");
        }
    }

    #[test]
    fn a_lifetime_is_counted_from_the_request_and_has_a_bound() {
        assert_eq!(Lifetime::For(5).from_ms(1_000), Some(5));
        assert_eq!(Lifetime::Until(1_005).from_ms(1_000), Some(5));
        assert_eq!(Lifetime::Until(1_000).from_ms(1_000), None);
        assert_eq!(Lifetime::Until(900).from_ms(1_000), None);
        assert_eq!(Lifetime::For(i64::MAX).from_ms(0), Some(LIFETIME_MS_MAX));
        assert_eq!(Lifetime::Until(i64::MAX).from_ms(-1), Some(LIFETIME_MS_MAX));
    }
}
