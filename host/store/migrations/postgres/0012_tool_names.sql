-- A tool's name belongs to the service that activated it first, until the operator removes that service.
CREATE TABLE tool_names (
    name          TEXT COLLATE "C" PRIMARY KEY,
    service       TEXT COLLATE "C" NOT NULL,
    claimed_at_ms BIGINT NOT NULL
);
CREATE INDEX tool_names_of_service ON tool_names (service);
-- What serves now has its names; of two services with one name the one that served first.
INSERT INTO tool_names (name, service, claimed_at_ms)
    SELECT plugins.service || '_' || (tool.value ->> 'name'), plugins.service, plugins.updated_at_ms
    FROM plugins
    JOIN manifests ON manifests.sha256 = plugins.active_sha256
    CROSS JOIN LATERAL json_array_elements(manifests.manifest::json -> 'tools') AS tool (value)
    WHERE plugins.state = 'active' AND (tool.value ->> 'name') IS NOT NULL
    ORDER BY (SELECT MIN(versions.activated_at_ms) FROM plugin_versions AS versions
              WHERE versions.service = plugins.service), plugins.service DESC
    ON CONFLICT (name) DO NOTHING;
