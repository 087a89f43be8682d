//! Search by meaning: when it may be used, and the vectors of the catalog's tools.
//!
//! A task loads the model once its files are there, makes the vectors of tools that have none yet,
//! keeps them in the database, and puts them beside the snapshot they belong to. Until then, and
//! whenever the model has too much to do, search answers by words alone and says why. Nothing
//! waits for it: a gateway is ready before its model is.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use arc_swap::ArcSwap;
use futures_util::stream::{FuturesOrdered, StreamExt as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Gateway;
use crate::config::GatewayConfig;
use crate::plugins::Snapshot;
use toolgate_search::Reading;
use toolgate_search::embeddings::files;
use toolgate_search::embeddings::model::DIMENSIONS;
use toolgate_search::embeddings::{EmbedError, Embedder, Similarity, Vector, Vectors};
use toolgate_store::ToolVector;

/// Whether there is something new to do is looked up this often.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How soon a database that failed is asked again.
const AGAIN_AFTER: Duration = Duration::from_secs(30);
/// Longest that a search waits for its query's vector.
const QUERY_WAIT_MAX: Duration = Duration::from_millis(250);
/// Vectors that are written together.
const WRITTEN_TOGETHER: usize = 64;
/// Vectors of texts that no tool has any more are kept up to this many: a plugin may come back.
const UNUSED_KEPT_MAX: usize = 20_000;
/// Names the vectors in the database: another model, or another way to run it, makes others.
const MODEL: &str = "all-MiniLM-L6-v2 8-bit 2";

/// The whole text of a tool, its title and its requests, each with its SHA-256.
type ToolTexts = Vec<(String, String)>;

/// How a search was ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ranking {
    /// By words alone.
    Lexical,
    /// By words and by meaning.
    Hybrid,
}

/// What the sentence model is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// The gateway was started with `--no-model`.
    Off,
    /// `toolgate model install` brings it.
    NotInstalled,
    Loading,
    /// It makes the vectors of new tools.
    Preparing,
    Ready,
    /// Its files are damaged or cannot be read; the log says more.
    Failed,
}

/// Why a search was answered by words alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LexicalReason {
    /// The gateway was started with `--no-model`.
    ModelOff,
    ModelNotInstalled,
    ModelNotReady,
    ModelFailed,
    /// Too many queries wait for the model.
    Overloaded,
}

/// The model and what it has made, as far as it has come.
pub(crate) struct Embeddings {
    /// Where the model may be, in the order in which it is looked for; none where search is by words alone.
    folders: Vec<PathBuf>,
    state: ArcSwap<State>,
}

/// What it has made so far. Each change of it is another one.
pub(crate) struct State {
    model: ModelState,
    embedder: Option<Arc<Embedder>>,
    /// For one snapshot, which is compared by address.
    prepared: Option<(Arc<Snapshot>, Arc<Vectors>)>,
}

impl Embeddings {
    pub(crate) fn new(config: &GatewayConfig) -> Self {
        let (folders, model) = if config.search_by_embedding {
            let shipped = config.shipped_model_dir.iter().cloned();
            let folders = iter::once(files::folder(&config.data_dir)).chain(shipped);
            (folders.collect(), ModelState::NotInstalled)
        } else {
            (Vec::new(), ModelState::Off)
        };
        Self {
            state: ArcSwap::from_pointee(State {
                model,
                embedder: None,
                prepared: None,
            }),
            folders,
        }
    }

    pub(crate) fn model(&self) -> ModelState {
        self.state.load().model
    }

    /// Answers of one state are those of another only where it is the same one.
    pub(crate) fn state(&self) -> Arc<State> {
        self.state.load_full()
    }

    /// Understands a query, with the model's vocabulary where it is there.
    pub(crate) fn read(&self, snapshot: &Snapshot, query: &str) -> Reading {
        let state = self.state.load();
        match &state.embedder {
            Some(embedder) => snapshot.search.read(query, &|word| embedder.is_word(word)),
            None => snapshot.search.read(query, &|_| false),
        }
    }

