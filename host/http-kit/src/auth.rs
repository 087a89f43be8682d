//! Who is asking: the API key in `Authorization: Bearer <API_KEY>` (RFC 6750, section 2.1).
//!
//! Every handler that takes [`Authenticated`] refuses a request without a valid key, before its
//! body is read. What the key may do is decided by the operations.

use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use http::request::Parts;
use http::{HeaderMap, header};

use super::client::address_of;
use super::envelope::ApiFailure;
use super::layer::RequestId;
use super::memory::RequestMemory;
use toolgate_core::ids;
use toolgate_gateway::{Caller, Error, Gateway};

/// The caller behind the request's key.
pub struct Authenticated(pub Caller);

/// Put into a request by an edge of this process that has authenticated its caller in another way.
/// Nothing that arrives over the network can carry it.
#[derive(Clone)]
pub struct PreAuthenticated(pub Caller);

impl<S> FromRequestParts<S> for Authenticated
where
    S: Send + Sync,
    Arc<Gateway>: FromRef<S>,
{
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiFailure> {
        if let Some(PreAuthenticated(caller)) = parts.extensions.get::<PreAuthenticated>() {
            RequestMemory::note_caller(&parts.extensions, caller);
            return Ok(Self(caller.clone()));
        }
        let key = bearer(&parts.headers)?;
        let request_id = match parts.extensions.get::<RequestId>() {
            Some(RequestId(id)) => id.clone(),
            None => ids::ulid("req"),
        };
        let address = address_of(&parts.extensions);
        let gateway = Arc::<Gateway>::from_ref(state);
        let caller = gateway.authenticate(key, request_id, address).await?;
        RequestMemory::note_caller(&parts.extensions, &caller);
        Ok(Self(caller))
    }
}

/// The key that the headers carry. `None`: there is none in the Bearer scheme.
///
/// A header that repeats, or that is not visible ASCII, is not a valid key.
pub fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Error> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Error::InvalidApiKey);
    }
    let text = value.to_str().map_err(|_| Error::InvalidApiKey)?;
    let (scheme, key) = text.split_once(' ').unwrap_or((text, ""));
    let key = key.trim_matches(' ');
    // RFC 9110, section 11.1: the scheme's name has no case.
    let given = scheme.eq_ignore_ascii_case("bearer") && !key.is_empty();
    Ok(given.then_some(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(values: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_bytes(value).unwrap();
            headers.append(header::AUTHORIZATION, value);
        }
        headers
    }

    #[test]
    fn a_key_is_read_from_the_bearer_scheme_alone() {
        for (value, key) in [
            ("Bearer tg_live_x", Some("tg_live_x")),
            ("bEARER  tg_live_x ", Some("tg_live_x")),
            ("Bearer", None),
            ("Bearer ", None),
            ("Basic dTpw", None),
            ("tg_live_x", None),
            ("", None),
        ] {
            assert_eq!(
                bearer(&headers(&[value.as_bytes()])).unwrap(),
                key,
                "{value:?}"
            );
        }
        assert_eq!(bearer(&HeaderMap::new()).unwrap(), None);
    }

    #[test]
    fn an_ambiguous_or_unreadable_header_is_an_invalid_key() {
        for values in [&[&b"Bearer a"[..], b"Bearer b"][..], &[b"Bearer \xff"]] {
            let refused = bearer(&headers(values)).unwrap_err();
            assert_eq!(refused.code(), "invalid_api_key");
        }
    }
}
