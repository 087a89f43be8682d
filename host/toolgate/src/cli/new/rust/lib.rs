//! Notes kept at example.com: what it is, what it needs and what it offers.

use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "__SERVICE__",
    title: "__TITLE__",
    description: "Read and write notes kept at example.com.",
    homepage: "https://example.com",
    categories: ["notes"],
    hosts: ["api.example.com"],
    capabilities: ["egress"],
    auth: [{
        slot: "user", title: "API key", type: "api_key",
        placement: { header: "x-api-key" },
        audience: ["https://api.example.com"],
    }],
    tools: [list_notes, create_note],
}

fn notes(cx: &Context) -> Client<'_> {
    cx.client("https://api.example.com/v1")
}

#[derive(Args)]
struct ListNotes {
    /// Only notes of this folder.
    folder: Option<String>,
    /// Notes on a page.
    #[arg(min = 1, max = 100, default = 20)]
    limit: u64,
}

/// Lists notes, newest first.
#[tool(effect = "read", paginated, example = { "folder": "work" })]
fn list_notes(args: ListNotes, cx: &Context) -> Result<Output, ToolError> {
    let page = cx.page_number(1)?;
    let answer = notes(cx).get("/notes").query_fields(&args).query("page", page).fetch()?;
    let found = pick_each(&answer, &["id", "text", "author=user/name"]);
    let count = found.as_array().map_or(0, Vec::len) as u64;
    Output::page(found, (count == args.limit).then(|| (page + 1).to_string()))
}

#[derive(Args)]
struct CreateNote {
    /// The text, in Markdown.
    #[arg(min_length = 1)]
    text: String,
}

/// Writes a note and answers its number.
#[tool(effect = "write", example = { "text": "Buy milk" })]
fn create_note(args: CreateNote, cx: &Context) -> Result<Value, ToolError> {
    notes(cx).post("/notes").json(&args).fetch()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_example_is_answered_as_written() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
        toolgate_sdk::testing::replay_folder(&super::PLUGIN, folder);
    }
}
