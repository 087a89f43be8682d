//! The inverted index: built once per catalog with tantivy, in memory, one segment.
//!
//! Documents are numbered as the catalog's tools, so nothing is stored beside the postings. What a
//! query needs of the term dictionaries is kept in a table of our own ([`Term`]), because a query
//! looks up a hundred words and their synonyms and reads only short lists.

mod write;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::TermInfo;
use tantivy::schema::Field;
use tantivy::{Index as TantivyIndex, InvertedIndexReader};

use super::parts::PARTS;
use super::scratch::Scratch;
use super::synonyms::Synonyms;
use super::typo::{Spellings, letters};
use super::words::Words;
use toolgate_catalog::Tool;
use toolgate_catalog::manifest::Effect;

/// A word that tools of fewer services begin with may be a noun.
const ACTION_SERVICES_MIN: usize = 4;

/// One stem and where its postings are.
pub(super) struct Term {
    /// A word with this stem, for match reasons.
    pub word: String,
    pub postings: [Option<TermInfo>; PARTS.len()],
    /// Tools that have it, at least.
    pub tools: u32,
}

/// One searched part: postings, lengths, and the weight of one occurrence by coded length.
pub(super) struct PartIndex {
    pub postings: Arc<InvertedIndexReader>,
    pub lengths: FieldNormReader,
    pub weight_by_length: Box<[f32; 256]>,
}

/// Everything a search reads.
pub(crate) struct Index {
    pub(super) tools: u32,
    pub(super) parts: Vec<PartIndex>,
    pub(super) terms: Vec<Term>,
    pub(super) by_stem: HashMap<String, u32>,
    pub(super) spellings: Spellings,
    pub(super) synonyms: Synonyms,
    /// Per tool what a search asks about every candidate.
    pub(super) traits: Vec<Traits>,
    /// Services by name, with their words and the range of their tools.
    pub(super) services: Vec<IndexedService>,
    /// For the first word of each service's name, and for the name without underscores: places in `services`.
    pub(super) services_by_word: HashMap<String, Vec<u32>>,
    /// Per tool the place of its service in `services`.
    pub(super) service_of: Vec<u32>,
    /// Stems that tools of several services begin with: `upload` of `upload_file`.
    pub(super) actions: HashSet<String>,
    /// Words in the name or title of a service, also written as one.
    pub(super) service_words: HashMap<String, u32>,
    pub(super) scratch: Mutex<Vec<Scratch>>,
}

#[derive(Clone, Copy)]
pub(super) struct Traits {
    pub deprecated: bool,
    pub reads: bool,
    pub destroys: bool,
    /// The term of the action's first word, `upload` of `upload_file`, where that is one of
    /// [`Index::actions`] or the tool destroys something.
    pub action: Option<u32>,
}

impl Traits {
    fn from_tool(tool: &Tool) -> Self {
        Self {
            deprecated: tool.spec().deprecated.is_some(),
            reads: tool.effect() == Effect::Read,
            destroys: tool.effect() == Effect::Destructive,
            action: None,
        }
    }
}

pub(super) struct IndexedService {
    pub name: String,
    /// The name as one word.
    pub joined: String,
    /// Words of name and title, and name and title as one word.
    pub words: Vec<String>,
    /// [`super::typo::letters`] of each word.
    pub letters: Vec<u128>,
    /// Places of its tools in the catalog.
    pub tools: Vec<u32>,
}

impl Index {
    pub(crate) fn build(tools: &[Arc<Tool>]) -> Self {
        let mut words = Words::new();
        let synonyms = Synonyms::new(&mut words);
        let (services, service_of) = services(tools, &mut words);
        let mut index = Self {
            tools: u32::try_from(tools.len()).expect("fewer than 2^32 tools fit into memory"),
            parts: Vec::new(),
            terms: Vec::new(),
            by_stem: HashMap::new(),
            spellings: Spellings::default(),
            synonyms,
            traits: tools.iter().map(|tool| Traits::from_tool(tool)).collect(),
            actions: actions(tools, &mut words),
            services_by_word: by_word(&services),
            services,
            service_of,
            service_words: HashMap::new(),
            scratch: Mutex::default(),
        };
        if tools.is_empty() {
            return index;
        }
        let (written, shown) = write::write(tools);
        index.read(&written, shown);
        for (traits, tool) in index.traits.iter_mut().zip(tools) {
            let first = words.split_name(tool.action(), 1).pop();
            let stem = first.map(|first| words.stem(&first));
            let action = stem.filter(|stem| traits.destroys || index.actions.contains(stem));
            traits.action = action.and_then(|stem| index.by_stem.get(&stem).copied());
        }
        for service in &index.services {
            for word in &service.words {
                if let Some(term) = index.by_stem.get(&words.stem(word)) {
                    index.service_words.insert(word.clone(), *term);
                }
            }
        }
        index
    }

