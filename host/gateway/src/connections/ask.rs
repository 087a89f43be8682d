//! What a call answers whose user has to connect first.

use super::link::{LinkEnding, LinkRequest};
use super::{Error, Gateway};
use crate::Caller;
use crate::plugins::ServingPlugin;
use crate::tools::{Connect, Outcome};
use toolgate_catalog::Tool;
use toolgate_core::ids::UserId;
use toolgate_store::Connection;

/// Why the user is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Required,
    MoreScopes,
    Expired,
    /// What came back of the credential could soon complete it.
    Exposed,
}

/// For whom, for which tool and with which connection.
#[derive(Clone, Copy)]
pub(crate) struct ConnectRequest<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) user: &'a UserId,
    pub(crate) tool: &'a Tool,
    pub(crate) serving: &'a ServingPlugin,
    /// The connection that is renewed.
    pub(crate) of: Option<&'a Connection>,
}

impl Gateway {
    /// `scopes`: what the link asks for beside the slot's own.
    pub(super) async fn connect_outcome(
        &self,
        asking: ConnectRequest<'_>,
        reason: Reason,
        scopes: &[String],
    ) -> Result<Outcome, Error> {
        let ConnectRequest {
            caller,
            user,
            tool,
            serving,
            of,
        } = asking;
        let manifest = &serving.manifest;
        // A tool that needs no connection has no slot of its own to connect.
        let of_connection = of.filter(|_| tool.spec().auth.is_empty());
        let of_connection = of_connection.map(|row| vec![row.slot.clone()]);
        let ask = LinkRequest {
            workspace_id: &caller.workspace_id,
            user,
            manifest,
            slots: of_connection.as_ref().unwrap_or(&tool.spec().auth),
            scopes,
            tool_name: Some(&tool.name),
            connection: of,
            first_only: true,
            ending: LinkEnding::default(),
        };
        let link = self.connections.make_link(ask).await?;
        let title = &manifest.title;
        let mut message = match reason {
            Reason::Required => format!("{title} is not connected for the user {user}."),
            Reason::MoreScopes => format!(
                "The {title} connection of the user {user} lacks rights that this tool needs{}.",
                named(scopes)
            ),
            Reason::Expired => format!(
                "The {title} connection of the user {user} has expired or was revoked and has to be renewed."
            ),
            Reason::Exposed => format!(
                "Pieces of the {title} credential of the user {user} have come back several times, so it is not used \
                 any more. Connect again with a new credential."
            ),
        };
        if link.is_none() {
            message.push_str(" The operator of this gateway has to set the service up first.");
        }
        let expired = matches!(reason, Reason::Expired | Reason::Exposed);
        let connect = Connect {
            reason: if expired {
                "auth_expired"
            } else {
                "auth_required"
            }
            .to_owned(),
            auth_type: link
                .as_ref()
                .map_or(tool.auth_type(), |link| link.auth_type)
                .to_owned(),
            message,
            connect_url: link.map(|link| link.url.expose().to_owned()),
        };
        Ok(if expired {
            Outcome::AuthExpired(connect)
        } else {
            Outcome::AuthRequired(connect)
        })
    }
}

fn named(scopes: &[String]) -> String {
    match scopes {
        [] => String::new(),
        scopes => format!(": {}", scopes.join(", ")),
    }
}
