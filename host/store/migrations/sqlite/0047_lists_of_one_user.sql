-- Lists of one user or of one state, newest first, each from an index that has its order: without one a database
-- takes the index that has the order of the whole workspace, and reads everybody's rows to find those of one user.

CREATE INDEX connections_of_user_newest ON connections (workspace_id, user_id, created_at_ms, id);
CREATE INDEX connections_of_user_service ON connections (workspace_id, user_id, service, created_at_ms, id);
CREATE INDEX sessions_of_user ON sessions (workspace_id, user_id, created_at_ms, id);
CREATE INDEX approvals_of_user ON approvals (workspace_id, user_id, created_at_ms, id);
CREATE INDEX approvals_in_state ON approvals (workspace_id, state, created_at_ms, id);
