//! What reaches a process that does not wait for it: answers of the client to a question of another process,
//! calls that it takes back while another process runs them, and the end of a session.
//!
//! Each process numbers its questions and its streams from zero, so what goes out carries the name of the
//! process, and what comes back finds it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification};
use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio_util::sync::CancellationToken;

use super::Sessions;
use toolgate_gateway::identity::client_sessions::{EventCursor, PROCESS_PREFIX, SessionEvents};

/// How often a process that has sessions looks for what others have for them.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The name of this process, as it precedes what it sends.
#[derive(Clone, Debug)]
pub(super) struct ProcessTag(Arc<str>);

/// Who waits for a message of the client.
#[derive(Debug)]
pub(super) enum Addressed {
    Here(ClientJsonRpcMessage),
    /// The process with this name.
    Elsewhere(String, ClientJsonRpcMessage),
}

impl ProcessTag {
    pub(super) fn new(process: &str) -> Self {
        Self(process.into())
    }

    /// An event on its way to the client.
    pub(super) fn readdress(&self, mut event: ServerSseMessage) -> ServerSseMessage {
        if let Some(event_id) = &mut event.event_id {
            *event_id = format!("{}-{event_id}", self.0);
        }
        // Answers may be large, and the library keeps them: they are not copied.
        if let Some(message) = &mut event.message
            && names_a_question(message)
        {
            match Arc::make_mut(message) {
                ServerJsonRpcMessage::Request(asked) => self.put_on(&mut asked.id),
                ServerJsonRpcMessage::Notification(told) => {
                    if let ServerNotification::CancelledNotification(cancelled) =
                        &mut told.notification
                        && let Some(id) = &mut cancelled.params.request_id
                    {
                        self.put_on(id);
                    }
                }
                ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_) => {}
            }
        }
        event
    }

    fn put_on(&self, id: &mut RequestId) {
        *id = RequestId::String(format!("{}-{id}", self.0).into());
    }

    /// The library's id of an event that a client names. `None`: another process has its stream. Of the
    /// stream that belongs to no request every process has one.
    pub(super) fn event_of(&self, last_event_id: &str) -> Option<String> {
        match self.split(last_event_id) {
            None => Some(last_event_id.to_owned()),
            Some((process, event_id)) if process == &*self.0 => Some(event_id.to_owned()),
            Some((_, event_id)) => (!event_id.contains('/')).then(|| "0".to_owned()),
        }
    }

    /// Finds out who waits for a message, and takes this process's name off.
    pub(super) fn sort(&self, mut message: ClientJsonRpcMessage) -> Addressed {
        let id = match &mut message {
            ClientJsonRpcMessage::Response(answer) => Some(&mut answer.id),
            ClientJsonRpcMessage::Error(error) => error.id.as_mut(),
            ClientJsonRpcMessage::Request(_) | ClientJsonRpcMessage::Notification(_) => None,
        };
        let Some(id) = id else {
            return Addressed::Here(message);
        };
        let text = match id {
            RequestId::String(text) => text.clone(),
            RequestId::Number(_) => return Addressed::Here(message),
        };
        match self.split(&text) {
            Some((process, number)) if process == &*self.0 => {
                if let Ok(number) = number.parse() {
                    *id = RequestId::Number(number);
                }
                Addressed::Here(message)
            }
            Some((process, _)) => Addressed::Elsewhere(process.to_owned(), message),
            None => Addressed::Here(message),
        }
    }

    /// The process that a text names, and the rest.
    fn split<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let parts = text.split_once('-')?;
        parts.0.starts_with(PROCESS_PREFIX).then_some(parts)
    }
}

/// Whether a message is a question to the client, or takes one back.
fn names_a_question(message: &ServerJsonRpcMessage) -> bool {
    match message {
        ServerJsonRpcMessage::Request(_) => true,
        ServerJsonRpcMessage::Notification(told) => {
            let told = &told.notification;
            matches!(told, ServerNotification::CancelledNotification(_))
        }
        ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_) => false,
    }
}

