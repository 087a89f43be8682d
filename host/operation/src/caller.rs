//! Who is asking: the API key, the signed-in member or the connected app that an edge has
//! authenticated, as every operation receives it.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use crate::limits::{Limit, limits_of_workspace};
use crate::{Error, RequiredRole, Scope};
use toolgate_core::ids::UserId;
use toolgate_core::text::Text;
use toolgate_store::{Approvers, Changes, DefaultPermission, Role, Workspace};

/// An authenticated caller. Made by `Identity` from a key, an access token or a sign-in and, at the command line, by
/// [`Caller::operator`]; cheap to clone.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Shared by all requests of a key: threads that each count a holder of it pay for that, so
    /// there is one count, not one for each of its texts.
    pub principal: Arc<Principal>,
    /// What other processes had changed when the key was checked.
    pub changes: Changes,
    /// `req_<ULID>`.
    pub request_id: Text,
    pub address: Option<IpAddr>,
}

/// Who a key or a member is and what they may do: the part of a [`Caller`] that outlives a request.
#[derive(Clone, Debug)]
pub struct Principal {
    pub workspace_id: Text,
    pub workspace_name: Text,
    pub kind: CallerKind,
    /// The client that an app is.
    pub client_id: Option<Text>,
    /// The key's id, the member's or the connected app's; empty for the operator at the command line.
    pub key_id: Text,
    pub key_name: Text,
    /// First eight characters of the key's random part, for people to recognise it; `dashboard` for
    /// a member, `oauth` for a connected app.
    pub key_prefix: Text,
    /// Present for a signed-in member, and for the operator at the command line, who is an owner.
    pub role: Option<Role>,
    /// Whether the member's workspace is the one that runs the installation: the first.
    pub operator: bool,
    /// May act for the default user alone: a key without `users:any`, a member without a role above.
    pub confined: bool,
    pub scopes: Box<[Scope]>,
    /// The user that tools run for when a request names none.
    pub default_user: UserId,
    /// What its requests are counted against; nothing for a member.
    pub limits: Box<[Limit]>,
    /// What holds for its users' tools without a rule.
    pub default_permission: DefaultPermission,
    /// Who decides where the default asks.
    pub default_approvers: Approvers,
    /// Whether bodies of requests and answers are kept beside receipts.
    pub keep_payloads: bool,
}

/// How a caller has come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerKind {
    Key,
    Member,
    /// An app that a member has let in, with an access token.
    App,
    /// At the command line of the machine that the gateway runs on.
    Operator,
    /// The gateway itself, which polls a trigger of a user.
    Trigger,
}

impl Deref for Caller {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.principal
    }
}

impl Caller {
    /// The person at the command line, acting on a workspace: an owner of it who runs the
    /// installation.
    pub fn operator(workspace: &Workspace) -> Self {
        Self {
            principal: Arc::new(Principal {
                workspace_id: (&*workspace.id).into(),
                workspace_name: (&*workspace.name).into(),
                kind: CallerKind::Operator,
                client_id: None,
                key_id: "".into(),
                key_name: "operator".into(),
                key_prefix: "".into(),
                role: Some(Role::Owner),
                operator: true,
                confined: false,
                scopes: [Scope::Admin].into(),
                default_user: UserId::parse("default").expect("a user id"),
                limits: Box::default(),
                default_permission: workspace.settings.default_permission,
                default_approvers: workspace.settings.default_approvers,
                keep_payloads: workspace.settings.keep_payloads,
            }),
            changes: Changes::default(),
            request_id: "".into(),
            address: None,
        }
    }

    /// The gateway itself, which polls a trigger: it runs tools for the trigger's user, as the user's permissions are
    /// now, and does nothing else. Its calls count against the workspace.
    pub fn of_trigger(
        workspace: &Workspace,
        user: UserId,
        trigger_id: &str,
        changes: Changes,
    ) -> Self {
        Self {
            principal: Arc::new(Principal {
                workspace_id: (&*workspace.id).into(),
                workspace_name: (&*workspace.name).into(),
                kind: CallerKind::Trigger,
                client_id: None,
                key_id: trigger_id.into(),
                key_name: "trigger".into(),
                key_prefix: "trigger".into(),
                role: None,
                operator: false,
                confined: true,
                scopes: [Scope::ToolsExecute].into(),
                default_user: user,
                limits: limits_of_workspace(workspace),
                default_permission: workspace.settings.default_permission,
                default_approvers: workspace.settings.default_approvers,
                keep_payloads: workspace.settings.keep_payloads,
            }),
            changes,
            request_id: "".into(),
            address: None,
        }
    }

