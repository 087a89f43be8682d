//! Whether the tool that a user can run comes first: judged queries, seen by users with connections.
//!
//! A query counts for a user where one of its right tools is of a service that the user has connected: that tool is to
//! be the first hit. A query without such a tool must lose nothing by the preference.

use toolgate_catalog::{Catalog, Tool};
use toolgate_search::{SearchResults, Uses};

use super::{DEPTH, Judged};

/// Who asks: a name, and the services that this user has connected.
pub struct ConnectedUser {
    pub name: &'static str,
    services: &'static [&'static str],
}

/// Three users with 16 services each.
pub const CONNECTED_USERS: [ConnectedUser; 3] = [
    ConnectedUser {
        name: "startup",
        services: &[
            "asana",
            "dropbox",
            "github",
            "gmail",
            "google_calendar",
            "google_drive",
            "google_sheets",
            "hubspot",
            "linear",
            "notion",
            "shopify",
            "slack",
            "spotify",
            "stripe",
            "todoist",
            "zendesk",
        ],
    },
    ConnectedUser {
        name: "enterprise",
        services: &[
            "azure_devops",
            "bamboohr",
            "confluence",
            "docusign",
            "freshdesk",
            "jira",
            "microsoft_calendar",
            "microsoft_onedrive",
            "microsoft_outlook",
            "microsoft_teams",
            "okta",
            "pagerduty",
            "salesforce",
            "servicenow",
            "xero",
            "zoom",
        ],
    },
    ConnectedUser {
        name: "agency",
        services: &[
            "airtable",
            "basecamp",
            "calendly",
            "figma",
            "freshbooks",
            "google_chat",
            "google_docs",
            "harvest",
            "mailchimp",
            "pipedrive",
            "quickbooks",
            "toggl",
            "trello",
            "typeform",
            "webflow",
            "wordpress",
        ],
    },
];

impl ConnectedUser {
    fn has(&self, service: &str) -> bool {
        self.services.contains(&service)
    }

    /// The services that the catalog does not have.
    pub fn unknown(&self, catalog: &Catalog) -> Vec<&'static str> {
        let services = self.services.iter().copied();
        services
            .filter(|service| catalog.manifest(service).is_none())
            .collect()
    }
}

/// What a user's queries score.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectedScores {
    /// Queries with a right tool that the user can run.
    pub runnable: usize,
    /// Of them, those whose first hit is such a tool, with and without the preference.
    pub first: usize,
    pub first_without: usize,
    /// Queries without such a tool.
    pub foreign: usize,
    /// Of them, those with a right tool among the first five hits, with and without the preference.
    pub foreign_found: usize,
    pub foreign_found_without: usize,
}

impl std::ops::AddAssign for ConnectedScores {
    fn add_assign(&mut self, other: Self) {
        self.runnable += other.runnable;
        self.first += other.first;
        self.first_without += other.first_without;
        self.foreign += other.foreign;
        self.foreign_found += other.foreign_found;
        self.foreign_found_without += other.foreign_found_without;
    }
}

/// Scores the judged queries as one user asks them. `search` answers a query with enough hits to prefer among.
pub fn score_connected<'q>(
    user: &ConnectedUser,
    catalog: &Catalog,
    queries: impl Iterator<Item = &'q Judged>,
    mut search: impl FnMut(&str) -> SearchResults,
) -> ConnectedScores {
    let mut scores = ConnectedScores::default();
    let can_run = |tool: &Tool| user.has(tool.service());
    let of_user = |name: &str| {
        catalog
            .get(name)
            .is_some_and(|tool| user.has(tool.service()))
    };
    for case in queries.filter(|case| !case.tools.is_empty()) {
        let found = search(&case.query);
        let nothing = Uses::default();
        let preferred = names(&found.preferred(DEPTH, &can_run, &nothing));
        let plain = names(&found.preferred(DEPTH, &|_| false, &nothing));
        let right = |name: &String| case.tools.contains(name);
        if case.tools.iter().any(|name| of_user(name)) {
            let is_first = |names: &[String]| {
                names
                    .first()
                    .is_some_and(|name| right(name) && of_user(name))
            };
            scores.runnable += 1;
            scores.first += usize::from(is_first(&preferred));
            scores.first_without += usize::from(is_first(&plain));
        } else {
            let is_found = |names: &[String]| names.iter().take(5).any(right);
            scores.foreign += 1;
            scores.foreign_found += usize::from(is_found(&preferred));
            scores.foreign_found_without += usize::from(is_found(&plain));
        }
    }
    scores
}

fn names(found: &SearchResults) -> Vec<String> {
    let hits = found.hits.iter();
    hits.map(|hit| hit.tool.name.to_string()).collect()
}