/// Hears what other processes have for the sessions of this one, until `stop`.
pub(crate) async fn follow(sessions: Weak<Sessions>, stop: CancellationToken) {
    let mut mark = EventCursor::default();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        let Some(sessions) = sessions.upgrade() else {
            return;
        };
        if sessions.memory().is_empty() {
            continue;
        }
        match sessions
            .gateway
            .identity()
            .read_session_events(&mut mark)
            .await
        {
            Ok(news) => {
                for (id, news) in news {
                    sessions.hear(&id, news).await;
                }
            }
            // The next look finds the same.
            Err(cause) => tracing::debug!(error = %cause, "mcp.session.news_failed"),
        }
    }
}

impl Sessions {
    async fn hear(&self, id: &str, news: SessionEvents) {
        let sealed = self.memory().sealed(id);
        let Some(sealed) = sealed else { return };
        let text = match news {
            SessionEvents::Ended => {
                self.memory().remove(&sealed);
                return self.drop_from_memory(&sealed).await;
            }
            SessionEvents::Message(text) => text,
        };
        let message = serde_json::from_str::<ClientJsonRpcMessage>(&text);
        if let Ok(Addressed::Here(message)) = message.map(|message| self.addresses.sort(message)) {
            // A session that has ended meanwhile waits for nothing.
            let _ = self.inner.accept_message(&sealed, message).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn event(event_id: &str, message: Value) -> ServerSseMessage {
        let message = serde_json::from_value(message).expect("a message of a server");
        ServerSseMessage::new(event_id, message)
    }

    fn question() -> Value {
        json!({ "jsonrpc": "2.0", "id": 3, "method": "roots/list" })
    }

    fn answer(id: Value) -> ClientJsonRpcMessage {
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [] } });
        serde_json::from_value(answer).expect("a message of a client")
    }

    /// Who waits for an answer to the question with this id, and the id that is given to them.
    fn sorted(at: &ProcessTag, id: Value) -> (Option<String>, Value) {
        let (process, message) = match at.sort(answer(id)) {
            Addressed::Here(message) => (None, message),
            Addressed::Elsewhere(process, message) => (Some(process), message),
        };
        let message = serde_json::to_value(message).expect("JSON");
        (process, message["id"].clone())
    }

    #[test]
    fn an_answer_finds_the_process_that_asked() {
        let (one, two) = (ProcessTag::new("prc_1"), ProcessTag::new("prc_2"));
        let asked = one.readdress(event("0/7", question()));
        assert_eq!(asked.event_id.as_deref(), Some("prc_1-0/7"));
        let asked = serde_json::to_value(asked.message.expect("a message")).expect("JSON");
        assert_eq!(asked["id"], "prc_1-3");
        assert_eq!(sorted(&one, asked["id"].clone()), (None, json!(3)));
        let elsewhere = (Some("prc_1".to_owned()), json!("prc_1-3"));
        assert_eq!(sorted(&two, asked["id"].clone()), elsewhere);
        for other in [json!(3), json!("3"), json!("a-3")] {
            assert_eq!(sorted(&one, other.clone()), (None, other));
        }
    }

    #[test]
    fn a_stream_goes_on_where_it_was_and_never_in_another_one() {
        let one = ProcessTag::new("prc_1");
        for (named, goes_on) in [
            ("prc_1-4/7", Some("4/7")),
            ("prc_1-4", Some("4")),
            ("prc_2-4/7", None),
            ("prc_2-4", Some("0")),
            ("0", Some("0")),
        ] {
            assert_eq!(one.event_of(named).as_deref(), goes_on, "{named}");
        }
    }

    #[test]
    fn answers_and_other_news_go_out_as_they_are() {
        let one = ProcessTag::new("prc_1");
        for message in [
            json!({ "jsonrpc": "2.0", "id": 3, "result": {} }),
            json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }),
        ] {
            let sent = one
                .readdress(event("0/7", message.clone()))
                .message
                .expect("a message");
            let sent = serde_json::to_value(sent).expect("JSON");
            assert_eq!(sent, message);
        }
    }
}
