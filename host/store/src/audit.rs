//! The audit log: who changed what in a workspace. Rows are only ever added, in the transaction of
//! the change that they tell of ([`Store::audited`]), and go by their age where the operator has set
//! one.

use std::sync::{Arc, Mutex, PoisonError};

use sqlx::{PgConnection, SqliteConnection};

use super::page::one_more;
use super::{
    Activated, ApprovalRow, ApproveRequest, AttemptDecision, AuditedStore, BeginOutcome, Cursor,
    DeliveryRecord, HookRow, InsertedOrigin, InsertedToolset, InsertedTrigger, KvSet, MemberChange,
    Page, RevokeOutcome, SessionRow, SkillUpdate, SourcePut, Store, StoreError, UpdatedToolset,
    Writer, portable,
};
use crate::columns::select;

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct AuditEntry {
    pub workspace_id: String,
    /// `aud_<ULID>`.
    pub id: String,
    pub at_ms: i64,
    /// `key:<id>`, `member:<id>`, `app:<id>`, `user:<id>`, `operator` or `gateway`.
    pub actor: String,
    /// Dotted, for example `keys.revoke`.
    pub action: String,
    /// Id of what was changed.
    pub subject: String,
    /// JSON object without secrets.
    pub details: String,
    /// Address of the client, where there was one.
    pub address: Option<String>,
    pub request_id: Option<String>,
}

/// Which entries to list; `None` does not filter.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditFilter<'a> {
    pub actor: Option<&'a str>,
    pub action: Option<&'a str>,
    /// Written at this moment or later.
    pub from_ms: Option<i64>,
    /// Written before this moment.
    pub before_ms: Option<i64>,
}

/// A page of the log: what selects besides the workspace and the time, and the values of it.
macro_rules! entries_of {
    ($condition:literal) => {
        concat!(
            select!(audit_log),
            " WHERE workspace_id = $1",
            $condition,
            " AND at_ms BETWEEN $5 AND $2 AND (at_ms < $2 OR id < $3) ORDER BY at_ms DESC, id DESC LIMIT $4"
        )
    };
}

impl AuditFilter<'_> {
    /// The statement that lists with this filter; each has an index with its order.
    pub(super) fn statement(&self) -> &'static str {
        match (self.actor, self.action) {
            (None, None) => entries_of!(""),
            (Some(_), None) => entries_of!(" AND actor = $6"),
            (None, Some(_)) => entries_of!(" AND action = $6"),
            (Some(_), Some(_)) => entries_of!(" AND actor = $6 AND action = $7"),
        }
    }

    /// Where a page begins: behind the one before, and before the end of the time that is asked for.
    fn bound(&self, after: Option<&Cursor>) -> (i64, String) {
        let (at_ms, id) = Cursor::bound(after);
        match self.before_ms {
            Some(before_ms) if before_ms <= at_ms => (before_ms, String::new()),
            _ => (at_ms, id),
        }
    }
}

/// What a transaction answers: whether it has changed something.
pub(super) trait ChangeOutcome {
    fn is_change(&self) -> bool;
}

impl ChangeOutcome for bool {
    fn is_change(&self) -> bool {
        *self
    }
}

impl ChangeOutcome for u64 {
    fn is_change(&self) -> bool {
        *self > 0
    }
}

impl ChangeOutcome for usize {
    fn is_change(&self) -> bool {
        *self > 0
    }
}

impl<T> ChangeOutcome for Option<T> {
    fn is_change(&self) -> bool {
        self.is_some()
    }
}

impl<T> ChangeOutcome for Vec<T> {
    fn is_change(&self) -> bool {
        !self.is_empty()
    }
}

/// Of these there is one only where something was changed.
macro_rules! always_a_change {
    ($($answer:ty),+ $(,)?) => {$(
        impl ChangeOutcome for $answer {
            fn is_change(&self) -> bool {
                true
            }
        }
    )+};
}
always_a_change!((), ApprovalRow, DeliveryRecord, HookRow, SessionRow);

