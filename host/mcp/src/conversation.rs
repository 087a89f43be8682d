//! One request to an MCP address, from who asks to the answer.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, header};
use rmcp::model::ErrorData;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::accept::{self, AnswerForm};
use super::batch;
use super::cors::Origins;
use super::credentials::EndpointCredentials;
use super::digits::WrittenNumbers;
use super::message::{
    SESSION_HEADER, VERSION_HEADER, already_under_way, is_answer, malformed, no_session,
    request_id_of, unfit_list, unfit_request,
};
use super::server::{McpServer, ToolsetName};
use super::sessions::{RequestGuard, Requests, SessionRequest, Sessions, handshake};
use toolgate_core::ids::is_toolset_name;
use toolgate_core::visible::shown_name;
use toolgate_gateway::identity::client_sessions::ClientSession;
use toolgate_gateway::{Caller, Error, Gateway};
use toolgate_http_kit::BODY_BYTES_MAX;
use toolgate_http_kit::body::{self, BODY_TIMEOUT};
use toolgate_http_kit::client::address_of;
use toolgate_http_kit::envelope::ApiFailure;
use toolgate_http_kit::memory::RequestMemory;

type Protocol = StreamableHttpService<McpServer, Sessions>;

/// What all addresses share.
pub(super) struct Endpoint {
    pub(super) gateway: Arc<Gateway>,
    /// The protocol at the main addresses, and at those of toolsets.
    pub(super) generic: Protocol,
    pub(super) toolsets: Protocol,
    pub(super) sessions: Arc<Sessions>,
    pub(super) requests: Arc<Requests>,
    pub(super) origins: Origins,
    /// Every POST until its answer has left.
    pub(super) calls: TaskTracker,
}

/// The body of a POST, read.
enum PostedBody {
    /// One message, or nothing that a POST would bring.
    Message {
        asked: Option<Bytes>,
        body: Body,
        running: Option<TaskTrackerToken>,
        memory: Option<RequestMemory>,
    },
    /// The messages of a batch are answered one by one.
    Batch(Vec<Bytes>),
    Refused(Response),
}

/// The session that a request names, and its place among the session's running requests.
struct NamedSession {
    session: Option<ClientSession>,
    under_way: Option<Arc<RequestGuard>>,
}

impl Endpoint {
    pub(super) async fn converse(
        &self,
        credentials: &EndpointCredentials,
        request: Request,
        request_id: &str,
    ) -> Result<Response, ApiFailure> {
        let (mut parts, body) = request.into_parts();
        let caller = self.admit(credentials, &parts, request_id).await?;
        let form = AnswerForm::read(&parts.headers);
        let streams = parts.method == Method::GET;
        let Some(form) = form.filter(|form| !streams || *form != AnswerForm::JsonAlone) else {
            return Ok(accept::refusal());
        };
        AnswerForm::write(&mut parts.headers);
        let posted = self.read_body(&caller, &mut parts, body).await?;
        let (asked, body, running, memory) = match posted {
            PostedBody::Message {
                asked,
                body,
                running,
                memory,
            } => (asked, body, running, memory),
            PostedBody::Batch(messages) => {
                let alone = |one| self.converse_alone(credentials, one, request_id);
                return batch::each(&parts, messages, alone).await;
            }
            PostedBody::Refused(answer) => return Ok(answer),
        };
        credentials.check_scope(&caller, asked.as_deref())?;
        if let Some(unfit) = asked.as_deref().and_then(unfit_list) {
            return Ok(unfit);
        }
        let named = self
            .named_session(credentials, &caller, &mut parts, asked.as_deref())
            .await?;
        let NamedSession { session, under_way } = match named {
            Ok(named) => named,
            Err(refused) => return Ok(refused),
        };
        let ends = parts.method == Method::DELETE;
        let stateless = is_stateless(&parts.headers);
        let revoked = self.gateway.clone().revoked(caller.clone());
        let asks = SessionRequest {
            caller: caller.clone(),
            endpoint: credentials.endpoint(),
            session_id: session.as_ref().map(|found| found.id.clone()),
            handshake: match &session {
                Some(found) => handshake::read(&found.handshake),
                None => asked.as_deref().and_then(handshake::parse_initialize),
            },
        };
        let protocol = self.protocol(credentials, caller, &mut parts);
        // Kept apart: what it needs while it runs would travel with every move of this future.
        let answering = protocol.handle(Request::from_parts(parts, body));
        let answer = Box::pin(self.sessions.answering(asks, answering)).await;
        let mut answer = answer.map(Body::new);
        if ends && answer.status() == StatusCode::ACCEPTED {
            if let Some(ended) = &session {
                self.gateway.identity().end_client_session(ended).await?;
            }
            // Nothing is left to do, and clients look for 200 or 204.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        if let Some(refused) = refused_by_library(&answer, asked.as_deref(), stateless) {
            return Ok(refused);
        }
        let answer = held_until_sent(answer, running, under_way, memory);
        let answer = form.apply(until(answer, revoked)).await;
        Ok(accept::with_plain_lines(answer))
    }

    /// Who asks, where they may use the address.
    async fn admit(
        &self,
        credentials: &EndpointCredentials,
        parts: &Parts,
        request_id: &str,
    ) -> Result<Caller, ApiFailure> {
        let toolset = credentials.toolset.as_deref();
        if let Some(name) = toolset.filter(|name| !is_toolset_name(name)) {
            let name = shown_name(name);
            return Err(Error::NotFound(format!("the toolset {name}")).into());
        }
        let address = address_of(&parts.extensions);
        let caller = credentials
            .authenticate(&self.gateway, &parts.headers, request_id, address)
            .await?;
        if let Some(name) = toolset {
            self.gateway.check_toolset(&caller, name).await?;
        }
        Ok(caller)
    }

