use toolgate_store::{
    AttemptDecision, LinkKind, Member, MemberChange, MemberLink, Role, SignIn, SignInProof, Store,
    Topic, Workspace,
};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    an_address_is_once_in_a_workspace,
    the_last_owner_stays,
    of_two_owners_who_leave_at_once_one_stays,
    a_removed_member_is_signed_out_and_loses_their_links,
    a_new_password_ends_the_other_sign_ins,
    an_account_of_a_provider_is_remembered,
    an_unproven_members_password_ends_with_the_proof,
    failures_make_their_own_subject_wait,
    a_link_is_taken_once,
    a_new_link_takes_the_place_of_the_one_before,
    of_two_who_use_a_refresh_token_one_wins,
    a_sign_in_ends_with_its_time,
);

pub(super) fn member(workspace: &Workspace, id: &str, role: Role) -> Member {
    Member {
        workspace_id: workspace.id.clone(),
        id: id.into(),
        email: format!("{id}@example.com"),
        name: format!("name of {id}"),
        role,
        password_hash: Some("hash".into()),
        oidc_subject: None,
        created_at_ms: NOW_MS,
        last_seen_at_ms: None,
        vouched: true,
    }
}

pub(super) fn link(workspace: &Workspace, id: &str, kind: LinkKind) -> MemberLink {
    MemberLink {
        workspace_id: workspace.id.clone(),
        id: id.into(),
        token_hash: format!("hash of {id}"),
        kind,
        email: None,
        role: Role::Member,
        member_id: None,
        created_at_ms: NOW_MS,
        expires_at_ms: NOW_MS + 100,
        vouched: false,
    }
}

pub(super) fn sign_in(member: &Member, id: &str) -> SignIn {
    SignIn {
        workspace_id: member.workspace_id.clone(),
        id: id.into(),
        member_id: member.id.clone(),
        refresh_hash: format!("first of {id}"),
        previous_hash: None,
        rotated_at_ms: NOW_MS,
        created_at_ms: NOW_MS,
        last_seen_at_ms: NOW_MS,
        expires_at_ms: NOW_MS + 100,
        address: Some("127.0.0.1".into()),
        user_agent: None,
    }
}

/// Signs a member in with the password.
pub(super) async fn begin_sign_in(store: &Store, member: &Member, id: &str) -> SignIn {
    let sign_in = sign_in(member, id);
    let begun = store.insert_sign_in(&sign_in, member, SignInProof::Password);
    assert!(begun.await.unwrap(), "{id}");
    sign_in
}

async fn ids(store: &Store, workspace: &Workspace) -> Vec<String> {
    let members = store.list_members(&workspace.id).await.unwrap();
    members.into_iter().map(|member| member.id).collect()
}

async fn an_address_is_once_in_a_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    assert!(!at.store.has_members().await.unwrap());
    let ada = member(&acme, "ada", Role::Owner);
    at.store.insert_member(&ada).await.unwrap();
    assert!(at.store.has_members().await.unwrap());
    let twice = Member {
        id: "another".into(),
        ..ada.clone()
    };
    let refused = at.store.insert_member(&twice).await.unwrap_err();
    assert!(refused.to_string().contains("e-mail"), "{refused}");
    let elsewhere = Member {
        created_at_ms: NOW_MS + 1,
        ..member(&other, "ada", Role::Member)
    };
    at.store.insert_member(&elsewhere).await.unwrap();
    let found = at.store.members_with_email(&ada.email, 8).await.unwrap();
    assert_eq!(found, [ada.clone(), elsewhere]);
    let first = at.store.members_with_email(&ada.email, 1).await.unwrap();
    assert_eq!(first, std::slice::from_ref(&ada));
    assert!(
        at.store
            .rename_member(&acme.id, "ada", "Ada L.")
            .await
            .unwrap()
    );
    assert!(!at.store.rename_member(&acme.id, "eve", "E").await.unwrap());
    let renamed = at.store.find_member(&acme.id, "ada").await.unwrap();
    assert_eq!(renamed.unwrap().name, "Ada L.");
    let kept = at.store.find_member(&other.id, "ada").await.unwrap();
    assert_eq!(kept.unwrap().name, "name of ada");
}

