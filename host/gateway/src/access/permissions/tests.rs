use super::*;
use crate::Scope;
use crate::access::permission_rules::{Change, ChangePermissions, DefaultRule, Setting};
use crate::testing::TestWorld;
use crate::tools::{Arguments, Execute, ListTools, SearchTools};
use toolgate_store::WorkspaceSettings;

const NOW_MS: i64 = 1_000;

fn rule(kind: RuleKind, name: &str, rule: Rule) -> PermissionRule {
    PermissionRule {
        workspace_id: "ws".to_owned(),
        user_id: "ada".to_owned(),
        kind,
        name: name.to_owned(),
        rule,
        approvers: Approvers::Admins,
        expires_at_ms: None,
        max_calls: None,
        used: 0,
        updated_at_ms: 0,
    }
}

#[test]
fn a_tool_rule_beats_its_service_and_that_the_default() {
    use DecidedBy::{EffectDefault, ServiceRule, ToolRule, WorkspaceDefault};
    use DefaultPermission::{Allow, ByEffect};
    let tool = |word| rule(RuleKind::Tool, "github_create_issue", word);
    let service = |word| rule(RuleKind::Service, "github", word);
    let expired = |mut rule: PermissionRule| {
        rule.expires_at_ms = Some(NOW_MS);
        rule
    };
    let used_up = |mut rule: PermissionRule| {
        (rule.max_calls, rule.used) = (Some(2), 2);
        rule
    };
    for (rows, default, effect, permission, by) in [
        (
            vec![],
            Allow,
            Effect::Destructive,
            Permission::Allow,
            WorkspaceDefault,
        ),
        (
            vec![],
            ByEffect,
            Effect::Read,
            Permission::Allow,
            EffectDefault,
        ),
        (
            vec![],
            ByEffect,
            Effect::Write,
            Permission::Ask,
            EffectDefault,
        ),
        (
            vec![],
            ByEffect,
            Effect::Destructive,
            Permission::Ask,
            EffectDefault,
        ),
        (
            vec![service(Rule::Deny)],
            Allow,
            Effect::Read,
            Permission::Deny,
            ServiceRule,
        ),
        (
            vec![service(Rule::Deny), tool(Rule::Allow)],
            Allow,
            Effect::Read,
            Permission::Allow,
            ToolRule,
        ),
        (
            vec![service(Rule::Allow), tool(Rule::Ask)],
            Allow,
            Effect::Read,
            Permission::Ask,
            ToolRule,
        ),
        (
            vec![service(Rule::Deny), expired(tool(Rule::Allow))],
            Allow,
            Effect::Read,
            Permission::Deny,
            ServiceRule,
        ),
        (
            vec![service(Rule::Ask), used_up(tool(Rule::Allow))],
            Allow,
            Effect::Read,
            Permission::Ask,
            ServiceRule,
        ),
        (
            vec![expired(service(Rule::Deny))],
            Allow,
            Effect::Read,
            Permission::Allow,
            WorkspaceDefault,
        ),
        (
            vec![rule(RuleKind::Tool, "github_other", Rule::Deny)],
            Allow,
            Effect::Read,
            Permission::Allow,
            WorkspaceDefault,
        ),
        (
            vec![rule(RuleKind::Service, "git", Rule::Deny)],
            Allow,
            Effect::Read,
            Permission::Allow,
            WorkspaceDefault,
        ),
    ] {
        let rules = Rules::from_rows(rows.clone());
        let subject = RuleSubject {
            tool: "github_create_issue",
            service: "github",
            effect,
        };
        let decided = decide(&rules, default, subject, NOW_MS);
        assert_eq!(
            (decided.permission, decided.by),
            (permission, by),
            "{rows:?} {default:?} {effect:?}"
        );
    }
}

/// Every combination of a tool's rule, its service's, rules for others, ends and the default.
#[test]
fn a_deny_that_holds_is_never_outweighed() {
    let words = [None, Some(Rule::Allow), Some(Rule::Deny), Some(Rule::Ask)];
    let ends: [fn(&mut PermissionRule); 4] = [
        |_| {},
        |rule| rule.expires_at_ms = Some(NOW_MS + 1),
        |rule| rule.expires_at_ms = Some(NOW_MS),
        |rule| (rule.max_calls, rule.used) = (Some(1), 1),
    ];
    let made = |kind, name: &str, word: Option<Rule>, end: fn(&mut PermissionRule)| {
        word.map(|word| {
            let mut rule = rule(kind, name, word);
            end(&mut rule);
            rule
        })
    };
    let mut seen = 0;
    for (of_tool, tool_end) in words
        .into_iter()
        .flat_map(|word| ends.map(|end| (word, end)))
    {
        for (of_service, service_end) in words
            .into_iter()
            .flat_map(|word| ends.map(|end| (word, end)))
        {
            for noise in words {
                for (default, effect) in [
                    (DefaultPermission::Allow, Effect::Read),
                    (DefaultPermission::Allow, Effect::Destructive),
                    (DefaultPermission::ByEffect, Effect::Read),
                    (DefaultPermission::ByEffect, Effect::Write),
                ] {
                    let tool = made(RuleKind::Tool, "github_create_issue", of_tool, tool_end);
                    let service = made(RuleKind::Service, "github", of_service, service_end);
                    let others = [
                        made(RuleKind::Tool, "github_other", noise, ends[0]),
                        made(RuleKind::Service, "slack", noise, ends[0]),
                        made(RuleKind::Tool, "github", noise, ends[0]),
                        made(RuleKind::Service, "github_create_issue", noise, ends[0]),
                    ];
                    let live_rule = |rule: &Option<PermissionRule>| {
                        let rule = rule.as_ref().filter(|rule| live(rule, NOW_MS));
                        rule.map(|rule| rule.rule)
                    };
                    let (by_tool, by_service) = (live_rule(&tool), live_rule(&service));
                    let rows = [tool, service].into_iter().chain(others).flatten();
                    let rules = Rules::from_rows(rows.collect());
                    let subject = RuleSubject {
                        tool: "github_create_issue",
                        service: "github",
                        effect,
                    };
                    let decided = decide(&rules, default, subject, NOW_MS).permission;
                    let denied = match by_tool {
                        Some(rule) => rule == Rule::Deny,
                        None => by_service == Some(Rule::Deny),
                    };
                    assert_eq!(
                        decided == Permission::Deny,
                        denied,
                        "{by_tool:?} {by_service:?} {noise:?} {default:?} {effect:?}"
                    );
                    let by_default = by_tool.or(by_service).is_none();
                    let asks = default == DefaultPermission::ByEffect && effect != Effect::Read;
                    if by_default {
                        assert_eq!(decided == Permission::Ask, asks);
                    }
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 16 * 16 * 4 * 4);
}

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
    let settings = WorkspaceSettings {
        default_permission: DefaultPermission::ByEffect,
        ..WorkspaceSettings::default()
    };
    let set = world
        .store()
        .set_workspace_settings(&caller.workspace_id, &settings, 1);
    assert!(set.await.unwrap());
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
