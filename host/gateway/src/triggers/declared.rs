//! What a plugin declares of a trigger, and the arguments that a poll calls its tool with.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::CONFIG_BYTES_MAX;
use crate::access::permissions::Permissions;
use crate::{Error, Gateway, Permission};
use toolgate_catalog::lint::{TRIGGER_INTERVAL_S, TRIGGER_INTERVAL_S_MAX, TRIGGER_INTERVAL_S_MIN};
use toolgate_catalog::manifest::TriggerSpec;
use toolgate_catalog::{CheckBudget, Misfit, Tool};
use toolgate_core::ids::UserId;
use toolgate_core::visible::shown_name;

/// The argument with which a paginated tool goes on at a page.
pub(super) const CURSOR: &str = "cursor";

/// Triggers that the answer to an unknown one names.
const NAMED_MAX: usize = 20;

/// A trigger of a plugin that serves.
#[derive(Clone, Debug)]
pub(super) struct DeclaredTrigger {
    pub tool: Arc<Tool>,
    pub spec: TriggerSpec,
}

impl DeclaredTrigger {
    /// The arguments of a call: those of the manifest, and those that the user chose.
    pub(super) fn arguments(&self, config: &Map<String, Value>) -> Map<String, Value> {
        let mut arguments = config.clone();
        for (name, value) in &self.spec.arguments {
            arguments.insert(name.clone(), value.clone());
        }
        arguments
    }

    /// The same, from the page of a cursor on.
    pub(super) fn page_arguments(
        &self,
        config: &Map<String, Value>,
        cursor: Option<&str>,
    ) -> Map<String, Value> {
        let mut arguments = self.arguments(config);
        if let Some(cursor) = cursor {
            arguments.insert(CURSOR.to_owned(), cursor.into());
        }
        arguments
    }

    /// The arguments that a user chose, if calls can be made with them.
    ///
    /// # Errors
    /// `invalid_request`, and `invalid_arguments` with every violation of the tool's schema.
    pub(super) fn checked_config(&self, config: Value) -> Result<Map<String, Value>, Error> {
        let Value::Object(config) = config else {
            return Err(Error::InvalidRequest(
                "config must be an object of arguments".to_owned(),
            ));
        };
        let bytes = Value::Object(config.clone()).to_string().len();
        if bytes > CONFIG_BYTES_MAX {
            return Err(Error::InvalidRequest(format!(
                "config must have at most {CONFIG_BYTES_MAX} bytes, not {bytes}"
            )));
        }
        let taken = |name: &&String| {
            self.spec.arguments.contains_key(*name)
                || (self.tool.spec().paginated && *name == CURSOR)
        };
        if let Some(name) = config.keys().find(taken) {
            return Err(Error::InvalidRequest(format!(
                "config: the trigger sets {} itself; leave it out",
                shown_name(name)
            )));
        }
        let mut arguments = Value::Object(self.arguments(&config));
        match self.tool.fit(&mut arguments, None, CheckBudget::Direct) {
            // What is costly to check is checked by each call.
            Ok(_) | Err(Misfit::TooCostly) => Ok(config),
            Err(misfit) => Err(Error::InvalidArguments {
                tool_name: self.tool.name.to_string(),
                violations: misfit.into_violations(),
            }),
        }
    }

    /// Seconds between two polls: those that the user wants, else those of the manifest.
    ///
    /// # Errors
    /// As of [`checked_interval_s`].
    pub(super) fn interval_s(&self, wanted_s: Option<u64>) -> Result<u64, Error> {
        let declared_s = self.spec.interval_s.unwrap_or(TRIGGER_INTERVAL_S);
        checked_interval_s(wanted_s.unwrap_or(declared_s))
    }
}

/// Seconds between two polls.
///
/// # Errors
/// `invalid_request` beyond the bounds.
pub(super) fn checked_interval_s(seconds: u64) -> Result<u64, Error> {
    if (TRIGGER_INTERVAL_S_MIN..=TRIGGER_INTERVAL_S_MAX).contains(&seconds) {
        return Ok(seconds);
    }
    Err(Error::InvalidRequest(format!(
        "interval_s must be {TRIGGER_INTERVAL_S_MIN} to {TRIGGER_INTERVAL_S_MAX}, not {seconds}"
    )))
}

/// Whether the user's calls of the tool run without a person who decides about each.
///
/// # Errors
/// `permission_denied`, and `conflict` where a person is asked.
pub(super) fn check_permission(
    permissions: &Permissions,
    user: &UserId,
    tool: &Tool,
) -> Result<(), Error> {
    permissions.check(user, tool)?;
    match permissions.decide(tool).permission {
        Permission::Allow => Ok(()),
        Permission::Deny | Permission::Ask => Err(Error::Conflict(format!(
            "a person decides about each call of {} by {user}, and nobody could for a poll; allow the tool first",
            tool.name
        ))),
    }
}

impl Gateway {
    /// The trigger of this name of a service, as its serving plugin declares it.
    ///
    /// # Errors
    /// `service_not_found`; `not_found` with the triggers that the service has and the user may have.
    pub(super) fn declared_trigger(
        &self,
        service: &str,
        name: &str,
        permissions: &Permissions,
    ) -> Result<DeclaredTrigger, Error> {
        let snapshot = self.snapshot();
        if !snapshot.catalog.services().any(|known| known == service) {
            return Err(Error::ServiceNotFound(shown_name(service)));
        }
        let tools = snapshot.catalog.tools().iter();
        let of_service = tools.filter(|tool| tool.service() == service);
        let mut others = Vec::new();
        for tool in of_service.filter(|tool| permissions.shows(tool)) {
            for spec in &tool.spec().triggers {
                if spec.name == name {
                    return Ok(DeclaredTrigger {
                        tool: tool.clone(),
                        spec: spec.clone(),
                    });
                }
                others.push(spec.name.as_str());
            }
        }
        others.truncate(NAMED_MAX);
        let name = shown_name(name);
        Err(Error::NotFound(match &others[..] {
            [] => format!("{service} has no triggers; the trigger {name}"),
            others => format!(
                "the trigger {name} of {service}, which has {},",
                others.join(", ")
            ),
        }))
    }
}
