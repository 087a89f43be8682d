//! People and fields by name, where Jira wants ids.

use toolgate_sdk::prelude::*;

use crate::api::jira;

/// The account id of a person given as `me`, by mail address, name or id.
pub fn person(cx: &Context, who: &str, field: &str) -> Result<String, ToolError> {
    let wrong = |text: String| ToolError::invalid(format!("/{field}"), text);
    if who == "me" {
        let own = jira(cx).get("/myself").fetch()?;
        let id = own["accountId"].as_str().map(str::to_owned);
        return id.ok_or_else(|| ToolError::upstream("Jira does not say who is connected"));
    }
    if is_account(who) {
        return Ok(who.to_owned());
    }
    let request = jira(cx).get("/user/search").query("query", who);
    let found = request.query("maxResults", 20u32).fetch()?;
    let people = found.as_array().into_iter().flatten();
    let mut people: Vec<&Value> = people
        .filter(|one| one["accountType"] != "app" && one["active"] != false)
        .collect();
    let same = |one: &&Value| {
        ["displayName", "emailAddress"].iter().any(|key| {
            let known = one[*key].as_str();
            known.is_some_and(|known| known.eq_ignore_ascii_case(who))
        })
    };
    if people.iter().any(&same) {
        people.retain(same);
    }
    match people.as_slice() {
        [one] => Ok(one["accountId"].as_str().unwrap_or_default().to_owned()),
        [] => Err(wrong(format!("there is nobody called `{who}`"))),
        [_, ..] => {
            let names: Vec<&str> = people
                .iter()
                .filter_map(|one| one["displayName"].as_str())
                .collect();
            let text = format!("`{who}` fits {}; give the account id", names.join(", "));
            Err(wrong(text))
        }
    }
}

/// Whether a text is an account id: 24 letters and digits, or a number, a colon and a UUID.
fn is_account(text: &str) -> bool {
    match text.split_once(':') {
        Some((_, rest)) => {
            rest.len() == 36 && rest.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
        }
        None => {
            let plain = text.chars().all(|c| c.is_ascii_alphanumeric());
            plain && text.len() == 24 && text.chars().any(|c| c.is_ascii_digit())
        }
    }
}

/// Fields by id; those given by name are looked up.
pub fn field_ids(
    cx: &Context,
    fields: Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    let plain = |name: &String| {
        name.starts_with("customfield_") || name.chars().all(|c| c.is_ascii_lowercase())
    };
    if fields.keys().all(plain) {
        return Ok(fields);
    }
    let known = jira(cx).get("/field").fetch()?;
    let known = known.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut out = Map::new();
    for (name, value) in fields {
        let mut same = known.iter().filter(|one| {
            let called = one["name"].as_str().unwrap_or_default();
            one["id"] == name.as_str() || called.eq_ignore_ascii_case(&name)
        });
        let id = match (same.next(), same.next()) {
            (Some(one), None) => one["id"].as_str().unwrap_or_default().to_owned(),
            (None, _) => {
                let text = format!("there is no field `{name}`; jira_list_fields shows them");
                return Err(ToolError::invalid("/fields", text));
            }
            (Some(_), Some(_)) => {
                let text = format!(
                    "`{name}` is the name of several fields; give the id that jira_list_fields shows"
                );
                return Err(ToolError::invalid("/fields", text));
            }
        };
        out.insert(id, value);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::is_account;

    #[test]
    fn an_account_id_is_told_from_a_name() {
        for id in [
            "5b10a2844c20165700ede21g",
            "557058:f58131cb-b67d-43c7-b30d-6b58d40bd077",
        ] {
            assert!(is_account(id), "{id}");
        }
        for name in ["Mia Krystof", "mia@example.com", "mia", "o'hara 2", "anna2"] {
            assert!(!is_account(name), "{name}");
        }
    }
}
