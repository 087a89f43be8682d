-- A tool's name belongs to the service that activated it first, until the operator removes that service.
CREATE TABLE tool_names (
    name          TEXT PRIMARY KEY,
    service       TEXT NOT NULL,
    claimed_at_ms INTEGER NOT NULL
);
CREATE INDEX tool_names_of_service ON tool_names (service);
-- What serves now has its names; of two services with one name the one that served first.
INSERT OR IGNORE INTO tool_names (name, service, claimed_at_ms)
    SELECT plugins.service || '_' || json_extract(tool.value, '$.name'), plugins.service, plugins.updated_at_ms
    FROM plugins
    JOIN manifests ON manifests.sha256 = plugins.active_sha256
    JOIN json_each(manifests.manifest, '$.tools') AS tool
    WHERE plugins.state = 'active' AND json_extract(tool.value, '$.name') IS NOT NULL
    ORDER BY (SELECT MIN(versions.activated_at_ms) FROM plugin_versions AS versions
              WHERE versions.service = plugins.service), plugins.service DESC;
