//! Addresses of cells: `'My sheet'!B2:D10`, and the numbers behind them.

use toolgate_sdk::ToolError;

/// A part of a sheet; rows and columns count from 0, ends are exclusive, absent ones are open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Area {
    pub sheet: Option<String>,
    pub rows: (Option<u64>, Option<u64>),
    pub columns: (Option<u64>, Option<u64>),
}

/// The name of a sheet as it stands in an address.
pub fn quoted(sheet: &str) -> String {
    format!("'{}'", sheet.replace('\'', "''"))
}

/// 0 is `A`, 26 is `AA`.
pub fn column_name(index: u64) -> String {
    let mut name = Vec::new();
    let mut left = index + 1;
    while left > 0 {
        left -= 1;
        name.push((b'A' + (left % 26) as u8) as char);
        left /= 26;
    }
    name.iter().rev().collect()
}

fn column_index(name: &str) -> Option<u64> {
    if name.is_empty() || name.len() > 3 {
        return None;
    }
    let mut index = 0u64;
    for c in name.chars() {
        let digit = c.to_ascii_uppercase();
        if !digit.is_ascii_uppercase() {
            return None;
        }
        index = index * 26 + u64::from(digit as u8 - b'A') + 1;
    }
    Some(index - 1)
}

/// An address as numbers. A name alone is a whole sheet.
pub fn parse(text: &str) -> Result<Area, ToolError> {
    let text = text.trim();
    let (sheet, cells) = match text.rsplit_once('!') {
        Some((sheet, cells)) => (Some(unquoted(sheet)), Some(cells)),
        None if is_cells(text) => (None, Some(text)),
        None => (Some(unquoted(text)), None),
    };
    let mut area = Area {
        sheet,
        ..Area::default()
    };
    let Some(cells) = cells else {
        return Ok(area);
    };
    let wrong = || {
        let text =
            format!("`{text}` is no range: write `Sheet!A1:C10`, `A:C`, `2:5` or a sheet's name");
        ToolError::invalid("/range", text)
    };
    let (from, to) = cells.split_once(':').unwrap_or((cells, cells));
    let from = corner(from).ok_or_else(wrong)?;
    let to = corner(to).ok_or_else(wrong)?;
    let ends = |from: Option<u64>, to: Option<u64>| (from, to.map(|end| end + 1));
    area.columns = ends(from.0, to.0);
    area.rows = ends(from.1, to.1);
    let order = |(from, to): (Option<u64>, Option<u64>)| from.zip(to).is_none_or(|(a, b)| a < b);
    if !order(area.columns) || !order(area.rows) {
        return Err(wrong());
    }
    Ok(area)
}

fn unquoted(sheet: &str) -> String {
    let inner = sheet
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''));
    inner.map_or_else(|| sheet.to_owned(), |inner| inner.replace("''", "'"))
}

/// Whether a text without `!` looks like cells rather than a sheet's name.
fn is_cells(text: &str) -> bool {
    let corners: Vec<_> = text.split(':').map(corner).collect();
    matches!(
        corners.as_slice(),
        [Some((Some(_), Some(_)))] | [Some(_), Some(_)]
    )
}

/// `$B$7` as column and row; either may be missing, not both.
fn corner(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let plain = text.replace('$', "");
    let split = plain
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(plain.len());
    let (letters, digits) = plain.split_at(split);
    let column = if letters.is_empty() {
        None
    } else {
        Some(column_index(letters)?)
    };
    let row = if digits.is_empty() {
        None
    } else {
        Some(digits.parse::<u64>().ok()?.checked_sub(1)?)
    };
    (column.is_some() || row.is_some()).then_some((column, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_letters() {
        for (index, name) in [
            (0, "A"),
            (25, "Z"),
            (26, "AA"),
            (51, "AZ"),
            (701, "ZZ"),
            (702, "AAA"),
        ] {
            assert_eq!(column_name(index), name);
            assert_eq!(column_index(name), Some(index));
        }
        assert_eq!(column_index("A1"), None);
    }

    #[test]
    fn addresses_are_understood() {
        let area = |sheet: Option<&str>, columns, rows| Area {
            sheet: sheet.map(str::to_owned),
            rows,
            columns,
        };
        for (text, expected) in [
            (
                "B2:D10",
                area(None, (Some(1), Some(4)), (Some(1), Some(10))),
            ),
            ("$B$2", area(None, (Some(1), Some(2)), (Some(1), Some(2)))),
            ("A:C", area(None, (Some(0), Some(3)), (None, None))),
            ("2:5", area(None, (None, None), (Some(1), Some(5)))),
            ("A2:C", area(None, (Some(0), Some(3)), (Some(1), None))),
            (
                "Data!A1",
                area(Some("Data"), (Some(0), Some(1)), (Some(0), Some(1))),
            ),
            (
                "'It''s'!A:A",
                area(Some("It's"), (Some(0), Some(1)), (None, None)),
            ),
            (
                "My sheet",
                area(Some("My sheet"), (None, None), (None, None)),
            ),
            ("Budget", area(Some("Budget"), (None, None), (None, None))),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for text in [
            "Data!",
            "Data!A0",
            "Data!C1:A1",
            "Data!A5:A2",
            "Data!AAAA1",
            "Data!1A",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(quoted("It's"), "'It''s'");
    }
}
