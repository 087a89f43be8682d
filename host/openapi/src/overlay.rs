//! OpenAPI Overlay 1.0: changes to a description without touching its file.

use serde_json::Value;
use serde_json_path::JsonPath;

use super::problem::{Problem, below};

/// Most actions of one overlay.
const ACTIONS_MAX: usize = 2_000;

/// Applies the overlay `overlay`, named `name` in messages, to a description.
pub fn apply(name: &str, overlay: &Value, mut document: Value) -> Result<Value, Problem> {
    let version = overlay
        .get("overlay")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !version.starts_with("1.") {
        return Err(Problem::new(
            name,
            "/overlay",
            "is not an OpenAPI Overlay: write `overlay: 1.0.0`",
        ));
    }
    let actions = overlay.get("actions").and_then(Value::as_array);
    let actions = actions.ok_or_else(|| {
        Problem::new(
            name,
            "/actions",
            "write a list of actions, each with a `target`",
        )
    })?;
    if actions.len() > ACTIONS_MAX {
        return Err(Problem::new(
            name,
            "/actions",
            format!("at most {ACTIONS_MAX} actions"),
        ));
    }
    for (index, action) in actions.iter().enumerate() {
        let at = below("/actions", &index.to_string());
        apply_action(name, action, &at, &mut document)?;
    }
    Ok(document)
}

/// Applies the action at `at` in the overlay.
fn apply_action(name: &str, action: &Value, at: &str, document: &mut Value) -> Result<(), Problem> {
    let mut places = targets(name, action, at, document)?;
    if action.get("remove").and_then(Value::as_bool) == Some(true) {
        // Last first, so that places in lists stay what they were.
        places.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| b.cmp(a)));
        for place in places {
            remove(document, &place);
        }
    } else if let Some(update) = action.get("update") {
        for place in places {
            if let Some(target) = document.pointer_mut(&place) {
                merge(target, update);
            }
        }
    } else {
        return Err(Problem::new(
            name,
            at,
            "an action has `update` or `remove: true`",
        ));
    }
    Ok(())
}

/// JSON Pointers to what the `target` of an action selects; at least one.
fn targets(name: &str, action: &Value, at: &str, document: &Value) -> Result<Vec<String>, Problem> {
    let target = action.get("target").and_then(Value::as_str);
    let target = target.ok_or_else(|| {
        let message = "write a `target`, a JSONPath such as `$.paths['/users'].get`";
        Problem::new(name, at, message)
    })?;
    let refused = |message: String| Problem::new(name, below(at, "target"), message);
    let path = JsonPath::parse(target);
    let path = path.map_err(|error| refused(format!("is not JSONPath: {error}")))?;
    let places: Vec<String> = path
        .query_located(document)
        .locations()
        .map(|location| location.to_json_pointer())
        .collect();
    if places.is_empty() {
        return Err(refused(format!(
            "`{target}` selects nothing in the description; correct it or remove the action"
        )));
    }
    Ok(places)
}

/// Overlay 1.0, section 4.4.3: objects are merged, values are added to lists.
fn merge(target: &mut Value, update: &Value) {
    match (target, update) {
        (Value::Object(target), Value::Object(update)) => {
            for (key, value) in update {
                match target.get_mut(key) {
                    Some(old)
                        if (old.is_object() && value.is_object())
                            || (old.is_array() && value.is_array()) =>
                    {
                        merge(old, value);
                    }
                    _ => {
                        target.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(target), Value::Array(update)) => target.extend(update.iter().cloned()),
        (Value::Array(target), update) => target.push(update.clone()),
        (target, update) => *target = update.clone(),
    }
}

fn remove(document: &mut Value, place: &str) {
    let Some((parent, last)) = place.rsplit_once('/') else {
        return;
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    match document.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.shift_remove(&last);
        }
        Some(Value::Array(items)) => {
            if let Ok(index) = last.parse::<usize>()
                && index < items.len()
            {
                items.remove(index);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::apply;

    fn document() -> Value {
        json!({"info": {"title": "A"}, "tags": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
               "paths": {"/x": {"get": {"operationId": "x", "tags": ["old"]}}, "/admin": {"get": {"operationId": "y"}}}})
    }

    fn applied(actions: Value) -> Value {
        apply(
            "o.yaml",
            &json!({"overlay": "1.0.0", "actions": actions}),
            document(),
        )
        .expect("applied")
    }

    #[test]
    fn updates_merge_objects_and_extend_lists() {
        let changed = applied(json!([
            {"target": "$.info", "update": {"title": "B", "x-toolgate": {"service": "b"}}},
            {"target": "$.paths['/x'].get", "update": {"tags": ["new"], "summary": "Hello"}},
            {"target": "$.paths.*[?@.operationId == 'y']", "update": {"deprecated": true}}
        ]));
        assert_eq!(
            changed["info"],
            json!({"title": "B", "x-toolgate": {"service": "b"}})
        );
        assert_eq!(
            changed["paths"]["/x"]["get"],
            json!({"operationId": "x", "tags": ["old", "new"], "summary": "Hello"})
        );
        assert_eq!(changed["paths"]["/admin"]["get"]["deprecated"], json!(true));
    }

    #[test]
    fn removal_takes_members_and_elements() {
        let changed = applied(json!([
            {"target": "$.paths['/admin']", "remove": true},
            {"target": "$.tags[?@.name != 'b']", "remove": true}
        ]));
        assert_eq!(changed["paths"].as_object().expect("an object").len(), 1);
        assert_eq!(changed["tags"], json!([{"name": "b"}]));
    }

    #[test]
    fn a_wrong_overlay_names_the_place() {
        for (overlay, pointer) in [
            (json!({}), "/overlay"),
            (json!({"overlay": "1.0.0"}), "/actions"),
            (json!({"overlay": "1.0.0", "actions": [{}]}), "/actions/0"),
            (
                json!({"overlay": "1.0.0", "actions": [{"target": "$["}]}),
                "/actions/0/target",
            ),
            (
                json!({"overlay": "1.0.0", "actions": [{"target": "$.nothing", "remove": true}]}),
                "/actions/0/target",
            ),
            (
                json!({"overlay": "1.0.0", "actions": [{"target": "$.info"}]}),
                "/actions/0",
            ),
        ] {
            assert_eq!(
                apply("o", &overlay, document())
                    .expect_err("refused")
                    .pointer,
                pointer
            );
        }
    }
}
