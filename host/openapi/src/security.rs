//! From `securitySchemes` to credential slots; [`needs`] goes from `security` to the slots of a tool.

mod combine;
mod needs;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use combine::together;
pub use needs::SecurityNeeds;
use serde_json::{Map, Value, json};

use super::document::{Documents, Node};
use super::keys;
use super::problem::{Notes, Problem, below};
use super::words;
use toolgate_catalog::is_scope;
use toolgate_catalog::manifest::{AuthKind, Slot, ToolSpec};

const SLOTS_MAX: usize = 20;
const SCOPES_MAX: usize = 200;

/// The slots of a description; made when a tool first needs them.
pub struct Security<'d> {
    docs: &'d Documents,
    schemes: BTreeMap<&'d str, Node<'d>>,
    audience: Vec<String>,
    service_title: String,
    /// By the schemes that they are made of; `None` where these cannot be used.
    made: BTreeMap<Vec<&'d str>, Option<Slot>>,
    /// In the order of their first use.
    order: Vec<Vec<&'d str>>,
    /// Schemes whose scopes are all those that their flow lists.
    listed: BTreeSet<&'d str>,
    /// Why a scheme cannot be used.
    refused: BTreeMap<&'d str, String>,
    pub oauth_parameters: Vec<String>,
}

impl<'d> Security<'d> {
    pub fn new(docs: &'d Documents, audience: Vec<String>, service_title: &str) -> Self {
        let components = docs.root().get("components");
        let schemes = components
            .into_iter()
            .flat_map(|c| c.members("securitySchemes").collect::<Vec<_>>());
        let schemes = schemes
            .filter_map(|(name, node)| Some((name, docs.resolve(node).ok()?)))
            .collect();
        Self {
            docs,
            schemes,
            audience,
            service_title: service_title.to_owned(),
            made: BTreeMap::new(),
            order: Vec::new(),
            listed: BTreeSet::new(),
            refused: BTreeMap::new(),
            oauth_parameters: Vec::new(),
        }
    }

    /// All slots that a tool uses, in the order of their first use. A connect link asks for a slot's
    /// own scopes and those of the tool just called, so a slot keeps only what no tool names.
    pub fn slots(self, tools: &[ToolSpec]) -> Vec<Slot> {
        let (mut made, listed) = (self.made, self.listed);
        let slots = self.order.iter().filter_map(|names| {
            let mut slot = made.remove(names).flatten()?;
            let listed = names.iter().any(|name| listed.contains(name));
            if listed && slot.kind == AuthKind::Oauth2 {
                let asking = tools.iter().filter(|tool| tool.auth.contains(&slot.slot));
                let asked: BTreeSet<&String> = asking.flat_map(|tool| &tool.scopes).collect();
                slot.scopes.retain(|scope| !asked.contains(scope));
            }
            Some(slot)
        });
        slots.collect()
    }

    /// Names of headers and query parameters that carry a credential.
    pub fn carries(&self, place: &str, name: &str) -> bool {
        self.schemes.values().any(|scheme| {
            scheme.text("type") == Some("apiKey")
                && scheme.text("in") == Some(place)
                && scheme
                    .text("name")
                    .is_some_and(|own| own.eq_ignore_ascii_case(name))
        })
    }

    /// Query names that the slots write, for addresses that come back from the provider.
    pub fn secret_query(&self) -> Vec<String> {
        let keys = self
            .schemes
            .values()
            .filter(|s| s.text("in") == Some("query"));
        keys.filter_map(|scheme| scheme.text("name").map(str::to_owned))
            .collect()
    }

