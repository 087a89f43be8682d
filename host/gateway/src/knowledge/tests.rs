use super::*;
use crate::testing::TestWorld;

fn text(content: &str) -> AddDocument {
    AddDocument {
        title: None,
        media_type: MediaType::Markdown,
        content: Content::Text(content.to_owned()),
    }
}

fn html(content: &str) -> AddDocument {
    AddDocument {
        media_type: MediaType::Html,
        ..text(content)
    }
}

async fn found(gateway: &Gateway, caller: &Caller, query: &str) -> Vec<String> {
    let request = SearchKnowledge {
        query: query.to_owned(),
        limit: 20,
    };
    let found = gateway.search_knowledge(caller, request).await.unwrap();
    found.passages.into_iter().map(|found| found.text).collect()
}

#[tokio::test]
async fn a_passage_is_found_where_it_stands() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Knowledge]).await;
    let long = format!(
        "# Tr\u{e4}vel policy\n\n{}\n\nHotels cost at most 120 EUR a night.\n\n{}",
        "Trains before planes. ".repeat(60),
        "Meals are paid by receipt. ".repeat(60),
    );
    let added = world.add_document(&caller, text(&long)).await.unwrap();
    assert_eq!(added.title, "Tr\u{e4}vel policy");
    assert_eq!(
        (added.pages, added.chars as usize),
        (None, long.chars().count())
    );
    let request = SearchKnowledge {
        query: "what may a hotel cost?".to_owned(),
        limit: 1,
    };
    let answer = world.search_knowledge(&caller, request).await.unwrap();
    let best = &answer.passages[0];
    assert!(best.text.contains("Hotels cost at most"), "{}", best.text);
    assert_eq!(best.document_id, added.document_id);
    let whole = world.document(&caller, &added.document_id).await.unwrap();
    assert_eq!(whole.content, long);
    let Position {
        starts_at,
        ends_at,
        page,
    } = best.position;
    assert_eq!(
        passages::slice(&whole.content, starts_at, ends_at),
        best.text
    );
    assert_eq!(page, None);
    assert!(best.score > 0.0);
    assert!(found(&world, &caller, "submarine").await.is_empty());
    assert!(found(&world, &caller, "the of and").await.is_empty());
    assert!(found(&world, &caller, "travel").await.len() > 1);
    world
        .add_document(&caller, text("東京の天気は晴れです。"))
        .await
        .unwrap();
    assert_eq!(found(&world, &caller, "天気").await.len(), 1);
}

#[tokio::test]
async fn a_deleted_document_is_found_by_no_process() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Knowledge]).await;
    let sibling = world.sibling(world.clock.clone()).await;
    let mut ids = Vec::new();
    for n in 0..3 {
        let content = format!("falcon number {n}");
        let added = world.add_document(&caller, text(&content)).await.unwrap();
        ids.push(added.document_id);
        assert_eq!(found(&world, &caller, "falcon").await.len(), n + 1);
        assert_eq!(found(&sibling, &caller, "falcons").await.len(), n + 1);
    }
    sibling.delete_document(&caller, &ids[1]).await.unwrap();
    for gateway in [&sibling, &world.gateway] {
        let mut left = found(gateway, &caller, "falcon").await;
        left.sort();
        assert_eq!(left, ["falcon number 0", "falcon number 2"]);
    }
    let twice = world.delete_document(&caller, &ids[1]).await;
    assert_eq!(twice.unwrap_err().code(), "not_found");
    let read = world.document(&caller, &ids[1]).await;
    assert_eq!(read.unwrap_err().code(), "not_found");
}

