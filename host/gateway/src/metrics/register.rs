//! Under which name each metric is exported, and what is said of it.

use prometheus_client::registry::Unit;

use super::Metrics;

impl Metrics {
    pub(super) fn register(&mut self) {
        self.register_edges();
        self.register_calls();
        self.register_bodies();
        self.register_database();
        self.register_background();
    }

    fn register_edges(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "http_requests",
            "Answered HTTP requests by route template, method and status",
            self.http_requests.clone(),
        );
        registry.register_with_unit(
            "http_request_duration",
            "Time from a request's head to its answer's head",
            Unit::Seconds,
            self.http_duration.clone(),
        );
        registry.register(
            "http_connections",
            "Open connections to the main address",
            self.http_connections.clone(),
        );
        registry.register(
            "mcp_requests",
            "MCP requests by method; error is empty, tool_error where a tool answered isError, or the code of a JSON-RPC error",
            self.mcp_requests.clone(),
        );
        registry.register_with_unit(
            "mcp_request_duration",
            "Time in which MCP requests are handled",
            Unit::Seconds,
            self.mcp_duration.clone(),
        );
        registry.register(
            "mcp_sessions",
            "Sessions of MCP clients that are in memory",
            self.mcp_sessions.clone(),
        );
    }

    fn register_calls(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "executions",
            "Tool executions by service and outcome; reason is empty unless the status is error",
            self.executions.clone(),
        );
        registry.register_with_unit(
            "execution_duration",
            "Wall clock time of tool executions",
            Unit::Seconds,
            self.execution_duration.clone(),
        );
        registry.register(
            "executions_running",
            "Tool executions that run now",
            self.executions_running.clone(),
        );
        registry.register_with_unit(
            "guest_memory",
            "Memory that running plugins have together",
            Unit::Bytes,
            self.guest_memory.clone(),
        );
        registry.register_with_unit(
            "guest_memory_max",
            "Memory that running plugins may have together",
            Unit::Bytes,
            self.guest_memory_max.clone(),
        );
        registry.register(
            "guest_memory_refused",
            "Calls that ended because running plugins had all the memory that they may have",
            self.guest_memory_refused.clone(),
        );
        registry.register(
            "egress_requests",
            "Requests that plugins and the gateway sent or were refused, by kind of host",
            self.egress_requests.clone(),
        );
        registry.register_with_unit(
            "egress_request_duration",
            "Time from a request's departure to the end of its answer",
            Unit::Seconds,
            self.egress_duration.clone(),
        );
    }

    fn register_bodies(&mut self) {
        let registry = &mut self.registry;
        registry.register_with_unit(
            "body_memory",
            "Memory that bodies of requests, answers of providers, files and documents have together",
            Unit::Bytes,
            self.body_memory.clone(),
        );
        registry.register_with_unit(
            "body_memory_max",
            "Memory that bodies of requests, answers of providers, files and documents may have together",
            Unit::Bytes,
            self.body_memory_max.clone(),
        );
        registry.register(
            "body_memory_refused",
            "Bodies, answers, files and documents that were refused because there was no memory for them",
            self.body_memory_refused.clone(),
        );
    }

    fn register_database(&mut self) {
        let registry = &mut self.registry;
        registry.register_with_unit(
            "database_duration",
            "Time of operations on the database: read and write whole, begin the wait of a write for its connection",
            Unit::Seconds,
            self.database_duration.clone(),
        );
        registry.register(
            "database_connections",
            "Connections to the database by pool",
            self.database_connections.clone(),
        );
        registry.register(
            "receipts_queued",
            "Receipts that wait for the database",
            self.receipts_queued.clone(),
        );
        registry.register(
            "receipts_behind",
            "1 while the database does not take receipts and no call starts",
            self.receipts_behind.clone(),
        );
    }

    fn register_background(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "token_refreshes",
            "Refreshes of access tokens by outcome",
            self.token_refreshes.clone(),
        );
        registry.register(
            "webhook_deliveries",
            "Attempts to deliver an event by outcome",
            self.webhook_deliveries.clone(),
        );
        registry.register(
            "webhook_deliveries_pending",
            "Deliveries of the whole installation that wait, counted every minute",
            self.webhook_deliveries_pending.clone(),
        );
        registry.register("plugins", "Plugin files by state", self.plugins.clone());
        registry.register(
            "catalog_services",
            "Services in the serving catalog",
            self.catalog_services.clone(),
        );
        registry.register(
            "catalog_tools",
            "Tools in the serving catalog",
            self.catalog_tools.clone(),
        );
        registry.register(
            "telemetry",
            "Spans and log lines for the collector by outcome",
            self.telemetry.clone(),
        );
        registry.register(
            "log_lines_lost",
            "Lines of the log that the reader of standard error did not take in time",
            self.log_lines_lost.clone(),
        );
    }
}
