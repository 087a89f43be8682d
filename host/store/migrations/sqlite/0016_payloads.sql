-- Bodies of requests and answers, sealed, of workspaces that keep them. They go with their receipt.
CREATE TABLE execution_payloads (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    sealed       TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, execution_id) REFERENCES executions (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX execution_payloads_of ON execution_payloads (workspace_id, execution_id);
