//! Finding tools by what they do: by words, and by meaning where a sentence model is installed.
//!
//! Words of a query are looked for in a tool's name, service, keywords, description and argument
//! names, by stem, with synonyms, and as misspellings only where no tool has the word. An answer is
//! the nearest tools and a [`Fit`] that says whether they fit. The order is the same every
//! time: by score, then by name. Read [`reading`] for how a query is understood, [`score`] for how
//! tools are ranked by words, [`fuse`] for how what a query means is weighed in.

#![forbid(unsafe_code)]

mod answer;
mod concepts;
pub mod embeddings;
mod explain;
mod fit;
mod fuse;
mod index;
mod languages;
mod message;
mod nearest;
mod parts;
mod prefer;
mod query;
mod rank;
mod reading;
mod score;
mod scratch;
mod shortlist;
mod steps;
mod suggest;
mod synonyms;
#[cfg(test)]
mod tests;
mod typo;
mod uses;
mod words;

use std::sync::Arc;

use index::Index;
use toolgate_catalog::{Catalog, Tool};

pub use answer::{Hit, SearchQuery, SearchResults};
pub use concepts::QUERY_WORDS_MAX;
pub use fit::Fit;
pub use prefer::PREFERRED_AMONG;
pub use query::QUERY_CHARS_MAX;
pub use reading::Reading;
pub use suggest::SUGGESTIONS_MAX;
pub use uses::Uses;

/// The tools of one catalog, ready to be searched.
pub struct SearchIndex {
    /// As in [`Catalog::tools`].
    tools: Vec<Arc<Tool>>,
    index: Index,
}

impl SearchIndex {
    pub fn new(catalog: &Catalog) -> Self {
        Self {
            tools: catalog.tools().to_vec(),
            index: Index::build(catalog.tools()),
        }
    }

    /// Understands a query. `is_word` says whether a word is one that the sentence model knows: such a
    /// word is not taken for a misspelling.
    pub fn read(&self, query: &str, is_word: &dyn Fn(&str) -> bool) -> Reading {
        self.index.understand(query, is_word)
    }

    /// Finds tools by what they do.
    pub fn search(&self, query: &SearchQuery<'_>) -> SearchResults {
        self.index.search(&self.tools, query)
    }

    /// The names that come nearest to one that no tool has, best first, among `allowed` tools.
    pub fn nearest_names(&self, name: &str, allowed: &dyn Fn(&Tool) -> bool) -> Vec<String> {
        self.index.nearest_names(&self.tools, name, allowed)
    }
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchIndex")
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}
