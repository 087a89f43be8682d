//! Protocol sessions: what of them is in this process, and how any other process takes them over.
//!
//! A session id is not a credential: every request is authenticated by its key. The id is a sealed box
//! ([`toolgate_gateway::identity::client_sessions`]) that opens for the key, or the client of a member, that opened the session, at the
//! address where it did, and for nobody else, in every process. Here is what the protocol's library keeps of a session in memory: made when it
//! is opened, or anew in a process that it comes to later, from what the client said when it began
//! ([`handshake`]). Neither one key nor all of them fill the memory: past a bound the session that was used
//! longest ago is dropped from it ([`memory`]), and so is one that is idle ([`idle`]); it is made anew on its next
//! request. What a client sends to a process that does not wait for it is handed on ([`relay`]).

pub(crate) mod handshake;
mod idle;
mod memory;
mod relay;
mod requests;
mod restoring;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, InitializeRequestParams, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId,
};

use idle::Leaving;
pub(crate) use idle::forget_idle;
use memory::SessionMemory;
pub(crate) use relay::follow;
use relay::{Addressed, ProcessTag};
pub(crate) use requests::{RequestGuard, Requests};
use restoring::{RestoreTurn, Restoring};
use toolgate_gateway::{Caller, Gateway};

/// Sessions of one key that are in the memory of one process.
const IN_MEMORY_PER_KEY_MAX: usize = 1_000;
/// Sessions of all keys that are in the memory of one process.
const IN_MEMORY_MAX: usize = 5_000;
/// The library ends a session without traffic after this long.
const STILL_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// In an event's id, before the number of the session's stay in memory: the library numbers the streams of each stay
/// from zero.
const STAY_MARK: char = '~';

tokio::task_local! {
    /// The request that is being answered.
    static REQUEST: SessionRequest;
    /// Where the session of the request is not in memory: what the request does to restore it.
    static RESTORATION: Mutex<Option<Restoration>>;
}

/// What the library's callbacks have to know of the request for which they are called.
#[derive(Clone)]
pub(crate) struct SessionRequest {
    pub caller: Caller,
    /// The path of the endpoint that the sessions are for.
    pub endpoint: String,
    /// The database's id of the session in the request's `Mcp-Session-Id`.
    pub session_id: Option<String>,
    /// What the client said, now or when the session began.
    pub handshake: Option<InitializeRequestParams>,
}

/// The sessions of this process.
pub(crate) struct Sessions {
    gateway: Arc<Gateway>,
    inner: LocalSessionManager,
    memory: Mutex<SessionMemory>,
    restoring: Restoring,
    leaving: Leaving,
    requests: Arc<Requests>,
    addresses: ProcessTag,
}

/// A request that restores its session while others of the session wait.
struct Restoration {
    sessions: Arc<Sessions>,
    id: String,
    /// Given up once the handshake is replayed.
    turn: Option<RestoreTurn>,
}

impl Drop for Restoration {
    /// A session whose handshake was not replayed, because the request failed or its client left, is
    /// dropped before the next request restores it.
    fn drop(&mut self) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        let Some(sealed) = self.sessions.memory().sealed(&self.id) else {
            return;
        };
        self.sessions.memory().remove(&sealed);
        let sessions = self.sessions.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                sessions.drop_from_memory(&sealed).await;
                drop(turn);
            });
        }
    }
}

/// Lets the requests that wait for the session of this request go on.
fn finish_restoration() {
    // Outside of a request nothing waits.
    let _ = RESTORATION.try_with(|restoration| {
        let mut restoration = restoration.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(restoration) = restoration.as_mut() {
            restoration.turn = None;
        }
    });
}

type Result<T> = io::Result<T>;

fn failed(cause: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::other(cause)
}

