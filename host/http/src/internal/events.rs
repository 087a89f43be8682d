//! `/internal/live`: live updates as server-sent events (HTML Standard, section 9.2).
//!
//! An event says which lists have changed, never what is in them: the page asks for that itself,
//! with its own rights.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::Method;
use serde_json::json;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::change_feed::{FeedChange, Watcher};
use toolgate_http_kit::envelope::ApiFailure;
use toolgate_store::Role;

const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

pub(super) fn routes(routes: &mut Routes) {
    let any = Access::Least(Role::Member);
    routes.add(Method::GET, "/internal/live", any, events);
}

/// Where a stream is.
enum StreamStage {
    Ready(Watcher),
    Watching(Watcher),
    Over,
}

async fn events(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Response, ApiFailure> {
    let watcher = gateway.watch(member.caller(), &member.0.sign_in_id).await?;
    let events = stream::unfold(StreamStage::Ready(watcher), |stage| async move {
        let (event, next) = match stage {
            StreamStage::Over => return None,
            StreamStage::Ready(watcher) => {
                (topic_event("ready", &[]), StreamStage::Watching(watcher))
            }
            StreamStage::Watching(watcher) => changed(watcher).await?,
        };
        Some((Ok::<_, Infallible>(event), next))
    });
    let alive = KeepAlive::new().interval(KEEP_ALIVE_EVERY);
    Ok(Sse::new(events).keep_alive(alive).into_response())
}

/// Waits until something has changed. A gateway that stops just ends the stream: the browser asks
/// again by itself, and meets the next one.
async fn changed(mut watcher: Watcher) -> Option<(Event, StreamStage)> {
    loop {
        match watcher.look().await {
            Ok(FeedChange::Changed(topics)) if topics.is_empty() => {}
            Ok(FeedChange::Changed(topics)) => {
                return Some((
                    topic_event("changed", &topics),
                    StreamStage::Watching(watcher),
                ));
            }
            Ok(FeedChange::SignedOut) => {
                return Some((topic_event("signed_out", &[]), StreamStage::Over));
            }
            Ok(FeedChange::Stopping) => return None,
            Err(cause) => {
                tracing::warn!(error.code = cause.code(), "internal.events_failed");
                return Some((topic_event("again", &[]), StreamStage::Over));
            }
        }
    }
}

fn topic_event(name: &str, topics: &[&str]) -> Event {
    let data = json!({ "topics": topics }).to_string();
    Event::default().event(name).data(data)
}
