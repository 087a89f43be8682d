//! What a run of tests is told by variables of the environment.

/// The number in the variable `name`.
///
/// # Panics
/// When it holds something else.
pub fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| text.parse().expect("a number"))
}
