//! From `servers` to the addresses that requests go to, and what they need: hosts, connection
//! parameters, or an operator's setting where everybody has an address of their own.

use serde_json::{Value, json};
use toolgate_openapi_table::Base;

use super::document::Node;
use super::keys::{self, VariableKeys};
use super::problem::{Notes, Problem, below};
use super::words;
use toolgate_catalog::manifest::{ConfigKey, Parameter};

/// The setting with an operator's own address.
pub const API_BASE: &str = "api_base";
/// Values that a parameter in a host may have: part of one DNS label.
const LABEL_PATTERN: &str = "^[A-Za-z0-9-]+$";
const SEGMENT_PATTERN: &str = "^[A-Za-z0-9._~-]+$";
const HOSTS_MAX: usize = 100;
const PARAMETERS_MAX: usize = 20;

/// What all servers of a description come to.
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
    /// The base of the first server that can be used. Relative, local and freely named addresses
    /// become the operator's setting.
    pub fn base(
        &self,
        list: &[Node<'_>],
        pointer: &str,
        reach: &mut ServerHosts,
        notes: &mut Notes,
    ) -> Result<Base, Problem> {
        let mut reason = "the description names no server".to_owned();
        for (index, server) in list.iter().enumerate().take(20) {
            let at = below(pointer, &index.to_string());
            match self.one(*server, &at, reach, notes)? {
                Ok(base) => return Ok(base),
                Err(why) => reason = why,
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
    ) -> Result<Result<Base, String>, Problem> {
        let url = server.text("url").unwrap_or_default().trim();
        let (url, variables) = match self.variables(server, url, pointer)? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let (scheme, rest) = match url.split_once("://") {
            Some(("https", rest)) => ("https", rest),
            Some(("http", rest)) => ("http", rest),
            Some((other, _)) => return Ok(Err(format!("`{other}` is not a supported scheme"))),
            None if url.starts_with("//") => ("https", &url[2..]),
            // `api.example.com/v1`, without a scheme.
            None if url
                .split('/')
                .next()
                .is_some_and(|host| host.contains('.') && check_host(host).is_ok()) =>
            {
                ("https", url.as_str())
            }
            None => {
                return Ok(Err(format!(
                    "the server `{}` is relative",
                    words::clean(&url, 100)
                )));
            }
        };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = match rest.find('/') {
            Some(slash) => (&rest[..slash], rest[slash..].trim_end_matches('/')),
            None => (rest, ""),
        };
        let host = host
            .strip_suffix(":443")
            .unwrap_or(host)
            .to_ascii_lowercase_outside_braces();
        if let Err(why) = check_host(&host) {
            return Ok(Err(why));
        }
        if scheme == "http" {
            notes.changed(pointer, "the server is named with http; https is used");
        }
        let used = |name: &str, text: &str| text.contains(&format!("{{{name}}}"));
        for parameter in variables {
            let in_host = used(&parameter.key, &host);
            if !in_host && !used(&parameter.key, path) {
                continue;
            }
            if let Err(why) = add(reach, parameter, in_host) {
                return Ok(Err(why));
            }
        }
        if !reach.hosts.contains(&host) {
            if reach.hosts.len() >= HOSTS_MAX {
                return Err(Problem::new(
                    self.file,
                    pointer,
                    format!("more than {HOSTS_MAX} hosts"),
                ));
            }
            reach.hosts.push(host.clone());
        }
        Ok(Ok(Base::Url(format!("https://{host}{path}"))))
    }

    /// The address with its variables renamed to parameters, or filled where they need no user.
    #[allow(
        clippy::type_complexity,
        reason = "an address with its parameters, or why not"
    )]
    fn variables(
        &self,
        server: Node<'_>,
        url: &str,
        pointer: &str,
    ) -> Result<Result<(String, Vec<Parameter>), String>, Problem> {
        let mut url = url.to_owned();
        let mut parameters = Vec::new();
        let host_end = url.find("://").map_or(0, |at| at + 3);
        let host_end = url[host_end..]
            .find('/')
            .map_or(url.len(), |at| at + host_end);
        let host = url[..host_end].to_owned();
        for (name, variable) in server.members("variables") {
            let mark = format!("{{{name}}}");
            if !url.contains(&mark) {
                continue;
            }
            let at = below(&below(pointer, "variables"), name);
            let keys: VariableKeys = keys::read(self.file, &at, variable)?;
            let written = match variable.value.get("default") {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => String::new(),
            };
            let options: Vec<String> = variable
                .elements("enum")
                .filter_map(|o| o.value.as_str().map(str::to_owned))
                .collect();
            let in_host = host.contains(&mark);
            let scheme = url.starts_with(&mark);
            if scheme {
                url = url.replace(
                    &mark,
                    if written == "http" && !options.iter().any(|o| o == "https") {
                        "http"
                    } else {
                        "https"
                    },
                );
                continue;
            }
            if url.contains(&format!(":{mark}")) {
                return Ok(Err(format!(
                    "the port of the server is a variable, `{name}`"
                )));
            }
            let labels = options.iter().all(|o| {
                !o.is_empty() && o.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            });
            let plain = options
                .iter()
                .all(|o| !o.is_empty() && !o.contains(['/', '?', '#', '{', '}']));
            // A variable with one value, or with values that a label cannot hold, is replaced here.
            if !options.is_empty() && (options.len() == 1 || (in_host && !labels) || !plain) {
                let value = if written.is_empty() {
                    options[0].clone()
                } else {
                    written
                };
                url = url.replace(&mark, &value);
                continue;
            }
            let key = words::snake(name);
            let key = if key.is_empty() {
                "value".to_owned()
            } else {
                key
            };
            url = url.replace(&mark, &format!("{{{key}}}"));
            let default = keys.default.clone().or_else(|| {
                let real = !options.is_empty() || !in_host;
                Some(written.clone()).filter(|text| real && !text.is_empty())
            });
            let pattern = keys.pattern.clone().or_else(|| {
                let pattern = if in_host {
                    LABEL_PATTERN
                } else {
                    SEGMENT_PATTERN
                };
                options.is_empty().then(|| pattern.to_owned())
            });
            if default
                .as_deref()
                .is_some_and(|d| !in_host && options.is_empty() && (d.contains(['/', '?', '#'])))
            {
                // A whole path as the default: it is not a value that a user would fill in.
                url = url.replace(
                    &format!("{{{key}}}"),
                    default.as_deref().unwrap_or_default().trim_matches('/'),
                );
                continue;
            }
            let options_have = |text: &str| options.is_empty() || options.iter().any(|o| o == text);
            parameters.push(Parameter {
                title: keys.title.unwrap_or_else(|| words::title(&key)),
                help: keys
                    .help
                    .or_else(|| {
                        variable
                            .text("description")
                            .map(|text| words::clean(text, 500))
                    })
                    .filter(|text| !text.is_empty()),
                required: keys.required.unwrap_or(true),
                default: default.filter(|text| options_have(text)),
                pattern,
                options,
                key,
            });
        }
        // A variable that nobody declared.
        if let Some(open) = url.find('{') {
            let name = url[open + 1..].split('}').next().unwrap_or_default();
            let declared = parameters.iter().any(|p| p.key == name);
            if !declared
                && !parameters
                    .iter()
                    .any(|p| url.contains(&format!("{{{}}}", p.key)))
            {
                return Ok(Err(format!(
                    "the server's variable `{}` is not declared",
                    words::clean(name, 60)
                )));
            }
        }
        Ok(Ok((url, parameters)))
    }
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

/// Whether a host can be granted: a name with two fixed labels at its end, no address, no port.
pub fn check_host(host: &str) -> Result<(), String> {
    let shown = words::clean(host, 100);
    if host.contains(':') || host.contains('@') {
        return Err(format!("`{shown}` names a port or a user"));
    }
    let labels: Vec<&str> = host.split('.').collect();
    let fixed = labels
        .iter()
        .rev()
        .take_while(|label| !label.contains('{'))
        .count();
    if fixed < 2 {
        return Err(format!("`{shown}` is a host that only its operator knows"));
    }
    let last = labels[labels.len() - 1];
    let local = [
        "local",
        "localhost",
        "internal",
        "lan",
        "home",
        "test",
        "invalid",
        "example",
        "localdomain",
    ];
    if last.bytes().all(|b| b.is_ascii_digit()) || local.contains(&last) {
        return Err(format!("`{shown}` is a local address"));
    }
    let good = labels.iter().all(|label| {
        let literal: String = without_braces(label);
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && literal
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    });
    if good {
        Ok(())
    } else {
        Err(format!("`{shown}` is not a host name"))
    }
}

fn without_braces(label: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in label.chars() {
        match c {
            '{' => inside = true,
            '}' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

trait LowerOutsideBraces {
    fn to_ascii_lowercase_outside_braces(&self) -> String;
}

impl LowerOutsideBraces for str {
    fn to_ascii_lowercase_outside_braces(&self) -> String {
        let mut inside = false;
        self.chars()
            .map(|c| {
                match c {
                    '{' => inside = true,
                    '}' => inside = false,
                    _ => {}
                }
                if inside { c } else { c.to_ascii_lowercase() }
            })
            .collect()
    }
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
}
