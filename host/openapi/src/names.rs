//! Names of tools: from the operation id where it describes the operation, else a verb and a resource.

use std::collections::BTreeSet;

use crate::words::{self, shorten, snake};

/// Longest `<service>_<action>` that is made here, in characters: clients allow 64 with the server's name in front.
pub const DERIVED_NAME_CHARS_MAX: usize = 50;
/// Characters for the actions of a service whose name is long.
const ACTION_CHARS_MIN: usize = 20;

/// Longest action of a service.
pub fn action_chars_max(service: &str) -> usize {
    let left = DERIVED_NAME_CHARS_MAX.saturating_sub(1 + service.len());
    left.max(ACTION_CHARS_MIN)
}

/// The facts from which a tool gets its name.
pub struct NamedOperation<'a> {
    pub service: &'a str,
    pub id: Option<&'a str>,
    /// In lower case.
    pub method: &'a str,
    pub path: &'a str,
    /// The path has a PATCH, too.
    pub patched: bool,
}

/// The tool's name without the service.
pub fn tool(operation: &NamedOperation<'_>) -> String {
    let said = operation
        .id
        .and_then(|id| said_by(id, operation.method, operation.path));
    match said {
        Some(id) => from_id(id, operation.service),
        None => from_path(operation),
    }
}

/// Gives every tool a name of its own: later ones get a number.
pub fn tell_apart<'n>(names: impl Iterator<Item = &'n mut String>, service: &str) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for name in names {
        if name.is_empty() {
            "call".clone_into(name);
        }
        let base = name.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            *name = words::numbered(&base, number, action_chars_max(service));
            number += 1;
        }
    }
}

/// An operation id in snake_case, without the service's name in front.
fn from_id(id: &str, service: &str) -> String {
    let name = snake(id);
    let own = name
        .strip_prefix(service)
        .and_then(|rest| rest.strip_prefix('_'))
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    let name = own.unwrap_or(&name);
    let chars_max = action_chars_max(service);
    if name.len() <= chars_max {
        return name.to_owned();
    }
    // `projects.locations.keyRings.create`, `VirtualMachines_CreateOrUpdate`: the verb is at the end.
    let grouped = id.contains(['.', '/']) || id.contains(char::is_uppercase);
    let mut groups: Vec<String> = id
        .split(['.', '/', '_'])
        .map(snake)
        .filter(|group| !group.is_empty())
        .collect();
    let Some(action) = groups.pop().filter(|_| grouped && !groups.is_empty()) else {
        return shorten(name, chars_max);
    };
    let left = chars_max.saturating_sub(action.len() + 1);
    while groups.len() > 1 && groups.join("_").len() > left {
        groups.remove(0);
    }
    let resource = shorten(&groups.join("_"), left);
    shorten(&format!("{resource}_{action}"), chars_max)
}

/// Words that do not describe an operation, alone or together.
const EMPTY_WORDS: [&str; 12] = [
    "api",
    "rest",
    "operation",
    "op",
    "method",
    "endpoint",
    "handler",
    "route",
    "call",
    "request",
    "action",
    "id",
];
const METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

/// `v2`, `v1_0`, `n_2` and the day of a version, `n_2010_04_01`.
fn is_version(words: &str) -> bool {
    let number = words.strip_prefix("n_").or(words.strip_prefix('v'));
    let number = number.unwrap_or(words);
    number.starts_with(|c: char| c.is_ascii_digit())
        && number.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// Whether a part of a name is a word, and not a number, version or hash.
fn is_word(word: &str) -> bool {
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let hash = word.len() >= 8
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit());
    letters >= 2 && !hash && !is_version(word)
}

fn says_something(id: &str) -> bool {
    let words: Vec<&str> = id
        .split('_')
        .filter(|word| is_word(word))
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .collect();
    let says = words.iter().any(|word| !EMPTY_WORDS.contains(word));
    says && !matches!(words.as_slice(), [word] if METHODS.contains(word))
}

/// The words of an operation id, without the path and method that some frameworks append. `None` where they do not
/// describe the operation, or only repeat method and path with their parameters and versions.
fn said_by<'a>(id: &'a str, method: &str, path: &str) -> Option<&'a str> {
    let whole = snake(&path.replace(['{', '}'], "_"));
    // FastAPI: `read_item_items__item_id__get`.
    let written = path.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let head = id.strip_suffix(&format!("{written}_{method}"));
    let id = head.filter(|head| !head.is_empty()).unwrap_or(id);
    let words = snake(id);
    let repeated = [
        format!("{method}_{whole}"),
        format!("{whole}_{method}"),
        whole.clone(),
    ];
    // A shorter name comes out where there is more than a resource in the path, and a resource.
    let more = path.contains('{')
        || whole
            .split('_')
            .any(|word| word == "api" || is_version(word));
    let resource = path
        .split('/')
        .any(|part| !part.is_empty() && !part.contains('{'));
    let repeats = more && resource && repeated.contains(&words);
    (!repeats && says_something(&words)).then_some(id)
}

