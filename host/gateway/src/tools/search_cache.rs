//! Answers of searches, kept while the catalog and the sentence model stay the same: agents ask the same
//! few things.
//!
//! An answer is kept only where it depends on these two and the question alone: for users from whom no
//! rule hides a tool, and where the model had the time for the whole query. Nothing of a user or a
//! workspace is in it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::Gateway;
use crate::access::permissions::Permissions;
use crate::plugins::Snapshot;
use crate::tools::SearchTools;
use crate::tools::embeddings::{LexicalReason, State};
use toolgate_catalog::Tool;
use toolgate_search::{PREFERRED_AMONG, SearchQuery, SearchResults};

/// Answers of one generation; there are two.
const ANSWERS_MAX: usize = 500;
/// Answers to longer queries are not kept.
const QUERY_BYTES_MAX: usize = 500;
/// Longer answers are not kept.
const LIMIT_MAX: usize = 20;

/// What the catalog answers to a query.
pub(crate) struct CatalogAnswer {
    pub(crate) results: SearchResults,
    /// Present where words alone ranked.
    pub(crate) lexical_reason: Option<LexicalReason>,
}

impl Gateway {
    /// The nearest tools, from memory where they are known.
    pub(super) async fn nearest_tools(
        &self,
        snapshot: &Arc<Snapshot>,
        request: &SearchTools,
        permissions: &Permissions,
    ) -> Arc<CatalogAnswer> {
        let key = SearchKey::new(request).filter(|_| permissions.hides_nothing());
        let model = self.embeddings.state();
        if let Some(key) = &key
            && let Some(known) = self.search_cache.answers().get(snapshot, &model, key)
        {
            return known;
        }
        let reading = self.embeddings.read(snapshot, &request.query);
        let similarities = self.embeddings.similarities(snapshot, &reading).await;
        let answer = Arc::new(CatalogAnswer {
            results: snapshot.search.search(&SearchQuery {
                reading: &reading,
                service: request.service.as_deref(),
                similarities: similarities.as_deref().ok(),
                limit: request.limit.max(PREFERRED_AMONG),
                allowed: &|tool: &Tool| permissions.shows(tool),
            }),
            lexical_reason: similarities.as_ref().err().copied(),
        });
        let repeatable = match &similarities {
            Ok(similarities) => similarities.len() == reading.sentences().count(),
            Err(
                LexicalReason::ModelOff
                | LexicalReason::ModelNotInstalled
                | LexicalReason::ModelNotReady,
            ) => true,
            Err(LexicalReason::ModelFailed | LexicalReason::Overloaded) => false,
        };
        if let Some(key) = key.filter(|_| repeatable) {
            let mut answers = self.search_cache.answers();
            answers.put(snapshot, &model, key, answer.clone());
        }
        answer
    }
}

/// What an answer depends on beside the catalog and the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SearchKey {
    query: String,
    service: Option<String>,
    limit: usize,
}

impl SearchKey {
    /// `None`: the answer is not kept.
    fn new(request: &SearchTools) -> Option<Self> {
        let service_bytes = request.service.as_ref().map_or(0, String::len);
        let kept =
            request.query.len() + service_bytes <= QUERY_BYTES_MAX && request.limit <= LIMIT_MAX;
        kept.then(|| Self {
            query: request.query.clone(),
            service: request.service.clone(),
            limit: request.limit.max(PREFERRED_AMONG),
        })
    }
}

/// The answers of this process.
#[derive(Default)]
pub(crate) struct SearchCache(Mutex<Answers>);

impl SearchCache {
    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct Answers {
    /// The catalog that they are of, and the state of the model. Weak references keep the addresses from
    /// being another's.
    snapshot: Weak<Snapshot>,
    model: Weak<State>,
    newer: HashMap<SearchKey, Arc<CatalogAnswer>>,
    /// Deleted when the newer ones are [`ANSWERS_MAX`], except those that were asked for meanwhile.
    older: HashMap<SearchKey, Arc<CatalogAnswer>>,
}

impl Answers {
    fn are_of(&self, snapshot: &Arc<Snapshot>, model: &Arc<State>) -> bool {
        self.snapshot.as_ptr() == Arc::as_ptr(snapshot) && self.model.as_ptr() == Arc::as_ptr(model)
    }

    fn get(
        &mut self,
        snapshot: &Arc<Snapshot>,
        model: &Arc<State>,
        key: &SearchKey,
    ) -> Option<Arc<CatalogAnswer>> {
        if !self.are_of(snapshot, model) {
            return None;
        }
        if let Some(known) = self.newer.get(key) {
            return Some(known.clone());
        }
        let (key, known) = self.older.remove_entry(key)?;
        self.put(snapshot, model, key, known.clone());
        Some(known)
    }

