//! The product's rankings: by words, and by words and meaning.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Context as _;
use toolgate_catalog::Catalog;
use toolgate_search::embeddings::model::SentenceModel;
use toolgate_search::embeddings::quantize::quantize;
use toolgate_search::embeddings::{Similarity, Vector, Vectors, files};
use toolgate_search::{Fit, Reading, SearchIndex, SearchQuery, SearchResults};

use super::DEPTH;
use crate::tools;

/// The folder with the sentence model that `tests/search/setup.sh` fetched.
pub fn model_folder() -> anyhow::Result<PathBuf> {
    tools::installed("search/model", "search")
}

/// A folder with the model as it is installed, made once of the published one.
pub fn installed_model() -> anyhow::Result<PathBuf> {
    let published = model_folder()?;
    let folder = published.with_file_name("installed");
    if files::verify(&folder).is_err() {
        let part = tempfile::tempdir_in(published.parent().context("it is in a folder")?)?;
        let read = |file: &files::ModelFile| std::fs::read(published.join(file.name));
        let weights = quantize(&read(&files::PUBLISHED_WEIGHTS)?)?;
        std::fs::write(part.path().join(files::WEIGHTS.name), weights)?;
        let tokenizer = read(&files::TOKENIZER)?;
        std::fs::write(part.path().join(files::TOKENIZER.name), tokenizer)?;
        files::verify(part.path())?;
        // Another process may have made it meanwhile.
        if std::fs::rename(part.path(), &folder).is_err() {
            files::verify(&folder)?;
        }
    }
    Ok(folder)
}

/// Search by words and meaning, as a gateway with the model does it: what a query means is computed
/// when it is first asked.
pub struct Hybrid<'a> {
    index: &'a SearchIndex,
    model: SentenceModel,
    pub(super) vectors: Vectors,
    /// Of the tools' whole texts alone.
    plain: Vectors,
    asked: HashMap<String, Vec<f32>>,
}

impl<'a> Hybrid<'a> {
    /// Makes the vectors of all tools, on all processors.
    pub fn new(catalog: &Catalog, index: &'a SearchIndex) -> anyhow::Result<Self> {
        let folder = installed_model()?;
        let model = SentenceModel::load(&folder)?;
        let threads = std::thread::available_parallelism()?.get();
        let tools = catalog.tools();
        let parts: anyhow::Result<Vec<Vec<Vec<Vector>>>> = std::thread::scope(|scope| {
            let parts = tools.chunks(tools.len().div_ceil(threads).max(1));
            let at_work: Vec<_> = parts
                .map(|part| {
                    let embed = || {
                        let text = |text: &str| anyhow::Ok(Vector::from(model.text(text)?));
                        let made = part.iter();
                        made.map(|tool| {
                            let texts = tool.embedding_texts();
                            texts.iter().map(|one| text(one)).collect()
                        })
                        .collect()
                    };
                    scope.spawn(embed)
                })
                .collect();
            let made = at_work.into_iter().map(|one| one.join());
            made.map(|part| part.expect("embedding does not panic"))
                .collect()
        });
        let parts = parts?;
        let tools = || parts.iter().flatten();
        Ok(Self {
            index,
            model,
            vectors: Vectors::new(tools().map(|tool| tool.iter().collect())),
            plain: Vectors::new(tools().map(|tool| vec![&tool[0]])),
            asked: HashMap::new(),
        })
    }

    /// The best tools, and whether they fit.
    pub fn search(&mut self, query: &str) -> (Vec<String>, Fit) {
        named(self.results(query, DEPTH))
    }

    /// The answer with at most `limit` hits.
    pub fn results(&mut self, query: &str, limit: usize) -> SearchResults {
        let reading = self.index.read(query, &|word| self.model.is_word(word));
        let mut similarities = Vec::new();
        for sentence in reading.sentences() {
            let vector = self.asked.entry(sentence.to_owned());
            let vector = vector.or_insert_with_key(|text| {
                let vector = self.model.query(text);
                vector.expect("the model was loaded")
            });
            similarities.push(self.vectors.similarity(vector));
        }
        search(self.index, &reading, Some(&similarities), limit)
    }

    /// The tools nearest to the query's meaning as it is written: what a plain vector search answers.
    pub fn nearest(&self, query: &str, catalog: &Catalog) -> Vec<String> {
        let vector = self.model.query(query).expect("the model was loaded");
        let cosines = self.plain.plain_cosines(&vector);
        let mut ranked: Vec<(f32, &str)> = cosines
            .into_iter()
            .zip(catalog.tools().iter().map(|tool| tool.name.as_str()))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let best = ranked.into_iter().take(DEPTH);
        best.map(|(_, name)| name.to_owned()).collect()
    }

    /// Forgets what was asked, so that every query is new.
    pub fn forget(&mut self) {
        self.asked.clear();
    }
}

/// The best tools by words alone, and whether they fit.
pub fn by_words(index: &SearchIndex, query: &str) -> (Vec<String>, Fit) {
    named(results_by_words(index, query, DEPTH))
}

/// The answer by words alone with at most `limit` hits.
pub fn results_by_words(index: &SearchIndex, query: &str, limit: usize) -> SearchResults {
    search(index, &index.read(query, &|_| false), None, limit)
}

pub(super) fn search(
    index: &SearchIndex,
    reading: &Reading,
    similarities: Option<&[Similarity]>,
    limit: usize,
) -> SearchResults {
    index.search(&SearchQuery {
        reading,
        service: None,
        similarities,
        limit,
        allowed: &|_| true,
    })
}

pub(super) fn named(found: SearchResults) -> (Vec<String>, Fit) {
    let hits = found.hits.into_iter();
    let names = hits.map(|hit| hit.tool.name.to_string()).collect();
    (names, found.confidence)
}
