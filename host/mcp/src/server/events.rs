//! Serves the extension `io.modelcontextprotocol/events`: `events/list`, `events/poll` and `events/stream`, in the
//! stateless protocol. A client hears of its own user's events; a toolset limits them to its tools.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CustomNotification, CustomResult, ErrorData, NotificationMetaObject, ServerConfig,
    ServerNotification,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::{McpServer, OperationsSource, ToolOffer, caller, refused, toolset_name};
use crate::events::{self, EventMethod, EventSubscription, NEXT_POLL_MS};
use toolgate_core::clock::parse_rfc3339;
use toolgate_gateway::events::reader::EventFollower;
use toolgate_gateway::events::{EventPage, EventTools};
use toolgate_gateway::toolsets::listing::ToolSource;
use toolgate_gateway::{Caller, Error, Gateway};

impl McpServer {
    /// Says that the extension is served, where it is: a proxy has no log.
    pub(super) fn offer_events(&self, itself: &mut ServerConfig) {
        if matches!(self.side, OperationsSource::Here(_)) {
            let extensions = &mut itself.capabilities.extensions;
            extensions.get_or_insert_default().extend(events::offered());
        }
    }

    pub(super) async fn event_request(
        &self,
        method: EventMethod,
        gateway: &Arc<Gateway>,
        params: Option<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let caller = caller(&context.extensions)?;
        match method {
            EventMethod::List => {
                let listed = self.listed_events(gateway, caller, params, context);
                let observed = self.observed("events/list");
                observed.run(context, |_| false, listed).await
            }
            EventMethod::Poll => {
                let polled = self.polled_events(gateway, caller, params, context);
                let observed = self.observed("events/poll");
                observed.run(context, |_| false, polled).await
            }
            EventMethod::Stream => self.stream_events(gateway, caller, params, context).await,
        }
    }

    /// The tools to which the toolset limits events; `None`: all.
    async fn event_tools(
        &self,
        gateway: &Gateway,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<EventTools>, ErrorData> {
        if self.offer != ToolOffer::Toolset {
            return Ok(None);
        }
        let name = toolset_name(&context.extensions).unwrap_or_default();
        let listed = gateway.toolset_tools(caller, &name).await;
        let listed = listed.map_err(refused)?;
        if listed.generic_tools {
            return Ok(None);
        }
        let mut tools = EventTools::default();
        for tool in listed.tools {
            if let ToolSource::Tool { service } = tool.source {
                tools.names.insert(tool.name);
                tools.services.insert(service);
            }
        }
        Ok(Some(tools))
    }

    async fn listed_events(
        &self,
        gateway: &Gateway,
        caller: &Caller,
        params: Option<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // The list is one page, so that no cursor was given.
        let cursor = params.as_ref().and_then(|params| params.get("cursor"));
        if cursor.is_some_and(|cursor| !cursor.is_null()) {
            return Err(ErrorData::invalid_params("invalid cursor", None));
        }
        let tools = self.event_tools(gateway, caller, context).await?;
        let limited = tools.is_some();
        let listed = events::listed(limited, |query| {
            gateway.may_read_events(caller, query).is_ok()
        });
        let result = json!({ "resultType": "complete", "events": listed });
        Ok(CustomResult::new(result))
    }

    async fn polled_events(
        &self,
        gateway: &Gateway,
        caller: &Caller,
        params: Option<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let asked = EventSubscription::read(params)?;
        let tools = self.event_tools(gateway, caller, context).await?;
        let query = asked.query(caller, tools)?;
        let (begins, bounds) = (asked.begins(), (asked.limit(), 0));
        let page = gateway.read_events(caller, query, &begins, bounds);
        let page = page.await.map_err(|error| refused_events(&error))?;
        let now_ms = gateway.clock().now_ms();
        let (cursor, has_more, truncated) = (page.cursor.clone(), page.has_more, page.truncated);
        let (events, left_out) = occurrences(&asked, page, now_ms);
        Ok(CustomResult::new(json!({
            "resultType": "complete",
            "events": events,
            "cursor": cursor,
            "hasMore": has_more,
            "truncated": truncated || left_out,
            "nextPollMs": if has_more { 0 } else { NEXT_POLL_MS },
        })))
    }

    async fn stream_events(
        &self,
        gateway: &Arc<Gateway>,
        caller: &Caller,
        params: Option<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let asked = EventSubscription::read(params)?;
        let tools = self.event_tools(gateway, caller, context).await?;
        let query = asked.query(caller, tools)?;
        let begins = asked.begins();
        let follower = gateway.follow_events(caller, query, &begins);
        let follower = follower.await.map_err(|error| refused_events(&error))?;
        let ended = tokio::select! {
            () = context.ct.cancelled() => Ok(()),
            ended = self.told(gateway, &asked, follower, context) => ended,
        };
        ended.map(|()| CustomResult::new(json!({ "resultType": "complete" })))
    }

    /// Tells the client what happens, until the gateway stops or the client has left.
    async fn told(
        &self,
        gateway: &Gateway,
        asked: &EventSubscription,
        mut follower: EventFollower,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let begins = json!({ "cursor": follower.cursor(), "truncated": false });
        let mut open = notify(context, "active", begins).await;
        while open {
            let before = follower.cursor();
            if self.offer == ToolOffer::Toolset {
                // The toolset, and what the caller may call of it, may have changed.
                let renewed = follower.renew().await;
                let caller = renewed.map_err(|error| refused_events(&error))?;
                let tools = self.event_tools(gateway, caller, context).await?;
                follower.limit_to(tools);
            }
            let page = match follower.next().await {
                Ok(Some(page)) => page,
                Ok(None) => break,
                Err(error) => return Err(refused_events(&error)),
            };
            let cursor = page.cursor.clone();
            let truncated = page.truncated;
            let (events, left_out) = occurrences(asked, page, gateway.clock().now_ms());
            if truncated || left_out {
                // A client that is cut off here has not seen the events that follow.
                let gap = json!({ "cursor": before, "truncated": true });
                open = notify(context, "active", gap).await;
            }
            for event in events {
                open = open && notify(context, "event", event).await;
            }
            // Beyond the last event there may be some that were not for this client.
            open = open && notify(context, "heartbeat", json!({ "cursor": cursor })).await;
        }
        Ok(())
    }
}

/// `false`: the client has left.
async fn notify(context: &RequestContext<RoleServer>, what: &str, params: Value) -> bool {
    let mut meta = NotificationMetaObject::new();
    meta.set_subscription_id(context.id.clone());
    let method = format!("notifications/events/{what}");
    let mut notification = CustomNotification::new(method, Some(params));
    notification.extensions.insert(meta);
    let notification = ServerNotification::CustomNotification(notification);
    context.peer.send_notification(notification).await.is_ok()
}

/// The events of a page that are young enough, and whether some were not.
fn occurrences(asked: &EventSubscription, page: EventPage, now_ms: i64) -> (Vec<Value>, bool) {
    let found = page.events.len();
    let young = page.events.into_iter().filter(|event| {
        let at_ms = parse_rfc3339(&event.timestamp).unwrap_or(now_ms);
        !asked.is_too_old(at_ms, now_ms)
    });
    let shown: Vec<Value> = young.map(|event| asked.occurrence(event)).collect();
    let left_out = shown.len() < found;
    (shown, left_out)
}

fn refused_events(error: &Error) -> ErrorData {
    events::refusal(error).unwrap_or_else(|| crate::render::protocol_error(error))
}
