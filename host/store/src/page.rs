//! Pages of a list that is ordered newest first and may grow while somebody reads it.
//!
//! A cursor names the last row that was shown, not a count, so rows that arrive or go meanwhile
//! neither repeat nor hide others.

use std::fmt;

/// Where a page ended: the time and id of its last row. Prints as `<at_ms>.<id>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub at_ms: i64,
    pub id: String,
}

impl Cursor {
    /// `None` for a text that no page handed out.
    pub fn parse(text: &str) -> Option<Self> {
        let (at_ms, id) = text.split_once('.')?;
        let plain = !id.is_empty() && id.len() <= 128 && id.bytes().all(|b| b.is_ascii_graphic());
        plain.then_some(())?;
        Some(Self {
            at_ms: at_ms.parse().ok()?,
            id: id.to_owned(),
        })
    }

    /// What to compare with: everything is older than the end of time.
    pub(super) fn bound(cursor: Option<&Self>) -> (i64, String) {
        cursor.map_or((i64::MAX, String::new()), |c| (c.at_ms, c.id.clone()))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at_ms, self.id)
    }
}

/// One page and where the next begins.
#[derive(Clone, Debug)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// From `limit + 1` rows: the extra one only tells that there is more.
    pub(super) fn cut(mut rows: Vec<T>, limit: usize, cursor: impl Fn(&T) -> (i64, &str)) -> Self {
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|last| {
            let (at_ms, id) = cursor(last);
            Cursor {
                at_ms,
                id: id.to_owned(),
            }
        });
        Self { items: rows, next }
    }
}

/// `limit + 1` as the database wants it.
pub(super) fn one_more(limit: usize) -> i64 {
    i64::try_from(limit)
        .unwrap_or(i64::MAX - 1)
        .saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text() {
        let cursor = Cursor {
            at_ms: -5,
            id: "exe_01.x".into(),
        };
        assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
        for bad in [
            "",
            "5",
            ".x",
            "5.",
            "x.y",
            "5.a b",
            "5.\u{0}",
            "99999999999999999999.x",
        ] {
            assert_eq!(Cursor::parse(bad), None, "{bad:?}");
        }
    }
}
