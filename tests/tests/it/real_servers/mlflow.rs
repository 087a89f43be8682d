//! MLflow: experiments, runs and models.

use serde_json::{Value, json};
use tokio::process::Command;

use super::calls::{ServiceGateway, refused, run};
use super::server::{RealServer, installed};

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
    let gateway = ServiceGateway::at_address("mlflow", &server, "").await;

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
    reads_and_corrects(&gateway, experiment, id).await;
    gateway.every_tool_succeeded(&[]).await;
}

/// What a person looks up and corrects after a run.
async fn reads_and_corrects(gateway: &ServiceGateway, experiment: &Value, run_id: &Value) {
    let later = 1_767_225_720_000_u64;
    for (tool, arguments, pointer, expected) in [
        (
            "log_metric",
            json!({ "run_id": run_id, "key": "loss", "value": 0.2, "timestamp": later }),
            "",
            json!({}),
        ),
        (
            "log_parameter",
            json!({ "run_id": run_id, "key": "trees", "value": "90" }),
            "",
            json!({}),
        ),
        (
            "set_run_tag",
            json!({ "run_id": run_id, "key": "reviewed", "value": "yes" }),
            "",
            json!({}),
        ),
        (
            "get_run",
            json!({ "run_id": run_id }),
            "/data/tags/0/key",
            Value::Null,
        ),
        (
            "get_metric_history",
            json!({ "run_id": run_id, "metric_key": "loss" }),
            "/metrics/0/value",
            json!(0.2),
        ),
        (
            "list_artifacts",
            json!({ "run_id": run_id }),
            "/root_uri",
            Value::Null,
        ),
        (
            "set_experiment_tag",
            json!({ "experiment_id": experiment, "key": "team", "value": "sales" }),
            "",
            json!({}),
        ),
        (
            "rename_experiment",
            json!({ "experiment_id": experiment, "new_name": "churn-2" }),
            "",
            json!({}),
        ),
        (
            "get_experiment",
            json!({ "experiment_id": experiment }),
            "/name",
            json!("churn-2"),
        ),
        (
            "get_experiment_by_name",
            json!({ "experiment_name": "churn-2" }),
            "/experiment_id",
            experiment.clone(),
        ),
        (
            "search_experiments",
            json!({ "filter": "name LIKE 'churn%'", "max_results": 20 }),
            "/experiments/0/name",
            json!("churn-2"),
        ),
        (
            "get_registered_model",
            json!({ "name": "churn" }),
            "/name",
            json!("churn"),
        ),
        (
            "search_registered_models",
            json!({ "filter": "name LIKE 'churn%'" }),
            "/registered_models/0/name",
            json!("churn"),
        ),
        (
            "search_model_versions",
            json!({ "filter": "name = 'churn'" }),
            "/model_versions/0/run_id",
            run_id.clone(),
        ),
        (
            "delete_registered_model",
            json!({ "name": "churn" }),
            "",
            json!({}),
        ),
        ("delete_run", json!({ "run_id": run_id }), "", json!({})),
        (
            "delete_experiment",
            json!({ "experiment_id": experiment }),
            "",
            json!({}),
        ),
        (
            "restore_experiment",
            json!({ "experiment_id": experiment }),
            "",
            json!({}),
        ),
    ] {
        let found = run(gateway, &format!("mlflow_{tool}"), arguments).await;
        let at = found.pointer(pointer);
        assert!(at.is_some(), "{tool}: {found}");
        assert!(
            expected.is_null() || at == Some(&expected),
            "{tool}: {found}"
        );
    }
}
