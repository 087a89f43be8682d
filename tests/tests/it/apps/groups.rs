//! Groups of the company's provider become membership and role, and whoever leaves them is out within five
//! minutes.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_gateway::Caller;
use toolgate_gateway::identity::members::links;
use toolgate_gateway::identity::members::oidc::{ASKED_EVERY_MS, CONFIRMED_MS};
use toolgate_store::{Member, Role};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::issuer::{Issuer, Person, Trouble};
use toolgate_tests::postgres;

use super::way::{
    App, AppTokens, MemberBrowser, error_of, execute, gateway_with, is_let_in, member,
};

const ADA: &str = "ada@example.com";
const NOW_MS: i64 = 1_795_167_030_000;

struct GroupedCompany {
    gateway: TestGateway,
    issuer: Issuer,
    clock: Clock,
}

impl GroupedCompany {
    /// Engineers are members, leads admins; the operator's own owner has a password.
    async fn start() -> Self {
        Self::start_on(None).await
    }

    async fn start_on(database_url: Option<String>) -> Self {
        let (issuer, clock) = (Issuer::start().await, Clock::manual(NOW_MS));
        let options = Options {
            oidc_issuer: Some(issuer.url()),
            oidc_group_role: vec!["engineering=member".into(), "leads=admin".into()],
            clock: Some(clock.clone()),
            database_url,
            ..Options::default()
        };
        let gateway = gateway_with(options).await;
        member(&gateway, "owner@example.com", Role::Owner, None).await;
        Self {
            gateway,
            issuer,
            clock,
        }
    }

    /// Somebody signs in who is in these groups now; their browser, or the page that refuses them.
    async fn sign_in(&self, email: &str, groups: &[&str]) -> Result<MemberBrowser<'_>, String> {
        self.issuer.put_in(groups);
        let person = Person {
            subject: format!("account of {email}"),
            email: email.to_owned(),
            email_verified: true,
        };
        let consent = |url: &str| self.issuer.consent(url, person.clone());
        MemberBrowser::by_provider(&self.gateway, consent).await
    }

    async fn member(&self, email: &str) -> Option<Member> {
        let store = self.gateway.gateway.store();
        let first = store.first_workspace().await.unwrap().unwrap();
        store.member_with_email(&first.id, email).await.unwrap()
    }

    /// What the gateway itself has done with members, oldest first.
    async fn done(&self) -> Vec<(String, String)> {
        let store = self.gateway.gateway.store();
        let first = store.first_workspace().await.unwrap().unwrap();
        let log = store
            .list_audit_entries(&first.id, None, 200)
            .await
            .unwrap();
        let rows = log.items.into_iter().rev();
        let by_groups =
            rows.filter(|row| row.actor == "gateway" && row.action.starts_with("members."));
        by_groups.map(|row| (row.action, row.details)).collect()
    }
}

async fn me(person: &MemberBrowser<'_>) -> (u16, Value) {
    let answer = person.ask(Method::GET, "/internal/me", Value::Null).await;
    let body = answer.json();
    (answer.status, body["data"]["role"].clone())
}

