//! Every kind of change that the audit log knows.

use strum::{IntoStaticStr, VariantArray};

/// What was done. The dashboard has a sentence for each. The word in the log: what is changed, a dot, what is
/// done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum AuditAction {
    #[strum(serialize = "apps.block")]
    AppsBlock,
    #[strum(serialize = "apps.client_create")]
    AppsClientCreate,
    #[strum(serialize = "apps.client_remove")]
    AppsClientRemove,
    #[strum(serialize = "apps.code_reused")]
    AppsCodeReused,
    #[strum(serialize = "apps.connect")]
    AppsConnect,
    #[strum(serialize = "apps.enter")]
    AppsEnter,
    #[strum(serialize = "apps.enter_by_assertion")]
    AppsEnterByAssertion,
    #[strum(serialize = "apps.refresh_reused")]
    AppsRefreshReused,
    #[strum(serialize = "apps.refuse")]
    AppsRefuse,
    #[strum(serialize = "apps.refuse_assertion")]
    AppsRefuseAssertion,
    #[strum(serialize = "apps.refuse_token")]
    AppsRefuseToken,
    #[strum(serialize = "apps.revoke")]
    AppsRevoke,
    #[strum(serialize = "apps.revoke_token")]
    AppsRevokeToken,
    #[strum(serialize = "apps.unblock")]
    AppsUnblock,
    #[strum(serialize = "approvals.approve")]
    ApprovalsApprove,
    #[strum(serialize = "approvals.deny")]
    ApprovalsDeny,
    #[strum(serialize = "approvals.read")]
    ApprovalsRead,
    #[strum(serialize = "connections.connect")]
    ConnectionsConnect,
    #[strum(serialize = "connections.delete")]
    ConnectionsDelete,
    #[strum(serialize = "connections.revoke")]
    ConnectionsRevoke,
    #[strum(serialize = "executions.read")]
    ExecutionsRead,
    #[strum(serialize = "executions.read_payloads")]
    ExecutionsReadPayloads,
    #[strum(serialize = "files.read")]
    FilesRead,
    #[strum(serialize = "hooks.delete")]
    HooksDelete,
    #[strum(serialize = "hooks.put")]
    HooksPut,
    #[strum(serialize = "keys.change")]
    KeysChange,
    #[strum(serialize = "keys.create")]
    KeysCreate,
    #[strum(serialize = "keys.revoke")]
    KeysRevoke,
    #[strum(serialize = "keys.rotate")]
    KeysRotate,
    #[strum(serialize = "knowledge.add")]
    KnowledgeAdd,
    #[strum(serialize = "knowledge.delete")]
    KnowledgeDelete,
    #[strum(serialize = "members.change")]
    MembersChange,
    #[strum(serialize = "members.create")]
    MembersCreate,
    #[strum(serialize = "members.end_account")]
    MembersEndAccount,
    #[strum(serialize = "members.invite")]
    MembersInvite,
    #[strum(serialize = "members.link_account")]
    MembersLinkAccount,
    #[strum(serialize = "members.offer_setup")]
    MembersOfferSetup,
    #[strum(serialize = "members.refresh_reused")]
    MembersRefreshReused,
    #[strum(serialize = "members.remove")]
    MembersRemove,
    #[strum(serialize = "members.rename")]
    MembersRename,
    #[strum(serialize = "members.reset")]
    MembersReset,
    #[strum(serialize = "members.revoke_sign_in")]
    MembersRevokeSignIn,
    #[strum(serialize = "members.set_password")]
    MembersSetPassword,
    #[strum(serialize = "members.sign_in")]
    MembersSignIn,
    #[strum(serialize = "members.sign_out")]
    MembersSignOut,
    #[strum(serialize = "members.uninvite")]
    MembersUninvite,
    #[strum(serialize = "origins.add")]
    OriginsAdd,
    #[strum(serialize = "origins.remove")]
    OriginsRemove,
    #[strum(serialize = "permissions.change")]
    PermissionsChange,
    #[strum(serialize = "permissions.change_default")]
    PermissionsChangeDefault,
    #[strum(serialize = "plugins.activate")]
    PluginsActivate,
    #[strum(serialize = "plugins.approve")]
    PluginsApprove,
    #[strum(serialize = "plugins.ask_server")]
    PluginsAskServer,
    #[strum(serialize = "plugins.drop")]
    PluginsDrop,
    #[strum(serialize = "plugins.refresh")]
    PluginsRefresh,
    #[strum(serialize = "plugins.remove")]
    PluginsRemove,
    #[strum(serialize = "plugins.revert")]
    PluginsRevert,
    #[strum(serialize = "plugins.roll_back")]
    PluginsRollBack,
    #[strum(serialize = "plugins.upload")]
    PluginsUpload,
    #[strum(serialize = "results.read")]
    ResultsRead,
    #[strum(serialize = "scripts.read")]
    ScriptsRead,
    #[strum(serialize = "services.configure")]
    ServicesConfigure,
    #[strum(serialize = "services.forget_app")]
    ServicesForgetApp,
    #[strum(serialize = "services.register_app")]
    ServicesRegisterApp,
    #[strum(serialize = "sessions.read")]
    SessionsRead,
    #[strum(serialize = "skills.create")]
    SkillsCreate,
    #[strum(serialize = "skills.delete")]
    SkillsDelete,
    #[strum(serialize = "skills.propose")]
    SkillsPropose,
    #[strum(serialize = "skills.reject")]
    SkillsReject,
    #[strum(serialize = "skills.update")]
    SkillsUpdate,
    #[strum(serialize = "toolsets.create")]
    ToolsetsCreate,
    #[strum(serialize = "toolsets.delete")]
    ToolsetsDelete,
    #[strum(serialize = "toolsets.update")]
    ToolsetsUpdate,
    #[strum(serialize = "vault.adopt")]
    VaultAdopt,
    #[strum(serialize = "vault.rotate")]
    VaultRotate,
    #[strum(serialize = "triggers.create")]
    TriggersCreate,
    #[strum(serialize = "triggers.delete")]
    TriggersDelete,
    #[strum(serialize = "triggers.read")]
    TriggersRead,
    #[strum(serialize = "triggers.update")]
    TriggersUpdate,
    #[strum(serialize = "webhooks.create")]
    WebhooksCreate,
    #[strum(serialize = "webhooks.delete")]
    WebhooksDelete,
    #[strum(serialize = "webhooks.resend")]
    WebhooksResend,
    #[strum(serialize = "webhooks.rotate")]
    WebhooksRotate,
    #[strum(serialize = "webhooks.test")]
    WebhooksTest,
    #[strum(serialize = "webhooks.update")]
    WebhooksUpdate,
    #[strum(serialize = "workspace.change")]
    WorkspaceChange,
    #[strum(serialize = "workspace.code_mode")]
    WorkspaceCodeMode,
    #[strum(serialize = "workspace.create")]
    WorkspaceCreate,
}

impl AuditAction {
    pub const ALL: &[Self] = Self::VARIANTS;
}
