use super::*;
use crate::testing::TestWorld;

#[test]
fn a_title_is_the_first_line_that_says_something() {
    assert_eq!(
        title("\n  \n Plan the week \nand more").as_deref(),
        Some("Plan the week")
    );
    assert_eq!(title(" \n"), None);
    let whole = "ü".repeat(TITLE_CHARS_MAX);
    assert_eq!(title(&whole), Some(whole.clone()));
    let cut = title(&format!("{whole}x")).unwrap();
    assert_eq!(cut.chars().count(), TITLE_CHARS_MAX);
    assert!(cut.ends_with('…'));
}

fn create(prompt: &str) -> CreateSession {
    CreateSession {
        prompt: prompt.to_owned(),
        user_id: None,
    }
}

async fn begin(
    world: &TestWorld,
    caller: &Caller,
    request: CreateSession,
) -> Result<Session, Error> {
    let made = world.create_session(caller, None, request, None).await?;
    match made {
        IdempotentAnswer::New(session) => Ok(session),
        IdempotentAnswer::Again(_) => panic!("no key was named"),
    }
}

#[tokio::test]
async fn a_session_is_there_until_it_was_idle_for_a_day() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Sessions]).await;
    let made = begin(&world, &caller, create("Plan the week"))
        .await
        .unwrap();
    assert!(made.session_id.starts_with("ses_") && made.session_id.len() == 36);
    assert_eq!(made.messages.as_ref().unwrap()[0].content, "Plan the week");
    world.clock.advance_ms(SESSION_IDLE_MS - 1);
    assert_eq!(
        world.session(&caller, &made.session_id).await.unwrap(),
        made
    );
    world.clock.advance_ms(1);
    let gone = world.session(&caller, &made.session_id).await.unwrap_err();
    assert_eq!(gone.code(), "session_not_found");
    let ada = &caller.default_user;
    let used = world.check_session(&caller, ada, Some(&made.session_id));
    let used = used.await;
    assert_eq!(used.unwrap_err().code(), "session_not_found");
}

#[tokio::test]
async fn sessions_are_listed_by_user_and_deleted_once() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Sessions, Scope::UsersAny]).await;
    let bob = Some(UserId::parse("bob").unwrap());
    let theirs = CreateSession {
        user_id: bob.clone(),
        ..create("B")
    };
    let first = begin(&world, &caller, create("A")).await.unwrap();
    world.clock.advance_ms(1);
    let second = begin(&world, &caller, theirs).await.unwrap();
    let list = |user_id, limit, cursor| ListSessions {
        user_id,
        limit,
        cursor,
    };
    let page = world.sessions(&caller, list(None, 1, None)).await.unwrap();
    assert_eq!(page.sessions[0].session_id, second.session_id);
    assert_eq!(page.sessions[0].messages, None);
    let page = world
        .sessions(&caller, list(None, 1, page.next_cursor))
        .await
        .unwrap();
    assert_eq!(page.sessions[0].session_id, first.session_id);
    assert_eq!(page.next_cursor, None);
    let page = world.sessions(&caller, list(bob, 20, None)).await.unwrap();
    assert_eq!(page.sessions.len(), 1);
    assert!(
        world
            .delete_session(&caller, &first.session_id)
            .await
            .unwrap()
            .deleted
    );
    let twice = world.delete_session(&caller, &first.session_id).await;
    assert_eq!(twice.unwrap_err().code(), "session_not_found");
}

#[tokio::test]
async fn prompts_are_bounded_and_sessions_stay_in_their_workspace() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Sessions]).await;
    let most = "\u{1f980}".repeat(PROMPT_CHARS_MAX);
    let made = begin(&world, &caller, create(&most)).await.unwrap();
    for bad in ["", " ", "a\0", &format!("{most}x")] {
        let refused = begin(&world, &caller, create(bad)).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_request");
    }
    let stranger = world.stranger(&[Scope::Admin]).await;
    let id = &made.session_id;
    let user = &stranger.default_user;
    for refused in [
        world.session(&stranger, id).await.map(drop),
        world.delete_session(&stranger, id).await.map(drop),
        world.check_session(&stranger, user, Some(id)).await,
        world
            .check_session(&stranger, user, Some("ses_unknown"))
            .await,
    ] {
        assert_eq!(refused.unwrap_err().code(), "session_not_found");
    }
    for own in [None, Some("tool_1"), Some("my-own")] {
        assert!(world.check_session(&stranger, user, own).await.is_ok());
    }
    let other = world.caller(&[Scope::ToolsExecute]).await;
    let refused = begin(&world, &other, create("A")).await;
    assert_eq!(refused.unwrap_err().code(), "scope_denied");
}

#[tokio::test]
async fn who_acts_for_one_user_alone_runs_in_that_users_sessions_alone() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Sessions, Scope::UsersAny]).await;
    let bob = UserId::parse("bob").unwrap();
    let confined = caller.confined_to(bob.clone());
    let theirs = begin(&world, &caller, create("A")).await.unwrap();
    let own = CreateSession {
        user_id: Some(bob),
        ..create("B")
    };
    let own = begin(&world, &confined, own).await.unwrap();
    // One that an execution has begun.
    let begun = |id: &str, user_id: &str| store::SessionRow {
        workspace_id: caller.workspace_id.clone(),
        id: id.into(),
        user_id: user_id.into(),
        prompt: None,
        created_at_ms: crate::testing::NOW_MS,
        last_active_at_ms: crate::testing::NOW_MS,
    };
    for (id, user) in [("tool_1", "ada"), ("tool_2", "bob")] {
        world.store().put_session(&begun(id, user)).await.unwrap();
    }
    let (ada, bob) = (&caller.default_user, &confined.default_user);
    let check = async |caller: &Caller, user: &UserId, id: &str| {
        let checked = world.check_session(caller, user, Some(id)).await;
        checked.map_err(|refused| refused.code())
    };
    for id in [own.session_id.as_str(), "tool_2"] {
        assert_eq!(check(&confined, bob, id).await, Ok(()), "{id}");
        assert_eq!(check(&caller, bob, id).await, Ok(()), "{id}");
        // A key acts for everybody, and for one of them at a time.
        let refused = check(&caller, ada, id).await;
        assert_eq!(refused, Err("session_not_found"), "{id}");
    }
    assert!(world.check_session(&confined, bob, None).await.is_ok());
    for id in [theirs.session_id.as_str(), "tool_1", "nobodys"] {
        let refused = check(&confined, bob, id).await;
        assert_eq!(refused, Err("session_not_found"), "{id}");
        assert_eq!(check(&caller, ada, id).await, Ok(()), "{id}");
    }
    let odd = check(&caller, ada, "no name").await;
    assert_eq!(odd, Err("invalid_request"));
}
