//! Names and texts derived from what a description says.

/// Longest name of a service that is made from a title, in characters; a name that is set may have 40.
const SERVICE_CHARS_MAX: usize = 24;
/// Names that are one word, although they have capitals inside.
const ONE_WORD: [(&str, &str); 24] = [
    ("BigQuery", "Bigquery"),
    ("BitBucket", "Bitbucket"),
    ("ClickUp", "Clickup"),
    ("CloudFlare", "Cloudflare"),
    ("DropBox", "Dropbox"),
    ("FaceBook", "Facebook"),
    ("GitHub", "Github"),
    ("GitLab", "Gitlab"),
    ("GraphQL", "Graphql"),
    ("HubSpot", "Hubspot"),
    ("JavaScript", "Javascript"),
    ("LinkedIn", "Linkedin"),
    ("MailChimp", "Mailchimp"),
    ("MySQL", "Mysql"),
    ("OAuth", "Oauth"),
    ("OpenAPI", "Openapi"),
    ("PayPal", "Paypal"),
    ("PostgreSQL", "Postgresql"),
    ("TikTok", "Tiktok"),
    ("TypeScript", "Typescript"),
    ("WebSocket", "Websocket"),
    ("WhatsApp", "Whatsapp"),
    ("WordPress", "Wordpress"),
    ("YouTube", "Youtube"),
];

/// `listPullRequests`, `List Pull-Requests` and `list/pull-requests` as `list_pull_requests`.
pub fn snake(text: &str) -> String {
    let mut out = String::new();
    let mut text = text.to_owned();
    for (name, word) in ONE_WORD {
        // At the beginning of `gitHubRepos` the first letter is small.
        let (first, rest) = name.split_at(1);
        let small = format!("{}{rest}", first.to_ascii_lowercase());
        if let Some(after) = text.strip_prefix(&small) {
            text = format!("{word}{after}");
        }
        if text.contains(name) {
            text = text.replace(name, word);
        }
    }
    let chars: Vec<char> = text.chars().collect();
    for (index, &c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            continue;
        }
        let before = index.checked_sub(1).map(|i| chars[i]);
        let after = chars.get(index + 1);
        let starts_word = c.is_ascii_uppercase()
            && before.is_some_and(|b| {
                b.is_ascii_lowercase()
                    || b.is_ascii_digit()
                    || (b.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if starts_word && !out.ends_with('_') {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    let mut out = out.trim_matches('_').to_owned();
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert_str(0, "n_");
    }
    out
}

/// A service name from a title.
pub fn service(title: &str) -> String {
    let name = snake(title);
    let words: Vec<&str> = name
        .split('_')
        .filter(|word| !matches!(*word, "api" | "the" | "rest" | "openapi" | "swagger"))
        .collect();
    let name = if words.is_empty() {
        name.clone()
    } else {
        words.join("_")
    };
    let name = shorten(&name, SERVICE_CHARS_MAX);
    match name.as_str() {
        "" => "service".to_owned(),
        name if name.starts_with(|c: char| c.is_ascii_lowercase()) => name.to_owned(),
        name => format!("n_{name}"),
    }
}

/// Cuts between words where that is possible.
pub fn shorten(name: &str, chars_max: usize) -> String {
    if name.len() <= chars_max {
        return name.to_owned();
    }
    let cut = &name[..chars_max];
    let cut = match cut.rfind('_') {
        Some(end) if end > chars_max / 2 && !name[chars_max..].starts_with('_') => &cut[..end],
        _ => cut,
    };
    cut.trim_matches('_').to_owned()
}

/// The same name with a number, within the same length.
pub fn numbered(name: &str, number: usize, chars_max: usize) -> String {
    let tail = format!("_{number}");
    format!("{}{tail}", shorten(name, chars_max - tail.len()))
}

/// An argument's name: the characters of the provider's name that all models accept.
pub fn argument(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    let out: String = out
        .trim_matches(|c| matches!(c, '_' | '-' | '.'))
        .chars()
        .take(64)
        .collect();
    if out.is_empty() {
        "value".to_owned()
    } else {
        out
    }
}

/// A text that a reader sees whole: no invisible characters, white space folded, at most
/// `chars_max` characters and cut at a sentence or word.
pub fn clean(text: &str, chars_max: usize) -> String {
    let mut out = String::new();
    let mut blank = true;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            if !blank {
                out.push(' ');
                blank = true;
            }
        } else if !toolgate_core::visible::is_hidden(c) {
            out.push(c);
            blank = false;
        }
    }
    let out = out.trim_end();
    let Some((end, _)) = out.char_indices().nth(chars_max) else {
        return out.to_owned();
    };
    let cut = &out[..end];
    if let Some(stop) = cut.rfind(". ").filter(|stop| *stop > end / 2) {
        return cut[..=stop].to_owned();
    }
    let word = cut
        .rfind(' ')
        .filter(|space| *space > end / 2)
        .unwrap_or(end);
    let mut short = cut[..word].trim_end().to_owned();
    while short.chars().count() + 3 > chars_max {
        if short.pop().is_none() {
            // The dots do not fit either.
            return cut.to_owned();
        }
    }
    format!("{short}...")
}

/// [`clean`] of a text that may have HTML in it.
pub fn prose(text: &str, chars_max: usize) -> String {
    clean(&crate::html::drop(text), chars_max)
}

/// `first_name` as `First name`.
pub fn title(name: &str) -> String {
    let words = snake(name).replace('_', " ");
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => format!("{}{}", first.to_ascii_uppercase(), chars.as_str()),
        None => name.to_owned(),
    }
}

