-- Lists of a workspace's connections, newest first: all of them, and those of one service.

CREATE INDEX connections_newest ON connections (workspace_id, created_at_ms, id);
CREATE INDEX connections_of_service ON connections (workspace_id, service, created_at_ms, id);
