//! What ends a link that lets a person in, before its time.

use toolgate_store::{LinkKind, Member, MemberLink, Role, Store, Workspace};

use super::members::{begin_sign_in, link, member};
use super::{Empty, NOW_MS, on_both, waiting_for_locks, workspace};

on_both!(
    another_role_password_or_account_ends_a_reset_link,
    a_reset_link_is_good_once_and_for_the_role_that_it_was_made_for,
    an_owner_ends_the_link_for_the_first_owner,
);

fn reset(of: &Workspace, member_id: &str) -> MemberLink {
    MemberLink {
        email: Some(format!("{member_id}@example.com")),
        member_id: Some(member_id.into()),
        ..link(of, &format!("inv_{member_id}"), LinkKind::Reset)
    }
}

async fn is_open(store: &Store, id: &str) -> bool {
    let hash = format!("hash of {id}");
    let found = store.find_member_link(&hash, NOW_MS).await;
    found.unwrap().is_some()
}

async fn another_role_password_or_account_ends_a_reset_link(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let store = &at.store;
    for id in ["ada", "bob", "cyd", "dan", "eve"] {
        let one = member(&acme, id, Role::Member);
        store.insert_member(&one).await.unwrap();
        store.put_member_link(&reset(&acme, id)).await.unwrap();
    }
    let promoted = store.set_member_role(&acme.id, "ada", Role::Member, Role::Owner);
    promoted.await.unwrap();
    let set = store
        .set_member_password(&acme.id, "bob", "new", None)
        .await;
    assert!(set.unwrap());
    let subject = "https://id.example.com 7";
    let tied = store.link_member_oidc(&acme.id, "cyd", subject).await;
    assert!(tied.unwrap());
    let renamed = store.rename_member(&acme.id, "dan", "Dan").await;
    assert!(renamed.unwrap());
    for (id, open) in [
        ("ada", false),
        ("bob", false),
        ("cyd", false),
        ("dan", true),
        ("eve", true),
    ] {
        assert_eq!(is_open(store, &format!("inv_{id}")).await, open, "{id}");
    }
}

async fn a_reset_link_is_good_once_and_for_the_role_that_it_was_made_for(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let ada = member(&acme, "ada", Role::Owner);
    at.store.insert_member(&ada).await.unwrap();
    begin_sign_in(&at.store, &ada, "sin_1").await;
    let signed_in = async || {
        let found = at.store.find_sign_in(&acme.id, "sin_1", NOW_MS).await;
        found.unwrap().is_some()
    };
    let use_it = |store: &Store, password: &'static str, now_ms| {
        let store = store.clone();
        async move {
            let reset = store.reset_member_password("hash of inv_ada", password, now_ms);
            reset.await.unwrap()
        }
    };

    // Made from what was read before she became an owner, and kept afterwards.
    let stale = reset(&acme, "ada");
    at.store.put_member_link(&stale).await.unwrap();
    assert_eq!(use_it(&at.store, "stolen", NOW_MS).await, None);
    assert!(!is_open(&at.store, "inv_ada").await);
    let kept = at.store.find_member(&acme.id, "ada").await.unwrap();
    assert_eq!(kept.unwrap().password_hash, ada.password_hash);
    assert!(signed_in().await);

    let own = MemberLink {
        role: Role::Owner,
        ..stale
    };
    at.store.put_member_link(&own).await.unwrap();
    assert_eq!(use_it(&at.store, "late", NOW_MS + 100).await, None);
    let elsewhere = Store::open(&at.url).await.unwrap();
    let (one, two) = tokio::join!(
        use_it(&at.store, "new", NOW_MS),
        use_it(&elsewhere, "newer", NOW_MS),
    );
    let password = |reset: Option<Member>| reset.and_then(|member| member.password_hash);
    let set: Vec<String> = [one, two].into_iter().filter_map(password).collect();
    assert_eq!(set.len(), 1, "{set:?}");
    let now = at.store.find_member(&acme.id, "ada").await.unwrap();
    assert_eq!(now.unwrap().password_hash.as_ref(), set.first());
    assert!(!signed_in().await, "whoever was signed in is out");
}

async fn an_owner_ends_the_link_for_the_first_owner(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let store = &at.store;
    let first = |id: &str| MemberLink {
        role: Role::Owner,
        ..link(&acme, id, LinkKind::Setup)
    };
    store.put_member_link(&first("inv_1")).await.unwrap();
    for one in [
        member(&acme, "bob", Role::Admin),
        member(&other, "eve", Role::Owner),
    ] {
        store.insert_member(&one).await.unwrap();
        assert!(is_open(store, "inv_1").await, "{}", one.id);
    }
    let ada = member(&acme, "ada", Role::Owner);
    store.insert_member(&ada).await.unwrap();
    assert!(!is_open(store, "inv_1").await);

    // One that is there in spite of an owner is refused when it is used, and is gone.
    store.put_member_link(&first("inv_2")).await.unwrap();
    let taken = store.take_member_link("hash of inv_2", NOW_MS).await;
    assert_eq!(taken.unwrap(), None);
    assert!(!is_open(store, "inv_2").await);
    let invitation = link(&acme, "inv_3", LinkKind::Join);
    store.put_member_link(&invitation).await.unwrap();
    let taken = store.take_member_link("hash of inv_3", NOW_MS).await;
    assert_eq!(taken.unwrap(), Some(invitation));
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_a_promotion_that_is_under_way_ends_the_reset_link() {
    let at = super::on_postgres().await;
    let acme = workspace(&at.store, "acme").await;
    let ada = member(&acme, "ada", Role::Member);
    at.store.insert_member(&ada).await.unwrap();
    let link = reset(&acme, "ada");
    at.store.put_member_link(&link).await.unwrap();
    let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
    let mut held = pool.begin().await.unwrap();
    sqlx::query("UPDATE members SET role = 'owner'")
        .execute(&mut *held)
        .await
        .unwrap();
    let store = at.store.clone();
    let using = tokio::spawn(async move {
        let reset = store.reset_member_password("hash of inv_ada", "stolen", NOW_MS);
        reset.await.unwrap()
    });
    waiting_for_locks(&pool, 1).await;
    held.commit().await.unwrap();
    assert_eq!(using.await.unwrap(), None);
    let now = at.store.find_member(&acme.id, "ada").await.unwrap();
    let now = now.unwrap();
    assert_eq!(
        (now.role, now.password_hash),
        (Role::Owner, ada.password_hash)
    );
}
