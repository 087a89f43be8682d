use toolgate_store::{
    SKILL_VERSIONS_MAX, SkillChange, SkillRow, SkillUpdate, SkillVersionPage, Store, Workspace,
};

use super::toolsets::toolset;
use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    an_update_changes_what_is_given_and_keeps_the_history,
    of_two_updates_of_one_version_one_wins,
    a_skill_of_a_toolset_is_left_alone_where_that_was_asked,
    skills_are_listed_newest_first_with_their_total,
    a_filter_takes_every_word_literally_and_folds_case,
    a_skill_belongs_to_one_workspace,
    versions_are_read_page_by_page,
    a_page_of_versions_is_bounded_in_text,
    old_versions_give_way_to_new_ones,
);

pub(super) fn skill(workspace: &Workspace, id: &str, name: &str, at_ms: i64) -> SkillRow {
    SkillRow {
        workspace_id: workspace.id.clone(),
        id: id.into(),
        name: name.into(),
        summary: "When a release is due".into(),
        instructions: "1. Read the log.".into(),
        version: 1,
        created_at_ms: NOW_MS + at_ms,
        updated_at_ms: NOW_MS + at_ms,
    }
}

async fn an_update_changes_what_is_given_and_keeps_the_history(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let made = skill(&acme, "s", "Release notes", 0);
    at.store.insert_skill(&made).await.unwrap();
    assert_eq!(
        at.store.find_skill(&acme.id, "s").await.unwrap(),
        Some(made.clone())
    );
    let change = SkillChange {
        name: Some("Änderungen"),
        ..Default::default()
    };
    let updated = at
        .store
        .update_skill(&acme.id, "s", &change, NOW_MS + 9)
        .await
        .unwrap();
    let expected = SkillRow {
        name: "Änderungen".into(),
        version: 2,
        updated_at_ms: NOW_MS + 9,
        ..made
    };
    assert_eq!(updated, SkillUpdate::Updated(expected));
    assert_eq!(
        at.store
            .list_skills(&acme.id, "notes", 10, 0)
            .await
            .unwrap()
            .1,
        0,
        "found by its new name"
    );
    assert_eq!(
        at.store
            .list_skills(&acme.id, "änderungen", 10, 0)
            .await
            .unwrap()
            .1,
        1
    );

    let history = at.store.skill_versions(&acme.id, "s", None, 10).await;
    let history = history.unwrap();
    assert_eq!(history.below, None);
    let names: Vec<_> = history
        .versions
        .iter()
        .map(|was| (was.version, was.name.as_str()))
        .collect();
    assert_eq!(names, [(2, "Änderungen"), (1, "Release notes")]);
    assert!(at.store.delete_skill(&acme.id, "s", NOW_MS).await.unwrap());
    assert!(!at.store.delete_skill(&acme.id, "s", NOW_MS).await.unwrap());
    let gone = at.store.skill_versions(&acme.id, "s", None, 10).await;
    assert_eq!(gone.unwrap(), SkillVersionPage::default());
}

async fn of_two_updates_of_one_version_one_wins(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .insert_skill(&skill(&acme, "s", "x", 0))
        .await
        .unwrap();
    let racing = ["a", "b"].map(|summary| {
        let (store, workspace_id) = (at.store.clone(), acme.id.clone());
        tokio::spawn(async move {
            let change = SkillChange {
                summary: Some(summary),
                if_version: Some(1),
                ..Default::default()
            };
            store
                .update_skill(&workspace_id, "s", &change, NOW_MS)
                .await
                .unwrap()
        })
    });
    let mut stale = 0;
    for one in racing {
        stale += usize::from(one.await.unwrap() == SkillUpdate::Stale { version: 2 });
    }
    assert_eq!(stale, 1);
    let none = at
        .store
        .update_skill(&acme.id, "none", &SkillChange::default(), NOW_MS)
        .await
        .unwrap();
    assert_eq!(none, SkillUpdate::NotFound);
}

async fn a_skill_of_a_toolset_is_left_alone_where_that_was_asked(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let other = workspace(&at.store, "other").await;
    for (workspace, id) in [(&acme, "s"), (&acme, "s_2"), (&other, "s")] {
        let made = skill(workspace, id, "x", 0);
        at.store.insert_skill(&made).await.unwrap();
    }
    let mut row = toolset(&acme, "support");
    row.skills = vec!["first".to_owned(), "s".to_owned()];
    at.store.insert_toolset(&row, 10, &[]).await.unwrap();
    let change = async |workspace: &Workspace, id: &str, unless_in_toolset| {
        let change = SkillChange {
            summary: Some("other"),
            unless_in_toolset,
            ..Default::default()
        };
        let changed = at.store.update_skill(&workspace.id, id, &change, NOW_MS);
        changed.await.unwrap()
    };
    assert_eq!(change(&acme, "s", true).await, SkillUpdate::InToolset);
    let left = at.store.find_skill(&acme.id, "s").await.unwrap().unwrap();
    assert_eq!(left, skill(&acme, "s", "x", 0));
    // An id that another one begins with or contains is not that one, and `_` stands for itself.
    for (workspace, id, unless) in [
        (&acme, "s_2", true),
        (&other, "s", true),
        (&acme, "s", false),
    ] {
        let changed = change(workspace, id, unless).await;
        assert!(
            matches!(changed, SkillUpdate::Updated(_)),
            "{id}: {changed:?}"
        );
    }
}