/// Of these one variant is a change.
macro_rules! change_is {
    ($($answer:ident: $change:pat),+ $(,)?) => {$(
        impl ChangeOutcome for $answer {
            fn is_change(&self) -> bool {
                matches!(self, $change)
            }
        }
    )+};
}
change_is! {
    RevokeOutcome: Self::Done(_),
    MemberChange: Self::Done,
    Activated: Self::Done,
    SourcePut: Self::Done,
    ApproveRequest: Self::Recorded { .. },
    SkillUpdate: Self::Updated(_),
    BeginOutcome: Self::Run,
    InsertedOrigin: Self::Done,
    InsertedToolset: Self::Done,
    InsertedTrigger: Self::Done,
    UpdatedToolset: Self::Updated(_),
    KvSet: Self::Stored { .. },
    AttemptDecision: Self::Counted,
}

/// An entry that waits for the transaction of the change that it tells of.
#[derive(Debug)]
pub(super) struct PendingEntry(Mutex<Option<AuditEntry>>);

impl PendingEntry {
    fn take(&self) -> Option<AuditEntry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Adds an entry inside the open transaction.
macro_rules! insert_entry {
    ($tx:ident, $entry:expr) => {{
        let entry = $entry;
        sqlx::query(
            "INSERT INTO audit_log (workspace_id, id, at_ms, actor, action, subject, details, address, request_id) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(entry.workspace_id)
        .bind(entry.id)
        .bind(entry.at_ms)
        .bind(entry.actor)
        .bind(entry.action)
        .bind(entry.subject)
        .bind(entry.details)
        .bind(entry.address)
        .bind(entry.request_id)
        .execute($tx)
        .await?;
    }};
}

impl Store {
    /// The database for one change: the first transaction of this handle that changes something
    /// writes `entry` too. Either both are there afterwards or neither.
    pub fn audited(&self, entry: AuditEntry) -> AuditedStore {
        self.audited_where(Some(entry))
    }

    /// As [`Self::audited`] where the change has an entry: some have none by their kind or state.
    pub fn audited_where(&self, entry: Option<AuditEntry>) -> AuditedStore {
        let pending = entry.map(|entry| Arc::new(PendingEntry(Mutex::new(Some(entry)))));
        AuditedStore(Writer {
            entry: pending,
            ..self.0.clone()
        })
    }
}

impl Writer {
    fn take_entry(&self) -> Option<AuditEntry> {
        self.entry.as_ref().and_then(|pending| pending.take())
    }

    pub(super) async fn write_entry_to_sqlite(
        &self,
        tx: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        if let Some(entry) = self.take_entry() {
            insert_entry!(tx, entry);
        }
        Ok(())
    }

    pub(super) async fn write_entry_to_postgres(
        &self,
        tx: &mut PgConnection,
    ) -> Result<(), StoreError> {
        if let Some(entry) = self.take_entry() {
            insert_entry!(tx, entry);
        }
        Ok(())
    }
}

impl Store {
    /// Adds an entry about what leaves nothing else in the database.
    pub async fn add_audit_entry(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let audited = self.audited(entry.clone());
        portable!(write audited, tx => {});
        Ok(())
    }

    /// All entries of a workspace, newest first.
    pub async fn list_audit_entries(
        &self,
        workspace_id: &str,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let all = AuditFilter::default();
        self.filter_audit_entries(workspace_id, all, after, limit)
            .await
    }

    /// The entries of a workspace that `filter` selects, newest first.
    pub async fn filter_audit_entries(
        &self,
        workspace_id: &str,
        filter: AuditFilter<'_>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let (at_ms, id) = filter.bound(after);
        let rows = portable!(read self, db => {
            let mut query = sqlx::query_as(filter.statement())
                .bind(workspace_id)
                .bind(at_ms)
                .bind(&id)
                .bind(one_more(limit))
                .bind(filter.from_ms.unwrap_or(i64::MIN));
            for value in [filter.actor, filter.action].into_iter().flatten() {
                query = query.bind(value);
            }
            query.fetch_all(db).await?
        });
        Ok(Page::cut(rows, limit, |row: &AuditEntry| {
            (row.at_ms, &row.id)
        }))
    }

    /// Forgets a workspace's entries from before `before_ms`, at most `limit`; call again while it
    /// answers `limit`.
    pub async fn prune_audit_entries(
        &self,
        workspace_id: &str,
        before_ms: i64,
        limit: usize,
    ) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM audit_log WHERE workspace_id = $1 AND id IN (SELECT id FROM audit_log \
                 WHERE workspace_id = $1 AND at_ms < $2 ORDER BY at_ms, id LIMIT $3)",
            )
            .bind(workspace_id)
            .bind(before_ms)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }
}
