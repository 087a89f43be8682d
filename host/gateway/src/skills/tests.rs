use super::*;
use crate::testing::TestWorld;

fn new(name: &str, summary: &str, instructions: &str) -> CreateSkill {
    CreateSkill {
        name: name.to_owned(),
        summary: summary.to_owned(),
        instructions: instructions.to_owned(),
    }
}

fn change(skill_id: &str) -> UpdateSkill {
    UpdateSkill {
        skill_id: skill_id.to_owned(),
        ..UpdateSkill::default()
    }
}

fn all(query: &str) -> ListSkills {
    ListSkills {
        query: query.to_owned(),
        limit: 20,
        offset: 0,
    }
}

fn versions(skill_id: &str) -> ListSkillVersions {
    ListSkillVersions {
        skill_id: skill_id.to_owned(),
        limit: 20,
        cursor: None,
    }
}

#[tokio::test]
async fn skills_are_listed_newest_first_and_found_by_every_word() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::SkillsRead, Scope::SkillsWrite]).await;
    for (name, summary) in [
        ("Weekly report", "Summarises issues of a repository"),
        ("Triage", "Sorts new ISSUES by label"),
        ("Über mail", "Answers mail, 100% politely"),
    ] {
        world.clock.advance_ms(1);
        let created = world
            .create_skill(&caller, new(name, summary, "Do it."))
            .await;
        assert_eq!(created.unwrap().version, 1);
    }
    for (query, names) in [
        ("", &["Über mail", "Triage", "Weekly report"][..]),
        ("issues", &["Triage", "Weekly report"]),
        ("ISSUES report", &["Weekly report"]),
        ("über", &["Über mail"]),
        ("100%", &["Über mail"]),
        ("do it", &[]),
        ("_", &[]),
    ] {
        let page = world.list_skills(&caller, all(query)).await.unwrap();
        let found: Vec<&str> = page.skills.iter().map(|skill| &*skill.name).collect();
        assert_eq!(found, names, "{query}");
        assert_eq!(page.total, names.len(), "{query}");
    }
    let second = ListSkills {
        limit: 1,
        offset: 1,
        ..all("")
    };
    let page = world.list_skills(&caller, second).await.unwrap();
    assert_eq!((page.skills[0].name.as_str(), page.total), ("Triage", 3));
}

#[tokio::test]
async fn an_update_changes_only_what_is_filled_and_counts_versions() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::SkillsRead, Scope::SkillsWrite]).await;
    let first = world
        .create_skill(&caller, new("A", "B", "C"))
        .await
        .unwrap();
    let second = UpdateSkill {
        summary: Some("B2".to_owned()),
        name: Some("  ".to_owned()),
        ..change(&first.skill_id)
    };
    let updated = world.update_skill(&caller, second).await.unwrap();
    let texts = (&*updated.name, &*updated.summary, &*updated.instructions);
    assert_eq!((updated.version, texts), (2, ("A", "B2", "C")));

    let nothing = world.update_skill(&caller, change(&first.skill_id)).await;
    assert_eq!(nothing.unwrap_err().code(), "invalid_request");
    let history = world
        .skill_versions(&caller, versions(&first.skill_id))
        .await
        .unwrap();
    assert_eq!(history.next_cursor, None);
    let versions: Vec<_> = history
        .versions
        .iter()
        .map(|v| (v.version, &*v.summary))
        .collect();
    assert_eq!(versions, [(2, "B2"), (1, "B")]);
}

#[tokio::test]
async fn versions_are_paged_and_their_cursor_is_checked() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::SkillsRead, Scope::SkillsWrite]).await;
    let made = world.create_skill(&caller, new("A", "B", "C")).await;
    let id = made.unwrap().skill_id;
    for name in ["A2", "A3"] {
        let update = UpdateSkill {
            name: Some(name.to_owned()),
            ..change(&id)
        };
        world.update_skill(&caller, update).await.unwrap();
    }
    let page = async |limit, cursor: Option<&str>| {
        let request = ListSkillVersions {
            limit,
            cursor: cursor.map(str::to_owned),
            ..versions(&id)
        };
        let page = world.skill_versions(&caller, request).await?;
        let names: Vec<_> = page.versions.into_iter().map(|one| one.name).collect();
        Ok::<_, Error>((names.concat(), page.next_cursor))
    };
    let (first, cursor) = page(2, None).await.unwrap();
    assert_eq!(first, "A3A2");
    let rest = page(2, cursor.as_deref()).await.unwrap();
    assert_eq!(rest, ("A".to_owned(), None));
    let behind = page(2, Some("1")).await.unwrap();
    assert_eq!(behind, (String::new(), None), "behind the last one");
    for (limit, cursor) in [
        (0, None),
        (101, None),
        (2, Some("x")),
        (2, Some("-1")),
        (2, Some("99999999999999999999")),
        (2, Some("1795167030000.skill")),
    ] {
        let refused = page(limit, cursor).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_request", "{limit} {cursor:?}");
    }
    world.delete_skill(&caller, &id).await.unwrap();
    let gone = page(2, Some("1")).await.unwrap_err();
    assert_eq!(gone.code(), "skill_not_found");
}

