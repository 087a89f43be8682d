use super::*;
use crate::sessions::CreateSession;
use crate::testing::TestWorld;

async fn begin(world: &TestWorld, caller: &Caller, prompt: &str) -> Session {
    let request = CreateSession {
        prompt: prompt.to_owned(),
        user_id: None,
    };
    let made = world.create_session(caller, None, request, None).await;
    match made.unwrap() {
        IdempotentAnswer::New(session) => session,
        IdempotentAnswer::Again(_) => panic!("no key was named"),
    }
}

#[tokio::test]
async fn tools_of_the_catalog_are_named_with_their_schemas() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let session = begin(&world, &caller, "Create an issue on github").await;
    let said = session.messages.unwrap();
    assert_eq!(
        (said[0].role, said[1].role),
        (Speaker::User, Speaker::Assistant)
    );
    let matches = said[1].details.matches.as_ref().unwrap();
    assert_eq!(matches["tools"][0]["name"], "github_create_issue");
    assert!(matches["tools"][0]["inputSchema"]["properties"].is_object());
    assert_eq!(said[1].details.model_configured, Some(false));
    assert!(said[1].content.contains("github_create_issue"));
    let request = ListMessages {
        session_id: session.session_id,
        limit: 10,
        cursor: None,
    };
    let stranger = world.stranger(&[Scope::Admin]).await;
    let refused = world
        .messages(&stranger, request.clone())
        .await
        .unwrap_err();
    assert_eq!(refused.code(), "session_not_found");
    assert_eq!(
        world.messages(&caller, request).await.unwrap().messages,
        said
    );
}

#[tokio::test]
async fn strangers_and_narrow_keys_say_nothing() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Admin]).await;
    let id = begin(&world, &caller, "Hello").await.session_id;
    let say = || MessageInput::Message("hi".to_owned());
    let stranger = world.stranger(&[Scope::Admin]).await;
    let refused = world.converse(&stranger, None, &id, say(), None).await;
    assert_eq!(refused.unwrap_err().code(), "session_not_found");
    let narrow = world.caller(&[Scope::ToolsExecute]).await;
    let refused = world.converse(&narrow, None, &id, say(), None).await;
    assert_eq!(refused.unwrap_err().code(), "scope_denied");
}
