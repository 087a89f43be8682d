//! Documents, in Markdown.

use toolgate_sdk::prelude::*;

use crate::api::{ask, made, page};
use crate::filter::named_filter;
use crate::projects::project_id;

const DOCUMENT_FIELDS: &[&str] = &[
    "id",
    "title",
    "url",
    "content",
    "project=project/name",
    "author=creator/name",
    "updated_at=updatedAt",
];

#[derive(Args)]
pub struct ListDocuments {
    /// Project by name or id; documents of all projects unless given.
    project: Option<String>,
    /// Only documents with this in their title.
    title: Option<String>,
    /// Documents on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists documents with title, project and author, or finds them by title.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["specs", "notes", "wiki", "docs"], example = { "project": "Faster search" })]
pub fn list_documents(args: ListDocuments, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Documents($filter: DocumentFilter, $first: Int, $after: String) { \
        documents(filter: $filter, first: $first, after: $after) { nodes { id title url updatedAt \
        project { name } creator { name } } pageInfo { hasNextPage endCursor } } }";
    let mut filter = json!({});
    if let Some(project) = &args.project {
        filter["project"] = named_filter(project);
    }
    if let Some(title) = args.title {
        filter["title"] = json!({ "containsIgnoreCase": title });
    }
    let variables = json!({ "filter": filter, "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["documents"], |one| {
        pick(one, DOCUMENT_FIELDS)
    })
}

#[derive(Args)]
pub struct OneDocument {
    /// Id of the document, as linear_list_documents shows it.
    document: String,
}

/// Reads a document with its text in Markdown.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], scopes = ["read"], keywords = ["open doc", "spec text"], example = { "document": "d0c00000-9b5c-4a3d-9f5c-1f2c3d4e5f60" })]
pub fn get_document(args: OneDocument, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query Document($id: String!) { document(id: $id) { id title url content updatedAt \
        project { name } creator { name } } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.document }))?;
    Ok(pick(&answer["document"], DOCUMENT_FIELDS))
}

#[derive(Args)]
pub struct CreateDocument {
    /// Title of the document.
    #[arg(min_length = 1, max_length = 500)]
    title: String,
    /// Its text, in Markdown.
    #[arg(default = "")]
    content: String,
    /// Project by name or id, to which it belongs.
    #[arg(min_length = 1)]
    project: String,
}

/// Creates a document in a project.
#[tool(effect = "write", scopes = ["write"], keywords = ["new doc", "write spec", "note"],
       example = { "title": "Search plan", "content": "# Goals\n- faster", "project": "Faster search" })]
pub fn create_document(args: CreateDocument, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Document($input: DocumentCreateInput!) { \
        documentCreate(input: $input) { success document { id title url } } }";
    let input = json!({
        "title": args.title, "content": args.content, "projectId": project_id(cx, &args.project)?,
    });
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    Ok(pick(
        made(&answer, "documentCreate", "document")?,
        DOCUMENT_FIELDS,
    ))
}

#[derive(Args)]
pub struct UpdateDocument {
    /// Id of the document, as linear_list_documents shows it.
    document: String,
    /// The new title.
    #[arg(min_length = 1, max_length = 500)]
    title: Option<String>,
    /// The new text, in Markdown; it takes the place of the old one.
    content: Option<String>,
}

/// Changes the title or the text of a document.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["edit doc", "rewrite"],
       example = { "document": "d0c00000-9b5c-4a3d-9f5c-1f2c3d4e5f60", "title": "Search plan 2" })]
pub fn update_document(args: UpdateDocument, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Document($id: String!, $input: DocumentUpdateInput!) { \
        documentUpdate(id: $id, input: $input) { success document { id title url } } }";
    let mut input = json!({});
    for (key, value) in [("title", args.title), ("content", args.content)] {
        if let Some(value) = value {
            input[key] = json!(value);
        }
    }
    if input == json!({}) {
        return Err(ToolError::invalid("/title", "give title or content"));
    }
    let answer = ask(cx, DOCUMENT, json!({ "id": args.document, "input": input }))?;
    Ok(pick(
        made(&answer, "documentUpdate", "document")?,
        DOCUMENT_FIELDS,
    ))
}

/// Moves a document to the trash, from where Linear deletes it after 30 days.
#[tool(effect = "destructive", idempotent, scopes = ["write"], keywords = ["remove doc", "trash"], example = { "document": "d0c00000-9b5c-4a3d-9f5c-1f2c3d4e5f60" })]
pub fn delete_document(args: OneDocument, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Delete($id: String!) { documentDelete(id: $id) { success } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.document }))?;
    made(&answer, "documentDelete", "success")?;
    Ok(json!({ "deleted": args.document }))
}

#[derive(Args)]
pub struct SearchDocuments {
    /// Words in the title or text.
    #[arg(min_length = 1, max_length = 500)]
    term: String,
    /// Documents on a page.
    #[arg(min = 1, max = 50, default = 20)]
    limit: u32,
}

/// Finds documents by words in their text.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["search docs", "find spec", "full text"], example = { "term": "index size" })]
pub fn search_documents(args: SearchDocuments, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Search($term: String!, $first: Int, $after: String) { \
        searchDocuments(term: $term, first: $first, after: $after) { nodes { id title url updatedAt \
        project { name } creator { name } } pageInfo { hasNextPage endCursor } } }";
    let variables = json!({ "term": args.term, "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["searchDocuments"], |one| {
        pick(one, DOCUMENT_FIELDS)
    })
}
