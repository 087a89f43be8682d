//! What a workspace's receipts add up to: calls over time, by tool and by user, and how far each
//! list has come ([`UsageVersion`]), for people who look at it.

use super::executions::least_id;
use super::page::one_more;
use super::{DatabaseKind, Store, StoreError, portable};
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, FromRow};

/// Upper bounds of the classes that durations are counted in, in milliseconds; one more above them.
pub const DURATION_CLASSES_MS: [i64; 16] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000,
];

/// Calls of one stretch of time with one status and one class of duration.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct UsageRow {
    /// Counts stretches from the first.
    pub bucket: i64,
    pub status: String,
    /// Index into [`DURATION_CLASSES_MS`], or its length.
    pub class: i64,
    pub calls: i64,
}

/// Calls of one tool or, with an empty `tool_name`, of one service.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ToolUsage {
    pub service: String,
    pub tool_name: String,
    pub calls: i64,
    pub errors: i64,
    pub total_ms: i64,
}

/// One user that a workspace has heard of.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct UserRow {
    pub user_id: String,
    pub connections: i64,
    pub rules: i64,
    pub calls: i64,
    pub last_seen_at_ms: Option<i64>,
}

/// How far the lists of a workspace have come: equal values mean that nothing was added.
#[derive(Clone, Debug, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct UsageVersion {
    pub executions: String,
    pub approvals: String,
    pub skills: String,
    pub sessions: String,
    /// Which triggers there are, and how far their polls have come.
    pub triggers: String,
    pub audit: String,
    /// Endpoints, how they fare, and how far their deliveries have come.
    #[sqlx(skip)]
    pub webhooks: String,
}

/// One endpoint at one moment.
#[derive(sqlx::FromRow)]
struct WebhookMark {
    id: String,
    updated_at_ms: i64,
    failures: i64,
    enabled: bool,
    newest: Option<String>,
    oldest_waiting: Option<i64>,
    newest_waiting: Option<i64>,
}

impl WebhookMark {
    fn line(&self) -> String {
        let newest = self.newest.as_deref().unwrap_or_default();
        let oldest = self.oldest_waiting.unwrap_or_default();
        // Of two made in one millisecond either may be `newest`.
        let last = self.newest_waiting.unwrap_or_default();
        format!(
            "{} {} {} {} {newest} {oldest} {last}\n",
            self.id, self.updated_at_ms, self.failures, self.enabled
        )
    }
}

/// Where calls since `$1` are, of which the id is at least `$2`, in workspace `$3`; of user `$4` or of all.
/// Without statistics SQLite takes the primary key for the calls of one user, and reads those of all.
fn calls(database: DatabaseKind, user_id: Option<&str>) -> [&'static str; 2] {
    const ALL: &str =
        "WHERE e.workspace_id = $3 AND e.id >= $2 AND e.kind = 'tool' AND e.started_at_ms >= $1";
    const OF_USER: &str = "WHERE e.workspace_id = $3 AND e.user_id = $4 AND e.id >= $2 AND e.kind = 'tool' \
         AND e.started_at_ms >= $1";
    match (user_id, database) {
        (None, _) => ["executions AS e", ALL],
        (Some(_), DatabaseKind::Postgres) => ["executions AS e", OF_USER],
        (Some(_), DatabaseKind::Sqlite) => {
            ["executions AS e INDEXED BY executions_of_user", OF_USER]
        }
    }
}

/// Calls by `by`: columns that the list of tools or of services has.
fn totals(database: DatabaseKind, user_id: Option<&str>, columns: &str, by: &str) -> String {
    let [table, condition] = calls(database, user_id);
    format!(
        "SELECT {columns}, COUNT(*) AS calls, \
         CAST(SUM(CASE WHEN e.status = 'error' THEN 1 ELSE 0 END) AS BIGINT) AS errors, \
         CAST(SUM(e.duration_ms) AS BIGINT) AS total_ms FROM {table} \
         JOIN execution_contexts AS c ON c.workspace_id = e.workspace_id AND c.id = e.context \
         {condition} GROUP BY {by} ORDER BY COUNT(*) DESC, {by}"
    )
}

