//! The responses of an operation: its pages, its media type, its errors, the part that an agent needs.

use toolgate_openapi_table::{
    Body, Content, ErrorShape, Method, PageStyle, Pages, Place, Projection,
};

use super::parameters::PageParameters;
use crate::arguments::{ArgumentForm, ArgumentList};
use crate::body;
use crate::document::{Documents, Node};
use crate::keys::{ErrorKeys, OperationKeys, Pagination, ResultKeys};
use crate::security::Security;

pub(super) fn pages(
    from: &Pagination,
    found: &PageParameters,
    body: Option<&Body>,
    arguments: &ArgumentList<'_>,
    method: Method,
    security: &Security<'_>,
) -> Pages {
    let in_body = body.is_some_and(|body| matches!(body.content, Content::Fields { .. }));
    let param = from.param.as_ref().map(|param| {
        if in_body && !matches!(method, Method::Get) && !found.page_in_query {
            Place::Body(param.split('.').map(str::to_owned).collect())
        } else {
            Place::Query(param.clone())
        }
    });
    let size = from.size.as_ref().and_then(|size| {
        let known = found.names.get(size).cloned();
        known.or_else(|| Some(size.clone()).filter(|size| arguments.has(size)))
    });
    let default = size.as_ref().and_then(|size| {
        let argument = arguments
            .list
            .iter()
            .find(|argument| argument.name == *size)?;
        match &argument.form {
            ArgumentForm::Schema(node) => node.value.get("default")?.as_u64(),
            _ => None,
        }
    });
    let first = from
        .first
        .unwrap_or(u64::from(from.style == PageStyle::Page));
    Pages {
        style: from.style,
        param,
        next: from.next.clone(),
        more: from.more.clone(),
        items: from.items.clone(),
        total: from.total.clone(),
        total_pages: from.total_pages.clone(),
        size,
        size_default: from.size_default.or(default),
        first,
        any_path: from.any_path,
        secret_query: security.secret_query(),
    }
}

/// The media types of an operation's successful responses, as they are written.
fn written_types<'d>(docs: &'d Documents, node: Node<'d>) -> Vec<&'d str> {
    let mut types: Vec<&str> = Vec::new();
    for (status, response) in node.members("responses") {
        if status.starts_with('2') || (status == "default" && types.is_empty()) {
            let response = docs.resolve(response).unwrap_or(response);
            types.extend(response.members("content").map(|(media, _)| media));
        }
    }
    types
}

/// Without parameters, in lower case.
fn plain(media: &str) -> String {
    let media = media.split(';').next().unwrap_or_default();
    media.trim().to_ascii_lowercase()
}

/// The media types of an operation's successful responses, in lower case without parameters.
pub(super) fn media_types(docs: &Documents, node: Node<'_>) -> Vec<String> {
    written_types(docs, node).into_iter().map(plain).collect()
}

/// The `Accept` header and whether the answer is a file.
pub(super) fn accept(docs: &Documents, node: Node<'_>, own: &OperationKeys) -> (String, bool) {
    let types = written_types(docs, node);
    let sendable =
        |media: &str| media.len() <= 200 && media.bytes().all(|b| (0x20..0x7f).contains(&b));
    let json = types
        .iter()
        .copied()
        .find(|media| body::is_json(&plain(media)) && sendable(media));
    let first = types
        .first()
        .copied()
        .filter(|media| sendable(media) && media.contains('/'));
    let open = types
        .iter()
        .any(|media| plain(media) == "*/*" || body::is_text(&plain(media)));
    let download = own
        .download
        .unwrap_or(json.is_none() && first.is_some() && !open);
    match (json, first) {
        (Some(json), _) if !download => (json.to_owned(), download),
        (_, Some(first)) if download => (first.to_owned(), download),
        (_, Some(first)) if plain(first) != "*/*" => (format!("{first}, */*;q=0.5"), download),
        _ => ("application/json, */*;q=0.5".to_owned(), download),
    }
}

/// Whether an HTML page can be a successful response: HTML is declared, any type is, or a file of any type. Where no
/// type is declared, a response is JSON.
pub(super) fn is_html(types: &[String], download: bool) -> bool {
    let any_file = [
        "application/octet-stream",
        "application/*",
        "binary/octet-stream",
    ];
    types.iter().any(|media| {
        matches!(
            media.as_str(),
            "text/html" | "application/xhtml+xml" | "text/*" | "*/*"
        ) || (download && any_file.contains(&media.as_str()))
    }) || (download && types.iter().all(|media| body::is_json(media)))
}

pub(super) fn error_shape(keys: Option<ErrorKeys>) -> ErrorShape {
    let Some(keys) = keys else {
        return ErrorShape::default();
    };
    ErrorShape {
        code: keys.code.list(),
        message: keys.message.list(),
        ok: keys.ok,
        failed: keys.failed,
    }
}

pub(super) fn projection(own: &OperationKeys, body: Option<&Body>) -> Projection {
    let graphql = body
        .is_some_and(|body| matches!(body.encoding, toolgate_openapi_table::Encoding::Graphql(_)));
    match &own.result {
        Some(ResultKeys::At(at)) => Projection {
            at: at.clone(),
            ..Projection::default()
        },
        Some(ResultKeys::Parts(parts)) => Projection {
            at: parts.at.clone(),
            omitted_when_empty: parts.omitted_when_empty,
            keep: parts.keep.clone(),
            drop: parts.drop.clone(),
        },
        None if graphql => Projection {
            at: "/data".to_owned(),
            ..Projection::default()
        },
        None => Projection::default(),
    }
}
