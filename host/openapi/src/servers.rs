//! From `servers` to the addresses that requests go to, and what they need: hosts, connection
//! parameters, or an operator's setting where each organisation has an address of its own.

mod host;
mod variables;

use serde_json::json;
use toolgate_openapi_table::Base;

use super::document::Node;
use super::problem::{Notes, Problem, below};
use super::words;
pub(crate) use host::check_host;
use host::lowercase_outside_braces;
use toolgate_catalog::manifest::{ConfigKey, Parameter};
use variables::{AddressTemplate, LABEL_PATTERN, SEGMENT_PATTERN};

/// The setting with the address that the operator sets.
pub const API_BASE: &str = "api_base";
const HOSTS_MAX: usize = 100;
/// Servers of one list that are tried.
const SERVERS_MAX: usize = 20;
const PARAMETERS_MAX: usize = 20;

/// Why a server cannot be the base of requests.
enum ServerRefusal {
    /// The description's author wrote something under `x-toolgate` that is not valid.
    Problem(Problem),
    /// The next server is tried, or the operator sets the address.
    Skip(String),
}

impl From<Problem> for ServerRefusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Hosts, parameters and settings of all servers of a description.
#[derive(Debug, Default)]
pub struct ServerHosts {
    pub hosts: Vec<String>,
    pub parameters: Vec<Parameter>,
    pub config: Vec<ConfigKey>,
}

impl ServerHosts {
    /// Origins that may receive a credential.
    pub fn audience(&self) -> Vec<String> {
        let hosts = self.hosts.iter().map(|host| format!("https://{host}"));
        hosts
            .chain(self.config.iter().map(|key| format!("{{{}}}", key.key)))
            .collect()
    }

    /// The operator's setting as the base.
    pub fn own_address(&mut self, title: &str) -> Base {
        if !self.config.iter().any(|key| key.key == API_BASE) {
            self.config.push(ConfigKey {
                key: API_BASE.to_owned(),
                title: words::clean(title, 200),
                schema: json!({"type": "string", "format": "uri"}),
                adds_host: true,
            });
        }
        Base::Config(API_BASE.to_owned())
    }
}

/// A base chosen from a list of servers.
pub struct Servers<'a> {
    pub file: &'a str,
    pub title: &'a str,
}

impl Servers<'_> {
    /// The base of the first server that can be used. Where the only addresses are relative, local or a variable, the
    /// operator sets the address.
    pub fn base(
        &self,
        list: &[Node<'_>],
        pointer: &str,
        reach: &mut ServerHosts,
        notes: &mut Notes,
    ) -> Result<Base, Problem> {
        let mut reason = "the description names no server".to_owned();
        for (index, server) in list.iter().enumerate().take(SERVERS_MAX) {
            let at = below(pointer, &index.to_string());
            match self.one(*server, &at, reach, notes) {
                Ok(base) => return Ok(base),
                Err(ServerRefusal::Problem(problem)) => return Err(problem),
                Err(ServerRefusal::Skip(why)) => reason = why,
            }
        }
        let known = reach.config.iter().any(|key| key.key == API_BASE);
        if !known {
            notes.changed(
                pointer,
                format!("{reason}: the operator sets the address as `{API_BASE}`"),
            );
        }
        Ok(reach.own_address(&format!("Address of {}", self.title)))
    }

    fn one(
        &self,
        server: Node<'_>,
        pointer: &str,
        reach: &mut ServerHosts,
        notes: &mut Notes,
    ) -> Result<Base, ServerRefusal> {
        let address = AddressTemplate::read(self.file, server, pointer)?;
        let (scheme, rest) = split_scheme(&address.url)?;
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = match rest.find('/') {
            Some(slash) => (&rest[..slash], rest[slash..].trim_end_matches('/')),
            None => (rest, ""),
        };
        let host = lowercase_outside_braces(host.strip_suffix(":443").unwrap_or(host));
        check_host(&host).map_err(ServerRefusal::Skip)?;
        if scheme == "http" {
            notes.changed(pointer, "the server is named with http; https is used");
        }
        let used = |name: &str, text: &str| text.contains(&format!("{{{name}}}"));
        for parameter in address.parameters {
            let in_host = used(&parameter.key, &host);
            if in_host || used(&parameter.key, path) {
                add(reach, parameter, in_host).map_err(ServerRefusal::Skip)?;
            }
        }
        if !reach.hosts.contains(&host) {
            if reach.hosts.len() >= HOSTS_MAX {
                let message = format!("more than {HOSTS_MAX} hosts");
                return Err(Problem::new(self.file, pointer, message).into());
            }
            reach.hosts.push(host.clone());
        }
        Ok(Base::Url(format!("https://{host}{path}")))
    }
}

/// The scheme of an address, and what follows its `//`.
fn split_scheme(url: &str) -> Result<(&'static str, &str), ServerRefusal> {
    let refused = match url.split_once("://") {
        Some(("https", rest)) => return Ok(("https", rest)),
        Some(("http", rest)) => return Ok(("http", rest)),
        Some((other, _)) => format!("`{other}` is not a supported scheme"),
        None if url.starts_with("//") => return Ok(("https", &url[2..])),
        None => {
            // `api.example.com/v1`, without a scheme.
            let host = url.split('/').next().unwrap_or_default();
            if host.contains('.') && check_host(host).is_ok() {
                return Ok(("https", url));
            }
            format!("the server `{}` is relative", words::clean(url, 100))
        }
    };
    Err(ServerRefusal::Skip(refused))
}

