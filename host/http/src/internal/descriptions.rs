//! `/internal/descriptions`: an operator makes a plugin of an OpenAPI description. Nothing is installed here: the file that
//! is answered goes the way of every uploaded plugin, with its rights shown before.

use std::time::Duration;

use axum::extract::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_http_kit::body;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_openapi::Note;
use toolgate_openapi::text::{self, DescriptionText, OfferedOperations};

/// Largest request: the published descriptions of large services have some megabytes.
const BODY_BYTES_MAX: usize = 16 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(120);
/// How long an answer may take. What goes on beyond it is thrown away.
const BUILD_TIMEOUT: Duration = Duration::from_secs(120);
/// A build takes a core and some hundred megabytes, so there is one at a time.
static BUILDS: Semaphore = Semaphore::const_new(1);

pub(super) fn routes(routes: &mut Routes) {
    let operator = Access::Operator;
    routes.add(Method::POST, "/internal/descriptions/read", operator, read);
    routes.add(
        Method::POST,
        "/internal/descriptions/build",
        operator,
        build,
    );
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadBody {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildBody {
    text: String,
    service: String,
    /// `METHOD /path` of each.
    operations: Vec<String>,
}

/// A plugin file, and what the description has that the plugin lacks.
#[derive(Serialize)]
struct BuiltFile {
    service: String,
    tools: usize,
    notes: Vec<Note>,
    wasm_base64: String,
}

/// As [`body::JsonBody`], for what is larger.
async fn decoded<T: DeserializeOwned>(request: Request) -> Result<T, ApiFailure> {
    if !body::is_json(request.headers()) {
        return Err(ApiFailure::UnsupportedMediaType);
    }
    let bytes = body::read_request(request, BODY_BYTES_MAX, BODY_TIMEOUT).await?;
    body::decode(&bytes)
}

async fn read(
    member: SignedInMember,
    request: Request,
) -> Result<Success<OfferedOperations>, ApiFailure> {
    let asked: ReadBody = decoded(request).await?;
    let offered = bounded(move || text::offered(&asked.text).map_err(|problem| refused(&problem)));
    Ok(Success::new(member.caller(), offered.await?))
}

/// The text, where it is a description.
pub(super) async fn checked(text: String) -> Result<Option<String>, ApiFailure> {
    bounded(move || Ok(text::offered(&text).is_ok().then_some(text))).await
}

async fn build(member: SignedInMember, request: Request) -> Result<Success<BuiltFile>, ApiFailure> {
    let asked: BuildBody = decoded(request).await?;
    if asked.operations.is_empty() {
        return Err(ApiFailure::field("operations", "no operation is chosen"));
    }
    let input = DescriptionText {
        text: asked.text,
        service: Some(asked.service),
        operations: asked.operations,
    };
    let handle = tokio::runtime::Handle::current();
    let built = bounded(move || {
        // Freezing the interpreter is work for a thread, not for the reactor.
        handle
            .block_on(text::build(&input))
            .map_err(|cause| refused(&cause))
    });
    let built = built.await?;
    let file = BuiltFile {
        service: built.described.manifest.service.clone(),
        tools: built.described.manifest.tools.len(),
        wasm_base64: BASE64.encode(&built.wasm),
        notes: built.described.notes,
    };
    Ok(Success::new(member.caller(), file))
}

/// Runs work on a thread of its own, one at a time.
async fn bounded<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiFailure> + Send + 'static,
) -> Result<T, ApiFailure> {
    let late = || ApiFailure::Request {
        field: None,
        message: "the description takes too long".to_owned(),
        hint: Some("Choose fewer operations, or build it with `toolgate plugin build`.".to_owned()),
    };
    let done = async {
        let turn = BUILDS.acquire().await;
        // The turn ends with the work, also where nobody waits for it any more.
        tokio::task::spawn_blocking(move || {
            let made = work();
            drop(turn);
            made
        })
        .await
    };
    match timeout(BUILD_TIMEOUT, done).await {
        Ok(Ok(made)) => made,
        Ok(Err(_)) => Err(ApiFailure::from(toolgate_gateway::Error::Internal(
            anyhow::anyhow!("the builder of descriptions panicked"),
        ))),
        Err(_) => Err(late()),
    }
}

fn refused(problem: &dyn std::fmt::Display) -> ApiFailure {
    ApiFailure::Request {
        field: Some("text".to_owned()),
        message: format!("{problem:#}"),
        hint: Some("The guide to descriptions is at /docs/guide/openapi-plugins.html.".to_owned()),
    }
}
