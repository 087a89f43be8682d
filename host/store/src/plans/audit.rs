//! The audit log is read by the index of what it is filtered by, in its order, also where it is long.

use super::{plan, read_pool};
use crate::Store;
use crate::audit::AuditFilter;

#[tokio::test]
async fn each_filter_of_the_audit_log_has_an_index_with_its_order() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let (actor, action) = (Some("member:mem_1"), Some("keys.create"));
    for (actor, action, index) in [
        (None, None, "audit_log_newest (workspace_id=? AND at_ms>"),
        (
            actor,
            None,
            "audit_log_of_actor (workspace_id=? AND actor=? AND at_ms>",
        ),
        (
            None,
            action,
            "audit_log_of_action (workspace_id=? AND action=? AND at_ms>",
        ),
        (
            actor,
            action,
            "audit_log_of_actor_action (workspace_id=? AND actor=? AND action=? AND at_ms>",
        ),
    ] {
        let filter = AuditFilter {
            actor,
            action,
            ..AuditFilter::default()
        };
        let steps = plan(read_pool(&store), filter.statement()).await.unwrap();
        // One step: nothing is sorted behind it.
        let [step] = &steps[..] else {
            panic!("{steps:?}");
        };
        assert!(step.contains(index), "{step}");
    }
}
