//! Lines of places in a description's text: a build knows a JSON Pointer, and an author looks for a line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use super::document::{self, Documents};
use super::problem::{Note, Notes, Problem, below};
use super::{Described, words};

/// In a longer text no lines are searched for, because it is parsed once more for them.
const TEXT_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Adds the lines in the description `file` to the notes or the problem of a build.
pub(super) fn located(
    file: &Path,
    mut made: Result<Described, Problem>,
) -> Result<Described, Problem> {
    match &mut made {
        Ok(described) => {
            let open = |note: &&mut Note| note.line.is_none();
            let notes: Vec<&mut Note> = described.notes.iter_mut().filter(open).collect();
            let found = find_lines(
                file,
                notes.iter().map(|note| note.pointer.clone()).collect(),
            );
            for note in notes {
                note.line = found.get(&note.pointer).copied();
            }
        }
        Err(problem) if problem.file == file.display().to_string() => {
            let found = find_lines(file, BTreeSet::from([problem.pointer.clone()]));
            problem.line = found.get(&problem.pointer).copied();
        }
        Err(_) => {}
    }
    made
}

/// Notes which keys replace an earlier one of the same name.
pub(super) fn note_doubled_keys(docs: &Documents, notes: &mut Notes) {
    for (file, doubled) in docs.doubled_keys() {
        let elsewhere = Some(file).filter(|file| *file != docs.name());
        let of_file = elsewhere.map(|file| format!(" of {file}"));
        let message = format!(
            "`{}` is twice in one mapping{}: the first one is ignored; merge the two or rename one",
            words::clean(&doubled.key, 60),
            of_file.unwrap_or_default()
        );
        notes.at_line(doubled.line, message);
    }
}

/// The line of each place, or of the nearest one around it that is in the text.
fn find_lines(file: &Path, wanted: BTreeSet<String>) -> BTreeMap<String, u64> {
    let small = std::fs::metadata(file).is_ok_and(|file| file.len() <= TEXT_BYTES_MAX);
    if wanted.iter().all(String::is_empty) || !small {
        return BTreeMap::new();
    }
    let Ok(text) = std::fs::read_to_string(file) else {
        return BTreeMap::new();
    };
    document::with_stack(|| in_text(&text, wanted)).unwrap_or_default()
}

fn in_text(text: &str, wanted: BTreeSet<String>) -> BTreeMap<String, u64> {
    let mut search = LineSearch {
        around: wanted.iter().flat_map(|pointer| parents(pointer)).collect(),
        found: BTreeMap::new(),
    };
    let place = TextPlace {
        search: &mut search,
        pointer: String::new(),
    };
    // A text that is not YAML to its end has lines up to the error.
    let options = document::yaml_options(DuplicateKeyPolicy::FirstWins);
    let _ = serde_saphyr::with_deserializer_from_str_with_options(text, options, |input| {
        place.deserialize(input)
    });
    let nearest = |pointer: &str| parents(pointer).find_map(|at| search.found.get(at).copied());
    wanted
        .iter()
        .filter_map(|pointer| Some((pointer.clone(), nearest(pointer)?)))
        .collect()
}

/// The place itself and those around it, without the whole document.
fn parents(pointer: &str) -> impl Iterator<Item = &str> {
    let whole = Some(pointer).filter(|pointer| !pointer.is_empty());
    std::iter::successors(whole, |at| {
        let (parent, _) = at.rsplit_once('/')?;
        Some(parent).filter(|parent| !parent.is_empty())
    })
}

struct LineSearch<'a> {
    /// Places whose lines are wanted.
    around: BTreeSet<&'a str>,
    found: BTreeMap<String, u64>,
}

struct TextPlace<'s, 'a> {
    search: &'s mut LineSearch<'a>,
    pointer: String,
}

impl<'de> DeserializeSeed<'de> for TextPlace<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TextPlace<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let at = below(&self.pointer, &key.value);
            if !self.search.around.contains(at.as_str()) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            self.search
                .found
                .entry(at.clone())
                .or_insert(key.referenced.line());
            map.next_value_seed(TextPlace {
                search: &mut *self.search,
                pointer: at,
            })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        // The line of an element is that of its first key, which is the next that is found.
        let mut index = 0_usize;
        loop {
            let place = TextPlace {
                pointer: below(&self.pointer, &index.to_string()),
                search: &mut *self.search,
            };
            if list.next_element_seed(place)?.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "openapi: 3.1.0\npaths:\n  /notes/{id}:\n    get:\n      operationId: get\n      parameters:\n        - name: id\n          in: path\n        - { name: limit, in: query }\n    put: &put { a: 1 }\n  \"/quoted\": { get: { summary: One } }\n";

    #[test]
    fn a_place_has_the_line_of_its_key() {
        let lines = |pointers: &[&str]| -> Vec<Option<u64>> {
            let wanted = pointers.iter().map(|at| (*at).to_owned()).collect();
            let found = in_text(TEXT, wanted);
            pointers.iter().map(|at| found.get(*at).copied()).collect()
        };
        assert_eq!(
            lines(&[
                "/paths",
                "/paths/~1notes~1{id}/get",
                "/paths/~1notes~1{id}/get/parameters/0/in",
                "/paths/~1notes~1{id}/get/parameters/1/name",
                "/paths/~1quoted/get/summary",
                // Not in the text: the nearest place around it.
                "/paths/~1notes~1{id}/get/x-toolgate/effect",
                "/nowhere",
                "",
            ]),
            [
                Some(2),
                Some(4),
                Some(8),
                Some(9),
                Some(11),
                Some(4),
                None,
                None
            ]
        );
    }

    #[test]
    fn a_text_that_breaks_off_has_lines_up_to_there() {
        let found = in_text(
            "paths:\n  /a:\n    get: [\n",
            BTreeSet::from(["/paths/~1a".to_owned()]),
        );
        assert_eq!(found.get("/paths/~1a"), Some(&2));
    }

    #[test]
    fn a_description_in_json_has_lines_too() {
        let text = "{\n  \"info\": {\n    \"title\": \"A\"\n  }\n}\n";
        let found = in_text(text, BTreeSet::from(["/info/title".to_owned()]));
        assert_eq!(found.get("/info/title"), Some(&3));
    }
}
