//! Alertmanager: alerts and silences.

use serde_json::json;

use super::calls::{ServiceGateway, refused, run};
use super::server::{RealServer, installed, program};

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
    let gateway = ServiceGateway::at_address("alertmanager", &server, "").await;

    for tool in ["check_health", "check_readiness", "reload_configuration"] {
        run(&gateway, &format!("alertmanager_{tool}"), json!({})).await;
    }
    let receivers = run(&gateway, "alertmanager_list_receivers", json!({})).await;
    assert_eq!(receivers[0]["name"], "team", "{receivers}");
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
    let groups = json!({ "receiver": "team" });
    let groups = run(&gateway, "alertmanager_list_alert_groups", groups).await;
    assert_eq!(groups[0]["alerts"][0]["labels"], labels, "{groups}");

    let silence = json!({
        "matchers": [{ "name": "alertname", "value": "BackupFailed", "isRegex": false }],
        "startsAt": "2026-01-01T00:00:00Z", "endsAt": "2099-01-01T00:00:00Z",
        "createdBy": "ada", "comment": "The disk is being replaced",
    });
    let made = run(&gateway, "alertmanager_create_silence", silence.clone()).await;
    let id = json!({ "silenceID": made["silenceID"] });
    let silences = run(&gateway, "alertmanager_list_silences", json!({})).await;
    assert_eq!(silences[0]["id"], made["silenceID"], "{silences}");
    let mut longer = silence;
    longer["id"] = made["silenceID"].clone();
    // One that began cannot begin at another time; the server put its own in the place of a past one.
    longer["startsAt"] = silences[0]["startsAt"].clone();
    longer["comment"] = json!("The disk and its cable are being replaced");
    let longer = run(&gateway, "alertmanager_update_silence", longer).await;
    assert_eq!(longer["silenceID"], made["silenceID"], "{longer}");
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
    gateway.every_tool_succeeded(&[]).await;
}
