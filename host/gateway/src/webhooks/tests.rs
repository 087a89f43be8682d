use serde_json::Value;

use super::deliveries::ListDeliveries;
use super::*;
use crate::testing::TestWorld;

fn create(url: &str, events: &[&str]) -> CreateWebhook {
    CreateWebhook {
        url: url.to_owned(),
        description: String::new(),
        events: events.iter().map(|text| (*text).to_owned()).collect(),
        filters: Filters::default(),
    }
}

const URL: &str = "https://hooks.example.test/in";

#[tokio::test]
async fn a_secret_is_shown_once_and_sealed_at_rest() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Webhooks]).await;
    let made = world.create_webhook(&caller, create(URL, &["*"])).await;
    let made = made.unwrap();
    let secret = made.secret.expose();
    assert!(secret.starts_with("whsec_"));
    let id = &made.webhook.webhook_id;
    let read = world.webhook(&caller, id).await.unwrap();
    assert_eq!(read, made.webhook);
    assert!(!serde_json::to_string(&read).unwrap().contains(secret));
    let row = world.store().find_webhook(&caller.workspace_id, id).await;
    let row = row.unwrap().unwrap();
    assert!(!row.sealed.contains(secret));
    let place = signing::place(&row.workspace_id, &row.id);
    assert_eq!(
        world.open_secret(place, &row.sealed).unwrap().expose(),
        secret
    );
}

#[tokio::test]
async fn a_rotated_secret_overlaps_and_a_zero_overlap_ends_the_old_one() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Webhooks]).await;
    let made = world
        .create_webhook(&caller, create(URL, &["*"]))
        .await
        .unwrap();
    let id = made.webhook.webhook_id;
    let rotated = world.rotate_webhook_secret(&caller, &id, 24).await.unwrap();
    assert_ne!(rotated.secret, made.secret);
    assert!(rotated.webhook.previous_secret_until.is_some());
    let row = world.store().find_webhook(&caller.workspace_id, &id).await;
    let row = row.unwrap().unwrap();
    let place = signing::previous_place(&row.workspace_id, &row.id);
    let old = world.open_secret(place, row.sealed_previous.as_ref().unwrap());
    assert_eq!(old.unwrap(), made.secret);
    let boxes = world.store().list_sealed().await.unwrap();
    assert_eq!(boxes.len(), 2, "both move when the master key is changed");

    let again = world.rotate_webhook_secret(&caller, &id, 0).await.unwrap();
    assert_eq!(again.webhook.previous_secret_until, None);
    let refused = world.rotate_webhook_secret(&caller, &id, 169).await;
    assert_eq!(refused.unwrap_err().code(), "invalid_request");
}

#[tokio::test]
async fn only_public_https_addresses_and_known_events_are_taken() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Webhooks]).await;
    for url in [
        "",
        "http://hooks.example.test/in",
        "https://127.0.0.1/in",
        "https://[::1]/in",
        "https://169.254.169.254/latest",
        "https://user:pw@hooks.example.test/in",
        "file:///etc/passwd",
        &format!("https://hooks.example.test/{}", "x".repeat(2_000)),
    ] {
        let refused = world.create_webhook(&caller, create(url, &["*"])).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_request", "{url}");
    }
    for events in [
        &["*", "tool.executed", "tool.*", "trigger.*"][..],
        &["trigger.github.*", "trigger.github.pull_request.opened"],
    ] {
        let made = world.create_webhook(&caller, create(URL, events)).await;
        assert!(made.is_ok(), "{events:?}");
    }
    for events in [
        &[][..],
        &[""],
        &["tool.exceuted"],
        &["tools.*"],
        &["tool*"],
        &["trigger."],
        &["trigger.github"],
        &["trigger..push"],
        &["trigger.GitHub.push"],
    ] {
        let refused = world.create_webhook(&caller, create(URL, events)).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_request", "{events:?}");
    }
    let empty = CreateWebhook {
        filters: Filters {
            services: Some(Vec::new()),
            ..Filters::default()
        },
        ..create(URL, &["*"])
    };
    let refused = world.create_webhook(&caller, empty).await.unwrap_err();
    assert_eq!(refused.code(), "invalid_request");
}

