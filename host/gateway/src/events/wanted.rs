//! Which events of a log a caller is shown. Pure.
//!
//! A caller sees an event if it may read what the event is about; one that may make webhooks could have it sent, and sees
//! it too. What a provider sent of another user is content, whose reading by an admin the audit log would have to hold
//! (`audit/readings.rs`): admins see of it their own user's alone.

use serde::Deserialize;
use serde_json::Value;

use super::{EventQuery, EventRecord, EventTools};
use crate::webhooks::check_patterns;
use crate::{Caller, Error, Scope};
use toolgate_store::{EventType, LoggedEvent, TRIGGER_PREFIX, pattern_matches};

/// Whose events of a type a caller sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Nobody,
    OwnUser,
    Everybody,
}

impl Reach {
    fn new(caller: &Caller, kind: &str) -> Self {
        let has = |scope| caller.need(scope).is_ok();
        let (group, _) = kind.split_once('.').unwrap_or((kind, ""));
        let (everybody, own) = match group {
            "tool" => (has(Scope::ToolsRead), false),
            "approval" => (has(Scope::Approvals), has(Scope::ToolsExecute)),
            "connection" => (has(Scope::Connections), has(Scope::ConnectionsFirst)),
            "skill" => (has(Scope::SkillsRead), false),
            "permission" => (has(Scope::PermissionsRead), false),
            "session" | "message" => (has(Scope::Sessions), false),
            "trigger" => (false, has(Scope::ToolsExecute) || has(Scope::Webhooks)),
            _ => (false, false),
        };
        let is_content = group == "trigger";
        if everybody || (has(Scope::Webhooks) && !(is_content && administers(caller))) {
            Self::Everybody
        } else if own {
            Self::OwnUser
        } else {
            Self::Nobody
        }
    }
}

/// Whether what the caller reads of other users is for the audit log.
fn administers(caller: &Caller) -> bool {
    caller.role.is_some()
        || caller.scopes.contains(&Scope::Admin)
        || (caller.is_app() && !caller.confined)
}

/// What a caller asked for, as far as it sees it.
#[derive(Clone, Debug)]
pub(super) struct WantedEvents {
    caller: Caller,
    patterns: Vec<String>,
    user_id: Option<String>,
    service: Option<String>,
    tool_name: Option<String>,
    tools: Option<EventTools>,
}

/// The body of a delivery.
#[derive(Deserialize)]
struct EventPayload {
    timestamp: String,
    data: Value,
}

impl WantedEvents {
    /// # Errors
    /// `invalid_request` for a type that does not exist; `scope_denied` and `permission_denied` for what the caller does
    /// not see.
    pub(super) fn new(caller: &Caller, query: &EventQuery) -> Result<Self, Error> {
        let patterns = match &*query.types {
            [] => vec!["*".to_owned()],
            types => {
                check_patterns("types", types)?;
                types.to_vec()
            }
        };
        let wanted = Self {
            user_id: caller
                .listed_user(query.user_id.clone())?
                .map(|user| user.to_string()),
            caller: caller.clone(),
            patterns,
            service: query.service.clone(),
            tool_name: query.tool_name.clone(),
            tools: query.tools.clone(),
        };
        if !wanted.sees_any() {
            caller.need(Scope::Webhooks)?;
        }
        Ok(wanted)
    }

    /// The only user whose events can be among them; `None`: any.
    pub(super) fn user_id(&self) -> Option<&str> {
        self.user_id.as_deref()
    }

    /// Whether there is a type that the patterns name and that the caller sees.
    fn sees_any(&self) -> bool {
        let own = EventType::ALL.iter().map(|kind| kind.into_str());
        let mut kinds = own.chain([TRIGGER_PREFIX]);
        kinds.any(|kind| {
            let named = |pattern: &String| {
                pattern_matches(pattern, kind)
                    || (kind == TRIGGER_PREFIX && pattern.starts_with(TRIGGER_PREFIX))
            };
            self.patterns.iter().any(named) && Reach::new(&self.caller, kind) != Reach::Nobody
        })
    }

    /// The event as it is shown; `None`: it is not for the caller, or not asked for.
    pub(super) fn shown(&self, row: LoggedEvent) -> Option<EventRecord> {
        let of_user = |user: &str| row.user_id.as_deref() == Some(user);
        let named = |pattern: &String| pattern_matches(pattern, &row.kind);
        let within_reach = match Reach::new(&self.caller, &row.kind) {
            Reach::Nobody => false,
            Reach::OwnUser => of_user(self.caller.default_user.as_str()),
            Reach::Everybody => true,
        };
        if !within_reach
            || !self.patterns.iter().any(named)
            || !self.user_id.as_deref().is_none_or(of_user)
        {
            return None;
        }
        let payload: EventPayload = serde_json::from_str(&row.payload).ok()?;
        self.passes(&payload.data).then(|| EventRecord {
            event_id: row.id,
            kind: row.kind,
            timestamp: payload.timestamp,
            data: payload.data,
            cursor: row.seq.to_string(),
        })
    }

