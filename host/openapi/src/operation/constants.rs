//! Headers and query parameters that every request of an operation has with the same value.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgate_openapi_table::{Input, Source, Style};

use super::OperationLocation;
use super::parameters::RoutedParameters;
use crate::keys::{DocumentKeys, OperationKeys, ScalarText};
use crate::problem::Notes;
use crate::words;

/// A path without its fragment, and the fixed query that follows its `?`, in clear.
pub(super) fn split_path<'d>(
    place: &OperationLocation<'d>,
    notes: &mut Notes,
) -> (&'d str, Vec<(String, ScalarText)>) {
    let path = place.path.split('#').next().unwrap_or_default();
    let (route, query) = path.split_once('?').unwrap_or((path, ""));
    let mut fixed = Vec::new();
    for pair in query.split('&') {
        if pair.contains(['{', '}']) {
            let message = format!(
                "the path's `?{}` is not sent: declare a parameter in `query`",
                words::clean(pair, 100)
            );
            notes.changed(&place.pointer, message);
            continue;
        }
        // Encoded again when it is sent.
        let pairs = url::form_urlencoded::parse(pair.as_bytes());
        fixed
            .extend(pairs.map(|(name, value)| (name.into_owned(), ScalarText(value.into_owned()))));
    }
    (route, fixed)
}

/// Replaces the inputs that have the name of a constant. `path_query` is the fixed query of the path.
pub(super) fn add_constants(
    inputs: &mut RoutedParameters,
    document: &DocumentKeys,
    path_query: Vec<(String, ScalarText)>,
    own: &OperationKeys,
) {
    let mut headers = document.headers.clone();
    headers.extend(own.headers.clone());
    inputs.headers.retain(|input| {
        !headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case(&input.name))
    });
    let headers = headers.iter();
    inputs
        .headers
        .extend(headers.map(|(name, value)| constant(name, value, Style::Simple)));

    let query = merged_query(&document.query, path_query, &own.query);
    inputs
        .query
        .retain(|input| !query.iter().any(|(name, _)| *name == input.name));
    let query = query.iter();
    inputs.query.splice(
        0..0,
        query.map(|(name, value)| constant(name, value, Style::Form)),
    );
}

fn constant(name: &str, value: &ScalarText, style: Style) -> Input {
    Input {
        name: name.to_owned(),
        source: Source::Constant(Value::from(value.0.as_str())),
        style,
        explode: false,
        reserved: false,
    }
}

/// The constant query of an operation, by name. The operation's own wins over the path's, that over the document's;
/// only a path may repeat a name.
fn merged_query(
    document: &BTreeMap<String, ScalarText>,
    path: Vec<(String, ScalarText)>,
    own: &BTreeMap<String, ScalarText>,
) -> Vec<(String, ScalarText)> {
    let copied = |(name, value): (&String, &ScalarText)| (name.clone(), value.clone());
    let mut all: Vec<(String, ScalarText)> = document
        .iter()
        .filter(|(name, _)| !path.iter().any(|(nearer, _)| nearer == *name))
        .map(copied)
        .collect();
    all.extend(path);
    all.retain(|(name, _)| !own.contains_key(name));
    all.extend(own.iter().map(copied));
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}
