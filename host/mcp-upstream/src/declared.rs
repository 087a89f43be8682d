//! Whether the address of a plugin's source section is the one that its approved manifest declares.
//!
//! The source section of a file is no right: anybody can write another address into it. So the server is asked again
//! only where the tools of the manifest that serves call the same address.

use url::Url;

use super::address::{AddressProblem, RemoteAddress};
use super::source::ServerSource;
use toolgate_catalog::manifest::Manifest;
use toolgate_catalog::mcp_calls::{self, MCP};

/// Why the address of a source is not asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UndeclaredAddress {
    #[error(transparent)]
    Form(#[from] AddressProblem),
    #[error(
        "the tools of the approved plugin do not call one MCP server, so none is asked; build the plugin again with \
         `toolgate plugin build --mcp URL`"
    )]
    NoServer,
    #[error(
        "the plugin file says that it was made of {asked}, and the setting `{key}`, which holds the address of its \
         server, is not set, so nothing was asked; set it with `toolgate service configure {service} --set {key}=URL`, \
         or build the plugin again with `toolgate plugin build --mcp URL`"
    )]
    NotSet {
        asked: String,
        service: String,
        key: String,
    },
    #[error(
        "the plugin file says that it was made of {asked}, and the approved plugin calls {declared}, so nothing was \
         asked; build the plugin again with `toolgate plugin build --mcp {declared}`"
    )]
    Other { asked: String, declared: String },
}

impl ServerSource {
    /// Checks that the address of this source is the one that every tool of `manifest` calls. `configured`: the
    /// operator's values of a setting, by its key.
    pub fn check_declared(
        &self,
        manifest: &Manifest,
        configured: impl Fn(&str) -> Vec<String>,
    ) -> Result<(), UndeclaredAddress> {
        let address = RemoteAddress::parse(&self.url, self.private)?;
        let declared = declared(manifest).ok_or(UndeclaredAddress::NoServer)?;
        let asked = match address.is_setting() {
            true => format!("{} as an address that the operator sets", address.url()),
            false => address.url().to_string(),
        };
        let setting = declared
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let values = setting.map(&configured).unwrap_or_default();
        // With the same form: a private address is reached where the manifest leaves it to the operator.
        let same_form = address.send() == format!("{MCP} {declared}");
        let same = same_form && (setting.is_none() || holds(&values, address.url()));
        if same {
            return Ok(());
        }
        Err(match setting {
            Some(key) if values.is_empty() => UndeclaredAddress::NotSet {
                asked,
                service: manifest.service.clone(),
                key: key.to_owned(),
            },
            Some(_) => UndeclaredAddress::Other {
                asked,
                declared: values.join(", "),
            },
            None => UndeclaredAddress::Other {
                asked,
                declared: declared.to_owned(),
            },
        })
    }
}

/// The address that all tools call: an address, or a setting in braces.
fn declared(manifest: &Manifest) -> Option<&str> {
    let mut addresses = manifest.tools.iter().map(|tool| {
        let request = tool.request.as_ref()?;
        mcp_calls::tool_of(request)?;
        request.send.split_once(' ').map(|(_, address)| address)
    });
    let first = addresses.next()??;
    addresses.all(|one| one == Some(first)).then_some(first)
}

/// Whether one of the values is this address, however it is written.
fn holds(values: &[String], address: &Url) -> bool {
    let mut values = values.iter().map(|value| Url::parse(value));
    values.any(|value| value.is_ok_and(|value| value == *address))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::account::AccountChoice;
    use crate::compose::{ServerChoices, TOOLS_DEFAULT_MAX, compose};
    use crate::listing;

    const PUBLIC: &str = "https://mcp.example.com/mcp";
    const PRIVATE: &str = "http://10.0.0.5:3001/mcp";

    fn source(url: &str) -> ServerSource {
        ServerSource {
            url: url.to_owned(),
            private: false,
            service: None,
            only: BTreeSet::new(),
            tools_max: TOOLS_DEFAULT_MAX,
            effects: BTreeMap::new(),
            account: AccountChoice::None,
        }
    }

    fn manifest(url: &str) -> Manifest {
        let address = RemoteAddress::parse(url, false).expect("an address");
        let tools = r#"[{"name": "look", "description": "Looks at one thing."}, {"name": "find", "description": "Finds things by name."}]"#;
        let listing = listing::from_file(tools, "2025-06-18").expect("a list");
        let choices = ServerChoices {
            service: Some("notes".to_owned()),
            only: BTreeSet::new(),
            tools_max: TOOLS_DEFAULT_MAX,
            effects: BTreeMap::new(),
            account: AccountChoice::None,
            again: false,
        };
        let made = compose(&address, listing, &choices, None);
        made.expect("a plugin").manifest
    }

    fn check(
        source: &ServerSource,
        manifest: &Manifest,
        set: &[&str],
    ) -> Result<(), UndeclaredAddress> {
        source.check_declared(manifest, |key| {
            assert_eq!(key, "server_url");
            set.iter().map(|value| (*value).to_owned()).collect()
        })
    }

    #[test]
    fn the_address_of_the_manifest_is_asked_and_no_other() {
        let public = manifest(PUBLIC);
        assert_eq!(check(&source(PUBLIC), &public, &[]), Ok(()));
        for other in [
            "https://evil.example/mcp",
            "https://mcp.example.com/other",
            "https://mcp.example.com:8443/mcp",
            "http://mcp.example.com/mcp",
            "http://127.0.0.1:9/mcp",
        ] {
            let said = check(&source(other), &public, &[]).expect_err(other);
            let said = said.to_string();
            assert!(said.contains(other) && said.contains(PUBLIC), "{said}");
            assert!(said.contains("plugin build --mcp"), "{said}");
        }
        // That would lift the rule against private addresses.
        let private = ServerSource {
            private: true,
            ..source(PUBLIC)
        };
        assert!(check(&private, &public, &[]).is_err());
    }

    #[test]
    fn of_a_setting_the_configured_address_is_asked() {
        let private = manifest(PRIVATE);
        let own = source(PRIVATE);
        assert_eq!(check(&own, &private, &[PRIVATE]), Ok(()));
        assert_eq!(
            check(&own, &private, &["http://other.test/", PRIVATE]),
            Ok(())
        );
        let unset = check(&own, &private, &[]).expect_err("not set").to_string();
        assert!(
            unset.contains("service configure notes --set server_url="),
            "{unset}"
        );
        for other in [
            "http://10.0.0.6:3001/mcp",
            "http://169.254.169.254/mcp",
            PUBLIC,
        ] {
            let said = check(&source(other), &private, &[PRIVATE]).expect_err(other);
            let said = said.to_string();
            assert!(said.contains(other) && said.contains(PRIVATE), "{said}");
        }
    }

    #[test]
    fn a_manifest_of_two_servers_or_of_none_is_not_asked() {
        let mut two = manifest(PUBLIC);
        let request = two.tools[1].request.as_mut().expect("a request");
        request.send = "MCP https://evil.example/mcp".to_owned();
        let mut none = manifest(PUBLIC);
        none.tools[0].request = None;
        let mut empty = manifest(PUBLIC);
        empty.tools.clear();
        for odd in [two, none, empty] {
            let said = check(&source(PUBLIC), &odd, &[]);
            assert_eq!(said, Err(UndeclaredAddress::NoServer));
        }
    }
}
