//! What the shipped plugins say their calls do: no name contradicts an effect, and no statement of a language passes for
//! a question, but for listed exceptions. [`scopes`] has the scopes of the tools that read, [`defaults`] what the forms of
//! connect pages are filled with.

mod defaults;
mod scopes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Map, Value, json};
use toolgate_catalog::manifest::{Effect, Manifest, ToolSpec};
use toolgate_catalog::statements::statement_argument;
use toolgate_catalog::verbs::{CallNames, changing_verb};
use toolgate_openapi::{BuildInput, Described};
use toolgate_openapi_table::{Method, Operation, Piece, Source};
use toolgate_runtime::inspect;
use toolgate_tests::gateway::built_plugin;

/// Reading tools whose words would change something, each with the reason why it reads.
const READING_ALL_THE_SAME: &[(&str, &str, &str)] = &[
    (
        "deepl",
        "correct_text",
        "answers with a better text, the path says `write`",
    ),
    (
        "deepl",
        "rephrase_text",
        "answers with a better text, the path says `write`",
    ),
    (
        "dialpad",
        "start_statistics",
        "computes numbers, which another tool fetches",
    ),
    (
        "groq",
        "create_embedding",
        "computes an answer, nothing is stored",
    ),
    (
        "groq",
        "create_transcription",
        "computes an answer, nothing is stored",
    ),
    (
        "groq",
        "create_translation",
        "computes an answer, nothing is stored",
    ),
    (
        "heroku",
        "create_log_session",
        "answers with an address that ends after minutes",
    ),
    (
        "mistral",
        "create_embedding",
        "computes an answer, nothing is stored",
    ),
    (
        "mistral",
        "create_fim_completion",
        "computes an answer, nothing is stored",
    ),
    (
        "mistral",
        "create_moderation",
        "computes an answer, nothing is stored",
    ),
    (
        "openai",
        "create_embedding",
        "computes an answer, nothing is stored",
    ),
    (
        "openai",
        "create_moderation",
        "computes an answer, nothing is stored",
    ),
    (
        "openrouter",
        "create_embeddings",
        "computes an answer, nothing is stored",
    ),
    (
        "stripe",
        "preview_invoice",
        "the path `create_preview` computes an invoice and stores none",
    ),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// One shipped plugin; `described` where it is made from a description.
struct Shipped {
    manifest: Manifest,
    described: Option<Described>,
}

/// All shipped plugins, descriptions as they are now.
fn shipped() -> &'static [Shipped] {
    static SHIPPED: OnceLock<Vec<Shipped>> = OnceLock::new();
    SHIPPED.get_or_init(|| {
        let folders = std::fs::read_dir(repository().join("plugins")).unwrap();
        let mut names: Vec<PathBuf> = folders.map(|folder| folder.unwrap().path()).collect();
        names.sort();
        let all: Vec<Shipped> = names.iter().filter_map(|folder| one(folder)).collect();
        assert_eq!(all.len(), 319, "every shipped plugin is looked at");
        all
    })
}

fn one(folder: &Path) -> Option<Shipped> {
    let name = folder.file_name()?.to_str()?;
    let description = folder.join("openapi.yaml");
    if description.exists() {
        let input = BuildInput {
            description,
            ..BuildInput::default()
        };
        let described = toolgate_openapi::describe(&input).unwrap();
        return Some(Shipped {
            manifest: described.manifest.clone(),
            described: Some(described),
        });
    }
    if !folder.join("Cargo.toml").exists() {
        return None;
    }
    let manifest = inspect::read(&built_plugin(name).unwrap())
        .unwrap()
        .manifest;
    Some(Shipped {
        manifest,
        described: None,
    })
}

fn tools() -> impl Iterator<Item = (&'static str, &'static ToolSpec)> {
    shipped().iter().flat_map(|plugin| {
        let service = plugin.manifest.service.as_str();
        plugin
            .manifest
            .tools
            .iter()
            .map(move |tool| (service, tool))
    })
}

