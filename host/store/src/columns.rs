//! The columns that are read as rows, by table.
//!
//! No statement answers `*`: a newer gateway that adds a column to a table would change what the prepared statements of
//! an older one answer, and PostgreSQL refuses these from then on ("cached plan must not change result type").

/// The columns of a table that this program reads, as text of a statement.
macro_rules! columns {
    (api_keys) => {
        "id, workspace_id, name, prefix, scopes, default_user, rpm, rpd, expires_at_ms, ip_allowlist, \
         created_at_ms, revoked_at_ms, last_used_at_ms"
    };
    (app_blocks) => {
        "workspace_id, client_id, client_name, created_at_ms"
    };
    (app_client_tokens) => {
        "hash, client_id, scopes, resource, created_at_ms, expires_at_ms"
    };
    (app_clients) => {
        "id, kind, name, redirect_uris, auth_method, secret_hash, created_at_ms, fresh_until_ms, used_at_ms, \
         workspace_id, acts_for, scopes, jwks_uri"
    };
    (app_grants) => {
        "workspace_id, id, member_id, client_id, client_name, scopes, resource, redirect_uri, challenge, \
         code_hash, code_expires_at_ms, code_used_at_ms, created_at_ms, last_used_at_ms, expires_at_ms"
    };
    (app_requests) => {
        "id, client_id, redirect_uri, state, challenge, resource, scopes, created_at_ms, expires_at_ms, issuer"
    };
    (app_tokens) => {
        "hash, workspace_id, grant_id, kind, scopes, expires_at_ms, used_at_ms, generation, issued_at_ms"
    };
    (approvals) => {
        "workspace_id, id, user_id, tool_name, arguments_hash, requests, session_id, state, decided_by, \
         decided_at_ms, created_at_ms, expires_at_ms, asker, asker_name, approvers, connection_id, account, \
         plugin_version, plugin_sha256, title, arguments, plan, execution_id"
    };
    (audit_log) => {
        "workspace_id, id, at_ms, actor, action, subject, details, address, request_id"
    };
    (client_session_messages) => {
        "id, session_id, message, from_process, to_process, sent_at_ms"
    };
    (connect_flows) => {
        "id, token_hash, workspace_id, user_id, service, slot, connection_id, scopes, tool_name, confirm_url, \
         state, oauth_state_hash, cookie_hash, confirm_hash, sealed, last_error, created_at_ms, expires_at_ms, \
         state_since_ms, return_url, popup_origin, first_only"
    };
    (connections) => {
        "workspace_id, id, user_id, service, slot, auth_type, account, scopes, parameters, sealed, generation, \
         version, state, state_since_ms, token_expires_at_ms, refreshable, failures, next_retry_at_ms, \
         last_error, lease_owner, lease_since_ms, lease_until_ms, created_at_ms, updated_at_ms, connected_at_ms, \
         refresh_expires_at_ms"
    };
    (files) => {
        "workspace_id, id, user_id, execution_id, name, media_type, size_bytes, sha256, created_at_ms, expires_at_ms"
    };
    (hooks) => {
        "connection_id, workspace_id, user_id, service, sealed, accepted, refused, last_accepted_at_ms, \
         last_refused_at_ms, last_refusal, created_at_ms, updated_at_ms"
    };
    (knowledge_documents) => {
        "workspace_id, id, title, media_type, sha256, bytes, chars, pages, content, created_at_ms"
    };
    (manifests) => {
        "sha256, service, manifest, imports, wasm_bytes, inspector, inspected_at_ms"
    };
    (mcp_servers) => {
        "service, due_at_ms, asked_at_ms, outcome, failure, failed_at_ms, offered"
    };
    (member_links) => {
        "workspace_id, id, token_hash, kind, email, role, member_id, created_at_ms, expires_at_ms, vouched"
    };
    (member_sign_ins) => {
        "workspace_id, id, member_id, refresh_hash, previous_hash, rotated_at_ms, created_at_ms, \
         last_seen_at_ms, expires_at_ms, address, user_agent"
    };
    (members) => {
        "workspace_id, id, email, name, role, password_hash, oidc_subject, created_at_ms, last_seen_at_ms, \
         vouched"
    };
    (oauth_apps) => {
        "workspace_id, service, client_id, sealed, scopes, settings, updated_at_ms"
    };
    (oidc_accounts) => {
        "subject, sealed, confirmed_at_ms, checking_until_ms"
    };
    (page_origins) => {
        "workspace_id, id, origin, created_at_ms"
    };
    (permission_rules) => {
        "workspace_id, user_id, kind, name, rule, expires_at_ms, max_calls, used, updated_at_ms, approvers"
    };
    (plugin_files) => {
        "file_name, sha256, service, state, reason, updated_at_ms, fingerprint"
    };
    (plugin_versions) => {
        "service, sha256, version, activated_at_ms"
    };
    (plugins) => {
        "service, state, reason, file_name, active_sha256, active_version, approved, pending_sha256, \
         pending_version, pending_difference, approve_sha256, approve_requested_at_ms, updated_at_ms"
    };
    (script_runs) => {
        "workspace_id, id, user_id, session_id, actor, execution_id, script_sha256, engine_sha256, state, steps, dry_run, \
         created_at_ms, updated_at_ms, expires_at_ms, lease_owner, lease_until_ms, pause_sealed, start_sealed, end_sealed"
    };
    (script_steps) => {
        "run_id, step, kind, fingerprint, name, line, execution_id, settled_order, now_ms, status, began_at_ms, \
         ended_at_ms, outcome_sealed"
    };
    (service_config) => {
        "workspace_id, service, key, value, updated_at_ms"
    };
    (session_messages) => {
        "workspace_id, session_id, seq, id, role, content, details, created_at_ms"
    };
    (sessions) => {
        "workspace_id, id, user_id, prompt, created_at_ms, last_active_at_ms"
    };
    (skill_proposals) => {
        "workspace_id, skill_id, id, version, name, summary, instructions, proposed_by, created_at_ms"
    };
    (skill_versions) => {
        "workspace_id, id, version, name, summary, instructions, created_at_ms"
    };
    (skills) => {
        "workspace_id, id, name, summary, instructions, version, created_at_ms, updated_at_ms"
    };
    (toolsets) => {
        "workspace_id, name, title, description, tools, services, skills, generic_tools, created_at_ms, \
         updated_at_ms"
    };
    (triggers) => {
        "workspace_id, id, user_id, service, event, connection_id, config, interval_ms, since_ms, state, failures, \
         last_error, last_poll_at_ms, last_item_at_ms, items_found, watching_since_ms, floor_ms, cursor, pages_read, \
         reads_all, next_poll_at_ms, lease_owner, lease_until_ms, created_at_ms, updated_at_ms"
    };
    (webhook_deliveries) => {
        "seq, id, workspace_id, webhook_id, event_id, type, state, attempts, next_attempt_at_ms, \
         last_attempt_at_ms, response_status, duration_ms, last_error, created_at_ms, at_once, execution_id"
    };
    (webhooks) => {
        "id, workspace_id, url, description, events, filters, enabled, disabled_reason, disabled_at_ms, sealed, \
         sealed_previous, previous_until_ms, failures, failing_since_ms, retry_at_ms, lease_owner, \
         lease_until_ms, created_at_ms, updated_at_ms"
    };
    (workspaces) => {
        "id, name, plan, rpm, settings, created_at_ms"
    };
}