    fn put(
        &mut self,
        snapshot: &Arc<Snapshot>,
        model: &Arc<State>,
        key: SearchKey,
        answer: Arc<CatalogAnswer>,
    ) {
        if !self.are_of(snapshot, model) {
            *self = Self {
                snapshot: Arc::downgrade(snapshot),
                model: Arc::downgrade(model),
                ..Self::default()
            };
        }
        if self.newer.len() >= ANSWERS_MAX {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, answer);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::access::permission_rules::{ChangePermissions, Setting};
    use crate::testing::TestWorld;
    use crate::{Caller, Scope};
    use toolgate_catalog::fixture;
    use toolgate_core::ids::UserId;

    fn request(query: &str, service: Option<&str>, limit: usize) -> SearchTools {
        SearchTools {
            query: query.to_owned(),
            service: service.map(str::to_owned),
            limit,
            schema_limit: 0,
            schema_address: str::to_owned,
            user_id: None,
        }
    }

    async fn answer(world: &TestWorld, caller: &Caller, asked: &SearchTools) -> Arc<CatalogAnswer> {
        let user = UserId::parse("ada").unwrap();
        let permissions = world.permissions_of(caller, &user).await.unwrap();
        let snapshot = world.snapshot();
        world.nearest_tools(&snapshot, asked, &permissions).await
    }

    #[tokio::test]
    async fn the_same_question_to_the_same_catalog_is_answered_from_memory_and_no_other() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Admin]).await;
        let asked = request("create an issue", None, 5);
        let first = answer(&world, &caller, &asked).await;
        let same =
            async |asked: &SearchTools| Arc::ptr_eq(&first, &answer(&world, &caller, asked).await);
        assert!(same(&asked).await);
        assert!(
            same(&SearchTools {
                schema_limit: 3,
                ..asked.clone()
            })
            .await
        );
        assert!(!same(&request("create issues", None, 5)).await);
        assert!(!same(&request("create an issue", Some("github"), 5)).await);
        assert!(!same(&request("create an issue", None, PREFERRED_AMONG + 1)).await);
        assert!(same(&asked).await, "the others are beside it");

        let catalog = Snapshot::new(fixture::catalog(), BTreeMap::new());
        world.snapshot.store(Arc::new(catalog));
        assert!(!same(&asked).await, "another catalog");
        let second = answer(&world, &caller, &asked).await;
        world.embeddings.look_again();
        let third = answer(&world, &caller, &asked).await;
        assert!(!Arc::ptr_eq(&second, &third), "another state of the model");
    }

    #[tokio::test]
    async fn an_answer_in_memory_is_for_users_from_whom_no_rule_hides_a_tool() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Admin]).await;
        let asked = request("create an issue", None, 20);
        let names = |answer: &CatalogAnswer| -> Vec<String> {
            let hits = answer.results.hits.iter();
            hits.map(|hit| hit.tool.name.to_string()).collect()
        };
        let hidden = "github_create_issue".to_owned();
        let all = answer(&world, &caller, &asked).await;
        assert!(names(&all).contains(&hidden), "{:?}", names(&all));
        let change = async |setting: Setting| {
            let change = ChangePermissions {
                tools: [(hidden.clone(), setting.into())].into(),
                ..ChangePermissions::default()
            };
            let user = UserId::parse("ada").unwrap();
            world
                .change_permissions(&caller, &user, change)
                .await
                .unwrap();
            world.again(&caller).await
        };
        let denied = change(Setting::Deny).await;
        let fewer = answer(&world, &denied, &asked).await;
        assert!(!names(&fewer).contains(&hidden), "{:?}", names(&fewer));
        let allowed = change(Setting::Inherit).await;
        let again = answer(&world, &allowed, &asked).await;
        assert_eq!(names(&again), names(&all));
    }

    #[tokio::test]
    async fn what_is_asked_again_and_again_stays_and_the_rest_is_bounded() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Admin]).await;
        let often = request("create an issue", None, 5);
        let first = answer(&world, &caller, &often).await;
        let (snapshot, model) = (world.snapshot(), world.embeddings.state());
        let key = |query: &str| SearchKey::new(&request(query, None, 5)).unwrap();
        let mut answers = world.search_cache.answers();
        for n in 0..5 * ANSWERS_MAX {
            answers.put(&snapshot, &model, key(&n.to_string()), first.clone());
            assert!(
                answers.get(&snapshot, &model, &key(&often.query)).is_some(),
                "{n}"
            );
        }
        assert!(answers.newer.len() + answers.older.len() <= 2 * ANSWERS_MAX);
        assert!(answers.get(&snapshot, &model, &key("0")).is_none());
        let long = request(&"issue ".repeat(QUERY_BYTES_MAX), None, 5);
        assert!(SearchKey::new(&long).is_none());
        assert!(SearchKey::new(&request("issue", None, LIMIT_MAX + 1)).is_none());
    }
}
