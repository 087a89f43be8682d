//! The searchable form of a workspace's documents: built with tantivy in memory from the database,
//! kept up with it, forgotten when others are used more.
//!
//! Documents never change, so keeping up is adding those that are new and removing those that are
//! gone. Nothing but postings and offsets is in the index: what a search answers is read from the
//! database, so that a document that was deleted anywhere is never shown.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TantivyDocument, TextFieldIndexing,
    TextOptions, Value as _,
};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer,
    StopWordFilter, TextAnalyzer,
};
use tantivy::{Index as TantivyIndex, IndexReader, IndexWriter, ReloadPolicy, Term};

use super::passages::passages;
use toolgate_store::{DocumentText, Store, Topic};

/// Workspaces whose index is kept in memory.
const INDEXES_MAX: usize = 32;
/// Different words of a query that are looked up.
const QUERY_WORDS_MAX: usize = 32;
/// Longer words are ids or encoded data.
const WORD_BYTES_MAX: usize = 60;
/// First allocation of the writer.
const WRITER_BYTES: usize = 15_000_000;
/// Text that is read from the database before it is written to the index.
const BATCH_BYTES: usize = 4 << 20;
const ANALYSER: &str = "knowledge";
/// A word of the title counts this much beside one of the text.
const TITLE_WEIGHT: f32 = 0.5;

/// Where a found passage is.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageHit {
    pub document_id: String,
    pub starts_at: usize,
    pub ends_at: usize,
    /// From 1, where the document has pages.
    pub page: Option<usize>,
    pub score: f32,
}

/// The indexes of the workspaces that were searched last.
#[derive(Default)]
pub struct Indexes {
    open: Mutex<HashMap<String, OpenIndex>>,
}

struct OpenIndex {
    index: Arc<tokio::sync::Mutex<WorkspaceIndex>>,
    /// Larger is later.
    used: u64,
}

/// One workspace's index and the state of the database that it shows.
#[derive(Default)]
struct WorkspaceIndex {
    version: Option<i64>,
    documents: BTreeSet<String>,
    index: Option<PassageIndex>,
}

impl Indexes {
    /// The best passages for `query` in the documents as the database holds them now.
    pub async fn search(
        &self,
        store: &Store,
        workspace_id: &str,
        query: &str,
        limit: usize,
    ) -> anyhow::Result<Vec<PassageHit>> {
        let kept = self.open(workspace_id);
        let mut kept = kept.lock().await;
        let index = kept.keep_up(store, workspace_id).await?;
        drop(kept);
        let query = query.to_owned();
        tokio::task::spawn_blocking(move || index.search(&query, limit)).await?
    }

    /// Brings an index that is open up to date; one that is not will be when it is opened.
    pub async fn keep_up(&self, store: &Store, workspace_id: &str) -> anyhow::Result<()> {
        let open = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.get(workspace_id).map(|open| open.index.clone())
        };
        if let Some(kept) = open {
            kept.lock().await.keep_up(store, workspace_id).await?;
        }
        Ok(())
    }

    fn open(&self, workspace_id: &str) -> Arc<tokio::sync::Mutex<WorkspaceIndex>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let used = open.values().map(|open| open.used).max().unwrap_or(0) + 1;
        if !open.contains_key(workspace_id) && open.len() >= INDEXES_MAX {
            let oldest = open.iter().min_by_key(|(_, open)| open.used);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                open.remove(&oldest);
            }
        }
        let entry = open
            .entry(workspace_id.to_owned())
            .or_insert_with(|| OpenIndex {
                index: Arc::default(),
                used,
            });
        entry.used = used;
        entry.index.clone()
    }
}

impl WorkspaceIndex {
    async fn keep_up(&mut self, store: &Store, workspace_id: &str) -> anyhow::Result<PassageIndex> {
        let index = match &self.index {
            Some(index) => index.clone(),
            None => self.index.insert(PassageIndex::new()?).clone(),
        };
        let version = store.changes().await?.get(Topic::Knowledge);
        if self.version == Some(version) {
            return Ok(index);
        }
        let now: BTreeSet<String> = store
            .document_ids(workspace_id)
            .await?
            .into_iter()
            .collect();
        if now != self.documents {
            let gone: Vec<String> = self.documents.difference(&now).cloned().collect();
            let added: Vec<String> = now.difference(&self.documents).cloned().collect();
            let mut added = added.into_iter().peekable();
            // A change that breaks off leaves an index that nobody can know: it is made anew.
            self.version = None;
            self.documents.clear();
            self.index = None;
            let mut writer = index.writer(gone).await?;
            while added.peek().is_some() {
                let (mut batch, mut bytes) = (Vec::new(), 0);
                while bytes < BATCH_BYTES
                    && let Some(id) = added.next()
                {
                    if let Some(document) = store.document_text(workspace_id, &id).await? {
                        bytes += document.content.len();
                        batch.push(document);
                    }
                }
                writer = index.add(writer, batch).await?;
            }
            index.commit(writer).await?;
            self.index = Some(index.clone());
            self.documents = now;
        }
        self.version = Some(version);
        Ok(index)
    }
}

