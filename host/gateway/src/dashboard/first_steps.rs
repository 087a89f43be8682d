//! The first hour of a workspace: which of its first steps are done, as the database and the settings say it.

use serde::Serialize;
use url::{Host, Url};

use crate::executions::ReceiptKind;
use crate::{Caller, Error, Gateway};
use toolgate_core::clock::rfc3339;
use toolgate_store::{ExecutionFilter, Role};

/// The file of the data folder that `toolgate backup` leaves when a backup is complete.
pub const LAST_BACKUP_FILE: &str = "last-backup";
/// Connected apps that are looked at, newest first.
const APPS_MAX: i64 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstStep {
    ConnectService,
    RunTool,
    ConnectClient,
    /// Only for admins.
    Invite,
    /// Only for the operator.
    PublicAddress,
    /// Only for the operator.
    BackUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FirstStepInfo {
    pub step: FirstStep,
    pub done: bool,
}

/// The key or the connected app that called last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastClient {
    pub kind: &'static str,
    pub name: String,
    pub used_at: String,
}

/// `GET /internal/first-steps`. A member without a larger role sees their own, and only their own apps.
#[derive(Clone, Debug, Serialize)]
pub struct FirstSteps {
    /// In the order in which they help.
    pub steps: Vec<FirstStepInfo>,
    pub last_client: Option<LastClient>,
}

impl Gateway {
    /// Which first steps are done, and which client called last.
    pub async fn first_steps(&self, caller: &Caller) -> Result<FirstSteps, Error> {
        caller.need_role(Role::Member)?;
        let admin = caller.need_role(Role::Admin).is_ok();
        let last_client = self.last_client(caller, admin).await?;
        let step = |step, done| FirstStepInfo { step, done };
        let mut steps = vec![
            step(
                FirstStep::ConnectService,
                self.has_connection(caller).await?,
            ),
            step(FirstStep::RunTool, self.has_execution(caller).await?),
            step(FirstStep::ConnectClient, last_client.is_some()),
        ];
        if admin {
            steps.push(step(FirstStep::Invite, self.has_company(caller).await?));
        }
        if admin && caller.operator {
            let public = is_reachable(&self.public_url);
            steps.push(step(FirstStep::PublicAddress, public));
            let backed_up = self.data_folder.holds(LAST_BACKUP_FILE).await;
            steps.push(step(FirstStep::BackUp, backed_up));
        }
        Ok(FirstSteps { steps, last_client })
    }

    async fn has_connection(&self, caller: &Caller) -> Result<bool, Error> {
        let user = caller.confined.then(|| caller.default_user.as_str());
        let now_ms = self.clock.now_ms();
        let counts = self
            .store
            .count_connections(caller.workspace_id.as_str(), user, now_ms)
            .await?;
        Ok(counts.iter().any(|count| count.connections > 0))
    }

    async fn has_execution(&self, caller: &Caller) -> Result<bool, Error> {
        let filter = ExecutionFilter {
            kind: Some(ReceiptKind::Tool.into_str()),
            user_id: caller.confined.then(|| caller.default_user.as_str()),
            ..ExecutionFilter::default()
        };
        // A receipt that is not a row yet is one all the same.
        let _ = self.receipts.flush().await;
        let page = self
            .store
            .list_executions(caller.workspace_id.as_str(), &filter, None, 1)
            .await?;
        Ok(!page.items.is_empty())
    }

    /// Another member, or somebody who is invited.
    async fn has_company(&self, caller: &Caller) -> Result<bool, Error> {
        let workspace = caller.workspace_id.as_str();
        if self.store.list_members(workspace).await?.len() > 1 {
            return Ok(true);
        }
        let now_ms = self.clock.now_ms();
        let invited = self.store.list_invitations(workspace, now_ms).await?;
        Ok(!invited.is_empty())
    }

    async fn last_client(&self, caller: &Caller, admin: bool) -> Result<Option<LastClient>, Error> {
        let workspace = caller.workspace_id.as_str();
        // What this process has noted and not written yet is what a person waits for.
        self.identity.write_uses().await;
        let only = (!admin).then_some(&*caller.key_id);
        let now_ms = self.clock.now_ms();
        let apps = self
            .store
            .list_app_grants(workspace, only, now_ms, APPS_MAX)
            .await?;
        let keys = match admin {
            true => self.store.list_keys(workspace).await?,
            false => Vec::new(),
        };
        let apps = apps.into_iter().filter_map(|app| {
            let used_at_ms = app.last_used_at_ms.or(app.code_used_at_ms)?;
            Some((used_at_ms, "app", app.client_name))
        });
        let keys = keys
            .into_iter()
            .filter_map(|key| Some((key.last_used_at_ms?, "key", key.name)));
        let last = apps.chain(keys).max_by_key(|(used_at_ms, ..)| *used_at_ms);
        Ok(last.map(|(used_at_ms, kind, name)| LastClient {
            kind,
            name,
            used_at: rfc3339(used_at_ms),
        }))
    }
}

/// Whether programs on other machines can use the address.
fn is_reachable(public_url: &str) -> bool {
    let Ok(url) = Url::parse(public_url) else {
        return false;
    };
    match url.host() {
        Some(Host::Domain(name)) => name != "localhost" && !name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => !address.is_loopback(),
        Some(Host::Ipv6(address)) => !address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_machine_alone_is_not_reachable() {
        for here in [
            "http://127.0.0.1:8080",
            "http://127.8.0.1",
            "http://[::1]:8080",
            "http://localhost:8080",
            "http://tools.localhost",
            "",
        ] {
            assert!(!is_reachable(here), "{here}");
        }
        for there in [
            "https://tools.example.com",
            "https://localhost.example.com/tools",
            "http://192.0.2.7:8080",
            "http://[2001:db8::1]",
        ] {
            assert!(is_reachable(there), "{there}");
        }
    }
}
