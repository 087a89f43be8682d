//! Asked, granted and needed scopes are three things.
//!
//! Pure. A provider grants what the user agreed to, which may be less than was asked for, and names it in the token
//! answer, in the query of the callback or in a refresh. Some name it in words of their own, or leave out what a wider
//! scope contains. Where that cannot be distinguished from a refusal the call is sent, and the provider's own answer decides.

/// Scopes of the sign-in itself, which providers seldom repeat and no tool needs.
const OF_THE_SIGN_IN: [&str; 6] = [
    "email",
    "offline",
    "offline_access",
    "openid",
    "profile",
    "refresh_token",
];
/// A scope that ends, or begins, with the first word contains those with the second one.
const WIDER: [(&str, &str); 8] = [
    ("admin", "read"),
    ("admin", "write"),
    ("manage", "read"),
    ("manage", "write"),
    ("readwrite", "read"),
    ("write", "read"),
    ("all", "read"),
    ("full", "read"),
];
/// Between the words of a scope.
const SEPARATORS: [char; 4] = [':', '.', '_', '/'];

/// The scopes of a connection: those that were granted, and of those that were asked for what is contained in them.
/// `granted`: absent where the provider does not say, which means all (RFC 6749, section 5.1).
pub(super) fn believed(asked: &[String], granted: Option<Vec<String>>) -> Vec<String> {
    let Some(granted) = granted else {
        return asked.to_vec();
    };
    // A provider that repeats none of the words it was asked with names its rights in others.
    let own_words = !asked.iter().any(|scope| has(&granted, scope));
    let kept = |scope: &&String| own_words || has(&granted, scope);
    let mut scopes: Vec<String> = asked.iter().filter(kept).cloned().collect();
    for scope in granted {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// What was asked for or granted, without repetition.
pub(super) fn union(first: &[String], more: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all = first.to_vec();
    for scope in more {
        if !all.contains(&scope) {
            all.push(scope);
        }
    }
    all
}

/// The scopes of `needed` that a connection with the scopes `granted` lacks.
pub(super) fn lacking<'a>(granted: &[String], needed: &'a [String]) -> Vec<&'a String> {
    let lacks = |scope: &&String| !has(granted, scope);
    needed.iter().filter(lacks).collect()
}

fn has(granted: &[String], scope: &str) -> bool {
    OF_THE_SIGN_IN.contains(&scope) || granted.iter().any(|one| contains(one, scope))
}

fn contains(granted: &str, scope: &str) -> bool {
    let granted = plain(granted);
    let scope = plain(scope);
    if granted == scope {
        return true;
    }
    // `https://mail.example.com/Mail.Read` and `Mail.Read`.
    let behind = |long: &str, short: &str| {
        !short.contains('/') && long.starts_with("https://") && long.ends_with(&format!("/{short}"))
    };
    if behind(&granted, &scope) || behind(&scope, &granted) {
        return true;
    }
    // `repo` and `repo:status`, `drive` and `drive.readonly`.
    if let Some(rest) = scope.strip_prefix(granted.as_str())
        && rest.starts_with(SEPARATORS)
    {
        return true;
    }
    WIDER.iter().any(|(wide, narrow)| {
        let swapped = |one: &str, other: &str| {
            let pairs = one.match_indices(wide);
            pairs.into_iter().any(|(at, _)| {
                let (before, after) = (&one[..at], &one[at + wide.len()..]);
                let alone = before.is_empty() || before.ends_with(SEPARATORS);
                let ends = after.is_empty() || after.starts_with(SEPARATORS);
                alone && ends && other == format!("{before}{narrow}{after}")
            })
        };
        swapped(&granted, &scope)
    })
}

fn plain(scope: &str) -> String {
    scope.trim_end_matches('/').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_connection_has_what_was_granted() {
        const GMAIL: &str = "https://www.googleapis.com/auth/gmail";
        for (asked, granted, expected) in [
            ("repo read:user", None, "repo read:user"),
            ("repo read:user", Some("read:user"), "read:user"),
            (
                "read:user repo",
                Some("repo read:user gist"),
                "read:user repo gist",
            ),
            (
                &*format!("openid {GMAIL}.readonly {GMAIL}.send"),
                Some(&*format!("{GMAIL}.readonly openid")),
                &*format!("openid {GMAIL}.readonly"),
            ),
            // GitHub leaves out what a wider scope contains.
            (
                "user user:email gist",
                Some("user gist"),
                "user user:email gist",
            ),
            // Shopify names the writing half alone.
            (
                "read_orders write_orders",
                Some("write_orders"),
                "read_orders write_orders",
            ),
            (
                "read_orders write_orders",
                Some("read_orders"),
                "read_orders",
            ),
            // Microsoft names the resource, or does not.
            (
                "offline_access User.Read Mail.Send",
                Some("https://graph.microsoft.com/User.Read"),
                "offline_access User.Read https://graph.microsoft.com/User.Read",
            ),
            // Strava's boxes on the page.
            ("read activity:read_all", Some("read"), "read"),
            // Words of its own say nothing of those that were asked.
            ("data:read", Some("all-data"), "data:read all-data"),
        ] {
            let found = believed(&list(asked), granted.map(list));
            assert_eq!(found, list(expected), "{asked} {granted:?}");
        }
    }

    #[test]
    fn a_wider_scope_contains_a_narrower_one_and_not_the_other_way() {
        for (wide, narrow) in [
            ("repo", "repo:status"),
            ("admin:org", "read:org"),
            ("write:packages", "read:packages"),
            ("Mail.ReadWrite", "Mail.Read"),
            (
                "https://www.googleapis.com/auth/drive",
                "https://www.googleapis.com/auth/drive.readonly",
            ),
            ("write_products", "read_products"),
            ("tasks:write", "tasks:read"),
        ] {
            assert!(
                lacking(&list(wide), &list(narrow)).is_empty(),
                "{wide} {narrow}"
            );
            assert_eq!(
                lacking(&list(narrow), &list(wide)).len(),
                1,
                "{narrow} {wide}"
            );
        }
        for (granted, needed) in [
            ("gmail.readonly", "gmail.send"),
            ("chat:read", "chat:write"),
            ("repo", "repository"),
            ("Mail.Read", "Mail.Send"),
        ] {
            assert_eq!(
                lacking(&list(granted), &list(needed)).len(),
                1,
                "{granted} {needed}"
            );
        }
    }
}
