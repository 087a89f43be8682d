//! Keys that a request carries together, as one slot.

use std::collections::BTreeMap;

use crate::words;
use toolgate_catalog::manifest::{AuthKind, Placement, SecretField, Slot};

/// Two keys at once: one slot with the fields and places of all.
pub(super) fn together(slots: Vec<Slot>) -> Slot {
    let names: Vec<String> = slots.iter().map(|slot| slot.slot.clone()).collect();
    let titles: Vec<String> = slots.iter().map(|slot| slot.title.clone()).collect();
    let mut fields = Vec::new();
    let mut placement = Vec::new();
    let mut audience = Vec::new();
    for slot in &slots {
        let own = if slot.fields.is_empty() {
            usual_fields(slot)
        } else {
            slot.fields.clone()
        };
        let renames = renames(slot, &own);
        placement.extend(slot.placement.iter().map(|place| renamed(place, &renames)));
        for field in own {
            let key = renames.get(&field.key).cloned();
            fields.push(SecretField {
                key: key.unwrap_or(field.key),
                ..field
            });
        }
        for origin in &slot.audience {
            if !audience.contains(origin) {
                audience.push(origin.clone());
            }
        }
    }
    let mut first = slots
        .into_iter()
        .next()
        .expect("two slots or more are combined");
    first.slot = words::shorten(&names.join("_"), 40);
    first.title = words::clean(&titles.join(" and "), 200);
    first.kind = AuthKind::ApiKey;
    first.fields = fields;
    first.placement = placement;
    first.audience = audience;
    first
}

fn usual_fields(slot: &Slot) -> Vec<SecretField> {
    let field = |key: &str, title: &str, secret: bool| SecretField {
        key: key.to_owned(),
        title: title.to_owned(),
        secret,
        help: None,
    };
    match slot.kind {
        AuthKind::Basic => vec![
            field("username", "User name", false),
            field("password", "Password", true),
        ],
        _ => vec![field("secret", &slot.title, true)],
    }
}

/// New names for the fields of a slot, in a form that has the fields of another slot too.
fn renames(slot: &Slot, fields: &[SecretField]) -> BTreeMap<String, String> {
    let mut renames: BTreeMap<String, String> = BTreeMap::new();
    let signs = |place: &Placement| matches!(place, Placement::AwsSigv4 { .. });
    if slot.placement.iter().any(signs) {
        // A signature takes its fields by their names.
        return renames;
    }
    for field in fields {
        let name = if field.key == "secret" {
            slot.slot.clone()
        } else {
            format!("{}_{}", slot.slot, field.key)
        };
        renames.insert(field.key.clone(), name);
    }
    if let [only] = fields
        && let Some(name) = renames.get(&only.key).cloned()
    {
        // A slot's only field may also be called `secret` in its places.
        renames.entry("secret".to_owned()).or_insert(name);
    }
    renames
}

/// A placement with the new names of all its fields.
fn renamed(place: &Placement, renames: &BTreeMap<String, String>) -> Placement {
    let mut place = place.clone();
    match &mut place {
        Placement::Header { template, .. }
        | Placement::Query { template, .. }
        | Placement::Body { template, .. }
        | Placement::Path { path: template } => *template = filled(template, renames),
        Placement::Basic { basic } => {
            basic.username = filled(&basic.username, renames);
            basic.password = filled(&basic.password, renames);
        }
        Placement::AwsSigv4 { .. } => {}
    }
    place
}

/// A template with the new names of its fields; other expressions are kept.
fn filled(template: &str, renames: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            out.push('{');
            rest = after;
            continue;
        };
        let name = renames.get(name).map_or(name, String::as_str);
        out.push_str(&format!("{{{name}}}"));
        rest = after;
    }
    out.push_str(rest);
    out
}