#[tokio::test]
async fn strangers_and_keys_without_the_scope_see_nothing() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Webhooks]).await;
    let made = world
        .create_webhook(&caller, create(URL, &["*"]))
        .await
        .unwrap();
    let id = made.webhook.webhook_id.as_str();
    let stranger = world.stranger(&[Scope::Webhooks]).await;
    let update = UpdateWebhook {
        webhook_id: id.to_owned(),
        enabled: Some(false),
        ..UpdateWebhook::default()
    };
    let list = |webhook_id: &str| ListDeliveries {
        webhook_id: webhook_id.to_owned(),
        status: None,
        limit: 20,
        cursor: None,
    };
    assert!(world.webhooks(&stranger).await.unwrap().webhooks.is_empty());
    for code in [
        world.webhook(&stranger, id).await.unwrap_err().code(),
        world
            .update_webhook(&stranger, update)
            .await
            .unwrap_err()
            .code(),
        world
            .rotate_webhook_secret(&stranger, id, 1)
            .await
            .unwrap_err()
            .code(),
        world.test_webhook(&stranger, id).await.unwrap_err().code(),
        world
            .webhook_deliveries(&stranger, list(id))
            .await
            .unwrap_err()
            .code(),
        world
            .resend_delivery(&stranger, id, "dlv_1")
            .await
            .unwrap_err()
            .code(),
        world
            .delete_webhook(&stranger, id)
            .await
            .unwrap_err()
            .code(),
    ] {
        assert_eq!(code, "not_found");
    }
    let unscoped = world.caller(&[Scope::ToolsExecute]).await;
    assert_eq!(
        world.webhooks(&unscoped).await.unwrap_err().code(),
        "scope_denied"
    );
    let refused = world.create_webhook(&unscoped, create(URL, &["*"])).await;
    assert_eq!(refused.unwrap_err().code(), "scope_denied");
}

#[tokio::test]
async fn a_workspace_has_a_bounded_number_of_webhooks() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Webhooks]).await;
    for _ in 0..WEBHOOKS_MAX {
        world
            .create_webhook(&caller, create(URL, &["*"]))
            .await
            .unwrap();
    }
    let refused = world.create_webhook(&caller, create(URL, &["*"])).await;
    assert_eq!(refused.unwrap_err().code(), "conflict");
    let stranger = world.stranger(&[Scope::Webhooks]).await;
    assert!(
        world
            .create_webhook(&stranger, create(URL, &["*"]))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn every_change_leaves_a_line_in_the_audit_log() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Webhooks]).await;
    let made = world
        .create_webhook(&caller, create(URL, &["*"]))
        .await
        .unwrap();
    let id = made.webhook.webhook_id.clone();
    let update = UpdateWebhook {
        webhook_id: id.clone(),
        enabled: Some(false),
        ..UpdateWebhook::default()
    };
    world.update_webhook(&caller, update).await.unwrap();
    let off = world.test_webhook(&caller, &id).await;
    assert_eq!(off.unwrap_err().code(), "conflict");
    world.rotate_webhook_secret(&caller, &id, 1).await.unwrap();
    world.delete_webhook(&caller, &id).await.unwrap();
    let entries = world
        .store()
        .list_audit_entries(&caller.workspace_id, None, 10)
        .await
        .unwrap();
    let mut actions: Vec<_> = entries.items.iter().map(|e| e.action.as_str()).collect();
    actions.sort_unstable();
    let expected = [
        "keys.create",
        "webhooks.create",
        "webhooks.delete",
        "webhooks.rotate",
        "webhooks.update",
    ];
    assert_eq!(actions, expected);
    for entry in &entries.items {
        assert!(!entry.details.contains("whsec_"));
        assert!(
            serde_json::from_str::<Value>(&entry.details)
                .unwrap()
                .is_object()
        );
    }
}
