-- Bodies of requests and answers, sealed, of workspaces that keep them. They go with their receipt.
CREATE TABLE execution_payloads (
    workspace_id TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    execution_id TEXT COLLATE "C" NOT NULL,
    sealed       TEXT NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, execution_id) REFERENCES executions (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX execution_payloads_of ON execution_payloads (workspace_id, execution_id);