#[tokio::test]
async fn documents_stay_in_their_workspace_and_behind_their_scope() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Knowledge]).await;
    let added = world
        .add_document(&caller, text("a secret falcon"))
        .await
        .unwrap();
    let id = &added.document_id;
    let stranger = world.stranger(&[Scope::Admin]).await;
    assert!(found(&world, &stranger, "falcon").await.is_empty());
    for refused in [
        world.document(&stranger, id).await.map(drop),
        world.delete_document(&stranger, id).await.map(drop),
    ] {
        assert_eq!(refused.unwrap_err().code(), "not_found");
    }
    let other = world.caller(&[Scope::ToolsRead]).await;
    let search = SearchKnowledge {
        query: "falcon".to_owned(),
        limit: 1,
    };
    let list = ListDocuments {
        limit: 1,
        cursor: None,
    };
    for refused in [
        world.add_document(&other, text("x")).await.map(drop),
        world.document(&other, id).await.map(drop),
        world.documents(&other, list).await.map(drop),
        world.delete_document(&other, id).await.map(drop),
        world.search_knowledge(&other, search).await.map(drop),
    ] {
        assert_eq!(refused.unwrap_err().code(), "scope_denied");
    }
    assert_eq!(found(&world, &caller, "falcon").await.len(), 1);
}

#[tokio::test]
async fn lists_go_from_page_to_page() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Knowledge]).await;
    for n in 0..3 {
        world.clock.advance_ms(1);
        world
            .add_document(&caller, text(&format!("document {n}")))
            .await
            .unwrap();
    }
    let list = |cursor| ListDocuments { limit: 2, cursor };
    let first = world.documents(&caller, list(None)).await.unwrap();
    let titles = |page: &DocumentPage| -> Vec<String> {
        page.documents
            .iter()
            .map(|document| document.title.clone())
            .collect()
    };
    assert_eq!(titles(&first), ["document 2", "document 1"]);
    let last = world
        .documents(&caller, list(first.next_cursor))
        .await
        .unwrap();
    assert_eq!(titles(&last), ["document 0"]);
    assert_eq!(last.next_cursor, None);
}

#[tokio::test]
async fn what_is_no_document_is_refused_with_a_reason() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Knowledge]).await;
    let base64 = |media_type, bytes: &[u8]| AddDocument {
        title: None,
        media_type,
        content: Content::Base64(STANDARD.encode(bytes)),
    };
    let titled = |title: &str| AddDocument {
        title: Some(title.to_owned()),
        ..text("x")
    };
    for (request, reason) in [
        (text(" \n"), "no text"),
        (text(&"x".repeat(DOCUMENT_BYTES_MAX + 1)), "bytes"),
        (text(&"x".repeat(TEXT_CHARS_MAX + 1)), "characters of text"),
        (titled(""), "title"),
        (titled("a\nb"), "title"),
        (titled(&"x".repeat(TITLE_CHARS_MAX + 1)), "title"),
        (base64(MediaType::Text, b"\xff\xfe"), "UTF-8"),
        (base64(MediaType::Pdf, b"%PDF-1.7 and then nothing"), "PDF"),
        (base64(MediaType::Pdf, b""), "PDF"),
        (
            AddDocument {
                media_type: MediaType::Pdf,
                ..text("x")
            },
            "content_base64",
        ),
        (
            AddDocument {
                content: Content::Base64("***".to_owned()),
                ..text("")
            },
            "base64",
        ),
        (html("<script>only()</script>"), "no text"),
    ] {
        let refused = world.add_document(&caller, request).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_request", "{reason}");
        assert!(
            refused.to_string().contains(reason),
            "{refused} for {reason}"
        );
    }
}

#[tokio::test]
async fn control_characters_do_not_reach_the_database() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Knowledge]).await;
    let added = world
        .add_document(&caller, text("one\0\u{1b}[31m\r\ntwo\rthree\t."))
        .await
        .unwrap();
    let read = world.document(&caller, &added.document_id).await.unwrap();
    assert_eq!(read.content, "one[31m\ntwo\nthree\t.");
}

#[tokio::test]
async fn hostile_pages_end_in_the_sandbox() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::Knowledge]).await;
    let deep = format!("{}falcon", "<div><b><table><i>".repeat(200_000));
    let outcome = world.add_document(&caller, html(&deep)).await;
    if let Err(refused) = outcome {
        assert_eq!(refused.code(), "invalid_request", "{refused}");
    }
    let page = html("<title>Birds</title><p>A falcon &amp; a heron<script>x</script>");
    let added = world.add_document(&caller, page).await.unwrap();
    assert_eq!(added.title, "Birds");
    assert!(
        found(&world, &caller, "heron")
            .await
            .contains(&"A falcon & a heron".to_owned())
    );
}
