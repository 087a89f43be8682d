//! Rules as the operations of the gateway meet them.

use super::*;

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn tools(changes: &[(&str, Setting)]) -> ChangePermissions {
    ChangePermissions {
        tools: changes
            .iter()
            .map(|(name, setting)| ((*name).to_owned(), (*setting).into()))
            .collect(),
        ..ChangePermissions::default()
    }
}

fn services(changes: &[(&str, Setting)]) -> ChangePermissions {
    ChangePermissions {
        services: tools(changes).tools,
        ..ChangePermissions::default()
    }
}

fn execute(tool_name: &str, dry_run: bool) -> Execute {
    Execute {
        tool_name: tool_name.to_owned(),
        arguments: Arguments::Text(r#"{"owner":"ada","repo":"engine","title":"x"}"#.to_owned()),
        session_id: None,
        user_id: None,
        connection_id: None,
        dry_run,
        budget: Default::default(),
        claim: None,
        parent_execution_id: None,
        listener: CallListener::default(),
    }
}

/// Whether list, search, schema, execute and dry run agree on the tool, and on what.
async fn seen(world: &TestWorld, caller: &Caller, tool_name: &str) -> bool {
    let list = ListTools {
        service: None,
        limit: 500,
        cursor: None,
        user_id: None,
    };
    let listed = world.list_tools(caller, list).await.unwrap();
    let listed = listed.tools.iter().any(|tool| tool.name == tool_name);
    let search = SearchTools {
        query: tool_name.replace('_', " "),
        service: None,
        limit: 100,
        schema_limit: 0,
        schema_address: str::to_owned,
        user_id: None,
    };
    let found = world.search_tools(caller, search).await.unwrap();
    let found = found.tools.iter().any(|tool| tool.name == tool_name);
    let allowed = |code: Option<&'static str>| code != Some("permission_denied");
    let described = world.tool_schema(caller, tool_name, None).await;
    let described = allowed(described.err().map(|error| error.code()));
    let ran = world.execute(caller, execute(tool_name, false)).await;
    let ran = allowed(ran.err().map(|error| error.code()));
    let planned = world.execute(caller, execute(tool_name, true)).await;
    let planned = allowed(planned.err().map(|error| error.code()));
    let answers = [listed, found, described, ran, planned];
    assert!(
        answers.iter().all(|one| *one == listed),
        "{tool_name}: {answers:?}"
    );
    listed
}

#[tokio::test]
async fn every_way_to_a_tool_gives_the_same_decision() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    assert!(seen(&world, &caller, "github_create_issue").await);
    let deny = tools(&[("github_create_issue", Setting::Deny)]);
    world
        .change_permissions(&caller, &user("ada"), deny)
        .await
        .unwrap();
    let caller = world.again(&caller).await;
    assert!(!seen(&world, &caller, "github_create_issue").await);
    assert!(seen(&world, &caller, "github_update_issue").await);

    let deny = services(&[("github", Setting::Deny)]);
    world
        .change_permissions(&caller, &user("ada"), deny)
        .await
        .unwrap();
    let caller = world.again(&caller).await;
    assert!(!seen(&world, &caller, "github_update_issue").await);
    assert!(seen(&world, &caller, "slack_send_message").await);

    let both = ChangePermissions {
        services: services(&[("github", Setting::Inherit)]).services,
        tools: tools(&[("github_create_issue", Setting::Inherit)]).tools,
    };
    world
        .change_permissions(&caller, &user("ada"), both)
        .await
        .unwrap();
    let caller = world.again(&caller).await;
    assert!(seen(&world, &caller, "github_create_issue").await);
}

#[tokio::test]
async fn a_batch_is_all_or_nothing() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let mut batch = tools(&[("github_create_issue", Setting::Deny)]);
    batch.services = services(&[("nowhere", Setting::Deny)]).services;
    let refused = world
        .change_permissions(&caller, &user("ada"), batch.clone())
        .await;
    assert_eq!(refused.unwrap_err().code(), "service_not_found");
    let unknown = tools(&[
        ("github_create_issue", Setting::Deny),
        ("github_fly", Setting::Deny),
    ]);
    let refused = world
        .change_permissions(&caller, &user("ada"), unknown)
        .await;
    assert_eq!(refused.unwrap_err().code(), "tool_not_found");
    let kept = world.user_permissions(&caller, &user("ada")).await.unwrap();
    assert!(
        kept.tools.is_empty() && kept.services.is_empty(),
        "{kept:?}"
    );

    batch.services = services(&[("slack", Setting::Ask)]).services;
    let kept = world
        .change_permissions(&caller, &user("ada"), batch)
        .await
        .unwrap();
    assert_eq!(kept.default, DefaultRule::Allow);
    assert_eq!(kept.tools["github_create_issue"], Permission::Deny);
    assert_eq!(kept.services["slack"], Permission::Ask);
    let caller = world.again(&caller).await;
    let summary = world
        .permission_summary(&caller, &user("ada"))
        .await
        .unwrap();
    let github = summary.services["github"];
    assert_eq!((github.deny, summary.services["slack"].allow), (1, 0));
    let all = world.snapshot().catalog.tools().len();
    let total = summary.total;
    assert_eq!(total.allow + total.deny + total.ask, all);
}

