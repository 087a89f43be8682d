//! Which of a user's connections a call runs with.
//!
//! Pure. The caller's choice, else the newest that works and was granted the tool's scopes, else
//! the one that comes nearest.

use super::granted::lacking;
use toolgate_core::states::ConnectionHealth;
use toolgate_store::Connection;

/// The outcome, best first.
#[derive(Debug, PartialEq)]
pub(super) enum ConnectionChoice<'a> {
    Use(&'a Connection),
    /// It works, but was not granted a scope that the tool needs.
    MoreScopes(&'a Connection),
    /// Only the user can repair it.
    Broken(&'a Connection),
    Nothing,
    /// The caller named one that this user does not have for these slots.
    Unknown,
}

/// `rows`: the user's connections for the service, newest first. `slots`: those the tool can run with.
pub(super) fn choose<'a>(
    rows: &'a [Connection],
    slots: &[String],
    scopes: &[String],
    wanted: Option<&str>,
) -> ConnectionChoice<'a> {
    let mut fitting = rows.iter().filter(|row| slots.contains(&row.slot));
    if let Some(id) = wanted {
        return match fitting.find(|row| row.id == id) {
            Some(row) => one(row, scopes),
            None => ConnectionChoice::Unknown,
        };
    }
    fitting
        .map(|row| (rank(row, scopes), row))
        // The first of equals: the newest.
        .min_by_key(|(rank, _)| *rank)
        .map_or(ConnectionChoice::Nothing, |(_, row)| one(row, scopes))
}

fn one<'a>(row: &'a Connection, scopes: &[String]) -> ConnectionChoice<'a> {
    match rank(row, scopes) {
        0 | 1 => ConnectionChoice::Use(row),
        2 | 3 => ConnectionChoice::MoreScopes(row),
        _ => ConnectionChoice::Broken(row),
    }
}

fn rank(row: &Connection, scopes: &[String]) -> u8 {
    let asked = row.auth_type != "oauth2" || lacking(&row.scopes, scopes).is_empty();
    match (row.state, asked) {
        (ConnectionHealth::Active | ConnectionHealth::Refreshing, true) => 0,
        (ConnectionHealth::CoolingDown, true) => 1,
        (ConnectionHealth::Active | ConnectionHealth::Refreshing, false) => 2,
        (ConnectionHealth::CoolingDown, false) => 3,
        (ConnectionHealth::ReauthNeeded, _) => 4,
        (ConnectionHealth::Revoked, _) => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ConnectionHealth::{Active, CoolingDown, ReauthNeeded, Revoked};

    fn row(id: &str, slot: &str, state: ConnectionHealth, scopes: &[&str]) -> Connection {
        Connection {
            workspace_id: "ws".into(),
            id: id.into(),
            user_id: "ada".into(),
            service: "github".into(),
            slot: slot.into(),
            auth_type: "oauth2".into(),
            account: None,
            scopes: scopes.iter().map(|s| (*s).to_owned()).collect(),
            parameters: Default::default(),
            sealed: String::new(),
            generation: 1,
            version: 1,
            state,
            state_since_ms: 0,
            token_expires_at_ms: None,
            refreshable: true,
            failures: 0,
            next_retry_at_ms: None,
            last_error: None,
            lease_owner: None,
            lease_since_ms: None,
            lease_until_ms: None,
            created_at_ms: 0,
            updated_at_ms: 0,
            connected_at_ms: 0,
            refresh_expires_at_ms: None,
        }
    }

    #[test]
    fn the_newest_that_works_is_used() {
        let slots = ["user".to_owned()];
        let check = |rows: &[Connection], wanted: Option<&str>, expected: &str| {
            let shown = match choose(rows, &slots, &["repo".to_owned()], wanted) {
                ConnectionChoice::Use(row) => format!("use {}", row.id),
                ConnectionChoice::MoreScopes(row) => format!("more {}", row.id),
                ConnectionChoice::Broken(row) => format!("broken {}", row.id),
                ConnectionChoice::Nothing => "nothing".to_owned(),
                ConnectionChoice::Unknown => "unknown".to_owned(),
            };
            assert_eq!(shown, expected);
        };
        let full = &["repo"][..];
        check(&[], None, "nothing");
        check(&[], Some("a"), "unknown");
        check(
            &[
                row("a", "user", Active, full),
                row("b", "user", Active, full),
            ],
            None,
            "use a",
        );
        check(
            &[
                row("a", "user", Active, full),
                row("b", "user", Active, full),
            ],
            Some("b"),
            "use b",
        );
        check(&[row("a", "bot", Active, full)], None, "nothing");
        check(&[row("a", "bot", Active, full)], Some("a"), "unknown");
        check(
            &[
                row("a", "user", ReauthNeeded, full),
                row("b", "user", Active, full),
            ],
            None,
            "use b",
        );
        check(
            &[
                row("a", "user", CoolingDown, full),
                row("b", "user", Active, full),
            ],
            None,
            "use b",
        );
        check(&[row("a", "user", CoolingDown, full)], None, "use a");
        check(
            &[
                row("a", "user", Active, &[]),
                row("b", "user", Active, full),
            ],
            None,
            "use b",
        );
        check(&[row("a", "user", Active, &[])], None, "more a");
        check(
            &[
                row("a", "user", Active, &[]),
                row("b", "user", Revoked, full),
            ],
            None,
            "more a",
        );
        check(
            &[
                row("a", "user", Revoked, full),
                row("b", "user", ReauthNeeded, full),
            ],
            None,
            "broken b",
        );
    }

    #[test]
    fn scopes_mean_nothing_to_a_key() {
        let mut key = row("a", "user", Active, &[]);
        key.auth_type = "api_key".into();
        let rows = [key];
        assert!(matches!(
            choose(&rows, &["user".to_owned()], &["repo".to_owned()], None),
            ConnectionChoice::Use(_)
        ));
    }
}
