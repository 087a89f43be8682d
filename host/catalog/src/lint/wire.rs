//! Headers and media types that a manifest declares beyond those of every plugin.

use super::{Lint, Manifest, ManifestPath, text};
use crate::wire;

const DECLARED_MAX: usize = 50;

/// What is wrong with an entry of a list.
type EntryCheck<'a> = &'a dyn Fn(&str) -> Result<(), String>;

pub(super) fn check(manifest: &Manifest, found: &mut Lint) {
    let root = ManifestPath::Root;
    let lists: [(&str, &[String], EntryCheck<'_>); 3] = [
        ("request_headers", &manifest.request_headers, &|name| {
            wire::check_header(name, true)
        }),
        ("response_headers", &manifest.response_headers, &|name| {
            wire::check_header(name, false)
        }),
        (
            "response_types",
            &manifest.response_types,
            &wire::check_type,
        ),
    ];
    for (key, list, check) in lists {
        let at = root.key(key);
        if list.len() > DECLARED_MAX {
            found.error(&at, format!("at most {DECLARED_MAX} entries"));
        }
        for (i, entry) in list.iter().take(DECLARED_MAX).enumerate() {
            if let Err(problem) = check(entry) {
                found.error(&at.index(i), format!("`{}`: {problem}", text::shown(entry)));
            }
        }
    }
}