#[tokio::test]
async fn a_rule_ends_at_its_time_and_after_its_calls() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let mut change = services(&[("github", Setting::Deny)]);
    let bounded = |expires_at: Option<&str>, max_calls| Change {
        setting: Setting::Allow,
        approvers: None,
        expires_at: expires_at.map(str::to_owned),
        max_calls,
    };
    change
        .tools
        .insert("github_create_issue".to_owned(), bounded(None, Some(2)));
    let soon = toolgate_core::clock::rfc3339(world.clock.now_ms() + 60_000);
    change
        .tools
        .insert("github_update_issue".to_owned(), bounded(Some(&soon), None));
    let shown = world
        .change_permissions(&caller, &user("ada"), change)
        .await
        .unwrap();
    assert_eq!(shown.limited.len(), 2);
    let caller = world.again(&caller).await;
    assert!(seen(&world, &caller, "github_update_issue").await);

    // The tool of the fixture has no code behind it, so only the decision is counted.
    let tool = world
        .snapshot()
        .catalog
        .get("github_create_issue")
        .unwrap()
        .clone();
    for permission in [
        Permission::Allow,
        Permission::Allow,
        Permission::Deny,
        Permission::Deny,
    ] {
        let permissions = world.permissions_of(&caller, &user("ada")).await.unwrap();
        let counted = world
            .count_call(&caller, &user("ada"), &tool, &permissions)
            .await;
        let (decided, rule) = counted.unwrap();
        assert_eq!(decided, permission);
        assert_eq!(rule.is_some(), permission == Permission::Allow);
        if let Some(rule) = rule {
            // A call that did not run is not counted.
            world.uncount_call(&rule).await.unwrap();
            let caller = world.again(&caller).await;
            let permissions = world.permissions_of(&caller, &user("ada")).await.unwrap();
            let ada = user("ada");
            let again = world.count_call(&caller, &ada, &tool, &permissions);
            assert_eq!(again.await.unwrap().0, Permission::Allow);
        }
    }
    let caller = world.again(&caller).await;
    assert!(!seen(&world, &caller, "github_create_issue").await);

    world.clock.advance_ms(60_000);
    let caller = world.again(&caller).await;
    assert!(!seen(&world, &caller, "github_update_issue").await);
    for bad in [
        bounded(Some("2020-01-01T00:00:00Z"), None),
        bounded(Some("tomorrow"), None),
        bounded(None, Some(0)),
        bounded(None, Some(-1)),
    ] {
        let mut change = ChangePermissions::default();
        change.tools.insert("github_create_issue".to_owned(), bad);
        let refused = world
            .change_permissions(&caller, &user("ada"), change)
            .await;
        assert_eq!(refused.unwrap_err().code(), "invalid_request");
    }
}

#[tokio::test]
async fn a_decision_is_explained_by_the_rule_that_made_it() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let ask = services(&[("github", Setting::Ask)]);
    world
        .change_permissions(&caller, &user("ada"), ask)
        .await
        .unwrap();
    let caller = world.again(&caller).await;
    for (name, tool, permission, by) in [
        (
            "ada",
            "github_create_issue",
            Permission::Ask,
            DecidedBy::ServiceRule,
        ),
        (
            "bob",
            "github_create_issue",
            Permission::Allow,
            DecidedBy::WorkspaceDefault,
        ),
    ] {
        let told = world
            .explain_permission(&caller, &user(name), tool)
            .await
            .unwrap();
        assert_eq!(
            (told.permission, told.decided_by),
            (permission, by),
            "{name}"
        );
    }
    let unknown = world
        .explain_permission(&caller, &user("ada"), "github_fly")
        .await;
    assert_eq!(unknown.unwrap_err().code(), "tool_not_found");
}

#[tokio::test]
async fn the_default_may_follow_the_effect_of_a_tool() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let change = SettingsChange {
        default_permission: Some(DefaultPermission::ByEffect),
        ..SettingsChange::default()
    };
    let changed = world
        .store()
        .change_workspace(&caller.workspace_id, None, &change, 1);
    assert!(changed.await.unwrap().is_some());
    let caller = world.again(&caller).await;
    for (tool, permission) in [
        ("github_list_issues", Permission::Allow),
        ("github_create_issue", Permission::Ask),
        ("github_merge_pull_request", Permission::Ask),
    ] {
        let told = world
            .explain_permission(&caller, &user("ada"), tool)
            .await
            .unwrap();
        assert_eq!(
            (told.permission, told.decided_by),
            (permission, DecidedBy::EffectDefault)
        );
    }
}

#[tokio::test]
async fn rules_of_one_workspace_say_nothing_in_another() {
    let world = TestWorld::open().await;
    let ours = world.caller(&[Scope::Admin]).await;
    let deny = services(&[("github", Setting::Deny)]);
    world
        .change_permissions(&ours, &user("ada"), deny)
        .await
        .unwrap();
    let theirs = world.stranger(&[Scope::Admin]).await;
    assert!(seen(&world, &theirs, "github_create_issue").await);
    let shown = world.user_permissions(&theirs, &user("ada")).await.unwrap();
    assert!(shown.services.is_empty());
}

#[tokio::test]
async fn permissions_have_scopes_of_their_own() {
    let world = TestWorld::open().await;
    let reader = world.caller(&[Scope::PermissionsRead]).await;
    let writer = world.caller(&[Scope::PermissionsWrite]).await;
    let ada = user("ada");
    assert!(world.permission_services(&reader).await.is_ok());
    for refused in [
        world.permission_services(&writer).await.map(drop),
        world.user_permissions(&writer, &ada).await.map(drop),
        world.permission_summary(&writer, &ada).await.map(drop),
        world
            .explain_permission(&writer, &ada, "github_create_issue")
            .await
            .map(drop),
        world
            .change_permissions(&reader, &ada, ChangePermissions::default())
            .await
            .map(drop),
    ] {
        assert_eq!(refused.unwrap_err().code(), "scope_denied");
    }
}
