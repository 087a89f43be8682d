//! A change of a member that comes between what a request has read of the member and what it writes.

use std::sync::Arc;

use sqlx::{PgPool, Postgres, Transaction};
use toolgate_gateway::Caller;
use toolgate_gateway::identity::members::Passwords;
use toolgate_gateway::identity::members::sign_in::{Browser, SignInRequest};
use toolgate_store::{
    AuditEntry, AuditedStore, Member, MemberChange, Role, SignInProof, Store, Workspace,
};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::postgres::fresh_url;
use toolgate_vault::Secret;

use super::members::{member, sign_in};
use super::{Empty, NOW_MS, on_both, waiting_for_locks, workspace};

const PASSWORD: &str = "correct horse battery";

on_both!(
    a_member_whose_role_has_changed_keeps_it,
    a_sign_in_begins_with_the_password_or_account_that_was_checked,
);

fn audited(store: &Store, of: &Workspace, id: &str) -> AuditedStore {
    store.audited(AuditEntry {
        workspace_id: of.id.clone(),
        id: id.to_owned(),
        at_ms: NOW_MS,
        actor: "operator".to_owned(),
        action: "members.change".to_owned(),
        subject: "bob".to_owned(),
        details: "{}".to_owned(),
        address: None,
        request_id: None,
    })
}

async fn entries(store: &Store, workspace_id: &str) -> Vec<String> {
    let page = store.list_audit_entries(workspace_id, None, 100).await;
    let rows = page.unwrap().items.into_iter();
    rows.map(|row| format!("{} {}", row.id, row.action))
        .collect()
}

async fn a_member_whose_role_has_changed_keeps_it(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    for (id, role) in [("ada", Role::Owner), ("bob", Role::Owner)] {
        let one = member(&acme, id, role);
        at.store.insert_member(&one).await.unwrap();
    }
    for (n, seen) in [Role::Member, Role::Admin].into_iter().enumerate() {
        let demoting = audited(&at.store, &acme, &format!("aud_demote_{n}"));
        let demoted = demoting.set_member_role(&acme.id, "bob", seen, Role::Member);
        assert_eq!(demoted.await.unwrap(), MemberChange::OtherRole, "{seen}");
        let removing = audited(&at.store, &acme, &format!("aud_remove_{n}"));
        let removed = removing.delete_member(&acme.id, "bob", seen);
        assert_eq!(removed.await.unwrap(), MemberChange::OtherRole, "{seen}");
    }
    let bob = at.store.find_member(&acme.id, "bob").await.unwrap();
    assert_eq!(bob.unwrap().role, Role::Owner);
    assert!(entries(&at.store, &acme.id).await.is_empty());

    let demoting = audited(&at.store, &acme, "aud_1");
    let demoted = demoting.set_member_role(&acme.id, "bob", Role::Owner, Role::Member);
    assert_eq!(demoted.await.unwrap(), MemberChange::Done);
    assert_eq!(entries(&at.store, &acme.id).await, ["aud_1 members.change"]);
    let again = at.store.delete_member(&acme.id, "bob", Role::Owner).await;
    assert_eq!(again.unwrap(), MemberChange::OtherRole);
    let removed = at.store.delete_member(&acme.id, "bob", Role::Member).await;
    assert_eq!(removed.unwrap(), MemberChange::Done);
}

async fn a_sign_in_begins_with_the_password_or_account_that_was_checked(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let mut ada = member(&acme, "ada", Role::Owner);
    ada.oidc_subject = Some("https://id.example.com 7".to_owned());
    let unproven = Member {
        vouched: false,
        ..member(&acme, "eve", Role::Member)
    };
    let bob = member(&acme, "bob", Role::Member);
    for one in [&ada, &unproven, &bob] {
        at.store.insert_member(one).await.unwrap();
    }
    let begin = async |checked: &Member, proof, id: &str| {
        let store = audited(&at.store, &acme, &format!("aud_{id}"));
        let new = sign_in(checked, id);
        let begun = store.insert_sign_in(&new, checked, proof).await;
        begun.unwrap()
    };
    let (password, account) = (SignInProof::Password, SignInProof::Account);
    assert!(begin(&ada, password, "sin_1").await);
    assert!(!begin(&bob, account, "sin_2").await, "tied to no account");

    // What each of them had when it was checked is over by now.
    let set = at.store.set_member_password(&acme.id, "ada", "new", None);
    assert!(set.await.unwrap());
    let subject = "https://id.example.com 9";
    let tied = at.store.link_member_oidc(&acme.id, "eve", subject);
    assert!(tied.await.unwrap());
    let removed = at.store.delete_member(&acme.id, "bob", Role::Member);
    assert_eq!(removed.await.unwrap(), MemberChange::Done);
    for (n, checked) in [&ada, &unproven, &bob].into_iter().enumerate() {
        let begun = begin(checked, password, &format!("sin_late_{n}")).await;
        assert!(!begun, "{}", checked.id);
        let listed = at.store.list_sign_ins(&acme.id, &checked.id, NOW_MS).await;
        assert_eq!(listed.unwrap(), [], "{}", checked.id);
    }
    assert!(begin(&ada, account, "sin_3").await, "the account is hers");
    let written = entries(&at.store, &acme.id).await;
    let expected = ["aud_sin_3 members.change", "aud_sin_1 members.change"];
    assert_eq!(written, expected);
}

