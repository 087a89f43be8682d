//! A terminal of 80 columns and 24 lines, as far as the program uses one.

pub const COLUMNS: usize = 80;
pub const ROWS: usize = 24;

/// What the terminal shows.
pub struct Screen {
    rows: Vec<String>,
}

impl Screen {
    /// Plays the bytes that were written to a terminal.
    pub fn play(written: &str) -> Self {
        let mut rows = vec![String::new()];
        let mut column = 0;
        let mut left = written.chars().peekable();
        while let Some(c) = left.next() {
            match c {
                '\r' => column = 0,
                '\n' => {
                    rows.push(String::new());
                    column = 0;
                }
                '\x1b' => {
                    let sequence: String = left.by_ref().take(3).collect();
                    assert_eq!(sequence, "[2K", "an unknown sequence in {written:?}");
                    rows.last_mut().unwrap().clear();
                }
                c => {
                    if column == COLUMNS {
                        rows.push(String::new());
                        column = 0;
                    }
                    let row = rows.last_mut().unwrap();
                    *row = row.chars().take(column).collect();
                    row.push(c);
                    column += 1;
                }
            }
        }
        let first = rows.len().saturating_sub(ROWS);
        Self {
            rows: rows.split_off(first),
        }
    }

    pub fn text(&self) -> String {
        self.rows.join("\n")
    }
}
