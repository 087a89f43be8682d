//! `toolgate member`: people who sign in to the dashboard.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;

use super::output::{OutputFormat, table};
use crate::config::Config;
use toolgate_core::clock::{Clock, rfc3339};
use toolgate_core::ids;
use toolgate_gateway::Caller;
use toolgate_gateway::identity::members::checked_email;
use toolgate_gateway::identity::members::{self, Passwords, links};
use toolgate_store::{LinkKind, Member, Role, Store, Workspace};
use toolgate_vault::Secret;

#[derive(Debug, Subcommand)]
pub(super) enum MemberCommand {
    /// Let a person in: prints a link, good once, at which they choose a name and a password
    Create(CreateMember),
    /// List the members of a workspace
    List(MemberWorkspace),
    /// Print a link, good once and for a day, at which a member chooses a new password
    Reset {
        /// Id or e-mail address
        member: String,
        #[command(flatten)]
        of: MemberWorkspace,
    },
    /// Remove a member by id or address; their next request is refused
    Remove {
        /// Id or e-mail address
        member: String,
        #[command(flatten)]
        of: MemberWorkspace,
    },
}

#[derive(Debug, Args)]
pub(super) struct MemberWorkspace {
    /// Name of the workspace [default: the first one]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct CreateMember {
    /// Their e-mail address, with which they sign in
    #[arg(long)]
    email: String,
    /// owner (everything), admin (everything but owners and the workspace) or member (their own calls, Skills, approvals)
    #[arg(long, default_value = "member", value_parser = parse_role)]
    role: Role,
    /// Make the member at once, with the password in the first line of this file, instead of a link
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Their name [default: the address]
    #[arg(long, requires = "password_file")]
    name: Option<String>,
    #[command(flatten)]
    of: MemberWorkspace,
}

impl MemberCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        let now_ms = Clock::system().now_ms();
        match self {
            Self::Create(create) => create.run(config, &store, output, now_ms).await,
            Self::List(of) => {
                let workspace = super::workspace(&store, of.workspace.as_deref(), now_ms).await?;
                let members = members::list(&store, &workspace.id).await?;
                let document = json!({ "workspace": workspace.name, "members": members });
                output.print(&document, |_| {
                    let rows: Vec<Vec<String>> = members
                        .iter()
                        .map(|member| {
                            let seen = member.last_seen_at.clone();
                            vec![
                                member.email.clone(),
                                member.name.clone(),
                                member.role.to_string(),
                                seen.unwrap_or_else(|| "never".to_owned()),
                                member.member_id.clone(),
                            ]
                        })
                        .collect();
                    table(&["EMAIL", "NAME", "ROLE", "LAST SEEN", "ID"], &rows)
                })
            }
            Self::Reset { member, of } => {
                let workspace = super::workspace(&store, of.workspace.as_deref(), now_ms).await?;
                let known = store.list_members(&workspace.id).await?;
                let found = known
                    .into_iter()
                    .find(|one| one.id == member || one.email.eq_ignore_ascii_case(&member));
                let found = found.with_context(|| {
                    format!("{member} is not a member; `toolgate member list` lists them")
                })?;
                let new = links::NewLink {
                    kind: LinkKind::Reset,
                    role: found.role,
                    email: Some(found.email.clone()),
                    member_id: Some(found.id.clone()),
                    vouched: false,
                };
                let (caller, url) = (Caller::operator(&workspace), &config.gateway.public_url);
                let made = links::make(&store, &caller, url, new, now_ms).await?;
                let document = json!({
                    "member_id": found.id,
                    "email": found.email,
                    "workspace": workspace.name,
                    "reset_url": made.url.expose(),
                    "expires_at": rfc3339(made.expires_at_ms),
                });
                output.print(&document, |_| {
                    format!(
                        "{}\n\n{} chooses a new password at this link; it works once, until {}.",
                        made.url.expose(),
                        found.email,
                        rfc3339(made.expires_at_ms)
                    )
                })
            }
            Self::Remove { member, of } => {
                let workspace = super::workspace(&store, of.workspace.as_deref(), now_ms).await?;
                let caller = Caller::operator(&workspace);
                let removed = members::remove(&store, &caller, &member, now_ms).await?;
                output.print(&removed, |removed| {
                    format!("{} is no longer a member.", removed.email)
                })
            }
        }
    }
}

impl CreateMember {
    async fn run(
        self,
        config: &Config,
        store: &Store,
        output: OutputFormat,
        now_ms: i64,
    ) -> anyhow::Result<()> {
        let workspace = super::workspace(store, self.of.workspace.as_deref(), now_ms).await?;
        let email = checked_email(&self.email)?;
        match self.password_file.as_deref() {
            Some(file) => {
                let password = read_password(file)?;
                let name = self.name.unwrap_or_else(|| email.clone());
                let made =
                    with_password(store, &workspace, email, &name, self.role, password, now_ms)
                        .await?;
                output.print(&made, |made| {
                    format!("{} can sign in as {}.", made.email, made.role.into_str())
                })
            }
            None => {
                let taken = store.list_members(&workspace.id).await?;
                anyhow::ensure!(
                    taken.iter().all(|member| member.email != email),
                    "{email} is a member already"
                );
                let new = links::NewLink {
                    kind: LinkKind::Join,
                    role: self.role,
                    email: Some(email.clone()),
                    member_id: None,
                    vouched: true,
                };
                let (caller, url) = (Caller::operator(&workspace), &config.gateway.public_url);
                let made = links::make(store, &caller, url, new, now_ms).await?;
                let document = json!({
                    "invitation_id": made.id,
                    "email": email,
                    "role": self.role,
                    "workspace": workspace.name,
                    "join_url": made.url.expose(),
                    "expires_at": rfc3339(made.expires_at_ms),
                });
                output.print(&document, |_| {
                    format!(
                        "{}\n\nGive {email} this link; it is good once, until {}.",
                        made.url.expose(),
                        rfc3339(made.expires_at_ms)
                    )
                })
            }
        }
    }
}

/// Makes a member who can sign in at once.
pub(super) async fn with_password(
    store: &Store,
    workspace: &Workspace,
    email: String,
    name: &str,
    role: Role,
    password: Secret,
    now_ms: i64,
) -> anyhow::Result<members::MemberInfo> {
    let member = Member {
        workspace_id: workspace.id.clone(),
        id: ids::ulid("mem"),
        email,
        name: members::checked_name(name)?,
        role,
        password_hash: Some(Passwords::default().hash(password).await?),
        oidc_subject: None,
        created_at_ms: now_ms,
        last_seen_at_ms: None,
        vouched: true,
    };
    Ok(members::create(store, &Caller::operator(workspace), member).await?)
}

fn read_password(path: &Path) -> anyhow::Result<Secret> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the file {} cannot be read", path.display()))?;
    let text = zeroize::Zeroizing::new(text);
    Ok(Secret::new(text.lines().next().unwrap_or_default()))
}

fn parse_role(text: &str) -> Result<Role, String> {
    text.parse()
        .map_err(|_| "the roles are owner, admin and member".to_owned())
}
