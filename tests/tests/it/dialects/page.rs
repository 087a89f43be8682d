//! `docs/oauth-providers.md`: what was walked, from which source, and what was decided of each difference.

use std::fmt::Write as _;
use std::path::Path;

use super::{Walked, data};

const HEAD: &str = "\
# OAuth providers

How the OAuth sign-in of every shipped integration is tested, and what was decided where a provider differs from the
standard. `tests/tests/it/dialects.rs` writes this page and fails if it is not current
(`INSTA_UPDATE=always cargo test -p toolgate-tests --test it dialects::`).

Each integration is connected, called, called again after its token ended, refused a refresh, connected again and
disconnected, against a server that plays its provider. How a provider speaks (requests that it takes, token answers,
refusals, revocation) is an entry of `tests/dialects/providers.json`, written from the source that is named. The entries
are from documents and published clients, not from recordings of live servers. An integration without an entry is played
as RFC 6749 says.

";

/// Compares the page with what happened; `INSTA_UPDATE=always` writes it.
pub(super) fn check(walked: &[Walked]) {
    let played = walked.iter().filter(|one| one.source.is_some());
    let mut providers: Vec<&str> = played.clone().map(|one| one.provider.as_str()).collect();
    providers.sort_unstable();
    providers.dedup();
    assert!(providers.len() >= 60, "{} providers", providers.len());
    let mut page = HEAD.to_owned();
    let _ = write!(
        page,
        "{} integrations, of which {} are played as one of {} providers.\n\n\
         | integration | played as | refresh | revocation | source |\n|---|---|---|---|---|\n",
        walked.len(),
        played.count(),
        providers.len()
    );
    for one in walked {
        let mark = |done| if done { "walked" } else { "none" };
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            one.service,
            if one.source.is_some() {
                one.provider.as_str()
            } else {
                "RFC 6749"
            },
            mark(one.refreshed),
            mark(one.revoked),
            one.source.as_deref().unwrap_or("")
        );
    }
    page.push_str(&decisions());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/oauth-providers.md");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|wish| wish == "always") {
        std::fs::write(&file, &page).expect("docs can be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == page,
        "docs/oauth-providers.md is not current: INSTA_UPDATE=always cargo test -p toolgate-tests --test it dialects::"
    );
}

/// The rows of `tests/dialects/decisions.tsv`.
fn decisions() -> String {
    let text = std::fs::read_to_string(data("decisions.tsv")).expect("the decisions");
    let mut rows = text.lines();
    assert_eq!(
        rows.next(),
        Some("service\tdifference\tthe provider\tdecision\thow")
    );
    let mut page = "\n## Decisions\n\nDifferences between a shipped description and what its provider or published \
                    clients say. `done`: the gateway or the description does as the provider says. `as it is`: both \
                    work, or the sources disagree. `not done`: what is missing is said.\n\n\
                    | service | difference | the provider | decision | how |\n|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [service, difference, provider, decision, how] = cells.as_slice() else {
            panic!("five columns: {row}");
        };
        assert!(["done", "as it is", "not done"].contains(decision), "{row}");
        assert!(!how.is_empty(), "{row}");
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            page,
            "| `{service}` | {} | {} | {decision} | {} |",
            cell(difference),
            cell(provider),
            cell(how)
        );
    }
    page
}
