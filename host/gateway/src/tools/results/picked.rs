//! Parts of a result, by pointer.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::Error;
use toolgate_core::exact::{ExactNumbers, push_segment};

/// The parts of `result` at `fields`, by pointer; a part that is not there is left out. Numbers stay as they are
/// written.
pub(super) fn picked(result: &RawValue, fields: &[String]) -> Result<Box<RawValue>, Error> {
    let internal = |cause: serde_json::Error| Error::Internal(cause.into());
    let whole: Value = serde_json::from_str(result.get()).map_err(internal)?;
    let written = ExactNumbers::read(result.get());
    let mut numbers = ExactNumbers::default();
    let mut parts = Map::new();
    for pointer in fields {
        if let Some(part) = whole.pointer(pointer) {
            let mut place = String::new();
            push_segment(&mut place, pointer);
            numbers.adopt_part(&written, &spelled(pointer), &place);
            parts.insert(pointer.clone(), part.clone());
        }
    }
    RawValue::from_string(numbers.write(&Value::Object(parts))).map_err(internal)
}

/// A JSON Pointer as it is usually spelled: `~` alone is itself in others.
fn spelled(pointer: &str) -> String {
    let mut spelled = String::new();
    for segment in pointer.split('/').skip(1) {
        push_segment(&mut spelled, &segment.replace("~1", "/").replace("~0", "~"));
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picked_numbers_keep_every_digit() {
        let result = r#"{"id":725653563933458432,"big":36893488147419103232,"list":[{"p":1234567890.123456789,"a~b":0.10}]}"#;
        let result = RawValue::from_string(result.to_owned()).unwrap();
        for (pointer, part) in [
            ("/id", "725653563933458432"),
            ("/big", "36893488147419103232"),
            ("/list/0/p", "1234567890.123456789"),
            ("/list/0/a~0b", "0.10"),
            ("/list/0/a~b", "0.10"),
            ("/list/0", r#"{"p":1234567890.123456789,"a~b":0.10}"#),
        ] {
            let picked = picked(&result, &[pointer.to_owned()]).unwrap();
            assert_eq!(picked.get(), format!(r#"{{"{pointer}":{part}}}"#));
        }
    }
}