async fn groups_decide(database_url: Option<String>) {
    let company = &GroupedCompany::start_on(database_url).await;
    for groups in [&[][..], &["marketing"], &["Engineering"]] {
        let refused = company.sign_in(ADA, groups).await.err();
        assert_eq!(refused.as_deref(), Some("/sign-in?problem=oidc_no_group"));
        assert!(company.member(ADA).await.is_none(), "{groups:?}");
    }
    let ada = company.sign_in(ADA, &["marketing", "engineering"]).await;
    let ada = ada.unwrap();
    assert_eq!(me(&ada).await, (200, json!("member")));
    let app = App::new(&company.gateway).await;
    let tokens = app.connect(&ada).await;
    assert!(is_let_in(&company.gateway, &tokens.access).await);
    let asked = company.issuer.refreshed();

    // Another role follows within the time for which an answer holds.
    company.issuer.put_in(&["engineering", "leads"]);
    assert_eq!(me(&ada).await, (200, json!("member")));
    assert_eq!(
        company.issuer.refreshed(),
        asked,
        "it was asked a moment ago"
    );
    company.clock.advance_ms(ASKED_EVERY_MS);
    assert_eq!(me(&ada).await, (200, json!("admin")));
    assert_eq!(company.issuer.refreshed(), asked + 1);

    // Out of every group, out everywhere: in the dashboard and with each app, within five minutes.
    company.issuer.put_in(&["marketing"]);
    company.clock.advance_ms(CONFIRMED_MS);
    assert!(!is_let_in(&company.gateway, &tokens.access).await);
    assert_eq!(me(&ada).await.0, 401);
    let refused = app.refresh(&tokens.refresh, &[]).await;
    assert_eq!(error_of(&refused), (400, "invalid_grant".into()));
    assert!(company.member(ADA).await.is_none());
    let done = company.done().await;
    let actions: Vec<&str> = done.iter().map(|(action, _)| action.as_str()).collect();
    assert_eq!(actions, ["members.change", "members.remove"], "{done:?}");
    assert!(done[1].1.contains("\"by_groups\":true"), "{done:?}");
    // And in again, as somebody new to whom nothing is connected.
    let ada = company.sign_in(ADA, &["leads"]).await.unwrap();
    assert_eq!(me(&ada).await, (200, json!("admin")));
    assert_eq!(ada.apps().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_of_the_provider_decide_who_is_a_member_on_sqlite() {
    groups_decide(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_of_the_provider_decide_who_is_a_member_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    groups_decide(Some(url.await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refresh_of_an_app_asks_the_provider() {
    let company = &GroupedCompany::start().await;
    let ada = company.sign_in(ADA, &["engineering"]).await.unwrap();
    let app = App::new(&company.gateway).await;
    let tokens = app.connect(&ada).await;
    let asked = company.issuer.refreshed();
    company.clock.advance_ms(2_000);
    let renewed = AppTokens::read(&app.refresh(&tokens.refresh, &[]).await);
    assert_eq!(company.issuer.refreshed(), asked + 1);
    company.issuer.put_in(&[]);
    company.clock.advance_ms(2_000);
    let refused = app.refresh(&renewed.refresh, &[]).await;
    assert_eq!(error_of(&refused), (400, "invalid_grant".into()));
    assert!(!is_let_in(&company.gateway, &renewed.access).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_does_not_answer_is_waited_for_five_minutes() {
    let company = &GroupedCompany::start().await;
    let ada = company.sign_in(ADA, &["engineering"]).await.unwrap();
    let app = App::new(&company.gateway).await;
    let tokens = app.connect(&ada).await;
    company.issuer.fail(Some(Trouble::Down));
    company.clock.advance_ms(ASKED_EVERY_MS);
    assert!(is_let_in(&company.gateway, &tokens.access).await);
    assert_eq!(me(&ada).await.0, 200);
    company.clock.advance_ms(CONFIRMED_MS - ASKED_EVERY_MS);
    let refused = execute(&company.gateway, &tokens.access).await;
    assert_eq!((refused.status, refused.code()), (503, "overloaded".into()));
    assert!(refused.headers.contains_key("retry-after"));
    let refused = app.refresh(&tokens.refresh, &[]).await;
    assert_eq!(error_of(&refused), (503, "temporarily_unavailable".into()));
    assert_eq!(me(&ada).await.0, 503);
    // Nothing was lost: neither the member nor the refresh token.
    company.issuer.fail(None);
    assert!(is_let_in(&company.gateway, &tokens.access).await);
    AppTokens::read(&app.refresh(&tokens.refresh, &[]).await);
    assert_eq!(me(&ada).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_whose_session_the_provider_ends_signs_in_again() {
    let company = &GroupedCompany::start().await;
    let ada = company.sign_in(ADA, &["engineering"]).await.unwrap();
    let tokens = App::new(&company.gateway).await.connect(&ada).await;
    company.issuer.fail(Some(Trouble::SessionEnded));
    company.clock.advance_ms(ASKED_EVERY_MS);
    assert!(!is_let_in(&company.gateway, &tokens.access).await);
    assert_eq!(me(&ada).await.0, 401);
    let before = company.member(ADA).await.expect("still a member");
    let done = company.done().await;
    assert_eq!(done[0].0, "members.end_account", "{done:?}");
    company.issuer.fail(None);
    let again = company.sign_in(ADA, &["engineering"]).await.unwrap();
    assert_eq!(me(&again).await.0, 200);
    assert_eq!(company.member(ADA).await.unwrap().id, before.id);
    assert_eq!(
        again.apps().await.len(),
        0,
        "its apps have to be let in again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_at_the_same_time_use_a_refresh_token_once() {
    let company = &GroupedCompany::start().await;
    let ada = company.sign_in(ADA, &["engineering"]).await.unwrap();
    let tokens = App::new(&company.gateway).await.connect(&ada).await;
    let asked = company.issuer.refreshed();
    company.clock.advance_ms(CONFIRMED_MS);
    let calls = (0..8).map(|_| is_let_in(&company.gateway, &tokens.access));
    let let_in = futures_util::future::join_all(calls).await;
    assert_eq!(let_in, [true; 8]);
    assert_eq!(company.issuer.refreshed(), asked + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_a_person_has_let_in_the_groups_do_not_touch() {
    let company = &GroupedCompany::start().await;
    // An owner with a password, in no group, signs in with the provider and stays what they are.
    let owner = company.sign_in("owner@example.com", &[]).await.unwrap();
    assert_eq!(me(&owner).await, (200, json!("owner")));
    let asked = company.issuer.refreshed();
    company.clock.advance_ms(CONFIRMED_MS + ASKED_EVERY_MS);
    assert_eq!(me(&owner).await, (200, json!("owner")));
    assert_eq!(company.issuer.refreshed(), asked, "nobody asks about them");
    let by_password = MemberBrowser::sign_in(&company.gateway, "owner@example.com").await;
    assert_eq!(me(&by_password).await.0, 200);
    // An invitation does not bring in whom no group names; with a password it does.
    let invite = json!({ "email": ADA, "role": "admin" });
    let invited = owner.ask(Method::POST, "/internal/members", invite).await;
    let url = invited.data()["join_url"].as_str().unwrap().to_owned();
    let token = url.split_once('#').unwrap().1;
    company.issuer.put_in(&[]);
    let person = Person {
        subject: "account-7".to_owned(),
        email: ADA.to_owned(),
        email_verified: true,
    };
    let consent = |url: &str| company.issuer.consent(url, person.clone());
    let refused = MemberBrowser::by_invitation(&company.gateway, token, consent).await;
    assert_eq!(
        refused.err().as_deref(),
        Some("/sign-in?problem=oidc_no_group")
    );
    assert!(company.member(ADA).await.is_none());
    let set_up = json!({ "token": token, "name": "Ada", "password": super::way::PASSWORD });
    let joined = by_password
        .ask(Method::POST, "/internal/setup", set_up)
        .await;
    assert_eq!(joined.status, 200, "{}", joined.text);
    assert_eq!(company.member(ADA).await.unwrap().role, Role::Admin);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_owner_stays_whatever_the_groups_say() {
    let issuer = Issuer::start().await;
    let clock = Clock::manual(NOW_MS);
    let options = Options {
        oidc_issuer: Some(issuer.url()),
        oidc_group_role: vec!["it=owner".into(), "engineering=member".into()],
        clock: Some(clock.clone()),
        ..Options::default()
    };
    let company = &GroupedCompany {
        gateway: gateway_with(options).await,
        issuer,
        clock,
    };
    let ada = company.sign_in(ADA, &["it"]).await.unwrap();
    assert_eq!(me(&ada).await, (200, json!("owner")));
    for groups in [&["engineering"][..], &[]] {
        company.issuer.put_in(groups);
        company.clock.advance_ms(ASKED_EVERY_MS);
        assert_eq!(me(&ada).await, (200, json!("owner")), "{groups:?}");
    }
    assert!(
        company.sign_in(ADA, &[]).await.is_ok(),
        "nor is it locked out"
    );
    // With another owner there, the groups count.
    member(&company.gateway, "owner@example.com", Role::Owner, None).await;
    company.issuer.put_in(&["engineering"]);
    company.clock.advance_ms(CONFIRMED_MS);
    let ada = company.sign_in(ADA, &["engineering"]).await.unwrap();
    assert_eq!(me(&ada).await, (200, json!("member")));
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_no_group_names_is_not_let_in_by_the_choice_of_a_workspace() {
    let company = &GroupedCompany::start().await;
    let owner = MemberBrowser::sign_in(&company.gateway, "owner@example.com").await;
    // Somebody has taken the invitation to her address with a password; she has not proven it.
    let invite = json!({ "email": ADA, "role": "admin" });
    let invited = owner.ask(Method::POST, "/internal/members", invite).await;
    let url = invited.data()["join_url"].as_str().unwrap().to_owned();
    let token = url.split_once('#').unwrap().1;
    let set_up = json!({ "token": token, "name": "Ada", "password": super::way::PASSWORD });
    let joined = owner.ask(Method::POST, "/internal/setup", set_up).await;
    assert_eq!(joined.status, 200, "{}", joined.text);
    let before = company.member(ADA).await.unwrap();
    let first = company.gateway.gateway.store().first_workspace().await;
    let chosen = json!({ "workspace": first.unwrap().unwrap().name });
    let person = Person {
        subject: "account-7".to_owned(),
        email: ADA.to_owned(),
        email_verified: true,
    };
    let consent = |url: &str| company.issuer.consent(url, person.clone());
    company.issuer.put_in(&[]);
    let ada = MemberBrowser::who_chooses(&company.gateway, consent).await;
    let path = "/internal/oidc/choice";
    let refused = ada.ask(Method::POST, path, chosen.clone()).await;
    assert_eq!((refused.status, refused.code()), (404, "not_found".into()));
    assert!(!refused.headers.contains_key("set-cookie"));
    let after = company.member(ADA).await.unwrap();
    assert_eq!(after, before, "nothing of the member was changed");

    // The groups of the moment count, and they say what she is.
    company.issuer.put_in(&["engineering"]);
    let let_in = ada.ask(Method::POST, path, chosen).await;
    assert_eq!(let_in.status, 200, "{}", let_in.text);
    assert!(let_in.headers.contains_key("set-cookie"));
    let now = company.member(ADA).await.unwrap();
    assert_eq!(
        (&now.id, now.role, &now.password_hash),
        (&before.id, Role::Member, &None)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_by_groups_comes_with_the_link_for_the_first_owner_and_ends_it() {
    let issuer = Issuer::start().await;
    let options = Options {
        oidc_issuer: Some(issuer.url()),
        oidc_group_role: vec!["it=owner".into()],
        ..Options::default()
    };
    let gateway = gateway_with(options).await;
    let store = gateway.gateway.store();
    let first = store.first_workspace().await.unwrap().unwrap();
    let now_ms = gateway.gateway.clock().now_ms();
    let operator = Caller::operator(&first);
    let offered = links::first_owner(store, &operator, gateway.gateway.public_url(), now_ms);
    let offered = offered.await.unwrap().expect("there is no member yet");
    let token = offered.url.expose().split_once('#').unwrap().1;
    // She is an owner by her groups before the link is looked at.
    issuer.put_in(&["it"]);
    let person = Person {
        subject: "account-7".to_owned(),
        email: ADA.to_owned(),
        email_verified: true,
    };
    let consent = |url: &str| issuer.consent(url, person.clone());
    let ada = MemberBrowser::by_invitation(&gateway, token, consent).await;
    let ada = ada.expect("she is signed in");
    assert_eq!(me(&ada).await, (200, json!("owner")));
    // Whoever has read the link in the log is too late.
    let eve = json!({
        "token": token, "email": "eve@example.com", "name": "Eve", "password": super::way::PASSWORD,
    });
    let refused = ada.ask(Method::POST, "/internal/setup", eve).await;
    assert_eq!(refused.status, 404, "{}", refused.text);
    let members = store.list_members(&first.id).await.unwrap();
    assert_eq!(members.len(), 1, "{members:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_groups_decide_nobody_changes_by_hand() {
    let company = &GroupedCompany::start().await;
    let ada = company.sign_in(ADA, &["engineering"]).await.unwrap();
    let owner = MemberBrowser::sign_in(&company.gateway, "owner@example.com").await;
    let id = company.member(ADA).await.unwrap().id;
    let new = json!({ "current_password": "x", "new_password": "another long password" });
    for (browser, method, path, body) in [
        (&ada, Method::POST, "/internal/me/password".to_owned(), new),
        (
            &owner,
            Method::PATCH,
            format!("/internal/members/{id}"),
            json!({ "role": "owner" }),
        ),
        (
            &owner,
            Method::POST,
            format!("/internal/members/{id}/reset"),
            json!({}),
        ),
    ] {
        let refused = browser.ask(method, &path, body).await;
        assert_eq!((refused.status, refused.code()), (409, "conflict".into()));
        assert!(refused.text.contains("groups"), "{}", refused.text);
    }
    let now = company.member(ADA).await.unwrap();
    assert_eq!((now.role, now.password_hash), (Role::Member, None));
    let path = format!("/internal/members/{id}");
    let removed = owner.ask(Method::DELETE, &path, Value::Null).await;
    assert_eq!(removed.status, 200, "{}", removed.text);
    assert_eq!(me(&ada).await.0, 401);
}