/// A gateway on PostgreSQL, and another connection to its database.
struct Busy {
    gateway: TestGateway,
    pool: PgPool,
    first: Workspace,
}

impl Busy {
    async fn start() -> Self {
        let url = tokio::task::spawn_blocking(fresh_url).await.unwrap();
        let options = Options {
            database_url: Some(url.clone()),
            ..Options::default()
        };
        let gateway = TestGateway::start(options).await;
        let first = gateway.gateway.store().first_workspace().await;
        Self {
            first: first.unwrap().unwrap(),
            pool: PgPool::connect(&url).await.unwrap(),
            gateway,
        }
    }

    /// A transaction that has changed one member and does not end yet.
    async fn hold(&self, change: &'static str) -> Transaction<'static, Postgres> {
        let mut held = self.pool.begin().await.unwrap();
        let changed = sqlx::query(change).execute(&mut *held).await.unwrap();
        assert_eq!(changed.rows_affected(), 1, "{change}");
        held
    }

    async fn actions(&self) -> Vec<String> {
        let mut found = entries(self.gateway.gateway.store(), &self.first.id).await;
        found.retain(|entry| entry.contains("members."));
        found
    }
}

/// The admin's request has read the member before the promotion ends.
#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_an_admin_changes_nothing_of_who_becomes_an_owner_meanwhile() {
    let busy = Busy::start().await;
    let store = busy.gateway.gateway.store();
    for (id, role) in [
        ("ada", Role::Owner),
        ("bob", Role::Admin),
        ("cyd", Role::Member),
    ] {
        let one = member(&busy.first, id, role);
        store.insert_member(&one).await.unwrap();
    }
    let before = busy.actions().await;
    let mut admin = Caller::operator(&busy.first);
    Arc::make_mut(&mut admin.principal).role = Some(Role::Admin);
    let promotion = "UPDATE members SET role = 'owner' WHERE id IN ('bob', 'cyd')";
    let mut held = busy.pool.begin().await.unwrap();
    sqlx::query(promotion).execute(&mut *held).await.unwrap();
    let demoting = tokio::spawn({
        let (gateway, admin) = (busy.gateway.gateway.clone(), admin.clone());
        async move {
            gateway
                .identity()
                .change_member(&admin, "bob", Role::Member)
                .await
        }
    });
    let removing = tokio::spawn({
        let gateway = busy.gateway.gateway.clone();
        async move { gateway.identity().remove_member(&admin, "cyd").await }
    });
    waiting_for_locks(&busy.pool, 2).await;
    held.commit().await.unwrap();
    let demoted = demoting.await.unwrap();
    assert_eq!(demoted.unwrap_err().code(), "role_denied");
    let removed = removing.await.unwrap();
    assert_eq!(removed.unwrap_err().code(), "role_denied");
    for id in ["bob", "cyd"] {
        let now = store.find_member(&busy.first.id, id).await.unwrap();
        assert_eq!(now.map(|one| one.role), Some(Role::Owner), "{id}");
    }
    assert_eq!(busy.actions().await, before);
}

/// The password is checked before the new one is there.
#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_a_new_password_refuses_a_sign_in_that_is_under_way() {
    let busy = Busy::start().await;
    let hash = Passwords::default().hash(Secret::new(PASSWORD)).await;
    let ada = Member {
        password_hash: Some(hash.unwrap()),
        ..member(&busy.first, "ada", Role::Owner)
    };
    let store = busy.gateway.gateway.store();
    store.insert_member(&ada).await.unwrap();
    let sign_in = || {
        let (gateway, email) = (busy.gateway.gateway.clone(), ada.email.clone());
        tokio::spawn(async move {
            let request = SignInRequest {
                email,
                password: Secret::new(PASSWORD),
                workspace: None,
            };
            let client = Browser {
                request_id: "req_1".to_owned(),
                address: None,
                user_agent: None,
                device: None,
            };
            gateway.identity().sign_in(request, &client).await
        })
    };
    let held = busy
        .hold("UPDATE members SET name = 'Ada L.' WHERE id = 'ada'")
        .await;
    let beside_a_new_name = sign_in();
    waiting_for_locks(&busy.pool, 1).await;
    held.commit().await.unwrap();
    assert!(beside_a_new_name.await.unwrap().is_ok());

    let before = busy.actions().await;
    let held = busy
        .hold("UPDATE members SET password_hash = 'new' WHERE id = 'ada'")
        .await;
    let beside_a_new_password = sign_in();
    waiting_for_locks(&busy.pool, 1).await;
    held.commit().await.unwrap();
    let refused = beside_a_new_password.await.unwrap();
    assert_eq!(refused.unwrap_err().code(), "invalid_credentials");
    let now_ms = busy.gateway.gateway.clock().now_ms();
    let listed = store.list_sign_ins(&busy.first.id, "ada", now_ms).await;
    assert_eq!(listed.unwrap().len(), 1, "the one beside the new name");
    assert_eq!(busy.actions().await, before);
}
