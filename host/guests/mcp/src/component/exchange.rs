//! The requests of one call: a session where the protocol has them, then `tools/call`, once.
//!
//! The session is kept with the gateway's session where the caller has named one, so that a server with state knows its
//! later calls again; otherwise it is opened for the call and ended after it. A kept session that the server no longer
//! has is opened anew, once. That answer says that the call was not performed, so it is the only case in which a call
//! is sent a second time.

use serde_json::{Map, Value, json};
use toolgate_mcp_wire::message::{PostedMessage, SESSION_HEADER, Speaker, argument_headers};
use toolgate_mcp_wire::reply::{HttpReply, NoResult};
use toolgate_mcp_wire::table::{UpstreamTable, UpstreamTool};
use toolgate_mcp_wire::{STATELESS_VERSION, is_spoken};

use super::{call, egress, kv, of_host};
use crate::fault::{CallFault, FaultKind};

const CLIENT_VERSION: &str = env!("CARGO_PKG_VERSION");
/// Where the session is kept.
const KEPT_KEY: &str = "mcp-session";
/// How long a session is kept after its beginning.
const KEPT_SECONDS: u32 = 30 * 60;
/// Longest id of a session that is used, in bytes.
const SESSION_BYTES_MAX: usize = 1_024;
/// Random bytes of the id of a request.
const ID_BYTES: u32 = 8;
/// What servers answer for a session that they do not know, beside the status 404.
const NO_SESSION_CODES: &[i64] = &[-32000, -32001];

/// One call to one server.
pub(super) struct CallExchange<'a> {
    table: &'a UpstreamTable,
    url: String,
    keeps: bool,
    /// Id of the call; drawn first, so that a dry run and the approved call draw the same.
    id: String,
}

/// A session that the server has agreed to.
struct UpstreamSession {
    /// Absent where the server keeps none.
    id: Option<String>,
    version: String,
}

struct ReceivedAnswer {
    response: egress::Response,
}

impl<'a> CallExchange<'a> {
    pub(super) fn new(table: &'a UpstreamTable, url: String, keeps: bool) -> Self {
        let id = request_id();
        Self {
            table,
            url,
            keeps,
            id,
        }
    }

    /// The result of the call.
    pub(super) fn call(
        &self,
        tool: &UpstreamTool,
        arguments: Map<String, Value>,
    ) -> Result<Value, CallFault> {
        let arguments = Value::Object(arguments);
        if self.table.version == STATELESS_VERSION {
            let session = UpstreamSession {
                id: None,
                version: self.table.version.clone(),
            };
            let received = self.send_call(tool, &arguments, &session)?;
            return received.result(&self.id);
        }
        if let Some(kept) = self.kept()? {
            let received = self.send_call(tool, &arguments, &kept)?;
            match received.read(&self.id) {
                Err(why) if is_lost(&why) => kv::delete(KEPT_KEY).map_err(of_host)?,
                read => return read.map_err(|why| received.fault(why)),
            }
        }
        let session = self.open()?;
        let received = self.send_call(tool, &arguments, &session);
        self.leave(&session)?;
        received?.result(&self.id)
    }

    fn send_call(
        &self,
        tool: &UpstreamTool,
        arguments: &Value,
        session: &UpstreamSession,
    ) -> Result<ReceivedAnswer, CallFault> {
        let mut params = Map::new();
        params.insert("name".to_owned(), tool.name.clone().into());
        params.insert("arguments".to_owned(), arguments.clone());
        // The host reads the notifications of this token while the answer arrives.
        params.insert("_meta".to_owned(), json!({ "progressToken": self.id }));
        let mut posted = session.speaker().request(&self.id, "tools/call", params);
        if session.version == STATELESS_VERSION {
            posted
                .headers
                .extend(argument_headers(&tool.headers, arguments));
        }
        self.post(posted)
    }

    /// The session of an earlier call, of the server that is called now: the operator may have moved the address.
    fn kept(&self) -> Result<Option<UpstreamSession>, CallFault> {
        if !self.keeps {
            return Ok(None);
        }
        let entry = kv::get(KEPT_KEY).map_err(of_host)?;
        let read = |value: Vec<u8>| -> Option<UpstreamSession> {
            let kept: Value = serde_json::from_slice(&value).ok()?;
            let is_of_server = kept["url"].as_str() == Some(&*self.url);
            is_of_server.then_some(UpstreamSession {
                id: Some(kept["id"].as_str()?.to_owned()),
                version: kept["version"].as_str()?.to_owned(),
            })
        };
        Ok(entry.and_then(|entry| read(entry.value)))
    }

