//! What strangers do, counted by address and minute in the memory of this process: it costs no write.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use super::{COUNTED_MAX, MINUTE_MS};
use crate::{Error, RateLimited, RateWindow};
use toolgate_core::client_address::network;

/// Counts by network: the minute, and how often in it.
#[derive(Default)]
pub struct PerAddress(Mutex<HashMap<IpAddr, (i64, u32)>>);

impl PerAddress {
    /// Counts one more. Without an address nothing is counted: the request came from this process.
    pub fn count(&self, address: Option<IpAddr>, now_ms: i64) {
        let Some(address) = address else { return };
        let minute = now_ms.div_euclid(MINUTE_MS);
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= COUNTED_MAX {
            counted.retain(|_, (at, _)| *at == minute);
        }
        if counted.len() >= COUNTED_MAX && !counted.contains_key(&network(address)) {
            return;
        }
        let (at, times) = counted.entry(network(address)).or_default();
        if *at != minute {
            (*at, *times) = (minute, 0);
        }
        *times = times.saturating_add(1);
    }

    /// Refuses an address that was counted `per_minute` times in this minute.
    pub fn check(
        &self,
        address: Option<IpAddr>,
        per_minute: u32,
        now_ms: i64,
    ) -> Result<(), Error> {
        let Some(address) = address else {
            return Ok(());
        };
        let minute = now_ms.div_euclid(MINUTE_MS);
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counted.get(&network(address)) {
            Some((at, times)) if *at == minute && *times >= per_minute => {
                let rest_ms = MINUTE_MS - now_ms.rem_euclid(MINUTE_MS);
                Err(Error::RateLimited(RateLimited {
                    window: RateWindow::Minute,
                    limit: u64::from(per_minute),
                    retry_after_s: rest_ms.unsigned_abs().div_ceil(1_000),
                }))
            }
            _ => Ok(()),
        }
    }

    /// Counts one more, unless the address has been counted `per_minute` times in this minute.
    pub fn take(&self, address: Option<IpAddr>, per_minute: u32, now_ms: i64) -> Result<(), Error> {
        self.check(address, per_minute, now_ms)?;
        self.count(address, now_ms);
        Ok(())
    }
}
