//! The values of the gauges, for exporters.

use super::Metrics;
use super::labels::{PoolLabel, StateLabel};
use strum::VariantArray as _;
use toolgate_store::PluginState;

/// Every gauge, as [`GaugeValue::name`] names it.
pub const GAUGES: [&str; 14] = [
    "toolgate.http.connections",
    "toolgate.executions.running",
    "toolgate.database.connections",
    "toolgate.receipts.queued",
    "toolgate.receipts.behind",
    "toolgate.webhook.deliveries.pending",
    "toolgate.plugins",
    "toolgate.catalog.services",
    "toolgate.catalog.tools",
    "toolgate.guests.memory",
    "toolgate.guests.memory.max",
    "toolgate.mcp.sessions",
    "toolgate.bodies.memory",
    "toolgate.bodies.memory.max",
];

/// One gauge, or one of its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaugeValue {
    pub name: &'static str,
    pub labels: Vec<(&'static str, &'static str)>,
    pub value: i64,
}

impl Metrics {
    /// All gauges, read now.
    pub fn gauges(&self) -> Vec<GaugeValue> {
        self.read_samples();
        let plain = [
            (GAUGES[0], &self.http_connections),
            (GAUGES[1], &self.executions_running),
            (GAUGES[3], &self.receipts_queued),
            (GAUGES[4], &self.receipts_behind),
            (GAUGES[5], &self.webhook_deliveries_pending),
            (GAUGES[7], &self.catalog_services),
            (GAUGES[8], &self.catalog_tools),
            (GAUGES[9], &self.guest_memory),
            (GAUGES[10], &self.guest_memory_max),
            (GAUGES[11], &self.mcp_sessions),
            (GAUGES[12], &self.body_memory),
            (GAUGES[13], &self.body_memory_max),
        ];
        let mut gauges: Vec<GaugeValue> = plain
            .map(|(name, gauge)| GaugeValue {
                name,
                labels: Vec::new(),
                value: gauge.get(),
            })
            .into();
        for pool in ["read", "write", "main"] {
            for state in ["idle", "used"] {
                if let Some(gauge) = self.database_connections.get(&PoolLabel { pool, state }) {
                    gauges.push(GaugeValue {
                        name: GAUGES[2],
                        labels: vec![("pool", pool), ("state", state)],
                        value: gauge.get(),
                    });
                }
            }
        }
        for state in PluginState::VARIANTS.iter().map(|state| state.into_str()) {
            if let Some(gauge) = self.plugins.get(&StateLabel { state }) {
                gauges.push(GaugeValue {
                    name: GAUGES[6],
                    labels: vec![("state", state)],
                    value: gauge.get(),
                });
            }
        }
        gauges
    }
}
