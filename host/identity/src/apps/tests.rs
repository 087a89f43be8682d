use serde_json::json;

use super::authorize::AuthorizeOutcome;
use super::named::NewClient;
use super::register::{UNUSED_LIFE_MS, USED_LIFE_MS};
use super::tokens::{ACCESS_LIFE_MS, IssuedTokens};
use super::*;
use crate::testing::{IdentityWorld, NOW_MS};
use toolgate_core::ids::{self, UserId};
use toolgate_store::{AppClient, AppClientAuth, AppClientKind, MemberChange};
use toolgate_vault::opaque::hash;

const REDIRECT: &str = "http://127.0.0.1:5555/cb";
/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

fn peer() -> AppPeer {
    AppPeer {
        request_id: ids::ulid("req"),
        address: None,
    }
}

async fn member(world: &IdentityWorld) -> Caller {
    let signed_in = world.member(Role::Member, true).await;
    let jwt = Some(signed_in.jwt.expose());
    let entered = world.authenticate_member(jwt, ids::ulid("req"), None).await;
    entered.unwrap().caller
}

/// A client that `caller` lets in; answers its id and tokens.
async fn connected(world: &IdentityWorld, caller: &Caller) -> (String, IssuedTokens) {
    let metadata = json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
    let (metadata, peer) = (metadata.to_string(), peer());
    let registered = world.register_app(metadata.as_bytes(), &peer).await;
    let client_id = registered.unwrap().client_id;
    let resource = world.mcp_resource();
    let query = format!(
        "response_type=code&client_id={client_id}&redirect_uri={REDIRECT}&code_challenge={CHALLENGE}\
         &code_challenge_method=S256&resource={resource}"
    );
    let asked = world.authorize_app(&query, None, &peer).await.unwrap();
    let AuthorizeOutcome::Ask { request_id } = asked else {
        panic!("{asked:?}");
    };
    let url = world.decide_app_request(caller, &request_id, true).await;
    let url = url::Url::parse(&url.unwrap()).unwrap();
    let code = url
        .query_pairs()
        .find(|(name, _)| name == "code")
        .unwrap()
        .1;
    let form = format!(
        "grant_type=authorization_code&client_id={client_id}&code={code}&redirect_uri={REDIRECT}\
         &code_verifier={VERIFIER}&resource={resource}"
    );
    let issued = world.app_tokens(None, &form, &peer).await.unwrap();
    (client_id, issued)
}

#[derive(Clone, Copy)]
enum Case {
    /// An app that a member lets in.
    Person,
    /// A client that acts by itself.
    Machine,
}

/// A client that an admin names; answers its id and a token that it gets by its secret.
async fn machine_of(world: &IdentityWorld) -> (String, IssuedTokens) {
    let signed_in = world.member(Role::Admin, true).await;
    let jwt = Some(signed_in.jwt.expose());
    let entered = world.authenticate_member(jwt, ids::ulid("req"), None).await;
    let new = NewClient {
        name: "Nightly".to_owned(),
        redirect_uris: Vec::new(),
        acts_for: Some(UserId::parse("reports").unwrap()),
        scopes: Vec::new(),
        public: false,
    };
    let named = world.name_client(&entered.unwrap().caller, new).await;
    let named = named.unwrap();
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}&resource={}",
        named.info.client_id,
        named.secret.unwrap().expose(),
        world.mcp_resource()
    );
    let issued = world.app_tokens(None, &form, &peer()).await.unwrap();
    (named.info.client_id, issued)
}

