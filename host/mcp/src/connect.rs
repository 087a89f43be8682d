//! A connect link as an elicitation in URL mode, for clients that declare it.
//!
//! The Markdown of [`super::render`] is the rule and always follows; this is the extra. Until
//! 2025-11-25 the server asks in the middle of the call and answers with the Markdown whatever the
//! user does; since 2026-07-28 the call ends with `input_required` and the client repeats it with the
//! `requestState` it was given. That text comes back from the client, so it is sealed: bound to key,
//! user and tool, and short-lived.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ErrorData, InputRequest, InputRequests,
    InputRequiredResult, ProtocolVersion, RequestStateCodec, Resource, SealOptions,
};
use rmcp::service::RequestContext;
use url::Url;

use crate::cards;
use crate::render;
use toolgate_core::ids;
use toolgate_gateway::tools::{Execution, Outcome};

/// How long a session client may take to show the question. Below the 60 s after which most clients
/// give up a call.
const ANSWER_WAIT: Duration = Duration::from_secs(45);

/// How long a `requestState` may take to come back: the life of the connect link.
const STATE_LIFE: Duration = Duration::from_secs(15 * 60);

/// The name of the one question in `inputRequests`.
const QUESTION: &str = "connect";

/// The other end of one call.
pub struct McpClient<'a> {
    pub context: &'a RequestContext<RoleServer>,
    pub codec: &'a RequestStateCodec,
    /// What the client gave back, where it repeats a call.
    pub request_state: Option<String>,
}

/// What the user is asked to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub message: String,
    pub url: Url,
}

/// The link that `execution` ends with, if any.
pub fn link(execution: &Execution) -> Option<Link> {
    let (Outcome::AuthRequired(connect) | Outcome::AuthExpired(connect)) = &execution.outcome
    else {
        return None;
    };
    Some(Link {
        message: connect.message.clone(),
        url: Url::parse(connect.connect_url.as_deref()?).ok()?,
    })
}

impl McpClient<'_> {
    /// Whether each request of the client is independent, as since 2026-07-28.
    pub fn stands_alone(&self) -> bool {
        self.context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
    }

    /// Whether the client shows cards ([`crate::cards`]).
    pub(crate) fn renders_cards(&self) -> bool {
        cards::rendered_by(self.context.client_capabilities().as_ref())
    }

    /// The files of a result as links, for a client that knows these: since 2025-06-18.
    pub(crate) fn links(&self, execution: &Execution) -> Vec<Resource> {
        let version = self.context.protocol_version();
        let knows = version
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2025_06_18.as_str());
        match knows {
            true => render::file_links(execution),
            false => Vec::new(),
        }
    }

    /// Whether structured content has to be an object, as until 2025-11-25.
    pub(crate) fn requires_object_content(&self) -> bool {
        !self.stands_alone()
    }

    /// Whether this call repeats one that ended with `input_required`. A state that this gateway did
    /// not give to this key, user and tool, or whose time is over, is a protocol error.
    pub fn resumes(
        &self,
        identity: impl FnOnce() -> String,
        tool_name: &str,
    ) -> Result<bool, ErrorData> {
        let Some(state) = &self.request_state else {
            return Ok(false);
        };
        if is_ours(self.codec, state, &binding(&identity(), tool_name)) {
            return Ok(true);
        }
        Err(ErrorData::invalid_params(
            "requestState is not the one this server gave for this call, or has expired; \
             repeat the call without it",
            None,
        ))
    }

    /// Puts `link` before the user. `Some` ends the call and has the client repeat it; `None` leaves the
    /// Markdown answer to be given.
    pub async fn ask(
        &self,
        identity: &str,
        tool_name: &str,
        link: Link,
    ) -> Option<InputRequiredResult> {
        let can_open = self
            .context
            .client_capabilities()
            .and_then(|capabilities| capabilities.elicitation)
            .is_some_and(|elicitation| elicitation.url.is_some());
        if !can_open {
            return None;
        }
        if self.stands_alone() {
            return Some(input_required(
                link,
                seal(self.codec, &binding(identity, tool_name)),
            ));
        }
        let asked = self
            .context
            .peer
            .elicit_url_with_timeout(
                link.message,
                link.url,
                ids::hex128("eli"),
                Some(ANSWER_WAIT),
            )
            .await;
        if let Err(problem) = asked {
            tracing::debug!(error = %problem, "mcp.elicitation.unanswered");
        }
        None
    }
}