/// Nouns of paths that follow no rule.
const IRREGULAR: [(&str, &str); 9] = [
    ("aliases", "alias"),
    ("caches", "cache"),
    ("cookies", "cookie"),
    ("indices", "index"),
    ("movies", "movie"),
    ("news", "news"),
    ("series", "series"),
    ("species", "species"),
    ("statuses", "status"),
];

/// A resource in the singular, as far as English follows a rule.
fn singular(word: &str) -> String {
    let irregular = IRREGULAR
        .iter()
        .find_map(|(many, one)| Some(format!("{}{one}", word.strip_suffix(many)?)));
    if let Some(one) = irregular {
        return one;
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    for ending in ["sses", "xes", "ches", "shes", "zzes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 1 && !["s", "u", "i"].iter().any(|end| stem.ends_with(end)) => {
            stem.to_owned()
        }
        _ => word.to_owned(),
    }
}

/// A verb and a resource: `GET /users/{id}/posts` is `list_user_posts`, `POST /orders/{id}/cancel` is `cancel_order`.
fn from_path(operation: &NamedOperation<'_>) -> String {
    enum Segment {
        Words(String),
        Parameter,
    }
    let path = operation.path.split(['?', '#']).next().unwrap_or_default();
    let path = [".json", ".xml", ".php"].iter().fold(path, |path, ending| {
        path.strip_suffix(ending).unwrap_or(path)
    });
    let mut segments: Vec<Segment> = path
        .split('/')
        .filter_map(|segment| {
            if segment.starts_with('{') && segment.ends_with('}') {
                return Some(Segment::Parameter);
            }
            // Parameters inside a segment are left out of the resource's name.
            let text: String = segment
                .split('{')
                .map(|part| part.rsplit('}').next().unwrap_or_default())
                .collect::<Vec<_>>()
                .join("_");
            let word = snake(&text);
            let empty = word.is_empty()
                || matches!(&*word, "api" | "rest" | "restapi")
                || is_version(&word);
            (!empty).then_some(Segment::Words(word))
        })
        .collect();
    while matches!(segments.first(), Some(Segment::Parameter)) && segments.len() > 1 {
        segments.remove(0);
    }
    let item = matches!(segments.last(), Some(Segment::Parameter));
    let mut words: Vec<String> = Vec::new();
    let mut below_item = false;
    for (index, segment) in segments.iter().enumerate() {
        if let Segment::Words(word) = segment {
            let of_item = matches!(segments.get(index + 1), Some(Segment::Parameter));
            words.push(if of_item {
                singular(word)
            } else {
                word.clone()
            });
            below_item = matches!(
                index.checked_sub(1).map(|before| &segments[before]),
                Some(Segment::Parameter)
            );
        }
    }
    let Some(last) = words.pop() else {
        return operation.method.to_owned();
    };
    let one = singular(&last);
    let many = one != last;
    let (verb, last) = match operation.method {
        "get" if item => ("get", last),
        "get" if many => ("list", last),
        "get" => ("get", last),
        "post" if item => ("update", last),
        "post" if many => ("create", one),
        // An action on an item is the verb.
        "post" if below_item && !words.is_empty() => {
            let verb = last.clone();
            let last = words.pop().unwrap_or_default();
            return joined(&verb, words, &last, operation.service);
        }
        "put" if operation.patched => ("replace", last),
        "put" | "patch" => ("update", last),
        "delete" => ("delete", last),
        "head" => ("check", last),
        other => (other, last),
    };
    joined(verb, words, &last, operation.service)
}

