//! Servers that nobody here wrote, as `tests/real_servers/setup.sh` installs them, on loopback: each is asked through its
//! plugin with the gateway's REST execute.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use toolgate_tests::gateway::{Options, TestGateway, built_plugin, client, configure};
use toolgate_tests::ports::free_port;
use toolgate_tests::process::wait;
use toolgate_tests::tools;

use crate::connect::press;

/// A user of the message broker; its own default password would be found in many answers.
const USER: &str = "ada";
const PASSWORD: &str = "0123456789abcdef";

/// A running server with its folder; ends with this.
struct RealServer {
    url: String,
    folder: TempDir,
    children: Vec<Child>,
}

impl RealServer {
    /// With a free port, nothing started yet.
    fn new() -> Self {
        Self {
            url: format!("http://127.0.0.1:{}", free_port()),
            folder: TempDir::new().unwrap(),
            children: Vec::new(),
        }
    }

    fn port(&self) -> &str {
        self.url.rsplit(':').next().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Starts a program in a process group of its own.
    fn spawn(&mut self, command: &mut Command) {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.path("log"))
            .unwrap();
        let child = command
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        self.children.push(child);
    }

    /// Waits until this path answers; 401 is an answer too.
    async fn answers(&self, path: &str) {
        let (url, client) = (format!("{}{path}", self.url), client());
        wait(&format!("{url} to answer"), async || {
            let asked = client.get(&url).send().await;
            asked.is_ok_and(|answer| answer.status() == 401 || answer.status().is_success())
        })
        .await;
    }
}

