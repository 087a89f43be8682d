//! Issuers of identity assertions that the operator trusts, and their keys.
//!
//! Addresses come from the operator's setting and from the issuer's own description. Both are asked for
//! through egress; where the issuer itself is on a private address, only its own origin is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use jsonwebtoken::jwk::JwkSet;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::origin_and_path;
use crate::Identity;
use crate::config::AssertionIssuer;
use crate::members::oidc::origin;
use toolgate_egress::{DestinationClass, HostRequest};

/// How long keys are used without asking for them again.
const KEYS_FRESH_MS: i64 = 10 * 60 * 1_000;
/// Between two times that keys are asked for because a signature fits none of them.
const KEYS_AGAIN_MS: i64 = 60 * 1_000;
const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
const TIMEOUT: Duration = Duration::from_secs(10);

/// The issuers of the settings.
pub(super) struct TrustedIssuers {
    issuers: Vec<AssertionIssuer>,
    known: Mutex<HashMap<String, IssuerKeys>>,
    /// One asks at a time.
    asking: tokio::sync::Mutex<()>,
}

/// The keys of one issuer.
#[derive(Clone)]
pub(super) struct IssuerKeys {
    /// As it names itself.
    pub(super) issuer: Arc<str>,
    pub(super) keys: Arc<JwkSet>,
    pub(super) read_at_ms: i64,
}

/// What an issuer says of itself (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3).
#[derive(Deserialize)]
struct DescribedIssuer {
    issuer: String,
    jwks_uri: String,
}

impl TrustedIssuers {
    pub(super) fn new(issuers: Vec<AssertionIssuer>) -> Self {
        Self {
            issuers,
            known: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// The trusted issuer of this name, without a trailing slash.
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        let name = name.strip_suffix('/').unwrap_or(name);
        let mut issuers = self.issuers.iter().map(|one| one.issuer.as_str());
        issuers.find(|issuer| *issuer == name)
    }

    /// Whether a trusted issuer speaks for the members of a workspace: it is the operator's, or the workspace's.
    pub(super) fn speaks_for(&self, issuer: &str, workspace: &str) -> bool {
        let entries = self.issuers.iter().filter(|one| one.issuer == issuer);
        entries
            .map(|one| one.workspace.as_deref())
            .any(|named| named.is_none_or(|named| named == workspace))
    }

    fn known(&self, issuer: &str, since_ms: i64) -> Option<IssuerKeys> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = known.get(issuer)?;
        (keys.read_at_ms >= since_ms).then(|| keys.clone())
    }

    fn keep(&self, issuer: &str, keys: IssuerKeys) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(issuer.to_owned(), keys);
    }
}

impl Identity {
    /// The keys of a trusted issuer. `unfitting`: those that were tried in vain, which are asked for again
    /// unless that was a moment ago.
    pub(super) async fn issuer_keys(
        &self,
        issuer: &str,
        unfitting: Option<&IssuerKeys>,
    ) -> anyhow::Result<IssuerKeys> {
        let issuers = &self.apps.issuers;
        let now_ms = self.clock.now_ms();
        let since_ms = match unfitting {
            Some(tried) => (now_ms - KEYS_AGAIN_MS).max(tried.read_at_ms),
            None => now_ms - KEYS_FRESH_MS,
        };
        if let Some(known) = issuers.known(issuer, since_ms) {
            return Ok(known);
        }
        let _turn = issuers.asking.lock().await;
        if let Some(known) = issuers.known(issuer, since_ms) {
            return Ok(known);
        }
        let found = self.describe_issuer(issuer).await?;
        let read = IssuerKeys {
            keys: Arc::new(self.fetch_from(issuer, &found.jwks_uri).await?),
            issuer: found.issuer.into(),
            read_at_ms: now_ms,
        };
        issuers.keep(issuer, read.clone());
        Ok(read)
    }

    async fn describe_issuer(&self, issuer: &str) -> anyhow::Result<DescribedIssuer> {
        let (host, path) = origin_and_path(issuer);
        let oidc = format!("{issuer}/.well-known/openid-configuration");
        let oauth = format!("{host}{}{path}", super::ISSUER_METADATA);
        let found: DescribedIssuer = match self.fetch_from(issuer, &oidc).await {
            Ok(found) => found,
            Err(_) => self.fetch_from(issuer, &oauth).await?,
        };
        let same = found.issuer.strip_suffix('/').unwrap_or(&found.issuer) == issuer;
        anyhow::ensure!(
            same,
            "the issuer in its metadata does not match --id-jag-issuer"
        );
        Ok(found)
    }

    async fn fetch_from<T: DeserializeOwned>(&self, issuer: &str, url: &str) -> anyhow::Result<T> {
        let request = HostRequest {
            method: Method::GET,
            class: DestinationClass::Identity,
            url: url.to_owned(),
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            body: Bytes::new(),
            origins: vec![origin(issuer).to_owned()],
            response_bytes_max: DOCUMENT_BYTES_MAX,
            timeout: TIMEOUT,
        };
        let answer = self.egress.send_for_host(request).await?;
        anyhow::ensure!(answer.status == 200, "it answers {}", answer.status);
        Ok(serde_json::from_slice(&answer.body)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_speaks_for_its_workspaces_or_is_the_operators() {
        let entry = |issuer: &str, workspace: Option<&str>| AssertionIssuer {
            issuer: issuer.to_owned(),
            workspace: workspace.map(str::to_owned),
        };
        let issuers = TrustedIssuers::new(vec![
            entry("https://id.acme.test", Some("acme")),
            entry("https://id.acme.test", Some("acme labs")),
            entry("https://id.operator.test", None),
        ]);
        assert_eq!(
            issuers.find("https://id.acme.test/"),
            Some("https://id.acme.test")
        );
        assert_eq!(issuers.find("https://id.evil.test"), None);
        for (issuer, workspace, expected) in [
            ("https://id.acme.test", "acme", true),
            ("https://id.acme.test", "acme labs", true),
            ("https://id.acme.test", "other", false),
            ("https://id.acme.test", "", false),
            ("https://id.operator.test", "other", true),
            ("https://id.evil.test", "acme", false),
        ] {
            assert_eq!(
                issuers.speaks_for(issuer, workspace),
                expected,
                "{issuer} {workspace}"
            );
        }
    }
}
