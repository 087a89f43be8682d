//! Many rows in few statements, each written and prepared once.

use std::fmt::Write as _;
use std::sync::OnceLock;

use sqlx::{Postgres, Sqlite, Transaction};

/// Rows of one statement; with 20 binds each within the bounds of both databases.
const ROWS_MAX: usize = 128;
const LENGTHS: usize = ROWS_MAX.ilog2() as usize + 1;

/// Cuts a batch into statements whose numbers of rows are powers of two: few enough different
/// texts that each stays prepared.
pub(super) fn statements<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let now = 1 << rows.len().min(ROWS_MAX).checked_ilog2()?;
        let (these, rest) = rows.split_at(now);
        rows = rest;
        Some(these)
    })
}

/// How a database wants the places of a statement's values written. SQLite takes numbers too, but
/// for each value it looks through all of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlaceholderStyle {
    /// `$1`, `$2`
    Numbered,
    /// `?`
    InOrder,
}

/// What a statement runs in.
pub(super) trait Executor {
    const PLACES: PlaceholderStyle;
}

impl Executor for Transaction<'_, Postgres> {
    const PLACES: PlaceholderStyle = PlaceholderStyle::Numbered;
}

impl Executor for Transaction<'_, Sqlite> {
    const PLACES: PlaceholderStyle = PlaceholderStyle::InOrder;
}

/// A statement over rows of values, for each number of rows that [`statements`] hands out.
pub(super) struct Statement {
    before: &'static str,
    columns: usize,
    after: &'static str,
    /// For each of [`PlaceholderStyle`].
    texts: [[OnceLock<String>; LENGTHS]; 2],
}

impl Statement {
    /// `before` ends with `VALUES `; `after` follows the last row.
    pub(super) const fn new(before: &'static str, columns: usize, after: &'static str) -> Self {
        Self {
            before,
            columns,
            after,
            texts: [const { [const { OnceLock::new() }; LENGTHS] }; 2],
        }
    }

    /// Its text for so many rows, to be run in `tx`.
    ///
    /// # Panics
    /// For a number that is not a power of two up to 128.
    pub(super) fn text_for<T: Executor>(&'static self, _tx: &T, rows: usize) -> &'static str {
        assert!(rows.is_power_of_two(), "{rows} rows");
        let texts = &self.texts[T::PLACES as usize];
        texts[rows.ilog2() as usize].get_or_init(|| self.text(T::PLACES, rows))
    }

    fn text(&self, places: PlaceholderStyle, rows: usize) -> String {
        let mut text = self.before.to_owned();
        for n in 0..rows * self.columns {
            text.push_str(match (n, n % self.columns) {
                (0, _) => "(",
                (_, 0) => "), (",
                _ => ", ",
            });
            match places {
                PlaceholderStyle::Numbered => {
                    write!(text, "${}", n + 1).expect("a text takes everything")
                }
                PlaceholderStyle::InOrder => text.push('?'),
            }
        }
        text + ")" + self.after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_a_place_for_each_value() {
        static TWO: Statement = Statement::new("INSERT INTO t (a, b) VALUES ", 2, " RETURNING a");
        for (places, rows, values) in [
            (PlaceholderStyle::Numbered, 1, "($1, $2)"),
            (PlaceholderStyle::Numbered, 2, "($1, $2), ($3, $4)"),
            (PlaceholderStyle::InOrder, 2, "(?, ?), (?, ?)"),
        ] {
            assert_eq!(
                TWO.text(places, rows),
                format!("INSERT INTO t (a, b) VALUES {values} RETURNING a")
            );
        }
    }

    #[test]
    fn every_row_is_in_one_statement_in_order() {
        for rows in [0, 1, 2, 3, 100, 127, 128, 129, 1000] {
            let rows: Vec<usize> = (0..rows).collect();
            let cut: Vec<&[usize]> = statements(&rows).collect();
            assert_eq!(cut.concat(), rows);
            for rows in cut {
                assert!(rows.len().is_power_of_two() && rows.len() <= ROWS_MAX);
            }
        }
    }
}