async fn is_let_in(gateway: &Identity, token: &str) -> bool {
    let resource = gateway.mcp_resource();
    let entered = gateway.authenticate_app(token, &resource, ids::ulid("req"), None);
    match entered.await {
        Ok(_) => true,
        Err(Error::InvalidAccessToken) => false,
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_one_process_ends_another_refuses_at_the_next_request() {
    let world = IdentityWorld::open().await;
    let sibling = world.sibling(world.clock.clone()).await;
    let ada = member(&world).await;
    let machine = Case::Machine;
    for (case, end) in [
        (Case::Person, "app"),
        (Case::Person, "member"),
        (Case::Person, "block"),
        (Case::Person, "token"),
        (machine, "block"),
        (machine, "token of client"),
        (machine, "removal"),
    ] {
        let bob = member(&world).await;
        let (client_id, issued) = match case {
            Case::Person => connected(&world, &bob).await,
            Case::Machine => machine_of(&world).await,
        };
        let token = issued.access.expose();
        assert!(is_let_in(&world, token).await && is_let_in(&sibling, token).await);
        match end {
            "app" => {
                let apps = world.connected_apps(&bob).await.unwrap().apps;
                world.revoke_app(&bob, &apps[0].app_id).await.unwrap();
            }
            "member" => {
                let role = bob.role.unwrap();
                let removed = world
                    .store
                    .delete_member(&bob.workspace_id, &bob.key_id, role);
                assert_eq!(removed.await.unwrap(), MemberChange::Done);
            }
            "block" => {
                let block = AppBlock {
                    workspace_id: bob.workspace_id.to_string(),
                    client_id,
                    client_name: "x".to_owned(),
                    created_at_ms: NOW_MS,
                };
                assert!(world.store.block_app_client(&block).await.unwrap());
            }
            "token of client" => {
                let deleted = world.store.delete_client_token(&hash(token)).await;
                assert!(deleted.unwrap());
            }
            "removal" => {
                let removed = world
                    .store
                    .delete_named_client(&bob.workspace_id, &client_id);
                assert!(removed.await.unwrap());
            }
            _ => {
                let deleted = world.store.delete_app_token(&hash(token)).await;
                assert!(deleted.unwrap());
            }
        }
        assert!(!is_let_in(&sibling, token).await, "{end}");
        assert!(!is_let_in(&world, token).await, "{end}");
    }
    assert!(world.connected_apps(&ada).await.unwrap().apps.is_empty());
}

/// A block between the check and the token's row must not leave a token that is good.
#[tokio::test]
async fn a_token_that_was_made_while_its_client_was_blocked_is_refused() {
    let world = IdentityWorld::open().await;
    let bob = member(&world).await;
    let (client_id, issued) = machine_of(&world).await;
    let token = issued.access.expose();
    let (kept, _) = world
        .store
        .find_client_token(&hash(token))
        .await
        .unwrap()
        .unwrap();
    let block = AppBlock {
        workspace_id: bob.workspace_id.to_string(),
        client_id,
        client_name: "x".to_owned(),
        created_at_ms: NOW_MS,
    };
    assert!(world.store.block_app_client(&block).await.unwrap());
    let again = world.store.insert_client_token(&kept, 100).await;
    again.unwrap();
    assert!(!is_let_in(&world, token).await);
}

#[tokio::test]
async fn a_token_opens_its_own_endpoint_until_its_hour_is_over() {
    let world = IdentityWorld::open().await;
    let (_, issued) = connected(&world, &member(&world).await).await;
    let token = issued.access.expose();
    assert!(is_let_in(&world, token).await);
    for (token, resource) in [
        (token, "https://elsewhere.test/mcp"),
        (token, ""),
        (
            issued.refresh.as_ref().unwrap().expose(),
            world.mcp_resource().as_str(),
        ),
        ("tg_oat_", world.mcp_resource().as_str()),
        (
            "tg_oat_0000000000000000000000000000000000000000000",
            world.mcp_resource().as_str(),
        ),
    ] {
        let entered = world.authenticate_app(token, resource, ids::ulid("req"), None);
        let refused = entered.await.unwrap_err();
        assert_eq!(refused.code(), "invalid_access_token");
    }
    world.clock.advance_ms(ACCESS_LIFE_MS - 1);
    assert!(is_let_in(&world, token).await);
    world.clock.advance_ms(1);
    assert!(!is_let_in(&world, token).await);
}

#[tokio::test]
async fn registrations_that_nobody_uses_are_bounded_in_number_and_time() {
    let world = IdentityWorld::open().await;
    let client = |n: i64| AppClient {
        id: format!("tgc_{n}"),
        kind: AppClientKind::Registered,
        name: "x".to_owned(),
        redirect_uris: vec![REDIRECT.to_owned()],
        auth_method: AppClientAuth::None,
        secret_hash: None,
        created_at_ms: NOW_MS + n,
        fresh_until_ms: None,
        used_at_ms: (n == 0).then_some(NOW_MS),
        workspace_id: None,
        acts_for: None,
        scopes: Vec::new(),
        jwks_uri: None,
    };
    for n in 0..6 {
        world.store.insert_app_client(&client(n), 3).await.unwrap();
    }
    let known = async || {
        let mut known = Vec::new();
        for n in 0..6 {
            let found = world.store.find_app_client(&format!("tgc_{n}")).await;
            known.extend(found.unwrap().map(|_| n));
        }
        known
    };
    // The first was used, so it does not count.
    assert_eq!(known().await, [0, 3, 4, 5]);
    let purge = async |now_ms: i64| {
        let (unused_ms, used_ms) = (now_ms - UNUSED_LIFE_MS, now_ms - USED_LIFE_MS);
        let purged = world.store.purge_app_clients(now_ms, unused_ms, used_ms);
        purged.await.unwrap();
    };
    purge(NOW_MS + UNUSED_LIFE_MS + 5).await;
    assert_eq!(known().await, [0, 5]);
    purge(NOW_MS + USED_LIFE_MS + 1).await;
    assert_eq!(known().await, [0_i64; 0]);
}
