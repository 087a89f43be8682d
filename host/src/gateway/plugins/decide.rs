//! What becomes of a good component file: pure, from what is approved and what it asks for.

use crate::catalog::rights::{Rights, Widening, widened};
use crate::store;

/// The next step of a file that has passed inspection.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    Activate,
    /// It asks for more than was approved.
    Park(Widening),
    /// Another file provides this service already.
    Conflict {
        with: String,
    },
}

/// `row`: what is known of the service. `holder`: the other file of the folder that provides it.
pub(super) fn decide(
    sha256: &str,
    asks: &Rights,
    row: Option<&store::Plugin>,
    holder: Option<&str>,
) -> Decision {
    if let Some(with) = holder {
        return Decision::Conflict {
            with: with.to_owned(),
        };
    }
    let Some(row) = row else {
        return Decision::Activate;
    };
    if row.approve_sha256.as_deref() == Some(sha256) {
        return Decision::Activate;
    }
    // Rights that cannot be read back are no rights.
    let approved = row
        .approved
        .as_deref()
        .map(|json| serde_json::from_str::<Rights>(json).unwrap_or_default());
    match approved.and_then(|approved| widened(&approved, asks)) {
        Some(difference) => Decision::Park(difference),
        None => Decision::Activate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::PluginState;

    fn rights(hosts: &[&str]) -> Rights {
        Rights {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..Rights::default()
        }
    }

    fn row(approved: Option<&Rights>, approve_sha256: Option<&str>) -> store::Plugin {
        store::Plugin {
            service: "s".to_owned(),
            state: PluginState::Active,
            reason: None,
            file_name: None,
            active_sha256: None,
            active_version: None,
            approved: approved.map(|rights| serde_json::to_string(rights).expect("serialises")),
            pending_sha256: None,
            pending_version: None,
            pending_difference: None,
            approve_sha256: approve_sha256.map(str::to_owned),
            approve_requested_at_ms: None,
            updated_at_ms: 0,
        }
    }

    #[test]
    fn a_first_file_is_the_operators_grant() {
        assert_eq!(
            decide("1", &rights(&["a.test"]), None, None),
            Decision::Activate
        );
    }

    #[test]
    fn an_upgrade_that_asks_for_no_more_goes_in() {
        let old = rights(&["a.test", "b.test"]);
        assert_eq!(
            decide(
                "2",
                &rights(&["a.test"]),
                Some(&row(Some(&old), None)),
                None
            ),
            Decision::Activate
        );
    }

    #[test]
    fn an_upgrade_that_widens_waits_until_exactly_it_is_approved() {
        let (old, new) = (rights(&["a.test"]), rights(&["a.test", "evil.test"]));
        for approved_file in [None, Some("other")] {
            let decision = decide("2", &new, Some(&row(Some(&old), approved_file)), None);
            assert!(matches!(&decision, Decision::Park(_)), "{decision:?}");
        }
        assert_eq!(
            decide("2", &new, Some(&row(Some(&old), Some("2"))), None),
            Decision::Activate
        );
    }

    #[test]
    fn the_second_file_of_a_service_is_a_conflict() {
        let decision = decide("2", &rights(&[]), None, Some("first.wasm"));
        assert_eq!(
            decision,
            Decision::Conflict {
                with: "first.wasm".to_owned()
            }
        );
    }
}
