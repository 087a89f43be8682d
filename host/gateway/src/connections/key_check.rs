//! Whether a provider takes a key that was just entered, before anybody is told that it is connected.
//!
//! A manifest that names an `account` request is asked by it ([`account`]). Without one the gateway runs
//! tools of the plugin that only read and need no arguments, with the key, under the plugin's own rights and
//! within what the user may use, until one is accepted. What a tool cannot do may be something that the key was
//! never meant for, so such a refusal can be overruled by the person who entered it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Gateway;
use super::account::{self, ProbeOutcome, RefusedKey, shown_name};
use super::tried::{CandidateCredential, TRY_TIMEOUT};
use crate::Error;
use crate::access::permissions::{Permission, Permissions};
use toolgate_catalog::manifest::{Effect, Manifest, Slot, ToolSpec};
use toolgate_egress::{AllowedQueries, DescribedSend};
use toolgate_runtime::{
    Call, CallEnd, CallListener, CallLog, NoState, PluginError, Random, RefusalKind, Requester,
    StartError, size,
};

/// Words in the name of a tool that reads whose key it is: nothing is more harmless to ask.
const OWN_ACCOUNT: [&str; 7] = [
    "me",
    "self",
    "myself",
    "whoami",
    "account",
    "authenticated",
    "profile",
];
/// Tools that are tried at most: the first may need a right that few accounts have.
pub(super) const CHECK_TOOLS_MAX: usize = 3;
/// Words in the refusal of an account that may do less than another one.
const LESSER_ACCOUNT: [&str; 10] = [
    "billing",
    "feature",
    "licence",
    "license",
    "payment",
    "plan",
    "quota",
    "subscription",
    "trial",
    "upgrade",
];

/// The result of a tool that was run with the key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TriedTool {
    Accepted,
    /// The key is not valid, in the provider's words.
    NotTaken(Option<String>),
    /// The tool is more than the key, or its account, is good for.
    NotAllowed(Option<String>),
    Unclear,
}

impl Gateway {
    /// `may_read`: whether the credential may be tried with a tool where the slot names no request, and which tools
    /// the user may use.
    pub(super) async fn try_credential(
        &self,
        tried: &CandidateCredential<'_>,
        workspace_id: &str,
        may_read: Option<&Permissions>,
    ) -> Result<ProbeOutcome, Error> {
        if let Some(account) = &tried.slot.account {
            return account::probe(&self.connections.egress, tried, account).await;
        }
        let Some(permissions) = may_read else {
            return Ok(ProbeOutcome::Unknown);
        };
        let tools = self.check_tools(&tried.serving.manifest, tried.slot, permissions);
        let mut refused: Option<RefusedKey> = None;
        for tool in tools.into_iter().take(CHECK_TOOLS_MAX) {
            // What runs a plugin is large.
            match Box::pin(self.try_tool(tried, tool, workspace_id)).await? {
                TriedTool::Accepted => return Ok(ProbeOutcome::Accepted(None)),
                // Nothing is known that a second tool could make clear.
                TriedTool::Unclear => return Ok(ProbeOutcome::Unknown),
                TriedTool::NotTaken(words) => {
                    return Ok(ProbeOutcome::Refused(RefusedKey::perhaps(words)));
                }
                // Another tool may need no right that this key lacks.
                TriedTool::NotAllowed(words) => {
                    refused.get_or_insert(RefusedKey::perhaps(words));
                }
            }
        }
        Ok(refused.map_or(ProbeOutcome::Unknown, ProbeOutcome::Refused))
    }

