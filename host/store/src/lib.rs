//! All SQL of the product, on SQLite or PostgreSQL.
//!
//! [`Store`] is an enum of two pools; a statement is written once, with `$1` binds, and runs on
//! whichever is open. Each method is one transaction; those of [`Writer`] may leave an entry in the
//! audit log. A lookup answers `Option`; what two callers can race for is a conditional update that
//! says whether it happened; a taken name is a [`StoreError`]. Everything a workspace owns is asked
//! for with its `workspace_id`, so that an id of another tenant is simply not there.
//!
//! Ids are text, times milliseconds since the Unix epoch and always handed in, JSON is text. The
//! store keeps secrets only as hashes or as boxes that `toolgate-vault` sealed.
//!
//! Read next: [`Changes`] (how caches learn that they are stale), then the file of a resource.

mod app_assertions;
mod app_clients;
mod app_grants;
mod approvals;
mod audit;
mod batch;
mod changes;
mod client_sessions;
mod columns;
mod connect_flows;
mod connections;
mod deliveries;
mod deliveries_by_hand;
mod error;
mod event_log;
mod events;
mod execution_arrays;
mod execution_contexts;
mod execution_writes;
mod executions;
mod files;
mod hooks;
mod idempotency;
mod installation;
mod keys;
mod knowledge;
mod manifests;
mod mcp_servers;
mod member_links;
mod members;
mod migrations;
mod named_clients;
mod oauth_apps;
mod oidc_accounts;
mod open;
mod operation;
mod page;
mod page_origins;
mod payloads;
mod permissions;
#[cfg(test)]
mod plans;
mod plugin_files;
mod plugin_sources;
mod plugins;
mod postgres;
mod rate_counts;
mod results;
mod script_runs;
mod script_steps;
mod sealed_columns;
mod search_uses;
mod service_config;
mod session_kv;
mod session_messages;
mod sessions;
mod set_up;
mod shared_text;
mod shared_version;
mod sign_in_attempts;
mod sign_ins;
mod skill_proposals;
mod skills;
pub mod snapshot;
mod stored_amounts;
mod text;
mod time_limits;
mod tool_names;
mod tool_vectors;
mod toolsets;
mod trigger_polls;
mod triggers;
mod usage;
mod webhooks;
mod workspaces;

use std::ops::Deref;
use std::sync::Arc;

use sqlx::{PgPool, SqlitePool};

use time_limits::OPERATION_WITHIN;

pub use app_assertions::UsedAssertion;
pub use app_clients::{AppClient, AppClientAuth, AppClientKind, AppRequest};
pub use app_grants::{AppBlock, AppGrant, AppToken, AppTokenKind, GrantTokensMax, RefreshUses};
pub use approvals::{ApprovalCall, ApprovalFilter, ApprovalRow, PendingApprovals};
pub use audit::{AuditEntry, AuditFilter};
pub use changes::{Changes, Topic};
pub use client_sessions::ClientSessionMessage;
pub use connect_flows::{ConnectFlow, FlowState};
pub use connections::{
    Connection, ConnectionCount, LEASE_MS_MAX, NewConnection, RETRY_MS_MAX, RefreshFailed,
    RefreshTokenEnd, Refreshed,
};
pub use deliveries::{
    AttemptFailed, BLOCKING_ATTEMPTS_MAX, DeliveryAttempt, DeliveryRecord, DueDelivery, Lease,
};
pub use error::StoreError;
pub use event_log::{LogBounds, LogRange, LogRetention, LoggedEvent};
pub use events::{Event, EventFilters, EventType, TRIGGER_PREFIX, pattern_matches};
pub use executions::{ExecutionFilter, ExecutionRow, RECEIPTS_SEARCHED_MAX};
pub use files::{FileFilter, FilePiece, FileRow};
pub use hooks::HookRow;
pub use idempotency::{BeginOutcome, BeginRequest, RequestAnswer};
pub use keys::{ApiKey, FoundKey, KeyChange, RevokeOutcome};
pub use knowledge::{DocumentRow, DocumentText, KnowledgeTotals, ListedDocumentRow};
pub use manifests::CachedManifest;
pub use mcp_servers::{AskedServer, McpServerRow, ServerOutcome};
pub use member_links::{LinkKind, MemberLink};
pub use members::{Member, MemberChange, Role};
pub use named_clients::ClientToken;
pub use oauth_apps::{OAuthApp, SealedBox};
pub use oidc_accounts::OidcAccount;
pub use operation::{PoolState, StoreObserver, StoreStep};
pub use page::{Cursor, Page};
pub use page_origins::{InsertedOrigin, PageOrigin};
pub use payloads::PayloadRow;
pub use permissions::{Approvers, PermissionRule, Rule, RuleChange, RuleKind};
pub use plugin_files::PluginFile;
pub use plugin_sources::{PluginSource, SourcePut};
pub use plugins::{
    ActivatePlugin, Activated, ApproveRequest, HoldPlugin, PLUGIN_VERSIONS_MAX, PluginRow,
    PluginState, PluginVersionRow,
};
pub use postgres::CONNECTIONS_MAX;
pub use rate_counts::RateCount;
pub use results::ResultPiece;
pub use script_runs::{NewScriptRun, ScriptRunRow};
pub use script_steps::ScriptStepRow;
pub use sealed_columns::{HEAD_CHARS, SealedColumn, SealedHead};
pub use search_uses::SearchUse;
pub use service_config::{ALL_WORKSPACES, ServiceSetting};
pub use session_kv::{KV_BYTES_MAX, KvEntry, KvScope, KvSet, KvValue};
pub use session_messages::{NewStep, SessionMessage, Speaker, TurnClaim};
pub use sessions::{SESSION_IDLE_MS, SessionRow};
pub use set_up::SetUpLock;
pub use sign_in_attempts::AttemptDecision;
pub use sign_ins::{SignIn, SignInProof};
pub use skill_proposals::SkillProposalRow;
pub use skills::{
    SKILL_VERSIONS_MAX, SkillChange, SkillRow, SkillUpdate, SkillVersionPage, SkillVersionRow,
};
pub use stored_amounts::StoredAmount;
pub use text::Json;
pub use tool_vectors::ToolVector;
pub use toolsets::{InsertedToolset, OtherVersion, ToolsetChange, ToolsetRow, UpdatedToolset};
pub use trigger_polls::{DueTrigger, FoundItem, TriggerPage, TriggerPollEnd, TriggerProgress};
pub use triggers::{InsertedTrigger, TriggerChange, TriggerRow, TriggersMax};
pub use usage::{DURATION_CLASSES_MS, ToolUsage, UsageRow, UsageVersion, UserRow};
pub use webhooks::{WebhookChange, WebhookRow};
pub use workspaces::{DefaultPermission, Plan, SettingsChange, Workspace, WorkspaceSettings};