/// A semantic version from any text in `info.version`.
pub fn version(text: &str) -> String {
    if semver::Version::parse(text).is_ok() {
        return text.to_owned();
    }
    let numbers: Vec<u64> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .filter_map(|part| part.parse().ok())
        .take(3)
        .collect();
    let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
    if numbers.is_empty() {
        "1.0.0".to_owned()
    } else {
        format!("{}.{}.{}", at(0), at(1), at(2))
    }
}

#[cfg(test)]
mod tests {
    use super::{argument, clean, prose, service, shorten, snake, version};

    #[test]
    fn names_become_lowercase_words() {
        for (from, to) in [
            ("listPullRequests", "list_pull_requests"),
            ("getHTTPStatus", "get_http_status"),
            ("repos/list-for-user", "repos_list_for_user"),
            ("2faEnable", "n_2fa_enable"),
            ("__x__", "x"),
            ("Größe ändern", "gr_e_ndern"),
            ("GitHub", "github"),
            ("listGitHubRepos", "list_github_repos"),
            ("gitHubRepos", "github_repos"),
            ("getOAuthToken", "get_oauth_token"),
        ] {
            assert_eq!(snake(from), to, "{from}");
        }
        assert_eq!(service("The Notion API"), "notion");
        assert_eq!(service("API"), "api");
        assert_eq!(service("日本"), "service");
        assert_eq!(service("GitHub v3 REST API"), "github_v3");
        assert_eq!(shorten("abc_def", 5), "abc");
    }

    #[test]
    fn arguments_keep_their_names_where_models_accept_them() {
        for (from, to) in [
            ("page[size]", "page_size"),
            ("$top", "top"),
            ("X-Id", "X-Id"),
            ("a.b", "a.b"),
            ("[]", "value"),
        ] {
            assert_eq!(argument(from), to);
        }
    }

    #[test]
    fn texts_are_folded_cut_and_hide_nothing() {
        assert_eq!(clean(" a\n\n b\u{200b}\u{202e}c ", 50), "a bc");
        assert_eq!(clean("One thing. Another thing.", 15), "One thing.");
        assert_eq!(clean("one two three four", 12), "one two...");
        assert_eq!(clean(&"x".repeat(50), 10).chars().count(), 10);
        assert_eq!(clean("abcdef", 2), "ab");
        assert_eq!(clean("abcdef", 0), "");
        assert_eq!(
            prose("<p>One</p><p>two &amp; <id></p>", 50),
            "One two & <id>"
        );
    }

    #[test]
    fn versions_become_semantic() {
        for (from, to) in [
            ("1.2.3", "1.2.3"),
            ("v3", "3.0.0"),
            ("2021-01-07", "2021.1.7"),
            ("beta", "1.0.0"),
            ("", "1.0.0"),
        ] {
            assert_eq!(version(from), to);
        }
    }
}