#[tokio::test]
async fn a_stale_version_changes_nothing() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::SkillsRead, Scope::SkillsWrite]).await;
    let skill = world
        .create_skill(&caller, new("A", "B", "C"))
        .await
        .unwrap();
    let over = |version| UpdateSkill {
        name: Some(format!("over {version}")),
        if_version: Some(version),
        ..change(&skill.skill_id)
    };
    assert_eq!(
        world.update_skill(&caller, over(1)).await.unwrap().version,
        2
    );
    for stale in [1, 3] {
        let refused = world.update_skill(&caller, over(stale)).await.unwrap_err();
        assert_eq!(refused.code(), "conflict", "{stale}");
    }
    assert_eq!(
        world.skill(&caller, &skill.skill_id).await.unwrap().name,
        "over 1"
    );
}

#[tokio::test]
async fn a_deleted_skill_is_gone_with_its_history() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::SkillsRead, Scope::SkillsWrite]).await;
    let id = world
        .create_skill(&caller, new("A", "B", "C"))
        .await
        .unwrap()
        .skill_id;
    assert!(world.delete_skill(&caller, &id).await.unwrap().deleted);
    let gone = [
        world.skill(&caller, &id).await.map(drop),
        world.skill_versions(&caller, versions(&id)).await.map(drop),
        world.delete_skill(&caller, &id).await.map(drop),
        world.skill(&caller, "not a uuid\0").await.map(drop),
    ];
    for refused in gone {
        assert_eq!(refused.unwrap_err().code(), "skill_not_found");
    }
}

#[tokio::test]
async fn texts_are_kept_up_to_their_bounds_and_refused_beyond() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::SkillsRead, Scope::SkillsWrite]).await;
    let text = |chars: usize| "\u{1f980}".repeat(chars);
    let fits = new(
        &text(NAME_CHARS_MAX),
        &text(SUMMARY_CHARS_MAX),
        &text(INSTRUCTIONS_CHARS_MAX),
    );
    let kept = world.create_skill(&caller, fits.clone()).await.unwrap();
    assert_eq!(kept.instructions.chars().count(), INSTRUCTIONS_CHARS_MAX);
    for (name, summary, instructions) in [
        (text(NAME_CHARS_MAX + 1), text(1), text(1)),
        (text(1), text(SUMMARY_CHARS_MAX + 1), text(1)),
        (text(1), text(1), text(INSTRUCTIONS_CHARS_MAX + 1)),
        (" ".to_owned(), text(1), text(1)),
        (text(1), String::new(), text(1)),
        (text(1), text(1), "\n".to_owned()),
        ("a\nb".to_owned(), text(1), text(1)),
        (text(1), "a\0".to_owned(), text(1)),
        (text(1), text(1), "a\u{1b}[31m".to_owned()),
    ] {
        let refused = world
            .create_skill(&caller, new(&name, &summary, &instructions))
            .await;
        assert_eq!(refused.unwrap_err().code(), "invalid_request");
    }
    assert_eq!(world.list_skills(&caller, all("")).await.unwrap().total, 1);
    for (limit, offset) in [(0, 0), (101, 0), (20, LIST_OFFSET_MAX + 1)] {
        let page = ListSkills {
            limit,
            offset,
            ..all("")
        };
        let refused = world.list_skills(&caller, page).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_request");
    }
}

#[tokio::test]
async fn a_skill_of_another_workspace_is_not_there() {
    let world = TestWorld::open().await;
    let scopes = [Scope::SkillsRead, Scope::SkillsWrite];
    let (ours, theirs) = (world.caller(&scopes).await, world.stranger(&scopes).await);
    let id = world
        .create_skill(&ours, new("A", "B", "C"))
        .await
        .unwrap()
        .skill_id;
    let update = UpdateSkill {
        name: Some("X".to_owned()),
        ..change(&id)
    };
    for refused in [
        world.skill(&theirs, &id).await.map(drop),
        world.update_skill(&theirs, update).await.map(drop),
        world.delete_skill(&theirs, &id).await.map(drop),
        world.skill_versions(&theirs, versions(&id)).await.map(drop),
    ] {
        assert_eq!(refused.unwrap_err().code(), "skill_not_found");
    }
    assert_eq!(world.list_skills(&theirs, all("")).await.unwrap().total, 0);
    assert_eq!(world.skill(&ours, &id).await.unwrap().name, "A");
}

#[tokio::test]
async fn reading_and_writing_need_their_own_scopes() {
    let world = TestWorld::open().await;
    let reader = world.caller(&[Scope::SkillsRead]).await;
    let writer = world.caller(&[Scope::SkillsWrite]).await;
    let id = world
        .create_skill(&writer, new("A", "B", "C"))
        .await
        .unwrap()
        .skill_id;
    assert!(world.skill(&reader, &id).await.is_ok());
    let update = UpdateSkill {
        name: Some("X".to_owned()),
        ..change(&id)
    };
    for refused in [
        world.skill(&writer, &id).await.map(drop),
        world.list_skills(&writer, all("")).await.map(drop),
        world
            .create_skill(&reader, new("A", "B", "C"))
            .await
            .map(drop),
        world.update_skill(&reader, update).await.map(drop),
        world.delete_skill(&reader, &id).await.map(drop),
    ] {
        assert_eq!(refused.unwrap_err().code(), "scope_denied");
    }
}
