//! The browser at the other end, as the gateway wants to know it.

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{Extensions, HeaderMap, header};

use super::cookies;
use toolgate_core::ids;
use toolgate_gateway::identity::members::sign_in::Browser;
use toolgate_http_kit::client::address_of;
use toolgate_http_kit::envelope::ApiFailure;
use toolgate_http_kit::layer::RequestId;

/// [`Browser`], for a handler.
pub(super) struct RequestBrowser(pub Browser);

impl<S: Send + Sync> FromRequestParts<S> for RequestBrowser {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiFailure> {
        Ok(Self(client_of(&parts.headers, &parts.extensions)))
    }
}

pub(super) fn client_of(headers: &HeaderMap, extensions: &Extensions) -> Browser {
    let request_id = match extensions.get::<RequestId>() {
        Some(RequestId(id)) => id.clone(),
        None => ids::ulid("req"),
    };
    Browser {
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
