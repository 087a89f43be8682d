//! Whose use counts for which search, and where counting ends.

use super::*;
use crate::Scope;
use crate::testing::{NOW_MS, TestWorld};
use toolgate_catalog::{Tool, fixture};

fn tools() -> Vec<Arc<Tool>> {
    fixture::catalog().tools().to_vec()
}

fn hit(tool: &Arc<Tool>, words: &[String]) -> Hit {
    Hit {
        tool: tool.clone(),
        score: 1.0,
        confidence: toolgate_search::Fit::High,
        reasons: Vec::new(),
        also_in: Vec::new(),
        words: words.into(),
        of_other_service: false,
        step: None,
    }
}

fn word(word: &str) -> Vec<String> {
    vec![word.to_owned()]
}

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

/// What waits to be written for a caller's workspace, in order: word, tool, times.
fn counted(learning: &SearchLearning, caller: &Caller) -> Vec<(String, String, i64)> {
    let unwritten = lock(&learning.unwritten);
    let uses = unwritten.get(&caller.workspace_id).into_iter();
    let uses = uses.flat_map(HashMap::values);
    let uses = uses.map(|one| (one.word.clone(), one.tool_name.clone(), one.times));
    let mut uses: Vec<_> = uses.collect();
    uses.sort();
    uses
}

#[tokio::test]
async fn a_use_counts_for_the_key_and_the_user_of_the_search_alone() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsExecute]).await;
    let other_key = world.caller(&[Scope::ToolsExecute]).await;
    let stranger = world.stranger(&[Scope::ToolsExecute]).await;
    let (ada, bob) = (user("ada"), user("bob"));
    let tools = tools();
    let tool = &tools[0].name;
    let learning = SearchLearning::new(true);
    learning.searched(&caller, &ada, &[hit(&tools[0], &word("report"))], NOW_MS);

    learning.executed(&other_key, &ada, tool, NOW_MS);
    learning.executed(&stranger, &ada, tool, NOW_MS);
    learning.executed(&caller, &bob, tool, NOW_MS);
    learning.executed(&caller, &ada, &tools[1].name, NOW_MS);
    for caller in [&caller, &stranger] {
        assert!(counted(&learning, caller).is_empty());
    }
    // Once for one search, however often the tool is executed.
    for _ in 0..2 {
        learning.executed(&caller, &ada, tool, NOW_MS);
        let once = ("report".to_owned(), tool.to_string(), 1);
        assert_eq!(counted(&learning, &caller), [once]);
    }
    learning.searched(&caller, &ada, &[hit(&tools[0], &word("report"))], NOW_MS);
    learning.executed(&caller, &ada, tool, NOW_MS);
    assert_eq!(counted(&learning, &caller)[0].2, 2);
    assert!(counted(&learning, &stranger).is_empty());
}

#[tokio::test]
async fn nothing_is_remembered_where_learning_is_off() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsExecute]).await;
    let tools = tools();
    let learning = SearchLearning::new(false);
    let hits = [hit(&tools[0], &word("report"))];
    learning.searched(&caller, &user("ada"), &hits, NOW_MS);
    learning.executed(&caller, &user("ada"), &tools[0].name, NOW_MS);
    assert!(counted(&learning, &caller).is_empty());
    assert!(lock(&learning.recent).is_empty());
}

#[tokio::test]
async fn a_use_counts_up_to_ten_minutes_after_the_search() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsExecute]).await;
    let ada = user("ada");
    let tools = tools();
    for (after_ms, counts) in [(0, true), (RECENT_MS, true), (RECENT_MS + 1, false)] {
        let learning = SearchLearning::new(true);
        learning.searched(&caller, &ada, &[hit(&tools[0], &word("report"))], NOW_MS);
        learning.executed(&caller, &ada, &tools[0].name, NOW_MS + after_ms);
        let found = counted(&learning, &caller);
        assert_eq!(found.len(), usize::from(counts), "{after_ms} ms: {found:?}");
    }
    assert_eq!(RECENT_MS, 600_000);
}

#[tokio::test]
async fn a_search_that_is_too_old_is_dropped_at_the_next_one() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsExecute]).await;
    let ada = user("ada");
    let hits = [hit(&tools()[0], &word("report"))];
    for (after_ms, kept) in [(RECENT_MS, 2), (RECENT_MS + 1, 1)] {
        let learning = SearchLearning::new(true);
        learning.searched(&caller, &ada, &hits, NOW_MS);
        learning.searched(&caller, &ada, &hits, NOW_MS + after_ms);
        let recent = lock(&learning.recent);
        assert_eq!(recent[&caller.workspace_id].len(), kept, "{after_ms} ms");
    }
}