    async fn read_body(
        &self,
        caller: &Caller,
        parts: &mut Parts,
        body: Body,
    ) -> Result<PostedBody, ApiFailure> {
        if parts.method != Method::POST {
            return Ok(PostedBody::Message {
                asked: None,
                body,
                running: None,
                memory: None,
            });
        }
        let running = Some(self.calls.token());
        if !body::is_json(&parts.headers) {
            return Err(ApiFailure::UnsupportedMediaType);
        }
        let memory = RequestMemory::for_body(self.gateway.body_memory(), &body);
        if let Some(memory) = &memory {
            memory.belongs_to(caller);
        }
        let read = body::read_counted(memory.as_ref(), body, BODY_BYTES_MAX, BODY_TIMEOUT);
        let bytes = read.await?;
        if let Err(problem) = toolgate_core::json::check(&bytes) {
            let sentence = format!("Parse error: {problem}");
            let refused = malformed(ErrorData::parse_error(sentence, None));
            return Ok(PostedBody::Refused(refused));
        }
        match batch::messages(&parts.headers, &bytes) {
            Some(Ok(messages)) => return Ok(PostedBody::Batch(messages)),
            Some(Err(problem)) => return Ok(PostedBody::Refused(malformed(problem))),
            None => {}
        }
        parts.extensions.insert(WrittenNumbers::read(&bytes));
        Ok(PostedBody::Message {
            asked: Some(bytes.clone()),
            body: bytes.into(),
            running,
            memory,
        })
    }

    /// The session that the request names; an answer where it may not be used.
    async fn named_session(
        &self,
        credentials: &EndpointCredentials,
        caller: &Caller,
        parts: &mut Parts,
        asked: Option<&[u8]>,
    ) -> Result<Result<NamedSession, Response>, ApiFailure> {
        let Some(named) = session_of(&parts.headers) else {
            return Ok(Ok(NamedSession {
                session: None,
                under_way: None,
            }));
        };
        let here = credentials.endpoint();
        let identity = self.gateway.identity();
        let Some(session) = identity.client_session(caller, &here, &named).await? else {
            return Ok(Err(no_session()));
        };
        let mut under_way = None;
        if let Some(id) = asked.and_then(request_id_of) {
            let Some(begun) = self.requests.begin(&session.id, &id.to_string()) else {
                return Ok(Err(already_under_way(&id)));
            };
            let begun = Arc::new(begun);
            // The handler holds it as long as it runs, whether the answer is waited for or not.
            parts.extensions.insert(begun.clone());
            under_way = Some(begun);
        }
        Ok(Ok(NamedSession {
            session: Some(session),
            under_way,
        }))
    }

    /// The protocol of the address, which learns the caller and, of a toolset, its name.
    fn protocol(
        &self,
        credentials: &EndpointCredentials,
        caller: Caller,
        parts: &mut Parts,
    ) -> &Protocol {
        // The key has done its work; what follows keeps the headers and may log them.
        parts.headers.remove(header::AUTHORIZATION);
        parts.extensions.insert(caller);
        match &credentials.toolset {
            Some(name) => {
                parts.extensions.insert(ToolsetName(name.clone()));
                &self.toolsets
            }
            None => &self.generic,
        }
    }

    /// For one message of a batch.
    fn converse_alone<'a>(
        &'a self,
        credentials: &'a EndpointCredentials,
        request: Request,
        request_id: &'a str,
    ) -> BoxFuture<'a, Result<Response, ApiFailure>> {
        Box::pin(self.converse(credentials, request, request_id))
    }
}

/// What the library refuses in other words than the protocol has.
fn refused_by_library(
    answer: &Response,
    asked: Option<&[u8]>,
    stateless: bool,
) -> Option<Response> {
    // The type was right, so this is a body that holds no message of the protocol.
    if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        let sentence = "Invalid Request: the body is not one JSON-RPC message of this protocol";
        return Some(malformed(ErrorData::invalid_request(sentence, None)));
    }
    // Of everything that may be wrong with a request, parameters that do not fit are named first:
    // without them the library takes an `initialize` for something that needs a session.
    if answer.status() != StatusCode::BAD_REQUEST {
        return None;
    }
    asked.and_then(|body| unfit_request(body, stateless))
}

/// Whether the request is of 2026-07-28 or later, as its header says.
fn is_stateless(headers: &HeaderMap) -> bool {
    let version = headers.get(&VERSION_HEADER);
    version.is_some_and(|version| version.as_bytes() >= b"2026-07-28".as_slice())
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(&SESSION_HEADER)?;
    Some(String::from_utf8_lossy(id.as_bytes()).into_owned())
}

/// A stream that ends with `revoked`: what was let in with a key goes no further without it.
fn until(answer: Response, revoked: impl Future<Output = ()> + Send + 'static) -> Response {
    if !accept::is_stream(&answer) {
        return answer;
    }
    answer.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(revoked))))
}

/// Counts a call as running until the last event of its stream has left. An answer in one piece
/// needs no such care: the server finishes writing it before it closes.
fn held_until_sent(
    answer: Response,
    running: Option<TaskTrackerToken>,
    under_way: Option<Arc<RequestGuard>>,
    memory: Option<RequestMemory>,
) -> Response {
    match running {
        Some(token) if accept::is_stream(&answer) => answer.map(|body| {
            let mut under_way = under_way;
            Body::from_stream(body.into_data_stream().map(move |event| {
                let _held = (&token, &memory);
                if under_way.is_some() && event.as_deref().is_ok_and(is_answer) {
                    // Before the client can see it and use the id again.
                    under_way = None;
                }
                event
            }))
        }),
        _ => answer,
    }
}