/// The path of an operation, with braces where something is filled in.
fn path(operation: &Operation) -> String {
    let pieces = operation.path.iter().map(|piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Input(input) => format!("{{{}}}", input.name),
    });
    pieces.collect()
}

#[test]
fn no_shipped_tool_that_reads_has_a_name_that_changes_something() {
    let mut found = BTreeSet::new();
    for plugin in shipped() {
        for tool in plugin
            .manifest
            .tools
            .iter()
            .filter(|tool| tool.effect == Effect::Read)
        {
            let operation = plugin.described.as_ref();
            let operation = operation.and_then(|made| made.table.operations.get(&tool.name));
            let path = operation.map(path).unwrap_or_default();
            let query = operation.into_iter().flat_map(|operation| &operation.query);
            let constants: Vec<&str> = query
                .filter_map(|input| match &input.source {
                    Source::Constant(value) => value.as_str(),
                    _ => None,
                })
                .collect();
            let call = CallNames {
                id: Some(&tool.name),
                path: &path,
                constants: &constants,
                summary: tool.title.as_deref(),
            };
            if changing_verb(&call).is_some() {
                found.insert((plugin.manifest.service.as_str(), tool.name.as_str()));
            }
        }
    }
    let listed = READING_ALL_THE_SAME.iter();
    let listed: BTreeSet<_> = listed.map(|(service, tool, _)| (*service, *tool)).collect();
    assert_eq!(found, listed, "left: found, right: listed with a reason");
}

#[test]
fn every_shipped_effect_that_words_or_arguments_would_decide_is_declared() {
    let mut guessed = Vec::new();
    for plugin in shipped() {
        let notes = plugin.described.iter().flat_map(|made| &made.notes);
        let notes = notes.filter(|note| note.message.contains("x-toolgate: { effect"));
        guessed.extend(notes.map(|note| format!("{} {note}", plugin.manifest.service)));
    }
    assert_eq!(guessed, Vec::<String>::new());
}

#[test]
fn a_reading_call_sends_get_and_head_and_the_posts_that_it_names() {
    let mut posts = 0;
    for plugin in shipped() {
        let Some(made) = &plugin.described else {
            continue;
        };
        for tool in made
            .manifest
            .tools
            .iter()
            .filter(|tool| tool.effect == Effect::Read)
        {
            match made.table.operations[&tool.name].method {
                Method::Get | Method::Head => assert_eq!(tool.queries, Vec::<String>::new()),
                Method::Post => {
                    assert_eq!(tool.queries.len(), 1, "{}", tool.name);
                    posts += 1;
                }
                other => panic!("{} reads by {other:?}", tool.name),
            }
        }
    }
    assert!(posts > 150, "{posts} reading POSTs");
}

/// Names of arguments that could be statements, in lower case without separators.
const STATEMENTS: &str = "sql rawsql q query querystring querytext queries statement statements script expression expr \
    code cypher flux influxql graphql command commands cmd template jql cql soql nrql wiql filter filters filterbyformula \
    formula formulas where predicate sysparmquery searchquery filterquery textquery userdata exec buildcommand";
/// Deepest property that is looked at.
const DEPTH_MAX: usize = 3;

/// The arguments of a schema that take any text and are named like a statement, or say that they are one.
fn candidates(schema: &Value, outer: &str, depth: usize, found: &mut Vec<(String, Value)>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(object) = property.as_object() else {
            continue;
        };
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = plain.to_ascii_lowercase();
        let named = STATEMENTS.split_whitespace().any(|known| known == plain);
        let alone = json!({"properties": {(if named { "x" } else { "query" }): property}});
        let said = !named && statement_argument(&alone, "").is_some();
        if takes_any_text(object) && (named || said) {
            found.push((format!("{outer}{name}"), property.clone()));
        }
        if depth < DEPTH_MAX {
            let items = property
                .get("items")
                .filter(|items| items.get("properties").is_some());
            let outer = format!("{outer}{name}.");
            candidates(items.unwrap_or(property), &outer, depth + 1, found);
        }
    }
}