    fn read(&mut self, written: &TantivyIndex, shown: write::DisplayWords) {
        const MEMORY: &str = "an index that was just written to memory can be read";
        let searcher = written.reader().expect(MEMORY).searcher();
        let segment = searcher.segment_reader(0);
        for (number, part) in PARTS.iter().enumerate() {
            let field = Field::from_field_id(number as u32);
            let postings = segment.inverted_index(field).expect(MEMORY);
            let lengths = segment.get_fieldnorms_reader(field).expect(MEMORY);
            let mean = (postings.total_num_tokens() as f32 / self.tools as f32).max(1.0);
            let damping = part.length_damping();
            let weight_by_length = Box::new(std::array::from_fn(|code| {
                let length = FieldNormReader::id_to_fieldnorm(code as u8) as f32;
                part.weight() / (1.0 - damping + damping * length / mean)
            }));
            let mut stems = postings.terms().stream().expect(MEMORY);
            while let Some((stem, info)) = stems.next() {
                let Ok(stem) = std::str::from_utf8(stem) else {
                    continue;
                };
                let id = match self.by_stem.get(stem) {
                    Some(id) => *id,
                    None => {
                        let id = self.terms.len() as u32;
                        self.by_stem.insert(stem.to_owned(), id);
                        let word = shown.get(stem).map_or(stem, |shown| &shown.word).to_owned();
                        self.terms.push(Term {
                            word,
                            postings: Default::default(),
                            tools: 0,
                        });
                        id
                    }
                };
                let term = &mut self.terms[id as usize];
                term.tools = term.tools.max(info.doc_freq);
                term.postings[number] = Some(info.clone());
            }
            self.parts.push(PartIndex {
                postings,
                lengths,
                weight_by_length,
            });
        }
        let spelt = shown.into_iter().filter(|(_, shown)| shown.strong);
        self.spellings = Spellings::new(
            spelt
                .filter_map(|(stem, shown)| Some((shown.word, *self.by_stem.get(&stem)?)))
                .collect(),
        );
    }
}

/// The first words of tools' actions that at least [`ACTION_SERVICES_MIN`] services use.
fn actions(tools: &[Arc<Tool>], words: &mut Words) -> HashSet<String> {
    let mut services: HashMap<String, HashSet<&str>> = HashMap::new();
    for tool in tools {
        let first = words.split_name(tool.action(), 1).pop();
        if let Some(first) = first {
            let used = services.entry(words.stem(&first)).or_default();
            used.insert(tool.service());
        }
    }
    services.retain(|_, services| services.len() >= ACTION_SERVICES_MIN);
    services.into_keys().collect()
}

/// See [`Index::services_by_word`].
fn by_word(services: &[IndexedService]) -> HashMap<String, Vec<u32>> {
    let mut by_word: HashMap<String, Vec<u32>> = HashMap::new();
    for (number, service) in (0_u32..).zip(services) {
        let first = service.name.split('_').next().unwrap_or_default();
        let mut add = |word: &str| by_word.entry(word.to_owned()).or_default().push(number);
        add(first);
        if service.joined != first {
            add(&service.joined);
        }
    }
    by_word
}

/// All services, sorted by name, and for each tool the place of its service.
fn services(tools: &[Arc<Tool>], words: &mut Words) -> (Vec<IndexedService>, Vec<u32>) {
    let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (place, tool) in (0_u32..).zip(tools) {
        by_name.entry(tool.service()).or_default().push(place);
    }
    let mut service_of = vec![0; tools.len()];
    let mut services = Vec::with_capacity(by_name.len());
    for (number, (name, places)) in (0_u32..).zip(by_name) {
        for place in &places {
            service_of[*place as usize] = number;
        }
        let title = &tools[places[0] as usize].manifest().title;
        let words = words.service_words(name, title);
        services.push(IndexedService {
            name: name.to_owned(),
            joined: name.replace('_', ""),
            letters: words.iter().map(|word| letters(word)).collect(),
            words,
            tools: places,
        });
    }
    (services, service_of)
}