impl Drop for RealServer {
    /// Ends the programs with those that they started.
    fn drop(&mut self) {
        for id in self.children.iter().filter_map(Child::id) {
            // A group that has ended needs no signal.
            let _ = std::process::Command::new("kill")
                .args(["-KILL", "--", &format!("-{id}")])
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// The folder of the servers.
fn installed() -> PathBuf {
    tools::installed("real_servers", "real_servers")
        .unwrap()
        .canonicalize()
        .unwrap()
}

fn program(name: &str) -> Command {
    Command::new(installed().join("root/usr/bin").join(name))
}

/// A gateway with the plugin, whose address is that of the server.
async fn gateway(service: &str, server: &RealServer) -> TestGateway {
    let gateway = TestGateway::start(Options {
        plugins: vec![(format!("{service}.wasm"), built_plugin(service).unwrap())],
        ..Options::default()
    })
    .await;
    let set = [("api_base".to_owned(), server.url.clone())];
    configure(&gateway.gateway, service, &set).await.unwrap();
    gateway
}

/// Runs a tool, which succeeds, and answers its result.
async fn run(gateway: &TestGateway, tool: &str, arguments: Value) -> Value {
    let mut answer = gateway.execute(tool, arguments).await;
    assert_eq!(answer["status"], "success", "{tool}: {answer}");
    answer["result"].take()
}

/// Runs a tool that the server refuses and answers everything that the gateway says.
async fn refused(gateway: &TestGateway, tool: &str, arguments: Value) -> String {
    let body = json!({ "arguments": arguments });
    let path = format!("/v1/tools/{tool}/execute");
    let answer = gateway.post(&path, &body).await;
    assert_ne!(
        answer.json()["data"]["status"],
        "success",
        "{tool}: {}",
        answer.text
    );
    answer.text
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_of_a_real_alertmanager_is_sent_silenced_and_resolved() {
    let mut server = RealServer::new();
    let configuration = "route: { receiver: team }\nreceivers: [{ name: team }]\n";
    let configuration = server.write("alertmanager.yml", configuration);
    let mut command = program("prometheus-alertmanager");
    command
        .arg(format!("--config.file={}", configuration.display()))
        .arg(format!("--storage.path={}", server.path("data").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{}", server.port()))
        .arg("--cluster.listen-address=")
        // The templates are in a folder below this one.
        .current_dir(installed().join("root/usr/share/prometheus"));
    server.spawn(&mut command);
    server.answers("/-/ready").await;
    let gateway = gateway("alertmanager", &server).await;

    let status = run(&gateway, "alertmanager_get_status", json!({})).await;
    assert!(
        status["config"]["original"].to_string().contains("team"),
        "{status}"
    );
    let labels = json!({ "alertname": "BackupFailed", "severity": "warning" });
    let alert =
        json!({ "body": [{ "labels": labels, "annotations": { "summary": "No space left" } }] });
    run(&gateway, "alertmanager_create_alerts", alert).await;
    let firing = json!({ "filter": ["severity=\"warning\""], "silenced": false });
    let alerts = run(&gateway, "alertmanager_list_alerts", firing.clone()).await;
    assert_eq!(alerts[0]["labels"], labels, "{alerts}");
    assert_eq!(alerts[0]["receivers"][0]["name"], "team", "{alerts}");

    let silence = json!({
        "matchers": [{ "name": "alertname", "value": "BackupFailed", "isRegex": false }],
        "startsAt": "2026-01-01T00:00:00Z", "endsAt": "2099-01-01T00:00:00Z",
        "createdBy": USER, "comment": "The disk is being replaced",
    });
    let made = run(&gateway, "alertmanager_create_silence", silence).await;
    let id = json!({ "silenceID": made["silenceID"] });
    let silences = run(&gateway, "alertmanager_list_silences", json!({})).await;
    assert_eq!(silences[0]["id"], made["silenceID"], "{silences}");
    run(&gateway, "alertmanager_expire_silence", id.clone()).await;
    let expired = run(&gateway, "alertmanager_get_silence", id).await;
    assert_eq!(expired["status"]["state"], "expired", "{expired}");

    let over = json!({ "body": [{ "labels": labels, "endsAt": "2026-01-01T00:00:00Z" }] });
    run(&gateway, "alertmanager_resolve_alerts", over).await;
    let said = refused(
        &gateway,
        "alertmanager_list_alerts",
        json!({ "filter": ["a{"] }),
    )
    .await;
    assert!(said.contains("bad matcher"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_goes_through_a_queue_of_a_real_rabbitmq() {
    let mut server = RealServer::new();
    let names = free_port().to_string();
    let configuration = format!(
        "listeners.tcp.1 = 127.0.0.1:{}\nmanagement.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {}\n\
         default_user = {USER}\ndefault_pass = {PASSWORD}\n",
        free_port(),
        server.port()
    );
    server.write("rabbitmq.conf", &configuration);
    server.write("enabled_plugins", "[rabbitmq_management].");
    // The name server of Erlang; a broker that finds none starts one that outlives it.
    let mut epmd = program("epmd");
    epmd.args(["-port", &names, "-address", "127.0.0.1"]);
    server.spawn(&mut epmd);
    let machine = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::iter::once(installed().join("root/usr/bin")).chain(std::env::split_paths(&machine));
    let mut command = Command::new(installed().join("rabbitmq/sbin/rabbitmq-server"));
    command
        .current_dir(server.folder.path())
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("ERL_EPMD_PORT", &names)
        .env("RABBITMQ_NODENAME", "toolgate@localhost")
        .env("RABBITMQ_DIST_PORT", free_port().to_string());
    for (variable, name) in [
        ("RABBITMQ_MNESIA_BASE", "data"),
        ("RABBITMQ_LOG_BASE", "logs"),
        ("RABBITMQ_CONFIG_FILE", "rabbitmq.conf"),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", "enabled_plugins"),
        ("RABBITMQ_CONF_ENV_FILE", "none"),
        ("RABBITMQ_PID_FILE", "pid"),
    ] {
        command.env(variable, server.path(name));
    }
    server.spawn(&mut command);
    server.answers("/api/whoami").await;
    let gateway = gateway("rabbitmq", &server).await;

    let asked = gateway.execute("rabbitmq_list_queues", json!({})).await;
    assert_eq!(asked["status"], "auth_required", "{asked}");
    let body = json!({ "service": "rabbitmq" });
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let form = [("f_username", USER), ("f_password", PASSWORD)];
    let page = press(&gateway, link["connect_url"].as_str().unwrap(), &form).await;
    assert_eq!(page.status, 200, "{}", page.text);

    let queue = json!({ "vhost": "/", "queue": "orders" });
    run(&gateway, "rabbitmq_create_queue", queue.clone()).await;
    let exchange = json!({ "vhost": "/", "exchange": "events", "type": "topic" });
    run(&gateway, "rabbitmq_create_exchange", exchange).await;
    let binding =
        json!({ "vhost": "/", "exchange": "events", "queue": "orders", "routing_key": "order.*" });
    run(&gateway, "rabbitmq_create_binding", binding).await;
    let message = json!({
        "vhost": "/", "exchange": "events", "routing_key": "order.created", "properties": {},
        "payload": "one order", "payload_encoding": "string",
    });
    let sent = run(&gateway, "rabbitmq_publish_message", message).await;
    assert_eq!(sent["routed"], true, "{sent}");
    let first = json!({ "vhost": "/", "queue": "orders", "count": 1, "encoding": "auto" });
    for tool in ["rabbitmq_peek_messages", "rabbitmq_take_messages"] {
        let messages = run(&gateway, tool, first.clone()).await;
        assert_eq!(messages[0]["payload"], "one order", "{tool}: {messages}");
    }
    let messages = run(&gateway, "rabbitmq_take_messages", first).await;
    assert_eq!(messages, json!([]));
    let page = json!({ "columns": ["name"], "page_size": 5 });
    let page = gateway.execute("rabbitmq_list_exchanges", page).await;
    assert_eq!(
        page["result"]["items"].as_array().map(Vec::len),
        Some(5),
        "{page}"
    );
    assert!(page["next_cursor"].is_string(), "{page}");
    run(&gateway, "rabbitmq_delete_queue", queue.clone()).await;
    let said = refused(&gateway, "rabbitmq_get_queue", queue).await;
    assert!(
        said.contains("Not Found") && !said.contains(PASSWORD),
        "{said}"
    );
}

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
    let gateway = gateway("influxdb", &server).await;

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
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_of_a_real_registry_is_tagged_read_and_deleted() {
    let mut server = RealServer::new();
    let configuration = json!({
        "version": 0.1,
        "storage": {
            "filesystem": { "rootdirectory": server.path("data") },
            "delete": { "enabled": true },
        },
        "http": { "addr": format!("127.0.0.1:{}", server.port()) },
    });
    // JSON is YAML.
    let configuration = server.write("registry.yml", &configuration.to_string());
    let mut command = program("docker-registry");
    command.arg("serve").arg(configuration);
    server.spawn(&mut command);
    server.answers("/v2/").await;
    let (settings, layer) = (
        br#"{"architecture":"amd64","os":"linux"}"#,
        b"not a real layer",
    );
    let config_digest = push(&server, "team/web", settings).await;
    let layer_digest = push(&server, "team/web", layer).await;
    let gateway = gateway("docker_registry", &server).await;

    run(&gateway, "docker_registry_check_access", json!({})).await;
    let image = |reference: &str| json!({ "name": "team/web", "reference": reference });
    let mut manifest = image("1.0");
    manifest["config"] = json!({
        "mediaType": "application/vnd.oci.image.config.v1+json", "digest": config_digest, "size": settings.len(),
    });
    manifest["layers"] = json!([{
        "mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": layer_digest, "size": layer.len(),
    }]);
    run(&gateway, "docker_registry_put_oci_manifest", manifest).await;
    let names = run(
        &gateway,
        "docker_registry_list_repositories",
        json!({ "n": 10 }),
    )
    .await;
    assert_eq!(names["repositories"], json!(["team/web"]));
    let tags = run(
        &gateway,
        "docker_registry_list_tags",
        json!({ "name": "team/web" }),
    )
    .await;
    assert_eq!(tags["tags"], json!(["1.0"]));
    run(&gateway, "docker_registry_check_manifest", image("1.0")).await;
    let read = run(&gateway, "docker_registry_get_manifest", image("1.0")).await;
    assert_eq!(read["layers"][0]["digest"], layer_digest, "{read}");
    let config = json!({ "name": "team/web", "digest": config_digest });
    let config = run(&gateway, "docker_registry_get_image_config", config).await;
    assert_eq!(config["architecture"], "amd64", "{config}");
    let layer = json!({ "name": "team/web", "digest": layer_digest });
    run(&gateway, "docker_registry_delete_blob", layer.clone()).await;
    refused(&gateway, "docker_registry_check_blob", layer).await;
    let said = refused(&gateway, "docker_registry_get_manifest", image("2.0")).await;
    assert!(said.contains("manifest unknown"), "{said}");
}

/// Uploads a blob as a container client does and answers its digest.
async fn push(server: &RealServer, name: &str, content: &'static [u8]) -> String {
    let client = client();
    let started = client.post(format!("{}/v2/{name}/blobs/uploads/", server.url));
    let started = started.send().await.unwrap();
    let place = started.headers()["location"].to_str().unwrap();
    let digest = format!("sha256:{}", hex::encode(Sha256::digest(content)));
    let stored = client
        .put(format!("{place}&digest={digest}"))
        .header("content-type", "application/octet-stream")
        .body(content);
    assert_eq!(stored.send().await.unwrap().status(), 201);
    digest
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_a_real_mlflow_is_logged_found_and_registered() {
    let mut server = RealServer::new();
    let mut command = Command::new(installed().join("python/bin/mlflow"));
    command
        .args([
            "server",
            "--host",
            "127.0.0.1",
            "--port",
            server.port(),
            "--workers",
            "1",
        ])
        .arg("--backend-store-uri")
        .arg(format!("sqlite:///{}", server.path("mlflow.db").display()))
        .arg("--artifacts-destination")
        .arg(server.path("artifacts"))
        .current_dir(server.folder.path())
        .env("MLFLOW_DISABLE_TELEMETRY", "true")
        .env("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false");
    server.spawn(&mut command);
    server.answers("/health").await;
    let gateway = gateway("mlflow", &server).await;

    let made = run(
        &gateway,
        "mlflow_create_experiment",
        json!({ "name": "churn" }),
    )
    .await;
    let experiment = &made["experiment_id"];
    let begin = json!({ "experiment_id": experiment, "run_name": "depth-6", "start_time": 1_767_225_600_000_u64 });
    let begun = run(&gateway, "mlflow_create_run", begin).await;
    let id = &begun["info"]["run_id"];
    let values = json!({
        "run_id": id, "params": [{ "key": "depth", "value": "6" }],
        "metrics": [{ "key": "accuracy", "value": 0.93, "timestamp": 1_767_225_660_000_u64, "step": 1 }],
    });
    run(&gateway, "mlflow_log_batch", values).await;
    run(
        &gateway,
        "mlflow_update_run",
        json!({ "run_id": id, "status": "FINISHED" }),
    )
    .await;
    let best = json!({ "experiment_ids": [experiment], "filter": "metrics.accuracy > 0.9" });
    let best = run(&gateway, "mlflow_search_runs", best).await;
    assert_eq!(&best["runs"][0]["info"]["run_id"], id, "{best}");
    assert_eq!(best["runs"][0]["info"]["status"], "FINISHED", "{best}");
    run(
        &gateway,
        "mlflow_create_registered_model",
        json!({ "name": "churn" }),
    )
    .await;
    let source = format!("{}/model", begun["info"]["artifact_uri"].as_str().unwrap());
    let version = json!({ "name": "churn", "source": source, "run_id": id });
    let version = run(&gateway, "mlflow_create_model_version", version).await;
    let alias = json!({ "name": "churn", "alias": "champion", "version": version["version"] });
    run(&gateway, "mlflow_set_model_alias", alias).await;
    let champion = json!({ "name": "churn", "alias": "champion" });
    let champion = run(&gateway, "mlflow_get_model_version_by_alias", champion).await;
    assert_eq!(&champion["run_id"], id, "{champion}");
    let said = refused(
        &gateway,
        "mlflow_get_run",
        json!({ "run_id": "0".repeat(32) }),
    )
    .await;
    assert!(said.contains("not found"), "{said}");
}