impl Store {
    /// Calls from `from_ms` on in stretches of `bucket_ms`.
    pub async fn usage(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        from_ms: i64,
        bucket_ms: i64,
    ) -> Result<Vec<UsageRow>, StoreError> {
        let mut class = String::from("CASE");
        for (at, bound_ms) in DURATION_CLASSES_MS.iter().enumerate() {
            class.push_str(&format!(" WHEN e.duration_ms <= {bound_ms} THEN {at}"));
        }
        class.push_str(&format!(" ELSE {} END", DURATION_CLASSES_MS.len()));
        let first = least_id(from_ms);
        let [table, condition] = calls(self.kind(), user_id);
        let statement = format!(
            "SELECT CAST((e.started_at_ms - $1) / {bucket_ms} AS BIGINT) AS bucket, e.status, \
             CAST({class} AS BIGINT) AS class, COUNT(*) AS calls FROM {table} {condition} GROUP BY 1, 2, 3"
        );
        self.of_calls(workspace_id, user_id, from_ms, &first, &statement)
            .await
    }

    /// The tools with the most calls since `from_ms`.
    pub async fn usage_by_tool(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        from_ms: i64,
        limit: usize,
    ) -> Result<Vec<ToolUsage>, StoreError> {
        let columns = "c.service, c.tool_name";
        let totals = totals(self.kind(), user_id, columns, "c.tool_name, c.service");
        let statement = format!("{totals} LIMIT {limit}");
        self.of_calls(
            workspace_id,
            user_id,
            from_ms,
            &least_id(from_ms),
            &statement,
        )
        .await
    }

    /// Calls since `from_ms` by service, most first.
    pub async fn usage_by_service(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        from_ms: i64,
    ) -> Result<Vec<ToolUsage>, StoreError> {
        let columns = "c.service, '' AS tool_name";
        let statement = totals(self.kind(), user_id, columns, "c.service");
        self.of_calls(
            workspace_id,
            user_id,
            from_ms,
            &least_id(from_ms),
            &statement,
        )
        .await
    }

    /// Runs a statement about [`calls`].
    async fn of_calls<T>(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        from_ms: i64,
        first: &str,
        statement: &str,
    ) -> Result<Vec<T>, StoreError>
    where
        T: Send + Unpin + for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow>,
    {
        Ok(portable!(read self, db => {
            let mut query = sqlx::query_as(AssertSqlSafe(statement.to_owned()))
                .bind(from_ms)
                .bind(first)
                .bind(workspace_id);
            if let Some(user_id) = user_id {
                query = query.bind(user_id);
            }
            query.fetch_all(db).await?
        }))
    }

