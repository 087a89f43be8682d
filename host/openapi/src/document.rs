//! Reading a description and the files beside it, and following `$ref`.
//!
//! A description is kept as plain JSON values instead of typed OpenAPI structs: published
//! descriptions are often slightly off (a number where a text belongs, a boolean `required`), one
//! wrong value must not cost two hundred good operations, and one reader serves 2.0, 3.0 and 3.1.
//! JSON is read by `serde_json`, YAML by `serde-saphyr`, which bounds aliases, nesting and events.
//! References lead to places in the same file or to files below the description's folder, never
//! over the network.

mod missing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use serde_saphyr::DuplicateKeyPolicy;

use super::problem::Problem;

/// Largest file, in bytes.
pub const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Most files that one description may consist of.
pub const FILES_MAX: usize = 200;
/// Most YAML parser events of one file, aliases replayed.
const YAML_EVENTS_MAX: usize = 8_000_000;
const YAML_DEPTH_MAX: usize = 128;
const STACK_BYTES: usize = 64 * 1024 * 1024;
/// Longest chain of `$ref` to `$ref`.
const HOPS_MAX: usize = 32;
/// Deepest nesting that is searched for references.
const SCAN_DEPTH_MAX: usize = 256;

/// One file of a description.
#[derive(Debug)]
struct DocumentFile {
    /// As messages name it.
    name: String,
    value: Value,
    doubled: Option<DoubledKey>,
    /// Files that it refers to, by the text in front of `#`.
    links: BTreeMap<String, Result<usize, String>>,
}

/// A key that one mapping of a YAML text has twice. The parser keeps the last one.
#[derive(Clone, Debug)]
pub struct DoubledKey {
    pub key: String,
    /// Of the second one.
    pub line: u64,
}

/// A description with every file that it refers to.
#[derive(Debug)]
pub struct Documents {
    files: Vec<DocumentFile>,
}

/// A place in a description.
#[derive(Clone, Copy, Debug)]
pub struct Node<'d> {
    file: usize,
    pub value: &'d Value,
}

impl<'d> Node<'d> {
    /// The value below, in the same file.
    pub fn get(&self, key: &str) -> Option<Self> {
        Some(self.at(self.value.get(key)?))
    }

    pub fn at(&self, value: &'d Value) -> Self {
        Self {
            file: self.file,
            value,
        }
    }

    pub fn text(&self, key: &str) -> Option<&'d str> {
        self.value.get(key)?.as_str()
    }

    pub fn flag(&self, key: &str) -> bool {
        match self.value.get(key) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => text == "true",
            _ => false,
        }
    }

    /// Members of the object at `key`; empty where `key` has no object.
    pub fn members(&self, key: &str) -> impl Iterator<Item = (&'d str, Self)> + use<'d> {
        let file = self.file;
        let map = self.value.get(key).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .map(move |(key, value)| (key.as_str(), Node { file, value }))
    }

    /// Elements of the list at `key`; empty where `key` has no list.
    pub fn elements(&self, key: &str) -> impl Iterator<Item = Self> + use<'d> {
        let file = self.file;
        let list = self.value.get(key).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .map(move |value| Node { file, value })
    }

    /// Differs for each place in the description.
    pub fn identity(&self) -> usize {
        std::ptr::from_ref(self.value).addr()
    }
}

