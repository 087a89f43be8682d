//! The tenants' wall, by walking the table of routes: every route that names something by its id is
//! tried by one workspace's owner with what another workspace of the installation owns, and every list
//! is searched for it. And the wall between users: what belongs to one of them is tried by a member
//! of the same workspace.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{BrowserRequest, closed, filled_with};
use crate::internal::Access;
use crate::rest::tenants::{belongings, body_of};
use toolgate_gateway::identity::apps::AppPeer;
use toolgate_gateway::identity::apps::authorize::AuthorizeOutcome;
use toolgate_gateway::testing::TestWorld;
use toolgate_store::{ConnectFlow, FlowState, Role};

/// What a path names that belongs to nobody, or is another's under the same name.
const SHARED: [&str; 4] = ["user_id", "tool_name", "service_name", "service"];

/// A body that the route would take.
fn body(path: &str) -> Value {
    match path {
        "/internal/members/{member_id}" => json!({"role": "member"}),
        "/internal/keys/{key_id}" => json!({"name": "taken over"}),
        "/internal/app-requests/{request_id}" => json!({"allow": true}),
        "/internal/app-blocks" => json!({"client_id": "tgc_of_nobody"}),
        "/internal/app-clients" => json!({"name": "client"}),
        "/internal/connections/questions/{code}" => json!({"answer": "keep"}),
        "/internal/skill-proposals/{skill_id}" => {
            json!({"proposal_id": "prp_of_nobody", "decision": "approve"})
        }
        _ => body_of(&path.replace("/internal/", "/v1/")),
    }
}

