//! What becomes of a good component file: pure, from what is approved and what it asks for.

use serde_json::{Value, json};

use toolgate_catalog::rights::{Difference, Upgrades};
use toolgate_store as store;

/// The next step of a file that has passed inspection.
#[derive(Debug, PartialEq)]
pub(super) enum PluginDecision {
    /// With what it changes about the version that served, all of which goes in by itself.
    Activate(Difference),
    /// It asks for something that was not approved.
    Park(Difference),
    /// Another file provides this service already.
    Conflict { with: String },
}

/// A file that has passed inspection.
pub(super) struct InspectedFile<'a> {
    pub sha256: &'a str,
    /// Its manifest in the normal form.
    pub manifest: &'a Value,
}

/// The file that a person saw last: the first of its service, or one that was approved. Versions that go in by
/// themselves are compared with it too. A row of an earlier build says nothing of it: then it is the one that serves.
pub(crate) fn seen_sha256(row: &store::PluginRow) -> Option<String> {
    let approved: Option<Value> = row
        .approved
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok());
    let seen = approved
        .as_ref()
        .and_then(|approved| approved["seen"].as_str());
    seen.or(row.active_sha256.as_deref()).map(str::to_owned)
}

/// What is kept as approved with a version that starts to serve.
pub(super) fn approved_json(sha256: &str, row: Option<&store::PluginRow>) -> Value {
    let by_itself = row.filter(|row| {
        let served = row.active_sha256.as_deref();
        served.is_some() && row.approve_sha256.as_deref() != Some(sha256)
    });
    let seen = by_itself.and_then(seen_sha256);
    json!({ "sha256": sha256, "seen": seen.as_deref().unwrap_or(sha256) })
}

/// Manifests of earlier versions, in the normal form; without one everything is new.
#[derive(Clone, Copy, Default)]
pub(super) struct EarlierManifests<'a> {
    /// Of the version that a person approved last.
    pub seen: Option<&'a Value>,
    /// Of the version that served last.
    pub served: Option<&'a Value>,
}

/// `row`: what is known of the service. `holder`: the other file of the folder that provides the service.
pub(super) fn decide(
    asks: &InspectedFile<'_>,
    row: Option<&store::PluginRow>,
    earlier: EarlierManifests<'_>,
    holder: Option<&str>,
    upgrades: Upgrades,
) -> PluginDecision {
    if let Some(with) = holder {
        return PluginDecision::Conflict {
            with: with.to_owned(),
        };
    }
    let served = row.and_then(|row| row.active_sha256.as_deref());
    if served.is_none_or(|served| served == asks.sha256) {
        return PluginDecision::Activate(Difference::default());
    }
    let nothing = json!({});
    let difference = Difference::since_approved(
        earlier.seen.unwrap_or(&nothing),
        earlier.served.unwrap_or(&nothing),
        asks.manifest,
        upgrades,
    );
    let shown = row.and_then(|row| row.approve_sha256.as_deref());
    if shown == Some(asks.sha256) || !difference.waits() {
        PluginDecision::Activate(difference)
    } else {
        PluginDecision::Park(difference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_store::PluginState;

    fn manifest(hosts: &[&str]) -> Value {
        json!({ "service": "s", "hosts": hosts })
    }

    fn row(active_sha256: Option<&str>, approve_sha256: Option<&str>) -> store::PluginRow {
        store::PluginRow {
            service: "s".to_owned(),
            state: PluginState::Active,
            reason: None,
            file_name: None,
            active_sha256: active_sha256.map(str::to_owned),
            active_version: None,
            approved: None,
            pending_sha256: None,
            pending_version: None,
            pending_difference: None,
            approve_sha256: approve_sha256.map(str::to_owned),
            approve_requested_at_ms: None,
            updated_at_ms: 0,
        }
    }

    fn decided(
        sha256: &str,
        hosts: &[&str],
        row: Option<&store::PluginRow>,
        approved: Option<&[&str]>,
    ) -> PluginDecision {
        let manifest_of = manifest;
        let (manifest, approved) = (manifest_of(hosts), approved.map(manifest_of));
        let asks = InspectedFile {
            sha256,
            manifest: &manifest,
        };
        let earlier = EarlierManifests {
            seen: approved.as_ref(),
            served: approved.as_ref(),
        };
        decide(&asks, row, earlier, None, Upgrades::Strict)
    }

    #[test]
    fn a_first_file_is_the_operators_grant() {
        let decision = decided("1", &["a.test"], None, None);
        assert_eq!(decision, PluginDecision::Activate(Difference::default()));
    }

    #[test]
    fn an_upgrade_that_asks_for_no_more_goes_in() {
        let row = row(Some("1"), None);
        let decision = decided("2", &["a.test"], Some(&row), Some(&["a.test", "b.test"]));
        assert!(
            matches!(decision, PluginDecision::Activate(_)),
            "{decision:?}"
        );
    }

    #[test]
    fn the_file_that_serves_goes_on_serving_whatever_is_known_of_it() {
        let decision = decided("1", &["a.test"], Some(&row(Some("1"), None)), None);
        assert_eq!(decision, PluginDecision::Activate(Difference::default()));
    }

    #[test]
    fn an_upgrade_waits_until_exactly_it_is_approved() {
        let (old, new) = (["a.test"], ["a.test", "evil.test"]);
        for approved_file in [None, Some("other")] {
            let row = row(Some("1"), approved_file);
            let decision = decided("2", &new, Some(&row), Some(&old));
            assert!(matches!(&decision, PluginDecision::Park(_)), "{decision:?}");
        }
        let decision = decided("2", &new, Some(&row(Some("1"), Some("2"))), Some(&old));
        assert!(
            matches!(decision, PluginDecision::Activate(_)),
            "{decision:?}"
        );
    }

    #[test]
    fn without_the_approved_manifest_every_other_file_waits() {
        let decision = decided("2", &[], Some(&row(Some("1"), None)), None);
        assert!(matches!(decision, PluginDecision::Park(_)), "{decision:?}");
    }

    #[test]
    fn what_a_person_saw_last_is_kept_over_versions_that_go_in_by_themselves() {
        let seen = |approved: Value| approved["seen"].as_str().map(str::to_owned);
        assert_eq!(
            seen(approved_json("1", None)).as_deref(),
            Some("1"),
            "the first file"
        );
        let mut serving = row(Some("1"), None);
        assert_eq!(
            seen(approved_json("2", Some(&serving))).as_deref(),
            Some("1")
        );
        serving.active_sha256 = Some("2".to_owned());
        serving.approved = Some(approved_json("2", Some(&row(Some("1"), None))).to_string());
        assert_eq!(
            seen(approved_json("3", Some(&serving))).as_deref(),
            Some("1")
        );
        serving.approve_sha256 = Some("3".to_owned());
        assert_eq!(
            seen(approved_json("3", Some(&serving))).as_deref(),
            Some("3")
        );
    }

    #[test]
    fn the_second_file_of_a_service_is_a_conflict() {
        let manifest = manifest(&[]);
        let asks = InspectedFile {
            sha256: "2",
            manifest: &manifest,
        };
        let earlier = EarlierManifests::default();
        let decision = decide(&asks, None, earlier, Some("first.wasm"), Upgrades::Strict);
        assert_eq!(
            decision,
            PluginDecision::Conflict {
                with: "first.wasm".to_owned()
            }
        );
    }
}
