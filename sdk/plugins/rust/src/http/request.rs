//! Building and sending one request.

use serde::Serialize;
use serde_json::Value;

use super::address::Address;
pub use super::outgoing::{Body, Method, Outgoing};
use super::problem;
use super::query::{self, QueryValue};
use super::response::Response;
use crate::blob::Blob;
use crate::context::Context;
use crate::error::ToolError;
use crate::host;

/// How much is read of an error response to a download, in bytes.
const PROBLEM_BYTES_MAX: u32 = 64 * 1024;

/// Makes an error of a service's error response, where the general rule does not fit.
pub type ErrorMapper = fn(&Response) -> ToolError;

/// What all requests to one service share.
#[derive(Clone, Debug)]
pub struct Client<'cx> {
    cx: &'cx Context,
    base: String,
    headers: Vec<(String, String)>,
    auth: Option<String>,
    map_error: ErrorMapper,
}

impl Context {
    /// A client that resolves relative addresses against `base`, for example `https://api.example.com`
    /// or `https://{subdomain}.example.com`: the host fills connection parameters in braces.
    pub fn client(&self, base: impl Into<String>) -> Client<'_> {
        Client::new(self, base.into())
    }
}

impl<'cx> Client<'cx> {
    pub(crate) fn new(cx: &'cx Context, base: String) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        let auth = cx.slot().map(str::to_owned);
        Self {
            cx,
            base,
            headers: Vec::new(),
            auth,
            map_error: problem::from_response,
        }
    }

    /// A header of every request.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Reads the service's own error responses.
    #[must_use]
    pub fn errors(mut self, map_error: ErrorMapper) -> Self {
        self.map_error = map_error;
        self
    }

    /// A named slot instead of the one that [`Context::slot`] chose.
    #[must_use]
    pub fn auth(mut self, slot: &str) -> Self {
        self.auth = Some(slot.to_owned());
        self
    }

    /// No credential, even if one is connected.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.auth = None;
        self
    }

    pub fn context(&self) -> &'cx Context {
        self.cx
    }

    pub fn get(&self, address: impl Into<Address>) -> Request<'static> {
        self.request(Method::Get, address)
    }

    pub fn post(&self, address: impl Into<Address>) -> Request<'static> {
        self.request(Method::Post, address)
    }

    pub fn put(&self, address: impl Into<Address>) -> Request<'static> {
        self.request(Method::Put, address)
    }

    pub fn patch(&self, address: impl Into<Address>) -> Request<'static> {
        self.request(Method::Patch, address)
    }

    pub fn delete(&self, address: impl Into<Address>) -> Request<'static> {
        self.request(Method::Delete, address)
    }

    /// `address` is a path below the base, or a whole `https://` URL.
    pub fn request(&self, method: Method, address: impl Into<Address>) -> Request<'static> {
        let (url, fault) = match address.into().0 {
            Ok(path) if path.starts_with("https://") => (path, None),
            Ok(path) => (format!("{}{path}", self.base), None),
            Err(error) => (String::new(), Some(error)),
        };
        Request {
            outgoing: Outgoing {
                method,
                url,
                query: Vec::new(),
                headers: self.headers.clone(),
                body: Body::Empty,
                auth: self.auth.clone(),
                stored: false,
                timeout_ms: None,
                idempotency_key: None,
            },
            map_error: self.map_error,
            fault,
        }
    }
}

/// One request being built. Sending it returns the first fault that was found while building.
#[derive(Debug)]
pub struct Request<'a> {
    outgoing: Outgoing<'a>,
    map_error: ErrorMapper,
    fault: Option<ToolError>,
}

impl<'a> Request<'a> {
    /// A query parameter; an absent option adds nothing, a list repeats the key. A `DELETE` is not
    /// sent with an empty text or list: it would delete what the parameter should have chosen from.
    #[must_use]
    pub fn query(mut self, key: &str, value: impl QueryValue) -> Self {
        self.check_selection(key, value.selects_nothing());
        value.add_to(key, &mut self.outgoing.query);
        self
    }

    /// The fields of a struct as query parameters, each as [`Self::query`] takes it.
    #[must_use]
    pub fn query_fields(mut self, fields: &impl Serialize) -> Self {
        match query::fields_of(fields) {
            Ok(fields) => {
                for (key, value) in &fields {
                    self.check_selection(key, query::selects_nothing(value));
                }
                query::pairs_of(fields, &mut self.outgoing.query);
            }
            Err(fault) => self.fail(fault),
        }
        self
    }

