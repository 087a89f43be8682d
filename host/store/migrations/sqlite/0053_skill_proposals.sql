-- Changes of Skills that toolsets name, until an admin has read them. One for each Skill: a newer one replaces it.
CREATE TABLE skill_proposals (
    workspace_id  TEXT NOT NULL,
    skill_id      TEXT NOT NULL,
    id            TEXT NOT NULL,
    version       INTEGER NOT NULL,
    name          TEXT NOT NULL,
    summary       TEXT NOT NULL,
    instructions  TEXT NOT NULL,
    proposed_by   TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, skill_id),
    FOREIGN KEY (workspace_id, skill_id) REFERENCES skills (workspace_id, id) ON DELETE CASCADE
);
