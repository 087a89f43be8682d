//! From `security` to the slots and scopes of one tool.

use serde_json::{Map, Value};

use super::{SLOTS_MAX, Security};
use crate::document::Node;
use crate::problem::{Notes, Problem};
use crate::words;
use toolgate_catalog::is_scope;
use toolgate_catalog::manifest::AuthKind;

/// What one tool needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SecurityNeeds {
    pub slots: Vec<String>,
    pub optional: bool,
    pub scopes: Vec<String>,
    /// Why none of the credentials that it names can be used. Without one its requests would be
    /// anonymous, which is not what the description says.
    pub unusable: Option<String>,
}

impl<'d> Security<'d> {
    /// The needs of an operation: its own `security`, else the document's, else any scheme.
    pub fn needs(
        &mut self,
        operation: Node<'d>,
        pointer: &str,
        notes: &mut Notes,
    ) -> Result<SecurityNeeds, Problem> {
        let root = self.docs.root();
        let declares = |node: &Node<'d>| node.value.get("security").is_some_and(Value::is_array);
        let mut needs = SecurityNeeds::default();
        let Some(node) = [operation, root].into_iter().find(declares) else {
            let all: Vec<&'d str> = self.schemes.keys().copied().collect();
            for name in all {
                self.use_slot(vec![name], pointer, notes, &mut needs)?;
            }
            if !needs.slots.is_empty() {
                needs.unusable = None;
            }
            return Ok(needs);
        };
        let mut settled = None;
        for requirement in node.elements("security") {
            let Some(requirement) = requirement.value.as_object() else {
                continue;
            };
            if requirement.is_empty() {
                needs.optional = true;
                continue;
            }
            let Some(names) = self.scheme_names(requirement, pointer, notes, &mut needs) else {
                continue;
            };
            let scopes = scopes_of(requirement, &names);
            if let Some(kind) = self.use_slot(names, pointer, notes, &mut needs)? {
                settle(kind, scopes, &mut settled, &mut needs, pointer, notes);
            }
        }
        if needs.optional || !needs.slots.is_empty() {
            needs.unusable = None;
        }
        needs.optional &= !needs.slots.is_empty();
        if needs.slots.is_empty() {
            needs.scopes.clear();
        }
        Ok(needs)
    }

    /// The schemes of a Security Requirement Object that are used together, sorted. `None` where one of them is not
    /// declared, since all schemes of a requirement belong together.
    fn scheme_names(
        &self,
        requirement: &Map<String, Value>,
        pointer: &str,
        notes: &mut Notes,
        needs: &mut SecurityNeeds,
    ) -> Option<Vec<&'d str>> {
        let mut names: Vec<&'d str> = Vec::new();
        let mut undeclared = None;
        for name in requirement.keys() {
            match self.schemes.get_key_value(name.as_str()) {
                Some((name, _)) => names.push(name),
                None => undeclared = Some(name),
            }
        }
        if let Some(name) = undeclared {
            let why = format!(
                "the security scheme `{}` is not declared",
                words::clean(name, 60)
            );
            notes.changed(pointer, why.clone());
            needs.unusable.get_or_insert(why);
            return None;
        }
        // OAuth cannot be combined with fields that a user fills in, so it is used alone.
        let is_oauth = |name: &&'d str| {
            let kind = self.schemes.get(name).and_then(|node| node.text("type"));
            matches!(kind, Some("oauth2" | "openIdConnect"))
        };
        let oauth = names.iter().copied().find(is_oauth);
        if let Some(oauth) = oauth.filter(|_| names.len() > 1) {
            let message = format!(
                "of the credentials {} only `{oauth}` is sent",
                names.join(", ")
            );
            notes.changed(pointer, message);
            names = vec![oauth];
        }
        names.sort_unstable();
        Some(names)
    }

    /// Adds the slot of these schemes to what a tool needs. Returns the kind of the slot where it is usable
    /// and was added now.
    fn use_slot(
        &mut self,
        names: Vec<&'d str>,
        pointer: &str,
        notes: &mut Notes,
        needs: &mut SecurityNeeds,
    ) -> Result<Option<AuthKind>, Problem> {
        if !self.made.contains_key(&names) {
            let slot = if self.order.len() < SLOTS_MAX {
                self.make(&names, notes)?
            } else {
                None
            };
            self.made.insert(names.clone(), slot);
            self.order.push(names.clone());
        }
        match self.made.get(&names).and_then(Option::as_ref) {
            Some(slot) if needs.slots.contains(&slot.slot) => Ok(None),
            Some(slot) => {
                needs.slots.push(slot.slot.clone());
                Ok(Some(slot.kind))
            }
            None => {
                let reason = names.iter().find_map(|name| self.refused.get(name));
                let reason = reason.map_or_else(
                    || format!("at most {SLOTS_MAX} credentials fit into one plugin"),
                    Clone::clone,
                );
                let why = format!(
                    "the credential `{}` cannot be used: {reason}",
                    names.join(" and ")
                );
                notes.changed(pointer, why.clone());
                needs.unusable.get_or_insert(why);
                Ok(None)
            }
        }
    }
}

/// The scopes that a requirement names for these of its schemes.
fn scopes_of(requirement: &Map<String, Value>, names: &[&str]) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    let lists = requirement
        .iter()
        .filter(|(name, _)| names.contains(&name.as_str()));
    for scope in lists
        .filter_map(|(_, scopes)| scopes.as_array())
        .flatten()
        .filter_map(Value::as_str)
    {
        if is_scope(scope) && !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// Requirements are alternatives: a tool asks for the scopes of the first that names its OAuth slot.
/// Where no slot is OAuth, the first scopes say what a pasted token must be allowed to do.
fn settle(
    kind: AuthKind,
    scopes: Vec<String>,
    settled: &mut Option<String>,
    needs: &mut SecurityNeeds,
    pointer: &str,
    notes: &mut Notes,
) {
    let oauth = matches!(kind, AuthKind::Oauth2 | AuthKind::Oauth2ClientCredentials);
    let slot = needs.slots.last().cloned().unwrap_or_default();
    match settled {
        None if oauth => {
            needs.scopes = scopes;
            *settled = Some(slot);
        }
        None if needs.scopes.is_empty() => needs.scopes = scopes,
        Some(first) if oauth && scopes.iter().any(|scope| !needs.scopes.contains(scope)) => {
            let message = format!(
                "the tool asks for the scopes of `{first}`; a connection of `{slot}` needs others"
            );
            notes.changed(pointer, message);
        }
        _ => {}
    }
}
