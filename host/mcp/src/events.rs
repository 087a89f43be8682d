//! Events as a client of the extension `io.modelcontextprotocol/events` (SEP-3415) sees them: the types that it can
//! subscribe to, what it asks for, and the shape of an occurrence. Pure; `server/events.rs` serves it.
//!
//! Types are those of webhooks that are about a user. What providers send is one type, `trigger`, because its events have
//! names that no list could hold.

use rmcp::model::{ErrorCode, ErrorData, ExtensionCapabilities, JsonObject};
use serde::Deserialize;
use serde_json::{Value, json};

use toolgate_gateway::events::{EventQuery, EventRecord, EventTools, EventsFrom, LIST_LIMIT_MAX};
use toolgate_gateway::{Caller, Error};

const EXTENSION: &str = "io.modelcontextprotocol/events";
/// The type of what providers send.
const TRIGGER: &str = "trigger";
/// Events of a poll that names no number.
const POLLED: usize = 50;
/// When a client that has all there is may ask again.
pub(crate) const NEXT_POLL_MS: u64 = 2_000;

/// Errors of the extension.
const NOT_FOUND: ErrorCode = ErrorCode(-32_011);
const FORBIDDEN: ErrorCode = ErrorCode(-32_012);
const EXHAUSTED: ErrorCode = ErrorCode(-32_013);

/// A method of the extension that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventMethod {
    List,
    Poll,
    Stream,
}

impl EventMethod {
    pub(crate) fn named(method: &str) -> Option<Self> {
        match method {
            "events/list" => Some(Self::List),
            "events/poll" => Some(Self::Poll),
            "events/stream" => Some(Self::Stream),
            _ => None,
        }
    }
}

/// What a server says of the extension.
pub(crate) fn offered() -> ExtensionCapabilities {
    ExtensionCapabilities::from([(EXTENSION.to_owned(), JsonObject::new())])
}

/// What may be asked of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventArgument {
    Service,
    ToolName,
    /// The provider's name of an event; only with a service.
    Event,
}

impl EventArgument {
    fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::ToolName => "tool_name",
            Self::Event => "event",
        }
    }

    fn schema(self) -> Value {
        let description = match self {
            Self::Service => "Only events about this service.",
            Self::ToolName => "Only events about this tool.",
            Self::Event => "Only events that the service's plugin names so. Needs `service`.",
        };
        json!({ "type": "string", "minLength": 1, "description": description })
    }
}

/// A type of events.
struct EventDefinition {
    name: &'static str,
    description: &'static str,
    arguments: &'static [EventArgument],
    /// Texts that every event of the type has, beside `user_id`.
    fields: &'static [&'static str],
}

const OF_TOOLS: &[EventArgument] = &[EventArgument::Service, EventArgument::ToolName];
const OF_APPROVALS: &[EventArgument] = &[EventArgument::ToolName];
const OF_SERVICES: &[EventArgument] = &[EventArgument::Service];
const CALL: &[&str] = &["execution_id", "tool_name", "service", "status"];
const APPROVAL: &[&str] = &["approval_id", "tool_name", "status"];
const CONNECTION: &[&str] = &["connection_id", "service", "state"];

macro_rules! definition {
    ($name:literal, $arguments:expr, $fields:expr, $description:literal) => {
        EventDefinition {
            name: $name,
            description: $description,
            arguments: $arguments,
            fields: $fields,
        }
    };
}

const DEFINITIONS: &[EventDefinition] = &[
    definition!("tool.executed", OF_TOOLS, CALL, "A call of a tool ran."),
    definition!(
        "tool.failed",
        OF_TOOLS,
        CALL,
        "A call of a tool ran and failed because of the provider, the plugin or a limit."
    ),
    definition!(
        "approval.requested",
        OF_APPROVALS,
        APPROVAL,
        "A call waits for a person's decision."
    ),
    definition!(
        "approval.resolved",
        OF_APPROVALS,
        APPROVAL,
        "A call was approved or denied, or the request expired. After `approved` the same call runs once."
    ),
    definition!(
        "connection.created",
        OF_SERVICES,
        CONNECTION,
        "The user has connected a service."
    ),
    definition!(
        "connection.expiring",
        OF_SERVICES,
        CONNECTION,
        "A connection ends soon, and only the user can renew it."
    ),
    definition!(
        "connection.expired",
        OF_SERVICES,
        CONNECTION,
        "The user has to connect a service again."
    ),
    definition!(
        "connection.recovered",
        OF_SERVICES,
        CONNECTION,
        "A connection works again."
    ),
    definition!(
        "connection.revoked",
        OF_SERVICES,
        CONNECTION,
        "A connection was deleted or revoked."
    ),
    definition!("session.created", &[], &["session_id"], "A session begins."),
    definition!(
        "message.created",
        &[],
        &["session_id", "message_id", "role"],
        "A session stored a message."
    ),
    definition!(
        "trigger",
        &[EventArgument::Service, EventArgument::Event],
        &["type", "service"],
        "A service has sent an event of the user's account; `type` is trigger.<service>.<event>."
    ),
];

