//! `/v1/skills`: named instructions, kept with their versions.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::KeyedBody;
use super::{RestState, openapi};
use toolgate_gateway::skills::check::SkillCheck;
use toolgate_gateway::skills::{
    CreateSkill, DeletedSkill, LIST_LIMIT_MAX, LIST_OFFSET_MAX, ListSkillVersions, ListSkills,
    QUERY_CHARS_MAX, Skill, SkillPage, SkillVersions, UpdateSkill,
};
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{ForUser, Id, NoQuery, Number, PageLimit, Phrase, QueryString};

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Skills", "Reusable instructions, the same for every agent.")
        .routes(routes!(list))
        .routes(routes!(create))
        .routes(routes!(read))
        .routes(routes!(update))
        .routes(routes!(delete))
        .routes(routes!(versions))
        .routes(routes!(check))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct SkillsQuery {
    /// Words to look for in name and summary; all Skills if absent.
    #[param(inline, example = "weekly report")]
    query: Phrase<{ QUERY_CHARS_MAX }>,
    /// How many Skills a page holds.
    #[param(inline)]
    limit: PageLimit<{ LIST_LIMIT_MAX }>,
    /// How many Skills to leave out at the front.
    #[param(inline)]
    offset: Number<0, { LIST_OFFSET_MAX }, 0>,
}

/// List Skills
///
/// Newest first, without their instructions. `query` keeps those whose name or summary holds
/// every one of its words, whatever their case.
#[utoipa::path(
    get,
    path = "/v1/skills",
    operation_id = "list_skills",
    params(SkillsQuery),
    responses((status = 200, description = "One page of Skills.", body = inline(Success<SkillPage>), example = json!({
        "skills": [{
            "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
            "name": "Weekly report",
            "summary": "Summarises the week's issues of a repository; use on Fridays.",
            "version": 2,
            "created_at": "2026-11-20T09:30:00.125Z",
            "updated_at": "2026-11-20T10:02:11.000Z"
        }],
        "total": 1,
        "limit": 20,
        "offset": 0
    }))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<SkillsQuery>,
) -> Result<Success<SkillPage>, ApiFailure> {
    let request = ListSkills {
        query: query.query.0.unwrap_or_default(),
        limit: query.limit.0,
        offset: query.offset.0,
    };
    let page = gateway.list_skills(&caller, request).await?;
    Ok(Success::new(&caller, page))
}

/// A new Skill.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct CreateSkillBody {
    /// Short and descriptive, on one line.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    )]
    name: String,
    /// What the Skill does and when to use it. `description` is read as the same field.
    #[serde(alias = "description")]
    #[schema(
        min_length = 1,
        max_length = 2000,
        pattern = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
    )]
    summary: String,
    /// The steps to follow. `body` is read as the same field.
    #[serde(alias = "body")]
    #[schema(
        min_length = 1,
        max_length = 100000,
        pattern = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
    )]
    instructions: String,
}

/// Create a Skill
///
/// Keeps it as version 1 and gives it an id.
#[utoipa::path(
    post,
    path = "/v1/skills",
    operation_id = "create_skill",
    request_body(content = CreateSkillBody, description = "The Skill's texts.", example = json!({
        "name": "Weekly report",
        "summary": "Summarises the week's issues of a repository; use on Fridays.",
        "instructions": "1. List the issues closed this week.\n2. Write three sentences."
    })),
    responses((status = 201, description = "The Skill.", body = inline(Success<Skill>), example = json!({
        "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
        "name": "Weekly report",
        "summary": "Summarises the week's issues of a repository; use on Fridays.",
        "instructions": "1. List the issues closed this week.\n2. Write three sentences.",
        "version": 1,
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:00.125Z"
    }))),
)]
async fn create(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    KeyedBody { body, attempt }: KeyedBody<CreateSkillBody>,
) -> Result<Response, ApiFailure> {
    let request = CreateSkill {
        name: body.name,
        summary: body.summary,
        instructions: body.instructions,
    };
    let create = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.create_skill(&caller, request).await
    };
    let skill = gateway
        .once(&caller, Scope::SkillsWrite, attempt, create)
        .await?;
    Ok((StatusCode::CREATED, Success::new(&caller, skill)).into_response())
}