async fn the_last_owner_stays(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    for (of, id, role) in [
        (&acme, "ada", Role::Owner),
        (&acme, "bob", Role::Admin),
        (&other, "eve", Role::Owner),
    ] {
        at.store.insert_member(&member(of, id, role)).await.unwrap();
    }
    let before = at.store.changes().await.unwrap().get(Topic::Members);
    let set = async |id: &str, from, to| {
        let set = at.store.set_member_role(&acme.id, id, from, to);
        set.await.unwrap()
    };
    let delete = async |id: &str, role| {
        let deleted = at.store.delete_member(&acme.id, id, role);
        deleted.await.unwrap()
    };
    let (owner, admin, member) = (Role::Owner, Role::Admin, Role::Member);
    assert_eq!(set("ada", owner, admin).await, MemberChange::LastOwner);
    assert_eq!(delete("ada", owner).await, MemberChange::LastOwner);
    for role in [owner, admin] {
        assert_eq!(set("eve", role, admin).await, MemberChange::NotFound);
        assert_eq!(delete("eve", role).await, MemberChange::NotFound);
    }
    assert_eq!(set("ada", owner, owner).await, MemberChange::Done);
    assert_eq!(set("bob", admin, owner).await, MemberChange::Done);
    assert_eq!(set("ada", owner, member).await, MemberChange::Done);
    assert_eq!(delete("ada", member).await, MemberChange::Done);
    assert!(at.store.changes().await.unwrap().get(Topic::Members) > before);
    assert_eq!(ids(&at.store, &acme).await, ["bob"]);
    assert_eq!(ids(&at.store, &other).await, ["eve"]);
}

async fn of_two_owners_who_leave_at_once_one_stays(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    for round in 0..5 {
        let (one, two) = (format!("one{round}"), format!("two{round}"));
        for id in [&one, &two] {
            let owner = member(&acme, id, Role::Owner);
            at.store.insert_member(&owner).await.unwrap();
        }
        // Whoever stayed in the round before makes room.
        for stayed in at.store.list_members(&acme.id).await.unwrap() {
            let (id, role) = (stayed.id, stayed.role);
            if id != one && id != two {
                let gone = at.store.delete_member(&acme.id, &id, role).await;
                assert_eq!(gone.unwrap(), MemberChange::Done, "{id}");
            }
        }
        let elsewhere = Store::open(&at.url).await.unwrap();
        let (first, second) = tokio::join!(
            at.store.delete_member(&acme.id, &one, Role::Owner),
            elsewhere.set_member_role(&acme.id, &two, Role::Owner, Role::Admin),
        );
        let done = [first.unwrap(), second.unwrap()];
        assert!(done.contains(&MemberChange::Done), "{done:?}");
        assert!(done.contains(&MemberChange::LastOwner), "{done:?}");
        let members = at.store.list_members(&acme.id).await.unwrap();
        let owners = members.iter().filter(|row| row.role == Role::Owner);
        assert_eq!(owners.count(), 1);
    }
}

async fn a_removed_member_is_signed_out_and_loses_their_links(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let (ada, bob) = (
        member(&acme, "ada", Role::Owner),
        member(&acme, "bob", Role::Member),
    );
    for one in [&ada, &bob] {
        at.store.insert_member(one).await.unwrap();
        begin_sign_in(&at.store, one, &format!("sin_{}", one.id)).await;
        let reset = MemberLink {
            member_id: Some(one.id.clone()),
            ..link(&acme, &format!("inv_{}", one.id), LinkKind::Reset)
        };
        at.store.put_member_link(&reset).await.unwrap();
        // From before they became a member by another way.
        let invitation = MemberLink {
            email: Some(one.email.clone()),
            ..link(&acme, &format!("joins_{}", one.id), LinkKind::Join)
        };
        at.store.put_member_link(&invitation).await.unwrap();
    }
    let (_, found) = at
        .store
        .find_sign_in(&acme.id, "sin_bob", NOW_MS)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.last_seen_at_ms, Some(NOW_MS));
    let removed = at.store.delete_member(&acme.id, "bob", Role::Member).await;
    assert_eq!(removed.unwrap(), MemberChange::Done);
    for (id, there) in [("ada", true), ("bob", false)] {
        let sign_in = format!("sin_{id}");
        let sign_in = at.store.find_sign_in(&acme.id, &sign_in, NOW_MS);
        assert_eq!(sign_in.await.unwrap().is_some(), there, "{id}");
        for kind in ["inv", "joins"] {
            let hash = format!("hash of {kind}_{id}");
            let link = at.store.find_member_link(&hash, NOW_MS).await.unwrap();
            assert_eq!(link.is_some(), there, "{kind} {id}");
        }
    }
}

