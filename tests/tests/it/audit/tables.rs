//! What each way into the gateway leaves in the audit log. A route or a verb that is not here fails
//! `every_way_in_is_in_a_table`.

/// What is left by whoever goes this way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaves {
    /// This entry and no other.
    Entry(&'static str),
    /// This entry, as the named test finds, which has an identity provider.
    EntryIn(&'static str, &'static str),
    /// Nothing, for this reason.
    Nothing(&'static str),
}
use Leaves::{Entry, EntryIn, Nothing};

const RUNS: &str = "a call, of which its receipt tells";
const TALKS: &str = "a conversation, which ends by itself and whose calls have receipts";
const FILE: &str =
    "what a user hands to a tool, which expires by itself; the call that takes it has a receipt";
const OF_A_KEY: &str = "requests of a key to REST, which leave what its routes leave";
const LOOKS: &str = "nothing is kept of it";
const LINK: &str =
    "nothing is connected by a link; the connection leaves an entry when it is there";

/// Public routes, each of which the dashboard has too.
pub const PUBLIC: &[(&str, &str, Leaves)] = &[
    (
        "POST",
        "/v1/approvals/{approval_id}",
        Entry("approvals.approve"),
    ),
    ("POST", "/v1/connections/link", Nothing(LINK)),
    (
        "POST",
        "/v1/connections/confirm",
        Entry("connections.connect"),
    ),
    (
        "DELETE",
        "/v1/connections/{connection_id}",
        Entry("connections.delete"),
    ),
    (
        "PUT",
        "/v1/connections/{connection_id}/hook",
        Entry("hooks.put"),
    ),
    (
        "DELETE",
        "/v1/connections/{connection_id}/hook",
        Entry("hooks.delete"),
    ),
    ("POST", "/v1/files", Nothing(FILE)),
    ("DELETE", "/v1/files/{file_id}", Nothing(FILE)),
    ("POST", "/v1/knowledge/documents", Entry("knowledge.add")),
    (
        "DELETE",
        "/v1/knowledge/documents/{document_id}",
        Entry("knowledge.delete"),
    ),
    ("POST", "/v1/sessions", Nothing(TALKS)),
    ("DELETE", "/v1/sessions/{session_id}", Nothing(TALKS)),
    ("POST", "/v1/sessions/{session_id}/messages", Nothing(TALKS)),
    ("POST", "/v1/sessions/{session_id}/resume", Nothing(TALKS)),
    (
        "PATCH",
        "/v1/permissions/default",
        Entry("permissions.change_default"),
    ),
    (
        "PATCH",
        "/v1/permissions/users/{user_id}/tools/{tool_name}",
        Entry("permissions.change"),
    ),
    (
        "PATCH",
        "/v1/permissions/users/{user_id}/services/{service_name}",
        Entry("permissions.change"),
    ),
    (
        "PATCH",
        "/v1/permissions/users/{user_id}/batch",
        Entry("permissions.change"),
    ),
    ("PUT", "/v1/code-mode", Entry("workspace.code_mode")),
    ("POST", "/v1/scripts/run", Nothing(RUNS)),
    ("POST", "/v1/scripts/runs/{run_id}/resume", Nothing(RUNS)),
    ("POST", "/v1/scripts/runs/{run_id}/cancel", Nothing(RUNS)),
    ("POST", "/v1/skills", Entry("skills.create")),
    ("PUT", "/v1/skills/{skill_id}", Entry("skills.update")),
    ("DELETE", "/v1/skills/{skill_id}", Entry("skills.delete")),
    ("POST", "/v1/tools/{tool_name}/execute", Nothing(RUNS)),
    ("POST", "/v1/toolsets", Entry("toolsets.create")),
    (
        "PATCH",
        "/v1/toolsets/{toolset_name}",
        Entry("toolsets.update"),
    ),
    (
        "PUT",
        "/v1/toolsets/{toolset_name}",
        Entry("toolsets.update"),
    ),
    (
        "DELETE",
        "/v1/toolsets/{toolset_name}",
        Entry("toolsets.delete"),
    ),
    ("POST", "/v1/triggers", Entry("triggers.create")),
    (
        "PATCH",
        "/v1/triggers/{trigger_id}",
        Entry("triggers.update"),
    ),
    (
        "DELETE",
        "/v1/triggers/{trigger_id}",
        Entry("triggers.delete"),
    ),
    ("POST", "/v1/triggers/{trigger_id}/test", Nothing(RUNS)),
    ("POST", "/v1/webhooks", Entry("webhooks.create")),
    (
        "PATCH",
        "/v1/webhooks/{webhook_id}",
        Entry("webhooks.update"),
    ),
    (
        "DELETE",
        "/v1/webhooks/{webhook_id}",
        Entry("webhooks.delete"),
    ),
    (
        "POST",
        "/v1/webhooks/{webhook_id}/rotate",
        Entry("webhooks.rotate"),
    ),
    (
        "POST",
        "/v1/webhooks/{webhook_id}/test",
        Entry("webhooks.test"),
    ),
    (
        "POST",
        "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend",
        Entry("webhooks.resend"),
    ),
];

/// Routes of the dashboard alone.
pub const INTERNAL: &[(&str, &str, Leaves)] = &[
    ("POST", "/internal/link", Nothing(LOOKS)),
    ("POST", "/internal/setup", Entry("members.create")),
    ("POST", "/internal/sign-in", Entry("members.sign_in")),
    (
        "POST",
        "/internal/refresh",
        Nothing("the sign-in that it goes on with has its entry"),
    ),
    ("POST", "/internal/sign-out", Entry("members.sign_out")),
    ("POST", "/internal/oidc/start", Nothing(LOOKS)),
    (
        "POST",
        "/internal/oidc/choice",
        EntryIn("members.link_account", "hostile::oidc_invites"),
    ),
    (
        "POST",
        "/internal/app-requests/{request_id}",
        EntryIn("apps.connect", "apps::whole"),
    ),
    (
        "DELETE",
        "/internal/apps/{app_id}",
        EntryIn("apps.revoke", "apps::people"),
    ),
    (
        "POST",
        "/internal/app-blocks",
        EntryIn("apps.block", "apps::people"),
    ),
    (
        "DELETE",
        "/internal/app-blocks",
        EntryIn("apps.unblock", "apps::people"),
    ),
    (
        "POST",
        "/internal/app-clients",
        EntryIn("apps.client_create", "apps::machines"),
    ),
    (
        "DELETE",
        "/internal/app-clients/{client_id}",
        EntryIn("apps.client_remove", "apps::machines"),
    ),
    (
        "POST",
        "/internal/skill-proposals/{skill_id}",
        EntryIn("skills.reject", "hostile::skill_changes"),
    ),
    ("PATCH", "/internal/me", Entry("members.rename")),
    (
        "POST",
        "/internal/me/password",
        Entry("members.set_password"),
    ),
    (
        "DELETE",
        "/internal/me/sign-ins/{sign_in_id}",
        Entry("members.revoke_sign_in"),
    ),
    ("POST", "/internal/members", Entry("members.invite")),
    (
        "PATCH",
        "/internal/members/{member_id}",
        Entry("members.change"),
    ),
    (
        "DELETE",
        "/internal/members/{member_id}",
        Entry("members.remove"),
    ),
    (
        "POST",
        "/internal/members/{member_id}/reset",
        Entry("members.reset"),
    ),
    (
        "DELETE",
        "/internal/invitations/{invitation_id}",
        Entry("members.uninvite"),
    ),
    ("PATCH", "/internal/workspace", Entry("workspace.change")),
    ("POST", "/internal/keys", Entry("keys.create")),
    ("PATCH", "/internal/keys/{key_id}", Entry("keys.change")),
    ("DELETE", "/internal/keys/{key_id}", Entry("keys.revoke")),
    (
        "POST",
        "/internal/keys/{key_id}/rotate",
        Entry("keys.rotate"),
    ),
    (
        "PUT",
        "/internal/services/{service}/settings",
        Entry("services.configure"),
    ),
    (
        "PUT",
        "/internal/services/{service}/app",
        Entry("services.register_app"),
    ),
    (
        "DELETE",
        "/internal/services/{service}/app",
        Entry("services.forget_app"),
    ),
    ("POST", "/internal/services/{service}/test", Nothing(LOOKS)),
    ("POST", "/internal/origins", Entry("origins.add")),
    (
        "DELETE",
        "/internal/origins/{origin_id}",
        Entry("origins.remove"),
    ),
    (
        "POST",
        "/internal/connections/questions/{code}",
        Entry("connections.connect"),
    ),
    ("POST", "/internal/plugins", Entry("plugins.upload")),
    ("POST", "/internal/plugins/check", Nothing(LOOKS)),
    (
        "POST",
        "/internal/addresses/read",
        EntryIn("plugins.ask_server", "mcp_upstreams::door"),
    ),
    ("POST", "/internal/descriptions/read", Nothing(LOOKS)),
    (
        "POST",
        "/internal/descriptions/build",
        Nothing("answers a file and installs nothing"),
    ),
    (
        "DELETE",
        "/internal/plugins/{service}",
        Entry("plugins.remove"),
    ),
    (
        "POST",
        "/internal/plugins/{service}/approve",
        Entry("plugins.approve"),
    ),
    (
        "POST",
        "/internal/plugins/{service}/rollback",
        Entry("plugins.roll_back"),
    ),
];

const FILES: &str = "files of a plugin's author, no installation";

/// Verbs of the program.
pub const VERBS: &[(&str, Leaves)] = &[
    ("key create", Entry("keys.create")),
    ("key list", Nothing(LOOKS)),
    ("key revoke", Entry("keys.revoke")),
    ("workspace create", Entry("workspace.create")),
    ("workspace set", Entry("workspace.change")),
    ("workspace list", Nothing(LOOKS)),
    ("workspace uses", Entry("workspace.change")),
    ("member create", Entry("members.invite")),
    ("member list", Nothing(LOOKS)),
    ("member reset", Entry("members.reset")),
    ("member remove", Entry("members.remove")),
    ("client create", Entry("apps.client_create")),
    ("client list", Nothing(LOOKS)),
    ("client remove", Entry("apps.client_remove")),
    ("service configure", Entry("services.configure")),
    ("service list", Nothing(LOOKS)),
    (
        "service register",
        Nothing(
            "needs a server that registers clients; leaves the entry of `service configure`, by the same function",
        ),
    ),
    ("origin add", Entry("origins.add")),
    ("origin list", Nothing(LOOKS)),
    ("origin remove", Entry("origins.remove")),
    ("toolset create", Entry("toolsets.create")),
    ("toolset update", Entry("toolsets.update")),
    ("toolset list", Nothing(LOOKS)),
    ("toolset show", Nothing(LOOKS)),
    ("toolset delete", Entry("toolsets.delete")),
    ("plugin list", Nothing(LOOKS)),
    ("plugin rights", Nothing(LOOKS)),
    ("plugin approve", Entry("plugins.approve")),
    ("plugin remove", Entry("plugins.remove")),
    ("plugin rollback", Entry("plugins.roll_back")),
    ("plugin build", Nothing(FILES)),
    ("plugin new", Nothing(FILES)),
    (
        "plugin refresh",
        Nothing("a file in the folder, whose activation and approval have an entry each"),
    ),
    (
        "plugin dev",
        Nothing("a file in the folder, whose activation and approval have an entry each"),
    ),
    ("plugin check", Nothing(FILES)),
    ("plugin diff", Nothing(FILES)),
    ("plugin schema", Nothing(FILES)),
    ("plugin run", Nothing(FILES)),
    ("plugin plan", Nothing(FILES)),
    ("plugin test", Nothing(FILES)),
    ("plugin catalog", Nothing(FILES)),
    ("receipts export", Nothing(LOOKS)),
    ("vault rotate", Entry("vault.rotate")),
    ("vault adopt", Entry("vault.adopt")),
    (
        "serve",
        Nothing("what its first start makes has an entry each"),
    ),
    (
        "model",
        Nothing("files of a model, which search falls back from"),
    ),
    (
        "migrate",
        Nothing("the schema of the database and nothing that anybody did"),
    ),
    ("mcp", Nothing(OF_A_KEY)),
    ("search", Nothing(OF_A_KEY)),
    ("describe", Nothing(OF_A_KEY)),
    ("exec", Nothing(OF_A_KEY)),
    ("run", Nothing(OF_A_KEY)),
    ("connect", Nothing(OF_A_KEY)),
    ("connections list", Nothing(OF_A_KEY)),
    ("connections show", Nothing(OF_A_KEY)),
    ("connections delete", Nothing(OF_A_KEY)),
    ("approvals list", Nothing(OF_A_KEY)),
    ("approvals show", Nothing(OF_A_KEY)),
    ("approvals approve", Nothing(OF_A_KEY)),
    ("approvals deny", Nothing(OF_A_KEY)),
    ("executions list", Nothing(OF_A_KEY)),
    ("executions show", Nothing(OF_A_KEY)),
    ("webhooks list", Nothing(OF_A_KEY)),
    ("webhooks create", Nothing(OF_A_KEY)),
    ("webhooks test", Nothing(OF_A_KEY)),
    ("webhooks deliveries", Nothing(OF_A_KEY)),
    ("webhooks resend", Nothing(OF_A_KEY)),
    ("webhooks enable", Nothing(OF_A_KEY)),
    ("webhooks resume", Nothing(OF_A_KEY)),
    ("webhooks disable", Nothing(OF_A_KEY)),
    ("webhooks delete", Nothing(OF_A_KEY)),
    ("triggers list", Nothing(OF_A_KEY)),
    ("triggers show", Nothing(OF_A_KEY)),
    ("triggers create", Nothing(OF_A_KEY)),
    ("triggers pause", Nothing(OF_A_KEY)),
    ("triggers resume", Nothing(OF_A_KEY)),
    ("triggers test", Nothing(OF_A_KEY)),
    ("triggers delete", Nothing(OF_A_KEY)),
    ("openapi", Nothing(LOOKS)),
    ("healthcheck", Nothing(LOOKS)),
    ("doctor", Nothing(LOOKS)),
    ("config check", Nothing(LOOKS)),
    (
        "backup",
        Nothing("a copy by whoever can read the files themselves"),
    ),
    (
        "restore",
        Nothing("the audit log comes back as it was, and no gateway serves meanwhile"),
    ),
    ("docs", Nothing(LOOKS)),
    ("completions", Nothing(LOOKS)),
];
