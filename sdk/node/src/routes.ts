/** Where each operation's values go. Made by sdk/generate.py; do not edit. */

export interface Route {
  method: string;
  path: string;
  query: readonly string[];
  header: readonly string[];
  body: readonly string[];
}

export const ROUTES = {
  add_document: {"method": "POST", "path": "/v1/knowledge/documents", "query": [], "header": ["Idempotency-Key"], "body": ["content", "content_base64", "media_type", "title"]},
  change_default_permission: {"method": "PATCH", "path": "/v1/permissions/default", "query": [], "header": [], "body": ["approvers", "default"]},
  change_permissions: {"method": "PATCH", "path": "/v1/permissions/users/{user_id}/batch", "query": [], "header": [], "body": ["approvers", "services", "tools"]},
  change_service_permission: {"method": "PATCH", "path": "/v1/permissions/users/{user_id}/services/{service_name}", "query": [], "header": [], "body": ["approvers", "expires_at", "max_calls", "permission"]},
  change_tool_permission: {"method": "PATCH", "path": "/v1/permissions/users/{user_id}/tools/{tool_name}", "query": [], "header": [], "body": ["approvers", "expires_at", "max_calls", "permission"]},
  check_skill: {"method": "GET", "path": "/v1/skills/{skill_id}/check", "query": ["user_id"], "header": [], "body": []},
  confirm_connection: {"method": "POST", "path": "/v1/connections/confirm", "query": [], "header": ["Idempotency-Key"], "body": ["code", "user_id"]},
  create_session: {"method": "POST", "path": "/v1/sessions", "query": [], "header": ["Idempotency-Key"], "body": ["prompt", "user_id"]},
  create_skill: {"method": "POST", "path": "/v1/skills", "query": [], "header": ["Idempotency-Key"], "body": ["instructions", "name", "summary"]},
  create_webhook: {"method": "POST", "path": "/v1/webhooks", "query": [], "header": ["Idempotency-Key"], "body": ["description", "events", "filters", "url"]},
  decide_approval: {"method": "POST", "path": "/v1/approvals/{approval_id}", "query": [], "header": ["Idempotency-Key"], "body": ["decision"]},
  delete_connection: {"method": "DELETE", "path": "/v1/connections/{connection_id}", "query": [], "header": [], "body": []},
  delete_connection_hook: {"method": "DELETE", "path": "/v1/connections/{connection_id}/hook", "query": [], "header": [], "body": []},
  delete_document: {"method": "DELETE", "path": "/v1/knowledge/documents/{document_id}", "query": [], "header": [], "body": []},
  delete_session: {"method": "DELETE", "path": "/v1/sessions/{session_id}", "query": [], "header": [], "body": []},
  delete_skill: {"method": "DELETE", "path": "/v1/skills/{skill_id}", "query": [], "header": [], "body": []},
  delete_webhook: {"method": "DELETE", "path": "/v1/webhooks/{webhook_id}", "query": [], "header": [], "body": []},
  execute_tool: {"method": "POST", "path": "/v1/tools/{tool_name}/execute", "query": [], "header": ["Idempotency-Key"], "body": ["arguments", "connection_id", "dry_run", "fields", "max_result_bytes", "max_result_chars", "retry_unknown", "session_id", "user_id"]},
  explain_permission: {"method": "GET", "path": "/v1/permissions/users/{user_id}/explain", "query": ["tool_name"], "header": [], "body": []},
  get_approval: {"method": "GET", "path": "/v1/approvals/{approval_id}", "query": [], "header": [], "body": []},
  get_connection: {"method": "GET", "path": "/v1/connections/{connection_id}", "query": ["wait", "active_after"], "header": [], "body": []},
  get_connection_hook: {"method": "GET", "path": "/v1/connections/{connection_id}/hook", "query": [], "header": [], "body": []},
  get_default_permission: {"method": "GET", "path": "/v1/permissions/default", "query": [], "header": [], "body": []},
  get_document: {"method": "GET", "path": "/v1/knowledge/documents/{document_id}", "query": [], "header": [], "body": []},
  get_execution: {"method": "GET", "path": "/v1/executions/{execution_id}", "query": [], "header": [], "body": []},
  get_execution_payloads: {"method": "GET", "path": "/v1/executions/{execution_id}/payloads", "query": [], "header": [], "body": []},
  get_result: {"method": "GET", "path": "/v1/results/{result_id}", "query": ["offset", "limit"], "header": [], "body": []},
  get_session: {"method": "GET", "path": "/v1/sessions/{session_id}", "query": [], "header": [], "body": []},
  get_skill: {"method": "GET", "path": "/v1/skills/{skill_id}", "query": [], "header": [], "body": []},
  get_status: {"method": "GET", "path": "/v1/status", "query": [], "header": [], "body": []},
  get_tool_schema: {"method": "GET", "path": "/v1/tools/{tool_name}/schema", "query": ["user_id"], "header": ["If-None-Match"], "body": []},
  get_user_permissions: {"method": "GET", "path": "/v1/permissions/users/{user_id}", "query": [], "header": [], "body": []},
  get_webhook: {"method": "GET", "path": "/v1/webhooks/{webhook_id}", "query": [], "header": [], "body": []},
  health_check: {"method": "GET", "path": "/v1/health", "query": [], "header": [], "body": []},
  link_connection: {"method": "POST", "path": "/v1/connections/link", "query": [], "header": ["Idempotency-Key"], "body": ["confirm_url", "connection_id", "popup_origin", "return_url", "scopes", "service", "slot", "user_id"]},
  list_approvals: {"method": "GET", "path": "/v1/approvals", "query": ["status", "limit", "cursor"], "header": [], "body": []},
  list_connections: {"method": "GET", "path": "/v1/connections", "query": ["user_id", "service", "wait", "active_after"], "header": [], "body": []},
  list_documents: {"method": "GET", "path": "/v1/knowledge/documents", "query": ["limit", "cursor"], "header": [], "body": []},
  list_executions: {"method": "GET", "path": "/v1/executions", "query": ["kind", "user_id", "tool_name", "tool_name_part", "service", "key_prefix", "status", "reason", "started_after", "started_before", "limit", "cursor"], "header": [], "body": []},
  list_messages: {"method": "GET", "path": "/v1/sessions/{session_id}/messages", "query": ["limit", "cursor"], "header": [], "body": []},
  list_permission_services: {"method": "GET", "path": "/v1/permissions/services", "query": [], "header": [], "body": []},
  list_sessions: {"method": "GET", "path": "/v1/sessions", "query": ["user_id", "limit", "cursor"], "header": [], "body": []},
  list_skill_versions: {"method": "GET", "path": "/v1/skills/{skill_id}/versions", "query": ["limit", "cursor"], "header": [], "body": []},
  list_skills: {"method": "GET", "path": "/v1/skills", "query": ["query", "limit", "offset"], "header": [], "body": []},
  list_tools: {"method": "GET", "path": "/v1/tools/list", "query": ["service", "limit", "cursor", "user_id"], "header": [], "body": []},
  list_webhook_deliveries: {"method": "GET", "path": "/v1/webhooks/{webhook_id}/deliveries", "query": ["status", "limit", "cursor"], "header": [], "body": []},
  list_webhooks: {"method": "GET", "path": "/v1/webhooks", "query": [], "header": [], "body": []},
  put_connection_hook: {"method": "PUT", "path": "/v1/connections/{connection_id}/hook", "query": [], "header": [], "body": ["secret"]},
  resend_webhook_delivery: {"method": "POST", "path": "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend", "query": [], "header": ["Idempotency-Key"], "body": []},
  resume_session: {"method": "POST", "path": "/v1/sessions/{session_id}/resume", "query": [], "header": ["Idempotency-Key"], "body": []},
  rotate_webhook_secret: {"method": "POST", "path": "/v1/webhooks/{webhook_id}/rotate", "query": [], "header": ["Idempotency-Key"], "body": ["overlap_hours"]},
  search_knowledge: {"method": "GET", "path": "/v1/knowledge/search", "query": ["query", "limit"], "header": [], "body": []},
  search_tools: {"method": "GET", "path": "/v1/tools/search", "query": ["query", "service", "limit", "schema_limit", "user_id"], "header": [], "body": []},
  send_message: {"method": "POST", "path": "/v1/sessions/{session_id}/messages", "query": [], "header": ["Idempotency-Key"], "body": ["content"]},
  summarise_user_permissions: {"method": "GET", "path": "/v1/permissions/users/{user_id}/summary", "query": [], "header": [], "body": []},
  test_webhook: {"method": "POST", "path": "/v1/webhooks/{webhook_id}/test", "query": [], "header": ["Idempotency-Key"], "body": []},
  update_skill: {"method": "PUT", "path": "/v1/skills/{skill_id}", "query": [], "header": ["If-Match"], "body": ["instructions", "name", "summary", "version"]},
  update_webhook: {"method": "PATCH", "path": "/v1/webhooks/{webhook_id}", "query": [], "header": [], "body": ["description", "enabled", "events", "filters", "url"]},
} as const satisfies Record<string, Route>;

export type Operation = keyof typeof ROUTES;