/// An app that `owner` has let in: the request that was decided, and the app.
async fn connected_app(world: &TestWorld, owner: &BrowserRequest) -> (String, String) {
    let peer = AppPeer {
        request_id: "req_1".to_owned(),
        address: None,
    };
    let redirect = "http://127.0.0.1:5555/cb";
    let client = json!({"client_name": "app-of-ours", "redirect_uris": [redirect],
        "token_endpoint_auth_method": "none"});
    let client = client.to_string();
    let client = world
        .identity()
        .register_app(client.as_bytes(), &peer)
        .await;
    let client_id = client.unwrap().client_id;
    let resource = world.identity().mcp_resource();
    // The pair of RFC 7636, appendix B.
    let query = format!(
        "response_type=code&client_id={client_id}&redirect_uri={redirect}&resource={resource}\
         &code_challenge_method=S256&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    );
    let outcome = world
        .identity()
        .authorize_app(&query, None, &peer)
        .await
        .unwrap();
    let AuthorizeOutcome::Ask { request_id } = outcome else {
        panic!("{outcome:?}");
    };
    let path = format!("/internal/app-requests/{request_id}");
    let allow = owner.body(json!({"allow": true}));
    let (_, decided) = allow.send(world, "POST", &path).await;
    let url = url::Url::parse(decided["data"]["url"].as_str().unwrap()).unwrap();
    let mut answer = url.query_pairs();
    let code = answer.find(|(name, _)| name == "code").unwrap().1;
    let form = format!(
        "grant_type=authorization_code&client_id={client_id}&code={code}&redirect_uri={redirect}\
         &resource={resource}&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    );
    world
        .identity()
        .app_tokens(None, &form, &peer)
        .await
        .unwrap();
    let (_, listed) = owner.send(world, "GET", "/internal/apps").await;
    let app_id = listed["data"]["apps"][0]["app_id"].as_str().unwrap();
    (request_id, app_id.to_owned())
}

/// The code of a question about an account, in the first workspace.
async fn asked_code(world: &TestWorld) -> String {
    let (code, now_ms) = ("a-code-of-ours", world.clock.now_ms());
    let workspace = world.store().first_workspace().await.unwrap().unwrap();
    let flow = ConnectFlow {
        id: "flw_ours".to_owned(),
        token_hash: "a-token-of-ours".to_owned(),
        workspace_id: workspace.id,
        user_id: "user-of-ours".to_owned(),
        service: "github".to_owned(),
        slot: "user".to_owned(),
        connection_id: "con_ours".to_owned(),
        scopes: Vec::new(),
        tool_name: None,
        confirm_url: None,
        return_url: None,
        popup_origin: None,
        state: FlowState::Pending,
        oauth_state_hash: None,
        cookie_hash: None,
        confirm_hash: None,
        sealed: None,
        last_error: None,
        created_at_ms: now_ms,
        expires_at_ms: now_ms + 900_000,
        state_since_ms: now_ms,
        first_only: false,
    };
    let store = world.store();
    store.insert_flow(&flow).await.unwrap();
    let completed = store.complete_form_flow(&flow.token_hash, now_ms);
    assert!(completed.await.unwrap().is_some());
    let digest: [u8; 32] = Sha256::digest(code).into();
    let confirm_hash = digest.map(|byte| format!("{byte:02x}")).concat();
    let until_ms = flow.expires_at_ms;
    let waits = store.await_confirmation(&flow.id, &confirm_hash, "box", until_ms, now_ms);
    assert!(waits.await.unwrap());
    code.to_owned()
}

#[tokio::test]
async fn what_another_workspace_owns_is_not_there_on_any_route() {
    let world = TestWorld::open().await;
    let mut ours = belongings(&world).await;
    let owner = world.member(Role::Owner, true).await;
    let by_owner = BrowserRequest::new(&owner);
    let made = async |path: &str, body: Value, name: &str| {
        let (parts, answer) = by_owner.body(body).send(&world, "POST", path).await;
        assert_eq!(parts.status, 201, "{path}: {answer}");
        answer["data"][name].as_str().unwrap().to_owned()
    };
    let key = json!({"name": "key-of-ours", "user_id": "user-of-ours"});
    let guest = json!({"email": "guest-of-ours@example.com", "role": "member"});
    let key_id = made("/internal/keys", key, "key_id").await;
    let invitation_id = made("/internal/members", guest, "invitation_id").await;
    let client = json!({"name": "client-of-ours", "acts_for": "user-of-ours"});
    let client_id = made("/internal/app-clients", client, "client_id").await;
    let (_, answer) = by_owner.send(&world, "GET", "/internal/me/sign-ins").await;
    let sign_in_id = answer["data"]["sign_ins"][0]["sign_in_id"].as_str();
    let origin = json!({"origin": "https://of-ours.example.test"});
    let origin_id = made("/internal/origins", origin, "origin_id").await;
    let (request_id, app_id) = connected_app(&world, &by_owner).await;
    ours.extend([
        ("code", asked_code(&world).await),
        ("origin_id", origin_id),
        ("request_id", request_id),
        ("app_id", app_id.clone()),
        ("key_id", key_id.clone()),
        ("invitation_id", invitation_id.clone()),
        ("client_id", client_id),
        ("member_id", owner.me.member_id.clone()),
        ("sign_in_id", sign_in_id.unwrap().to_owned()),
        ("service", "github".to_owned()),
    ]);

    let theirs = world.member(Role::Owner, false).await;
    let ask = BrowserRequest::new(&theirs);
    let (mut by_id, mut lists) = (0, 0);
    for listed in closed(&world) {
        let (method, path) = (listed.method.as_str(), listed.path.as_str());
        // A stream of events has no end; what is told there is tried in `dashboard`.
        if listed.access == Access::Operator || path == "/internal/live" {
            continue;
        }
        let mut owned = false;
        let filled = filled_with(path, |name| {
            owned |= !SHARED.contains(&name);
            ours.get(name)
                .cloned()
                .unwrap_or_else(|| panic!("{path}: say here what a {name} of another workspace is"))
        });
        let (parts, answer) = ask.body(body(path)).send(&world, method, &filled).await;
        if owned {
            by_id += 1;
            assert_eq!(parts.status, 404, "{method} {path}: {answer}");
        } else if method == "GET" {
            lists += 1;
            let user = format!("\"user_id\":\"{}\"", ours["user_id"]);
            let text = answer.to_string().replace(&user, "");
            assert!(!text.contains("of-ours"), "{method} {path}: {text}");
            assert!(
                !text.contains(&owner.me.member_id),
                "{method} {path}: {text}"
            );
        }
    }
    assert!(by_id >= 30 && lists >= 20, "{by_id} {lists}");

    // All of it is still there for those who own it.
    for (list, id) in [
        ("/internal/keys", &key_id),
        ("/internal/members", &invitation_id),
        ("/internal/members", &owner.me.member_id),
        ("/internal/me/sign-ins", &ours["sign_in_id"]),
        ("/internal/apps", &app_id),
        ("/internal/app-clients", &ours["client_id"]),
        ("/internal/skills", &ours["skill_id"]),
        ("/internal/webhooks", &ours["webhook_id"]),
        ("/internal/knowledge/documents", &ours["document_id"]),
        ("/internal/approvals", &ours["approval_id"]),
    ] {
        let (_, answer) = by_owner.send(&world, "GET", list).await;
        let text = answer.to_string();
        assert!(text.contains(id.as_str()), "{list}: {text}");
        assert!(!text.contains("\"revoked_at\":"), "{list}: {text}");
    }
}

#[tokio::test]
async fn what_belongs_to_another_user_is_not_there_for_a_member() {
    let world = TestWorld::open().await;
    let theirs = belongings(&world).await;
    let member = world.member(Role::Member, true).await;
    let ask = BrowserRequest::new(&member);
    let of_users = [
        "session_id",
        "connection_id",
        "execution_id",
        "result_id",
        "approval_id",
    ];
    let (mut hidden, mut above) = (0, 0);
    for listed in closed(&world) {
        let (method, path) = (listed.method.as_str(), listed.path.as_str());
        let mut of_user = false;
        let filled = filled_with(path, |name| {
            of_user |= of_users.contains(&name);
            theirs.get(name).cloned().unwrap_or_else(|| "x".to_owned())
        });
        if !of_user {
            continue;
        }
        let (parts, answer) = ask.body(body(path)).send(&world, method, &filled).await;
        match parts.status.as_u16() {
            404 => hidden += 1,
            // Hooks and kept bodies are for admins, of every user.
            403 if path.contains("/hook") || path.ends_with("/payloads") => above += 1,
            other => panic!("{method} {path}: {other} {answer}"),
        }
    }
    assert!(hidden >= 9 && above >= 2, "{hidden} {above}");

    // Nor is it run in: a session of another user is as unknown as one that never was.
    let path = "/internal/tools/github_create_issue/execute";
    for session in [theirs["session_id"].as_str(), "ses_unknown", "tool_unknown"] {
        let body = json!({"arguments": {}, "session_id": session});
        let (parts, answer) = ask.body(body).send(&world, "POST", path).await;
        let told = (parts.status.as_u16(), answer["error"]["code"].as_str());
        assert_eq!(told, (404, Some("session_not_found")), "{session}");
    }
    let by_owner = BrowserRequest::new(&world.member(Role::Owner, true).await);
    // The rule of theirs denies the tool, and with it what it answered earlier.
    let result = format!("/internal/results/{}", theirs["result_id"]);
    let (_, answer) = by_owner.send(&world, "GET", &result).await;
    assert_eq!(answer["error"]["code"], "permission_denied", "{answer}");
    let rule = format!(
        "/internal/permissions/users/{}/tools/{}",
        theirs["user_id"], theirs["tool_name"]
    );
    let asked = by_owner.body(json!({"permission": "allow"}));
    let (parts, answer) = asked.send(&world, "PATCH", &rule).await;
    assert_eq!(parts.status, 200, "{answer}");
    for (kind, id) in [("sessions", "session_id"), ("results", "result_id")] {
        let path = format!("/internal/{kind}/{}", theirs[id]);
        let (parts, answer) = by_owner.send(&world, "GET", &path).await;
        assert_eq!(parts.status, 200, "{path}: {answer}");
    }
}
