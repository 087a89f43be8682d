//! Learning from use: what a workspace executes after its searches moves up a little in its searches.
//!
//! A search remembers for some minutes, in this process, which tools it offered. When the same key executes
//! one of them for the same user, the words of the search and the tool are counted together. Housekeeping
//! writes the counts; every process reads them again after a while. What one workspace does moves nothing
//! in another.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Caller, Gateway};
use toolgate_core::ids::UserId;
use toolgate_core::text::Text;
use toolgate_search::{Hit, Uses};
use toolgate_store::{SearchUse, StoreError};

/// How long after a search an execute is counted for it.
const RECENT_MS: i64 = 10 * 60 * 1_000;
/// Searches that are remembered for one workspace.
const SEARCHES_MAX: usize = 256;
/// Most tools of a search that are remembered.
const OFFERED_MAX: usize = 10;
/// Most words of a search that are counted, and the longest of them.
const WORDS_MAX: usize = 8;
const WORD_BYTES_MAX: usize = 64;
/// Pairs of a word and a tool that are kept for a workspace.
pub(crate) const PAIRS_MAX: usize = 20_000;
/// Pairs that wait to be written.
const UNWRITTEN_MAX: usize = 10_000;
/// How long what was read counts as known.
const KNOWN_MS: i64 = 30 * 1_000;
/// Uses that were not repeated for this long are forgotten.
pub(crate) const FORGOTTEN_AFTER_MS: i64 = 90 * 24 * 60 * 60 * 1_000;

/// What searches offered and what was learnt from it.
pub(crate) struct SearchLearning {
    enabled: bool,
    recent: Mutex<HashMap<Text, VecDeque<RecentSearch>>>,
    unwritten: Mutex<HashMap<Text, CountedUses>>,
    known: Mutex<HashMap<Text, KnownUses>>,
}

/// By word and tool.
type CountedUses = HashMap<(String, Text), SearchUse>;

/// A search whose tools may be executed next.
struct RecentSearch {
    key_id: Text,
    user: UserId,
    at_ms: i64,
    /// With the words that each was found for. One that was executed is not counted again.
    offered: Vec<(Text, Arc<[String]>)>,
}

#[derive(Clone)]
struct KnownUses {
    uses: Arc<Uses>,
    read_at_ms: i64,
}

impl SearchLearning {
    pub(crate) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            recent: Mutex::default(),
            unwritten: Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// Remembers what a search offers.
    pub(crate) fn searched(&self, caller: &Caller, user: &UserId, hits: &[Hit], now_ms: i64) {
        if !self.enabled || hits.is_empty() {
            return;
        }
        let offered = hits.iter().take(OFFERED_MAX);
        let offered = offered.map(|hit| (hit.tool.name.clone(), Arc::clone(&hit.words)));
        let search = RecentSearch {
            key_id: caller.key_id.clone(),
            user: user.clone(),
            at_ms: now_ms,
            offered: offered.collect(),
        };
        let mut recent = lock(&self.recent);
        let searches = recent.entry(caller.workspace_id.clone()).or_default();
        while searches.len() >= SEARCHES_MAX
            || searches
                .front()
                .is_some_and(|one| one.at_ms < now_ms - RECENT_MS)
        {
            searches.pop_front();
        }
        searches.push_back(search);
    }

    /// Counts a tool that was executed for the latest search that offered it.
    pub(crate) fn executed(&self, caller: &Caller, user: &UserId, tool: &Text, now_ms: i64) {
        if !self.enabled {
            return;
        }
        let mut recent = lock(&self.recent);
        let searches = recent.get_mut(&caller.workspace_id);
        let words = searches.and_then(|searches| {
            let own = searches.iter_mut().rev().filter(|one| {
                one.at_ms >= now_ms - RECENT_MS && one.key_id == caller.key_id && one.user == *user
            });
            let mut offers = own.filter_map(|one| {
                let place = one.offered.iter().position(|(name, _)| name == tool)?;
                Some(one.offered.swap_remove(place).1)
            });
            offers.next()
        });
        drop(recent);
        let Some(words) = words else {
            return;
        };
        let mut unwritten = lock(&self.unwritten);
        if unwritten.values().map(HashMap::len).sum::<usize>() >= UNWRITTEN_MAX {
            return;
        }
        let uses = unwritten.entry(caller.workspace_id.clone()).or_default();
        let kept = words.iter().filter(|word| word.len() <= WORD_BYTES_MAX);
        for word in kept.take(WORDS_MAX) {
            let pair = (word.clone(), tool.clone());
            let one = uses.entry(pair).or_insert_with(|| SearchUse {
                word: word.clone(),
                tool_name: tool.to_string(),
                times: 0,
                used_at_ms: now_ms,
            });
            one.times += 1;
            one.used_at_ms = now_ms;
        }
    }
}

impl Gateway {
    /// What the workspace executed after its searches; nothing where learning is off or the database fails.
    pub(crate) async fn search_uses(&self, workspace_id: &Text) -> Arc<Uses> {
        if !self.learning.enabled {
            return Arc::default();
        }
        let now_ms = self.clock.now_ms();
        let known = lock(&self.learning.known).get(workspace_id).cloned();
        match known {
            Some(known) if known.read_at_ms + KNOWN_MS > now_ms => known.uses,
            known => match self.read_uses(workspace_id, now_ms).await {
                Ok(uses) => uses,
                Err(cause) => {
                    tracing::warn!(error = %cause, "search.uses_unread");
                    known.map(|known| known.uses).unwrap_or_default()
                }
            },
        }
    }

    async fn read_uses(&self, workspace_id: &Text, now_ms: i64) -> Result<Arc<Uses>, StoreError> {
        let mut uses = Uses::default();
        for row in self.store.list_search_uses(workspace_id, PAIRS_MAX).await? {
            let times = u32::try_from(row.times).unwrap_or(u32::MAX);
            uses.add(&row.word, &row.tool_name, times);
        }
        let uses = Arc::new(uses);
        let known = KnownUses {
            uses: Arc::clone(&uses),
            read_at_ms: now_ms,
        };
        lock(&self.learning.known).insert(workspace_id.clone(), known);
        Ok(uses)
    }

    /// Writes what was counted. A workspace that has as many pairs as are kept only counts those it has.
    pub(crate) async fn write_search_uses(&self) -> Result<(), StoreError> {
        let unwritten = std::mem::take(&mut *lock(&self.learning.unwritten));
        let now_ms = self.clock.now_ms();
        for (workspace_id, counted) in unwritten {
            let known = self.read_uses(&workspace_id, now_ms).await?;
            let room = PAIRS_MAX.saturating_sub(known.pairs());
            let (old, new): (Vec<_>, Vec<_>) = counted
                .into_values()
                .partition(|one| known.contains(&one.word, &one.tool_name));
            let uses: Vec<SearchUse> = old.into_iter().chain(new.into_iter().take(room)).collect();
            self.store.add_search_uses(&workspace_id, &uses).await?;
            self.read_uses(&workspace_id, now_ms).await?;
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
