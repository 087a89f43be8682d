//! From tools to a written index: the stems of every searched text, on several threads, then one
//! segment in memory.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use tantivy::Index;
use tantivy::schema::{IndexRecordOption, Schema, TantivyDocument, TextFieldIndexing, TextOptions};

use crate::parts::{PARTS, Part};
use crate::words::{Words, is_stopword};
use toolgate_catalog::Tool;

/// Most words indexed of one text.
const WORDS_MAX: usize = 400;
/// Most parameters indexed of one tool.
const PARAMETERS_MAX: usize = 100;
/// First allocation of the writer, in bytes; it grows with what is written.
const WRITER_BYTES: usize = 15_000_000;
/// Fewer tools than this are not worth a thread.
const TOOLS_PER_THREAD_MIN: usize = 250;
/// More threads than this wait for the writer.
const THREADS_MAX: usize = 4;

/// The word of each stem.
pub(super) type DisplayWords = HashMap<String, ShownWord>;

pub(super) struct ShownWord {
    pub word: String,
    /// Whether it is where a misspelling is looked up: name, service, keywords.
    pub strong: bool,
}

impl ShownWord {
    /// Of two the one from a strong place; then the shortest form reads best; alphabetical to be the
    /// same every time.
    fn rank(&self) -> (bool, Reverse<(usize, &str)>) {
        (self.strong, Reverse((self.word.len(), &self.word)))
    }
}

/// Writes the stems of each tool; documents are numbered as `tools`.
pub(super) fn write(tools: &[Arc<Tool>]) -> (Index, DisplayWords) {
    const MEMORY: &str = "writing to memory does not fail";
    let mut schema = Schema::builder();
    let options = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(true),
    );
    let fields = PARTS.map(|part| schema.add_text_field(part.label(), options.clone()));
    let mut writer = Index::builder()
        .schema(schema.build())
        .single_segment_index_writer(tantivy::directory::RamDirectory::create(), WRITER_BYTES)
        .expect(MEMORY);
    let mut shown = DisplayWords::new();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads
        .min(THREADS_MAX)
        .min(tools.len() / TOOLS_PER_THREAD_MIN)
        .max(1);
    thread::scope(|scope| {
        let parts = tools.chunks(tools.len().div_ceil(threads).max(1));
        let stemming: Vec<_> = parts.map(|part| scope.spawn(|| Stems::new(part))).collect();
        for part in stemming {
            let stems = part.join().expect("words are split without a panic");
            for texts in stems.texts {
                let mut document = TantivyDocument::new();
                for (field, text) in fields.into_iter().zip(texts) {
                    document.add_text(field, text);
                }
                writer.add_document(document).expect(MEMORY);
            }
            for (word, seen) in stems.seen {
                show(&mut shown, word, seen);
            }
        }
    });
    (writer.finalize().expect(MEMORY), shown)
}

fn show(shown: &mut DisplayWords, word: String, seen: WordInfo) {
    let Some(strong) = seen.strong else {
        return;
    };
    let word = ShownWord { word, strong };
    match shown.get_mut(&seen.stem) {
        Some(known) if known.rank() < word.rank() => *known = word,
        Some(_) => {}
        None => {
            shown.insert(seen.stem, word);
        }
    }
}

/// The stems of some tools.
#[derive(Default)]
struct Stems {
    /// Of each tool, for each part its stems with a space after each.
    texts: Vec<[String; PARTS.len()]>,
    /// By word.
    seen: HashMap<String, WordInfo>,
}

/// What is found out about a word once.
struct WordInfo {
    stem: String,
    says_nothing: bool,
    /// Whether it stood in a strong place, where it stood anywhere.
    strong: Option<bool>,
}

impl Stems {
    fn new(tools: &[Arc<Tool>]) -> Self {
        let mut words = Words::new();
        let mut stems = Self::default();
        for tool in tools {
            let texts = PARTS.map(|part| {
                let (strong, complete) = match part {
                    Part::Name | Part::Service => (true, true),
                    Part::Keywords => (true, false),
                    Part::Requests | Part::Description => (false, false),
                    Part::Parameters => (false, true),
                };
                let mut text = String::new();
                let mut count = 0;
                for word in part_words(tool, part, &mut words) {
                    let seen = stems.look_at(word, &mut words);
                    if complete || (!seen.says_nothing && count < WORDS_MAX) {
                        count += 1;
                        seen.strong = Some(strong || seen.strong == Some(true));
                        text.push_str(&seen.stem);
                        text.push(' ');
                    }
                }
                text
            });
            stems.texts.push(texts);
        }
        stems
    }

    fn look_at(&mut self, word: String, words: &mut Words) -> &mut WordInfo {
        self.seen.entry(word).or_insert_with_key(|word| WordInfo {
            stem: words.stem(word),
            says_nothing: is_stopword(word),
            strong: None,
        })
    }
}

fn part_words(tool: &Tool, part: Part, words: &mut Words) -> Vec<String> {
    let spec = tool.spec();
    match part {
        Part::Name => words.split_name(&spec.name, WORDS_MAX),
        Part::Service => {
            let manifest = tool.manifest();
            words.service_words(&manifest.service, &manifest.title)
        }
        Part::Keywords => {
            let mut all = Vec::new();
            for text in spec
                .title
                .iter()
                .chain(&spec.keywords)
                .chain(&tool.manifest().categories)
            {
                all.extend(words.split_name(text, WORDS_MAX));
            }
            all.sort_unstable();
            all.dedup();
            all
        }
        Part::Requests => {
            let mut all = Vec::new();
            for request in &spec.requests {
                all.extend(words.split(request, WORDS_MAX));
            }
            // Said in eight ways, a word is one word.
            all.sort_unstable();
            all.dedup();
            all
        }
        Part::Description => words.split(&spec.description, WORDS_MAX),
        Part::Parameters => {
            let names = spec.input.properties().take(PARAMETERS_MAX);
            names.flat_map(|name| words.split_name(name, 10)).collect()
        }
    }
}
