//! How often somebody may try a password.
//!
//! Failures are counted for one account from one address, with a wait that grows, and for one address
//! whatever the account. Nothing counts against an account alone: a stranger who fails on purpose
//! locks out the stranger. A device that has signed in before has a count of its own, and so it comes
//! in even where strangers share its address.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::sign_in::Browser;
use crate::{Error, Identity, RateLimited};
use toolgate_core::ids;
use toolgate_operation::RateWindow;
use toolgate_store::{AttemptDecision, Member, RateCount};
use toolgate_vault::{Purpose, Secret};

/// Failures of one address, whatever the account, in a window.
const WINDOW_MS: i64 = 15 * 60 * 1_000;
const CLIENT_FAILURES_MAX: i64 = 60;
/// Failures in a row after which a wait begins (`store/sign_in_attempts.rs`).
const FREE_FAILURES: u64 = 10;
/// After so long without an attempt the failures before count no more.
pub(crate) const FORGOTTEN_AFTER_MS: i64 = 24 * 60 * 60 * 1_000;
/// How long a device is known.
pub const DEVICE_LIFE_MS: i64 = 180 * 24 * 60 * 60 * 1_000;

/// What the cookie of a device says that has signed in.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Device {
    /// Random, so that one device is not another.
    id: String,
    /// SHA-256 of the account's address.
    of: String,
    exp_ms: i64,
}

/// An attempt that is counted as failed until it is forgiven.
#[must_use = "a sign-in that succeeds is forgiven"]
pub(super) struct CountedAttempt {
    subject: String,
    from: Option<RateCount>,
    /// Whether the browser has signed in as this account before.
    pub known: bool,
}

impl Identity {
    /// Counts an attempt as failed before it is looked at, so that attempts side by side do not
    /// slip through.
    pub(super) async fn count_attempt(
        &self,
        email: &str,
        client: &Browser,
    ) -> Result<CountedAttempt, Error> {
        let of = hash(email);
        let device = client.device.as_deref();
        let known = device.and_then(|token| self.known_device(token, &of));
        if let Some(device) = known {
            let subject = format!("device:{}:{of}", device.id);
            return self.count(subject, None, true).await;
        }
        let from = network(client.address);
        let now_ms = self.clock.now_ms();
        let count = RateCount {
            subject: format!("sign_in_from:{from}"),
            span_ms: WINDOW_MS,
            starts_at_ms: now_ms - now_ms.rem_euclid(WINDOW_MS),
            used: 1,
        };
        // A person who signed in from here before is not delayed by the attempts of others from here.
        let was_here = match client.address {
            Some(address) => {
                let address = address.to_string();
                self.store.has_signed_in_from(email, &address).await?
            }
            None => false,
        };
        let sums = self
            .store
            .add_rate_counts(std::slice::from_ref(&count))
            .await?;
        if !was_here && sums.iter().any(|sum| sum.used > CLIENT_FAILURES_MAX) {
            let opens_ms = count.starts_at_ms + WINDOW_MS;
            return Err(limited(
                CLIENT_FAILURES_MAX.unsigned_abs(),
                opens_ms - now_ms,
            ));
        }
        self.count(format!("from:{from}:{of}"), Some(count), false)
            .await
    }

    /// The same for a member who is signed in: nobody else's failures count.
    pub(super) async fn count_own_attempt(
        &self,
        sign_in_id: &str,
    ) -> Result<CountedAttempt, Error> {
        let subject = format!("sign_in:{sign_in_id}");
        self.count(subject, None, true).await
    }

    async fn count(
        &self,
        subject: String,
        from: Option<RateCount>,
        known: bool,
    ) -> Result<CountedAttempt, Error> {
        let now_ms = self.clock.now_ms();
        let counted =
            self.store
                .count_sign_in_attempt(&subject, now_ms, now_ms - FORGOTTEN_AFTER_MS);
        match counted.await? {
            AttemptDecision::Counted => Ok(CountedAttempt {
                subject,
                from,
                known,
            }),
            AttemptDecision::Blocked { until_ms } => Err(limited(FREE_FAILURES, until_ms - now_ms)),
        }
    }

    pub(super) async fn forgive(&self, counted: CountedAttempt) -> Result<(), Error> {
        self.store
            .forgive_sign_in_attempts(&counted.subject)
            .await?;
        if let Some(count) = counted.from {
            let back = RateCount { used: -1, ..count };
            self.store.add_rate_counts(&[back]).await?;
        }
        Ok(())
    }

    fn known_device(&self, token: &str, of: &str) -> Option<Device> {
        let device: Device = self.vault.verified(Purpose::Device, token).ok()?;
        (device.of == of && device.exp_ms > self.clock.now_ms()).then_some(device)
    }

    /// A cookie by which a browser that has signed in is known again.
    pub(super) fn new_device(&self, member: &Member) -> Result<Secret, Error> {
        let device = Device {
            id: ids::hex128("dev"),
            of: hash(&member.email),
            exp_ms: self.clock.now_ms() + DEVICE_LIFE_MS,
        };
        self.vault
            .signed(Purpose::Device, &device)
            .map_err(|cause| Error::Internal(cause.into()))
    }
}

fn limited(limit: u64, wait_ms: i64) -> Error {
    Error::RateLimited(RateLimited {
        window: RateWindow::QuarterHour,
        limit,
        retry_after_s: wait_ms.max(1).unsigned_abs().div_ceil(1_000),
    })
}

fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// The client behind an address: of IPv6 the network, which one customer of a provider has whole.
fn network(address: Option<IpAddr>) -> String {
    match address.map(|address| address.to_canonical()) {
        None => "nowhere".to_owned(),
        Some(IpAddr::V4(address)) => address.to_string(),
        Some(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_customers_addresses_are_one() {
        let of = |text: &str| network(Some(text.parse().unwrap()));
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
