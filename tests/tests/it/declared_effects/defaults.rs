//! No form of a connect page begins with a value that only looks like the user's own.

use std::collections::BTreeSet;

use super::shipped;

/// Parameters without a list of options that begin with a value, by key, each with the reason why most users have it.
const COMMON_VALUES: &[(&str, &str, &str)] = &[
    ("language", "en", "the largest Wikipedia"),
    (
        "region",
        "us-east-1",
        "the region of AWS that is older than the others",
    ),
];

#[test]
fn a_form_begins_with_an_option_or_with_a_value_that_most_users_have() {
    let mut used = BTreeSet::new();
    let mut problems = Vec::new();
    for plugin in shipped() {
        for parameter in &plugin.manifest.parameters {
            let Some(default) = &parameter.default else {
                continue;
            };
            if parameter.options.contains(default) {
                continue;
            }
            let common = COMMON_VALUES
                .iter()
                .position(|(key, value, _)| *key == parameter.key && value == default);
            match common {
                Some(row) => {
                    used.insert(row);
                }
                None => problems.push(format!(
                    "{}: {} begins with `{default}`",
                    plugin.manifest.service, parameter.key
                )),
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert_eq!(
        used.len(),
        COMMON_VALUES.len(),
        "a row is not needed: {used:?}"
    );
}
