//! `/v1/knowledge`: documents, and the passages of them that answer a query.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::KeyedBody;
use super::{RestState, openapi};
use toolgate_gateway::Gateway;
use toolgate_gateway::knowledge::{
    AddDocument, Content, DeletedDocument, Document, DocumentPage, FoundPassages, LIST_LIMIT_MAX,
    ListDocuments, ListedDocument, MediaType, QUERY_CHARS_MAX, SEARCH_LIMIT_MAX, SearchKnowledge,
};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{Id, NoQuery, Number, PageLimit, Phrase, QueryString};

/// A document of the greatest size in base64, and what is around it.
const BODY_BYTES_MAX: usize = 6 << 20;

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource(
        "Knowledge",
        "Documents, and the passages of them that answer a query.",
    )
    .routes(routes!(list))
    .routes(routes!(add))
    .routes(routes!(read))
    .routes(routes!(delete))
    .routes(routes!(search))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct DocumentsQuery {
    /// How many documents a page holds.
    #[param(inline)]
    limit: PageLimit<{ LIST_LIMIT_MAX }>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List documents
///
/// Newest first, without their text. Follow `next_cursor` to the end.
#[utoipa::path(
    get,
    path = "/v1/knowledge/documents",
    operation_id = "list_documents",
    params(DocumentsQuery),
    responses((status = 200, description = "One page of documents.", body = inline(Success<DocumentPage>), example = json!({"documents": [{
        "document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "title": "Travel policy",
        "media_type": "application/pdf",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "bytes": 48213,
        "chars": 9120,
        "pages": 4,
        "created_at": "2026-11-20T09:30:00.125Z"
    }], "next_cursor": null}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<DocumentsQuery>,
) -> Result<Success<DocumentPage>, ApiFailure> {
    let request = ListDocuments {
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let page = gateway.documents(&caller, request).await?;
    Ok(Success::new(&caller, page))
}

/// A new document: `content` or `content_base64`, at most 4 MiB. The body may be as large as 6 MiB.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct AddDocumentBody {
    /// On one line; what the document calls itself if absent, else its first line.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    )]
    title: Option<String>,
    media_type: MediaType,
    /// The document as text; not for PDF.
    content: Option<String>,
    /// The document's bytes in base64 (RFC 4648, section 4); text is UTF-8.
    #[schema(pattern = "^[A-Za-z0-9+/]*={0,2}$")]
    content_base64: Option<String>,
}

/// Add a document
///
/// Reads its text and keeps that, not the file: at most 2,000,000 characters. The next search finds
/// it. PDF and HTML are read in a sandbox; pictures of text are not recognised.
#[utoipa::path(
    post,
    path = "/v1/knowledge/documents",
    operation_id = "add_document",
    request_body(content = AddDocumentBody, description = "The document.", example = json!({
        "title": "Travel policy",
        "media_type": "text/markdown",
        "content": "# Travel policy\n\nTrains before planes. Hotels up to 120 EUR a night."
    })),
    responses((status = 201, description = "The document.", body = inline(Success<ListedDocument>), example = json!({
        "document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "title": "Travel policy",
        "media_type": "text/markdown",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "bytes": 69,
        "chars": 69,
        "created_at": "2026-11-20T09:30:00.125Z"
    }))),
)]
async fn add(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    KeyedBody { body, attempt }: KeyedBody<AddDocumentBody, BODY_BYTES_MAX>,
) -> Result<Response, ApiFailure> {
    let content = match (body.content, body.content_base64) {
        (Some(text), None) => Content::Text(text),
        (None, Some(text)) => Content::Base64(text),
        _ => {
            return Err(ApiFailure::field(
                "content",
                "send either content or content_base64",
            ));
        }
    };
    let request = AddDocument {
        title: body.title,
        media_type: body.media_type,
        content,
    };
    let added = gateway.add_document_once(&caller, attempt, request);
    let document = Box::pin(added).await?;
    Ok((StatusCode::CREATED, Success::new(&caller, document)).into_response())
}

/// Read a document
///
/// With its text, in whose characters positions of passages count.
#[utoipa::path(
    get,
    path = "/v1/knowledge/documents/{document_id}",
    operation_id = "get_document",
    params(("document_id" = String, Path, description = "The id that add and list return.", example = "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The document.", body = inline(Success<Document>), example = json!({
        "document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "title": "Travel policy",
        "media_type": "text/markdown",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "bytes": 69,
        "chars": 69,
        "created_at": "2026-11-20T09:30:00.125Z",
        "content": "# Travel policy\n\nTrains before planes. Hotels up to 120 EUR a night."
    }))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([document_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<Document>, ApiFailure> {
    let document = gateway.document(&caller, &document_id).await?;
    Ok(Success::new(&caller, document))
}

/// Delete a document
///
/// Once this is answered no search finds it any more, in no process.
#[utoipa::path(
    delete,
    path = "/v1/knowledge/documents/{document_id}",
    operation_id = "delete_document",
    params(("document_id" = String, Path, description = "The id that add and list return.", example = "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "It is gone.", body = inline(Success<DeletedDocument>), example = json!({"document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "deleted": true}))),
)]
async fn delete(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([document_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<DeletedDocument>, ApiFailure> {
    let deleted = gateway.delete_document(&caller, &document_id).await?;
    Ok(Success::new(&caller, deleted))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct KnowledgeSearchQuery {
    /// Words or a question.
    #[param(inline, required = true, example = "hotel price limit")]
    query: Phrase<{ QUERY_CHARS_MAX }, true>,
    /// How many passages.
    #[param(inline)]
    limit: Number<1, { SEARCH_LIMIT_MAX }, 5>,
}

/// Search the knowledge
///
/// The passages that answer the query best, each with its document and its place there.
/// Words are compared by their English stems, without accents; none found is an empty list.
#[utoipa::path(
    get,
    path = "/v1/knowledge/search",
    operation_id = "search_knowledge",
    params(KnowledgeSearchQuery),
    responses((status = 200, description = "The passages.", body = inline(Success<FoundPassages>), example = json!({
        "query": "hotel price limit",
        "passages": [{
            "document_id": "doc_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
            "title": "Travel policy",
            "text": "Trains before planes. Hotels up to 120 EUR a night.",
            "position": {"starts_at": 17, "ends_at": 69, "page": 1},
            "score": 1.5
        }]
    }))),
)]
async fn search(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<KnowledgeSearchQuery>,
) -> Result<Success<FoundPassages>, ApiFailure> {
    let request = SearchKnowledge {
        query: query.query.0.unwrap_or_default(),
        limit: query.limit.0,
    };
    let found = gateway.search_knowledge(&caller, request).await?;
    Ok(Success::new(&caller, found))
}