impl EventDefinition {
    fn find(name: &str) -> Option<&'static Self> {
        DEFINITIONS.iter().find(|one| one.name == name)
    }

    /// As `events/list` has it.
    fn described(&self) -> Value {
        let arguments = self.arguments.iter();
        let arguments: JsonObject = arguments
            .map(|one| (one.name().to_owned(), one.schema()))
            .collect();
        let required: Vec<&str> = self.fields.iter().copied().chain(["user_id"]).collect();
        let fields: JsonObject = required
            .iter()
            .map(|field| ((*field).to_owned(), json!({ "type": "string" })))
            .collect();
        json!({
            "name": self.name,
            "description": self.description,
            "delivery": ["poll", "push"],
            "inputSchema": { "type": "object", "properties": arguments, "additionalProperties": false },
            "payloadSchema": { "type": "object", "properties": fields, "required": required },
        })
    }

    /// Whether a toolset can limit it: its events are about tools or services.
    fn is_about_tools(&self) -> bool {
        !self.arguments.is_empty()
    }
}

/// The types that `is_seen` lets pass. `limited`: to the tools of a toolset.
pub(crate) fn listed(limited: bool, is_seen: impl Fn(&EventQuery) -> bool) -> Vec<Value> {
    let offered = DEFINITIONS
        .iter()
        .filter(|one| !limited || one.is_about_tools());
    let seen = offered.filter(|one| {
        is_seen(&EventQuery {
            types: vec![pattern(one.name, None, None)],
            ..EventQuery::default()
        })
    });
    seen.map(EventDefinition::described).collect()
}

/// The type as the log names it.
fn pattern(name: &str, service: Option<&str>, event: Option<&str>) -> String {
    match (name, service, event) {
        (TRIGGER, Some(service), Some(event)) => format!("trigger.{service}.{event}"),
        (TRIGGER, Some(service), None) => format!("trigger.{service}.*"),
        (TRIGGER, None, _) => "trigger.*".to_owned(),
        (own, _, _) => own.to_owned(),
    }
}

/// Parameters of `events/poll` and `events/stream`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventSubscription {
    pub name: String,
    #[serde(default)]
    arguments: Option<JsonObject>,
    /// `None`: from now on.
    #[serde(default)]
    cursor: Option<String>,
    /// Older events are left out.
    #[serde(default)]
    max_age_ms: Option<u64>,
    #[serde(default)]
    max_events: Option<usize>,
}

impl EventSubscription {
    pub(crate) fn read(params: Option<Value>) -> Result<Self, ErrorData> {
        let params = params.unwrap_or_else(|| json!({}));
        serde_json::from_value(params).map_err(|problem| {
            ErrorData::invalid_params(format!("Invalid params: {problem}"), None)
        })
    }

    pub(crate) fn begins(&self) -> EventsFrom {
        let cursor = self.cursor.clone();
        cursor.map_or(EventsFrom::Now, EventsFrom::Cursor)
    }

    pub(crate) fn limit(&self) -> usize {
        self.max_events.unwrap_or(POLLED).clamp(1, LIST_LIMIT_MAX)
    }

    /// What is asked of the log, for the caller's own user.
    pub(crate) fn query(
        &self,
        caller: &Caller,
        tools: Option<EventTools>,
    ) -> Result<EventQuery, ErrorData> {
        let definition = EventDefinition::find(&self.name)
            .filter(|one| tools.is_none() || one.is_about_tools())
            .ok_or_else(|| {
                let kind = json!({ "kind": "event" });
                ErrorData::new(NOT_FOUND, "no such event type: see events/list", Some(kind))
            })?;
        for (name, value) in self.arguments.iter().flatten() {
            let known = definition.arguments.iter().any(|one| one.name() == name);
            if !known || value.as_str().is_none_or(str::is_empty) {
                let sentence = "arguments do not fit the inputSchema of the event type";
                return Err(ErrorData::invalid_params(sentence, None));
            }
        }
        let text = |argument: EventArgument| {
            let value = self.arguments.as_ref()?.get(argument.name())?;
            value.as_str()
        };
        let service = text(EventArgument::Service);
        let event = text(EventArgument::Event);
        if event.is_some() && service.is_none() {
            let sentence = "the argument event needs the argument service";
            return Err(ErrorData::invalid_params(sentence, None));
        }
        Ok(EventQuery {
            types: vec![pattern(&self.name, service, event)],
            user_id: Some(caller.default_user.clone()),
            service: service.map(str::to_owned),
            tool_name: text(EventArgument::ToolName).map(str::to_owned),
            tools,
        })
    }