    fn check_selection(&mut self, key: &str, selects_nothing: bool) {
        if selects_nothing && self.outgoing.method == Method::Delete {
            self.fail(ToolError::invalid(
                format!("/{key}"),
                format!("`{key}` is empty: nothing is deleted without saying what"),
            ));
        }
    }

    /// Keeps the first fault; the request is not sent.
    fn fail(&mut self, fault: ToolError) {
        self.fault.get_or_insert(fault);
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.outgoing.headers.push((name.to_owned(), value.into()));
        self
    }

    /// A JSON body.
    #[must_use]
    pub fn json(mut self, body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(bytes) => self.bytes("application/json", bytes),
            Err(error) => {
                self.fail(ToolError::internal(format!(
                    "the body is not JSON: {error}"
                )));
                self
            }
        }
    }

    /// The fields of a struct or JSON object as an `application/x-www-form-urlencoded` body.
    #[must_use]
    pub fn form(mut self, fields: &impl Serialize) -> Self {
        let mut pairs = Vec::new();
        match query::fields_of(fields) {
            Ok(fields) => query::pairs_of(fields, &mut pairs),
            Err(fault) => self.fail(fault),
        }
        let text = query::form_text(&pairs);
        self.bytes("application/x-www-form-urlencoded", text.into_bytes())
    }

    #[must_use]
    pub fn bytes(mut self, media_type: &str, bytes: Vec<u8>) -> Self {
        self.outgoing.body = Body::Bytes(bytes);
        self.header("content-type", media_type)
    }

    /// A body that stays on the host.
    #[must_use]
    pub fn blob(self, media_type: &str, blob: &'a Blob) -> Self {
        let outgoing = Outgoing {
            body: Body::Blob(blob),
            ..self.outgoing
        };
        Request { outgoing, ..self }.header("content-type", media_type)
    }

    /// Keeps the answer's body on the host: [`Response::stored`].
    #[must_use]
    pub fn stored(mut self) -> Self {
        self.outgoing.stored = true;
        self
    }

    #[must_use]
    pub fn timeout_ms(mut self, timeout_ms: u32) -> Self {
        self.outgoing.timeout_ms = Some(timeout_ms);
        self
    }

    /// Lets the host repeat even a POST: the provider recognises the key.
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.outgoing.idempotency_key = Some(key.into());
        self
    }

    /// Makes the error of an error response.
    pub(super) fn error_mapper(&self) -> ErrorMapper {
        self.map_error
    }

    /// Sends; a response of any status is `Ok`.
    pub fn send_any(self) -> Result<Response, ToolError> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        host::send(self.outgoing).map_err(problem::from_failure)
    }

    /// Sends; a response outside 200-299 is an error.
    ///
    /// For several requests that do not depend on each other see [`send_all`].
    pub fn send(self) -> Result<Response, ToolError> {
        let map_error = self.map_error;
        let response = self.send_any()?;
        if response.is_success() {
            Ok(response)
        } else {
            Err(map_error(&response))
        }
    }

    /// Sends and keeps the answer's body on the host as a file; a response outside 200-299 is an error.
    /// Needs the capability `blobs`.
    pub fn download(self) -> Result<Blob, ToolError> {
        let map_error = self.map_error;
        let mut response = self.stored().send_any()?;
        if !response.is_success() {
            if let Some(stored) = &response.stored {
                response.body = stored.read(0, PROBLEM_BYTES_MAX)?;
            }
            return Err(map_error(&response));
        }
        let stored = response.stored.take();
        stored.ok_or_else(|| ToolError::upstream("the provider's answer has no content"))
    }

    /// Sends and reads the JSON answer; an empty one is null.
    pub fn fetch(self) -> Result<Value, ToolError> {
        self.send()?.json()
    }
}

/// Sends several requests at once, as many together as the host allows; answers in their order.
pub fn send_all(requests: Vec<Request<'_>>) -> Vec<Result<Response, ToolError>> {
    let mappers: Vec<ErrorMapper> = requests.iter().map(|request| request.map_error).collect();
    let mut sent = Vec::with_capacity(requests.len());
    for request in requests {
        match request.fault {
            Some(fault) => return mappers.iter().map(|_| Err(fault.clone())).collect(),
            None => sent.push(request.outgoing),
        }
    }
    let answers = host::send_all(sent).into_iter().zip(mappers);
    answers
        .map(|(answer, map_error)| {
            let response = answer.map_err(problem::from_failure)?;
            if response.is_success() {
                Ok(response)
            } else {
                Err(map_error(&response))
            }
        })
        .collect()
}
