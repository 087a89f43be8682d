//! The commands that list, show and act on what a workspace has.

use super::{document, person, said, served};

#[tokio::test]
async fn a_person_lists_connections_approvals_and_webhooks_and_acts_on_them() {
    let (_folder, _child, base, key) = served().await;
    let run = async |arguments: &[&str]| person(arguments, &base, &key).await;
    let connections = run(&["connections", "list"]).await;
    assert!(
        said(&connections).contains("toolgate connect SERVICE"),
        "{connections:?}"
    );
    // The first key of a start may not decide for people.
    let approvals = run(&["approvals", "list", "--status", "pending"]).await;
    assert_eq!(approvals.status.code(), Some(3), "{approvals:?}");
    assert!(
        said(&approvals).contains("lacks the scope approvals"),
        "{approvals:?}"
    );
    for absent in [
        ["connections", "delete", "con_absent"],
        ["approvals", "approve", "apr_absent"],
        ["executions", "show", "exe_absent"],
        ["webhooks", "test", "whk_absent"],
        ["triggers", "show", "trg_absent"],
        ["triggers", "test", "trg_absent"],
        ["triggers", "resume", "trg_absent"],
    ] {
        let refused = run(&absent).await;
        assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    }

    let made = run(&[
        "webhooks",
        "create",
        "https://app.example.com/toolgate",
        "--events",
        "tool.*,skill.created",
        "--json",
    ])
    .await;
    let made = document(&made);
    assert!(
        made["secret"].as_str().unwrap().starts_with("whsec_"),
        "{made}"
    );
    let id = made["webhook_id"].as_str().unwrap();
    let list = run(&["webhooks", "list"]).await;
    assert!(said(&list).contains("tool.*,skill.created"), "{list:?}");
    assert!(!said(&list).contains("whsec_"), "{list:?}");
    let tested = run(&["webhooks", "test", id]).await;
    assert!(tested.status.success(), "{tested:?}");
    let sent = run(&["webhooks", "deliveries", id]).await;
    assert!(said(&sent).contains("webhook.test"), "{sent:?}");
    let resumed = document(&run(&["webhooks", "resume", id, "--json"]).await);
    assert_eq!(resumed["enabled"], true, "{resumed}");
    assert!(resumed["paused_until"].is_null(), "{resumed}");
    let off = document(&run(&["webhooks", "disable", id, "--json"]).await);
    assert_eq!(off["enabled"], false, "{off}");
    assert!(run(&["webhooks", "delete", id]).await.status.success());
    let none = run(&["webhooks", "list"]).await;
    assert!(said(&none).contains("No webhooks."), "{none:?}");

    let none = run(&["triggers", "list"]).await;
    assert!(said(&none).contains("toolgate triggers create"), "{none:?}");
    let unknown = run(&["triggers", "create", "words", "absent", "id=1"]).await;
    assert_eq!(unknown.status.code(), Some(3), "{unknown:?}");
    let wrong = run(&["triggers", "create", "words", "absent", "id"]).await;
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}
