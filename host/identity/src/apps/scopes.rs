//! Which scopes follow from those that a client names. A client asks with words of other servers too: what it may
//! not have here is left out, and what it was given is in the answer (RFC 6749, section 3.3).

use super::APP_SCOPES;
use super::refusal::{AppProblem, RefusalCode, refused};
use crate::Scope;

/// Words of OpenID Connect (Core 1.0, sections 3.1.2.1, 5.4 and 11). They say nothing of tools: a request that names
/// only these is read as one that names no scope.
const IDENTITY: [&str; 6] = [
    "openid",
    "profile",
    "email",
    "address",
    "phone",
    "offline_access",
];
/// What a client is asked about that names only words which mean nothing here.
const LEAST: Scope = Scope::ToolsRead;

/// Everything that an app may ask for.
pub fn all_scopes() -> String {
    APP_SCOPES.map(<&str>::from).join(" ")
}

/// The scopes of all apps, as texts.
pub(super) fn every() -> Vec<String> {
    APP_SCOPES
        .map(|scope| <&str>::from(scope).to_owned())
        .into()
}

/// Those of `within` that `text` names; all of them where it names none.
///
/// # Errors
/// `invalid_scope` where none of what it names can be had.
pub(super) fn narrowed(text: Option<&str>, within: &[String]) -> Result<Vec<String>, AppProblem> {
    let words = text.unwrap_or_default().split_whitespace();
    let named: Vec<&str> = words.filter(|word| !IDENTITY.contains(word)).collect();
    if named.is_empty() {
        return Ok(within.to_vec());
    }
    let ours = |one: &&str| APP_SCOPES.iter().any(|scope| <&str>::from(*scope) == *one);
    let least = [<&str>::from(LEAST)];
    let wanted = match named.iter().any(ours) {
        true => &named[..],
        false => &least[..],
    };
    let kept = within
        .iter()
        .filter(|scope| wanted.contains(&scope.as_str()));
    let kept: Vec<String> = kept.cloned().collect();
    match kept.is_empty() {
        true => Err(none_left(within)),
        false => Ok(kept),
    }
}

/// As [`narrowed`], where there is no person who could be asked about something else.
///
/// # Errors
/// `invalid_scope` where none of what it names can be had.
pub(super) fn narrowed_exactly(
    text: Option<&str>,
    within: &[String],
) -> Result<Vec<String>, AppProblem> {
    let words = text.unwrap_or_default().split_whitespace();
    let mut named = words.filter(|word| !IDENTITY.contains(word)).peekable();
    let no_word = named.peek().is_none();
    if !no_word && !named.any(|word| within.iter().any(|scope| scope == word)) {
        return Err(none_left(within));
    }
    narrowed(text, within)
}

fn none_left(within: &[String]) -> AppProblem {
    let sentence = format!(
        "none of the scopes can be granted: use one or more of {}",
        within.join(" ")
    );
    refused(RefusalCode::InvalidScope, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, within: &str) -> Result<String, &'static str> {
        let within: Vec<String> = within.split(' ').map(str::to_owned).collect();
        match narrowed(Some(text), &within) {
            Ok(kept) => Ok(kept.join(" ")),
            Err(AppProblem::Refused { code, .. }) => Err(code.into_str()),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_cannot_be_had_is_left_out() {
        let all = all_scopes();
        for (text, expected) in [
            ("", all.as_str()),
            ("openid", &all),
            ("openid profile email", &all),
            ("offline_access phone address", &all),
            ("tools:read offline_access openid profile", "tools:read"),
            ("tools:read email", "tools:read"),
            ("skills:read tools:read", "tools:read skills:read"),
            ("tools:read admin", "tools:read"),
            ("tools:execute users:any mcp:connect", "tools:execute"),
            ("  tools:read   tools:read ", "tools:read"),
            ("claudeai", "tools:read"),
            ("https://www.example.com/auth/mcp", "tools:read"),
            ("admin", "tools:read"),
            ("TOOLS:READ", "tools:read"),
        ] {
            assert_eq!(of(text, &all).as_deref(), Ok(expected), "{text}");
        }
        // Of what was granted before.
        let granted = "tools:read skills:read";
        assert_eq!(
            of("tools:execute tools:read", granted).as_deref(),
            Ok("tools:read")
        );
        assert_eq!(of("openid", granted).as_deref(), Ok(granted));
        assert_eq!(of("tools:execute", granted), Err("invalid_scope"));
        assert_eq!(of("mcp", "tools:execute"), Err("invalid_scope"));
    }

    #[test]
    fn a_machine_gets_what_it_names_and_nothing_in_its_place() {
        let within = ["tools:read".to_owned(), "tools:execute".to_owned()];
        let of = |text: &str| narrowed_exactly(Some(text), &within).map(|kept| kept.join(" "));
        for (text, expected) in [
            ("openid", "tools:read tools:execute"),
            ("", "tools:read tools:execute"),
            ("tools:read admin openid", "tools:read"),
            ("skills:write tools:execute", "tools:execute"),
        ] {
            assert_eq!(of(text).unwrap(), expected, "{text}");
        }
        for none in ["admin", "skills:read", "mcp openid"] {
            assert!(of(none).is_err(), "{none}");
        }
    }
}
