//! One operation on the database as operators see it: how long it took, and its span within a call.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::{DatabaseKind, Store, StoreError};
use toolgate_core::trace::{Attribute, SpanKind, TraceSpan};

/// What of the database took time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreStep {
    /// A whole operation that reads, with the wait for a connection.
    Read,
    /// A whole operation that writes.
    Write,
    /// Of an operation that writes: the wait for a connection, and on SQLite for other writers.
    Begin,
}

/// Hears how long a step took, on the thread that took it.
pub type StoreObserver = Box<dyn Fn(StoreStep, Duration) + Send + Sync>;

/// Connections of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolState {
    /// `read` and `write` on SQLite, `main` on PostgreSQL.
    pub pool: &'static str,
    pub idle: usize,
    pub used: usize,
}

/// The observer of a store and its clones.
#[derive(Clone, Default)]
pub(crate) struct Observers(Arc<OnceLock<StoreObserver>>);

impl std::fmt::Debug for Observers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observers")
    }
}

impl Store {
    /// Tells `observer` of every operation from now on; there is one for each open store.
    pub fn observe(&self, observer: StoreObserver) {
        let _ = self.observers.0.set(observer);
    }

    /// What the pools hold now.
    pub fn pools(&self) -> Vec<PoolState> {
        let state = |pool, size: u32, idle: usize| PoolState {
            pool,
            idle,
            used: (size as usize).saturating_sub(idle),
        };
        match &self.db {
            super::Db::Sqlite { write, read } => vec![
                state("write", write.size(), write.num_idle()),
                state("read", read.size(), read.num_idle()),
            ],
            super::Db::Postgres(pool) => vec![state("main", pool.size(), pool.num_idle())],
        }
    }
}

/// An operation that runs.
pub(crate) struct RunningOperation {
    step: StoreStep,
    span: TraceSpan,
    began: Instant,
}

impl RunningOperation {
    /// `module`: that of the operation, as `module_path!` names it.
    pub(crate) fn begin(kind: DatabaseKind, step: StoreStep, module: &'static str) -> Self {
        let part = || module.rsplit("::").next().unwrap_or(module);
        let mut span = TraceSpan::begin(SpanKind::Client, || format!("database {}", part()));
        span.note(|span| {
            let system = match kind {
                DatabaseKind::Sqlite => "sqlite",
                DatabaseKind::Postgres => "postgresql",
            };
            let operation = match step {
                StoreStep::Read => "read",
                StoreStep::Write | StoreStep::Begin => "write",
            };
            span.set(Attribute::DatabaseSystem, system.into());
            span.set(Attribute::DatabaseOperation, operation.into());
            span.set(Attribute::DatabaseCollection, part().into());
        });
        Self {
            step,
            span,
            began: Instant::now(),
        }
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    pub(crate) fn end<T>(
        mut self,
        observers: &Observers,
        done: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if done.is_err() {
            self.span.note(|span| span.fail("database_error".into()));
        }
        observers.note(self.step, self.began);
        done
    }
}

impl Observers {
    pub(crate) fn note(&self, step: StoreStep, began: Instant) {
        if let Some(observer) = self.0.get() {
            observer(step, began.elapsed());
        }
    }
}
