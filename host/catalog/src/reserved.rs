//! Names that belong to the gateway itself: no service has one of them, or begins with one and an underscore.
//!
//! A tool's name begins with its service's. What the gateway lists beside the tools of plugins, or answers under an
//! address, has names that begin with these words, so no plugin's tool can take the place of one.

/// What the tools of the MCP endpoint begin with.
pub const SVC: &str = "svc";
/// What a Skill begins with in the list of a toolset.
pub const SKILL: &str = "skill";
/// What the gateway's further tools begin with, such as `toolgate_read_result`.
pub const TOOLGATE: &str = "toolgate";

/// The one list.
pub const RESERVED: [&str; 22] = [
    SVC, SKILL, TOOLGATE, "skills", // First segments of the gateway's own addresses.
    "auth", "connect", "docs", "healthz", "hooks", "internal", "mcp", "metrics", "oauth", "readyz",
    "v1",
    // Who acts in receipts and the audit log, and whose values are asked for.
    "gateway", "host", "operator", "script", "scripts", "system", "toolset",
];

/// Whether a name is the gateway's: of a service, or of a tool.
pub fn is_reserved(name: &str) -> bool {
    // Also without an underscore: `toolgates` reads like the gateway's own.
    name.starts_with(TOOLGATE)
        || RESERVED.iter().any(|word| {
            name.strip_prefix(word)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
}

/// Whether a prefix is this word and an underscore, for the places that build names from one.
pub const fn begins_with_word(prefix: &str, word: &str) -> bool {
    let (prefix, word) = (prefix.as_bytes(), word.as_bytes());
    if prefix.len() != word.len() + 1 || prefix[word.len()] != b'_' {
        return false;
    }
    let mut at = 0;
    while at < word.len() {
        if prefix[at] != word[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_reserved_alone_and_as_the_beginning_of_a_name() {
        for word in RESERVED {
            for (name, reserved) in [
                (word.to_owned(), true),
                (format!("{word}_deploy"), true),
                (format!("my_{word}"), false),
                (format!("{word}x"), word == TOOLGATE),
            ] {
                assert_eq!(is_reserved(&name), reserved, "{name}");
            }
        }
        for service in [
            "auth0",
            "github",
            "hostinger",
            "skilljar",
            "systeme",
            "mcpx",
            "scripted",
        ] {
            assert!(!is_reserved(service), "{service}");
        }
    }
}
