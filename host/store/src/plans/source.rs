//! The statements of this crate's source, as its macros put them together.

use std::collections::HashMap;
use std::path::Path;

#[derive(Clone, Debug, PartialEq)]
enum SourceToken {
    /// What a literal says.
    Text(String),
    /// A name, with the exclamation mark of a macro.
    Word(String),
    Mark(char),
}

/// The patterns and bodies of a macro.
type Arms = Vec<(Vec<SourceToken>, Vec<SourceToken>)>;
type Macros = HashMap<String, Arms>;

/// The text of the literal whose quotation mark has just been read, and the code behind it.
fn literal(code: &str) -> (String, &str) {
    let mut text = String::new();
    let mut left = code.chars();
    while let Some(next) = left.next() {
        match next {
            '"' => break,
            '\\' => match left.next() {
                Some('\n') => left = left.as_str().trim_start().chars(),
                Some(escaped) => text.push(escaped),
                None => break,
            },
            plain => text.push(plain),
        }
    }
    (text, left.as_str())
}

fn tokens(code: &str) -> Vec<SourceToken> {
    let (mut found, mut rest) = (Vec::new(), code);
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, next)| next);
        } else if first == '"' {
            let (text, next) = literal(&rest[1..]);
            found.push(SourceToken::Text(text));
            rest = next;
        } else if ["'\"'", "'('", "')'", "'{'", "'}'"]
            .iter()
            .any(|quoted| rest.starts_with(quoted))
        {
            rest = &rest[3..];
        } else if is_name(first) {
            let mut end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            end += usize::from(rest[end..].starts_with('!') && !rest[end..].starts_with("!="));
            found.push(SourceToken::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        } else {
            if !first.is_whitespace() {
                found.push(SourceToken::Mark(first));
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

/// What is between the bracket that these begin with and the one that closes it.
fn group(tokens: &[SourceToken]) -> Option<&[SourceToken]> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            SourceToken::Mark('(' | '{' | '[') => depth += 1,
            SourceToken::Mark(')' | '}' | ']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then(|| &tokens[1..at]);
        }
    }
    None
}

fn arguments(tokens: &[SourceToken]) -> Vec<Vec<SourceToken>> {
    let (mut all, mut depth) = (vec![Vec::new()], 0);
    for token in tokens {
        match token {
            SourceToken::Mark('(' | '{' | '[') => depth += 1,
            SourceToken::Mark(')' | '}' | ']') => depth -= 1,
            _ => {}
        }
        match all.last_mut() {
            Some(last) if depth > 0 || *token != SourceToken::Mark(',') => last.push(token.clone()),
            _ => all.push(Vec::new()),
        }
    }
    all.retain(|argument| !argument.is_empty());
    all
}

fn define(tokens: &[SourceToken], macros: &mut Macros) {
    for (at, three) in tokens.windows(2).enumerate() {
        let [SourceToken::Word(word), SourceToken::Word(name)] = three else {
            continue;
        };
        let Some(mut rest) = (word == "macro_rules!")
            .then(|| group(&tokens[at + 2..]))
            .flatten()
        else {
            continue;
        };
        let mut arms = Vec::new();
        while let Some(pattern) = group(rest) {
            // The pattern's brackets and the arrow.
            let behind = rest.get(pattern.len() + 4..).unwrap_or_default();
            let Some(body) = group(behind) else { break };
            arms.push((pattern.to_vec(), body.to_vec()));
            // The body's brackets and the semicolon.
            rest = behind.get(body.len() + 3..).unwrap_or_default();
        }
        macros.insert(name.clone(), arms);
    }
}

/// The tokens with the value of `$name` put in.
fn filled_in(
    tokens: &[SourceToken],
    values: &HashMap<&str, &Vec<SourceToken>>,
) -> Vec<SourceToken> {
    let (mut filled, mut at) = (Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        let value = match (token, tokens.get(at + 1)) {
            (SourceToken::Mark('$'), Some(SourceToken::Word(name))) => values.get(name.as_str()),
            _ => None,
        };
        match value {
            Some(value) => filled.extend_from_slice(value),
            None => filled.push(token.clone()),
        }
        at += if value.is_some() { 2 } else { 1 };
    }
    filled
}

/// The text that an expression is, where it is made of literals alone.
fn text(tokens: &[SourceToken], macros: &Macros) -> Option<String> {
    if let [SourceToken::Text(text)] = tokens {
        return Some(text.clone());
    }
    let at = tokens
        .iter()
        .position(|token| matches!(token, SourceToken::Word(word) if word.ends_with('!')))?;
    let is_path = |token: &SourceToken| {
        matches!(
            token,
            SourceToken::Word(_) | SourceToken::Mark(':') | SourceToken::Mark('$')
        )
    };
    let inside = group(&tokens[at + 1..])?;
    let SourceToken::Word(name) = &tokens[at] else {
        return None;
    };
    if !tokens[..at].iter().all(is_path) || tokens.len() != at + inside.len() + 3 {
        return None;
    }
    let given = arguments(inside);
    match name.trim_end_matches('!') {
        "concat" => given.iter().map(|one| text(one, macros)).collect(),
        "stringify" => match inside {
            [SourceToken::Word(word)] => Some(word.clone()),
            _ => None,
        },
        name => macros.get(name)?.iter().find_map(|(pattern, body)| {
            let wanted = arguments(pattern);
            let mut values = HashMap::new();
            let fits = wanted.len() == given.len()
                && wanted
                    .iter()
                    .zip(&given)
                    .all(|(want, have)| match &want[..] {
                        [SourceToken::Mark('$'), SourceToken::Word(name), ..] => {
                            values.insert(name.as_str(), have);
                            true
                        }
                        exact => exact == have,
                    });
            fits.then(|| text(&filled_in(body, &values), macros))?
        }),
    }
}

fn is_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(&first)
}

