//! What refused requests have shown of a connection's credential.
//!
//! Kept in memory of each process. One refused request says nothing of the account: a service refuses what the account
//! may not do with the same 401. What condemns a credential is a check that is refused too, or, where a service has no
//! check, [`RESOURCES_MIN`] different resources that are refused within [`REFUSED_WITHIN_MS`] while none is accepted.
//! A verdict counts for [`CHECK_EVERY_MS`], so that no plugin and no agent can cause more checks than one a minute.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_store::Connection;

/// Different resources whose refusals condemn a credential that cannot be checked.
pub(super) const RESOURCES_MIN: usize = 3;
/// Refusals that are further apart are about different moments.
const REFUSED_WITHIN_MS: i64 = 10 * 60_000;
/// How long the answer to a check counts.
const CHECK_EVERY_MS: i64 = 60_000;
/// Resources that are remembered of one connection.
const RESOURCES_KEPT_MAX: usize = 16;
/// Connections that are remembered; beyond that all are forgotten whose check is not running.
const DOUBTS_MAX: usize = 10_000;

/// The result of a check of the credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckedCredential {
    Accepted,
    Refused,
    /// There is no check, or it has no clear answer.
    Unknown,
}

#[derive(Default)]
pub(super) struct Doubts(Mutex<HashMap<(String, String), Arc<Doubt>>>);

/// What is known of one connection.
#[derive(Default)]
pub(super) struct Doubt {
    /// Its owner checks; calls that wait for it find the answer.
    pub(super) turn: tokio::sync::Mutex<()>,
    findings: Mutex<DoubtFindings>,
}

#[derive(Default)]
struct DoubtFindings {
    generation: i64,
    /// The hash of the resource and when it was refused last.
    refused: Vec<(u64, i64)>,
    checked: Option<(CheckedCredential, i64)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Doubts {
    pub(super) fn of(&self, row: &Connection) -> Arc<Doubt> {
        let mut doubts = locked(&self.0);
        if doubts.len() >= DOUBTS_MAX {
            doubts.retain(|_, doubt| Arc::strong_count(doubt) > 1);
        }
        let key = (row.workspace_id.clone(), row.id.clone());
        doubts.entry(key).or_default().clone()
    }

    /// A request with the credential was accepted: what was refused before was about those requests.
    pub(super) fn accepted(&self, row: &Connection) {
        let doubts = locked(&self.0);
        if doubts.is_empty() {
            return;
        }
        let found = doubts.get(&(row.workspace_id.clone(), row.id.clone()));
        if let Some(doubt) = found {
            locked(&doubt.findings).refused.clear();
        }
    }
}

impl Doubt {
    /// Notes a refused resource, and answers what a check of this minute has said.
    pub(super) fn refused(
        &self,
        generation: i64,
        resource: &str,
        now_ms: i64,
    ) -> Option<CheckedCredential> {
        let mut findings = locked(&self.findings);
        if findings.generation != generation {
            *findings = DoubtFindings {
                generation,
                ..DoubtFindings::default()
            };
        }
        let mut hasher = DefaultHasher::new();
        resource.hash(&mut hasher);
        let resource = hasher.finish();
        findings.refused.retain(|(one, at_ms)| {
            *one != resource && now_ms.saturating_sub(*at_ms) < REFUSED_WITHIN_MS
        });
        if findings.refused.len() < RESOURCES_KEPT_MAX {
            findings.refused.push((resource, now_ms));
        }
        let (checked, at_ms) = findings.checked?;
        (now_ms.saturating_sub(at_ms) < CHECK_EVERY_MS).then_some(checked)
    }

    pub(super) fn checked(&self, checked: CheckedCredential, now_ms: i64) {
        let mut findings = locked(&self.findings);
        findings.checked = Some((checked, now_ms));
        if checked == CheckedCredential::Accepted {
            findings.refused.clear();
        }
    }

    /// Whether so many different resources were refused that nothing else is left.
    pub(super) fn is_certain(&self) -> bool {
        locked(&self.findings).refused.len() >= RESOURCES_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_different_resources_condemn_and_one_often_refused_does_not() {
        let doubt = Doubt::default();
        for _ in 0..10 {
            assert_eq!(doubt.refused(1, "GET /admin", 0), None);
        }
        assert!(!doubt.is_certain());
        doubt.refused(1, "GET /users", 1);
        assert!(!doubt.is_certain());
        doubt.refused(1, "GET /things", 2);
        assert!(doubt.is_certain());
        // Another credential begins anew.
        doubt.refused(2, "GET /things", 3);
        assert!(!doubt.is_certain());
    }

    #[test]
    fn refusals_that_are_far_apart_are_not_added_up() {
        let doubt = Doubt::default();
        doubt.refused(1, "GET /a", 0);
        doubt.refused(1, "GET /b", REFUSED_WITHIN_MS - 1);
        doubt.refused(1, "GET /c", REFUSED_WITHIN_MS);
        assert!(!doubt.is_certain());
    }

    #[test]
    fn a_verdict_counts_for_a_minute() {
        let doubt = Doubt::default();
        doubt.refused(1, "GET /a", 0);
        doubt.checked(CheckedCredential::Accepted, 0);
        let later = |now_ms| doubt.refused(1, "GET /a", now_ms);
        assert_eq!(later(CHECK_EVERY_MS - 1), Some(CheckedCredential::Accepted));
        assert_eq!(later(CHECK_EVERY_MS), None);
    }

    #[test]
    fn an_accepted_check_takes_back_what_was_refused() {
        let doubt = Doubt::default();
        for resource in ["GET /a", "GET /b", "GET /c"] {
            doubt.refused(1, resource, 0);
        }
        doubt.checked(CheckedCredential::Accepted, 0);
        assert!(!doubt.is_certain());
    }
}
