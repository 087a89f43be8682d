//! How often somebody may try a password.

use sha2::{Digest as _, Sha256};

use super::sign_in::Client;
use crate::gateway::{Error, Gateway, RateLimited};
use crate::runtime::inspect::hex;
use crate::store::RateCount;

/// Failed attempts are counted in windows of this length: for one address from one client, from one
/// client, and for one address from everywhere.
const WINDOW_MS: i64 = 15 * 60 * 1_000;
const FAILURES_MAX: i64 = 10;
const CLIENT_FAILURES_MAX: i64 = 60;
const ADDRESS_FAILURES_MAX: i64 = 100;

impl Gateway {
    /// Counts an attempt as failed before it is looked at, so that attempts side by side do not
    /// slip through.
    pub(super) async fn count_attempt(
        &self,
        email: &str,
        client: &Client,
    ) -> Result<Vec<RateCount>, Error> {
        let now_ms = self.clock.now_ms();
        let starts_at_ms = now_ms - now_ms.rem_euclid(WINDOW_MS);
        let from = client
            .address
            .map_or_else(|| "nowhere".to_owned(), |address| address.to_string());
        let of = hex(&Sha256::digest(email.as_bytes()));
        let limits = [
            (format!("sign_in:{of}:{from}"), FAILURES_MAX),
            (format!("sign_in_from:{from}"), CLIENT_FAILURES_MAX),
            (format!("sign_in_of:{of}"), ADDRESS_FAILURES_MAX),
        ];
        let counts: Vec<RateCount> = limits
            .iter()
            .map(|(subject, _)| RateCount {
                subject: subject.clone(),
                span_ms: WINDOW_MS,
                starts_at_ms,
                used: 1,
            })
            .collect();
        let sums = self.store.add_rate_counts(&counts).await?;
        let met = sums
            .iter()
            .zip(&limits)
            .find(|(sum, (_, max))| sum.used > *max);
        match met {
            None => Ok(counts),
            Some((_, (_, max))) => Err(Error::RateLimited(RateLimited {
                window: "quarter_hour",
                limit: max.unsigned_abs(),
                retry_after_s: ((starts_at_ms + WINDOW_MS - now_ms).unsigned_abs()).div_ceil(1_000),
            })),
        }
    }

    pub(super) async fn forgive(&self, counted: Vec<RateCount>) -> Result<(), Error> {
        let back: Vec<RateCount> = counted
            .into_iter()
            .map(|count| RateCount { used: -1, ..count })
            .collect();
        self.store.add_rate_counts(&back).await?;
        Ok(())
    }
}
