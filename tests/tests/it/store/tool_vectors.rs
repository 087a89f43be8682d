use toolgate_store::ToolVector;

use super::{Empty, NOW_MS, on_both};

on_both!(
    a_vector_is_kept_once_by_model_and_text,
    vectors_of_forgotten_texts_are_gone,
);

fn vector(text: &str, byte: u8) -> ToolVector {
    ToolVector {
        text_sha256: text.repeat(64),
        vector: vec![byte; 1_536],
    }
}

async fn kept(at: &Empty, model: &str) -> Vec<ToolVector> {
    let mut kept = at.store.list_tool_vectors(model).await.unwrap();
    kept.sort_by(|a, b| a.text_sha256.cmp(&b.text_sha256));
    kept
}

async fn a_vector_is_kept_once_by_model_and_text(at: Empty) {
    let put = async |model: &str, made: &[ToolVector]| {
        let done = at.store.put_tool_vectors(model, made, NOW_MS).await;
        done.unwrap();
    };
    put("one", &[vector("a", 1), vector("b", 2)]).await;
    // Another process was as fast: what is there stays.
    put("one", &[vector("b", 9), vector("c", 3)]).await;
    put("two", &[vector("a", 4)]).await;
    assert_eq!(
        kept(&at, "one").await,
        [vector("a", 1), vector("b", 2), vector("c", 3)]
    );
    assert_eq!(kept(&at, "two").await, [vector("a", 4)]);
    assert_eq!(kept(&at, "three").await, []);
}

async fn vectors_of_forgotten_texts_are_gone(at: Empty) {
    let made = [vector("a", 1), vector("b", 2), vector("c", 3)];
    at.store
        .put_tool_vectors("one", &made, NOW_MS)
        .await
        .unwrap();
    let gone = [vector("a", 0).text_sha256, vector("c", 0).text_sha256];
    at.store.forget_tool_vectors(&gone).await.unwrap();
    assert_eq!(kept(&at, "one").await, [vector("b", 2)]);
}