    /// `initialize` and `notifications/initialized`.
    fn open(&self) -> Result<UpstreamSession, CallFault> {
        let asked = UpstreamSession {
            id: None,
            version: self.table.version.clone(),
        };
        let id = request_id();
        let received = match self.post(asked.speaker().initialize(&id)) {
            Ok(received) => received,
            // In a dry run nothing leaves, and the call itself is what is shown.
            Err(fault) if fault.kind == FaultKind::Cancelled => return Ok(asked),
            Err(fault) => return Err(fault),
        };
        let result = received.result(&id)?;
        let version = result["protocolVersion"].as_str().unwrap_or_default();
        if !is_spoken(version) || version == STATELESS_VERSION {
            let message = "the server answered the handshake with a version of MCP that this plugin does not speak; build it again";
            return Err(CallFault::new(
                FaultKind::Upstream,
                "protocol_version",
                message,
            ));
        }
        let id = received.header(SESSION_HEADER);
        if id.as_ref().is_some_and(|id| id.len() > SESSION_BYTES_MAX) {
            let message =
                format!("the id of the server's session has more than {SESSION_BYTES_MAX} bytes");
            return Err(CallFault::new(FaultKind::Upstream, "session_id", message));
        }
        let session = UpstreamSession {
            id,
            version: version.to_owned(),
        };
        let noted = self.post(session.speaker().initialized())?;
        match noted.response.status {
            200..=299 => Ok(session),
            status => Err(noted.fault(NoResult::Status(status))),
        }
    }

    /// Keeps the session for later calls, or ends it. That it could not be ended is the server's matter.
    fn leave(&self, session: &UpstreamSession) -> Result<(), CallFault> {
        let Some(id) = &session.id else {
            return Ok(());
        };
        if self.keeps {
            let kept = json!({"id": id, "version": session.version, "url": self.url}).to_string();
            let set = kv::set(KEPT_KEY, kept.as_bytes(), Some(KEPT_SECONDS), None);
            return set.map(|_| ()).map_err(of_host);
        }
        let headers = session.speaker().headers();
        let _ended = egress::send(&self.request(egress::Method::Delete, headers, None));
        Ok(())
    }

    fn post(&self, posted: PostedMessage) -> Result<ReceivedAnswer, CallFault> {
        let request = self.request(egress::Method::Post, posted.headers, Some(posted.body));
        let response = egress::send(&request).map_err(CallFault::of_egress)?;
        Ok(ReceivedAnswer { response })
    }

    fn request(
        &self,
        method: egress::Method,
        headers: Vec<(String, String)>,
        body: Option<String>,
    ) -> egress::Request<'static> {
        egress::Request {
            method,
            url: self.url.clone(),
            query: Vec::new(),
            headers,
            body: body.map_or(egress::Body::Empty, |body| {
                egress::Body::Bytes(body.into_bytes())
            }),
            auth: self.table.slot.clone(),
            mode: egress::ResponseMode::Buffered,
            timeout_ms: None,
            idempotency_key: None,
        }
    }
}

impl UpstreamSession {
    fn speaker(&self) -> Speaker<'_> {
        Speaker {
            version: &self.version,
            client_version: CLIENT_VERSION,
            session: self.id.as_deref(),
        }
    }
}

impl ReceivedAnswer {
    fn header(&self, name: &str) -> Option<String> {
        let mut headers = self.response.headers.iter();
        let found = headers.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone())
    }

    fn read(&self, id: &str) -> Result<Value, NoResult> {
        let content_type = self.header("content-type");
        let reply = HttpReply {
            status: self.response.status,
            content_type: content_type.as_deref(),
            body: &self.response.data,
        };
        reply.result(id)
    }

    fn result(&self, id: &str) -> Result<Value, CallFault> {
        self.read(id).map_err(|why| self.fault(why))
    }

    fn fault(&self, why: NoResult) -> CallFault {
        CallFault::of_answer(why, &|name| self.header(name))
    }
}

/// Whether the server has answered, without performing anything, that it does not know the session.
fn is_lost(why: &NoResult) -> bool {
    match why {
        NoResult::Status(status) => *status == 404,
        NoResult::Rpc { status: 404, .. } => true,
        NoResult::Rpc { status: 400, error } => NO_SESSION_CODES.contains(&error.code),
        NoResult::Rpc { .. } | NoResult::NotMessage(_) | NoResult::StreamCut => false,
    }
}

fn request_id() -> String {
    let bytes = call::random_bytes(ID_BYTES);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