fn takes_any_text(schema: &Map<String, Value>) -> bool {
    let text = |schema: &Map<String, Value>| {
        let kind = match schema.get("type") {
            None => !schema.contains_key("properties"),
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
            Some(kind) => kind == "string",
        };
        kind && !schema.contains_key("enum") && !schema.contains_key("const")
    };
    let items = schema.get("items").and_then(Value::as_object);
    text(schema) || items.is_some_and(|items| items.contains_key("type") && text(items))
}

/// Rows of `tests/effects/languages.tsv`: language and decision of each service, tool and argument.
fn decisions() -> BTreeMap<(String, String, String), (String, String)> {
    let text = std::fs::read_to_string(repository().join("tests/effects/languages.tsv")).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let rows = rows.map(|row| {
        let cells: Vec<String> = row.split('\t').map(str::to_owned).collect();
        let [service, tool, argument, language, decision, why] = cells.try_into().expect(row);
        assert!(!why.is_empty(), "{row}: says no reason");
        ((service, tool, argument), (language, decision))
    });
    rows.collect()
}

#[test]
fn every_argument_that_could_be_a_statement_is_decided() {
    let mut decisions = decisions();
    let mut undecided = Vec::new();
    for (service, tool) in tools() {
        let mut found = Vec::new();
        candidates(&tool.input.value(), "", 0, &mut found);
        for (argument, property) in found {
            let key = (service.to_owned(), tool.name.clone(), argument);
            let Some((language, decision)) = decisions.remove(&key) else {
                undecided.push(key);
                continue;
            };
            let bounded = property.get("pattern").is_some();
            let holds = match decision.as_str() {
                "words" | "filter" | "value" => true,
                "reads" => !language.is_empty(),
                "bounded" => bounded && !language.is_empty(),
                "write" => tool.effect != Effect::Read,
                "destructive" => tool.effect == Effect::Destructive,
                _ => false,
            };
            assert!(
                holds,
                "{key:?} is decided as `{decision}`, and is {:?}",
                tool.effect
            );
        }
    }
    assert_eq!(undecided, [], "decide these in tests/effects/languages.tsv");
    assert_eq!(decisions, BTreeMap::new(), "these are gone");
}

#[test]
fn an_influxql_question_cannot_become_a_statement_that_changes_something() {
    let tool =
        tools().find(|(service, tool)| *service == "influxdb" && tool.name == "query_influxql");
    let (_, tool) = tool.unwrap();
    assert_eq!(tool.effect, Effect::Read);
    let schema = tool.input.text();
    let accepts = |q: &str| toolgate_catalog::is_valid(schema, &json!({"db": "telegraf", "q": q}));
    for reads in [
        "SHOW MEASUREMENTS",
        "show databases;",
        "SELECT MEAN(usage_user) FROM cpu WHERE time > now() - 1h GROUP BY time(5m), host",
        "  select * from \"h2o\" where location = 'tin'\n limit 3 ;\n",
        "SELECT i, n, t, o, int, in, ni FROM x",
    ] {
        assert!(accepts(reads), "{reads}");
    }
    for changes in [
        "SHOW MEASUREMENTS; DROP DATABASE x",
        "DROP DATABASE x",
        "SELECT * INTO y FROM x",
        "SELECT * iNtO y FROM x",
        "SELECT 1;;DROP DATABASE x",
        "SELECT 1;\nDELETE FROM x",
        "SELECT * FROM (SELECT * FROM x) ; SELECT 1",
        "CREATE DATABASE SELECT",
        "-- SELECT\nDROP DATABASE x",
        "EXPLAIN ANALYZE SELECT 1",
        "SELECTION",
        "SELECT iinto y FROM x",
        "SELECT inInto y FROM x",
    ] {
        assert!(!accepts(changes), "{changes}");
    }
}