/// The name, with as many of the outer resources as fit.
fn joined(verb: &str, mut outer: Vec<String>, last: &str, service: &str) -> String {
    let chars_max = action_chars_max(service);
    loop {
        let mut all = vec![verb.to_owned()];
        // The name of the service is in front of each tool's name already.
        all.extend(outer.iter().filter(|word| *word != service).cloned());
        all.push(last.to_owned());
        let name = words::snake(&all.join("_"));
        if name.len() <= chars_max || outer.is_empty() {
            return shorten(&name, chars_max);
        }
        outer.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::{DERIVED_NAME_CHARS_MAX, NamedOperation, tool};

    fn named(id: Option<&str>, method: &str, path: &str) -> String {
        tool(&NamedOperation {
            service: "svc",
            id,
            method,
            path,
            patched: false,
        })
    }

    #[test]
    fn a_usable_operation_id_is_the_name() {
        for (id, method, path, name) in [
            (
                "listPullRequests",
                "get",
                "/repos/{o}/pulls",
                "list_pull_requests",
            ),
            ("pulls/merge", "put", "/pulls/{n}/merge", "pulls_merge"),
            ("svcChatPost", "post", "/chat", "chat_post"),
            ("svc", "post", "/chat", "svc"),
            ("getUsers", "get", "/users", "get_users"),
            ("search", "get", "/q", "search"),
            ("widget", "get", "/", "widget"),
            ("get_post", "get", "/posts/{post}", "get_post"),
            ("getCall", "get", "/calls/{sid}", "get_call"),
            ("get_index", "get", "/{index}", "get_index"),
            (
                "delete_endpoint",
                "delete",
                "/endpoints/{id}",
                "delete_endpoint",
            ),
            (
                "linkGitHubAccount",
                "post",
                "/accounts",
                "link_github_account",
            ),
            (
                "read_item_items__item_id__get",
                "get",
                "/items/{item_id}",
                "read_item",
            ),
        ] {
            assert_eq!(named(Some(id), method, path), name, "{id}");
        }
    }

    #[test]
    fn an_operation_id_without_meaning_is_replaced_by_verb_and_resource() {
        for (id, method, path, name) in [
            (
                "getApiV4ProjectsIdMergeRequests",
                "get",
                "/api/v4/projects/{id}/merge_requests",
                "list_project_merge_requests",
            ),
            (
                "postApiV4Projects",
                "post",
                "/api/v4/projects",
                "create_project",
            ),
            ("operation12", "delete", "/users/{id}", "delete_user"),
            ("get", "get", "/users/{id}", "get_user"),
            ("apiCall3", "get", "/users/{id}", "get_user"),
            ("5f3c1a9b7d2e4a60", "get", "/companies", "list_companies"),
            ("_", "patch", "/users/{id}", "update_user"),
            ("日本", "get", "/user", "get_user"),
        ] {
            assert_eq!(named(Some(id), method, path), name, "{id}");
        }
    }

    #[test]
    fn a_path_gives_a_verb_and_a_resource() {
        for (method, path, name) in [
            ("get", "/users/{user-id}/posts", "list_user_posts"),
            ("get", "/v1/users/{id}/posts/{post}", "get_user_post"),
            ("get", "/companies/{id}", "get_company"),
            ("get", "/tv/series/{id}/statuses", "list_tv_series_statuses"),
            ("delete", "/caches/{id}", "delete_cache"),
            ("get", "/status", "get_status"),
            ("post", "/boxes", "create_box"),
            ("post", "/orders/{id}/cancel", "cancel_order"),
            ("post", "/search", "post_search"),
            ("put", "/users/{id}", "update_user"),
            ("delete", "/users/{id}/keys", "delete_user_keys"),
            ("get", "/{tenant}/users.json", "list_users"),
            (
                "get",
                "/2010-04-01/accounts/{a}/calls/{id}.json",
                "get_account_call",
            ),
            (
                "get",
                "/restapi/v1.0/account/~/extension/~/call-log/{id}",
                "get_account_extension_call_log",
            ),
            ("delete", "/2/tweets/{id}", "delete_tweet"),
            ("get", "/gitHubRepos", "list_github_repos"),
            ("get", "/{id}", "get"),
            ("get", "/", "get"),
        ] {
            assert_eq!(named(None, method, path), name, "{method} {path}");
        }
        let both = NamedOperation {
            service: "svc",
            id: None,
            method: "put",
            path: "/users/{id}",
            patched: true,
        };
        assert_eq!(tool(&both), "replace_user");
    }

    #[test]
    fn a_long_operation_id_keeps_its_verb() {
        for (id, name) in [
            (
                "policies.projects.locations.dataPolicies.setIamPolicy",
                "locations_data_policies_set_iam_policy",
            ),
            (
                "svc.projects.policies.getIamPolicy",
                "projects_policies_get_iam_policy",
            ),
            (
                "DatabaseVulnerabilityAssessmentRuleBaselines_CreateOrUpdate",
                "database_vulnerability_create_or_update",
            ),
            (
                "getItemsByProposedNegativeStatutoryInstrumentId",
                "get_items_by_proposed_negative_statutory",
            ),
            (
                "list_items_of_the_proposed_negative_statutory_instrument",
                "list_items_of_the_proposed_negative_statutory",
            ),
        ] {
            assert_eq!(named(Some(id), "post", "/a"), name, "{id}");
        }
    }

    #[test]
    fn no_name_is_longer_than_its_bound_and_the_resource_stays() {
        let long = "veryLongOperation".repeat(9);
        let path = "/organizations/{a}/departments/{b}/locations/{c}/subscriptions/{d}/attachments";
        for name in [named(Some(&long), "get", "/a"), named(None, "get", path)] {
            assert!(
                "svc_".len() + name.len() <= DERIVED_NAME_CHARS_MAX,
                "{name}"
            );
        }
        assert_eq!(
            named(None, "get", path),
            "list_location_subscription_attachments"
        );
    }
}
