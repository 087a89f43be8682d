//! Requests to a server while its plugin is built: bounded in bytes, requests and time.
//!
//! They go out as the host's own requests do, under the same address policy: a public https name, or the origin that
//! the operator named. Redirects are not followed.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::address::RemoteAddress;
use toolgate_egress::{DestinationClass, Egress, HostRequest, HostResponse};
use toolgate_mcp_wire::message::{PostedMessage, Speaker};
use toolgate_mcp_wire::reply::{HttpReply, NoResult};
use toolgate_vault::Secret;

/// Largest answer, in bytes.
pub const ANSWER_BYTES_MAX: usize = 8 << 20;
/// All answers of one build, in bytes.
pub const ALL_BYTES_MAX: usize = 32 << 20;
/// Longest wait for one answer.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(20);
/// How long a build may ask a server.
pub const BUILD_TIME_MAX: Duration = Duration::from_secs(120);

/// Why a server said nothing that can be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ServerProblem {
    #[error("{0}")]
    Unreachable(String),
    #[error(
        "the server asks for a sign-in: give a token for building in a file (--token-file), or a saved `tools/list` (--tools)"
    )]
    SignIn { challenge: Option<String> },
    #[error("{0}")]
    Answer(String),
    #[error("the server's answers have more than {ALL_BYTES_MAX} bytes in all")]
    TooLarge,
    #[error("the server took longer than {} seconds in all", BUILD_TIME_MAX.as_secs())]
    TooLong,
}

/// What a build asks with.
pub struct ServerClient<'a> {
    egress: &'a Egress,
    address: RemoteAddress,
    /// Sent to the address alone. Of a registration, that is the authorization server's.
    token: Option<Secret>,
    token_header: String,
    deadline: Instant,
    bytes_left: usize,
}

impl<'a> ServerClient<'a> {
    /// `header`: where the token goes; as a bearer token where it is `authorization`.
    pub fn new(
        egress: &'a Egress,
        address: RemoteAddress,
        token: Option<Secret>,
        header: &str,
    ) -> Self {
        Self {
            egress,
            address,
            token,
            token_header: header.to_ascii_lowercase(),
            deadline: Instant::now() + BUILD_TIME_MAX,
            bytes_left: ALL_BYTES_MAX,
        }
    }

    pub fn address(&self) -> &RemoteAddress {
        &self.address
    }

    /// The result of a request, and the headers of its answer.
    pub(super) async fn ask(
        &mut self,
        posted: PostedMessage,
        id: &str,
    ) -> Result<(Result<Value, NoResult>, http::HeaderMap), ServerProblem> {
        let answer = self.post(posted).await?;
        let content_type = text_header(&answer.headers, "content-type");
        let reply = HttpReply {
            status: answer.status,
            content_type: content_type.as_deref(),
            body: &answer.body,
        };
        Ok((reply.result(id), answer.headers))
    }

    /// Posts a message. A refused credential is an error of its own.
    pub(super) async fn post(
        &mut self,
        posted: PostedMessage,
    ) -> Result<HostResponse, ServerProblem> {
        let body = Bytes::from(posted.body);
        let answer = self.ask_server(Method::POST, posted.headers, body).await?;
        if answer.status == 401 {
            let challenge = text_header(&answer.headers, "www-authenticate");
            return Err(ServerProblem::SignIn { challenge });
        }
        Ok(answer)
    }

    /// Ends a session. That it could not be ended is the server's matter.
    pub(super) async fn end(&mut self, speaker: &Speaker<'_>) {
        if speaker.session.is_some() {
            let headers = speaker.headers();
            let _ended = self.ask_server(Method::DELETE, headers, Bytes::new()).await;
        }
    }

    /// What an authorization server, or the server, says of itself at an address. `None`: nothing is there.
    pub(super) async fn document(
        &mut self,
        url: &str,
    ) -> Result<Option<Map<String, Value>>, ServerProblem> {
        let headers = vec![("accept".to_owned(), "application/json".to_owned())];
        let answer = self
            .send(Method::GET, url.to_owned(), headers, Bytes::new())
            .await?;
        match answer.status {
            200 => {}
            300..=399 => {
                return Err(ServerProblem::Answer(format!(
                    "{url} redirects elsewhere, which is not followed"
                )));
            }
            _ => return Ok(None),
        }
        if toolgate_core::json::check(&answer.body).is_err() {
            return Ok(None);
        }
        Ok(serde_json::from_slice(&answer.body).ok())
    }

    /// Posts a JSON document to an authorization server, with the token of this client where it has one.
    pub(super) async fn post_document(
        &mut self,
        url: &str,
        body: Bytes,
    ) -> Result<HostResponse, ServerProblem> {
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "application/json".to_owned()),
        ];
        let own = url::Url::parse(url).is_ok_and(|url| url.origin() == self.address.url().origin());
        if let Some(token) = self.token.as_ref().filter(|_| own) {
            headers.push((
                "authorization".to_owned(),
                format!("Bearer {}", token.expose()),
            ));
        }
        self.send(Method::POST, url.to_owned(), headers, body).await
    }

    async fn ask_server(
        &mut self,
        method: Method,
        mut headers: Vec<(String, String)>,
        body: Bytes,
    ) -> Result<HostResponse, ServerProblem> {
        if let Some(token) = &self.token {
            let value = match self.token_header.as_str() {
                "authorization" => format!("Bearer {}", token.expose()),
                _ => token.expose().to_owned(),
            };
            headers.push((self.token_header.clone(), value));
        }
        let url = self.address.url().to_string();
        self.send(method, url, headers, body).await
    }

    async fn send(
        &mut self,
        method: Method,
        url: String,
        headers: Vec<(String, String)>,
        body: Bytes,
    ) -> Result<HostResponse, ServerProblem> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ServerProblem::TooLong);
        }
        if self.bytes_left == 0 {
            return Err(ServerProblem::TooLarge);
        }
        let request = HostRequest {
            method,
            class: DestinationClass::Provider,
            url,
            headers,
            body,
            origins: match self.address.is_setting() {
                true => vec![self.address.origin()],
                false => Vec::new(),
            },
            response_bytes_max: ANSWER_BYTES_MAX.min(self.bytes_left),
            timeout: REQUEST_TIME_MAX.min(left),
        };
        let sent = self.egress.send_for_host(request).await;
        let answer = sent.map_err(|failure| ServerProblem::Unreachable(failure.message))?;
        self.bytes_left = self.bytes_left.saturating_sub(answer.body.len());
        Ok(answer)
    }
}

/// A header that is text.
pub(super) fn text_header(headers: &http::HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
