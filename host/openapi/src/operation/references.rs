//! References below operations that lead nowhere.

use super::OperationLocation;
use crate::document::Documents;
use crate::keys::OperationKeys;
use crate::problem::{Notes, below};

/// Notes what the tools of these operations lack because a reference leads nowhere.
pub fn note_missing_references(
    docs: &Documents,
    operations: &[(OperationLocation<'_>, OperationKeys)],
    notes: &mut Notes,
) {
    let places = operations.iter().flat_map(|(place, _)| {
        // Responses are not part of a tool, and other methods of the path are other operations.
        let path = place.pointer.rsplit_once('/').map_or("", |(path, _)| path);
        let shared = place.item.get("parameters");
        let shared = shared.map(|node| (node, below(path, "parameters")));
        let own = ["parameters", "requestBody"].into_iter();
        let own = own.filter_map(|key| Some((place.node.get(key)?, below(&place.pointer, key))));
        shared.into_iter().chain(own)
    });
    for missing in docs.missing_references(places) {
        let message = format!(
            "this reference leads nowhere, so the tool lacks what it describes: {}",
            missing.why
        );
        notes.changed(&missing.pointer, message);
    }
}
