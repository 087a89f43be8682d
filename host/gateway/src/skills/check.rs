//! Whether a user could follow a Skill: the tools it names, what the user may use of them and what
//! is connected.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::access::permissions::Permission;
use crate::tools::ConnectionState;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::ids::UserId;

/// Tools of one Skill that are looked at; names beyond it are not checked.
pub const TOOLS_MAX: usize = 200;

/// `GET /v1/skills/{skill_id}/check`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SkillCheck {
    #[schema(format = "uuid")]
    pub skill_id: String,
    pub user_id: String,
    /// Whether every tool exists, is allowed and is connected where it has to be.
    pub ready: bool,
    /// In the order in which the Skill names them.
    pub tools: Vec<SkillTool>,
    /// Names that look like tools of a known service, but are none.
    pub unknown_tools: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SkillTool {
    pub tool_name: String,
    pub service: String,
    pub permission: Permission,
    pub connection: ConnectionState,
}

impl Gateway {
    /// Checks the tools that a Skill's texts name by their exact names.
    pub async fn check_skill(
        &self,
        caller: &Caller,
        skill_id: &str,
        user_id: Option<UserId>,
    ) -> Result<SkillCheck, Error> {
        caller.need(Scope::SkillsRead)?;
        caller.need(Scope::ToolsRead)?;
        let skill = self.find_skill(caller, skill_id).await?;
        let user = caller.user(user_id.as_ref())?;
        let permissions = self.permissions_of(caller, &user).await?;
        let snapshot = self.snapshot();
        let services: BTreeSet<&str> = snapshot.catalog.services().collect();
        let text = format!("{}\n{}\n{}", skill.name, skill.summary, skill.instructions);
        let (mut tools, mut unknown_tools) = (Vec::new(), Vec::new());
        let connections = self.connections_of(caller, &user).await?;
        for name in names(&text) {
            if let Some(tool) = snapshot.catalog.get(name) {
                tools.push(SkillTool {
                    tool_name: tool.name.to_string(),
                    service: tool.service().to_owned(),
                    permission: permissions.decide(tool).permission,
                    connection: connections.state(tool),
                });
            } else if has_service_prefix(name, &services) {
                unknown_tools.push(name.to_owned());
            }
        }
        let usable = |tool: &SkillTool| {
            tool.permission != Permission::Deny
                && matches!(
                    tool.connection,
                    ConnectionState::Connected | ConnectionState::NotNeeded
                )
        };
        Ok(SkillCheck {
            ready: unknown_tools.is_empty() && tools.iter().all(usable),
            skill_id: skill.skill_id,
            user_id: user.to_string(),
            tools,
            unknown_tools,
        })
    }
}

/// The words of `text` that could be names of tools, each once, in order.
fn names(text: &str) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    text.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'))
        .map(|word| word.trim_matches('_'))
        .filter(|word| word.contains('_') && seen.insert(*word))
        .take(TOOLS_MAX)
        .collect()
}

fn has_service_prefix(name: &str, services: &BTreeSet<&str>) -> bool {
    name.match_indices('_')
        .any(|(at, _)| services.contains(&name[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::permission_rules::{ChangePermissions, Setting};
    use crate::skills::CreateSkill;
    use crate::testing::TestWorld;

    #[test]
    fn names_of_tools_are_read_out_of_prose() {
        let text = "First `github_list_issues`, then slack_post_message; github_list_issues again (not a_).";
        assert_eq!(names(text), ["github_list_issues", "slack_post_message"]);
    }

    #[tokio::test]
    async fn a_skill_is_ready_when_its_tools_exist_and_are_allowed_and_connected() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Admin]).await;
        let open = world
            .snapshot()
            .catalog
            .tools()
            .iter()
            .find(|tool| tool.spec().auth.is_empty() || tool.spec().auth_optional)
            .expect("a fixture without connection")
            .name
            .clone();
        let create = |instructions: String| CreateSkill {
            name: "A".to_owned(),
            summary: "B".to_owned(),
            instructions,
        };
        let made = world
            .create_skill(&caller, create(format!("Call {open}.")))
            .await;
        let id = made.unwrap().skill_id;
        let check = world.check_skill(&caller, &id, None).await.unwrap();
        assert!(check.ready, "{check:?}");
        assert_eq!(check.tools[0].permission, Permission::Allow);

        let user = UserId::parse("ada").unwrap();
        let mut deny = ChangePermissions::default();
        deny.tools.insert(open.to_string(), Setting::Deny.into());
        world
            .change_permissions(&caller, &user, deny)
            .await
            .unwrap();
        let caller = world.again(&caller).await;
        let check = world.check_skill(&caller, &id, None).await.unwrap();
        assert!(!check.ready && check.tools[0].permission == Permission::Deny);
        let other = Some(UserId::parse("bob").unwrap());
        assert!(world.check_skill(&caller, &id, other).await.unwrap().ready);

        let text = "github_create_issue, then github_fly".to_owned();
        let id = world
            .create_skill(&caller, create(text))
            .await
            .unwrap()
            .skill_id;
        let check = world.check_skill(&caller, &id, None).await.unwrap();
        assert_eq!(check.unknown_tools, ["github_fly"]);
        assert_eq!(check.tools[0].connection, ConnectionState::NotConnected);
        assert!(!check.ready);
    }
}