async fn skills_are_listed_newest_first_with_their_total(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    for n in 0..5 {
        at.store
            .insert_skill(&skill(&acme, &n.to_string(), "x", n))
            .await
            .unwrap();
    }
    for (limit, offset, expected) in [
        (2, 0, "43"),
        (2, 2, "21"),
        (2, 4, "0"),
        (2, 9, ""),
        (100, 0, "43210"),
    ] {
        let (skills, total) = at
            .store
            .list_skills(&acme.id, "", limit, offset)
            .await
            .unwrap();
        let ids: String = skills.iter().map(|skill| skill.id.as_str()).collect();
        assert_eq!(
            (ids.as_str(), total),
            (expected, 5),
            "limit {limit} offset {offset}"
        );
        assert!(skills.iter().all(|skill| skill.instructions.is_empty()));
    }
}

async fn a_filter_takes_every_word_literally_and_folds_case(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    for (id, name) in [
        ("1", "Release notes"),
        ("2", "100% ÜBUNG"),
        ("3", r"a_b \ c"),
    ] {
        at.store
            .insert_skill(&skill(&acme, id, name, 0))
            .await
            .unwrap();
    }
    for (query, found) in [
        ("RELEASE", 3),
        ("  notes \n release ", 1),
        ("notes übung", 0),
        ("übung", 1),
        ("100%", 1),
        ("%", 1),
        ("_", 1),
        (r"\", 1),
        ("a%b", 0),
        ("'; DROP TABLE skills; --", 0),
        ("log", 0),
    ] {
        assert_eq!(
            at.store
                .list_skills(&acme.id, query, 10, 0)
                .await
                .unwrap()
                .1,
            found,
            "{query:?}"
        );
    }
}

async fn a_skill_belongs_to_one_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store
        .insert_skill(&skill(&acme, "s", "x", 0))
        .await
        .unwrap();
    assert!(at.store.find_skill(&other.id, "s").await.unwrap().is_none());
    assert_eq!(
        at.store.list_skills(&other.id, "", 10, 0).await.unwrap(),
        (vec![], 0)
    );
    let update = at
        .store
        .update_skill(&other.id, "s", &SkillChange::default(), NOW_MS)
        .await
        .unwrap();
    assert_eq!(update, SkillUpdate::NotFound);
    assert!(!at.store.delete_skill(&other.id, "s", NOW_MS).await.unwrap());
    let versions = at.store.skill_versions(&other.id, "s", None, 10).await;
    assert_eq!(versions.unwrap(), SkillVersionPage::default());
}

/// Updates Skill `s` so often, each time with these instructions.
async fn update(store: &Store, workspace: &Workspace, times: i64, instructions: &str) {
    let change = SkillChange {
        instructions: Some(instructions),
        ..Default::default()
    };
    for n in 1..=times {
        let updated = store
            .update_skill(&workspace.id, "s", &change, NOW_MS + n)
            .await;
        assert!(matches!(updated.unwrap(), SkillUpdate::Updated(_)));
    }
}

/// The versions of a page in order, and where the next begins.
async fn page(
    at: &Empty,
    workspace: &Workspace,
    below: Option<i64>,
    limit: usize,
) -> (Vec<i64>, Option<i64>) {
    let page = at.store.skill_versions(&workspace.id, "s", below, limit);
    let page = page.await.unwrap();
    let versions = page.versions.iter().map(|one| one.version).collect();
    (versions, page.below)
}

async fn versions_are_read_page_by_page(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let made = skill(&acme, "s", "x", 0);
    at.store.insert_skill(&made).await.unwrap();
    update(&at.store, &acme, 4, "2. Write it.").await;
    let first = page(&at, &acme, None, 2).await;
    assert_eq!(first, (vec![5, 4], Some(4)));
    update(&at.store, &acme, 1, "3. Send it.").await;
    let second = page(&at, &acme, first.1, 2).await;
    assert_eq!(second, (vec![3, 2], Some(2)), "what is new moves nothing");
    assert_eq!(page(&at, &acme, second.1, 2).await, (vec![1], None));
    assert_eq!(page(&at, &acme, Some(3), 2).await, (vec![2, 1], None));
    assert_eq!(page(&at, &acme, Some(1), 2).await, (vec![], None));
}

async fn a_page_of_versions_is_bounded_in_text(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let made = skill(&acme, "s", "x", 0);
    at.store.insert_skill(&made).await.unwrap();
    // 400 kB each: ten of them fit into 4 MiB.
    update(&at.store, &acme, 24, &"\u{1f980}".repeat(100_000)).await;
    let (first, below) = page(&at, &acme, None, 100).await;
    assert_eq!(first, (16..=25).rev().collect::<Vec<_>>());
    let (second, below) = page(&at, &acme, below, 100).await;
    assert_eq!(second, (6..=15).rev().collect::<Vec<_>>());
    let (third, below) = page(&at, &acme, below, 100).await;
    assert_eq!((third, below), (vec![5, 4, 3, 2, 1], None));
    // One that is larger than a page alone is answered all the same.
    update(&at.store, &acme, 1, &"x".repeat(5 << 20)).await;
    assert_eq!(page(&at, &acme, None, 100).await, (vec![26], Some(26)));
}

async fn old_versions_give_way_to_new_ones(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let made = skill(&acme, "s", "x", 0);
    at.store.insert_skill(&made).await.unwrap();
    let other = skill(&acme, "other", "y", 0);
    at.store.insert_skill(&other).await.unwrap();
    update(&at.store, &acme, SKILL_VERSIONS_MAX + 5, "2. Write it.").await;
    let (kept, below) = page(&at, &acme, None, 1_000).await;
    let newest = SKILL_VERSIONS_MAX + 6;
    assert_eq!(kept, (7..=newest).rev().collect::<Vec<_>>());
    assert_eq!(below, None);
    let untouched = at.store.skill_versions(&acme.id, "other", None, 10).await;
    assert_eq!(untouched.unwrap().versions.len(), 1);
}
