//! Queries and the tools that answer them, as they are written down.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest as _, Sha256};
use toolgate_catalog::Catalog;

use super::HERE;

/// Which half a query belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Tune,
    Report,
}

/// One query and the tools that answer it; none, where nothing does.
#[derive(Clone, Debug)]
pub struct Judged {
    /// `en`, `de`, `es` and so on.
    pub language: String,
    pub query: String,
    pub tools: Vec<String>,
    /// How it asks, for example `vague` or `steps`; empty where its file does not say.
    pub kind: String,
    pub half: Half,
}

/// Reads queries of the shipped catalog, and refuses a judgement that names a tool it does not have.
pub(super) fn read_queries(file: &str, catalog: &Catalog) -> anyhow::Result<Vec<Judged>> {
    let text = read(file)?;
    parse(&text, |query, answer| {
        ensure!(
            catalog.get(answer).is_some(),
            "{query:?}: there is no {answer}"
        );
        Ok(answer.to_owned())
    })
    .with_context(|| file.to_owned())
}

pub(super) fn read(file: &str) -> anyhow::Result<String> {
    let path = Path::new(HERE).join("search").join(file);
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// Reads lines of `language | query | tools | kind`; `tool` names the tool that an answer stands for.
pub(super) fn parse(
    text: &str,
    tool: impl Fn(&str, &str) -> anyhow::Result<String>,
) -> anyhow::Result<Vec<Judged>> {
    let mut sets: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut judged: Vec<Judged> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', '&']) {
            continue;
        }
        if line.starts_with('@') {
            let (name, tools) = line.split_once(" = ").context("a set is `@name = tools`")?;
            sets.insert(name, tools.split(' ').collect());
            continue;
        }
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let (language, query, answers, kind) = match parts[..] {
            [language, query, answers] => (language, query, answers, ""),
            [language, query, answers, kind] => (language, query, answers, kind),
            _ => bail!("not `language | query | tools | kind`: {line}"),
        };
        let mut tools: Vec<String> = Vec::new();
        for answer in answers.split_whitespace() {
            let named = match sets.get(answer) {
                Some(set) => set.clone(),
                None => vec![answer],
            };
            for answer in named {
                let name = tool(query, answer)?;
                if !tools.contains(&name) {
                    tools.push(name);
                }
            }
        }
        ensure!(
            judged.iter().all(|known| known.query != query),
            "twice: {query}"
        );
        judged.push(Judged {
            language: language.to_owned(),
            query: query.to_owned(),
            tools,
            kind: kind.to_owned(),
            half: half(query),
        });
    }
    Ok(judged)
}

fn half(query: &str) -> Half {
    match Sha256::digest(query)[0] % 2 {
        0 => Half::Tune,
        _ => Half::Report,
    }
}