impl Sessions {
    pub(crate) fn open(gateway: Arc<Gateway>, requests: Arc<Requests>) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(STILL_MAX);
        Self {
            addresses: ProcessTag::new(gateway.identity().process_name()),
            gateway,
            inner,
            memory: Mutex::new(SessionMemory::new(IN_MEMORY_PER_KEY_MAX, IN_MEMORY_MAX)),
            restoring: Restoring::default(),
            leaving: Leaving::default(),
            requests,
        }
    }

    /// Answers a request; the library's callbacks are made for it.
    pub(crate) async fn answering<F: Future>(
        self: &Arc<Self>,
        request: SessionRequest,
        answering: F,
    ) -> F::Output {
        let Some(id) = request.session_id.clone() else {
            return REQUEST.scope(request, answering).await;
        };
        let restoration = self.restoration(id).await;
        REQUEST
            .scope(
                request,
                RESTORATION.scope(Mutex::new(restoration), answering),
            )
            .await
    }

    /// Waits while another request restores the session. `None`: it is in memory.
    async fn restoration(self: &Arc<Self>, id: String) -> Option<Restoration> {
        let turn = self.restoring.turn(&id).await;
        let now_ms = self.gateway.clock().now_ms();
        let mut memory = self.memory();
        memory.note_use(&id, now_ms);
        if memory.sealed(&id).is_some() {
            return None;
        }
        Some(Restoration {
            sessions: self.clone(),
            id,
            turn: Some(turn),
        })
    }

    fn memory(&self) -> MutexGuard<'_, SessionMemory> {
        // Every step leaves the table whole, so a panic elsewhere spoils nothing.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a session into memory, where another one makes room for it if need be.
    async fn take_in(
        &self,
        key_id: &str,
        id: &str,
        sealed: SessionId,
    ) -> Result<RestoreOutcome<<LocalSessionManager as SessionManager>::Transport>> {
        loop {
            let oldest = self.memory().take_out_for(key_id);
            let Some(oldest) = oldest else { break };
            self.drop_from_memory(&oldest).await;
        }
        // Before the session is there: no await may separate it from its entry.
        let now_ms = self.gateway.clock().now_ms();
        self.memory().add(key_id, id, &sealed, now_ms);
        self.inner.restore_session(sealed).await.map_err(failed)
    }

    /// A stream to the client, whose session is in use while it is `open`.
    fn readdressed<S: Stream<Item = ServerSseMessage> + Send + Sync + 'static>(
        &self,
        stream: S,
        open: Option<Arc<u64>>,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + use<S> {
        let addresses = self.addresses.clone();
        stream.map(move |event| {
            let mut event = addresses.readdress(event);
            if let (Some(stay), Some(event_id)) = (&open, &mut event.event_id) {
                event_id.push_str(&format!("{STAY_MARK}{stay}"));
            }
            event
        })
    }

    /// The library's id of an event that a client names, if its stream is here. Of the stream that belongs to no request
    /// every stay has one.
    fn event_of(&self, last_event_id: &str, stay: Option<&u64>) -> Option<String> {
        let (event_id, of_stay) = match last_event_id.rsplit_once(STAY_MARK) {
            Some((event_id, number)) => (event_id, number.parse::<u64>().ok()),
            None => (last_event_id, None),
        };
        let ours = self.addresses.event_of(event_id)?;
        if of_stay.is_some() && of_stay.as_ref() == stay {
            return Some(ours);
        }
        (!ours.contains('/')).then(|| "0".to_owned())
    }

    /// Gives a message of the client to the process that waits for it, or to whichever.
    async fn hand_on(
        &self,
        session_id: &str,
        to: Option<&str>,
        message: &ClientJsonRpcMessage,
    ) -> Result<()> {
        let text = serde_json::to_string(message)?;
        let handed_on = self
            .gateway
            .identity()
            .forward_client_message(session_id, to, text);
        handed_on.await.map_err(io::Error::other)
    }

    /// Lets a session go here. Its streams end; where it is still open, it is made anew when it is asked
    /// something.
    async fn drop_from_memory(&self, sealed: &SessionId) {
        if let Err(problem) = self.inner.close_session(sealed).await {
            tracing::warn!(error = %problem, "mcp.session.close_failed");
        }
    }
}

