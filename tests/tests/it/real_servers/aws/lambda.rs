//! Lambda: a function with versions, an alias and a queue that invokes it. moto's check of signatures knows no request
//! without a body.

use reqwest::Method;
use serde_json::json;

use super::super::calls::{ServiceGateway, refused, run};
use super::{FORM, JSON, Moto, run_each};

const FUNCTION: &str = "send-invoice";
/// An archive without files, in base64.
const ZIP: &str = "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==";

/// What the integration does not make: the function, and that a queue invokes it.
async fn deploy(moto: &Moto) {
    let role = [("RoleName", "shop"), ("AssumeRolePolicyDocument", "{}")];
    moto.ask_iam("CreateRole", &role).await;
    let function = json!({
        "FunctionName": FUNCTION, "Runtime": "python3.13", "Handler": "main.handler",
        "Role": "arn:aws:iam::123456789012:role/shop", "Code": { "ZipFile": ZIP },
        "Environment": { "Variables": { "TABLE": "orders" } },
    });
    let queue = "Action=CreateQueue&Version=2012-11-05&QueueName=invoices";
    let source = json!({
        "FunctionName": FUNCTION, "EventSourceArn": "arn:aws:sqs:us-east-1:123456789012:invoices", "BatchSize": 5,
    });
    for (service, path, media_type, body) in [
        (
            "lambda",
            "/2015-03-31/functions",
            JSON,
            function.to_string(),
        ),
        ("sqs", "/", FORM, queue.to_owned()),
        (
            "lambda",
            "/2015-03-31/event-source-mappings",
            JSON,
            source.to_string(),
        ),
    ] {
        moto.ask(Method::POST, service, path, (media_type, &body))
            .await;
    }
}

async fn publishes_versions(gateway: &ServiceGateway) {
    let alias = |version: &str| json!({ "FunctionName": FUNCTION, "Name": "live", "FunctionVersion": version });
    let function = json!({ "FunctionName": FUNCTION });
    run_each(
        gateway,
        &[
            (
                "aws_lambda_update_function_configuration",
                json!({ "FunctionName": FUNCTION, "MemorySize": 512, "Timeout": 60 }),
                "/MemorySize",
                json!(512),
            ),
            (
                "aws_lambda_publish_version",
                json!({ "FunctionName": FUNCTION, "Description": "The first" }),
                "/Version",
                json!("1"),
            ),
            (
                "aws_lambda_create_alias",
                alias("1"),
                "/FunctionVersion",
                json!("1"),
            ),
            (
                "aws_lambda_update_function_configuration",
                json!({ "FunctionName": FUNCTION, "MemorySize": 1024 }),
                "/Timeout",
                json!(60),
            ),
            (
                "aws_lambda_publish_version",
                json!({ "FunctionName": FUNCTION, "Description": "The second" }),
                "/Version",
                json!("2"),
            ),
            (
                "aws_lambda_update_alias",
                alias("2"),
                "/FunctionVersion",
                json!("2"),
            ),
            (
                "aws_lambda_list_aliases",
                function.clone(),
                "/0/Name",
                json!("live"),
            ),
            (
                "aws_lambda_list_versions",
                function,
                "/1/MemorySize",
                json!(512),
            ),
            (
                "aws_lambda_get_function",
                json!({ "FunctionName": FUNCTION, "Qualifier": "live" }),
                "/Configuration/MemorySize",
                json!(1024),
            ),
        ],
    )
    .await;
}

/// Environment variables and links to code stay with the service.
async fn hides_secrets(gateway: &ServiceGateway) {
    let function = json!({ "FunctionName": FUNCTION });
    let read = run(gateway, "aws_lambda_get_function", function.clone()).await;
    assert_eq!(read["Configuration"]["FunctionName"], FUNCTION, "{read}");
    assert!(read["Code"].is_object(), "{read}");
    assert!(read["Code"]["Location"].is_null(), "{read}");
    let listed = run(gateway, "aws_lambda_list_functions", json!({})).await;
    assert_eq!(listed[0]["FunctionName"], FUNCTION, "{listed}");
    let versions = run(gateway, "aws_lambda_list_versions", function).await;
    for shown in [read, listed, versions] {
        assert!(!shown.to_string().contains("Environment"), "{shown}");
    }
}

async fn runs_and_limits(gateway: &ServiceGateway) {
    let function = json!({ "FunctionName": FUNCTION });
    let sources = run(
        gateway,
        "aws_lambda_list_event_source_mappings",
        function.clone(),
    )
    .await;
    let pause = json!({ "UUID": sources[0]["UUID"], "Enabled": false, "BatchSize": 3 });
    let event = json!({ "order": 1042, "to": "Jürgen" });
    run_each(
        gateway,
        &[
            (
                "aws_lambda_update_event_source_mapping",
                pause,
                "/State",
                json!("Disabled"),
            ),
            (
                "aws_lambda_invoke_function",
                json!({ "FunctionName": FUNCTION, "InvocationType": "RequestResponse", "body": event }),
                "",
                event.clone(),
            ),
            (
                "aws_lambda_put_function_concurrency",
                json!({ "FunctionName": FUNCTION, "ReservedConcurrentExecutions": 5 }),
                "/ReservedConcurrentExecutions",
                json!(5),
            ),
            (
                "aws_lambda_get_function",
                function.clone(),
                "/Concurrency/ReservedConcurrentExecutions",
                json!(5),
            ),
            (
                "aws_lambda_unreserve_function_concurrency",
                function.clone(),
                "/status",
                json!(204),
            ),
        ],
    )
    .await;
    let read = run(gateway, "aws_lambda_get_function", function).await;
    assert!(read["Concurrency"].is_null(), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_moto_serves_is_changed_published_invoked_and_deleted() {
    let moto = Moto::start().await;
    deploy(&moto).await;
    let gateway = moto.gateway("aws_lambda", "lambda").await;
    hides_secrets(&gateway).await;
    publishes_versions(&gateway).await;
    runs_and_limits(&gateway).await;

    let function = json!({ "FunctionName": FUNCTION });
    let version = json!({ "FunctionName": FUNCTION, "Qualifier": "1" });
    run(&gateway, "aws_lambda_delete_function", version).await;
    let left = run(&gateway, "aws_lambda_list_versions", function.clone()).await;
    assert_eq!(left.as_array().map(Vec::len), Some(2), "{left}");
    run(&gateway, "aws_lambda_delete_function", function.clone()).await;
    let said = refused(&gateway, "aws_lambda_get_function", function).await;
    assert!(said.contains("Function not found"), "{said}");
    gateway
        .every_tool_succeeded(&[("aws_lambda_get_account_settings", "moto has no limits")])
        .await;
}
