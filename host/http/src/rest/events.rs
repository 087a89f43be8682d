//! `/v1/events`: what happened, in pages or as a stream of server-sent events (HTML Living Standard, section 9.2).
//!
//! The id of each event of a stream is the place after it, which a client sends back in `Last-Event-ID`. A stream begins
//! with its place, and an id without an event says now and then how far the log was looked through, so that a client which
//! hears nothing for long does not fall behind what is kept.

use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::Event;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, StatusCode};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::stream::{self, Sent};
use super::{RestState, openapi};
use toolgate_gateway::events::reader::EventFollower;
use toolgate_gateway::events::{
    EventPage, EventQuery, EventRecord, EventsFrom, LIST_LIMIT_MAX, WAIT_S_MAX,
};
use toolgate_gateway::{Caller, Gateway};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::query::{ForUser, Id, Number, PageLimit, Phrase, QueryString};

/// Of the parameter `types`.
const TYPES_CHARS_MAX: usize = 4_000;
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Events", "What happened in the workspace, in its order.")
        .routes(routes!(list))
}

/// Where reading begins without a cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum BeginAt {
    /// With the next event.
    #[default]
    Now,
    /// With the oldest event that is kept.
    Oldest,
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct EventsQuery {
    /// Types, groups (`tool.*`) or `*`, separated by commas; all that the caller sees if absent.
    #[param(inline)]
    types: Phrase<{ TYPES_CHARS_MAX }>,
    /// Only events about this user.
    #[param(inline)]
    user_id: ForUser,
    /// Only events about this service.
    #[param(inline)]
    service: Id,
    /// Only events about this tool.
    #[param(inline)]
    tool_name: Id,
    /// `cursor` of an earlier answer. In its place a stream takes the header `Last-Event-ID`.
    #[param(inline)]
    cursor: Id,
    /// Where to begin without a cursor: `now` or `oldest`.
    #[param(inline)]
    start: BeginAt,
    /// How many events a page holds.
    #[param(inline)]
    limit: PageLimit<{ LIST_LIMIT_MAX }>,
    /// Seconds to wait for an event where there is none.
    #[param(inline)]
    wait: Number<0, { WAIT_S_MAX }, 0>,
}

impl EventsQuery {
    /// Where reading begins, and which events are wanted.
    fn read(self, resumed: Option<String>) -> (EventsFrom, EventQuery) {
        let from = match (resumed.or(self.cursor.0), self.start) {
            (Some(cursor), _) => EventsFrom::Cursor(cursor),
            (None, BeginAt::Now) => EventsFrom::Now,
            (None, BeginAt::Oldest) => EventsFrom::Oldest,
        };
        let types = self.types.0.unwrap_or_default();
        let types = types.split(',').map(str::trim);
        let query = EventQuery {
            types: types
                .filter(|pattern| !pattern.is_empty())
                .map(str::to_owned)
                .collect(),
            user_id: self.user_id.0,
            service: self.service.0,
            tool_name: self.tool_name.0,
            tools: None,
        };
        (from, query)
    }
}

/// List events
///
/// What happened since the cursor, oldest first, as webhooks are sent it: of the types whose subject the key may read, and
/// only of its own user where it acts for no other. Pass `cursor` of the answer to go on; with `wait` an answer without
/// events comes only after so many seconds. `truncated` says that events before these are no longer kept: events can be
/// read for 24 hours, and are written from the first read of a workspace on until nobody has read for a week.
///
/// With `Accept: text/event-stream` the answer is a stream that goes on: each `event` with the event's JSON as its data
/// and the cursor as its id, `truncated` where events are no longer kept, and `error` before it ends. A client that comes
/// back sends the last id in `Last-Event-ID`.
#[utoipa::path(
    get,
    path = "/v1/events",
    operation_id = "list_events",
    params(EventsQuery),
    responses((status = 200, description = "Events, and where to go on.", body = inline(Success<EventPage>), example = json!({"events": [{
        "event_id": "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "type": "approval.resolved",
        "timestamp": "2026-11-20T09:30:00.125Z",
        "data": {"approval_id": "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "user_id": "ada@example.com", "tool_name": "github_create_issue", "status": "approved"},
        "cursor": "1042"
    }], "cursor": "1042", "has_more": false, "truncated": false}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    QueryString(query): QueryString<EventsQuery>,
) -> Result<Response, ApiFailure> {
    if !stream::wanted(&headers) {
        let bounds = (query.limit.0, query.wait.0);
        let (from, query) = query.read(None);
        let page = gateway.read_events(&caller, query, &from, bounds).await?;
        return Ok(Success::new(&caller, page).into_response());
    }
    let (from, query) = query.read(last_event_id(&headers)?);
    let follower = gateway.follow_events(&caller, query, &from).await?;
    let revoked = gateway.clone().revoked(caller.clone());
    let begins = place(&follower.cursor());
    let following = Some(Box::new((follower, caller)));
    let followed = futures_util::stream::unfold(following, follow);
    let events = futures_util::stream::iter([begins])
        .chain(followed.flat_map(futures_util::stream::iter))
        .take_until(Box::pin(revoked));
    Ok(stream::events(StatusCode::OK, events))
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<String>, ApiFailure> {
    let Some(value) = headers.get(LAST_EVENT_ID) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() {
        let fault = "is not the id of an event of this stream";
        return Err(ApiFailure::field("Last-Event-ID", fault));
    }
    Ok(Some(text.to_owned()))
}

/// Who follows, until something fails.
type Following = Option<Box<(EventFollower, Caller)>>;

/// What the stream says next, until the gateway stops or something fails.
async fn follow(following: Following) -> Option<(Vec<Sent>, Following)> {
    let mut following = following?;
    let (follower, caller) = &mut *following;
    match follower.next().await {
        Ok(Some(page)) => {
            let mut told = Vec::with_capacity(page.events.len() + 2);
            if page.truncated {
                told.push(stream::named("truncated", &json!({})));
            }
            told.extend(page.events.iter().map(sent));
            // Beyond the last event shown there may be some that were not for this client.
            told.push(place(&page.cursor));
            Some((told, Some(following)))
        }
        Ok(None) => None,
        Err(error) => {
            let failure = ApiFailure::from(error);
            Some((vec![stream::failed(caller, &failure)], None))
        }
    }
}

fn sent(event: &EventRecord) -> Sent {
    let data = serde_json::to_string(event).unwrap_or_else(|_| "{}".to_owned());
    Ok(Event::default().id(&event.cursor).event("event").data(data))
}

/// An id alone: no event for the client, which remembers it.
fn place(cursor: &str) -> Sent {
    Ok(Event::default().id(cursor))
}