fn request() -> Result<SessionRequest> {
    let request = REQUEST.try_with(Clone::clone);
    request.map_err(|_| io::Error::other("a session was asked for outside of a request"))
}

impl SessionManager for Sessions {
    type Error = io::Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport)> {
        let SessionRequest {
            caller,
            endpoint,
            handshake,
            ..
        } = request()?;
        let handshake = handshake.as_ref().map(handshake::write).unwrap_or_default();
        let opened = self
            .gateway
            .identity()
            .open_client_session(&caller, &endpoint, handshake)
            .await;
        let opened = opened.map_err(|cause| {
            tracing::error!(error = format!("{cause:#}"), "mcp.session.open_failed");
            io::Error::other("the session cannot be kept; try again")
        })?;
        let sealed: SessionId = opened.sealed.into();
        match self
            .take_in(&caller.session_owner(), &opened.id, sealed.clone())
            .await?
        {
            RestoreOutcome::Restored(transport) => Ok((sealed, transport)),
            _ => Err(io::Error::other("a fresh session is there already")),
        }
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage> {
        let answered = self.inner.initialize_session(id, message).await;
        answered.map_err(failed)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool> {
        self.inner.has_session(id).await.map_err(failed)
    }

    /// Asked for a client that ends its session, and by what serves it here however that has ended. The
    /// database is told by [`super::endpoint`], which knows one from the other.
    async fn close_session(&self, id: &SessionId) -> Result<()> {
        if self.leaving.ended(id) {
            return Ok(());
        }
        self.memory().remove(id);
        self.inner.close_session(id).await.map_err(failed)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let open = self.memory().open_stream(id);
        let stream = SessionManager::create_stream(&self.inner, id, message).await;
        Ok(self.readdressed(stream.map_err(failed)?, open))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<()> {
        let Ok(SessionRequest {
            session_id: Some(session_id),
            ..
        }) = request()
        else {
            // The handshake of a session that is made anew.
            return self.inner.accept_message(id, message).await.map_err(failed);
        };
        match self.addresses.sort(message) {
            Addressed::Elsewhere(process, message) => {
                self.hand_on(&session_id, Some(&process), &message).await
            }
            Addressed::Here(message) => {
                let ends_handshake = ends_handshake(&message);
                if let Some(request_id) = cancelled(&message)
                    && !self.requests.is_under_way(&session_id, &request_id)
                {
                    self.hand_on(&session_id, None, &message).await?;
                }
                let accepted = self.inner.accept_message(id, message).await;
                if ends_handshake && accepted.is_ok() {
                    finish_restoration();
                }
                accepted.map_err(failed)
            }
        }
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let open = self.memory().open_stream(id);
        let stream = SessionManager::create_standalone_stream(&self.inner, id).await;
        Ok(self.readdressed(stream.map_err(failed)?, open))
    }

    /// Goes on with a stream of this process. Of one of another process, or of an earlier stay of the session in memory,
    /// nothing is here, so that the stream ends at once, and never holds events of another one.
    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let open = self.memory().open_stream(id);
        let Some(ours) = self.event_of(&last_event_id, open.as_deref()) else {
            return Err(io::Error::other(
                "the stream was one of another process, or of an earlier time",
            ));
        };
        let stream = SessionManager::resume(&self.inner, id, ours).await;
        Ok(self.readdressed(stream.map_err(failed)?, open))
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>> {
        let SessionRequest {
            caller, session_id, ..
        } = request()?;
        let Some(session_id) = session_id else {
            return Ok(RestoreOutcome::NotSupported);
        };
        self.take_in(&caller.session_owner(), &session_id, id).await
    }
}

/// Whether a message is the last one of a handshake. What is sent after it is answered in its order.
fn ends_handshake(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Notification(sent)
        if matches!(sent.notification, ClientNotification::InitializedNotification(_)))
}

/// The request that a message takes back.
fn cancelled(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    let ClientJsonRpcMessage::Notification(sent) = message else {
        return None;
    };
    match &sent.notification {
        ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.clone(),
        _ => None,
    }
}