    /// For each sentence of the query how similar it is to the snapshot's tools, or why that is not known.
    /// Where the time is up before all sentences are embedded, only the first is answered.
    pub(crate) async fn similarities(
        &self,
        snapshot: &Arc<Snapshot>,
        query: &Reading,
    ) -> Result<Vec<Similarity>, LexicalReason> {
        let state = self.state.load_full();
        let prepared = state.prepared.as_ref();
        let prepared = prepared.filter(|(of, _)| Arc::ptr_eq(of, snapshot));
        let (Some((_, vectors)), Some(embedder)) = (prepared, &state.embedder) else {
            return Err(match state.model {
                ModelState::Off => LexicalReason::ModelOff,
                ModelState::NotInstalled => LexicalReason::ModelNotInstalled,
                ModelState::Failed => LexicalReason::ModelFailed,
                ModelState::Loading | ModelState::Preparing | ModelState::Ready => {
                    LexicalReason::ModelNotReady
                }
            });
        };
        let until = tokio::time::Instant::now() + QUERY_WAIT_MAX;
        let mut similarities: Vec<Similarity> = Vec::new();
        // All at once, so that they are next to each other in the queue.
        let sentences = query.sentences().map(|sentence| embedder.query(sentence));
        let mut embedded = sentences.collect::<FuturesOrdered<_>>();
        loop {
            match tokio::time::timeout_at(until, embedded.next()).await {
                Ok(None) => return Ok(similarities),
                Ok(Some(Ok(vector))) => similarities.push(vectors.similarity(&vector)),
                Ok(Some(Err(EmbedError::Busy))) | Err(_) if similarities.is_empty() => {
                    return Err(LexicalReason::Overloaded);
                }
                Ok(Some(Err(EmbedError::Busy))) | Err(_) => {
                    similarities.truncate(1);
                    return Ok(similarities);
                }
                Ok(Some(Err(cause))) => {
                    tracing::error!(error = %cause, "search.embed_failed");
                    return Err(LexicalReason::ModelFailed);
                }
            }
        }
    }

    /// The same state, as another one.
    #[cfg(test)]
    pub(crate) fn look_again(&self) {
        self.say(|state| State {
            model: state.model,
            embedder: state.embedder.clone(),
            prepared: state.prepared.clone(),
        });
    }

    fn say(&self, change: impl FnOnce(&State) -> State) {
        let changed = change(&self.state.load());
        self.state.store(Arc::new(changed));
    }
}

