use std::time::Duration;

use super::listing::ToolSource;
use super::watch::ListChange;
use super::*;
use crate::access::permission_rules::{ChangePermissions, Setting};
use crate::skills::{CreateSkill, UpdateSkill};
use crate::testing::TestWorld;
use toolgate_core::ids::UserId;

fn tools_request(name: &str, tools: &[&str]) -> CreateToolset {
    CreateToolset {
        name: name.to_owned(),
        tools: tools.iter().map(|name| (*name).to_owned()).collect(),
        ..CreateToolset::default()
    }
}

async fn listed(world: &TestWorld, caller: &Caller, name: &str) -> Vec<String> {
    let caller = world.again(caller).await;
    let listed = world.toolset_tools(&caller, name).await.unwrap();
    listed.tools.into_iter().map(|tool| tool.name).collect()
}

async fn deny(world: &TestWorld, caller: &Caller, tool: &str, setting: Setting) {
    let mut change = ChangePermissions::default();
    change.tools.insert(tool.to_owned(), setting.into());
    let user = UserId::parse("ada").unwrap();
    world
        .change_permissions(caller, &user, change)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_toolset_lists_its_tools_services_and_skills_by_name() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let skill = CreateSkill {
        name: "Triage".to_owned(),
        summary: "Every morning".to_owned(),
        instructions: "Look.".to_owned(),
    };
    let skill = world.create_skill(&caller, skill).await.unwrap();
    let request = CreateToolset {
        title: Some("Support".to_owned()),
        services: vec!["slack".to_owned()],
        skills: vec![skill.skill_id.clone()],
        ..tools_request("support", &["github_create_issue", "github_create_issue"])
    };
    let made = world.create_toolset(&caller, request).await.unwrap();
    assert_eq!(made.tools, ["github_create_issue"], "each once");
    assert!(made.mcp_url.ends_with("/mcp/t/support"), "{}", made.mcp_url);

    let names = listed(&world, &caller, "support").await;
    let slack: Vec<String> = world
        .snapshot()
        .catalog
        .tools()
        .iter()
        .filter(|tool| tool.service() == "slack")
        .map(|tool| tool.name.to_string())
        .collect();
    let mut expected = vec!["skill_triage".to_owned(), "github_create_issue".to_owned()];
    expected.extend(slack);
    assert_eq!(names, expected);
    assert_eq!((made.listed, made.left_out), (names.len(), 0));

    let caller = world.again(&caller).await;
    let tools = world.toolset_tools(&caller, "support").await.unwrap().tools;
    let source = ToolSource::Skill {
        skill_id: skill.skill_id.clone(),
    };
    assert_eq!(tools[0].source, source);
    let issue = world.snapshot().catalog.get("github_create_issue").cloned();
    assert_eq!(
        tools[1].input_schema.get(),
        issue.unwrap().input_schema.get()
    );

    // A key without the scope sees no Skills; a Skill that changes or goes is seen at the next request.
    let reader = world.caller(&[Scope::ToolsRead]).await;
    assert_eq!(listed(&world, &reader, "support").await, names[1..]);
    let renamed = UpdateSkill {
        skill_id: skill.skill_id.clone(),
        name: Some("Evening".to_owned()),
        ..UpdateSkill::default()
    };
    world.update_skill(&caller, renamed).await.unwrap();
    assert_eq!(listed(&world, &caller, "support").await[0], "skill_evening");
    world.delete_skill(&caller, &skill.skill_id).await.unwrap();
    assert_eq!(listed(&world, &caller, "support").await, names[1..]);
    let read = world.toolset(&caller, "support").await.unwrap();
    assert_eq!(read.missing, [skill.skill_id]);
}