    /// Tools that need this slot, change nothing, take no argument that has to be there and that the user may use: first
    /// those that read whose key it is, then those that cannot be used without a key.
    pub(super) fn check_tools<'a>(
        &self,
        manifest: &'a Manifest,
        slot: &Slot,
        permissions: &Permissions,
    ) -> Vec<&'a ToolSpec> {
        let snapshot = self.snapshot();
        let allowed = |tool: &ToolSpec| {
            let name = format!("{}_{}", manifest.service, tool.name);
            let known = snapshot.catalog.get(&name);
            known.is_some_and(|tool| permissions.decide(tool).permission == Permission::Allow)
        };
        check_tools(manifest, slot, allowed)
    }

    pub(super) async fn try_tool(
        &self,
        tried: &CandidateCredential<'_>,
        tool: &ToolSpec,
        workspace_id: &str,
    ) -> Result<TriedTool, Error> {
        let manifest = &tried.serving.manifest;
        let config = config(tried);
        let queries = AllowedQueries::new(&tool.queries, &config);
        let (scope, heard) = tried.scope()?;
        let mut scope = scope.reading(queries);
        if let Some(request) = &tool.request {
            scope = scope.sending(DescribedSend::new(request, &config, "{}"));
        }
        let scope = Arc::new(scope);
        let limits = CandidateCredential::limits();
        let call = Call {
            requester: Requester {
                workspace: workspace_id.into(),
                key: "".into(),
            },
            tool: tool.name.clone(),
            arguments: "{}".to_owned(),
            files: Arc::default(),
            session: None,
            cursor: None,
            meta: "{}".to_owned(),
            scope: scope.clone(),
            kv: Arc::new(NoState),
            config: Arc::new(config),
            timeout: TRY_TIMEOUT,
            memory_bytes_max: size::memory_bytes_max(&manifest.limits),
            response_bytes_max: limits.response_bytes_max,
            now_ms: self.clock.now_ms(),
            random: Random::System,
            log: CallLog::default(),
            listener: CallListener::default(),
        };
        let ended = self.runtime.invoke(&tried.serving.code, call).await;
        let records = scope.records();
        let well = matches!(ended, Ok(CallEnd::Returned(_)));
        tried.requests.ended(well, Some(records.clone())).await;
        let words = |refusal: &PluginError| shown_name(&refusal.message, &tried.scrubber());
        Ok(match ended {
            Err(StartError::Overloaded(_)) => TriedTool::Unclear,
            Err(StartError::Load(cause)) => return Err(Error::Internal(cause.into())),
            // A tool that asks nobody has tried nothing.
            _ if records.is_empty() => TriedTool::Unclear,
            // Of a tool that does without a key, only an answer to the key itself says something.
            Ok(CallEnd::Returned(_)) if heard.accepted() => TriedTool::Accepted,
            Ok(CallEnd::Refused(refusal)) => match about_the_key(&refusal, heard.refused()) {
                Some(RefusalKind::PermissionDenied) => TriedTool::NotAllowed(words(&refusal)),
                Some(_) => TriedTool::NotTaken(words(&refusal)),
                None => TriedTool::Unclear,
            },
            Ok(other) => {
                tracing::info!(service = manifest.service, tool = tool.name, ended = ?other, "connections.key_unchecked");
                TriedTool::Unclear
            }
        })
    }
}

/// What a refusal says of the key: that it is not valid (`AuthExpired`), or that it lacks a right (`PermissionDenied`).
/// A 400 may as well be about the arguments that were left out, and an account that has not paid for something has a
/// good key. `refused`: the provider said at the wire that it does not take the key.
fn about_the_key(refusal: &PluginError, refused: bool) -> Option<RefusalKind> {
    let denied = refusal.kind == RefusalKind::PermissionDenied || refusal.http_status == Some(403);
    match refusal.kind {
        _ if refused => Some(RefusalKind::AuthExpired),
        RefusalKind::AuthRequired | RefusalKind::AuthExpired => Some(RefusalKind::AuthExpired),
        _ if refusal.http_status == Some(401) => Some(RefusalKind::AuthExpired),
        _ if denied && !is_lesser_account(&refusal.message) => Some(RefusalKind::PermissionDenied),
        _ => None,
    }
}

fn is_lesser_account(words: &str) -> bool {
    let lower = words.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| LESSER_ACCOUNT.contains(&word.strip_suffix('s').unwrap_or(word)))
}

/// What the plugin may read: the operator's settings over the connection's parameters, as JSON.
fn config(tried: &CandidateCredential<'_>) -> BTreeMap<String, String> {
    let parameters = tried.parameters.iter().map(|(key, value)| {
        let json = serde_json::Value::String(value.clone()).to_string();
        (key.clone(), json)
    });
    let settings = tried
        .settings
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()));
    parameters.chain(settings).collect()
}

