//! RabbitMQ: a message through a queue, and a wrong password.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::Command;
use toolgate_tests::ports::free_port;
use toolgate_tests::process::wait;

use super::calls::{ServiceGateway, refused, run};
use super::server::{RealServer, installed, program};

/// A user of the message broker; its own default password would be found in many answers.
const USER: &str = "ada";
const PASSWORD: &str = "0123456789abcdef";

/// A broker with its name server; and the port at which clients connect.
async fn start() -> (RealServer, u16) {
    let mut server = RealServer::new();
    let (names, port) = (free_port().to_string(), free_port());
    let configuration = format!(
        "listeners.tcp.1 = 127.0.0.1:{port}\nmanagement.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {}\n\
         default_user = {USER}\ndefault_pass = {PASSWORD}\n",
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
    // Its scripts cannot be in a folder whose name has a space.
    let home = server.path("rabbitmq");
    let copied = Command::new("cp")
        .arg("-rL")
        .arg(installed().join("rabbitmq"))
        .arg(&home)
        .status();
    assert!(copied.await.unwrap().success());
    let mut command = Command::new(home.join("sbin/rabbitmq-server"));
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
    (server, port)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_goes_through_a_queue_of_a_real_rabbitmq() {
    let (server, port) = start().await;
    let gateway = ServiceGateway::at_address("rabbitmq", &server, "").await;

    let asked = gateway.execute("rabbitmq_list_queues", json!({})).await;
    assert_eq!(asked["status"], "auth_required", "{asked}");
    let wrong = [("f_username", USER), ("f_password", "another word")];
    let (status, text) = gateway.connect(&wrong).await;
    assert_ne!(status, 200, "{text}");
    let form = [("f_username", USER), ("f_password", PASSWORD)];
    let (status, text) = gateway.connect(&form).await;
    assert_eq!(status, 200, "{text}");

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
    binds_and_purges(&gateway).await;
    run(&gateway, "rabbitmq_delete_queue", queue.clone()).await;
    let said = refused(&gateway, "rabbitmq_get_queue", queue).await;
    assert!(
        said.contains("Not Found") && !said.contains(PASSWORD),
        "{said}"
    );
    rules_the_broker(&gateway).await;
    closes_a_connection(&gateway, port).await;
    gateway.every_tool_succeeded(&[]).await;
}

async fn binds_and_purges(gateway: &ServiceGateway) {
    let queue = json!({ "vhost": "/", "queue": "orders" });
    let exchange = json!({ "vhost": "/", "exchange": "events" });
    let bindings = run(gateway, "rabbitmq_list_queue_bindings", queue.clone()).await;
    assert!(bindings.to_string().contains("order.*"), "{bindings}");
    let bindings = run(gateway, "rabbitmq_list_exchange_bindings", exchange.clone()).await;
    let props = &bindings[0]["properties_key"];
    let binding = json!({ "vhost": "/", "exchange": "events", "queue": "orders", "props": props });
    run(gateway, "rabbitmq_delete_binding", binding).await;
    let bindings = run(gateway, "rabbitmq_list_exchange_bindings", exchange.clone()).await;
    assert_eq!(bindings, json!([]));
    run(gateway, "rabbitmq_delete_exchange", exchange).await;
    let queues = json!({ "vhost": "/", "name": "^ord", "use_regex": true, "columns": ["name"] });
    let queues = run(gateway, "rabbitmq_list_vhost_queues", queues).await;
    assert!(queues.to_string().contains("orders"), "{queues}");
    let exchanges = run(gateway, "rabbitmq_list_exchanges", json!({})).await;
    assert!(exchanges.to_string().contains("amq.topic"), "{exchanges}");
    let queues = run(gateway, "rabbitmq_list_queues", json!({})).await;
    assert!(queues.to_string().contains("orders"), "{queues}");
    run(gateway, "rabbitmq_purge_queue", queue.clone()).await;
    let queue = run(gateway, "rabbitmq_get_queue", queue).await;
    assert_eq!(queue["name"], "orders", "{queue}");
}

async fn rules_the_broker(gateway: &ServiceGateway) {
    let overview = run(gateway, "rabbitmq_get_overview", json!({})).await;
    assert!(overview["rabbitmq_version"].is_string(), "{overview}");
    let alarms = run(gateway, "rabbitmq_check_alarms", json!({})).await;
    assert_eq!(alarms["status"], "ok", "{alarms}");
    let nodes = json!({ "columns": ["name", "running"] });
    let nodes = run(gateway, "rabbitmq_list_nodes", nodes).await;
    assert_eq!(nodes[0]["running"], true, "{nodes}");
    let staging = json!({ "vhost": "staging" });
    let described = json!({ "vhost": "staging", "description": "Staging systems" });
    run(gateway, "rabbitmq_create_vhost", described).await;
    let vhosts = run(gateway, "rabbitmq_list_vhosts", json!({})).await;
    assert!(vhosts.to_string().contains("Staging systems"), "{vhosts}");
    let policy = json!({
        "vhost": "staging", "name": "short", "pattern": "^orders", "definition": { "message-ttl": 60000 },
        "apply_to": "queues",
    });
    run(gateway, "rabbitmq_set_policy", policy).await;
    let policies = run(gateway, "rabbitmq_list_policies", staging.clone()).await;
    assert_eq!(policies[0]["apply-to"], "queues", "{policies}");
    let policy = json!({ "vhost": "staging", "name": "short" });
    run(gateway, "rabbitmq_delete_policy", policy).await;
    let consumers = run(gateway, "rabbitmq_list_consumers", staging.clone()).await;
    assert_eq!(consumers, json!([]));
    run(gateway, "rabbitmq_delete_vhost", staging).await;
}

/// A client that says no more than AMQP 0-9-1 wants before a connection is open.
async fn connect_client(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(b"AMQP\x00\x00\x09\x01").await.unwrap();
    let login = format!("\0{USER}\0{PASSWORD}");
    let mut start_ok = vec![0, 10, 0, 11, 0, 0, 0, 0, 5];
    start_ok.extend(b"PLAIN");
    start_ok.extend(u32::try_from(login.len()).unwrap().to_be_bytes());
    start_ok.extend(login.as_bytes());
    start_ok.extend(b"\x05en_US");
    let tune_ok = vec![0, 10, 0, 31, 7, 255, 0, 2, 0, 0, 0, 0];
    let open = vec![0, 10, 0, 40, 1, b'/', 0, 0];
    for methods in [vec![start_ok], vec![tune_ok, open]] {
        // Each waits for the server's last word.
        let mut heard = [0; 4096];
        assert!(stream.read(&mut heard).await.unwrap() > 0);
        for method in methods {
            let mut frame = vec![1, 0, 0];
            frame.extend(u32::try_from(method.len()).unwrap().to_be_bytes());
            frame.extend(method);
            frame.push(0xce);
            stream.write_all(&frame).await.unwrap();
        }
    }
    stream
}

async fn closes_a_connection(gateway: &ServiceGateway, port: u16) {
    let mut client = connect_client(port).await;
    let all = json!({ "columns": ["name", "user"] });
    wait("the connection to be listed", async || {
        let listed = run(gateway, "rabbitmq_list_connections", all.clone()).await;
        listed.to_string().contains(USER)
    })
    .await;
    let listed = run(gateway, "rabbitmq_list_connections", all).await;
    let name = listed
        .pointer("/items/0/name")
        .or(listed.pointer("/0/name"));
    let closed = json!({ "connection": name, "reason": "Maintenance" });
    let hears_why = async {
        let mut said = Vec::new();
        while !String::from_utf8_lossy(&said).contains("Maintenance") {
            let count = client.read_buf(&mut said).await.unwrap();
            assert_ne!(count, 0, "the broker ended the connection without a reason");
        }
    };
    tokio::join!(hears_why, run(gateway, "rabbitmq_close_connection", closed));
}
