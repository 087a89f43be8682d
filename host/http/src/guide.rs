//! `/docs/guide/`: the documentation site of this version, with a page of errors that is generated from the REST document.

mod errors;

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;

use toolgate_guide::{Guide, GuideSource, written};

/// Scripts, styles and pictures are the site's own files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The address of the first page. Pages name each other relatively, so it ends with a slash.
const BASE: &str = "/docs/guide/";

/// The whole site. `more`: pages of the program around this crate, such as its command line.
pub fn site(more: Vec<GuideSource>) -> Guide {
    let document = serde_json::to_value(crate::rest::document()).unwrap_or(Value::Null);
    let mut sources = written();
    sources.push(GuideSource {
        section: "Reference",
        name: "errors".into(),
        path: "",
        markdown: errors::markdown(&document).into(),
    });
    sources.extend(more);
    Guide::render(&sources, env!("CARGO_PKG_VERSION"))
}

/// Rendered when somebody asks for it first: no start waits for it.
#[derive(Clone)]
struct GuideState {
    make: fn() -> Vec<GuideSource>,
    rendered: Arc<OnceLock<Guide>>,
}

impl GuideState {
    fn guide(&self) -> &Guide {
        self.rendered.get_or_init(|| site((self.make)()))
    }
}

/// Where a program looks for the list of pages first.
const LLMS: &str = "/llms.txt";

/// The routes of the site. `more`: as [`site`] takes it.
pub fn router(more: fn() -> Vec<GuideSource>) -> Router {
    let state = GuideState {
        make: more,
        rendered: Arc::default(),
    };
    Router::new()
        .route("/docs/guide", get(|| async { Redirect::permanent(BASE) }))
        .route(
            LLMS,
            get(|| async { Redirect::permanent("/docs/guide/llms.txt") }),
        )
        .route(
            BASE,
            get(|state: State<GuideState>| answer(state, "index.html".to_owned())),
        )
        .route(
            "/docs/guide/{file}",
            get(|state: State<GuideState>, Path(file): Path<String>| answer(state, file)),
        )
        .with_state(state)
}

async fn answer(State(state): State<GuideState>, name: String) -> Response {
    // Rendering is a few milliseconds of work, once.
    let found = tokio::task::spawn_blocking(move || {
        let file = state.guide().file(&name)?;
        Some((file.media_type, Bytes::from(file.bytes.to_vec())))
    })
    .await;
    let Ok(found) = found else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut answer = match found {
        Some((media_type, bytes)) => {
            let mut answer = bytes.into_response();
            let headers = answer.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
            answer
        }
        None => {
            let page = "There is no such page. The documentation begins at /docs/guide/.\n";
            (StatusCode::NOT_FOUND, page).into_response()
        }
    };
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}
