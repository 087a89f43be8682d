-- The audit log of one actor, of one action, and of both, in its order.
CREATE INDEX audit_log_of_actor ON audit_log (workspace_id, actor, at_ms, id);
CREATE INDEX audit_log_of_action ON audit_log (workspace_id, action, at_ms, id);
CREATE INDEX audit_log_of_actor_action ON audit_log (workspace_id, actor, action, at_ms, id);
