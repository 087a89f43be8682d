//! What all requests share: address, version, numbered pages, and finding things by title.

use toolgate_sdk::prelude::*;

/// The API version this plugin was written for.
pub const VERSION: &str = "2026-10";

/// Sends a document and answers its data.
pub fn ask(cx: &Context, document: &str, variables: Value) -> Result<Value, ToolError> {
    cx.client("https://api.monday.com")
        .header("api-version", VERSION)
        .graphql("/v2", document, variables)
}

/// The only element of a list that was asked for by id.
pub fn first<'a>(list: &'a Value, what: &str, id: &str) -> Result<&'a Value, ToolError> {
    list.get(0).filter(|one| one.is_object()).ok_or_else(|| {
        ToolError::not_found(format!(
            "there is no {what} {id}, or the connected account does not see it"
        ))
    })
}

/// An element of a list by its id, or else by its title in any case.
pub fn titled<'a>(list: &'a Value, name: &str) -> Option<&'a Value> {
    let all = list.as_array()?;
    let by_title = |one: &&Value| {
        one["title"]
            .as_str()
            .is_some_and(|title| title.trim().to_lowercase() == name.trim().to_lowercase())
    };
    all.iter()
        .find(|one| one["id"] == name)
        .or_else(|| all.iter().find(by_title))
}

/// The titles of a list, for a sentence.
pub fn titles(list: &Value) -> String {
    let all = list.as_array().into_iter().flatten();
    let all: Vec<&str> = all.filter_map(|one| one["title"].as_str()).collect();
    all.join(", ")
}

/// The id of a board's group by title or id.
pub fn group_id(groups: &Value, name: &str) -> Result<String, ToolError> {
    let found = titled(groups, name).and_then(|group| group["id"].as_str());
    found.map(str::to_owned).ok_or_else(|| {
        let text = format!("the board has no group `{name}`; it has {}", titles(groups));
        ToolError::invalid("/group", text)
    })
}

/// A numbered page: there is another one while a page is full.
pub fn numbered(list: Value, page: u64, limit: u32) -> Result<Output, ToolError> {
    let full = list
        .as_array()
        .is_some_and(|all| all.len() as u64 >= u64::from(limit));
    Output::page(list, full.then(|| (page + 1).to_string()))
}
