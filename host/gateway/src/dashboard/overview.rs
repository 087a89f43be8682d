//! What happened lately and what needs attention: the first page of the dashboard.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Caller, Error, Gateway};
use toolgate_core::clock::rfc3339;
use toolgate_core::states::{ApprovalStatus, ConnectionHealth};
use toolgate_store::{
    ApprovalFilter, DURATION_CLASSES_MS, PluginFile, PluginState, Role, UsageRow,
};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
const TOP_MAX: usize = 10;
/// Keys that end within this time are mentioned.
const KEYS_EXPIRE_SOON_MS: i64 = 7 * DAY_MS;

/// How far back to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Period {
    #[serde(rename = "1h")]
    Hour,
    #[serde(rename = "24h")]
    Day,
    #[serde(rename = "7d")]
    Week,
    #[serde(rename = "30d")]
    Month,
}

impl Period {
    pub const ALL: [(&'static str, Self); 4] = [
        ("1h", Self::Hour),
        ("24h", Self::Day),
        ("7d", Self::Week),
        ("30d", Self::Month),
    ];

    /// Length of one point of the series, and how many there are.
    fn points(self) -> (i64, i64) {
        match self {
            Self::Hour => (MINUTE_MS, 60),
            Self::Day => (HOUR_MS, 24),
            Self::Week => (4 * HOUR_MS, 42),
            Self::Month => (DAY_MS, 30),
        }
    }
}

/// `GET /internal/overview`. A member without a larger role sees their own calls.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    pub period: Period,
    pub from: String,
    pub to: String,
    pub bucket_ms: i64,
    pub totals: Totals,
    /// Oldest first, without gaps.
    pub series: Vec<Point>,
    pub top_tools: Vec<TopTool>,
    pub top_services: Vec<TopService>,
    pub attention: Vec<Attention>,
    pub counts: Counts,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Totals {
    pub calls: i64,
    pub errors: i64,
    /// Calls that a person has to connect or approve first.
    pub waiting: i64,
    /// Upper bounds of the class that the quantile falls into; absent without calls.
    pub p50_ms: Option<i64>,
    pub p95_ms: Option<i64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Point {
    pub at: String,
    #[serde(flatten)]
    pub sums: Totals,
}

#[derive(Clone, Debug, Serialize)]
pub struct TopTool {
    pub tool_name: String,
    pub service: String,
    pub calls: i64,
    pub errors: i64,
    pub mean_ms: i64,
}

#[derive(Clone, Debug, Serialize)]
pub struct TopService {
    pub service: String,
    pub calls: i64,
    pub errors: i64,
}

/// Something that a person should look at.
#[derive(Clone, Debug, Serialize)]
pub struct Attention {
    pub kind: &'static str,
    pub count: usize,
    /// The one it is about, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    pub message: String,
    /// The page to open.
    pub path: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct Counts {
    pub tools: usize,
    pub services: usize,
    pub plugins_active: usize,
    pub connections: usize,
    /// Absent for a member without a larger role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<usize>,
}

impl Gateway {
    /// Calls over time and what needs attention.
    pub async fn overview(&self, caller: &Caller, period: Period) -> Result<Overview, Error> {
        caller.need_role(Role::Member)?;
        let (bucket_ms, points) = period.points();
        let now_ms = self.clock.now_ms();
        // The last stretch is the one that runs.
        let to_ms = now_ms - now_ms.rem_euclid(bucket_ms) + bucket_ms;
        let from_ms = to_ms - points * bucket_ms;
        let workspace = caller.workspace_id.as_str();
        let user = caller.confined.then(|| caller.default_user.as_str());
        let _ = self.receipts.flush().await;
        let rows = self
            .store
            .usage(workspace, user, from_ms, bucket_ms)
            .await?;
        let tools = self
            .store
            .usage_by_tool(workspace, user, from_ms, TOP_MAX)
            .await?;
        let mut services = self
            .store
            .usage_by_service(workspace, user, from_ms)
            .await?;
        services.truncate(TOP_MAX);
        let mut by_bucket: BTreeMap<i64, Vec<&UsageRow>> = BTreeMap::new();
        for row in &rows {
            by_bucket.entry(row.bucket).or_default().push(row);
        }
        let series = (0..points)
            .map(|at| Point {
                at: rfc3339(from_ms + at * bucket_ms),
                sums: summed(by_bucket.get(&at).into_iter().flatten().copied()),
            })
            .collect();
        Ok(Overview {
            period,
            from: rfc3339(from_ms),
            to: rfc3339(to_ms),
            bucket_ms,
            totals: summed(rows.iter()),
            series,
            top_tools: tools
                .into_iter()
                .map(|row| TopTool {
                    mean_ms: row.total_ms / row.calls.max(1),
                    tool_name: row.tool_name,
                    service: row.service,
                    calls: row.calls,
                    errors: row.errors,
                })
                .collect(),
            top_services: services
                .into_iter()
                .map(|row| TopService {
                    service: row.service,
                    calls: row.calls,
                    errors: row.errors,
                })
                .collect(),
            attention: self.attention(caller, now_ms).await?,
            counts: self.counts_of(caller).await?,
        })
    }

    async fn attention(&self, caller: &Caller, now_ms: i64) -> Result<Vec<Attention>, Error> {
        let mut found = Vec::new();
        found.extend(self.waiting_approvals(caller, now_ms).await?);
        found.extend(self.broken_connections(caller, now_ms).await?);
        found.extend(self.waiting_plugins(caller).await?);
        if caller.need_role(Role::Admin).is_ok() {
            found.extend(self.ending_keys(caller, now_ms).await?);
            found.extend(self.failing_webhooks(caller).await?);
        }
        Ok(found)
    }

    async fn waiting_approvals(
        &self,
        caller: &Caller,
        now_ms: i64,
    ) -> Result<Option<Attention>, Error> {
        let workspace = caller.workspace_id.as_str();
        self.store.expire_approvals(Some(workspace), now_ms).await?;
        let waiting = ApprovalFilter {
            state: Some(ApprovalStatus::Pending),
            ..crate::access::approvals::visible(caller)
        };
        let pending = self
            .store
            .list_approvals(workspace, waiting, None, 100)
            .await?;
        let pending: Vec<String> = pending.items.into_iter().map(|row| row.id).collect();
        Ok(noticed(
            "approvals_pending",
            &pending,
            ["call waits for approval", "calls wait for approval"],
            "/approvals?status=pending",
        ))
    }

    async fn broken_connections(
        &self,
        caller: &Caller,
        now_ms: i64,
    ) -> Result<Vec<Attention>, Error> {
        let mut found = Vec::new();
        let workspace = caller.workspace_id.as_str();
        let user = caller.confined.then(|| caller.default_user.as_str());
        let connections = self
            .store
            .count_connections(workspace, user, now_ms)
            .await?;
        for (state, kind, sentence) in [
            (
                ConnectionHealth::ReauthNeeded,
                "connections_expired",
                [
                    "connection has to be made again",
                    "connections have to be made again",
                ],
            ),
            (
                ConnectionHealth::CoolingDown,
                "connections_cooling_down",
                [
                    "connection could not be renewed and is tried again",
                    "connections could not be renewed and are tried again",
                ],
            ),
        ] {
            let of_state = connections.iter().filter(|count| count.state == state);
            let number = of_state.clone().map(|count| count.connections).sum();
            let first = of_state.map(|count| count.service.as_str()).next();
            found.extend(noticed_many(kind, number, first, sentence, "/integrations"));
        }
        Ok(found)
    }

    async fn waiting_plugins(&self, caller: &Caller) -> Result<Vec<Attention>, Error> {
        let mut found = Vec::new();
        let files = self.store.list_plugin_files().await?;
        for (state, kind, sentence) in [
            (
                PluginState::PendingApproval,
                "plugins_pending",
                [
                    "plugin upgrade asks for more rights",
                    "plugin upgrades ask for more rights",
                ],
            ),
            (
                PluginState::Quarantined,
                "plugins_quarantined",
                ["plugin file is quarantined", "plugin files are quarantined"],
            ),
        ] {
            // How the operator names files is shown where the installation is run.
            let name = |file: &PluginFile| match (&file.service, caller.operator) {
                (Some(service), _) => Some(service.clone()),
                (None, true) => Some(file.file_name.clone()),
                (None, false) => None,
            };
            let of_state: Vec<String> = files
                .iter()
                .filter(|file| file.state == state)
                .filter_map(name)
                .collect();
            found.extend(noticed(kind, &of_state, sentence, "/plugins"));
        }
        Ok(found)
    }

    async fn ending_keys(&self, caller: &Caller, now_ms: i64) -> Result<Option<Attention>, Error> {
        let workspace = caller.workspace_id.as_str();
        let soon_ms = now_ms + KEYS_EXPIRE_SOON_MS;
        let ending: Vec<String> = self
            .store
            .list_keys(workspace)
            .await?
            .into_iter()
            .filter(|key| key.revoked_at_ms.is_none())
            .filter(|key| {
                key.expires_at_ms
                    .is_some_and(|at| at > now_ms && at <= soon_ms)
            })
            .map(|key| key.name)
            .collect();
        Ok(noticed(
            "keys_expiring",
            &ending,
            ["key expires within a week", "keys expire within a week"],
            "/settings/keys",
        ))
    }

    /// Webhooks that fail now, or are switched off for it.
    async fn failing_webhooks(&self, caller: &Caller) -> Result<Option<Attention>, Error> {
        let workspace = caller.workspace_id.as_str();
        let failing: Vec<String> = self
            .store
            .list_webhooks(workspace)
            .await?
            .into_iter()
            .filter(|row| match row.enabled {
                true => row.failing_since_ms.is_some(),
                false => row.disabled_reason.is_some(),
            })
            .map(|row| match row.description.is_empty() {
                true => row.url,
                false => row.description,
            })
            .collect();
        Ok(noticed(
            "webhooks_failing",
            &failing,
            ["webhook does not answer", "webhooks do not answer"],
            "/webhooks",
        ))
    }

    async fn counts_of(&self, caller: &Caller) -> Result<Counts, Error> {
        let workspace = caller.workspace_id.as_str();
        let snapshot = self.snapshot();
        let user = caller.confined.then(|| caller.default_user.as_str());
        let connections = self
            .store
            .count_connections(workspace, user, self.clock.now_ms())
            .await?;
        let (mut keys, mut members) = (None, None);
        if caller.need_role(Role::Admin).is_ok() {
            let all = self.store.list_keys(workspace).await?;
            keys = Some(all.iter().filter(|key| key.revoked_at_ms.is_none()).count());
            members = Some(self.store.list_members(workspace).await?.len());
        }
        Ok(Counts {
            tools: snapshot.catalog.tools().len(),
            services: snapshot.catalog.services().count(),
            plugins_active: snapshot.serving.len(),
            connections: connections.iter().map(|count| count.connections).sum(),
            keys,
            members,
        })
    }
}

/// `sentences`: what is said of one, and of several.
fn noticed(
    kind: &'static str,
    about: &[String],
    sentences: [&str; 2],
    path: &str,
) -> Option<Attention> {
    let first = about.first().map(String::as_str);
    noticed_many(kind, about.len(), first, sentences, path)
}

/// `first`: what one of the `count` is about.
fn noticed_many(
    kind: &'static str,
    count: usize,
    first: Option<&str>,
    sentences: [&str; 2],
    path: &str,
) -> Option<Attention> {
    let one = count == 1;
    (count > 0).then(|| Attention {
        kind,
        count,
        subject: first.filter(|_| one).map(str::to_owned),
        message: format!("{count} {}", sentences[usize::from(!one)]),
        path: path.to_owned(),
    })
}

fn summed<'a>(rows: impl Iterator<Item = &'a UsageRow>) -> Totals {
    let mut sums = Totals::default();
    let mut classes = vec![0; DURATION_CLASSES_MS.len() + 1];
    for row in rows {
        sums.calls += row.calls;
        match row.status.as_str() {
            "error" => sums.errors += row.calls,
            "auth_required" | "auth_expired" | "approval_required" => sums.waiting += row.calls,
            _ => {}
        }
        let class = usize::try_from(row.class).unwrap_or(0);
        if let Some(class) = classes.get_mut(class) {
            *class += row.calls;
        }
    }
    sums.p50_ms = quantile(&classes, 50);
    sums.p95_ms = quantile(&classes, 95);
    sums
}

/// The upper bound of the class in which so many of a hundred calls have ended.
fn quantile(classes: &[i64], of_hundred: i64) -> Option<i64> {
    let all: i64 = classes.iter().sum();
    let wanted = (all * of_hundred + 99) / 100;
    let mut passed = 0;
    let class = classes.iter().position(|calls| {
        passed += calls;
        passed >= wanted && passed > 0
    })?;
    let last = DURATION_CLASSES_MS.len() - 1;
    Some(DURATION_CLASSES_MS[class.min(last)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bucket: i64, status: &str, class: i64, calls: i64) -> UsageRow {
        UsageRow {
            bucket,
            status: status.to_owned(),
            class,
            calls,
        }
    }

    #[test]
    fn calls_are_summed_by_what_became_of_them() {
        let rows = [
            row(0, "success", 3, 90),
            row(0, "error", 9, 6),
            row(1, "auth_required", 0, 3),
            row(1, "approval_required", 16, 1),
        ];
        let sums = summed(rows.iter());
        assert_eq!((sums.calls, sums.errors, sums.waiting), (100, 6, 4));
        assert_eq!((sums.p50_ms, sums.p95_ms), (Some(10), Some(1_000)));
        let none = summed([].iter());
        assert_eq!((none.calls, none.p50_ms, none.p95_ms), (0, None, None));
    }
}
