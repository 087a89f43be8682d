//! Every kind of change that the audit log knows.

macro_rules! actions {
    ($($name:ident = $word:literal,)+) => {
        /// What was done. The dashboard has a sentence for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AuditAction {
            $($name),+
        }

        impl AuditAction {
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The word in the log: what is changed, a dot, what is done to it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word),+
                }
            }
        }
    };
}

actions! {
    AppsBlock = "apps.block",
    AppsCodeReused = "apps.code_reused",
    AppsConnect = "apps.connect",
    AppsEnter = "apps.enter",
    AppsRefreshReused = "apps.refresh_reused",
    AppsRefuse = "apps.refuse",
    AppsRefuseToken = "apps.refuse_token",
    AppsRevoke = "apps.revoke",
    AppsRevokeToken = "apps.revoke_token",
    AppsUnblock = "apps.unblock",
    ApprovalsApprove = "approvals.approve",
    ApprovalsDeny = "approvals.deny",
    ConnectionsConnect = "connections.connect",
    ConnectionsDelete = "connections.delete",
    ConnectionsRevoke = "connections.revoke",
    ExecutionsReadPayloads = "executions.read_payloads",
    HooksDelete = "hooks.delete",
    HooksPut = "hooks.put",
    KeysChange = "keys.change",
    KeysCreate = "keys.create",
    KeysRevoke = "keys.revoke",
    KeysRotate = "keys.rotate",
    KnowledgeAdd = "knowledge.add",
    KnowledgeDelete = "knowledge.delete",
    MembersChange = "members.change",
    MembersCreate = "members.create",
    MembersInvite = "members.invite",
    MembersLinkAccount = "members.link_account",
    MembersOfferSetup = "members.offer_setup",
    MembersRefreshReused = "members.refresh_reused",
    MembersRemove = "members.remove",
    MembersRename = "members.rename",
    MembersReset = "members.reset",
    MembersRevokeSignIn = "members.revoke_sign_in",
    MembersSetPassword = "members.set_password",
    MembersSignIn = "members.sign_in",
    MembersSignOut = "members.sign_out",
    MembersUninvite = "members.uninvite",
    PermissionsChange = "permissions.change",
    PermissionsChangeDefault = "permissions.change_default",
    PluginsActivate = "plugins.activate",
    PluginsApprove = "plugins.approve",
    PluginsDrop = "plugins.drop",
    PluginsRemove = "plugins.remove",
    PluginsRevert = "plugins.revert",
    PluginsRollBack = "plugins.roll_back",
    PluginsUpload = "plugins.upload",
    ServicesConfigure = "services.configure",
    ServicesForgetApp = "services.forget_app",
    ServicesRegisterApp = "services.register_app",
    SkillsCreate = "skills.create",
    SkillsDelete = "skills.delete",
    SkillsUpdate = "skills.update",
    VaultAdopt = "vault.adopt",
    VaultRotate = "vault.rotate",
    WebhooksCreate = "webhooks.create",
    WebhooksDelete = "webhooks.delete",
    WebhooksResend = "webhooks.resend",
    WebhooksRotate = "webhooks.rotate",
    WebhooksTest = "webhooks.test",
    WebhooksUpdate = "webhooks.update",
    WorkspaceChange = "workspace.change",
    WorkspaceCreate = "workspace.create",
}
