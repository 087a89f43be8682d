//! Signing in over the wire.

use super::*;

/// The cookies of an answer as a browser would send them back.
fn cookies_of(parts: &Parts) -> String {
    let pairs: Vec<&str> = parts
        .headers
        .get_all(SET_COOKIE)
        .iter()
        .map(|value| {
            let text = value.to_str().unwrap();
            assert!(text.contains("; HttpOnly; SameSite=Strict; "), "{text}");
            text.split(';').next().unwrap()
        })
        .collect();
    pairs.join("; ")
}

#[tokio::test]
async fn a_person_signs_in_stays_signed_in_and_signs_out() {
    let world = TestWorld::open().await;
    let email = world.member(Role::Owner, true).await.me.email;
    let nobody = BrowserRequest::with("");
    let wrong = nobody.body(json!({"email": email, "password": "wrong password!"}));
    let (parts, body) = wrong.send(&world, "POST", "/internal/sign-in").await;
    assert_eq!(parts.status, 401);
    assert_eq!(body["error"]["code"], "invalid_credentials");
    assert!(parts.headers.get(SET_COOKIE).is_none());

    let right = nobody.body(json!({"email": email.to_uppercase(), "password": PASSWORD}));
    let (parts, body) = right.send(&world, "POST", "/internal/sign-in").await;
    assert_eq!(parts.status, 200, "{body}");
    let first = BrowserRequest::with(&cookies_of(&parts));
    let (parts, body) = first.send(&world, "GET", "/internal/me").await;
    assert_eq!(parts.status, 200, "{body}");
    assert_eq!(body["data"]["email"], email.as_str());
    assert_eq!(body["data"]["role"], "owner");

    world.clock.advance_ms(JWT_LIFE_MS);
    let (parts, _) = first.send(&world, "GET", "/internal/me").await;
    assert_eq!(parts.status, 401);
    let (parts, body) = first.send(&world, "POST", "/internal/refresh").await;
    assert_eq!(parts.status, 200, "{body}");
    let second = BrowserRequest::with(&cookies_of(&parts));
    // Another tab asks with the same token at the same time.
    let (parts, _) = first.send(&world, "POST", "/internal/refresh").await;
    assert_eq!(parts.status, 200);
    assert_eq!(parts.headers.get_all(SET_COOKIE).iter().count(), 1);
    let (parts, _) = second.send(&world, "GET", "/internal/me").await;
    assert_eq!(parts.status, 200);

    let (parts, _) = second.send(&world, "POST", "/internal/sign-out").await;
    assert_eq!(parts.status, 200);
    assert_eq!(cookies_of(&parts), "toolgate_session=; toolgate_refresh=");
    for path in ["/internal/me", "/internal/skills"] {
        let (parts, _) = second.send(&world, "GET", path).await;
        assert_eq!(parts.status, 401, "{path}");
    }
    let (parts, _) = second.send(&world, "POST", "/internal/refresh").await;
    assert_eq!(parts.status, 401);
}

#[tokio::test]
async fn a_copied_refresh_token_ends_the_sign_in() {
    let world = TestWorld::open().await;
    let owner = world.member(Role::Owner, true).await;
    let refresh = owner.refresh.as_ref().unwrap().expose();
    let stolen = BrowserRequest::with(&format!("{REFRESH_COOKIE}={refresh}"));
    let (parts, _) = stolen.send(&world, "POST", "/internal/refresh").await;
    let renewed = BrowserRequest::with(&cookies_of(&parts));
    world.clock.advance_ms(30_001);
    let (parts, _) = stolen.send(&world, "POST", "/internal/refresh").await;
    assert_eq!(parts.status, 401);
    let (parts, _) = renewed.send(&world, "GET", "/internal/me").await;
    assert_eq!(parts.status, 401);
    let (parts, _) = renewed.send(&world, "POST", "/internal/refresh").await;
    assert_eq!(parts.status, 401);
}

#[tokio::test]
async fn an_idle_sign_in_ends() {
    let world = TestWorld::open().await;
    let owner = world.member(Role::Owner, true).await;
    let refresh = owner.refresh.as_ref().unwrap().expose();
    world.clock.advance_ms(IDLE_MS);
    let late = BrowserRequest::with(&format!("{REFRESH_COOKIE}={refresh}"));
    let (parts, _) = late.send(&world, "POST", "/internal/refresh").await;
    assert_eq!(parts.status, 401);
}

