//! Moments as an agent writes them: `now`, `-1h30m`, or what Prometheus itself reads (RFC 3339 or
//! seconds since 1970).

use toolgate_sdk::ToolError;

/// `text` as Prometheus reads it. `field` names the argument in the error.
pub fn moment(text: &str, field: &str, now_ms: u64) -> Result<String, ToolError> {
    let ago_ms = match text.trim() {
        "now" => Some(0),
        text => text
            .strip_prefix('-')
            .map(|ago| duration_ms(ago).unwrap_or(u64::MAX)),
    };
    match ago_ms {
        None => Ok(text.trim().to_owned()),
        Some(ago_ms) if ago_ms <= now_ms => {
            let ms = now_ms - ago_ms;
            Ok(format!("{}.{:03}", ms / 1000, ms % 1000))
        }
        Some(_) => Err(ToolError::invalid(
            format!("/{field}"),
            "write a moment as `now`, `-1h30m`, an RFC 3339 time or seconds since 1970",
        )),
    }
}

/// `1h30m` in milliseconds, with the units of PromQL.
fn duration_ms(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let count: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let unit_ms = match &rest[..unit] {
            "ms" => 1,
            "s" => 1000,
            "m" => 60 * 1000,
            "h" => 3600 * 1000,
            "d" => 24 * 3600 * 1000,
            "w" => 7 * 24 * 3600 * 1000,
            "y" => 365 * 24 * 3600 * 1000,
            _ => return None,
        };
        rest = &rest[unit..];
        total = total.checked_add(count.checked_mul(unit_ms)?)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn moments_are_read() {
        for (text, expected) in [
            ("now", Some("1000000.000")),
            ("-1h30m", Some("994600.000")),
            ("-500ms", Some("999999.500")),
            ("2026-01-01T00:00:00Z", Some("2026-01-01T00:00:00Z")),
            ("1767225600", Some("1767225600")),
            ("-1x", None),
            ("-5", None),
            ("-99999999999999999999h", None),
            ("-1000y", None),
        ] {
            let read = moment(text, "start", 1_000_000_000).ok();
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