    /// Users whose id begins with `prefix`, by id; calls since `since_ms`.
    pub async fn list_users(
        &self,
        workspace_id: &str,
        prefix: &str,
        since_ms: i64,
        limit: usize,
    ) -> Result<Vec<UserRow>, StoreError> {
        let first = least_id(since_ms);
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT user_id, CAST(SUM(connections) AS BIGINT) AS connections, CAST(SUM(rules) AS BIGINT) AS rules, \
                 CAST(SUM(calls) AS BIGINT) AS calls, MAX(seen) AS last_seen_at_ms FROM ( \
                 SELECT user_id, COUNT(*) AS connections, 0 AS rules, 0 AS calls, CAST(NULL AS BIGINT) AS seen \
                 FROM connections WHERE workspace_id = $1 GROUP BY user_id \
                 UNION ALL SELECT user_id, 0, COUNT(*), 0, NULL FROM permission_rules WHERE workspace_id = $1 GROUP BY user_id \
                 UNION ALL SELECT user_id, 0, 0, COUNT(*), MAX(started_at_ms) FROM executions \
                 WHERE workspace_id = $1 AND id >= $5 AND kind = 'tool' AND started_at_ms >= $2 GROUP BY user_id) AS known \
                 WHERE substr(user_id, 1, length($3)) = $3 GROUP BY user_id ORDER BY user_id LIMIT $4",
            )
            .bind(workspace_id)
            .bind(since_ms)
            .bind(prefix)
            .bind(one_more(limit) - 1)
            .bind(&first)
            .fetch_all(db)
            .await?
        }))
    }

    /// How far the workspace's lists have come. Each part is one look at the end of an index,
    /// one at the valid approvals, of which an index holds only those, and one at the triggers, which are few. Every end
    /// of a poll moves the time of the next one.
    pub async fn usage_mark(&self, workspace_id: &str) -> Result<UsageVersion, StoreError> {
        let mut usage_mark: UsageVersion = portable!(read self, db => {
            sqlx::query_as(
                "SELECT COALESCE((SELECT id FROM executions WHERE workspace_id = $1 \
                 ORDER BY id DESC LIMIT 1), '') AS executions, \
                 COALESCE((SELECT id FROM approvals WHERE workspace_id = $1 \
                 ORDER BY created_at_ms DESC, id DESC LIMIT 1), '') || \
                 (SELECT ' ' || CAST(COUNT(*) AS TEXT) || ' ' || CAST(COUNT(decided_at_ms) AS TEXT) || ' ' || \
                 CAST(COALESCE(MAX(decided_at_ms), 0) AS TEXT) FROM approvals \
                 WHERE workspace_id = $1 AND state IN ('pending', 'approved')) AS approvals, \
                 COALESCE((SELECT CAST(COUNT(*) AS TEXT) || ' ' || CAST(COALESCE(MAX(updated_at_ms), 0) AS TEXT) \
                 FROM skills WHERE workspace_id = $1), '') AS skills, \
                 COALESCE((SELECT id FROM sessions WHERE workspace_id = $1 \
                 ORDER BY created_at_ms DESC, id DESC LIMIT 1), '') AS sessions, \
                 (SELECT CAST(COUNT(*) AS TEXT) || ' ' || CAST(COALESCE(SUM(updated_at_ms), 0) AS TEXT) || ' ' || \
                 CAST(COALESCE(SUM(next_poll_at_ms), 0) AS TEXT) FROM triggers \
                 WHERE workspace_id = $1) AS triggers, \
                 COALESCE((SELECT id FROM audit_log WHERE workspace_id = $1 \
                 ORDER BY at_ms DESC, id DESC LIMIT 1), '') AS audit",
            )
            .bind(workspace_id)
            .fetch_one(db)
            .await?
        });
        // The newest delivery, the oldest and the newest one that wait: each at the end of an index.
        let webhooks: Vec<WebhookMark> = portable!(read self, db => {
            sqlx::query_as(
                "SELECT id, updated_at_ms, failures, enabled, \
                 (SELECT d.id || ' ' || d.state || ' ' || CAST(d.attempts AS TEXT) FROM webhook_deliveries AS d \
                 WHERE d.webhook_id = webhooks.id ORDER BY d.created_at_ms DESC, d.id DESC LIMIT 1) AS newest, \
                 (SELECT MIN(d.seq) FROM webhook_deliveries AS d \
                 WHERE d.webhook_id = webhooks.id AND d.state = 'pending') AS oldest_waiting, \
                 (SELECT MAX(d.seq) FROM webhook_deliveries AS d \
                 WHERE d.webhook_id = webhooks.id AND d.state = 'pending') AS newest_waiting \
                 FROM webhooks WHERE workspace_id = $1 ORDER BY id",
            )
            .bind(workspace_id)
            .fetch_all(db)
            .await?
        });
        usage_mark.webhooks = webhooks.iter().map(WebhookMark::line).collect();
        Ok(usage_mark)
    }
}