/// See [`Gateway::check_tools`]. A tool that does without a key is still refused with a wrong one.
fn check_tools<'a>(
    manifest: &'a Manifest,
    slot: &Slot,
    allowed: impl Fn(&ToolSpec) -> bool,
) -> Vec<&'a ToolSpec> {
    let fits = |tool: &&ToolSpec| {
        tool.effect == Effect::Read
            && tool.auth.contains(&slot.slot)
            && tool.deprecated.is_none()
            && tool.input.required().next().is_none()
            && allowed(tool)
    };
    let names_the_account =
        |tool: &&ToolSpec| tool.name.split('_').any(|word| OWN_ACCOUNT.contains(&word));
    let mut fitting: Vec<&ToolSpec> = manifest.tools.iter().filter(fits).collect();
    fitting.sort_by_key(|tool| (!names_the_account(tool), tool.auth_optional));
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn manifest(tools: &Value) -> Manifest {
        serde_json::from_value(json!({
            "manifest": 1,
            "service": "desk",
            "title": "Desk",
            "version": "1.0.0",
            "description": "Desks.",
            "hosts": ["api.desk.test"],
            "auth": [
                {"slot": "key", "title": "Key", "type": "api_key", "placement": {"header": "x-key"}, "audience": ["https://api.desk.test"]},
                {"slot": "other", "title": "Other", "type": "api_key", "placement": {"header": "x-key"}, "audience": ["https://api.desk.test"]},
            ],
            "tools": tools,
        }))
        .unwrap()
    }

    fn tool(name: &str, more: &Value) -> Value {
        let mut tool = json!({
            "name": name,
            "description": "Does it.",
            "input": {"type": "object", "properties": {"id": {"type": "string"}}},
            "effect": "read",
            "auth": ["key"],
        });
        let all = tool.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
        tool
    }

    fn chosen(tools: &[Value]) -> Option<String> {
        let manifest = manifest(&json!(tools));
        let tools = check_tools(&manifest, &manifest.auth[0], |tool| tool.name != "denied");
        tools.first().map(|tool| tool.name.clone())
    }

    #[test]
    fn only_a_harmless_tool_of_the_slot_is_chosen() {
        for more in [
            json!({"effect": "write"}),
            json!({"effect": "destructive"}),
            json!({"auth": ["other"]}),
            json!({"auth": []}),
            json!({"name": "denied"}),
            json!({"deprecated": "Use another."}),
            json!({"input": {"type": "object", "properties": {"id": {}}, "required": ["id"]}}),
        ] {
            assert_eq!(chosen(&[tool("list_desks", &more)]), None, "{more}");
        }
        let nothing = json!({});
        let two = [tool("list_desks", &nothing), tool("list_rooms", &nothing)];
        assert_eq!(chosen(&two).as_deref(), Some("list_desks"));
        let own = [tool("list_desks", &nothing), tool("get_me", &nothing)];
        assert_eq!(chosen(&own).as_deref(), Some("get_me"));
        let optional = json!({"auth_optional": true});
        let both = [tool("list_desks", &optional), tool("list_rooms", &nothing)];
        assert_eq!(chosen(&both).as_deref(), Some("list_rooms"));
        let alone = [tool("list_desks", &optional)];
        assert_eq!(
            chosen(&alone).as_deref(),
            Some("list_desks"),
            "a wrong key is refused there too"
        );
    }

    #[test]
    fn an_answer_that_is_not_about_the_key_refuses_nothing() {
        use RefusalKind::{AuthExpired, PermissionDenied};
        let refusal = |kind, message: &str, http_status| PluginError {
            kind,
            code: None,
            message: message.to_owned(),
            retry_after_ms: None,
            http_status,
            field: None,
            details: None,
        };
        for (kind, message, status, about) in [
            (AuthExpired, "", Some(401), Some(AuthExpired)),
            (RefusalKind::AuthRequired, "", Some(200), Some(AuthExpired)),
            (RefusalKind::InvalidArguments, "", Some(400), None),
            (
                RefusalKind::Upstream,
                "Forbidden",
                Some(403),
                Some(PermissionDenied),
            ),
            (
                PermissionDenied,
                "Invalid API key",
                Some(403),
                Some(PermissionDenied),
            ),
            (RefusalKind::InvalidArguments, "", None, None),
            (RefusalKind::NotFound, "", Some(404), None),
            (RefusalKind::RateLimited, "", Some(429), None),
            (RefusalKind::Unavailable, "", Some(503), None),
            // An account that has not paid for something has a good key.
            (
                PermissionDenied,
                "Your license does not allow for feat:projectRole:admin.",
                Some(403),
                None,
            ),
            (
                PermissionDenied,
                "This endpoint is not available on your current plan",
                Some(403),
                None,
            ),
            (
                PermissionDenied,
                "Please upgrade your subscription.",
                Some(403),
                None,
            ),
            (
                PermissionDenied,
                "Explain the request",
                Some(403),
                Some(PermissionDenied),
            ),
        ] {
            let found = about_the_key(&refusal(kind, message, status), false);
            assert_eq!(found, about, "{kind:?} {status:?} {message}");
        }
        let words = refusal(RefusalKind::Upstream, "no", Some(400));
        assert_eq!(about_the_key(&words, true), Some(AuthExpired));
    }
}