    fn passes(&self, data: &Value) -> bool {
        let field = |key: &str| data.get(key).and_then(Value::as_str);
        let is = |wanted: &Option<String>, key: &str| {
            wanted.is_none() || field(key) == wanted.as_deref()
        };
        let of_tools = |tools: &EventTools| match (field("tool_name"), field("service")) {
            (Some(tool), _) => tools.names.contains(tool),
            (None, Some(service)) => tools.services.contains(service),
            (None, None) => false,
        };
        is(&self.service, "service")
            && is(&self.tool_name, "tool_name")
            && self.tools.as_ref().is_none_or(of_tools)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::testing::TestWorld;
    use toolgate_core::ids::UserId;

    fn event(kind: &str, user: Option<&str>, data: &Value) -> LoggedEvent {
        let payload =
            json!({ "type": kind, "timestamp": "2026-11-20T09:30:00.125Z", "data": data });
        LoggedEvent {
            seq: 7,
            id: "evt_1".to_owned(),
            kind: kind.to_owned(),
            user_id: user.map(str::to_owned),
            payload: payload.to_string(),
        }
    }

    fn sees(wanted: &WantedEvents, kind: &str, user: Option<&str>) -> bool {
        let data = json!({ "user_id": user });
        wanted.shown(event(kind, user, &data)).is_some()
    }

    #[tokio::test]
    async fn a_key_sees_what_its_scopes_and_its_user_allow() {
        let world = TestWorld::open().await;
        let all = EventQuery::default();
        let agent = [
            Scope::ToolsRead,
            Scope::ToolsExecute,
            Scope::ConnectionsFirst,
        ];
        let agent = world.caller(&agent).await;
        let own = agent.default_user.to_string();
        let own = Some(own.as_str());
        let wanted = WantedEvents::new(&agent, &all).unwrap();
        assert_eq!(wanted.user_id(), own, "it acts for its own user alone");
        for (kind, sees_it) in [
            ("tool.executed", true),
            ("approval.resolved", true),
            ("connection.created", true),
            ("trigger.github.push", true),
            ("session.created", false),
            ("permission.changed", false),
            ("api_key.created", false),
        ] {
            assert_eq!(sees(&wanted, kind, own), sees_it, "{kind}");
            assert!(!sees(&wanted, kind, Some("somebody-else")), "{kind}");
            assert!(!sees(&wanted, kind, None), "{kind}");
        }

        let any = [Scope::Webhooks, Scope::UsersAny];
        let any = WantedEvents::new(&world.caller(&any).await, &all).unwrap();
        let admin = WantedEvents::new(&world.caller(&[Scope::Admin]).await, &all).unwrap();
        for kind in ["tool.executed", "skill.created", "plugin.activated"] {
            assert!(
                sees(&any, kind, None) && sees(&any, kind, Some("eve")),
                "{kind}"
            );
            assert!(sees(&admin, kind, Some("eve")), "{kind}");
        }
        assert!(sees(&any, "trigger.github.push", Some("eve")));
        assert!(sees(&admin, "trigger.github.push", own));
        assert!(!sees(&admin, "trigger.github.push", Some("eve")));
    }

    #[tokio::test]
    async fn types_that_the_caller_does_not_see_or_that_do_not_exist_are_refused() {
        let world = TestWorld::open().await;
        let agent = world.caller(&[Scope::ToolsRead]).await;
        let of = |types: &[&str]| EventQuery {
            types: types.iter().map(|text| (*text).to_owned()).collect(),
            ..EventQuery::default()
        };
        for (types, code) in [
            (&["tool.*"][..], None),
            (&["*"], None),
            (&["tool.executed", "session.created"], None),
            (&["session.created"], Some("scope_denied")),
            (&["trigger.*"], Some("scope_denied")),
            (&["trigger.github.push"], Some("scope_denied")),
            (&["tool.exploded"], Some("invalid_request")),
        ] {
            let wanted = WantedEvents::new(&agent, &of(types));
            let refused = wanted.err().map(|error| error.code());
            assert_eq!(refused, code, "{types:?}");
        }
        let other = EventQuery {
            user_id: Some(UserId::parse("eve").unwrap()),
            ..EventQuery::default()
        };
        let refused = WantedEvents::new(&agent, &other).unwrap_err();
        assert_eq!(refused.code(), "scope_denied");
    }

    #[tokio::test]
    async fn filters_look_at_the_tool_and_at_the_service() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Webhooks, Scope::UsersAny]).await;
        let issue = json!({ "tool_name": "github_create_issue", "service": "github" });
        let mail = json!({ "tool_name": "gmail_send", "service": "gmail" });
        let connected = json!({ "service": "github" });
        let session = json!({ "session_id": "ses_1" });
        let events = [&issue, &mail, &connected, &session];
        let shown = |query: EventQuery| {
            let wanted = WantedEvents::new(&caller, &query).unwrap();
            events.map(|data| wanted.shown(event("tool.executed", None, data)).is_some())
        };
        let none = EventQuery::default;
        assert_eq!(shown(none()), [true; 4]);
        let service = Some("github".to_owned());
        assert_eq!(
            shown(EventQuery { service, ..none() }),
            [true, false, true, false]
        );
        let tool_name = Some("gmail_send".to_owned());
        assert_eq!(
            shown(EventQuery {
                tool_name,
                ..none()
            }),
            [false, true, false, false]
        );
        let tools = Some(EventTools {
            names: BTreeSet::from(["github_list_issues".to_owned()]),
            services: BTreeSet::from(["github".to_owned()]),
        });
        assert_eq!(
            shown(EventQuery { tools, ..none() }),
            [false, false, true, false]
        );
    }
}