#[tokio::test]
async fn what_a_user_may_not_use_is_not_listed_and_a_change_is_seen_by_a_watcher() {
    let world = TestWorld::open().await;
    let admin = world.caller(&[Scope::Admin]).await;
    let (issue, list) = ("github_create_issue", "github_list_issues");
    let request = tools_request("dev", &[issue, list]);
    world.create_toolset(&admin, request).await.unwrap();
    assert_eq!(listed(&world, &admin, "dev").await, [issue, list]);

    let caller = world.again(&admin).await;
    let mut watcher = world.watch_toolset(&caller, "dev").await.unwrap();
    let quiet = tokio::time::timeout(Duration::from_millis(1_500), watcher.next(|| true));
    assert!(quiet.await.is_err(), "nothing has changed");
    deny(&world, &caller, issue, Setting::Deny).await;
    assert_eq!(watcher.next(|| true).await, ListChange::Changed);
    assert_eq!(listed(&world, &caller, "dev").await, [list]);
    // A tool that asks is listed: the call waits for a person.
    deny(&world, &caller, issue, Setting::Ask).await;
    assert_eq!(watcher.next(|| true).await, ListChange::Changed);
    assert_eq!(listed(&world, &caller, "dev").await, [issue, list]);

    let update = UpdateToolset {
        tools: Some(vec![list.to_owned()]),
        ..UpdateToolset::default()
    };
    world.update_toolset(&caller, "dev", update).await.unwrap();
    assert_eq!(watcher.next(|| true).await, ListChange::Changed);
    world.delete_toolset(&caller, "dev").await.unwrap();
    assert_eq!(watcher.next(|| true).await, ListChange::Over);
}

#[tokio::test]
async fn a_watcher_ends_with_its_key_and_its_request() {
    let world = TestWorld::open().await;
    let admin = world.caller(&[Scope::Admin]).await;
    world
        .create_toolset(&admin, tools_request("dev", &["github_create_issue"]))
        .await
        .unwrap();
    let caller = world.caller(&[Scope::ToolsRead]).await;
    let mut watcher = world.watch_toolset(&caller, "dev").await.unwrap();
    let workspace = world.store().find_workspace(&caller.workspace_id).await;
    let operator = Caller::operator(&workspace.unwrap().unwrap());
    let revoked = crate::identity::keys::revoke(
        world.store(),
        &operator,
        &caller.key_id,
        world.clock.now_ms(),
    );
    revoked.await.unwrap();
    assert_eq!(watcher.next(|| true).await, ListChange::Over);

    let mut watcher = world.watch_toolset(&admin, "dev").await.unwrap();
    deny(&world, &admin, "github_create_issue", Setting::Deny).await;
    assert_eq!(watcher.next(|| false).await, ListChange::Over);
}

#[tokio::test]
async fn what_is_not_there_is_refused_with_the_nearest_names() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let made = world
        .create_toolset(&caller, tools_request("a", &["github_create_isue"]))
        .await;
    let Err(Error::ToolNotFound { tool_name, nearest }) = made else {
        panic!("{made:?}");
    };
    assert_eq!(tool_name, "github_create_isue");
    assert_eq!(
        nearest.first().map(String::as_str),
        Some("github_create_issue")
    );

    let no_service = CreateToolset {
        services: vec!["teams".to_owned()],
        ..tools_request("a", &[])
    };
    let made = world.create_toolset(&caller, no_service).await;
    assert!(matches!(made, Err(Error::ServiceNotFound(_))), "{made:?}");
    for id in ["5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10", "x", ""] {
        let no_skill = CreateToolset {
            skills: vec![id.to_owned()],
            ..tools_request("a", &[])
        };
        let made = world.create_toolset(&caller, no_skill).await;
        assert!(
            matches!(made, Err(Error::SkillNotFound(_))),
            "{id}: {made:?}"
        );
    }
    let list = world.list_toolsets(&caller).await.unwrap();
    assert!(list.toolsets.is_empty());
}