async fn a_new_password_ends_the_other_sign_ins(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let (ada, bob) = (
        member(&acme, "ada", Role::Owner),
        member(&acme, "bob", Role::Member),
    );
    for (one, id) in [(&ada, "sin_1"), (&ada, "sin_2"), (&bob, "sin_3")] {
        if id != "sin_2" {
            at.store.insert_member(one).await.unwrap();
        }
        begin_sign_in(&at.store, one, id).await;
    }
    let set = |id, keep| at.store.set_member_password(&acme.id, id, "new", keep);
    assert!(!set("eve", None).await.unwrap());
    assert!(set("ada", Some("sin_1")).await.unwrap());
    let list = async |id: &str| {
        let listed = at.store.list_sign_ins(&acme.id, id, NOW_MS).await.unwrap();
        listed.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(list("ada").await, ["sin_1"]);
    assert_eq!(list("bob").await, ["sin_3"]);
    assert!(set("ada", None).await.unwrap());
    assert!(list("ada").await.is_empty());
    let ada = at.store.find_member(&acme.id, "ada").await.unwrap();
    assert_eq!(ada.unwrap().password_hash.as_deref(), Some("new"));
}

async fn an_account_of_a_provider_is_remembered(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let ada = member(&acme, "ada", Role::Owner);
    at.store.insert_member(&ada).await.unwrap();
    let subject = "https://id.example.com 7";
    assert_eq!(at.store.members_with_oidc(subject, 9).await.unwrap(), []);
    let tied = at.store.link_member_oidc(&acme.id, "ada", subject).await;
    assert!(tied.unwrap());
    let found = at.store.members_with_oidc(subject, 9).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&*found[0].id, found[0].oidc_subject.as_deref()),
        ("ada", Some(subject))
    );
    assert!(found[0].password_hash.is_some(), "the operator vouched");
    let other = at.store.members_with_oidc("https://id.example.com 8", 9);
    assert_eq!(other.await.unwrap(), []);
    let taken = at
        .store
        .link_member_oidc(&acme.id, "ada", "https://id.example.com 8");
    assert!(!taken.await.unwrap(), "another account");
}

async fn an_unproven_members_password_ends_with_the_proof(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let mut eve = member(&acme, "eve", Role::Member);
    eve.vouched = false;
    at.store.insert_member(&eve).await.unwrap();
    begin_sign_in(&at.store, &eve, "sin_1").await;
    let tied = at
        .store
        .link_member_oidc(&acme.id, "eve", "https://id.example.com 9");
    assert!(tied.await.unwrap());
    let now = at
        .store
        .find_member(&acme.id, "eve")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((now.password_hash, now.vouched), (None, true));
    let gone = at.store.find_sign_in(&acme.id, "sin_1", NOW_MS).await;
    assert_eq!(gone.unwrap(), None, "whoever took the invitation is out");
}

async fn failures_make_their_own_subject_wait(at: Empty) {
    let attempt = async |subject: &str, now_ms| {
        let counted = at.store.count_sign_in_attempt(subject, now_ms, NOW_MS - 1);
        counted.await.unwrap()
    };
    for _ in 0..9 {
        assert_eq!(attempt("a", NOW_MS).await, AttemptDecision::Counted);
    }
    assert_eq!(
        attempt("a", NOW_MS).await,
        AttemptDecision::Counted,
        "the tenth"
    );
    let until_ms = NOW_MS + 2_000;
    assert_eq!(
        attempt("a", NOW_MS).await,
        AttemptDecision::Blocked { until_ms }
    );
    assert_eq!(attempt("b", NOW_MS).await, AttemptDecision::Counted);
    assert_eq!(attempt("a", until_ms).await, AttemptDecision::Counted);
    let until_ms = until_ms + 4_000;
    assert_eq!(
        attempt("a", until_ms - 1).await,
        AttemptDecision::Blocked { until_ms }
    );
    at.store.forgive_sign_in_attempts("a").await.unwrap();
    assert_eq!(attempt("a", until_ms - 1).await, AttemptDecision::Counted);
}

async fn a_link_is_taken_once(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let made = link(&acme, "inv_1", LinkKind::Setup);
    at.store.put_member_link(&made).await.unwrap();
    let find = |now_ms| at.store.find_member_link("hash of inv_1", now_ms);
    assert_eq!(find(NOW_MS + 99).await.unwrap(), Some(made.clone()));
    assert_eq!(find(NOW_MS + 100).await.unwrap(), None);
    let late = at.store.take_member_link("hash of inv_1", NOW_MS + 100);
    assert_eq!(late.await.unwrap(), None);
    let elsewhere = Store::open(&at.url).await.unwrap();
    let (one, two) = tokio::join!(
        at.store.take_member_link("hash of inv_1", NOW_MS),
        elsewhere.take_member_link("hash of inv_1", NOW_MS),
    );
    let got: Vec<_> = [one.unwrap(), two.unwrap()].into_iter().flatten().collect();
    assert_eq!(got, [made]);

    let again = link(&acme, "inv_2", LinkKind::Join);
    at.store.put_member_link(&again).await.unwrap();
    assert_eq!(at.store.purge_member_links(NOW_MS + 99).await.unwrap(), 0);
    assert_eq!(at.store.purge_member_links(NOW_MS + 100).await.unwrap(), 1);
}

