//! The variables of a server: each becomes a fixed text or a parameter of the connection.

use serde_json::Value;
use toolgate_catalog::manifest::Parameter;

use super::ServerRefusal;
use crate::document::Node;
use crate::keys::{self, VariableKeys};
use crate::problem::{Problem, below};
use crate::words;

/// Values that a parameter in a host may have: part of one DNS label.
pub(super) const LABEL_PATTERN: &str = "^[A-Za-z0-9-]+$";
/// Values that a parameter in a path may have.
pub(super) const SEGMENT_PATTERN: &str = "^[A-Za-z0-9._~-]+$";

/// Last words of names of variables that choose a part of the API, not an account: their default is a value.
const API_PARTS: [&str; 10] = [
    "base",
    "env",
    "environment",
    "language",
    "locale",
    "path",
    "prefix",
    "region",
    "stage",
    "version",
];

/// The address of a server with its variables renamed to parameters, or filled where they need no user.
pub(super) struct AddressTemplate {
    pub(super) url: String,
    pub(super) parameters: Vec<Parameter>,
}

impl AddressTemplate {
    pub(super) fn read(file: &str, server: Node<'_>, pointer: &str) -> Result<Self, ServerRefusal> {
        let written = server.text("url").unwrap_or_default().trim();
        let mut template = Self {
            url: written.to_owned(),
            parameters: Vec::new(),
        };
        let host = up_to_host(written);
        for (name, node) in server.members("variables") {
            let mark = format!("{{{name}}}");
            if !template.url.contains(&mark) {
                continue;
            }
            let at = below(&below(pointer, "variables"), name);
            let in_host = host.contains(&mark);
            let variable = ServerVariable::read(file, name, node, &at, in_host)?;
            let text = match variable.resolve(&template.url)? {
                Resolved::Text(text) => text,
                Resolved::Parameter(parameter) => {
                    let text = format!("{{{}}}", parameter.key);
                    template.parameters.push(parameter);
                    text
                }
            };
            template.url = template.url.replace(&mark, &text);
        }
        template.check_declared()?;
        Ok(template)
    }

    /// Refuses an address with a variable that is not declared.
    fn check_declared(&self) -> Result<(), ServerRefusal> {
        let Some(open) = self.url.find('{') else {
            return Ok(());
        };
        let name = self.url[open + 1..].split('}').next().unwrap_or_default();
        let used = |parameter: &Parameter| self.url.contains(&format!("{{{}}}", parameter.key));
        if self.parameters.iter().any(|p| p.key == name || used(p)) {
            return Ok(());
        }
        Err(ServerRefusal::Skip(format!(
            "the server's variable `{}` is not declared",
            words::clean(name, 60)
        )))
    }
}

/// The address up to the end of its host.
fn up_to_host(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| at + start);
    &url[..end]
}

/// What replaces a variable in an address.
enum Resolved {
    Text(String),
    Parameter(Parameter),
}

/// A Server Variable Object.
struct ServerVariable<'d> {
    name: &'d str,
    node: Node<'d>,
    keys: VariableKeys,
    /// `default`, empty where there is none.
    default: String,
    /// `enum`.
    options: Vec<String>,
    in_host: bool,
}

impl<'d> ServerVariable<'d> {
    fn read(
        file: &str,
        name: &'d str,
        node: Node<'d>,
        pointer: &str,
        in_host: bool,
    ) -> Result<Self, Problem> {
        let options = node.elements("enum");
        let options = options.filter_map(|option| option.value.as_str().map(str::to_owned));
        Ok(Self {
            name,
            node,
            keys: keys::read(file, pointer, node)?,
            default: match node.value.get("default") {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => String::new(),
            },
            options: options.collect(),
            in_host,
        })
    }