/// Read a Skill
///
/// The Skill in full. Its entity tag is its version: send it back in `If-Match` with an update.
#[utoipa::path(
    get,
    path = "/v1/skills/{skill_id}",
    operation_id = "get_skill",
    params(("skill_id" = String, Path, description = "The id that create and list return.", example = "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10")),
    responses((status = 200, description = "The Skill.", body = inline(Success<Skill>), headers(("ETag" = String, description = "The version, quoted.")), example = json!({
        "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
        "name": "Weekly report",
        "summary": "Summarises the week's issues of a repository; use on Fridays.",
        "instructions": "1. List the issues closed this week.\n2. Write three sentences.",
        "version": 1,
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:00.125Z"
    }))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([skill_id]): Segments<1>,
    _: NoQuery,
) -> Result<Response, ApiFailure> {
    let skill = gateway.skill(&caller, &skill_id).await?;
    Ok(tagged(&caller, skill))
}

/// What to change of a Skill.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct UpdateSkillBody {
    /// Empty or absent keeps the name.
    #[schema(max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    name: Option<String>,
    /// Empty or absent keeps the summary. `description` is read as the same field.
    #[serde(alias = "description")]
    #[schema(
        max_length = 2000,
        pattern = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
    )]
    summary: Option<String>,
    /// Empty or absent keeps the instructions. `body` is read as the same field.
    #[serde(alias = "body")]
    #[schema(
        max_length = 100000,
        pattern = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
    )]
    instructions: Option<String>,
    /// Changes the Skill only if this is its version; the same as `If-Match`.
    #[schema(minimum = 1)]
    version: Option<i64>,
}

/// Update a Skill
///
/// Changes the fields that are given and not empty, at least one, and adds one to the version.
/// With `If-Match` or `version` it does so only over that version, and answers 409 otherwise.
#[utoipa::path(
    put,
    path = "/v1/skills/{skill_id}",
    operation_id = "update_skill",
    params(
        ("skill_id" = String, Path, description = "The id that create and list return.", example = "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10"),
        ("If-Match" = Option<String>, Header, description = "The entity tag of the version to change, or `*`."),
    ),
    request_body(content = UpdateSkillBody, description = "What to change.", example = json!({"instructions": "1. List the closed issues.\n2. Write three sentences.", "version": 1})),
    responses((status = 200, description = "The Skill as it is now.", body = inline(Success<Skill>), headers(("ETag" = String, description = "The version, quoted.")), example = json!({
        "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
        "name": "Weekly report",
        "summary": "Summarises the week's issues of a repository; use on Fridays.",
        "instructions": "1. List the closed issues.\n2. Write three sentences.",
        "version": 2,
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T10:02:11.000Z"
    }))),
)]
async fn update(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([skill_id]): Segments<1>,
    _: NoQuery,
    headers: HeaderMap,
    JsonBody(body): JsonBody<UpdateSkillBody>,
) -> Result<Response, ApiFailure> {
    let tagged_version = if_match(&headers)?;
    if let (Some(tag), Some(version)) = (tagged_version, body.version)
        && tag != version
    {
        let message = format!("is {version}, but If-Match asks for {tag}");
        return Err(ApiFailure::field("version", message));
    }
    let request = UpdateSkill {
        skill_id,
        name: body.name,
        summary: body.summary,
        instructions: body.instructions,
        if_version: tagged_version.or(body.version),
    };
    let skill = gateway.update_skill(&caller, request).await?;
    Ok(tagged(&caller, skill))
}

