//! The browser at the other end, as the gateway wants to know it.

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{Extensions, HeaderMap, header};

use super::cookies;
use toolgate_core::ids;
use toolgate_gateway::identity::members::sign_in::Client;
use toolgate_http_kit::client::address_of;
use toolgate_http_kit::envelope::Failure;
use toolgate_http_kit::layer::RequestId;

/// [`Client`], for a handler.
pub(super) struct From(pub Client);

impl<S: Send + Sync> FromRequestParts<S> for From {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(client_of(&parts.headers, &parts.extensions)))
    }
}

pub(super) fn client_of(headers: &HeaderMap, extensions: &Extensions) -> Client {
    let request_id = match extensions.get::<RequestId>() {
        Some(RequestId(id)) => id.clone(),
        None => ids::ulid("req"),
    };
    Client {
        request_id,
        address: address_of(extensions),
        user_agent: headers
            .get(header::USER_AGENT)
            .and_then(|text| text.to_str().ok())
            .map(str::to_owned),
        // Signed, so that its name says nothing.
        device: [true, false]
            .into_iter()
            .find_map(|secure| cookies::read(headers, cookies::DEVICE_COOKIE, secure)),
    }
}