impl Documents {
    /// Reads the description at `path` and every file it refers to. `change` may rewrite the main
    /// document (overlays, Swagger 2.0) before references are followed.
    pub fn load(
        path: &Path,
        change: impl FnOnce(&str, Value) -> Result<Value, Problem>,
    ) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let (value, doubled) = read_text(path)?;
        let value = change(&name, value)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let folder = if folder.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            folder
        };
        let mut documents = Self {
            files: vec![DocumentFile {
                name,
                value,
                doubled,
                links: BTreeMap::new(),
            }],
        };
        let mut places = vec![PathBuf::from(path.file_name().unwrap_or_default())];
        let mut next = 0;
        while next < documents.files.len() {
            let mut targets = Vec::new();
            references(&documents.files[next].value, SCAN_DEPTH_MAX, &mut targets);
            targets.sort_unstable();
            targets.dedup();
            for target in targets {
                let link = documents.link(&folder, &mut places, next, &target);
                documents.files[next].links.insert(target, link);
            }
            next += 1;
        }
        Ok(documents)
    }

    /// A description without files beside it.
    pub fn from_value(name: &str, value: Value) -> Self {
        let mut targets = Vec::new();
        references(&value, SCAN_DEPTH_MAX, &mut targets);
        let links = targets.into_iter().map(|t| {
            let refused = format!("`{t}` is another file, and there is no folder to look in");
            (t, Err(refused))
        });
        Self {
            files: vec![DocumentFile {
                name: name.to_owned(),
                links: links.collect(),
                doubled: None,
                value,
            }],
        }
    }

    fn link(
        &mut self,
        folder: &Path,
        places: &mut Vec<PathBuf>,
        from: usize,
        target: &str,
    ) -> Result<usize, String> {
        if target.contains("://") || target.starts_with("//") {
            return Err(format!(
                "`{target}` is on the network, which is never read; save it beside the description"
            ));
        }
        let here = places[from]
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default();
        let place = inside(&here.join(target))
            .ok_or_else(|| format!("`{target}` is outside the description's folder"))?;
        if let Some(known) = places.iter().position(|known| *known == place) {
            return Ok(known);
        }
        if places.len() >= FILES_MAX {
            return Err(format!("more than {FILES_MAX} files"));
        }
        let path = folder.join(&place);
        let real = path
            .canonicalize()
            .map_err(|_| format!("the file `{target}` does not exist"))?;
        let root = folder
            .canonicalize()
            .map_err(|_| "the folder cannot be read".to_owned())?;
        if !real.starts_with(root) {
            return Err(format!("`{target}` leads outside the description's folder"));
        }
        let (value, doubled) = read_text(&path).map_err(|problem| problem.message)?;
        self.files.push(DocumentFile {
            name: path.display().to_string(),
            value,
            doubled,
            links: BTreeMap::new(),
        });
        places.push(place);
        Ok(places.len() - 1)
    }

    pub fn root(&self) -> Node<'_> {
        Node {
            file: 0,
            value: &self.files[0].value,
        }
    }

    pub fn name(&self) -> &str {
        &self.files[0].name
    }

    /// Keys that replace an earlier one of the same name, each with its file.
    pub fn doubled_keys(&self) -> impl Iterator<Item = (&str, &DoubledKey)> {
        let files = self.files.iter();
        files.filter_map(|file| Some((file.name.as_str(), file.doubled.as_ref()?)))
    }

    /// Follows `$ref` from a place to what it means. The error says what is wrong with it.
    pub fn resolve<'d>(&'d self, node: Node<'d>) -> Result<Node<'d>, String> {
        let mut node = node;
        for _ in 0..HOPS_MAX {
            let Some(reference) = node.text("$ref") else {
                return Ok(node);
            };
            node = self.follow(node.file, reference)?;
        }
        Err(format!("a chain of more than {HOPS_MAX} references"))
    }

    fn follow<'d>(&'d self, from: usize, reference: &str) -> Result<Node<'d>, String> {
        let (target, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let file = match target {
            "" => from,
            target => match self.files[from].links.get(target) {
                Some(Ok(file)) => *file,
                Some(Err(problem)) => return Err(problem.clone()),
                None => return Err(format!("`{target}` was not read")),
            },
        };
        let pointer = percent_decoded(pointer);
        let value = &self.files[file].value;
        let found = value.pointer(&pointer).or_else(|| {
            // A bare name, as Swagger 1.2 wrote it.
            let bare =
                (!pointer.is_empty() && !pointer.starts_with('/')).then_some(pointer.as_str())?;
            value.pointer("/components/schemas")?.get(bare)
        });
        match found {
            Some(value) => Ok(Node { file, value }),
            None => Err(format!(
                "`{reference}` leads nowhere; declare it or correct the reference"
            )),
        }
    }
}

/// Reads one JSON or YAML file.
pub fn read(path: &Path) -> Result<Value, Problem> {
    read_text(path).map(|(value, _)| value)
}