    /// Whether an event of this moment is too old for the client.
    pub(crate) fn is_too_old(&self, at_ms: i64, now_ms: i64) -> bool {
        self.max_age_ms.is_some_and(|age_ms| {
            now_ms.saturating_sub(at_ms) > i64::try_from(age_ms).unwrap_or(i64::MAX)
        })
    }

    /// An event as the protocol has it.
    pub(crate) fn occurrence(&self, event: EventRecord) -> Value {
        let mut data = event.data;
        if self.name == TRIGGER
            && let Some(data) = data.as_object_mut()
        {
            data.insert("type".to_owned(), event.kind.into());
        }
        json!({
            "eventId": event.event_id,
            "name": self.name,
            "timestamp": event.timestamp,
            "data": data,
            "cursor": event.cursor,
        })
    }
}

/// A refusal in the codes of the extension; `None`: as of other methods.
pub(crate) fn refusal(error: &Error) -> Option<ErrorData> {
    let code = match error {
        Error::ScopeDenied(_) | Error::PermissionDenied { .. } | Error::RoleDenied(_) => FORBIDDEN,
        Error::Overloaded { .. } => EXHAUSTED,
        _ => return None,
    };
    Some(ErrorData::new(code, error.to_string(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscription(params: Value) -> EventSubscription {
        EventSubscription::read(Some(params)).unwrap()
    }

    #[test]
    fn every_type_is_a_documented_one_or_the_type_of_providers() {
        let documented = include_str!("../../../docs/events.md");
        for one in DEFINITIONS {
            let known = documented.contains(&format!("\n| `{}` |", one.name));
            assert!(known || one.name == TRIGGER, "{}", one.name);
            assert!(one.described()["payloadSchema"]["required"].is_array());
        }
    }

    #[test]
    fn a_toolset_offers_types_that_are_about_tools() {
        let names = |limited| -> Vec<String> {
            let listed = listed(limited, |_| true);
            let names = listed.iter().map(|one| one["name"].as_str().unwrap());
            names.map(str::to_owned).collect()
        };
        assert_eq!(names(false).len(), DEFINITIONS.len());
        assert!(names(true).contains(&"approval.resolved".to_owned()));
        assert!(!names(true).contains(&"session.created".to_owned()));
        assert!(listed(false, |_| false).is_empty());
    }

    #[test]
    fn what_providers_send_is_named_by_its_arguments() {
        for (service, event, expected) in [
            (None, None, "trigger.*"),
            (Some("github"), None, "trigger.github.*"),
            (Some("github"), Some("push"), "trigger.github.push"),
        ] {
            assert_eq!(pattern(TRIGGER, service, event), expected);
        }
        let event = EventRecord {
            event_id: "evt_1".to_owned(),
            kind: "trigger.github.push".to_owned(),
            timestamp: "2026-11-20T09:30:00.125Z".to_owned(),
            data: json!({ "service": "github" }),
            cursor: "7".to_owned(),
        };
        let shown = subscription(json!({ "name": "trigger" })).occurrence(event);
        assert_eq!(shown["name"], "trigger");
        assert_eq!(shown["data"]["type"], "trigger.github.push");
        assert_eq!(shown["cursor"], "7");
    }

    #[test]
    fn a_client_says_where_it_is_how_much_it_takes_and_how_old() {
        let new = subscription(json!({ "name": "tool.executed", "cursor": null }));
        assert_eq!((new.begins(), new.limit()), (EventsFrom::Now, POLLED));
        assert!(!new.is_too_old(0, i64::MAX));
        let on = subscription(json!({
            "name": "tool.executed", "cursor": "7", "maxEvents": 1_000, "maxAgeMs": 10,
        }));
        assert_eq!(on.begins(), EventsFrom::Cursor("7".to_owned()));
        assert_eq!(on.limit(), LIST_LIMIT_MAX);
        assert!(!on.is_too_old(0, 10) && on.is_too_old(0, 11));
        assert!(EventSubscription::read(Some(json!({ "cursor": "7" }))).is_err());
        assert!(EventSubscription::read(None).is_err());
    }
}
