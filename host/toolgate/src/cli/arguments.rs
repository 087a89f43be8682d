//! A tool's arguments as a person types them: `name=value`, `name=@FILE`, or one JSON object.

use std::borrow::Cow;
use std::io::Read as _;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Map, Value};

/// Above what the gateway takes.
const ARGUMENTS_BYTES_MAX: u64 = 2 << 20;

/// Reads one JSON object: as it is written, from a file (`@FILE`) or from standard input (`-`).
pub(super) fn object(text: &str) -> anyhow::Result<Map<String, Value>> {
    let read = match text.strip_prefix('@') {
        _ if text == "-" => file(text)?,
        Some(named) => file(named)?,
        None => text.to_owned(),
    };
    serde_json::from_str(&read).context("--arguments is not a JSON object")
}

/// The text of a file, or of standard input (`-`).
pub(super) fn file(name: &str) -> anyhow::Result<String> {
    if name == "-" {
        return bounded(std::io::stdin(), "standard input");
    }
    file_text(name)
}

fn file_text(file: &str) -> anyhow::Result<String> {
    let opened = std::fs::File::open(file);
    let opened = opened.with_context(|| format!("the file {file} cannot be read"))?;
    bounded(opened, file)
}

/// What a value says: itself, or for `@FILE` what the file has. A text that begins with an at sign is written with two.
fn value_text(value: &str) -> anyhow::Result<Cow<'_, str>> {
    match value.strip_prefix('@') {
        None => Ok(value.into()),
        Some(text) if text.starts_with('@') => Ok(text.into()),
        Some(file) => file_text(file)
            .map(Cow::Owned)
            .context("write two at signs for a text that begins with one"),
    }
}

fn bounded(from: impl std::io::Read, name: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = from.take(ARGUMENTS_BYTES_MAX + 1).read_to_string(&mut text);
    let read = read.with_context(|| format!("{name} cannot be read as text"))?;
    ensure!(read as u64 <= ARGUMENTS_BYTES_MAX, "{name} is too large");
    Ok(text)
}

/// Adds `name=value` or `name=@FILE`: text where the tool's schema takes text, else JSON.
pub(super) fn add(
    arguments: &mut Map<String, Value>,
    pair: &str,
    schema: &Value,
) -> anyhow::Result<()> {
    let Some((name, value)) = pair.split_once('=') else {
        bail!("invalid argument {pair:?}: write name=value, or --arguments with a JSON object");
    };
    let value = value_text(value)
        .and_then(|value| typed(&value, &schema["properties"][name]))
        .with_context(|| format!("invalid value of the argument {name}"))?;
    ensure!(
        arguments.insert(name.to_owned(), value).is_none(),
        "the argument {name} is given twice"
    );
    Ok(())
}

fn typed(value: &str, schema: &Value) -> anyhow::Result<Value> {
    let takes = |kind: &str| match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    };
    let json = || serde_json::from_str::<Value>(value);
    if takes("string") {
        return Ok(value.into());
    }
    // Several texts of a list are usually typed without quotes and brackets.
    if takes("array") && !value.trim_start().starts_with('[') {
        let one = |item: &str| typed(item, &schema["items"]);
        let items: anyhow::Result<Vec<Value>> = value.split(',').map(one).collect();
        return Ok(items?.into());
    }
    match &schema["type"] {
        Value::Null => Ok(json().unwrap_or_else(|_| value.into())),
        kind => json().with_context(|| format!("{value:?} is not of the type {kind}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_has_the_type_that_the_schema_says() {
        let schema = json!({"properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "on": {"type": ["boolean", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "ids": {"type": "array", "items": {"type": "integer"}},
            "map": {"type": "object"},
        }});
        let mut all = Map::new();
        for pair in [
            "text=7",
            "count=7",
            "on=true",
            "tags=a,b",
            "ids=[1,2]",
            "map={\"a\":1}",
            "free=x=y",
            "other=3",
        ] {
            add(&mut all, pair, &schema).expect(pair);
        }
        let expected = json!({"text": "7", "count": 7, "on": true, "tags": ["a", "b"], "ids": [1, 2], "map": {"a": 1}, "free": "x=y", "other": 3});
        assert_eq!(Value::from(all), expected);
    }

    #[test]
    fn a_value_is_read_from_a_file_and_two_at_signs_are_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("body.md");
        std::fs::write(&file, "# Title\n7, \"x\"\n").expect("it is written");
        let list = folder.path().join("list.json");
        std::fs::write(&list, "[1, 2]\n").expect("it is written");
        let schema = json!({"properties": {
            "body": {"type": "string"},
            "to": {"type": "string"},
            "ids": {"type": "array", "items": {"type": "integer"}},
        }});
        let mut all = Map::new();
        for pair in [
            format!("body=@{}", file.display()),
            format!("ids=@{}", list.display()),
            "to=@@ada".to_owned(),
        ] {
            add(&mut all, &pair, &schema).expect(&pair);
        }
        let expected = json!({"body": "# Title\n7, \"x\"\n", "ids": [1, 2], "to": "@ada"});
        assert_eq!(Value::from(all), expected);
        let missing = add(&mut Map::new(), "to=@nowhere/ada", &schema).expect_err("no file");
        let said = format!("{missing:#}");
        assert!(
            said.contains("nowhere/ada") && said.contains("two at signs"),
            "{said}"
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let schema = json!({"properties": {"count": {"type": "integer"}, "ids": {"type": "array", "items": {"type": "integer"}}}});
        let mut all = Map::new();
        for pair in ["count", "count=many", "ids=1,x"] {
            assert!(add(&mut all, pair, &schema).is_err(), "{pair}");
        }
        add(&mut all, "count=1", &schema).expect("once");
        assert!(add(&mut all, "count=2", &schema).is_err(), "twice");
        assert!(object("[1]").is_err() && object("@/nowhere").is_err());
    }
}
