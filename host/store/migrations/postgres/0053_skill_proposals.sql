-- Changes of Skills that toolsets name, until an admin has read them. One for each Skill: a newer one replaces it.
CREATE TABLE skill_proposals (
    workspace_id  TEXT COLLATE "C" NOT NULL,
    skill_id      TEXT COLLATE "C" NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    version       BIGINT NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    summary       TEXT COLLATE "C" NOT NULL,
    instructions  TEXT COLLATE "C" NOT NULL,
    proposed_by   TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, skill_id),
    FOREIGN KEY (workspace_id, skill_id) REFERENCES skills (workspace_id, id) ON DELETE CASCADE
);
