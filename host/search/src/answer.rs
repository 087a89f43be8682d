//! What is asked of an index, and what it answers.

use std::sync::Arc;

use toolgate_catalog::Tool;

use super::embeddings::Similarity;
use super::fit::Fit;
use super::reading::Reading;

/// What to look for.
pub struct SearchQuery<'a> {
    /// The query, read by the index that is asked.
    pub reading: &'a Reading,
    /// Only tools of this service.
    pub service: Option<&'a str>,
    /// For each of [`Reading::sentences`], how similar it is to the tools of the catalog. Without it, tools are
    /// ranked by words alone; with only the first, all steps are ranked by the similarity of the whole query.
    pub similarities: Option<&'a [Similarity]>,
    /// Most hits.
    pub limit: usize,
    /// Whether the user may know of a tool. Others are neither found, counted nor suggested.
    pub allowed: &'a dyn Fn(&Tool) -> bool,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct SearchResults {
    /// By score, then by name; the steps of a query take turns.
    pub hits: Vec<Hit>,
    /// Tools that match, also beyond `limit`; at least as many as `hits`.
    pub total: usize,
    /// Whether the hits fit the query.
    pub confidence: Fit,
    /// The nearest services, only where no tool shares anything with the query.
    pub suggestions: Vec<String>,
}

/// One of the nearest tools.
#[derive(Clone, Debug)]
pub struct Hit {
    pub tool: Arc<Tool>,
    /// Comparable within one answer only.
    pub score: f32,
    /// Whether this tool fits, never more than the answer.
    pub confidence: Fit,
    /// Short texts: `name: create, issue`, `synonym: post -> send`.
    pub reasons: Vec<String>,
    /// Other services, not among the hits, that have a tool of the same name for it, best first.
    pub also_in: Vec<String>,
    /// The words by which [`Uses`](super::Uses) remember what the hit was found for.
    pub words: Arc<[String]>,
    /// The query names a service, and this is another one's tool.
    pub of_other_service: bool,
    /// The step of the query that the tool serves, as it was written; none where the query is one wish.
    pub step: Option<String>,
}