/// Delete a Skill
///
/// For good, with all its versions.
#[utoipa::path(
    delete,
    path = "/v1/skills/{skill_id}",
    operation_id = "delete_skill",
    params(("skill_id" = String, Path, description = "The id that create and list return.", example = "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10")),
    responses((status = 200, description = "It is gone.", body = inline(Success<DeletedSkill>), example = json!({"skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10", "deleted": true}))),
)]
async fn delete(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([skill_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<DeletedSkill>, ApiFailure> {
    let deleted = gateway.delete_skill(&caller, &skill_id).await?;
    Ok(Success::new(&caller, deleted))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct SkillVersionsQuery {
    /// How many versions a page holds.
    #[param(inline)]
    limit: PageLimit<{ LIST_LIMIT_MAX }>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List a Skill's versions
///
/// In full, the current one first. The newest 200 are kept. Follow `next_cursor` to the end; a page
/// of long texts may hold fewer than `limit`.
#[utoipa::path(
    get,
    path = "/v1/skills/{skill_id}/versions",
    operation_id = "list_skill_versions",
    params(
        ("skill_id" = String, Path, description = "The id that create and list return.", example = "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10"),
        SkillVersionsQuery,
    ),
    responses((status = 200, description = "One page of versions.", body = inline(Success<SkillVersions>), example = json!({"skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10", "versions": [{
        "version": 1,
        "name": "Weekly report",
        "summary": "Summarises the week's issues of a repository; use on Fridays.",
        "instructions": "1. List the issues closed this week.\n2. Write three sentences.",
        "created_at": "2026-11-20T09:30:00.125Z"
    }], "next_cursor": null}))),
)]
async fn versions(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([skill_id]): Segments<1>,
    QueryString(query): QueryString<SkillVersionsQuery>,
) -> Result<Success<SkillVersions>, ApiFailure> {
    let request = ListSkillVersions {
        skill_id,
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let versions = gateway.skill_versions(&caller, request).await?;
    Ok(Success::new(&caller, versions))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct SkillCheckQuery {
    /// The user who would follow it; the key's default user if absent.
    #[param(inline)]
    user_id: ForUser,
}

/// Check a Skill
///
/// The tools that the Skill's texts name: whether they exist, what the user may use of them and
/// whether they are connected.
#[utoipa::path(
    get,
    path = "/v1/skills/{skill_id}/check",
    operation_id = "check_skill",
    params(
        ("skill_id" = String, Path, description = "The id that create and list return.", example = "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10"),
        SkillCheckQuery,
    ),
    responses((status = 200, description = "What the Skill needs.", body = inline(Success<SkillCheck>), example = json!({
        "skill_id": "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
        "user_id": "ada@example.com",
        "ready": false,
        "tools": [{"tool_name": "github_list_issues", "service": "github", "permission": "allow", "connection": "not_connected"}],
        "unknown_tools": []
    }))),
)]
async fn check(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([skill_id]): Segments<1>,
    QueryString(query): QueryString<SkillCheckQuery>,
) -> Result<Success<SkillCheck>, ApiFailure> {
    let check = gateway.check_skill(&caller, &skill_id, query.user_id.0);
    let check = check.await?;
    Ok(Success::new(&caller, check))
}

/// The Skill with its version as entity tag.
fn tagged(caller: &Caller, skill: Skill) -> Response {
    let etag = HeaderValue::from_str(&format!("\"{}\"", skill.version));
    let mut answer = Success::new(caller, skill).into_response();
    if let Ok(etag) = etag {
        answer.headers_mut().insert(header::ETAG, etag);
    }
    answer
}

/// The version that `If-Match` asks for, by strong comparison (RFC 9110, section 13.1.1). `None`:
/// any.
fn if_match(headers: &HeaderMap) -> Result<Option<i64>, ApiFailure> {
    let mut values = headers.get_all(header::IF_MATCH).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default().trim();
    if values.next().is_none() {
        if text == "*" {
            return Ok(None);
        }
        let version = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        if let Some(version) = version.and_then(|text| text.parse::<u32>().ok()) {
            return Ok(Some(i64::from(version)));
        }
    }
    Err(ApiFailure::field(
        "If-Match",
        "must be one entity tag as a Skill was answered with, for example \"2\", or *",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_names_one_version_or_any() {
        for (values, version) in [
            (&[][..], Some(None)),
            (&["*"], Some(None)),
            (&["\"2\""], Some(Some(2))),
            (&["2"], None),
            (&["W/\"2\""], None),
            (&["\"x\""], None),
            (&["\"-1\""], None),
            (&["\"1\", \"2\""], None),
            (&["\"1\"", "\"2\""], None),
            (&[""], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::IF_MATCH, HeaderValue::from_static(value));
            }
            assert_eq!(if_match(&headers).ok(), version, "{values:?}");
        }
    }

    #[test]
    fn summary_and_instructions_have_two_names_each() {
        for text in [
            r#"{"name":"A","summary":"B","instructions":"C"}"#,
            r#"{"name":"A","description":"B","body":"C"}"#,
        ] {
            let body: CreateSkillBody = toolgate_http_kit::body::decode(text.as_bytes()).unwrap();
            assert_eq!((&*body.summary, &*body.instructions), ("B", "C"), "{text}");
        }
        let both = br#"{"name":"A","summary":"B","description":"B","instructions":"C"}"#;
        let refused = toolgate_http_kit::body::decode::<CreateSkillBody>(both).unwrap_err();
        assert_eq!(refused.code(), "invalid_request");
    }
}