fn read_text(path: &Path) -> Result<(Value, Option<DoubledKey>), Problem> {
    let name = path.display().to_string();
    let refused = |message: String| Problem::new(&name, "", message);
    let size = std::fs::metadata(path)
        .map_err(|error| refused(format!("cannot be read: {error}")))?
        .len();
    if size > FILE_BYTES_MAX {
        return Err(refused(format!(
            "has {size} bytes; at most {FILE_BYTES_MAX} are read"
        )));
    }
    let bytes = std::fs::read(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("is not UTF-8 text".to_owned()))?;
    parse_text(&name, &text)
}

/// Reads JSON or YAML text.
pub fn parse(name: &str, text: &str) -> Result<Value, Problem> {
    parse_text(name, text).map(|(value, _)| value)
}

fn parse_text(name: &str, text: &str) -> Result<(Value, Option<DoubledKey>), Problem> {
    let text = text.trim_start_matches('\u{feff}');
    let json = if text.trim_start().starts_with(['{', '[']) {
        match serde_json::from_str(text) {
            Ok(value) => return Ok((value, None)),
            Err(error) => Some(error),
        }
    } else {
        None
    };
    // Flow YAML starts like JSON; a large text that is not JSON is not tried twice.
    if let Some(error) = json.filter(|_| text.len() > 4 * 1024 * 1024 || name.ends_with(".json")) {
        return Err(Problem::new(name, "", format!("is not JSON: {error}")));
    }
    yaml(text).map_err(|message| Problem::new(name, "", message))
}

/// Parsing recurses: deep documents get a stack that does not depend on the caller's.
fn yaml(text: &str) -> Result<(Value, Option<DoubledKey>), String> {
    with_stack(|| yaml_here(text)).unwrap_or_else(|| Err("no thread could be started".to_owned()))
}

/// Runs `work` on a thread with a large stack. `None` where no thread can be started.
pub(super) fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
            .ok()?;
        thread.join().ok()
    })
}

/// The options of every YAML text; only the policy for a key that is twice in one mapping differs.
pub(super) fn yaml_options(duplicate_keys: DuplicateKeyPolicy) -> serde_saphyr::Options {
    let mut options = serde_saphyr::Options::default();
    options.strict_booleans = true;
    options.duplicate_keys = duplicate_keys;
    if let Some(budget) = options.budget.as_mut() {
        budget.max_events = YAML_EVENTS_MAX;
        budget.max_nodes = YAML_EVENTS_MAX;
        budget.max_total_scalar_bytes = 128 * 1024 * 1024;
        budget.max_depth = YAML_DEPTH_MAX;
        budget.flow_nesting_limit = YAML_DEPTH_MAX;
    }
    options
}

fn yaml_here(text: &str) -> Result<(Value, Option<DoubledKey>), String> {
    let read = |doubled| serde_saphyr::from_str_with_options(text, yaml_options(doubled));
    let doubled = match read(DuplicateKeyPolicy::Error) {
        Ok(value) => return Ok((value, None)),
        Err(error) => match error.without_snippet() {
            serde_saphyr::Error::DuplicateMappingKey { key, location } => Some(DoubledKey {
                key: key.clone().unwrap_or_default(),
                line: location.line(),
            }),
            _ => None,
        },
    };
    // Published descriptions have duplicate keys. Any other error occurs again.
    let value = read(DuplicateKeyPolicy::LastWins).map_err(|error| {
        let message: String = error.to_string().chars().take(600).collect();
        format!("is not acceptable YAML: {message}")
    })?;
    Ok((value, doubled))
}

/// The file parts of all `$ref`s.
fn references(value: &Value, depth: usize, found: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref")
                && let Some(target) = reference
                    .split('#')
                    .next()
                    .filter(|target| !target.is_empty())
            {
                found.push(target.to_owned());
            }
            for value in map.values() {
                references(value, depth - 1, found);
            }
        }
        Value::Array(items) => {
            for value in items {
                references(value, depth - 1, found);
            }
        }
        _ => {}
    }
}

/// A relative path without `.` and `..`; `None` where it would leave its root.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes
            .get(at + 1..at + 3)
            .filter(|_| bytes[at] == b'%')
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match hex {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
