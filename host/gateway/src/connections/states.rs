//! Whether a user could run a tool now.

use std::collections::{HashMap, HashSet};

use super::choose::{self, ConnectionChoice};
use crate::tools::ConnectionState;
use toolgate_catalog::Tool;
use toolgate_store::Connection;

/// The connections of one user.
pub(crate) struct UserConnections {
    by_service: HashMap<String, Vec<Connection>>,
    /// Services that the operator has to give an address first.
    unset: HashSet<String>,
}

impl UserConnections {
    pub(super) fn new(rows: Vec<Connection>, unset: HashSet<String>) -> Self {
        let mut by_service: HashMap<String, Vec<Connection>> = HashMap::new();
        for row in rows {
            by_service.entry(row.service.clone()).or_default().push(row);
        }
        Self { by_service, unset }
    }

    pub(crate) fn state(&self, tool: &Tool) -> ConnectionState {
        if self.unset.contains(tool.service()) {
            return ConnectionState::NeedsSetup;
        }
        if tool.spec().auth.is_empty() || tool.spec().auth_optional {
            return ConnectionState::NotNeeded;
        }
        let rows = self.by_service.get(tool.service());
        let rows = rows.map_or(&[][..], Vec::as_slice);
        match choose::choose(rows, &tool.spec().auth, tool.scopes(), None) {
            ConnectionChoice::Use(_) => ConnectionState::Connected,
            ConnectionChoice::Broken(_) => ConnectionState::Expired,
            ConnectionChoice::MoreScopes(_)
            | ConnectionChoice::Nothing
            | ConnectionChoice::Unknown => ConnectionState::NotConnected,
        }
    }

    /// Whether the tool needs no connection that the user lacks.
    pub(crate) fn ready(&self, tool: &Tool) -> bool {
        matches!(
            self.state(tool),
            ConnectionState::Connected | ConnectionState::NotNeeded
        )
    }
}
