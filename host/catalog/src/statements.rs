//! Arguments that are statements of a language which the service executes: `sql`, `flux`, `script`.
//!
//! What such a call does is decided by its argument, not by its method: a GET of InfluxDB drops a database. So such an
//! argument is not taken for a question unless its schema says which statements are accepted. Pure.

use serde_json::{Map, Value};

/// Deepest property that is looked at: `body.query`.
const DEPTH_MAX: usize = 3;

/// Arguments that are statements, whatever is said of them.
const NAMES: &[&str] = &[
    "sql",
    "sqlquery",
    "sqlstatement",
    "sqltext",
    "rawsql",
    "querysql",
    "cypher",
    "cypherquery",
    "influxql",
    "flux",
    "fluxquery",
    "graphql",
    "graphqlquery",
    "gremlin",
    "script",
    "javascript",
    "shell",
    "bash",
    "cmd",
    "statement",
    "statements",
    "shellcommand",
    "sourcecode",
];
/// Arguments that are statements if a language is named.
const NAMED_WITH_LANGUAGE: &[&str] = &[
    "q",
    "query",
    "queries",
    "querystring",
    "querytext",
    "expression",
    "expr",
    "code",
    "command",
    "commands",
    "template",
    "text",
    "body",
    "source",
    "program",
    "input",
    "document",
    "payload",
];
/// Languages whose statements can change something, as they are written in texts. Languages that only ask, such as
/// SOQL, JQL and PromQL, are other words.
const LANGUAGES: &[&str] = &[
    "SQL",
    "T-SQL",
    "PL/SQL",
    "PostgreSQL",
    "MySQL",
    "SQLite",
    "InfluxQL",
    "Flux",
    "Cypher",
    "GraphQL",
    "Gremlin",
    "SPARQL",
    "N1QL",
    "CQL",
    "HiveQL",
    "AQL",
    "SurrealQL",
    "JavaScript",
    "TypeScript",
    "Python",
    "Ruby",
    "Lua",
    "Groovy",
    "PHP",
    "Perl",
    "PowerShell",
    "Bash",
    "Apex",
    "Painless",
];

/// An argument that is a statement, and the language where one is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementArgument {
    /// Its names from the outside in, `body.query`.
    pub argument: String,
    pub language: Option<&'static str>,
}

/// The first argument of a schema that is a statement of a language that can change something. `text` is what is said of
/// the tool. An argument with `pattern`, `enum` or `const` is not one: there the schema says what is accepted.
pub fn statement_argument(input: &Value, text: &str) -> Option<StatementArgument> {
    let language = language(text);
    search(input, language, "", 0)
}

fn search(
    schema: &Value,
    language_of_tool: Option<&'static str>,
    outer: &str,
    depth: usize,
) -> Option<StatementArgument> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let argument = format!("{outer}{name}");
        let plain: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        let is = |names: &[&str]| names.contains(&plain.as_str());
        let said = property.get("description").and_then(Value::as_str);
        let of_argument = said.and_then(language);
        if is_free_text(property) {
            let named = is(NAMED_WITH_LANGUAGE);
            let found = if is(NAMES) {
                Some(of_argument.or(language_of_tool))
            } else if named && of_argument.is_some() {
                Some(of_argument)
            } else if named && depth == 0 && language_of_tool.is_some() {
                Some(language_of_tool)
            } else {
                None
            };
            if let Some(language) = found {
                return Some(StatementArgument { argument, language });
            }
        } else if depth < DEPTH_MAX {
            let inner = property.get("items").unwrap_or(property);
            let found = search(inner, language_of_tool, &format!("{argument}."), depth + 1);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// A string, or several, of which the schema accepts any.
fn is_free_text(property: &Value) -> bool {
    let bounded = |schema: &Map<String, Value>| {
        ["pattern", "enum", "const"]
            .iter()
            .any(|key| schema.contains_key(*key))
    };
    let is_text = |schema: &Value| {
        let kinds = schema.get("type");
        let text = kinds.is_some_and(|kinds| match kinds {
            Value::Array(kinds) => kinds.iter().any(|kind| kind == "string"),
            kind => kind == "string",
        });
        text && schema.as_object().is_some_and(|schema| !bounded(schema))
    };
    is_text(property) || property.get("items").is_some_and(is_text)
}

/// The language that a text names as a word of its own.
fn language(text: &str) -> Option<&'static str> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '|' | '_');
    LANGUAGES.iter().copied().find(|name| {
        text.match_indices(name).any(|(at, found)| {
            let before = text[..at].chars().next_back();
            let after = text[at + found.len()..].chars().next();
            !before.is_some_and(in_word) && !after.is_some_and(in_word)
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::statement_argument;

    fn found(properties: Value, text: &str) -> Option<String> {
        let schema = json!({"type": "object", "properties": properties});
        statement_argument(&schema, text).map(|found| found.argument)
    }

    fn text(description: &str) -> Value {
        json!({"type": "string", "description": description})
    }

    #[test]
    fn statements_are_known_by_their_name_or_their_language() {
        for (properties, of_tool, argument) in [
            (json!({"sql": text("")}), "", "sql"),
            (
                json!({"db": text("Name"), "rawSql": text("")}),
                "",
                "rawSql",
            ),
            (json!({"q": text("A statement of InfluxQL.")}), "", "q"),
            (json!({"q": text("The statement.")}), "Runs InfluxQL.", "q"),
            (json!({"query": text("A Cypher query")}), "", "query"),
            (
                json!({"query": text("The document")}),
                "Runs a GraphQL operation",
                "query",
            ),
            (json!({"code": text("Python to run")}), "", "code"),
            (json!({"command": text("Run by Bash")}), "", "command"),
            (
                json!({"statements": {"type": "array", "items": {"type": "string"}}}),
                "",
                "statements",
            ),
            (
                json!({"queries": {"type": "array", "items": {"type": "object", "properties": {"rawSql": text("")}}}}),
                "",
                "queries.rawSql",
            ),
            (json!({"sql": {"type": ["string", "null"]}}), "", "sql"),
        ] {
            let seen = found(properties.clone(), of_tool);
            assert_eq!(seen.as_deref(), Some(argument), "{properties} {of_tool}");
        }
    }

    #[test]
    fn words_filters_and_what_the_schema_bounds_are_not_statements() {
        for (properties, of_tool) in [
            (
                json!({"q": text("Words to search for")}),
                "Searches messages",
            ),
            (json!({"query": text("A SOQL query")}), "Runs SOQL"),
            (json!({"query": text("PromQL")}), "Runs a query"),
            (json!({"query": text("An ES|QL query")}), ""),
            (json!({"jql": text("Filter")}), ""),
            (json!({"code": text("Country, ISO 3166")}), ""),
            (json!({"name": text("SQL")}), ""),
            (
                json!({"sql": {"type": "string", "pattern": "^SHOW TABLES$"}}),
                "",
            ),
            (
                json!({"sql": {"type": "string", "enum": ["SHOW TABLES"]}}),
                "",
            ),
            (json!({"script": {"type": "boolean"}}), ""),
        ] {
            let seen = found(properties.clone(), of_tool);
            assert_eq!(seen, None, "{properties} {of_tool}");
        }
    }
}
