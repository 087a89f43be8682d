//! How a script names tools: `github.createIssue` for `github_create_issue`.

/// Words of JavaScript that no global of a script can have for its name.
const WORDS: &[&str] = &[
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// The gateway's own globals of a script.
const GLOBALS: &[&str] = &[
    "args", "console", "describe", "log", "progress", "search", "skills", "sleep", "tools",
];

/// `createIssue` for `github_create_issue` of service `github`. `tool` is the whole name.
pub fn script_function(service: &str, tool: &str) -> String {
    let mut name = String::with_capacity(tool.len());
    let mut words = action(service, tool)
        .split('_')
        .filter(|word| !word.is_empty());
    name.push_str(words.next().unwrap_or_default());
    for word in words {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        name.extend(first.chars().flat_map(char::to_uppercase));
        name.push_str(rest);
    }
    name
}

/// Whether `function` (camel case, or the tool's name without its service, or its whole name) is `tool`.
pub fn is_script_function(service: &str, tool: &str, function: &str) -> bool {
    !function.is_empty()
        && (function == tool
            || function == action(service, tool)
            || function == script_function(service, tool))
}

/// Which of a service's `tools` (whole names) `function` is. A tool's own name goes first; two tools whose names in
/// camel case are the same, such as `get_2fa` and `get2fa`, have only their own names.
pub fn find_script_function<'a>(
    service: &str,
    tools: impl IntoIterator<Item = &'a str>,
    function: &str,
) -> Option<&'a str> {
    let mut found = None;
    let mut more = false;
    for tool in tools {
        if function == tool || function == action(service, tool) {
            return Some(tool);
        }
        if function == script_function(service, tool) {
            more = found.is_some();
            found = Some(tool);
        }
    }
    found.filter(|_| !more)
}

/// Whether a service is a global of scripts too, and not only a member of `tools`.
pub fn is_script_global(service: &str) -> bool {
    is_identifier(service) && !WORDS.contains(&service) && !GLOBALS.contains(&service)
}

/// Whether a name needs no quotes as a member of an object. Of ASCII, for which every reader of JavaScript agrees.
pub(crate) fn is_identifier(name: &str) -> bool {
    let may = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    name.bytes().all(may)
        && name
            .bytes()
            .next()
            .is_some_and(|byte| !byte.is_ascii_digit())
}

/// The tool's name without its service.
fn action<'a>(service: &str, tool: &'a str) -> &'a str {
    tool.strip_prefix(service)
        .and_then(|rest| rest.strip_prefix('_'))
        .filter(|action| !action.is_empty())
        .unwrap_or(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_a_function_in_camel_case() {
        for (service, tool, function) in [
            ("github", "github_create_issue", "createIssue"),
            ("github", "create_issue", "createIssue"),
            ("google_drive", "google_drive_list", "list"),
            ("google", "google_drive_list", "driveList"),
            ("okta", "okta_get_2fa_of_user", "get2faOfUser"),
            ("n8n", "n8n_n8n_status", "n8nStatus"),
            ("x", "x__odd__name_", "oddName"),
            ("x", "x_", "x"),
            ("x", "xy_z", "xyZ"),
            ("x", "", ""),
            ("x", "x_\u{df}a_\u{e9}t\u{e9}", "\u{df}a\u{c9}t\u{e9}"),
        ] {
            assert_eq!(script_function(service, tool), function, "{tool}");
        }
    }

    #[test]
    fn a_function_is_found_by_each_of_its_names_and_by_no_other() {
        for (function, is) in [
            ("createIssue", true),
            ("create_issue", true),
            ("github_create_issue", true),
            ("CreateIssue", false),
            ("createissue", false),
            ("githubCreateIssue", false),
            ("create", false),
            ("__proto__", false),
            ("constructor", false),
            ("", false),
        ] {
            let found = is_script_function("github", "github_create_issue", function);
            assert_eq!(found, is, "{function}");
        }
        assert!(!is_script_function("x", "", ""));
    }

    #[test]
    fn two_tools_of_one_camel_case_are_told_apart_by_their_own_names() {
        let tools = ["o_get2fa", "o_get_2fa", "o_list"];
        for (function, found) in [
            ("list", Some("o_list")),
            ("o_list", Some("o_list")),
            ("get_2fa", Some("o_get_2fa")),
            ("get2fa", Some("o_get2fa")),
            ("delete", None),
        ] {
            assert_eq!(
                find_script_function("o", tools, function),
                found,
                "{function}"
            );
        }
        let tools = ["o_a__b", "o_a_b"];
        assert_eq!(find_script_function("o", tools, "aB"), None);
    }

    #[test]
    fn a_service_is_a_global_unless_the_language_or_the_gateway_has_its_name() {
        for service in ["github", "google_drive", "n8n", "line", "close", "of"] {
            assert!(is_script_global(service), "{service}");
        }
        for word in WORDS.iter().chain(GLOBALS) {
            assert!(!is_script_global(word), "{word}");
        }
        for odd in ["", "1a", "a-b", "a b", "caf\u{e9}"] {
            assert!(!is_script_global(odd), "{odd}");
        }
    }
}