/// The open database. Cheap to clone. It has the transactions of [`Writer`] too, and through it they leave no entry in
/// the audit log.
#[derive(Clone, Debug)]
pub struct Store(Writer);

/// The database for one change that leaves an entry in the audit log, as [`Store::audited`] makes it. It has the
/// transactions of [`Writer`] and no other operation: a statement outside of a transaction could not write the entry.
#[derive(Debug)]
#[must_use = "the entry is written with the change that is made through it"]
pub struct AuditedStore(Writer);

/// The transactions that may leave an entry in the audit log.
#[derive(Clone, Debug)]
pub struct Writer {
    db: Db,
    watch: Arc<changes::Watch>,
    late: Arc<time_limits::LateAnswers>,
    observers: operation::Observers,
    sync_setting: open::SyncSetting,
    /// What the next change leaves in the audit log.
    entry: Option<Arc<audit::PendingEntry>>,
}

impl Deref for Store {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.0
    }
}

impl Deref for AuditedStore {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.0
    }
}

/// Takes what may run outside of a transaction: no [`AuditedStore`], and no [`Writer`], which may be part of one.
fn unaudited(store: &Store) -> &Store {
    store
}

#[derive(Clone, Debug)]
enum Db {
    /// SQLite takes one writer at a time: one connection writes, the others read snapshots.
    Sqlite {
        write: SqlitePool,
        read: SqlitePool,
    },
    Postgres(PgPool),
}

/// Which database is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
}