/// Adds a parameter, or widens the one of the same name.
fn add(reach: &mut ServerHosts, parameter: Parameter, in_host: bool) -> Result<(), String> {
    if let Some(known) = reach.parameters.iter_mut().find(|p| p.key == parameter.key) {
        if in_host && known.options.is_empty() && known.pattern.as_deref() == Some(SEGMENT_PATTERN)
        {
            known.pattern = Some(LABEL_PATTERN.to_owned());
        }
        return Ok(());
    }
    if reach.parameters.len() >= PARAMETERS_MAX {
        return Err(format!("more than {PARAMETERS_MAX} server variables"));
    }
    reach.parameters.push(parameter);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_openapi_table::Base;

    use super::{ServerHosts, Servers};
    use crate::document::{Documents, Node};
    use crate::problem::Notes;

    fn base(server: Value) -> (Base, ServerHosts) {
        let docs = Documents::from_value("x", json!({"servers": [server]}));
        let list: Vec<Node<'_>> = docs.root().elements("servers").collect();
        let mut reach = ServerHosts::default();
        let servers = Servers {
            file: "x",
            title: "X",
        };
        let base = servers
            .base(&list, "/servers", &mut reach, &mut Notes::default())
            .expect("a base");
        (base, reach)
    }

    #[test]
    fn ordinary_servers_become_hosts() {
        for (url, expected) in [
            ("https://api.example.com/v1/", "https://api.example.com/v1"),
            ("http://API.example.com", "https://api.example.com"),
            (
                "https://api.example.com:443/x?y",
                "https://api.example.com/x",
            ),
            ("//api.example.com/x", "https://api.example.com/x"),
            ("api.example.com/x", "https://api.example.com/x"),
        ] {
            assert_eq!(
                base(json!({"url": url})).0,
                Base::Url(expected.to_owned()),
                "{url}"
            );
        }
    }

    #[test]
    fn addresses_that_only_the_operator_knows_become_a_setting() {
        for url in [
            "/api",
            "http://localhost:8080/v1",
            "https://10.0.0.1/",
            "https://{host}/api",
            "https://x.local",
            "ftp://a.example.com",
            "",
        ] {
            let (base, reach) = base(json!({"url": url, "variables": {"host": {"default": "a"}}}));
            assert_eq!(base, Base::Config("api_base".to_owned()), "{url}");
            assert!(reach.hosts.is_empty() && reach.config[0].adds_host);
            assert_eq!(reach.audience(), ["{api_base}"]);
        }
    }

    #[test]
    fn variables_become_parameters_of_the_connection() {
        let (made, reach) = base(
            json!({"url": "https://{subDomain}.example.com/{version}/{region}", "variables": {
            "subDomain": {"default": "acme", "x-toolgate": {"title": "Sub"}},
            "version": {"default": "v2"},
            "region": {"default": "eu", "enum": ["eu", "us"]}}}),
        );
        assert_eq!(
            made,
            Base::Url("https://{sub_domain}.example.com/{version}/{region}".to_owned())
        );
        assert_eq!(reach.hosts, ["{sub_domain}.example.com"]);
        let of = |key: &str| {
            reach
                .parameters
                .iter()
                .find(|p| p.key == key)
                .expect("there")
        };
        assert_eq!(
            (of("sub_domain").title.as_str(), &of("sub_domain").default),
            ("Sub", &None)
        );
        assert_eq!(of("version").default.as_deref(), Some("v2"));
        assert_eq!(
            (of("region").options.len(), of("region").default.as_deref()),
            (2, Some("eu"))
        );
        let (made, reach) = base(
            json!({"url": "{scheme}://api.{env}.com/{base}", "variables": {
            "scheme": {"default": "http", "enum": ["http", "https"]},
            "env": {"default": "a.example", "enum": ["a.example", "b.example"]}, "base": {"default": "x/v1"}}}),
        );
        assert_eq!(made, Base::Url("https://api.a.example.com/x/v1".to_owned()));
        assert!(reach.parameters.is_empty());
    }

    #[test]
    fn a_default_that_names_an_account_is_an_example_and_never_a_value() {
        let of = |variable: serde_json::Value| {
            let name = variable["name"].as_str().expect("a name").to_owned();
            let url = format!("https://api.example.com/{{{name}}}/x");
            let (_, reach) = base(json!({"url": url, "variables": {name: variable["of"]}}));
            let parameter = reach.parameters.into_iter().next().expect("a parameter");
            (parameter.default, parameter.help)
        };
        let text = |text: &str| Some(text.to_owned());
        for (variable, expected) in [
            (
                json!({"name": "accountSid", "of": {"default": "AC00", "description": "The SID."}}),
                (None, text("The SID. Example: AC00")),
            ),
            (
                json!({"name": "environment_id", "of": {"default": "12"}}),
                (None, text("Example: 12")),
            ),
            (
                json!({"name": "account", "of": {"default": "12", "description": "As in /12"}}),
                (None, text("As in /12")),
            ),
            (
                json!({"name": "account", "of": {"default": "12", "x-toolgate": {"default": "me"}}}),
                (text("me"), None),
            ),
            (
                json!({"name": "realm", "of": {"default": "a", "enum": ["a", "b"]}}),
                (text("a"), None),
            ),
            (
                json!({"name": "apiVersion", "of": {"default": "2025-01"}}),
                (text("2025-01"), None),
            ),
            (
                json!({"name": "edition", "of": {"default": "v2.1"}}),
                (text("v2.1"), None),
            ),
        ] {
            assert_eq!(of(variable.clone()), expected, "{variable}");
        }
    }
}