/// `SELECT` of the columns of a table, with what follows its name.
macro_rules! select {
    ($table:ident) => {
        concat!(
            "SELECT ",
            $crate::columns::columns!($table),
            " FROM ",
            stringify!($table)
        )
    };
    ($table:ident, $rest:literal) => {
        concat!($crate::columns::select!($table), " ", $rest)
    };
}

/// A statement that changes rows of a table and answers their columns.
macro_rules! returning {
    ($table:ident, $change:literal) => {
        concat!($change, " RETURNING ", $crate::columns::columns!($table))
    };
}

pub(crate) use {columns, returning, select};

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// `SELECT *`, `RETURNING *`, `table.*`.
    fn has_a_star(line: &str) -> bool {
        let mut before = "";
        line.split_whitespace().any(|word| {
            let word = word.trim_end_matches([',', '"', ')', ';']);
            let all = word == "*" && ["SELECT", "RETURNING"].contains(&before);
            before = word.trim_start_matches(['"', '(']);
            // `given` are the values that a statement brings with it.
            let of_a_table = word.strip_suffix(".*").is_some_and(|table| {
                let name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
                table != "given" && !table.is_empty() && table.bytes().all(name)
            });
            all || of_a_table
        })
    }

    fn lines_with_a_star(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                lines_with_a_star(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let with = code.filter(|line| has_a_star(line));
            found.extend(with.map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }

    #[test]
    fn every_statement_names_its_columns() {
        for statement in [
            "SELECT * FROM api_keys",
            "DELETE FROM api_keys RETURNING *",
            "SELECT c.id, k.*, w.id",
        ] {
            assert!(has_a_star(statement), "{statement}");
        }
        let mut found = Vec::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        lines_with_a_star(&source, &mut found);
        // The three above.
        assert_eq!(found.len(), 3, "{found:#?}");
    }
}