impl DatabaseKind {
    /// The word in `GET /v1/health` and in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// Runs a block of statements on whichever database is open. `read` lends it the pool; `write`
/// lends it a transaction, commits at the block's end and rolls back when the block leaves early.
/// `write unnoticed` is for what happens all the time and that no process caches: it may not change
/// a [`Topic`]. What an [`AuditedStore`] changes is on the disk before it is acknowledged, on SQLite too;
/// `write synced` is for a change without an entry that has to survive a loss of power as well.
///
/// `one` lends the pool of writes for a single statement that no process caches and nobody audits, which
/// is a transaction by itself and on PostgreSQL one round trip.
///
/// `read` and `one` take a [`Store`] only. Where the block's value says that something was changed
/// ([`audit::ChangeOutcome`]), `write` writes the entry of an [`AuditedStore`] before it commits.
macro_rules! portable {
    (read $store:expr, $db:ident => $body:expr) => {
        match &$crate::unaudited($store).db {
            $crate::Db::Sqlite { read: $db, .. } => $crate::boxed!($store, Read, $body),
            $crate::Db::Postgres($db) => $crate::boxed_within!($store, Read, $body),
        }
    };
    (one $store:expr, $db:ident => $body:expr) => {
        match &$crate::unaudited($store).db {
            $crate::Db::Sqlite { write: $db, .. } => $crate::boxed!($store, Write, {
                $store.sync_setting.relax($db).await?;
                $body
            }),
            $crate::Db::Postgres($db) => $crate::boxed_within!($store, Write, $body),
        }
    };
    (write unnoticed $store:expr, $tx:ident => $body:expr) => {
        $crate::portable!(in $store, $store.power_loss(), $tx => $body, before {}, after {})
    };
    (write synced $store:expr, $tx:ident => $body:expr) => {
        $crate::portable!(noticed $store, $crate::open::PowerLoss::Survives, $tx => $body)
    };
    (write $store:expr, $tx:ident => $body:expr) => {
        $crate::portable!(noticed $store, $store.power_loss(), $tx => $body)
    };
    (noticed $store:expr, $power_loss:expr, $tx:ident => $body:expr) => {
        $crate::portable!(in $store, $power_loss, $tx => $body, before {
            $store.watch.touch()
        }, after {
            // The change is committed. A process that does not get the signal finds it a little later.
            $store.watch.touch();
        })
    };
    (in $store:expr, $power_loss:expr, $tx:ident => $body:expr, before $before:block, after $after:block) => {{
        match &$store.db {
            $crate::Db::Sqlite { write, .. } => $crate::boxed!($store, Write, began => {
                let power_loss = $power_loss;
                let mut $tx = write.begin_with(power_loss.begin_statements()).await?;
                $store.sync_setting.began(power_loss);
                $store.observers.note($crate::StoreStep::Begin, began);
                let done = $body;
                if $store.entry.is_some() && $crate::audit::ChangeOutcome::is_change(&done) {
                    $store.write_entry_to_sqlite(&mut $tx).await?;
                }
                $before
                $tx.commit().await?;
                $store.watch.committed();
                $after
                done
            }),
            $crate::Db::Postgres(pool) => $crate::boxed_within!($store, Write, began => {
                let mut $tx = pool.begin().await?;
                $store.observers.note($crate::StoreStep::Begin, began);
                let done = $body;
                if $store.entry.is_some() && $crate::audit::ChangeOutcome::is_change(&done) {
                    $store.write_entry_to_postgres(&mut $tx).await?;
                }
                $tx.commit().await?;
                $store.watch.committed();
                done
            }),
        }
    }};
}
pub(crate) use portable;

/// A statement in progress is kilobytes of state for each database. In a box it is not part of every
/// future that may come to ask one, which are made for each request and moved several times. `$began` is
/// when the operation began.
macro_rules! boxed {
    ($store:expr, $step:ident, $body:expr) => {
        $crate::boxed!($store, $step, _began => $body)
    };
    ($store:expr, $step:ident, $began:ident => $body:expr) => {{
        let running = $crate::operation::RunningOperation::begin(
            $crate::DatabaseKind::Sqlite,
            $crate::StoreStep::$step,
            module_path!(),
        );
        let $began = running.began();
        let done = Box::pin(async { Ok::<_, $crate::StoreError>($body) }).await;
        running.end(&$store.observers, done)?
    }};
}
pub(crate) use boxed;

/// The same for a database that may never answer.
macro_rules! boxed_within {
    ($store:expr, $step:ident, $body:expr) => {
        $crate::boxed_within!($store, $step, _began => $body)
    };
    ($store:expr, $step:ident, $began:ident => $body:expr) => {{
        let running = $crate::operation::RunningOperation::begin(
            $crate::DatabaseKind::Postgres,
            $crate::StoreStep::$step,
            module_path!(),
        );
        let $began = running.began();
        let done = Box::pin($store.late.within($crate::OPERATION_WITHIN, async {
            Ok::<_, $crate::StoreError>($body)
        }))
        .await;
        running.end(&$store.observers, done)?
    }};
}
pub(crate) use boxed_within;

impl Writer {
    /// Which database this is.
    pub fn kind(&self) -> DatabaseKind {
        match self.db {
            Db::Sqlite { .. } => DatabaseKind::Sqlite,
            Db::Postgres(_) => DatabaseKind::Postgres,
        }
    }

    /// What the next transaction has to survive on SQLite: one with an entry in the audit log is what somebody made.
    fn power_loss(&self) -> open::PowerLoss {
        match self.entry {
            Some(_) => open::PowerLoss::Survives,
            None => open::PowerLoss::MayBeLost,
        }
    }
}

impl Store {
    /// Whether the database is a file of this machine.
    pub fn is_file(&self) -> bool {
        self.watch.has_shared_version()
    }

    /// Waits for running statements, then closes every connection. A server that does not answer is not
    /// waited for.
    pub async fn close(&self) {
        match &self.db {
            Db::Sqlite { write, read } => {
                read.close().await;
                write.close().await;
            }
            Db::Postgres(pool) => {
                let _ = tokio::time::timeout(time_limits::ACQUIRE_WITHIN, pool.close()).await;
            }
        }
    }
}
