//! A request as the host gets it.

use crate::blob::Blob;

/// The methods of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl Method {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }
}

/// What a request carries.
#[derive(Debug, Default)]
pub enum Body<'a> {
    #[default]
    Empty,
    Bytes(Vec<u8>),
    /// Sent by the host; never in guest memory.
    Blob(&'a Blob),
}

/// A request as the host gets it.
#[derive(Debug)]
pub struct Outgoing<'a> {
    pub method: Method,
    pub url: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Body<'a>,
    pub auth: Option<String>,
    /// Keep the answer's body on the host, as a blob.
    pub stored: bool,
    pub timeout_ms: Option<u32>,
    pub idempotency_key: Option<String>,
}
