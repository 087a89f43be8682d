use bytes::Bytes;
use serde_json::json;

use super::call::CALL_FILES_MAX;
use super::*;
use crate::testing::TestWorld;

const SCOPES: [Scope; 1] = [Scope::ToolsExecute];

fn new(content: impl Into<Bytes>) -> NewFile {
    NewFile {
        user_id: None,
        name: Some("../../report 1.txt".to_owned()),
        media_type: Some("text/plain; charset=utf-8".to_owned()),
        content: content.into(),
        lifetime_s: LIFETIME_S,
        sha256: None,
    }
}

#[tokio::test]
async fn a_file_is_read_as_it_was_sent_whole_and_in_pieces() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    // More than one sealed piece, and not a multiple of one.
    let content: Vec<u8> = (0..200_001_u32).map(|n| (n % 251) as u8).collect();
    let file = world.put_file(&caller, new(content.clone())).await.unwrap();
    assert_eq!(file.name.as_deref(), Some("report 1.txt"));
    assert_eq!(file.size_bytes, 200_001);
    assert_eq!(file.sha256, hex::encode(Sha256::digest(&content)));
    assert_eq!(world.file(&caller, &file.file_id).await.unwrap(), file);
    for (offset, limit) in [
        (0, usize::MAX),
        (65_535, 2),
        (131_072, 10),
        (200_000, 5),
        (200_001, 5),
        (usize::MAX, 5),
    ] {
        let piece = world.file_content(&caller, &file.file_id, offset, limit);
        let piece = piece.await.unwrap().bytes;
        let from = offset.min(content.len());
        let end = from.saturating_add(limit).min(content.len());
        assert!(piece == content[from..end], "{offset} {limit}");
    }
    let empty = world.put_file(&caller, new("")).await.unwrap();
    let nothing = world.file_content(&caller, &empty.file_id, 0, 10);
    assert!(nothing.await.unwrap().bytes.is_empty());
}

#[tokio::test]
async fn a_file_is_there_for_its_user_until_it_expires_or_is_deleted() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let stranger = world.stranger(&SCOPES).await;
    let kept = world.put_file(&caller, new("a")).await.unwrap();
    let short = NewFile {
        lifetime_s: 60,
        ..new("b")
    };
    let short = world.put_file(&caller, short).await.unwrap();
    for id in [&*kept.file_id, "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "x"] {
        let foreign = world.file(&stranger, id).await.unwrap_err();
        assert_eq!(foreign.code(), "not_found", "{id}");
        let deleted = world.delete_file(&stranger, id).await.unwrap_err();
        assert_eq!(deleted.code(), "not_found", "{id}");
    }
    let listed = async |caller: &Caller| {
        let list = ListFiles {
            user_id: None,
            limit: 10,
            cursor: None,
        };
        let page = world.files(caller, list).await.unwrap();
        page.files
            .into_iter()
            .map(|file| file.file_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&caller).await.len(), 2);
    assert!(listed(&stranger).await.is_empty());
    world.clock.advance_ms(60_000);
    assert_eq!(listed(&caller).await, std::slice::from_ref(&kept.file_id));
    let gone = world.file_content(&caller, &short.file_id, 0, 1).await;
    assert_eq!(gone.unwrap_err().code(), "not_found");
    world.delete_file(&caller, &kept.file_id).await.unwrap();
    assert!(world.file(&caller, &kept.file_id).await.is_err());
    assert_eq!(
        world.store.purge_files(world.clock.now_ms()).await.unwrap(),
        1
    );
}

#[tokio::test]
async fn what_is_sent_is_checked() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let right = NewFile {
        sha256: Some(Sha256::digest("hello").into()),
        ..new("hello")
    };
    assert!(world.put_file(&caller, right.clone()).await.is_ok());
    let most = NewFile {
        lifetime_s: LIFETIME_S_MAX,
        ..new(vec![0; FILE_BYTES_MAX])
    };
    assert!(world.put_file(&caller, most).await.is_ok());
    for (what, wrong) in [
        (
            "another hash",
            NewFile {
                content: "hellO".into(),
                ..right.clone()
            },
        ),
        (
            "no media type",
            NewFile {
                media_type: Some("text".to_owned()),
                ..right.clone()
            },
        ),
        (
            "a header in it",
            NewFile {
                media_type: Some("a/b\r\nX: y".to_owned()),
                ..right.clone()
            },
        ),
        (
            "no time",
            NewFile {
                lifetime_s: 0,
                ..right.clone()
            },
        ),
        (
            "too long",
            NewFile {
                lifetime_s: LIFETIME_S_MAX + 1,
                ..right.clone()
            },
        ),
        ("too large", new(vec![0; FILE_BYTES_MAX + 1])),
    ] {
        let refused = world.put_file(&caller, wrong).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_request", "{what}");
    }
    let unnamed = NewFile {
        media_type: None,
        name: Some("/".to_owned()),
        ..new("x")
    };
    let unnamed = world.put_file(&caller, unnamed).await.unwrap();
    assert_eq!(
        (unnamed.name, &*unnamed.media_type),
        (None, UNKNOWN_MEDIA_TYPE)
    );
    let reader = world.caller(&[Scope::ToolsRead]).await;
    let refused = world.put_file(&reader, new("x")).await.unwrap_err();
    assert_eq!(refused.code(), "scope_denied");
}

