//! Whether a provider takes a key that was just entered, before anybody is told that it is connected.
//!
//! A manifest that names an `account` request is asked by it ([`account`]). Without one the gateway runs
//! a tool of the plugin that only reads and needs no arguments, with the key and under the plugin's
//! own rights. What a tool cannot do may be something that the key was never meant for, so such a refusal
//! can be overruled by the person who entered it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Gateway;
use super::account::{self, ProbeOutcome, RefusedKey, shown_name};
use super::tried::{CandidateCredential, TRY_TIMEOUT};
use crate::Error;
use toolgate_catalog::manifest::{Effect, Manifest, Slot, ToolSpec};
use toolgate_egress::AllowedQueries;
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
/// Answers that say something of the key. A 400 may as well be about the arguments that were left out.
const REFUSED_STATUS: [u16; 2] = [401, 403];

impl Gateway {
    /// `may_read`: whether the credential may be tried with a tool where the slot names no request.
    pub(super) async fn try_credential(
        &self,
        tried: &CandidateCredential<'_>,
        workspace_id: &str,
        may_read: bool,
    ) -> Result<ProbeOutcome, Error> {
        if let Some(account) = &tried.slot.account {
            return account::probe(&self.connections.egress, tried, account).await;
        }
        let tool = check_tool(&tried.serving.manifest, tried.slot).filter(|_| may_read);
        match tool {
            // What runs a plugin is large.
            Some(tool) => Box::pin(self.try_tool(tried, tool, workspace_id)).await,
            None => Ok(ProbeOutcome::Unknown),
        }
    }

    async fn try_tool(
        &self,
        tried: &CandidateCredential<'_>,
        tool: &ToolSpec,
        workspace_id: &str,
    ) -> Result<ProbeOutcome, Error> {
        let manifest = &tried.serving.manifest;
        let config = config(tried);
        let queries = AllowedQueries::new(&tool.queries, &config);
        let scope = Arc::new(tried.scope()?.reading(queries));
        let limits = CandidateCredential::limits();
        let call = Call {
            requester: Requester {
                workspace: workspace_id.into(),
                key: "".into(),
            },
            tool: tool.name.clone(),
            arguments: "{}".to_owned(),
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
        Ok(match ended {
            // A tool that asks nobody has tried nothing.
            Ok(CallEnd::Returned(_)) if records.is_empty() => ProbeOutcome::Unknown,
            Ok(CallEnd::Returned(_)) => ProbeOutcome::Accepted(None),
            Ok(CallEnd::Refused(refusal)) if !records.is_empty() && is_about_the_key(&refusal) => {
                let words = shown_name(&refusal.message, &tried.scrubber());
                ProbeOutcome::Refused(RefusedKey::perhaps(words))
            }
            Ok(other) => {
                tracing::info!(service = manifest.service, tool = tool.name, ended = ?other, "connections.key_unchecked");
                ProbeOutcome::Unknown
            }
            Err(StartError::Overloaded(_)) => ProbeOutcome::Unknown,
            Err(StartError::Load(cause)) => return Err(Error::Internal(cause.into())),
        })
    }
}

fn is_about_the_key(refusal: &PluginError) -> bool {
    let status = refusal.http_status;
    matches!(
        refusal.kind,
        RefusalKind::AuthRequired | RefusalKind::AuthExpired | RefusalKind::PermissionDenied
    ) || status.is_some_and(|status| REFUSED_STATUS.contains(&status))
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

/// A tool that needs this slot, changes nothing and takes no argument that has to be there.
fn check_tool<'a>(manifest: &'a Manifest, slot: &Slot) -> Option<&'a ToolSpec> {
    let fits = |tool: &&ToolSpec| {
        tool.effect == Effect::Read
            && tool.auth.contains(&slot.slot)
            && !tool.auth_optional
            && tool.deprecated.is_none()
            && tool.input.required().next().is_none()
    };
    let names_the_account =
        |tool: &&ToolSpec| tool.name.split('_').any(|word| OWN_ACCOUNT.contains(&word));
    let mut fitting = manifest.tools.iter().filter(fits);
    let first = fitting.clone().next();
    fitting.find(names_the_account).or(first)
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
        check_tool(&manifest, &manifest.auth[0]).map(|tool| tool.name.clone())
    }

    #[test]
    fn only_a_harmless_tool_of_the_slot_is_chosen() {
        for more in [
            json!({"effect": "write"}),
            json!({"effect": "destructive"}),
            json!({"auth": ["other"]}),
            json!({"auth": []}),
            json!({"auth_optional": true}),
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
    }

    #[test]
    fn an_answer_that_is_not_about_the_key_refuses_nothing() {
        let refusal = |kind, http_status| PluginError {
            kind,
            code: None,
            message: String::new(),
            retry_after_ms: None,
            http_status,
            field: None,
            details: None,
        };
        for (kind, status, refuses) in [
            (RefusalKind::AuthExpired, Some(401), true),
            (RefusalKind::AuthRequired, Some(200), true),
            (RefusalKind::InvalidArguments, Some(400), false),
            (RefusalKind::Upstream, Some(403), true),
            (RefusalKind::InvalidArguments, None, false),
            (RefusalKind::NotFound, Some(404), false),
            (RefusalKind::RateLimited, Some(429), false),
            (RefusalKind::Unavailable, Some(503), false),
        ] {
            let about = is_about_the_key(&refusal(kind, status));
            assert_eq!(about, refuses, "{kind:?} {status:?}");
        }
    }
}
