-- Rows that a call, a click or the housekeeping names by a hash or an id, found without reading the table.

-- Whether this very call has been denied.
CREATE INDEX approvals_denied ON approvals (workspace_id, user_id, tool_name, arguments_hash)
    WHERE state = 'denied';
-- Grants that were used, by their id alone.
CREATE INDEX app_grants_by_id ON app_grants (id);
-- Flows that wait for the application's confirmation.
CREATE INDEX connect_flows_confirm ON connect_flows (confirm_hash) WHERE confirm_hash IS NOT NULL;
