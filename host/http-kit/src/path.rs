//! The variable parts of a route, percent-decoded and checked.

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;

use super::envelope::ApiFailure;
use super::ids;

/// The values of a route's `N` variable segments, in the template's order, each fit to be an
/// identifier.
pub struct Segments<const N: usize>(pub [String; N]);

impl<S: Send + Sync, const N: usize> FromRequestParts<S> for Segments<N> {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiFailure> {
        let not_utf8 = |_| ApiFailure::Request {
            field: None,
            message: "the path is not UTF-8 once percent-decoded".to_owned(),
            hint: None,
        };
        let raw = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(not_utf8)?;
        let mut values = Vec::with_capacity(N);
        for (name, value) in &raw {
            ids::check(name, value)?;
            values.push(value.to_owned());
        }
        let values = values
            .try_into()
            .expect("N is the number of segments in the template");
        Ok(Self(values))
    }
}
