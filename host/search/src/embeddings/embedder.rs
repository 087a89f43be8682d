//! The model behind a bounded queue, on a thread of its own.
//!
//! Embedding is milliseconds of pure computing: on an async worker it would hold up every other
//! request. One thread works off two queues, queries before tool texts; a query that finds its queue
//! full is refused at once, so that the caller can answer by words alone. Vectors of recent queries
//! are remembered.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{collections::VecDeque, io};

use tokio::sync::oneshot;

use super::model::{SentenceModel, SentenceModelError};

/// Queries that may wait for the model.
pub const QUERIES_WAITING_MAX: usize = 64;
/// Query vectors that are remembered, 1.5 KB each.
pub const QUERIES_KEPT_MAX: usize = 4_096;

/// One text's vector, of [`super::model::DIMENSIONS`] numbers.
pub type Vector = Arc<[f32]>;

/// Why a text got no vector.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("{QUERIES_WAITING_MAX} queries are waiting for the sentence model already")]
    Busy,
    #[error("the sentence model has stopped")]
    Stopped,
    #[error(transparent)]
    Model(#[from] SentenceModelError),
    #[error("no thread for the sentence model")]
    Thread(#[from] io::Error),
}

/// A handle to the thread; the last one to go ends it.
pub struct Embedder {
    shared: Arc<EmbedderState>,
    /// None in tests of the queue.
    model: Option<Arc<SentenceModel>>,
}

#[derive(Default)]
struct EmbedderState {
    queues: Mutex<Queues>,
    wake: Condvar,
    kept: Mutex<QueryVectors>,
}

#[derive(Default)]
struct Queues {
    queries: VecDeque<EmbedJob>,
    texts: VecDeque<EmbedJob>,
    closed: bool,
}

struct EmbedJob {
    text: String,
    /// Whether to remember the vector.
    query: bool,
    answer: oneshot::Sender<Result<Vector, SentenceModelError>>,
}

impl Embedder {
    /// Loads the model and starts its thread. Takes a second: call it where blocking is allowed.
    pub fn open(folder: &Path) -> Result<Self, EmbedError> {
        let model = Arc::new(SentenceModel::load(folder)?);
        let shared = Arc::new(EmbedderState::default());
        // The model's matrix products ask rayon for threads; a pool of this one keeps them here.
        let (work, worker) = (Arc::clone(&shared), Arc::clone(&model));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .thread_name(|_| "toolgate-embed".to_owned())
            .build()
            .map_err(io::Error::other)?;
        pool.spawn(move || work.work_off(&worker));
        Ok(Self {
            shared,
            model: Some(model),
        })
    }

    /// Whether a word, in lowercase, is in the model's vocabulary: then it is not misspelt.
    pub fn is_word(&self, word: &str) -> bool {
        self.model.as_ref().is_some_and(|model| model.is_word(word))
    }

    /// The remembered vector of a query.
    pub fn remembered(&self, query: &str) -> Option<Vector> {
        lock(&self.shared.kept).get(query)
    }

    /// The vector of a query, computed unless it is remembered.
    pub async fn query(&self, query: &str) -> Result<Vector, EmbedError> {
        if let Some(vector) = self.remembered(query) {
            return Ok(vector);
        }
        let answer = {
            let mut queues = lock(&self.shared.queues);
            // A caller who has left needs no answer.
            queues.queries.retain(|job| !job.answer.is_closed());
            if queues.queries.len() >= QUERIES_WAITING_MAX {
                return Err(EmbedError::Busy);
            }
            let (job, answer) = job(query, true);
            queues.queries.push_back(job);
            answer
        };
        self.shared.wake.notify_one();
        Ok(answer.await.map_err(|_| EmbedError::Stopped)??)
    }

    /// The vector of a tool's text, after all queries. The caller waits, so it bounds the queue.
    pub async fn text(&self, text: &str) -> Result<Vector, EmbedError> {
        let (job, answer) = job(text, false);
        lock(&self.shared.queues).texts.push_back(job);
        self.shared.wake.notify_one();
        Ok(answer.await.map_err(|_| EmbedError::Stopped)??)
    }
}

impl Drop for Embedder {
    fn drop(&mut self) {
        lock(&self.shared.queues).closed = true;
        self.shared.wake.notify_one();
    }
}

fn job(
    text: &str,
    query: bool,
) -> (
    EmbedJob,
    oneshot::Receiver<Result<Vector, SentenceModelError>>,
) {
    let (answer, receive) = oneshot::channel();
    let text = text.to_owned();
    (
        EmbedJob {
            text,
            query,
            answer,
        },
        receive,
    )
}

impl EmbedderState {
    fn work_off(&self, model: &SentenceModel) {
        while let Some(job) = self.next() {
            let made = match job.query {
                true => model.query(&job.text),
                false => model.text(&job.text),
            };
            let made = made.map(Vector::from);
            if job.query
                && let Ok(vector) = &made
            {
                lock(&self.kept).put(job.text, Arc::clone(vector));
            }
            // The caller may have left; the vector is remembered all the same.
            let _ = job.answer.send(made);
        }
    }

    fn next(&self) -> Option<EmbedJob> {
        let mut queues = lock(&self.queues);
        loop {
            if queues.closed {
                return None;
            }
            if let Some(job) = queues.queries.pop_front() {
                return Some(job);
            }
            if let Some(job) = queues.texts.pop_front() {
                return Some(job);
            }
            queues = self
                .wake
                .wait(queues)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Vectors by query in two generations: when the young one is full it becomes the old one, and what
/// was not asked for since is forgotten.
#[derive(Default)]
struct QueryVectors {
    young: HashMap<String, Vector>,
    old: HashMap<String, Vector>,
}

impl QueryVectors {
    fn get(&mut self, query: &str) -> Option<Vector> {
        if let Some(vector) = self.young.get(query) {
            return Some(Arc::clone(vector));
        }
        let (query, vector) = self.old.remove_entry(query)?;
        self.put(query, Arc::clone(&vector));
        Some(vector)
    }

    fn put(&mut self, query: String, vector: Vector) {
        if self.young.len() >= QUERIES_KEPT_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(query, vector);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use super::{
        EmbedError, Embedder, EmbedderState, QUERIES_KEPT_MAX, QUERIES_WAITING_MAX, QueryVectors,
        Vector,
    };

    #[test]
    fn a_full_queue_refuses_at_once_and_takes_queries_again_when_callers_leave() {
        // Without a thread nothing is ever worked off.
        let embedder = Embedder {
            shared: Arc::new(EmbedderState::default()),
            model: None,
        };
        let mut asleep = Context::from_waker(Waker::noop());
        let mut waiting = Vec::new();
        for number in 0..QUERIES_WAITING_MAX {
            let query = number.to_string();
            let embedder = &embedder;
            let mut asked = Box::pin(async move { embedder.query(&query).await });
            assert!(asked.as_mut().poll(&mut asleep).is_pending());
            waiting.push(asked);
        }
        let mut refused = Box::pin(embedder.query("one more"));
        let Poll::Ready(Err(EmbedError::Busy)) = refused.as_mut().poll(&mut asleep) else {
            panic!("it is not refused");
        };
        drop(waiting.pop());
        let mut taken = Box::pin(embedder.query("one more"));
        assert!(taken.as_mut().poll(&mut asleep).is_pending());
    }

    #[test]
    fn queries_that_are_asked_again_stay_and_others_are_forgotten() {
        let mut kept = QueryVectors::default();
        let vector = Vector::from(vec![1.0]);
        for number in 0..QUERIES_KEPT_MAX * 3 {
            kept.put(number.to_string(), Vector::clone(&vector));
            assert!(number < 5 || kept.get("5").is_some(), "{number}");
            assert!(kept.young.len() + kept.old.len() <= QUERIES_KEPT_MAX);
        }
        assert!(kept.get("6").is_none());
    }
}