fn seal(codec: &RequestStateCodec, binding: &str) -> String {
    let options = SealOptions::new()
        .associated_data(binding.as_bytes())
        .ttl(STATE_LIFE);
    codec.seal_with(QUESTION.as_bytes(), &options)
}

fn is_ours(codec: &RequestStateCodec, state: &str, binding: &str) -> bool {
    codec.open_with(state, binding.as_bytes()).is_ok()
}

/// What a `requestState` is good for. No part can hold the line break that parts them.
fn binding(identity: &str, tool_name: &str) -> String {
    format!("{identity}\n{tool_name}")
}

fn input_required(link: Link, state: String) -> InputRequiredResult {
    let question = ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message: link.message,
        url: link.url.into(),
        elicitation_id: String::new(),
    };
    let mut questions = InputRequests::new();
    questions.insert(
        QUESTION.to_owned(),
        InputRequest::Elicitation(ElicitRequest::new(question)),
    );
    InputRequiredResult::new(Some(questions), Some(state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_gateway::tools::Connect;

    fn caller(key_id: &str, user: &str) -> String {
        format!("ws_1\n{key_id}\n{user}")
    }

    fn codec(byte: u8) -> RequestStateCodec {
        RequestStateCodec::try_new([byte; 32]).unwrap()
    }

    #[test]
    fn a_state_is_good_for_its_key_user_and_tool_alone() {
        let ours = codec(1);
        let state = seal(
            &ours,
            &binding(&caller("key_1", "ada"), "github_create_issue"),
        );
        let opens = |codec: &RequestStateCodec, state: &str, caller: &str, tool: &str| {
            is_ours(codec, state, &binding(caller, tool))
        };
        let ada = caller("key_1", "ada");
        assert!(opens(&ours, &state, &ada, "github_create_issue"));
        assert!(!opens(&ours, &state, &ada, "github_delete_repo"));
        assert!(!opens(
            &ours,
            &state,
            &caller("key_2", "ada"),
            "github_create_issue"
        ));
        assert!(!opens(
            &ours,
            &state,
            &caller("key_1", "bob"),
            "github_create_issue"
        ));
        assert!(!opens(&codec(2), &state, &ada, "github_create_issue"));
        for n in 0..state.len() {
            let mut forged = state.clone().into_bytes();
            forged[n] ^= 1;
            if let Ok(forged) = String::from_utf8(forged) {
                assert!(!opens(&ours, &forged, &ada, "github_create_issue"), "{n}");
            }
        }
    }

    fn ends_with(outcome: Outcome) -> Execution {
        Execution {
            execution_id: "exe_1".into(),
            tool_name: "github_create_issue".into(),
            service: "github".into(),
            session_id: "tool_1".into(),
            duration_ms: 1,
            coerced: Vec::new(),
            outcome,
        }
    }

    fn connect(url: Option<&str>) -> Connect {
        Connect {
            reason: "auth_required".to_owned(),
            auth_type: "oauth2".to_owned(),
            message: "Connect GitHub.".to_owned(),
            connect_url: url.map(str::to_owned),
        }
    }

    #[test]
    fn only_an_absolute_link_is_put_before_the_user() {
        let good = "https://tools.example.com/connect/abc";
        for outcome in [
            Outcome::AuthRequired(connect(Some(good))),
            Outcome::AuthExpired(connect(Some(good))),
        ] {
            let found = link(&ends_with(outcome)).expect("a link");
            assert_eq!(found.url.as_str(), good);
            assert_eq!(found.message, "Connect GitHub.");
        }
        for none in [None, Some(""), Some("/connect/abc")] {
            assert_eq!(
                link(&ends_with(Outcome::AuthRequired(connect(none)))),
                None,
                "{none:?}"
            );
        }
        let requests = Vec::new();
        assert_eq!(link(&ends_with(Outcome::DryRun { requests })), None);
    }

    #[test]
    fn the_question_opens_a_url_and_carries_the_state() {
        let asked = input_required(
            Link {
                message: "Connect GitHub.".to_owned(),
                url: Url::parse("https://tools.example.com/connect/abc").unwrap(),
            },
            "rs1.sealed".to_owned(),
        );
        insta::assert_json_snapshot!("input_required", asked);
    }
}
