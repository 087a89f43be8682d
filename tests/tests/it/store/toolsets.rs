use toolgate_store::{InsertedToolset, ToolsetChange, ToolsetRow, Topic, Workspace};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    a_toolset_is_kept_changed_and_deleted,
    a_workspace_has_a_name_once_and_no_more_toolsets_than_it_may,
    every_change_is_a_change_of_the_topic,
);

fn toolset(workspace: &Workspace, name: &str) -> ToolsetRow {
    ToolsetRow {
        workspace_id: workspace.id.clone(),
        name: name.into(),
        title: "Support".into(),
        description: "For the desk".into(),
        tools: vec!["github_create_issue".into()],
        services: vec!["slack".into()],
        skills: Vec::new(),
        generic_tools: false,
        created_at_ms: NOW_MS,
        updated_at_ms: NOW_MS,
    }
}

async fn a_toolset_is_kept_changed_and_deleted(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let other = workspace(&at.store, "other").await;
    let row = toolset(&acme, "support");
    let inserted = at.store.insert_toolset(&row, 10).await.unwrap();
    assert_eq!(inserted, InsertedToolset::Done);
    let found = at.store.find_toolset(&acme.id, "support").await.unwrap();
    assert_eq!(found, Some(row.clone()));
    let found = at.store.find_toolset(&other.id, "support").await.unwrap();
    assert_eq!(found, None, "it belongs to one workspace");

    let tools = ["github_list_issues".to_owned()];
    let change = ToolsetChange {
        tools: Some(&tools),
        generic_tools: Some(true),
        ..ToolsetChange::default()
    };
    let updated = at
        .store
        .update_toolset(&acme.id, "support", &change, NOW_MS + 1);
    let expected = ToolsetRow {
        tools: tools.to_vec(),
        generic_tools: true,
        updated_at_ms: NOW_MS + 1,
        ..row
    };
    assert_eq!(updated.await.unwrap(), Some(expected.clone()));
    let none = at
        .store
        .update_toolset(&other.id, "support", &change, NOW_MS + 1);
    assert_eq!(none.await.unwrap(), None);
    let listed = at.store.list_toolsets(&acme.id).await.unwrap();
    assert_eq!(listed, [expected]);
    assert!(!at.store.delete_toolset(&other.id, "support").await.unwrap());
    assert!(at.store.delete_toolset(&acme.id, "support").await.unwrap());
    assert!(!at.store.delete_toolset(&acme.id, "support").await.unwrap());
}

async fn a_workspace_has_a_name_once_and_no_more_toolsets_than_it_may(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    for (name, most, expected) in [
        ("b", 2, InsertedToolset::Done),
        ("b", 2, InsertedToolset::Taken),
        ("a", 2, InsertedToolset::Done),
        ("c", 2, InsertedToolset::Full),
        ("a", 2, InsertedToolset::Taken),
        ("c", 3, InsertedToolset::Done),
    ] {
        let row = toolset(&acme, name);
        let inserted = at.store.insert_toolset(&row, most).await.unwrap();
        assert_eq!(inserted, expected, "{name}");
    }
    let listed = at.store.list_toolsets(&acme.id).await.unwrap();
    let names: Vec<&str> = listed.iter().map(|row| &*row.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

async fn every_change_is_a_change_of_the_topic(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let store = &at.store;
    let now = async || store.changes().await.unwrap().get(Topic::Toolsets);
    let before = now().await;
    store
        .insert_toolset(&toolset(&acme, "a"), 10)
        .await
        .unwrap();
    let inserted = now().await;
    let change = ToolsetChange {
        title: Some("Other"),
        ..ToolsetChange::default()
    };
    store
        .update_toolset(&acme.id, "a", &change, NOW_MS)
        .await
        .unwrap();
    let updated = now().await;
    store.delete_toolset(&acme.id, "a").await.unwrap();
    let deleted = now().await;
    assert!(before < inserted && inserted < updated && updated < deleted);
    assert!(!store.delete_toolset(&acme.id, "a").await.unwrap());
    assert_eq!(now().await, deleted, "nothing was changed");
}