async fn a_new_link_takes_the_place_of_the_one_before(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let invite = |of: &Workspace, id: &str, email: &str, at_ms: i64| MemberLink {
        email: Some(email.into()),
        created_at_ms: NOW_MS + at_ms,
        ..link(of, id, LinkKind::Join)
    };
    for made in [
        invite(&acme, "inv_1", "bob@example.com", 0),
        invite(&acme, "inv_2", "eve@example.com", 1),
        invite(&other, "inv_3", "bob@example.com", 2),
        invite(&acme, "inv_4", "bob@example.com", 3),
        link(&acme, "inv_5", LinkKind::Setup),
        link(&acme, "inv_6", LinkKind::Setup),
    ] {
        at.store.put_member_link(&made).await.unwrap();
    }
    let open = async |of: &Workspace, now_ms| {
        let rows = at.store.list_invitations(&of.id, now_ms).await.unwrap();
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(open(&acme, NOW_MS).await, ["inv_4", "inv_2"]);
    assert_eq!(open(&other, NOW_MS).await, ["inv_3"]);
    assert!(open(&acme, NOW_MS + 100).await.is_empty());
    for (hash, there) in [("inv_1", false), ("inv_5", false), ("inv_6", true)] {
        let hash = format!("hash of {hash}");
        let found = at.store.find_member_link(&hash, NOW_MS).await.unwrap();
        assert_eq!(found.is_some(), there, "{hash}");
    }
    let delete = |of: &Workspace, id: &'static str| {
        let (store, workspace_id) = (at.store.clone(), of.id.clone());
        async move { store.delete_invitation(&workspace_id, id).await.unwrap() }
    };
    assert_eq!(delete(&other, "inv_4").await, None);
    assert_eq!(
        delete(&acme, "inv_6").await,
        None,
        "a set-up is not an invitation"
    );
    assert_eq!(delete(&acme, "inv_4").await.unwrap().id, "inv_4");
    assert_eq!(delete(&acme, "inv_4").await, None);
}

async fn of_two_who_use_a_refresh_token_one_wins(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let ada = member(&acme, "ada", Role::Owner);
    at.store.insert_member(&ada).await.unwrap();
    let first = begin_sign_in(&at.store, &ada, "sin_1").await;
    let elsewhere = Store::open(&at.url).await.unwrap();
    let (one, two) = tokio::join!(
        at.store
            .rotate_sign_in(&first, "second", NOW_MS + 200, NOW_MS + 50),
        elsewhere.rotate_sign_in(&first, "third", NOW_MS + 200, NOW_MS + 50),
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert!(one != two, "{one} {two}");
    let hash = if one { "second" } else { "third" };
    // The token before is still known by its sign-in: its next use tells of a thief.
    for known in [hash, "first of sin_1"] {
        let found = at.store.find_sign_in_by_refresh(known, NOW_MS + 150).await;
        let found = found.unwrap().unwrap();
        assert_eq!(found.refresh_hash, hash);
        assert_eq!(found.previous_hash.as_deref(), Some("first of sin_1"));
        assert_eq!(found.rotated_at_ms, NOW_MS + 50);
    }
    let lost = if one { "third" } else { "second" };
    let found = at.store.find_sign_in_by_refresh(lost, NOW_MS + 150).await;
    assert_eq!(found.unwrap(), None);
    let ada = at.store.find_member(&acme.id, "ada").await.unwrap();
    assert_eq!(ada.unwrap().last_seen_at_ms, Some(NOW_MS + 50));
}

async fn a_sign_in_ends_with_its_time(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let ada = member(&acme, "ada", Role::Owner);
    at.store.insert_member(&ada).await.unwrap();
    for id in ["sin_1", "sin_2"] {
        begin_sign_in(&at.store, &ada, id).await;
    }
    let find = |of: &Workspace, now_ms| {
        let (store, workspace_id) = (at.store.clone(), of.id.clone());
        async move {
            store
                .find_sign_in(&workspace_id, "sin_1", now_ms)
                .await
                .unwrap()
        }
    };
    assert!(find(&acme, NOW_MS + 99).await.is_some());
    assert!(find(&acme, NOW_MS + 100).await.is_none());
    assert!(find(&other, NOW_MS).await.is_none());
    let delete = |of: &Workspace, member: &'static str| {
        let (store, workspace_id) = (at.store.clone(), of.id.clone());
        async move {
            store
                .delete_sign_in(&workspace_id, member, "sin_2")
                .await
                .unwrap()
        }
    };
    assert!(!delete(&acme, "bob").await, "only one's own");
    assert!(!delete(&other, "ada").await);
    assert!(delete(&acme, "ada").await);
    assert!(!delete(&acme, "ada").await);
    assert_eq!(at.store.purge_sign_ins(NOW_MS + 99).await.unwrap(), 0);
    assert_eq!(at.store.purge_sign_ins(NOW_MS + 100).await.unwrap(), 1);
}