#[derive(Clone)]
struct PassageIndex {
    index: TantivyIndex,
    reader: IndexReader,
    fields: Fields,
}

#[derive(Clone, Copy)]
struct Fields {
    document: Field,
    starts_at: Field,
    ends_at: Field,
    page: Field,
    title: Field,
    text: Field,
}

impl PassageIndex {
    fn new() -> anyhow::Result<Self> {
        let mut schema = Schema::builder();
        let indexed = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(ANALYSER)
                .set_index_option(IndexRecordOption::WithFreqs),
        );
        let fields = Fields {
            document: schema.add_text_field("document", STRING | STORED),
            starts_at: schema.add_u64_field("starts_at", STORED),
            ends_at: schema.add_u64_field("ends_at", STORED),
            page: schema.add_u64_field("page", STORED),
            title: schema.add_text_field("title", indexed.clone()),
            text: schema.add_text_field("text", indexed),
        };
        let index = TantivyIndex::create_in_ram(schema.build());
        index.tokenizers().register(ANALYSER, analyser()?);
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        Ok(Self {
            index,
            reader,
            fields,
        })
    }

    /// A writer that has already removed `gone`.
    async fn writer(&self, gone: Vec<String>) -> anyhow::Result<IndexWriter> {
        let index = self.clone();
        tokio::task::spawn_blocking(move || {
            let writer: IndexWriter = index.index.writer_with_num_threads(1, WRITER_BYTES)?;
            for id in &gone {
                writer.delete_term(Term::from_field_text(index.fields.document, id));
            }
            Ok(writer)
        })
        .await?
    }

    async fn add(
        &self,
        writer: IndexWriter,
        batch: Vec<DocumentText>,
    ) -> anyhow::Result<IndexWriter> {
        let fields = self.fields;
        tokio::task::spawn_blocking(move || {
            for document in &batch {
                let title = spaced(&document.title);
                for passage in passages(&document.content, &document.pages) {
                    let mut row = TantivyDocument::default();
                    row.add_text(fields.document, &document.id);
                    row.add_u64(fields.starts_at, passage.starts_at as u64);
                    row.add_u64(fields.ends_at, passage.ends_at as u64);
                    if let Some(page) = passage.page {
                        row.add_u64(fields.page, page as u64);
                    }
                    row.add_text(fields.title, &title);
                    row.add_text(fields.text, spaced(passage.text));
                    writer.add_document(row)?;
                }
            }
            Ok(writer)
        })
        .await?
    }

    async fn commit(&self, mut writer: IndexWriter) -> anyhow::Result<()> {
        let reader = self.reader.clone();
        tokio::task::spawn_blocking(move || {
            writer.commit()?;
            writer.wait_merging_threads()?;
            reader.reload()?;
            Ok(())
        })
        .await?
    }

    fn search(&self, query: &str, limit: usize) -> anyhow::Result<Vec<PassageHit>> {
        let mut analyser = analyser()?;
        let query = spaced(query);
        let mut stream = analyser.token_stream(&query);
        let mut words = BTreeSet::new();
        while words.len() < QUERY_WORDS_MAX && stream.advance() {
            words.insert(stream.token().text.clone());
        }
        let parts: Vec<(Occur, Box<dyn Query>)> = words
            .iter()
            .flat_map(|word| {
                let of = |field| -> Box<dyn Query> {
                    let term = Term::from_field_text(field, word);
                    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
                };
                let title = BoostQuery::new(of(self.fields.title), TITLE_WEIGHT);
                let title: Box<dyn Query> = Box::new(title);
                [
                    (Occur::Should, of(self.fields.text)),
                    (Occur::Should, title),
                ]
            })
            .collect();
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let searcher = self.reader.searcher();
        let best = TopDocs::with_limit(limit.max(1)).order_by_score();
        let found = searcher.search(&BooleanQuery::new(parts), &best)?;
        let mut hits = Vec::with_capacity(found.len());
        for (score, address) in found {
            let row: TantivyDocument = searcher.doc(address)?;
            let number =
                |field| -> Option<usize> { usize::try_from(row.get_first(field)?.as_u64()?).ok() };
            let fields = &self.fields;
            let document_id = row.get_first(fields.document).and_then(|id| id.as_str());
            hits.push(PassageHit {
                document_id: document_id
                    .context("a passage names its document")?
                    .to_owned(),
                starts_at: number(fields.starts_at).context("a passage has a beginning")?,
                ends_at: number(fields.ends_at).context("a passage has an end")?,
                page: number(fields.page),
                score,
            });
        }
        Ok(hits)
    }
}

fn analyser() -> anyhow::Result<TextAnalyzer> {
    let stopwords = StopWordFilter::new(Language::English).context("English has stopwords")?;
    Ok(TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(WORD_BYTES_MAX))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .filter(stopwords)
        .filter(Stemmer::new(Language::English))
        .build())
}

/// Scripts without spaces between words are indexed letter by letter.
fn spaced(text: &str) -> String {
    let unspaced = |c: char| {
        matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
    };
    let mut spaced = String::with_capacity(text.len());
    for c in text.chars() {
        if unspaced(c) {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    spaced
}
