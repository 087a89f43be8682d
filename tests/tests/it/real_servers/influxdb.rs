//! InfluxDB: points, and statements that a reading tool must not reach.

use serde_json::json;
use toolgate_tests::ports::free_port;

use super::calls::{ServiceGateway, refused, run};
use super::server::{RealServer, program};

const VERSION_2: &str = "the package is InfluxDB 1, which has no API of version 2";
const NOT_IN_VERSION_1: &[(&str, &str)] = &[
    ("influxdb_query_flux", VERSION_2),
    ("influxdb_write_points", VERSION_2),
    ("influxdb_delete_points", VERSION_2),
    ("influxdb_list_buckets", VERSION_2),
    ("influxdb_create_bucket", VERSION_2),
    ("influxdb_get_bucket", VERSION_2),
    ("influxdb_update_bucket", VERSION_2),
    ("influxdb_delete_bucket", VERSION_2),
    ("influxdb_list_organizations", VERSION_2),
    ("influxdb_list_tasks", VERSION_2),
    ("influxdb_create_task", VERSION_2),
    ("influxdb_get_task", VERSION_2),
    ("influxdb_update_task", VERSION_2),
    ("influxdb_run_task", VERSION_2),
    ("influxdb_list_task_runs", VERSION_2),
    ("influxdb_get_task_run_log", VERSION_2),
    ("influxdb_check_health", VERSION_2),
];

#[tokio::test(flavor = "multi_thread")]
async fn points_are_written_to_a_real_influxdb_and_queried() {
    let mut server = RealServer::new();
    let folder = server.folder.path().display();
    let configuration = format!(
        "reporting-disabled = true\nbind-address = \"127.0.0.1:{}\"\n[meta]\ndir = \"{folder}/meta\"\n\
         [data]\ndir = \"{folder}/data\"\nwal-dir = \"{folder}/wal\"\n[http]\nbind-address = \"127.0.0.1:{}\"\n",
        free_port(),
        server.port()
    );
    let configuration = server.write("influxdb.conf", &configuration);
    let mut command = program("influxd");
    command.arg("-config").arg(configuration);
    server.spawn(&mut command);
    server.answers("/ping").await;
    let gateway = ServiceGateway::at_address("influxdb", &server, "").await;

    run(&gateway, "influxdb_ping", json!({})).await;
    let create = json!({ "q": "CREATE DATABASE house" });
    run(&gateway, "influxdb_run_influxql_statement", create).await;
    let names = run(&gateway, "influxdb_list_databases", json!({})).await;
    assert!(names.to_string().contains("\"house\""), "{names}");
    let lines = "cpu,host=web1 usage=12.5 1767225600\ncpu,host=web2 usage=7.5 1767225600";
    let points = json!({ "db": "house", "precision": "s", "body": lines });
    run(&gateway, "influxdb_write_database_points", points).await;
    let query = json!({ "db": "house", "q": "SELECT MEAN(usage) FROM cpu", "epoch": "s" });
    let mean = run(&gateway, "influxdb_query_influxql", query).await;
    assert_eq!(
        mean["results"][0]["series"][0]["values"][0][1], 10,
        "{mean}"
    );
    let fields = run(
        &gateway,
        "influxdb_list_field_keys",
        json!({ "db": "house" }),
    )
    .await;
    assert!(fields.to_string().contains("float"), "{fields}");
    let tags = run(&gateway, "influxdb_list_tag_keys", json!({ "db": "house" })).await;
    assert!(tags.to_string().contains("host"), "{tags}");
    for (tool, expected) in [
        ("list_measurements", "cpu"),
        ("list_retention_policies", "autogen"),
    ] {
        let arguments = json!({ "db": "house" });
        let found = run(&gateway, &format!("influxdb_{tool}"), arguments).await;
        assert!(found.to_string().contains(expected), "{tool}: {found}");
    }
    // The server says this with status 200.
    let query = json!({ "db": "garden", "q": "SELECT MEAN(usage) FROM cpu" });
    let said = refused(&gateway, "influxdb_query_influxql", query).await;
    assert!(said.contains("database not found"), "{said}");
    // A tool that reads reaches no statement that changes something, though this server executes both on a GET.
    for q in [
        "SHOW MEASUREMENTS; DROP DATABASE house",
        "SELECT usage INTO copied FROM cpu",
    ] {
        let query = json!({ "db": "house", "q": q });
        refused(&gateway, "influxdb_query_influxql", query).await;
    }
    let measurements = json!({ "db": "house", "q": "SHOW MEASUREMENTS;" });
    let kept = run(&gateway, "influxdb_query_influxql", measurements).await;
    let kept = kept.to_string();
    assert!(
        kept.contains("\"cpu\"") && !kept.contains("copied"),
        "{kept}"
    );
    gateway.every_tool_succeeded(NOT_IN_VERSION_1).await;
}
