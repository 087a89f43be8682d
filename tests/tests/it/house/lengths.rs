//! A function of the program fits a screen. Tests are left out: a table of cases may be long.

use super::sources;

/// Lines of a function, with its signature and its closing brace.
const FUNCTION_LINES_MAX: usize = 80;

/// Where a function begins: its indentation and its name.
fn begins(line: &str) -> Option<(&str, &str)> {
    let code = line.trim_start();
    let indentation = &line[..line.len() - code.len()];
    let mut words = code.split(' ').skip_while(|word| {
        matches!(*word, "const" | "async" | "unsafe") || word.starts_with("pub")
    });
    if words.next() != Some("fn") || line.ends_with(';') {
        return None;
    }
    let name = words.next()?.split(['(', '<']).next()?;
    Some((indentation, name))
}

/// The functions of a source that are longer than `lines_max`, with their lines.
fn long_functions(text: &str, lines_max: usize) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut long = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((indentation, name)) = begins(line) else {
            continue;
        };
        let end = format!("{indentation}}}");
        let length = lines[at..].iter().position(|line| **line == end);
        if let Some(length) = length.map(|last| last + 1)
            && length > lines_max
        {
            long.push((name.to_owned(), length));
        }
    }
    long
}

fn is_test(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.contains("/tests/")
}

#[test]
fn functions_fit_a_screen() {
    let mut long = Vec::new();
    for (name, text) in sources().into_iter().filter(|(name, _)| !is_test(name)) {
        let program = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for (function, lines) in long_functions(program, FUNCTION_LINES_MAX) {
            long.push(format!("{name}: {function} has {lines} lines"));
        }
    }
    assert_eq!(long, [""; 0]);
}

#[test]
fn a_long_function_is_found_and_a_short_one_is_not() {
    let text = "impl A {\n    pub(crate) async fn long<T>(&self) {\n        a();\n        b();\n    }\n\n    \
        fn short() {\n        a();\n    }\n}\n";
    assert_eq!(long_functions(text, 3), [("long".to_owned(), 4)]);
    assert_eq!(long_functions(text, 4), []);
}