fn collect(tokens: &[SourceToken], macros: &Macros, found: &mut Vec<String>) {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let end = match token {
            SourceToken::Word(word) if word.ends_with('!') => {
                group(&tokens[at + 1..]).map_or(at, |inside| at + inside.len() + 2)
            }
            _ => at,
        };
        match text(&tokens[at..=end], macros) {
            Some(statement) if is_statement(&statement) => {
                found.push(statement);
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
}

fn files(folder: &Path, found: &mut Vec<Vec<SourceToken>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The tests of plans have statements of their own.
        if path.is_dir() && !path.ends_with("plans") {
            files(&path, found);
        } else if path.is_file() && !path.ends_with("plans.rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            found.push(tokens(
                source.split("#[cfg(test)]").next().unwrap_or_default(),
            ));
        }
    }
}

/// What the literals and macros of the crate's source say that begins as a statement; some are only a
/// part of one.
pub(super) fn statements() -> Vec<String> {
    let (mut all, mut shared) = (Vec::new(), Macros::new());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    files(&source, &mut all);
    all.iter().for_each(|tokens| define(tokens, &mut shared));
    let mut found = Vec::new();
    for tokens in &all {
        // Names of macros are a file's own.
        let mut macros = shared.clone();
        define(tokens, &mut macros);
        collect(tokens, &macros, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn a_statement_is_read_through_the_macros_that_make_it() {
    let code = r#"macro_rules! page { ($f:literal) => { concat!(select!(t, "WHERE a = $1"), $f, " LIMIT $2") }; }
        macro_rules! select { ($t:ident, $r:literal) => { concat!("SELECT b FROM ", stringify!($t), " ", $r) }; }
        fn one() { let s = page!(" AND c = $3"); other(s, "DELETE \
            FROM t"); }"#;
    let (code, mut macros, mut found) = (tokens(code), Macros::new(), Vec::new());
    define(&code, &mut macros);
    collect(&code, &macros, &mut found);
    let whole = "SELECT b FROM t WHERE a = $1 AND c = $3 LIMIT $2";
    assert!(found.iter().any(|one| one == whole), "{found:?}");
    assert!(found.iter().any(|one| one == "DELETE FROM t"), "{found:?}");
}