#[tokio::test]
async fn the_oldest_of_too_many_searches_is_forgotten_in_its_workspace() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsExecute]).await;
    let stranger = world.stranger(&[Scope::ToolsExecute]).await;
    let ada = user("ada");
    let tools = tools();
    let (first, later) = (&tools[0], &tools[1]);
    for (more, counts) in [(SEARCHES_MAX - 1, true), (SEARCHES_MAX, false)] {
        let learning = SearchLearning::new(true);
        learning.searched(&caller, &ada, &[hit(first, &word("report"))], NOW_MS);
        for _ in 0..more {
            learning.searched(&caller, &ada, &[hit(later, &word("message"))], NOW_MS);
            learning.searched(&stranger, &ada, &[hit(later, &word("message"))], NOW_MS);
        }
        let kept = lock(&learning.recent)[&caller.workspace_id].len();
        assert_eq!(kept, SEARCHES_MAX, "after {more} more");
        learning.executed(&caller, &ada, &first.name, NOW_MS);
        let found = counted(&learning, &caller);
        assert_eq!(found.len(), usize::from(counts), "{more} more: {found:?}");
    }
}

#[tokio::test]
async fn of_one_search_so_many_tools_and_words_of_that_length_count() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsExecute]).await;
    let ada = user("ada");
    let tools = tools();
    let hits: Vec<Hit> = tools
        .iter()
        .map(|tool| hit(tool, &word("report")))
        .collect();
    for (place, counts) in [(OFFERED_MAX - 1, 1), (OFFERED_MAX, 0)] {
        let learning = SearchLearning::new(true);
        learning.searched(&caller, &ada, &hits, NOW_MS);
        learning.executed(&caller, &ada, &tools[place].name, NOW_MS);
        assert_eq!(counted(&learning, &caller).len(), counts, "place {place}");
    }
    for count in [WORDS_MAX, WORDS_MAX + 1] {
        let words: Vec<String> = (0..count).map(|n| format!("word{n}")).collect();
        let learning = SearchLearning::new(true);
        learning.searched(&caller, &ada, &[hit(&tools[0], &words)], NOW_MS);
        learning.executed(&caller, &ada, &tools[0].name, NOW_MS);
        assert_eq!(counted(&learning, &caller).len(), WORDS_MAX, "of {count}");
    }
    for (bytes, counts) in [(WORD_BYTES_MAX, 1), (WORD_BYTES_MAX + 1, 0)] {
        let learning = SearchLearning::new(true);
        let words = word(&"a".repeat(bytes));
        learning.searched(&caller, &ada, &[hit(&tools[0], &words)], NOW_MS);
        learning.executed(&caller, &ada, &tools[0].name, NOW_MS);
        assert_eq!(counted(&learning, &caller).len(), counts, "{bytes} bytes");
    }
}

#[tokio::test]
async fn no_more_is_counted_while_too_many_pairs_wait_to_be_written() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsExecute]).await;
    let stranger = world.stranger(&[Scope::ToolsExecute]).await;
    let ada = user("ada");
    let tools = tools();
    let learning = SearchLearning::new(true);
    let count = |caller: &Caller, words: &[String]| {
        learning.searched(caller, &ada, &[hit(&tools[0], words)], NOW_MS);
        learning.executed(caller, &ada, &tools[0].name, NOW_MS);
        counted(&learning, caller).len()
    };
    let words: Vec<String> = (0..UNWRITTEN_MAX).map(|n| format!("word{n}")).collect();
    for words in words[1..].chunks(WORDS_MAX) {
        count(&caller, words);
    }
    assert_eq!(counted(&learning, &caller).len(), UNWRITTEN_MAX - 1);
    assert_eq!(count(&caller, &words[..1]), UNWRITTEN_MAX);
    // The limit is one of all workspaces together.
    assert_eq!(count(&caller, &word("beyond")), UNWRITTEN_MAX);
    assert_eq!(count(&stranger, &word("beyond")), 0);
}

#[tokio::test]
async fn a_workspace_with_as_many_pairs_as_are_kept_counts_those_alone() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsExecute]).await;
    let ada = user("ada");
    let tools = tools();
    let tool = &tools[0];
    let pair = |n: usize| SearchUse {
        word: format!("word{n}"),
        tool_name: tool.name.to_string(),
        times: 1,
        used_at_ms: NOW_MS,
    };
    let store = world.gateway.store();
    let most: Vec<SearchUse> = (1..PAIRS_MAX).map(pair).collect();
    let added = store.add_search_uses(&caller.workspace_id, &most).await;
    added.unwrap();
    // Room for one: of two new pairs one is kept, and the known one is counted.
    for round in 1..=2 {
        let words = [
            "word1".to_owned(),
            format!("new{round}"),
            format!("more{round}"),
        ];
        let learning = &world.gateway.learning;
        learning.searched(&caller, &ada, &[hit(tool, &words)], NOW_MS);
        learning.executed(&caller, &ada, &tool.name, NOW_MS);
        world.gateway.write_search_uses().await.unwrap();
        let uses = store.list_search_uses(&caller.workspace_id, PAIRS_MAX + 10);
        let uses = uses.await.unwrap();
        assert_eq!(uses.len(), PAIRS_MAX, "round {round}");
        let known = uses.iter().find(|one| one.word == "word1").unwrap();
        assert_eq!(known.times, 1 + round, "round {round}");
        let new = uses.iter().filter(|one| !one.word.starts_with("word"));
        assert_eq!(new.count(), 1, "round {round}");
        assert!(counted(learning, &caller).is_empty(), "round {round}");
    }
}
