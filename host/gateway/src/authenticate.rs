//! From a credential to a caller. Who it is says [`Identity`](toolgate_identity::Identity); the settings of services
//! that any process has changed since are read here, so that the operation that follows sees them.

use std::net::IpAddr;

use crate::identity::members::enter::AuthenticatedMember;
use crate::{Caller, Error, Gateway};

impl Gateway {
    /// The caller behind a bearer token. `request_id`: `req_<ULID>`, for the answer and the log.
    ///
    /// # Errors
    /// As of [`Identity::authenticate`](toolgate_identity::Identity::authenticate).
    pub async fn authenticate(
        &self,
        bearer: Option<&str>,
        request_id: String,
        address: Option<IpAddr>,
    ) -> Result<Caller, Error> {
        let caller = self.identity.authenticate(bearer, request_id, address);
        self.with_settings(caller.await?).await
    }

    /// The caller behind an access token, at the endpoint whose address is `resource`.
    ///
    /// # Errors
    /// As of [`Identity::authenticate_app`](toolgate_identity::Identity::authenticate_app).
    pub async fn authenticate_app(
        &self,
        token: &str,
        resource: &str,
        request_id: String,
        address: Option<IpAddr>,
    ) -> Result<Caller, Error> {
        let identity = &self.identity;
        let caller = identity.authenticate_app(token, resource, request_id, address);
        self.with_settings(caller.await?).await
    }

    /// The member behind a JWT.
    ///
    /// # Errors
    /// As of [`Identity::authenticate_member`](toolgate_identity::Identity::authenticate_member).
    pub async fn authenticate_member(
        &self,
        jwt: Option<&str>,
        request_id: String,
        address: Option<IpAddr>,
    ) -> Result<AuthenticatedMember, Error> {
        let member = self.identity.authenticate_member(jwt, request_id, address);
        let AuthenticatedMember { caller, sign_in_id } = member.await?;
        Ok(AuthenticatedMember {
            caller: self.with_settings(caller).await?,
            sign_in_id,
        })
    }

    async fn with_settings(&self, caller: Caller) -> Result<Caller, Error> {
        self.services.refresh(&self.store, caller.changes).await?;
        Ok(caller)
    }
}
