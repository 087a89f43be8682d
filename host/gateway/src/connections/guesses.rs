//! How many keys and passwords a provider may refuse before nobody may try on.
//!
//! A connect form hands what is entered to the provider and says whether it was accepted: a machine for guessing. Each
//! link ends after some refusals, counted with the link in the database ([`REFUSED_PER_LINK`]). New links are free, so
//! refusals are also counted for the user, the service and the client's network, in the memory of this process. A
//! try is counted as refused before the provider is asked, so that tries side by side do not slip through, and taken
//! back if it was accepted.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolgate_core::client_address::network;

/// Refused credentials after which a link ends.
pub(super) const REFUSED_PER_LINK: i64 = 10;
/// Refused credentials in [`WINDOW_MS`] of one user, to whatever services.
pub(super) const REFUSED_PER_USER: u32 = 20;
/// Of one network, for whatever users of whatever workspaces.
pub(super) const REFUSED_PER_ADDRESS: u32 = 40;
/// Of one service, for all users of a workspace.
pub(super) const REFUSED_PER_SERVICE: u32 = 100;
const WINDOW_MS: i64 = 10 * 60 * 1_000;
/// Users, services and networks that are remembered at one time; those beyond share one count of their kind.
const REMEMBERED_MAX: usize = 20_000;

/// Whose refusals are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Guesser {
    User {
        workspace: String,
        user: String,
    },
    Service {
        workspace: String,
        service: String,
    },
    Network(IpAddr),
    /// Those of a kind that are not remembered one by one.
    OtherUsers,
    OtherServices,
    OtherNetworks,
}

impl Guesser {
    fn refused_max(&self) -> u32 {
        match self {
            Self::User { .. } | Self::OtherUsers => REFUSED_PER_USER,
            Self::Service { .. } | Self::OtherServices => REFUSED_PER_SERVICE,
            Self::Network(_) | Self::OtherNetworks => REFUSED_PER_ADDRESS,
        }
    }

    fn others(&self) -> Self {
        match self {
            Self::User { .. } | Self::OtherUsers => Self::OtherUsers,
            Self::Service { .. } | Self::OtherServices => Self::OtherServices,
            Self::Network(_) | Self::OtherNetworks => Self::OtherNetworks,
        }
    }
}

/// A count of one window.
#[derive(Clone, Copy, Debug, Default)]
struct RefusalWindow {
    starts_at_ms: i64,
    refused: u32,
}

/// Who tries.
#[derive(Clone, Copy, Debug)]
pub(super) struct TryingUser<'a> {
    pub workspace: &'a str,
    pub user: &'a str,
    pub service: &'a str,
    /// Absent where the request came from this process.
    pub address: Option<IpAddr>,
}

/// A try that counts as refused.
#[derive(Debug)]
#[must_use = "a credential that was accepted is taken back"]
pub(super) struct CountedTry(Vec<Guesser>);

#[derive(Debug, Default)]
pub(crate) struct GuessLimits(Mutex<HashMap<Guesser, RefusalWindow>>);

impl GuessLimits {
    /// Counts a try, or answers after how many seconds the next one may be made.
    pub(super) fn begin(&self, of: TryingUser<'_>, now_ms: i64) -> Result<CountedTry, u64> {
        let starts_at_ms = now_ms - now_ms.rem_euclid(WINDOW_MS);
        let named = [
            Some(Guesser::User {
                workspace: of.workspace.to_owned(),
                user: of.user.to_owned(),
            }),
            Some(Guesser::Service {
                workspace: of.workspace.to_owned(),
                service: of.service.to_owned(),
            }),
            of.address.map(|address| Guesser::Network(network(address))),
        ];
        let mut table = self.table();
        if table.len() + named.len() > REMEMBERED_MAX {
            table.retain(|_, window| window.starts_at_ms == starts_at_ms);
        }
        let full = table.len() + named.len() > REMEMBERED_MAX;
        let counted: Vec<Guesser> = named
            .into_iter()
            .flatten()
            .map(|one| match full && !table.contains_key(&one) {
                true => one.others(),
                false => one,
            })
            .collect();
        let spent = |one: &Guesser| {
            table.get(one).is_some_and(|window| {
                window.starts_at_ms == starts_at_ms && window.refused >= one.refused_max()
            })
        };
        if counted.iter().any(spent) {
            let rest_ms = starts_at_ms + WINDOW_MS - now_ms;
            return Err(rest_ms.unsigned_abs().div_ceil(1_000));
        }
        for one in &counted {
            let window = table.entry(one.clone()).or_default();
            if window.starts_at_ms != starts_at_ms {
                *window = RefusalWindow {
                    starts_at_ms,
                    refused: 0,
                };
            }
            window.refused += 1;
        }
        Ok(CountedTry(counted))
    }

    /// Takes a try back that the provider did not refuse.
    pub(super) fn forgive(&self, CountedTry(counted): CountedTry) {
        let mut table = self.table();
        for one in &counted {
            if let Some(window) = table.get_mut(one) {
                window.refused = window.refused.saturating_sub(1);
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Guesser, RefusalWindow>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 10 * WINDOW_MS + 15_000;

    fn of<'a>(user: &'a str, service: &'a str, host: u8) -> TryingUser<'a> {
        TryingUser {
            workspace: "wsp_1",
            user,
            service,
            address: Some(IpAddr::from([192, 0, 2, host])),
        }
    }

    fn refused(limits: &GuessLimits, of: TryingUser<'_>, times: u32) {
        for _ in 0..times {
            let _counted = limits.begin(of, NOW_MS).expect("within the bound");
        }
    }

    #[test]
    fn a_user_an_address_and_a_service_each_have_a_bound() {
        let limits = GuessLimits::default();
        refused(&limits, of("ada", "a", 1), REFUSED_PER_USER);
        assert_eq!(limits.begin(of("ada", "b", 2), NOW_MS).unwrap_err(), 585);
        refused(
            &limits,
            of("bob", "a", 1),
            REFUSED_PER_ADDRESS - REFUSED_PER_USER,
        );
        assert!(limits.begin(of("eve", "b", 1), NOW_MS).is_err(), "address");
        let mut host = 3;
        for n in 0..REFUSED_PER_SERVICE - REFUSED_PER_ADDRESS {
            host += 1;
            refused(&limits, of(&format!("user-{n}"), "a", host), 1);
        }
        assert!(
            limits.begin(of("eve", "a", 250), NOW_MS).is_err(),
            "service"
        );
        assert!(limits.begin(of("eve", "b", 250), NOW_MS).is_ok());
        let later_ms = NOW_MS + WINDOW_MS;
        assert!(limits.begin(of("ada", "a", 1), later_ms).is_ok());
    }

    #[test]
    fn what_was_accepted_does_not_count() {
        let limits = GuessLimits::default();
        for _ in 0..REFUSED_PER_USER * 10 {
            let counted = limits.begin(of("ada", "a", 1), NOW_MS).unwrap();
            limits.forgive(counted);
        }
    }

    #[test]
    fn strangers_beyond_the_memory_are_counted_together() {
        let limits = GuessLimits::default();
        for n in 0..REMEMBERED_MAX {
            let one = TryingUser {
                workspace: "wsp_1",
                user: &format!("user-{n}"),
                service: &format!("service-{n}"),
                address: None,
            };
            if limits.begin(one, NOW_MS).is_err() {
                assert!(limits.table().len() <= REMEMBERED_MAX + 3);
                return;
            }
        }
        panic!("the memory has no bound");
    }
}
