//! Where in a manifest a difference is.

/// A step of the way to a place.
#[derive(Clone, Debug)]
pub(super) struct PathStep {
    pub name: String,
    /// It is the name of an object in a list.
    pub of_list: bool,
}

/// A place as [`super::rules::rule_for`] names it.
pub(super) fn pattern(place: &[PathStep]) -> Vec<&str> {
    place
        .iter()
        .map(|step| {
            if step.of_list {
                "*"
            } else {
                step.name.as_str()
            }
        })
        .collect()
}