#[tokio::test]
async fn too_many_failures_are_slowed_down() {
    let world = TestWorld::open().await;
    let email = world.member(Role::Owner, true).await.me.email;
    let wrong =
        BrowserRequest::with("").body(json!({"email": email, "password": "wrong password!"}));
    for _ in 0..10 {
        let (parts, _) = wrong.send(&world, "POST", "/internal/sign-in").await;
        assert_eq!(parts.status, 401);
    }
    let right = BrowserRequest::with("").body(json!({"email": email, "password": PASSWORD}));
    let (parts, body) = right.send(&world, "POST", "/internal/sign-in").await;
    assert_eq!(parts.status, 429, "{body}");
    let wait_s: i64 = parts.headers["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    world.clock.advance_ms(wait_s * 1_000);
    let (parts, _) = right.send(&world, "POST", "/internal/sign-in").await;
    assert_eq!(parts.status, 200);
}

#[tokio::test]
async fn a_removed_or_demoted_member_is_met_with_it_at_the_next_request() {
    let world = TestWorld::open().await;
    let owner = BrowserRequest::new(&world.member(Role::Owner, true).await);
    let admin = world.member(Role::Admin, true).await;
    let ask = BrowserRequest::new(&admin);
    let path = format!("/internal/members/{}", admin.me.member_id);
    let (parts, _) = ask.send(&world, "GET", "/internal/members").await;
    assert_eq!(parts.status, 200);
    let demote = owner.body(json!({"role": "member"}));
    let (parts, body) = demote.send(&world, "PATCH", &path).await;
    assert_eq!(parts.status, 200, "{body}");
    let (parts, _) = ask.send(&world, "GET", "/internal/members").await;
    assert_eq!(parts.status, 403);
    let (parts, _) = owner.send(&world, "DELETE", &path).await;
    assert_eq!(parts.status, 200);
    let (parts, _) = ask.send(&world, "GET", "/internal/me").await;
    assert_eq!(parts.status, 401);
    let (_, body) = owner.send(&world, "GET", "/internal/audit").await;
    let entries = body["data"]["entries"].as_array().unwrap();
    let actions: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry["action"].as_str())
        .collect();
    assert_eq!(actions[..2], ["members.remove", "members.change"], "{body}");
    assert!(entries[0]["request_id"].as_str().is_some());
    let (member, at) = (&entries[1]["actor"], &entries[1]["at"]);
    let (member, at) = (member.as_str().unwrap(), at.as_str().unwrap());
    let later = "2100-01-01T00:00:00Z";
    for (filter, expected) in [
        ("action=members.change".to_owned(), 1),
        (format!("action=members.change&actor={member}"), 1),
        (format!("action=members.change&from={at}&before={later}"), 1),
        (format!("action=members.change&before={at}"), 0),
        (format!("action=members.change&from={later}"), 0),
        ("action=members.change&actor=gateway".to_owned(), 0),
    ] {
        let path = format!("/internal/audit?{filter}");
        let (parts, body) = owner.send(&world, "GET", &path).await;
        assert_eq!(parts.status, 200, "{path}: {body}");
        let found = body["data"]["entries"].as_array().unwrap().len();
        assert_eq!(found, expected, "{path}: {body}");
    }
    let (parts, body) = owner
        .send(&world, "GET", "/internal/audit?from=yesterday")
        .await;
    assert_eq!(parts.status, 400, "{body}");
}

#[tokio::test]
async fn the_last_owner_stays_and_admins_leave_owners_alone() {
    let world = TestWorld::open().await;
    let owner = world.member(Role::Owner, true).await;
    let admin = world.member(Role::Admin, true).await;
    let path = format!("/internal/members/{}", owner.me.member_id);
    let member = json!({"role": "member"});
    for (who, status) in [(&admin, 403), (&owner, 409)] {
        let ask = BrowserRequest::new(who).body(member.clone());
        for method in ["PATCH", "DELETE"] {
            let (parts, body) = ask.send(&world, method, &path).await;
            assert_eq!(parts.status.as_u16(), status, "{method} {body}");
        }
    }
    let invite = json!({"email": "eve@example.com", "role": "owner"});
    let (parts, _) = BrowserRequest::new(&admin)
        .body(invite.clone())
        .send(&world, "POST", "/internal/members")
        .await;
    assert_eq!(parts.status, 403);
    let (parts, body) = BrowserRequest::new(&owner)
        .body(invite)
        .send(&world, "POST", "/internal/members")
        .await;
    assert_eq!(parts.status, 201, "{body}");
    let token = body["data"]["join_url"]
        .as_str()
        .unwrap()
        .split_once('#')
        .unwrap()
        .1;
    let join = json!({"token": token, "name": "Eve", "password": PASSWORD});
    let join = BrowserRequest::with("").body(join);
    let (parts, body) = join.send(&world, "POST", "/internal/setup").await;
    assert_eq!(parts.status, 200, "{body}");
    assert_eq!(body["data"]["email"], "eve@example.com");
    let (parts, _) = join.send(&world, "POST", "/internal/setup").await;
    assert_eq!(parts.status, 404, "a link is good once");
}
