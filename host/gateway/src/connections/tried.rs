//! A credential that is tried before it is stored: under the plugin's own rights, in a few requests that
//! leave a receipt.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::credential::OpenCredential;
use super::known::secrets_of;
use super::lend::{injection, is_secret, may_receive};
use super::requests::HostRequests;
use super::{Error, slot_of};
use crate::connections::services;
use crate::plugins::ServingPlugin;
use toolgate_catalog::manifest::{Manifest, Slot};
use toolgate_egress::{
    CallLimits, CallScope, CredentialVerdict, Credentials, Declarations, EgressFailure, Exposure,
    FailureKind, Injection, LearnedSecrets, Mode, Scrubber,
};

/// A person waits for the answer.
pub(super) const TRY_TIMEOUT: Duration = Duration::from_secs(10);
const REQUESTS_MAX: usize = 5;

/// What somebody has just entered or been given.
pub(super) struct CandidateCredential<'a> {
    pub serving: &'a ServingPlugin,
    pub slot: &'a Slot,
    pub settings: &'a BTreeMap<String, String>,
    pub parameters: &'a BTreeMap<String, String>,
    pub credential: &'a OpenCredential,
    /// The receipt of what is sent.
    pub requests: Arc<HostRequests>,
    /// What has come back of the user's credentials; a key may be tried many times.
    pub exposure: Arc<Exposure>,
}

impl CandidateCredential<'_> {
    pub(super) fn limits() -> CallLimits {
        CallLimits {
            requests_max: REQUESTS_MAX,
            timeout: TRY_TIMEOUT,
            ..CallLimits::default()
        }
    }

    /// The rights and the record of one try, and what the provider says of the credential.
    pub(super) fn scope(&self) -> Result<(CallScope, Arc<HeardVerdicts>), Error> {
        let heard = Arc::new(HeardVerdicts::default());
        let unstored = UnstoredCredential {
            manifest: self.serving.manifest.clone(),
            slot: self.slot.slot.clone(),
            settings: self.settings.clone(),
            parameters: self.parameters.clone(),
            credential: self.credential.clone(),
            heard: heard.clone(),
        };
        let scope = CallScope::new(
            services::grant(self.serving, self.settings)?,
            self.parameters.clone(),
            Arc::new(unstored),
            Self::limits(),
            Mode::Live,
        )
        .with_declarations(Declarations::new(self.serving.manifest.clone()))
        .knowing(self.scrubber())
        .with_journal(self.requests.clone());
        Ok((scope, heard))
    }

    /// Finds the credential in what comes back.
    pub(super) fn scrubber(&self) -> Scrubber {
        Scrubber::knowing(vec![self.learned()]).counted_by(Some(self.exposure.clone()))
    }

    fn learned(&self) -> Arc<LearnedSecrets> {
        let learned = Arc::new(LearnedSecrets::default());
        let secrets = secrets_of(
            Some(self.slot),
            self.credential,
            self.parameters,
            &self.serving.manifest,
        );
        learned.learn(secrets.iter().map(|secret| secret.expose().as_bytes()));
        learned
    }
}

/// What the answers to requests with one credential said of it.
#[derive(Debug, Default)]
pub(super) struct HeardVerdicts {
    accepted: AtomicBool,
    refused: AtomicBool,
}

impl HeardVerdicts {
    pub(super) fn accepted(&self) -> bool {
        self.accepted.load(Ordering::Relaxed)
    }

    pub(super) fn refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }
}

/// A credential that is not stored yet.
struct UnstoredCredential {
    manifest: Arc<Manifest>,
    slot: String,
    settings: BTreeMap<String, String>,
    parameters: BTreeMap<String, String>,
    credential: OpenCredential,
    heard: Arc<HeardVerdicts>,
}

impl Credentials for UnstoredCredential {
    fn fetch<'a>(
        &'a self,
        name: &'a str,
        _rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, EgressFailure>> {
        let slot = slot_of(&self.manifest, name).filter(|slot| slot.slot == self.slot);
        let result = match slot {
            Some(slot) => Ok(injection(
                slot,
                &self.parameters,
                &self.manifest,
                &self.settings,
                self.credential.clone(),
                1,
            )),
            None => Err(EgressFailure {
                kind: FailureKind::AuthRequired,
                message: "another slot is being connected".to_owned(),
                sent: false,
            }),
        };
        std::future::ready(result).boxed()
    }

    fn judged(&self, _: &str, _: u64, _: &str, verdict: &CredentialVerdict) {
        match verdict {
            CredentialVerdict::Accepted => self.heard.accepted.store(true, Ordering::Relaxed),
            CredentialVerdict::Refused { .. } => self.heard.refused.store(true, Ordering::Relaxed),
            CredentialVerdict::ScopeMissing(_) | CredentialVerdict::Unclear => {}
        }
    }

    fn connected(&self, slot: &str) -> bool {
        slot == self.slot
    }

    fn slot_for_origin(&self, origin: &str) -> Option<String> {
        let slot = slot_of(&self.manifest, &self.slot)?;
        let (parameters, manifest, settings) = (&self.parameters, &self.manifest, &self.settings);
        may_receive(origin, slot, parameters, manifest, settings).then(|| self.slot.clone())
    }

    fn is_secret(&self, slot: &str, field: &str) -> bool {
        is_secret(slot_of(&self.manifest, slot), field)
    }
}
