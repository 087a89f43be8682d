//! Keys that a request carries together, as one slot.

use crate::catalog::manifest::{AuthKind, Placement, SecretField, Slot};
use crate::openapi::words;

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
        for field in own {
            let key = if field.key == "secret" {
                slot.slot.clone()
            } else {
                format!("{}_{}", slot.slot, field.key)
            };
            placement_rename(slot, &field.key, &key, &mut placement);
            fields.push(SecretField { key, ..field });
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

pub(super) fn usual_fields(slot: &Slot) -> Vec<SecretField> {
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

/// Adds the slot's placements that name field `old`, with the field's new name.
pub(super) fn placement_rename(slot: &Slot, old: &str, new: &str, placement: &mut Vec<Placement>) {
    let rename = |text: &str| text.replace(&format!("{{{old}}}"), &format!("{{{new}}}"));
    for place in &slot.placement {
        match place {
            Placement::Header { header, template } if template.contains(&format!("{{{old}}}")) => {
                placement.push(Placement::Header {
                    header: header.clone(),
                    template: rename(template),
                });
            }
            Placement::Query { query, template } if template.contains(&format!("{{{old}}}")) => {
                placement.push(Placement::Query {
                    query: query.clone(),
                    template: rename(template),
                });
            }
            Placement::Body { body, template } if template.contains(&format!("{{{old}}}")) => {
                placement.push(Placement::Body {
                    body: body.clone(),
                    template: rename(template),
                });
            }
            Placement::Basic { basic } if basic.username.contains(&format!("{{{old}}}")) => {
                let mut basic = basic.clone();
                basic.username = rename(&basic.username);
                basic.password = basic
                    .password
                    .replace("{password}", &format!("{{{}_password}}", slot.slot));
                placement.push(Placement::Basic { basic });
            }
            _ => {}
        }
    }
}