#[tokio::test]
async fn a_toolset_is_bounded_and_belongs_to_one_workspace() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let tool = "github_create_issue";
    let too_many = tools_request("a", &vec![tool; check::ENTRIES_MAX + 1]);
    for refused in [
        too_many,
        tools_request("a", &[]),
        tools_request("A", &[tool]),
    ] {
        let made = world.create_toolset(&caller, refused).await;
        assert!(matches!(made, Err(Error::InvalidRequest(_))), "{made:?}");
    }
    let made = world
        .create_toolset(&caller, tools_request("a", &[tool]))
        .await;
    let at_bound = UpdateToolset {
        tools: Some(vec![tool.to_owned(); check::ENTRIES_MAX]),
        ..UpdateToolset::default()
    };
    world.update_toolset(&caller, "a", at_bound).await.unwrap();
    let again = world
        .create_toolset(&caller, tools_request("a", &[tool]))
        .await;
    assert!(
        made.is_ok() && matches!(again, Err(Error::Conflict(_))),
        "{again:?}"
    );
    for n in 1..TOOLSETS_MAX {
        let request = tools_request(&format!("a{n}"), &[tool]);
        world.create_toolset(&caller, request).await.unwrap();
    }
    let one_more = world
        .create_toolset(&caller, tools_request("b", &[tool]))
        .await;
    assert!(matches!(one_more, Err(Error::Conflict(_))), "{one_more:?}");

    let stranger = world.stranger(&[Scope::Admin]).await;
    for refused in [
        world.toolset(&stranger, "a").await.err(),
        world.toolset_tools(&stranger, "a").await.err(),
        world.check_toolset(&stranger, "a").await.err(),
        world.delete_toolset(&stranger, "a").await.err(),
        world.watch_toolset(&stranger, "a").await.err(),
    ] {
        assert!(matches!(refused, Some(Error::NotFound(_))), "{refused:?}");
    }
    world
        .create_toolset(&stranger, tools_request("a", &[tool]))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_skill_that_has_changed_since_it_was_read_is_a_conflict() {
    let world = TestWorld::open().await;
    let admin = world.caller(&[Scope::Admin]).await;
    let skill = CreateSkill {
        name: "Refunds".to_owned(),
        summary: "How to refund.".to_owned(),
        instructions: "Ask the owner.".to_owned(),
    };
    let id = world.create_skill(&admin, skill).await.unwrap().skill_id;
    let writer = world.caller(&[Scope::SkillsWrite]).await;
    let changed = UpdateSkill {
        skill_id: id.clone(),
        instructions: Some("Ask nobody.".to_owned()),
        ..UpdateSkill::default()
    };
    let changed = world.update_skill(&writer, changed).await.unwrap();
    assert_eq!((changed.version, changed.change_waits), (2, false));

    let over = |skills: &[&str], version| OverSkills {
        request: CreateToolset {
            name: "support".to_owned(),
            skills: skills.iter().map(|id| (*id).to_owned()).collect(),
            tools: vec!["github_create_issue".to_owned()],
            ..CreateToolset::default()
        },
        versions: [(id.clone(), version)].into(),
    };
    let stale = world.create_toolset(&admin, over(&[&id], 1)).await;
    let Err(Error::Conflict(why)) = stale else {
        panic!("{stale:?}");
    };
    assert_eq!(
        why,
        format!("the Skill {id} is at version 2, not 1: read it again")
    );
    let of_another = world.create_toolset(&admin, over(&[], 2)).await;
    assert!(
        matches!(of_another, Err(Error::InvalidRequest(_))),
        "{of_another:?}"
    );
    let list = world.list_toolsets(&admin).await.unwrap();
    assert!(list.toolsets.is_empty(), "nothing was stored");
    world.create_toolset(&admin, over(&[&id], 2)).await.unwrap();

    let title = |version| OverSkills {
        request: UpdateToolset {
            title: Some("Other".to_owned()),
            ..UpdateToolset::default()
        },
        versions: [(id.clone(), version)].into(),
    };
    let stale = world.update_toolset(&admin, "support", title(3)).await;
    assert!(matches!(stale, Err(Error::Conflict(_))), "{stale:?}");
    let read = world.toolset(&admin, "support").await.unwrap();
    assert_eq!(read.title, "support", "nothing was changed");
    let updated = world.update_toolset(&admin, "support", title(2)).await;
    assert_eq!(updated.unwrap().title, "Other");
}

#[tokio::test]
async fn reading_and_changing_need_their_scopes() {
    let world = TestWorld::open().await;
    let admin = world.caller(&[Scope::Admin]).await;
    let request = tools_request("a", &["github_create_issue"]);
    world.create_toolset(&admin, request.clone()).await.unwrap();
    let reader = world.caller(&[Scope::ToolsRead]).await;
    assert!(world.toolset(&reader, "a").await.is_ok());
    assert!(world.list_toolsets(&reader).await.is_ok());
    let runner = world.caller(&[Scope::ToolsExecute]).await;
    for refused in [
        world.create_toolset(&reader, request).await.err(),
        world
            .update_toolset(&reader, "a", UpdateToolset::default())
            .await
            .err(),
        world.delete_toolset(&reader, "a").await.err(),
        world.toolset(&runner, "a").await.err(),
        world.list_toolsets(&runner).await.err(),
        world.toolset_tools(&runner, "a").await.err(),
    ] {
        assert!(
            matches!(refused, Some(Error::ScopeDenied(_))),
            "{refused:?}"
        );
    }
}
