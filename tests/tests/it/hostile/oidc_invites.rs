//! An invitation to an address that nobody proved, and the person who has the address.

use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use serde_json::json;
use toolgate_gateway::Caller;
use toolgate_gateway::identity::members::links::{self, NewLink};
use toolgate_gateway::identity::members::sign_in::{Browser, SetUpRequest};
use toolgate_gateway::identity::workspaces;
use toolgate_store::{LinkKind, Plan, Role};
use toolgate_tests::gateway::{Options, TestGateway, client};
use toolgate_tests::issuer::{Issuer, Person};
use toolgate_vault::Secret;

const ADA: &str = "ada@example.com";

async fn start() -> (TestGateway, Issuer) {
    let issuer = Issuer::start().await;
    let gateway = TestGateway::start(Options {
        oidc_issuer: Some(issuer.url()),
        ..Options::default()
    })
    .await;
    (gateway, issuer)
}

/// Whoever holds a link for Ada's address takes it with a password; the member's id.
async fn taken(gateway: &TestGateway, workspace_id: &str, vouched: bool) -> String {
    let gateway = &gateway.gateway;
    let workspace = gateway.store().find_workspace(workspace_id).await.unwrap();
    let caller = Caller::operator(&workspace.unwrap());
    let new = NewLink {
        kind: LinkKind::Join,
        role: Role::Member,
        email: Some(ADA.to_owned()),
        member_id: None,
        vouched,
    };
    let now_ms = gateway.clock().now_ms();
    let made = links::make(gateway.store(), &caller, gateway.public_url(), new, now_ms);
    let made = made.await.unwrap();
    let token = made.url.expose().split_once('#').unwrap().1.to_owned();
    let request = SetUpRequest {
        token: Secret::new(token),
        email: None,
        name: Some("Somebody".to_owned()),
        password: Secret::new("correct horse battery"),
    };
    let browser = Browser {
        request_id: "req_1".to_owned(),
        address: Some([127, 0, 0, 1].into()),
        user_agent: None,
        device: None,
    };
    gateway
        .identity()
        .set_up(request, &browser)
        .await
        .unwrap()
        .me
        .member_id
}

/// What the browser holds and where it is sent at the end of a sign-in with the provider.
async fn signs_in(gateway: &TestGateway, issuer: &Issuer, person: Person) -> (String, Vec<String>) {
    let browser = client();
    let begun = browser.get(gateway.url("/internal/oidc/start"));
    let begun = begun.send().await.unwrap();
    assert_eq!(begun.status(), 303);
    let flow = begun.headers()[SET_COOKIE].to_str().unwrap();
    let flow = flow.split(';').next().unwrap().to_owned();
    let back = issuer.consent(begun.headers()[LOCATION].to_str().unwrap(), person);
    let came = browser
        .get(gateway.url(&format!("/internal/oidc/callback?{back}")))
        .header(COOKIE, flow);
    let came = came.send().await.unwrap();
    let cookies = came.headers().get_all(SET_COOKIE).iter();
    let cookies = cookies.map(|one| one.to_str().unwrap().split(';').next().unwrap().to_owned());
    let cookies = cookies.filter(|one| !one.ends_with('=')).collect();
    let to = came.headers()[LOCATION].to_str().unwrap().to_owned();
    (to, cookies)
}

fn ada() -> Person {
    Person {
        subject: "account-7".to_owned(),
        email: ADA.to_owned(),
        email_verified: true,
    }
}

fn signed_in(cookies: &[String]) -> Option<&String> {
    let mut cookies = cookies.iter();
    cookies.find(|one| one.starts_with("toolgate_session="))
}

/// Defence: `host/identity/src/members/oidc/which.rs` ties an account to a member for whom the operator vouched, or
/// to the one that the person names.
#[tokio::test(flavor = "multi_thread")]
async fn an_invited_address_that_nobody_proved_captures_no_later_sign_in() {
    let (gateway, issuer) = start().await;
    let (store, now_ms) = (gateway.gateway.store(), gateway.gateway.clock().now_ms());
    let foreign = workspaces::create(store, "foreign", Plan::Free, now_ms)
        .await
        .unwrap();
    let eve = taken(&gateway, &foreign.id, false).await;

    let (to, cookies) = signs_in(&gateway, &issuer, ada()).await;
    assert_eq!(to, "/sign-in?choose=1", "she is asked");
    assert_eq!(signed_in(&cookies), None);
    let member = store.find_member(&foreign.id, &eve).await;
    assert_eq!(member.unwrap().unwrap().oidc_subject, None);
    let choice = cookies
        .iter()
        .find(|one| one.starts_with("toolgate_oidc_choice="));
    let asked = client()
        .get(gateway.url("/internal/oidc/choice"))
        .header(COOKIE, choice.unwrap());
    let asked = asked.send().await.unwrap().text().await.unwrap();
    assert!(asked.contains(&json!(["foreign"]).to_string()), "{asked}");

    // An address that the provider has not seen proven is nobody's.
    let unproven = Person {
        email_verified: false,
        ..ada()
    };
    let (to, cookies) = signs_in(&gateway, &issuer, unproven).await;
    assert_eq!(to, "/sign-in?problem=oidc_no_member");
    assert_eq!(signed_in(&cookies), None);

    // The grant beside it: where the operator vouches for her address she is signed in, there.
    let own = store.first_workspace().await.unwrap().unwrap();
    let member_id = taken(&gateway, &own.id, true).await;
    for _ in 0..2 {
        let (to, cookies) = signs_in(&gateway, &issuer, ada()).await;
        assert_eq!(to, "/");
        let me = client()
            .get(gateway.url("/internal/me"))
            .header(COOKIE, signed_in(&cookies).expect("she is signed in"));
        let me = me.send().await.unwrap().text().await.unwrap();
        assert!(me.contains(&member_id) && !me.contains(&eve), "{me}");
    }
    let log = store.list_audit_entries(&own.id, None, 100).await.unwrap();
    let linked = log.items.iter();
    let linked = linked.filter(|entry| entry.action == "members.link_account");
    let linked: Vec<&str> = linked.map(|entry| &*entry.subject).collect();
    assert_eq!(
        linked,
        [&member_id],
        "once, with the sign-in that linked it"
    );
    // Another account with the same address is another person.
    let other = Person {
        subject: "account-8".to_owned(),
        ..ada()
    };
    let (_, cookies) = signs_in(&gateway, &issuer, other).await;
    assert_eq!(signed_in(&cookies), None, "{cookies:?}");
}
