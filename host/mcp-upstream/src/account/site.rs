//! Whether two addresses are of one site, and what an operator reads about the sites of a sign-in.
//!
//! Without the list of public suffixes, two names below one domain may have one owner (`a.example.com` and
//! `b.example.com`) or two (`a.co.uk` and `b.co.uk`). So two hosts are of one site where they are the same, or where one
//! is a name below the other one. Siblings count as two sites: that costs a warning, and the opposite would hide one.

use url::{Host, Url};

use toolgate_catalog::manifest::Slot;

/// Fewest labels of a domain that is the site of the names below it.
const LABELS_MIN: usize = 2;

/// Whether two addresses are of one site. What is no address is of none.
pub fn same_site(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (Url::parse(one), Url::parse(other)) else {
        return false;
    };
    match (one.host(), other.host()) {
        (Some(Host::Domain(one)), Some(Host::Domain(other))) => {
            one == other || is_below(one, other) || is_below(other, one)
        }
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// Whether `name` is below `domain`, which has [`LABELS_MIN`] labels or more.
fn is_below(name: &str, domain: &str) -> bool {
    let before = name.strip_suffix(domain);
    before.is_some_and(|before| before.ends_with('.')) && domain.split('.').count() >= LABELS_MIN
}

/// Where the users of a server sign in, and where their tokens go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInPlaces {
    /// Origin of the page on which users sign in.
    sign_in: String,
    /// Origin to which calls send the token.
    server: String,
    /// Origins of the authorization server that are of another site than the MCP server.
    foreign: Vec<String>,
}

impl SignInPlaces {
    /// `server`: the address of the MCP server. `None`: users do not sign in at an authorization server.
    pub fn from_slot(slot: &Slot, server: &str) -> Option<Self> {
        let sign_in = origin(slot.authorize_url.as_deref()?);
        let mut foreign: Vec<String> = slot
            .addresses()
            .filter(|address| !same_site(address, server))
            .map(origin)
            .collect();
        foreign.sort_unstable();
        foreign.dedup();
        Some(Self {
            sign_in,
            server: origin(server),
            foreign,
        })
    }

    /// The sentence for the operator.
    pub fn sentence(&self) -> String {
        format!(
            "Users sign in at {}; the token is sent to {}.",
            self.sign_in, self.server
        )
    }

    /// What the operator has to decide; `None`: all is of one site.
    pub fn warning(&self) -> Option<String> {
        (!self.foreign.is_empty()).then(|| {
            format!(
                "the authorization server ({}) is of another site than the MCP server ({}), which receives every token \
                 that users get there: install the plugin only if the owner of the authorization server says that this \
                 MCP server is one of its own",
                self.foreign.join(", "),
                self.server
            )
        })
    }
}

/// The origin of an address; a text that is no address stays as it is.
fn origin(address: &str) -> String {
    Url::parse(address).map_or_else(
        |_| address.to_owned(),
        |url| url.origin().ascii_serialization(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_site_is_a_name_and_the_names_below_it() {
        for (one, other) in [
            ("https://example.com/a", "https://example.com/b"),
            ("https://mcp.example.com", "https://example.com"),
            ("https://a.mcp.example.com", "https://mcp.example.com:8443"),
            ("http://127.0.0.1:1", "http://127.0.0.1:2"),
        ] {
            assert!(
                same_site(one, other) && same_site(other, one),
                "{one} {other}"
            );
        }
        for (one, other) in [
            ("https://id.bank.example", "https://mcp.evil.example"),
            ("https://evilbank.example", "https://bank.example"),
            ("https://bank.example.evil.example", "https://bank.example"),
            ("https://a.co.uk", "https://b.co.uk"),
            ("https://a.example", "https://example"),
            ("http://127.0.0.1", "http://127.0.0.2"),
            ("nothing", "nothing"),
        ] {
            assert!(
                !same_site(one, other) && !same_site(other, one),
                "{one} {other}"
            );
        }
    }

    fn places(issuer: &str, authorize: &str, token: &str) -> SignInPlaces {
        let slot = json!({
            "slot": "account", "title": "Account", "type": "oauth2", "issuer": issuer, "authorize_url": authorize,
            "token_url": token, "audience": ["https://mcp.notes.example"],
            "placement": {"header": "authorization", "template": "Bearer {secret}"},
        });
        let slot: Slot = serde_json::from_value(slot).expect("a slot");
        SignInPlaces::from_slot(&slot, "https://mcp.notes.example/mcp").expect("a sign-in")
    }

    #[test]
    fn an_authorization_server_of_another_site_is_a_warning() {
        let own = places(
            "https://notes.example",
            "https://notes.example/authorize",
            "https://mcp.notes.example/token",
        );
        assert_eq!(
            own.sentence(),
            "Users sign in at https://notes.example; the token is sent to https://mcp.notes.example."
        );
        assert_eq!(own.warning(), None);
        let bank = "https://id.bank.example";
        let foreign = places(
            bank,
            "https://id.bank.example/authorize",
            "https://id.bank.example/token",
        );
        assert!(
            foreign
                .sentence()
                .starts_with(&format!("Users sign in at {bank};"))
        );
        let warning = foreign.warning().expect("a warning");
        assert!(warning.contains(&format!("({bank})")), "{warning}");
        // The issuer alone is as the server says it is.
        let mixed = places(
            "https://notes.example",
            "https://id.bank.example/authorize",
            "https://notes.example/token",
        );
        assert!(mixed.warning().is_some_and(|text| text.contains(bank)));
    }
}
