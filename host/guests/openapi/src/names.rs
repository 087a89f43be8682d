//! From the names that a model may write to the provider's, inside arguments.

use serde_json::{Map, Value};
use toolgate_openapi_table::{Names, Operation};

/// Renames members inside the arguments of an operation. What has the provider's name already stays.
pub fn rename(operation: &Operation, arguments: &mut Map<String, Value>) {
    for (argument, names) in &operation.names {
        if let Some(value) = arguments.get_mut(argument) {
            inside(value, names);
        }
    }
}

fn inside(value: &mut Value, names: &Names) {
    match value {
        Value::Array(items) => {
            if let Some(names) = &names.items {
                items.iter_mut().for_each(|item| inside(item, names));
            }
        }
        Value::Object(members) => {
            let given = std::mem::take(members);
            for (name, mut value) in given {
                let known = names.members.get(&name);
                match (known, &names.others) {
                    (Some(member), _) => inside(&mut value, &member.inside),
                    (None, Some(others)) => inside(&mut value, others),
                    (None, None) => {}
                }
                let written = known.and_then(|member| member.name.clone()).unwrap_or(name);
                members.insert(written, value);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_openapi_table::Operation;

    use super::rename;

    #[test]
    fn names_are_written_as_the_provider_has_them_at_each_depth() {
        let operation: Operation = serde_json::from_value(json!({
            "method": "POST", "base": {"url": "https://h"}, "path": [],
            "names": {
                "nested": {
                    "members": {
                        "id": {"name": "@id"},
                        "parts": {"inside": {"items": {"members": {"gr_e": {"name": "größe"}}}}}
                    },
                    "others": {"members": {"lang": {"name": "@lang"}}}
                }
            }
        }))
        .expect("an operation");
        let given = json!({
            "nested": {"id": 1, "parts": [{"gr_e": 2, "x": {"gr_e": 3}}, 4], "free": {"lang": "de"}},
            "id": 5
        });
        let Value::Object(mut arguments) = given else {
            unreachable!("an object")
        };
        rename(&operation, &mut arguments);
        assert_eq!(
            Value::from(arguments),
            json!({
                "nested": {"@id": 1, "parts": [{"größe": 2, "x": {"gr_e": 3}}, 4], "free": {"@lang": "de"}},
                "id": 5
            })
        );
    }
}