    fn make(&mut self, names: &[&'d str], notes: &mut Notes) -> Result<Option<Slot>, Problem> {
        let mut slots = Vec::new();
        for name in names {
            let node = self.schemes[name];
            let at = below("/components/securitySchemes", name);
            match self.one(name, node, &at, notes)? {
                Some(slot) => slots.push(slot),
                None => return Ok(None),
            }
        }
        let taken: Vec<String> = self
            .made
            .values()
            .flatten()
            .map(|slot| slot.slot.clone())
            .collect();
        let mut slot = match slots.len() {
            0 => return Ok(None),
            1 => slots.remove(0),
            _ => together(slots),
        };
        let base = slot.slot.clone();
        for number in 2.. {
            if !taken.contains(&slot.slot) {
                break;
            }
            slot.slot = words::numbered(&base, number, 40);
        }
        Ok(Some(slot))
    }

    fn one(
        &mut self,
        name: &'d str,
        node: Node<'d>,
        pointer: &str,
        notes: &mut Notes,
    ) -> Result<Option<Slot>, Problem> {
        let own = keys::slot(node);
        let mut made = Map::new();
        let key = words::shorten(&words::snake(name), 40);
        made.insert(
            "slot".to_owned(),
            json!(if key.is_empty() {
                "credential"
            } else {
                key.as_str()
            }),
        );
        let text = node
            .text("description")
            .map(|text| words::clean(text, 100))
            .filter(|text| !text.is_empty());
        let complete = own.contains_key("type") && own.contains_key("placement");
        if let Err(why) = self.derived(node, &own, &mut made, pointer, notes)
            && !complete
        {
            notes.changed(pointer, why.clone());
            self.refused.insert(name, why);
            return Ok(None);
        }
        let title = text.unwrap_or_else(|| {
            format!(
                "{} {}",
                self.service_title,
                words::title(name).to_lowercase()
            )
        });
        made.insert("title".to_owned(), json!(words::clean(&title, 200)));
        made.insert("audience".to_owned(), json!(self.audience));
        if !own.contains_key("scopes") {
            self.listed.insert(name);
        }
        for (key, value) in own {
            made.insert(key, value);
        }
        if made.get("type").and_then(Value::as_str) == Some("basic")
            && !made.contains_key("placement")
        {
            made.insert("placement".to_owned(), json!({"basic": {}}));
        }
        made.entry("placement")
            .or_insert_with(|| json!({"header": "authorization", "template": "Bearer {secret}"}));
        let slot: Slot =
            serde_path_to_error::deserialize(Value::Object(made)).map_err(|error| {
                let path = error.path().to_string();
                let at = below(
                    &below(pointer, keys::KEY),
                    path.split('.').next().unwrap_or_default(),
                );
                Problem::new(self.docs.name(), at, error.inner().to_string())
            })?;
        Ok(Some(slot))
    }

    /// The slot of a scheme, by its type and flow. The error says why it cannot become a slot.
    fn derived(
        &self,
        node: Node<'d>,
        own: &Map<String, Value>,
        made: &mut Map<String, Value>,
        pointer: &str,
        notes: &mut Notes,
    ) -> Result<(), String> {
        let bearer = json!({"header": "authorization", "template": "Bearer {secret}"});
        match node.text("type").unwrap_or_default() {
            "http" => match node
                .text("scheme")
                .unwrap_or_default()
                .to_ascii_lowercase()
                .as_str()
            {
                "basic" => {
                    made.insert("type".to_owned(), json!("basic"));
                    made.insert("placement".to_owned(), json!({"basic": {}}));
                }
                "bearer" => {
                    made.insert("type".to_owned(), json!("bearer"));
                    made.insert("placement".to_owned(), bearer);
                }
                other => {
                    return Err(format!(
                        "HTTP authentication `{}` is not supported: basic and bearer are, and so is what `x-toolgate` describes with `type` and `placement`",
                        words::clean(other, 40)
                    ));
                }
            },
            "apiKey" => {
                let Some(name) = node
                    .text("name")
                    .map(str::trim)
                    .filter(|name| is_token(name))
                else {
                    if own.contains_key("placement") {
                        return Ok(());
                    }
                    return Err(
                        "an API key needs the `name` of a header or query parameter".to_owned()
                    );
                };
                made.insert("type".to_owned(), json!("api_key"));
                let place = match node.text("in") {
                    Some(other) if !matches!(other, "query" | "cookie" | "header") => {
                        return Err(format!(
                            "an API key is `in` header, query or cookie, not `{}`",
                            words::clean(other, 40)
                        ));
                    }
                    Some("query") => json!({"query": name}),
                    Some("cookie") => {
                        json!({"header": "cookie", "template": format!("{name}={{secret}}")})
                    }
                    _ => json!({"header": name.to_ascii_lowercase()}),
                };
                made.insert("placement".to_owned(), place);
            }
            "oauth2" => self.oauth(node, own, made, pointer, notes),
            "openIdConnect" => {
                notes.changed(pointer, "OpenID Connect becomes a token that the user pastes; name `authorize_url` and `token_url` under `x-toolgate` for a sign-in");
                made.insert("type".to_owned(), json!("bearer"));
                made.insert("placement".to_owned(), bearer);
            }
            other => {
                return Err(format!(
                    "the security type `{}` is not supported: http, apiKey, oauth2 and openIdConnect are",
                    words::clean(other, 40)
                ));
            }
        }
        Ok(())
    }

    fn oauth(
        &self,
        node: Node<'d>,
        own: &Map<String, Value>,
        made: &mut Map<String, Value>,
        pointer: &str,
        notes: &mut Notes,
    ) {
        made.insert(
            "placement".to_owned(),
            json!({"header": "authorization", "template": "Bearer {secret}"}),
        );
        let flow = |name: &str| node.get("flows").and_then(|flows| flows.get(name));
        let address = |flow: Option<Node<'d>>, key: &str, own_key: &str| {
            own.get(own_key)
                .and_then(Value::as_str)
                .map(str::to_owned)
                .or_else(|| self.address(flow?.text(key)?))
        };
        let code = flow("authorizationCode").or_else(|| flow("accessCode"));
        let client = flow("clientCredentials").or_else(|| flow("application"));
        let authorize_url = address(code, "authorizationUrl", "authorize_url");
        let token_url = address(code.or(client), "tokenUrl", "token_url");
        let (kind, chosen) = match (authorize_url, token_url) {
            (Some(authorize_url), Some(token_url)) => {
                made.insert("authorize_url".to_owned(), json!(authorize_url));
                made.insert("token_url".to_owned(), json!(token_url));
                ("oauth2", code)
            }
            (_, Some(token_url)) if client.is_some() => {
                made.insert("token_url".to_owned(), json!(token_url));
                ("oauth2_client_credentials", client)
            }
            _ => {
                if !own.contains_key("type") {
                    notes.changed(pointer, "no OAuth flow with absolute https addresses: the slot becomes a token that the user pastes");
                }
                made.insert("type".to_owned(), json!("bearer"));
                return;
            }
        };
        made.insert("type".to_owned(), json!(kind));
        let separator = own
            .get("scope_separator")
            .and_then(Value::as_str)
            .unwrap_or(" ");
        let scopes: Vec<&str> = chosen
            .into_iter()
            .flat_map(|flow| {
                flow.members("scopes")
                    .map(|(scope, _)| scope)
                    .collect::<Vec<_>>()
            })
            .filter(|scope| is_scope_between(scope, separator))
            .take(SCOPES_MAX)
            .collect();
        made.insert("scopes".to_owned(), json!(scopes));
    }

    /// An absolute https address, `{parameter}`s kept. Relative ones are joined to the server.
    fn address(&self, url: &str) -> Option<String> {
        let url = url.trim().split('#').next().unwrap_or_default();
        let absolute = if let Some(rest) = url.strip_prefix("http://") {
            format!("https://{rest}")
        } else if url.starts_with('/') && !url.starts_with("//") {
            let origin = self
                .audience
                .first()
                .filter(|origin| origin.starts_with("https://"))?;
            format!("{origin}{url}")
        } else {
            url.to_owned()
        };
        let host = absolute
            .strip_prefix("https://")?
            .split(['/', '?'])
            .next()?;
        let good = super::servers::check_host(host).is_ok()
            && absolute.len() <= 500
            && !absolute.contains(char::is_whitespace);
        // A parameter that no server declares would never have a value.
        let filled =
            !host.contains('{') || self.audience.iter().any(|origin| origin.ends_with(host));
        (good && filled).then_some(absolute)
    }
}

fn is_token(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 100
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~[]".contains(&b))
}

fn is_scope_between(scope: &str, separator: &str) -> bool {
    is_scope(scope) && !scope.contains(separator)
}
