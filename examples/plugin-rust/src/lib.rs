//! Open Library: search its catalog of books and read one work.

use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "open_library",
    title: "Open Library",
    description: "Search the catalog of books of Open Library and read works.",
    homepage: "https://openlibrary.org",
    categories: ["books"],
    hosts: ["openlibrary.org"],
    capabilities: ["egress"],
    tools: [search_books, get_work],
}

fn open_library(cx: &Context) -> Client<'_> {
    cx.client("https://openlibrary.org")
}

#[derive(Args)]
struct SearchBooks {
    /// Words of the title, the author or the subject.
    #[arg(min_length = 1)]
    query: String,
    /// Books on a page.
    #[arg(min = 1, max = 100, default = 10)]
    limit: u32,
}

/// Searches books by title, author or subject. Read one of them with `open_library_get_work`.
#[tool(effect = "read", paginated, keywords = ["isbn", "author"], example = { "query": "the dispossessed" })]
fn search_books(args: SearchBooks, cx: &Context) -> Result<Output, ToolError> {
    let page = cx.page_number(1)?;
    let answer = open_library(cx)
        .get("/search.json")
        .query("q", &args.query)
        .query("limit", args.limit)
        .query("page", page)
        .query("fields", "key,title,author_name,first_publish_year")
        .fetch()?;
    let found = answer["numFound"].as_u64().unwrap_or_default();
    let next = (u64::from(args.limit) * u64::from(page) < found).then(|| (page + 1).to_string());
    let fields = ["key", "title", "authors=author_name", "first_publish_year"];
    Output::page(pick_each(&answer["docs"], &fields), next)
}

#[derive(Args)]
struct GetWork {
    /// Id of the work: the last part of the `key` that `open_library_search_books` returns.
    #[arg(path, pattern = "^OL[0-9]+W$")]
    work_id: String,
}

/// Reads a work: title, description, subjects and the date of its first edition.
#[tool(effect = "read", example = { "work_id": "OL59863W" })]
fn get_work(args: GetWork, cx: &Context) -> Result<Value, ToolError> {
    let path = path!("/works/{}.json", args.work_id);
    let work = open_library(cx).get(path).fetch()?;
    let mut picked = pick(&work, &["key", "title", "subjects", "first_publish_date"]);
    // A description is a text or an object that holds one.
    let description = work["description"]
        .as_str()
        .or_else(|| work["description"]["value"].as_str());
    if let Some(description) = description {
        picked["description"] = description.into();
    }
    Ok(picked)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_example_is_answered_as_written() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
        toolgate_sdk::testing::replay_folder(&super::PLUGIN, folder);
    }
}
