//! What all requests share: the mailbox, pages, and folders by name.

use toolgate_sdk::prelude::*;

const BASE: &str = "https://graph.microsoft.com/v1.0/me";

pub fn graph(cx: &Context) -> Client<'_> {
    // Ids that stay the same when a message is moved (docs: immutable identifiers).
    cx.client(BASE).header("prefer", "IdType=\"ImmutableId\"")
}

/// Where a list goes on: what the service's next address has behind the mailbox.
pub fn next_page(answer: &Value) -> Option<String> {
    let next = answer.get("@odata.nextLink")?.as_str()?;
    next.strip_prefix(BASE).map(str::to_owned)
}

/// The address of a page that this plugin gave out.
pub fn page(cursor: &str) -> Result<Address, ToolError> {
    let own = cursor.starts_with('/') && !cursor.contains("..") && !cursor.contains("://");
    own.then(|| Address::encoded(cursor)).ok_or_else(|| {
        ToolError::invalid("/cursor", "the cursor is not one that this tool gave out")
    })
}

/// Names that Outlook knows in every mailbox, whatever its language.
const KNOWN: [(&str, &str); 8] = [
    ("inbox", "inbox"),
    ("drafts", "drafts"),
    ("sent", "sentitems"),
    ("sent items", "sentitems"),
    ("deleted", "deleteditems"),
    ("deleted items", "deleteditems"),
    ("junk", "junkemail"),
    ("archive", "archive"),
];

/// A text between quotes in a filter.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The id of a folder: by a name that every mailbox has, by its own name, or by id.
pub fn folder_id(cx: &Context, name: &str, field: &str) -> Result<String, ToolError> {
    let lower = name.trim().to_lowercase();
    let known = KNOWN
        .iter()
        .find(|(word, id)| *word == lower || *id == lower);
    if let Some((_, id)) = known {
        return Ok((*id).to_owned());
    }
    // An id is long and has no spaces.
    if name.len() > 60 && !name.contains(' ') {
        return Ok(name.to_owned());
    }
    let request = graph(cx).get("/mailFolders");
    let filter = format!("displayName eq {}", quoted(name.trim()));
    let answer = request
        .query("$filter", filter)
        .query("$select", "id,displayName")
        .fetch()?;
    match answer["value"].as_array().map(Vec::as_slice) {
        Some([one, ..]) => Ok(one["id"].as_str().unwrap_or_default().to_owned()),
        _ => Err(ToolError::invalid(
            format!("/{field}"),
            format!(
                "there is no folder `{name}` at the top; microsoft_outlook_list_folders shows all with their ids"
            ),
        )),
    }
}