#[tokio::test]
async fn the_database_holds_no_content_in_clear() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let words = "a sentence that is nowhere else";
    let file = world.put_file(&caller, new(words)).await.unwrap();
    let now_ms = world.clock.now_ms();
    let kept = world
        .store
        .read_file(&caller.workspace_id, &file.file_id, (0, 1 << 20), now_ms);
    let kept = kept.await.unwrap().unwrap();
    assert!(
        !kept
            .piece
            .windows(words.len())
            .any(|part| part == words.as_bytes())
    );
}

#[tokio::test]
async fn arguments_name_files_of_their_user_alone() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let stranger = world.stranger(&SCOPES).await;
    let own = world.put_file(&caller, new("own")).await.unwrap();
    let foreign = world.put_file(&stranger, new("foreign")).await.unwrap();
    let user = &caller.default_user;
    let arguments = json!({
        "a": {"b": [own.file_id, foreign.file_id, "file_x", 7]},
        "again": format!(" {} ", own.file_id),
        "inside": format!("see {}", own.file_id),
    });
    let files = world.call_files(&caller, user, &arguments).await.unwrap();
    let read: Vec<_> = files
        .files
        .iter()
        .map(|file| (&*file.handle, &*file.content))
        .collect();
    assert_eq!(read, [(&*own.file_id, &b"own"[..])]);
    let other = UserId::parse("somebody-else").unwrap();
    let files = world.call_files(&caller, &other, &arguments).await.unwrap();
    assert!(files.files.is_empty(), "of another user of the workspace");
}

#[tokio::test]
async fn files_of_a_call_are_bounded_together() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let half = vec![0; FILE_BYTES_MAX / 2];
    let first = world.put_file(&caller, new(half.clone())).await.unwrap();
    let second = world.put_file(&caller, new(half)).await.unwrap();
    let third = world.put_file(&caller, new("x")).await.unwrap();
    let user = &caller.default_user;
    let mut arguments = vec![first.file_id, second.file_id];
    let fits = world.call_files(&caller, user, &json!(arguments)).await;
    assert_eq!(fits.unwrap().files.len(), 2);
    arguments.push(third.file_id);
    let refused = world.call_files(&caller, user, &json!(arguments)).await;
    assert_eq!(refused.err().unwrap().code(), "invalid_request");
    let many =
        |count: usize| -> Vec<String> { (0..count).map(|n| format!("file_{n:026}")).collect() };
    let fits = world
        .call_files(&caller, user, &json!(many(CALL_FILES_MAX)))
        .await;
    assert!(fits.is_ok());
    let refused = world
        .call_files(&caller, user, &json!(many(CALL_FILES_MAX + 1)))
        .await;
    assert_eq!(refused.err().unwrap().code(), "invalid_request");
}

#[tokio::test]
async fn a_workspace_holds_so_many_files_at_a_time_and_leaves_places_for_others() {
    let world = TestWorld::open().await;
    let greedy = world.caller(&SCOPES).await;
    let modest = world.stranger(&SCOPES).await;
    let file = world.put_file(&greedy, new("text")).await.unwrap();
    let arguments = json!([file.file_id]);
    let user = &greedy.default_user;
    let mut held = Vec::new();
    for _ in 1..FILES_HELD_PER_WORKSPACE_MAX {
        held.push(world.hold_file(&greedy).unwrap());
    }
    let last = world.call_files(&greedy, user, &arguments).await.unwrap();
    let refused = world.call_files(&greedy, user, &arguments).await;
    assert_eq!(refused.err().unwrap().code(), "overloaded");
    let refused = world.file_text(&greedy, &file.file_id, 0, 100).await;
    assert_eq!(refused.unwrap_err().code(), "overloaded");
    assert!(world.hold_file(&greedy).is_err());
    assert!(world.hold_file(&modest).is_ok());
    drop(last);
    let read = world.file_text(&greedy, &file.file_id, 0, 100).await;
    assert_eq!(read.unwrap().text.as_deref(), Some("text"));
}

#[tokio::test]
async fn the_text_of_a_file_is_read_up_to_its_bound() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let most = crate::knowledge::DOCUMENT_BYTES_MAX;
    for (size, fits) in [(most, true), (most + 1, false)] {
        let file = world
            .put_file(&caller, new(vec![b'a'; size]))
            .await
            .unwrap();
        let read = world.file_text(&caller, &file.file_id, 0, 100).await;
        assert_eq!(read.is_ok(), fits, "{size}");
    }
}