    fn resolve(self, url: &str) -> Result<Resolved, ServerRefusal> {
        let name = self.name;
        if url.starts_with(&format!("{{{name}}}")) {
            return Ok(Resolved::Text(self.scheme().to_owned()));
        }
        if url.contains(&format!(":{{{name}}}")) {
            return Err(ServerRefusal::Skip(format!(
                "the port of the server is a variable, `{name}`"
            )));
        }
        if let Some(value) = self.fixed_value() {
            return Ok(Resolved::Text(value));
        }
        let written = Some(&self.default).filter(|text| !text.is_empty());
        let default = self.keys.default.as_ref().or(written);
        // A whole path as the default is not a value that a user would fill in.
        let is_path = |text: &&String| {
            !self.in_host && self.options.is_empty() && text.contains(['/', '?', '#'])
        };
        if let Some(path) = default.filter(is_path) {
            return Ok(Resolved::Text(path.trim_matches('/').to_owned()));
        }
        Ok(Resolved::Parameter(self.parameter()))
    }

    /// The value that a form begins with. A description has to have a `default`, so that where users have different
    /// values it is an example, which would pass for the user's own.
    fn real_default(&self) -> Option<String> {
        let written = Some(&self.default)
            .filter(|text| !text.is_empty() && (!self.options.is_empty() || self.chooses_api()));
        self.keys.default.as_ref().or(written).cloned()
    }

    /// Whether the variable chooses a part of the API, as its name or the look of its default says.
    fn chooses_api(&self) -> bool {
        let name = words::snake(self.name);
        let last = name.rsplit('_').next().unwrap_or_default();
        let number = self.default.strip_prefix('v');
        let is_version = number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        });
        !self.in_host && (API_PARTS.contains(&last) || is_version)
    }

    /// The scheme that a variable at the beginning of the address is replaced by.
    fn scheme(&self) -> &'static str {
        if self.default == "http" && !self.options.iter().any(|option| option == "https") {
            "http"
        } else {
            "https"
        }
    }

    /// The value of a variable that has one value, or has values that its place in the address cannot have.
    fn fixed_value(&self) -> Option<String> {
        let is_label = |option: &String| {
            !option.is_empty()
                && option
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        let is_plain =
            |option: &String| !option.is_empty() && !option.contains(['/', '?', '#', '{', '}']);
        let options = &self.options;
        let first = options.first()?;
        let choice = options.len() > 1
            && options.iter().all(is_plain)
            && (!self.in_host || options.iter().all(is_label));
        if choice {
            return None;
        }
        let value = Some(&self.default).filter(|text| !text.is_empty());
        Some(value.unwrap_or(first).clone())
    }

    /// The text beside the input, with the example that stands at `default`. In a host the example is a word such as
    /// `yourcompany`, which says nothing.
    fn help(&self, default: Option<&String>) -> Option<String> {
        let described = self.node.text("description");
        let help = self.keys.help.clone();
        let help = help.or_else(|| described.map(|text| words::clean(text, 500)));
        let mut help = help.unwrap_or_default();
        let example = words::clean(&self.default, 100);
        let shown =
            self.in_host || default.is_some() || example.is_empty() || help.contains(&example);
        if !shown {
            if !help.is_empty() {
                help.push_str(if help.ends_with('.') { " " } else { ". " });
            }
            help.push_str(&format!("Example: {example}"));
        }
        Some(help).filter(|text| !text.is_empty())
    }

    fn parameter(self) -> Parameter {
        let default = self.real_default();
        let help = self.help(default.as_ref());
        let key = match words::snake(self.name) {
            key if key.is_empty() => "value".to_owned(),
            key => key,
        };
        let pattern = self.keys.pattern.or_else(|| {
            let pattern = if self.in_host {
                LABEL_PATTERN
            } else {
                SEGMENT_PATTERN
            };
            self.options.is_empty().then(|| pattern.to_owned())
        });
        let is_option = |text: &String| self.options.is_empty() || self.options.contains(text);
        Parameter {
            title: self.keys.title.unwrap_or_else(|| words::title(&key)),
            help,
            required: self.keys.required.unwrap_or(true),
            default: default.filter(is_option),
            pattern,
            options: self.options,
            key,
        }
    }
}