    /// Whether `Identity::renewed` can look the caller up again: it is a key or an app.
    pub fn is_renewable(&self) -> bool {
        matches!(self.kind, CallerKind::Key | CallerKind::App)
    }

    /// Whose sessions of the session protocols the caller's are: the key's or, of an app, the client's for its member.
    /// A client keeps them when the member signs in anew or grants it more.
    pub fn session_owner(&self) -> Text {
        match &self.client_id {
            Some(client_id) => format!("{client_id} {}", self.default_user).into(),
            None => self.key_id.clone(),
        }
    }

    /// The same caller, had it to act for `user` alone.
    #[cfg(any(test, feature = "testing"))]
    pub fn confined_to(&self, user: UserId) -> Self {
        let mut confined = self.clone();
        let principal = Arc::make_mut(&mut confined.principal);
        principal.confined = true;
        principal.default_user = user;
        confined
    }

    /// The user a request is for: the one it names, else the caller's default.
    ///
    /// # Errors
    /// `scope_denied` for a key that acts for its own user alone, `permission_denied` for a member.
    pub fn user(&self, named: Option<&UserId>) -> Result<UserId, Error> {
        match named {
            Some(user) if !self.acts_for(user.as_str()) => Err(match self.role {
                None => Error::ScopeDenied(Scope::UsersAny),
                Some(_) => Error::PermissionDenied {
                    user_id: self.default_user.to_string(),
                    subject: format!("what belongs to the user {user}"),
                },
            }),
            Some(user) => Ok(user.clone()),
            None => Ok(self.default_user.clone()),
        }
    }

    /// The user that a list is to be of; `None`: all of the workspace.
    ///
    /// # Errors
    /// As of [`Caller::user`].
    pub fn listed_user(&self, named: Option<UserId>) -> Result<Option<UserId>, Error> {
        match named {
            None if !self.confined => Ok(None),
            named => self.user(named.as_ref()).map(Some),
        }
    }

    /// Whether what belongs to this user is there for the caller.
    pub fn acts_for(&self, user_id: &str) -> bool {
        !self.confined || self.default_user.as_str() == user_id
    }

    /// Who the audit log says it was.
    pub fn actor(&self) -> String {
        match self.kind {
            CallerKind::Key => format!("key:{}", self.key_id),
            CallerKind::Member => format!("member:{}", self.key_id),
            CallerKind::App => format!("app:{}", self.key_id),
            CallerKind::Operator => "operator".to_owned(),
            CallerKind::Trigger => format!("trigger:{}", self.key_id),
        }
    }

    /// Whether it is an app that a member has let in, with an access token.
    pub fn is_app(&self) -> bool {
        self.kind == CallerKind::App
    }

    /// Refuses a caller whose key lacks `scope`. `admin` holds every scope.
    pub fn need(&self, scope: Scope) -> Result<(), Error> {
        if self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin) {
            return Ok(());
        }
        Err(match self.role {
            None => Error::ScopeDenied(scope),
            Some(_) => Error::RoleDenied(RequiredRole::AtLeast(Role::Admin)),
        })
    }

    /// Refuses everyone but members of at least this role. What is asked for so is for people: no
    /// key reaches it, whatever its scopes.
    pub fn need_role(&self, least: Role) -> Result<(), Error> {
        match self.role {
            Some(role) if role >= least => Ok(()),
            _ => Err(Error::RoleDenied(RequiredRole::AtLeast(least))),
        }
    }

    /// Refuses everyone but owners and admins of the workspace that runs the installation.
    pub fn need_operator(&self) -> Result<(), Error> {
        self.need_role(Role::Admin)?;
        if self.operator {
            Ok(())
        } else {
            Err(Error::RoleDenied(RequiredRole::Operator))
        }
    }
}