/// Keeps vectors of the serving snapshot, until the gateway stops.
pub(crate) async fn keep(gateway: Arc<Gateway>) {
    let folders = &gateway.embeddings.folders;
    if folders.is_empty() {
        return;
    }
    let mut known: Option<HashMap<String, Vector>> = None;
    let mut tried = None;
    loop {
        let mut pause = LOOK_EVERY;
        let state = gateway.embeddings.state.load_full();
        match &state.embedder {
            None => {
                // Files that could not be loaded are left alone until they change.
                let found = folders
                    .iter()
                    .find_map(|folder| Some((folder, files::look(folder)?)));
                if let Some((folder, _)) = found
                    && found != tried
                {
                    tried = found;
                    load(&gateway, folder.clone()).await;
                    pause = Duration::ZERO;
                }
            }
            Some(embedder) => {
                let snapshot = gateway.snapshot();
                let done = state.prepared.as_ref();
                if !done.is_some_and(|(of, _)| Arc::ptr_eq(of, &snapshot))
                    && let Err(cause) = prepare(&gateway, embedder, snapshot, &mut known).await
                {
                    tracing::error!(error = format!("{cause:#}"), "search.vectors_failed");
                    pause = AGAIN_AFTER;
                }
            }
        }
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Loads the model.
async fn load(gateway: &Gateway, folder: PathBuf) {
    let say = |model, embedder| {
        gateway.embeddings.say(|_| State {
            model,
            embedder,
            prepared: None,
        });
    };
    say(ModelState::Loading, None);
    let opened = tokio::task::spawn_blocking(move || {
        files::verify(&folder).context("the sentence model is damaged; install it again")?;
        anyhow::Ok(Embedder::open(&folder)?)
    });
    match opened.await.map_err(anyhow::Error::from).flatten() {
        Ok(embedder) => say(ModelState::Preparing, Some(Arc::new(embedder))),
        Err(cause) => {
            tracing::error!(error = format!("{cause:#}"), "search.model_failed");
            say(ModelState::Failed, None);
        }
    }
}

/// Makes what vectors are missing, and puts all of them beside the snapshot.
async fn prepare(
    gateway: &Gateway,
    embedder: &Arc<Embedder>,
    snapshot: Arc<Snapshot>,
    known: &mut Option<HashMap<String, Vector>>,
) -> anyhow::Result<()> {
    gateway.embeddings.say(|state| State {
        model: ModelState::Preparing,
        embedder: state.embedder.clone(),
        prepared: state.prepared.clone(),
    });
    let known = match known {
        Some(known) => known,
        None => known.insert(remembered(gateway).await?),
    };
    let read = Arc::clone(&snapshot);
    let texts = tokio::task::spawn_blocking(move || texts(&read)).await?;
    let mut unwritten = Vec::new();
    let mut made = 0_usize;
    for (text, hash) in texts.iter().flatten() {
        if !known.contains_key(hash) {
            let vector = tokio::select! {
                () = gateway.stop.cancelled() => return Ok(()),
                vector = embedder.text(text) => vector?,
            };
            unwritten.push(ToolVector {
                text_sha256: hash.clone(),
                vector: vector.iter().flat_map(|x| x.to_le_bytes()).collect(),
            });
            known.insert(hash.clone(), vector);
            made += 1;
            if unwritten.len() == WRITTEN_TOGETHER {
                write(gateway, &mut unwritten).await?;
            }
        }
    }
    write(gateway, &mut unwritten).await?;
    let of = |(_, hash): &(String, String)| &known[hash];
    let vectors = Vectors::new(texts.iter().map(|tool| tool.iter().map(of).collect()));
    let vectors = Arc::new(vectors);
    if made > 0 {
        tracing::info!(
            tools.total = texts.len(),
            texts.embedded = made,
            "search.vectors_made"
        );
    }
    forget_unused(gateway, &texts, known).await?;
    gateway.embeddings.say(|state| State {
        model: ModelState::Ready,
        embedder: state.embedder.clone(),
        prepared: Some((snapshot, vectors)),
    });
    Ok(())
}

/// What the model reads of each tool, in the catalog's order, each text with its SHA-256.
fn texts(snapshot: &Snapshot) -> Vec<ToolTexts> {
    let tools = snapshot.catalog.tools().iter();
    let texts = tools.map(|tool| {
        let texts = tool.embedding_texts().into_iter();
        texts
            .map(|text| {
                let hash = hex::encode(Sha256::digest(text.as_bytes()));
                (text, hash)
            })
            .collect()
    });
    texts.collect()
}

/// What earlier runs made. A row of another size is not ours and is made again.
async fn remembered(gateway: &Gateway) -> anyhow::Result<HashMap<String, Vector>> {
    let rows = gateway.store.list_tool_vectors(MODEL).await?;
    Ok(rows
        .into_iter()
        .filter(|row| row.vector.len() == 4 * DIMENSIONS)
        .map(|row| {
            let (numbers, _) = row.vector.as_chunks::<4>();
            let vector = numbers
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes))
                .collect();
            (row.text_sha256, vector)
        })
        .collect())
}

async fn write(gateway: &Gateway, made: &mut Vec<ToolVector>) -> anyhow::Result<()> {
    if !made.is_empty() {
        let now_ms = gateway.clock.now_ms();
        gateway.store.put_tool_vectors(MODEL, made, now_ms).await?;
        made.clear();
    }
    Ok(())
}

async fn forget_unused(
    gateway: &Gateway,
    used: &[ToolTexts],
    known: &mut HashMap<String, Vector>,
) -> anyhow::Result<()> {
    let used: HashSet<&String> = used.iter().flatten().map(|(_, hash)| hash).collect();
    if known.len() <= used.len() + UNUSED_KEPT_MAX {
        return Ok(());
    }
    let unused: Vec<String> = known
        .keys()
        .filter(|hash| !used.contains(hash))
        .cloned()
        .collect();
    gateway.store.forget_tool_vectors(&unused).await?;
    known.retain(|hash, _| used.contains(hash));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_model_goes_before_the_shipped_one_and_none_is_used_by_words_alone() {
        let mut config = GatewayConfig::in_folders("/data", "/plugins");
        let installed = files::folder(&config.data_dir);
        let only = iter::once(installed.clone());
        assert!(Embeddings::new(&config).folders.into_iter().eq(only));
        let shipped = PathBuf::from("/usr/share/toolgate/model");
        config.shipped_model_dir = Some(shipped.clone());
        let embeddings = Embeddings::new(&config);
        assert_eq!(embeddings.folders, [installed, shipped]);
        assert_eq!(embeddings.model(), ModelState::NotInstalled);

        config.search_by_embedding = false;
        let off = Embeddings::new(&config);
        assert!(off.folders.is_empty());
        assert_eq!(off.model(), ModelState::Off);
    }
}
