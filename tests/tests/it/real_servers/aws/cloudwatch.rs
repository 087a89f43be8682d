//! CloudWatch: a metric, an alarm on it and a dashboard.

use serde_json::{Value, json};
use toolgate_core::clock::Clock;

use super::super::calls::{ServiceGateway, refused, run};
use super::{Moto, run_each};

/// Which metric it is, in the words of most tools, with more members.
fn metric(more: &Value) -> Value {
    let mut named = json!({
        "Namespace": "Shop/Import", "MetricName": "FailedRows", "Dimensions": [{ "Name": "Shop", "Value": "eu" }],
    });
    let members = named.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    named
}

async fn records_values(gateway: &ServiceGateway) {
    let now = Clock::system().now_ms() / 1_000;
    let value = |value: f64, seconds_ago: i64| {
        json!({
            "MetricName": "FailedRows", "Dimensions": [{ "Name": "Shop", "Value": "eu" }], "Value": value,
            "Unit": "Count", "Timestamp": now - seconds_ago,
        })
    };
    let put = json!({ "Namespace": "Shop/Import", "MetricData": [value(3.0, 60), value(5.0, 30)] });
    run(gateway, "aws_cloudwatch_put_metric_data", put).await;
    let (start, end) = (now - 3_600, now + 60);
    let statistics = metric(&json!({
        "StartTime": start, "EndTime": end, "Period": 7_200, "Statistics": ["Sum", "Average"], "Unit": "Count",
    }));
    let queries = json!([{
        "Id": "rows", "MetricStat": { "Metric": metric(&json!({})), "Period": 7_200, "Stat": "Maximum" },
    }]);
    run_each(
        gateway,
        &[
            (
                "aws_cloudwatch_list_metrics",
                json!({ "Namespace": "Shop/Import" }),
                "/Metrics",
                json!([metric(&json!({}))]),
            ),
            (
                "aws_cloudwatch_get_metric_statistics",
                statistics.clone(),
                "/Datapoints/0/Sum",
                json!(8.0),
            ),
            (
                "aws_cloudwatch_get_metric_statistics",
                statistics,
                "/Datapoints/0/Average",
                json!(4.0),
            ),
            (
                "aws_cloudwatch_get_metric_data",
                json!({ "MetricDataQueries": queries, "StartTime": start, "EndTime": end }),
                "/MetricDataResults/0/Values",
                json!([5.0]),
            ),
        ],
    )
    .await;
}

async fn raises_alarms(gateway: &ServiceGateway) {
    let alarm = metric(&json!({
        "AlarmName": "rows-high", "Statistic": "Sum", "Period": 300, "EvaluationPeriods": 2, "Threshold": 1.5,
        "ComparisonOperator": "GreaterThanThreshold", "TreatMissingData": "notBreaching",
        "AlarmActions": ["arn:aws:sns:us-east-1:123456789012:on-call"],
    }));
    let fire = json!({
        "AlarmName": "rows-high", "StateValue": "ALARM", "StateReason": "Test of the pager",
    });
    let which = json!({ "AlarmNames": ["rows-high"] });
    let enabled = "/MetricAlarms/0/ActionsEnabled";
    run_each(
        gateway,
        &[
            ("aws_cloudwatch_put_metric_alarm", alarm, "", Value::Null),
            ("aws_cloudwatch_set_alarm_state", fire, "", Value::Null),
            (
                "aws_cloudwatch_list_alarms",
                json!({ "StateValue": "ALARM", "MaxRecords": 1 }),
                "/MetricAlarms/0/StateReason",
                json!("Test of the pager"),
            ),
            (
                "aws_cloudwatch_list_metric_alarms",
                metric(&json!({})),
                "/0/Threshold",
                json!(1.5),
            ),
            (
                "aws_cloudwatch_disable_alarm_actions",
                which.clone(),
                "",
                Value::Null,
            ),
            (
                "aws_cloudwatch_list_alarms",
                which.clone(),
                enabled,
                json!(false),
            ),
            (
                "aws_cloudwatch_enable_alarm_actions",
                which.clone(),
                "",
                Value::Null,
            ),
            (
                "aws_cloudwatch_list_alarms",
                which.clone(),
                enabled,
                json!(true),
            ),
            ("aws_cloudwatch_delete_alarms", which, "", Value::Null),
            (
                "aws_cloudwatch_list_alarms",
                json!({}),
                "/MetricAlarms",
                json!([]),
            ),
        ],
    )
    .await;
}

async fn draws_dashboards(gateway: &ServiceGateway) {
    let body = json!({ "widgets": [{
        "type": "text", "x": 0, "y": 0, "width": 6, "height": 3, "properties": { "markdown": "Shop" },
    }] });
    let body = body.to_string();
    let which = json!({ "DashboardName": "shop" });
    run_each(
        gateway,
        &[
            (
                "aws_cloudwatch_put_dashboard",
                json!({ "DashboardName": "shop", "DashboardBody": body }),
                "/DashboardValidationMessages",
                json!([]),
            ),
            (
                "aws_cloudwatch_list_dashboards",
                json!({ "DashboardNamePrefix": "sh" }),
                "/DashboardEntries/0/DashboardName",
                json!("shop"),
            ),
            (
                "aws_cloudwatch_get_dashboard",
                which.clone(),
                "/DashboardBody",
                json!(body),
            ),
            (
                "aws_cloudwatch_delete_dashboards",
                json!({ "DashboardNames": ["shop"] }),
                "",
                Value::Null,
            ),
        ],
    )
    .await;
    let said = refused(gateway, "aws_cloudwatch_get_dashboard", which).await;
    assert!(said.contains("Dashboard does not exist"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_moto_has_recorded_are_read_watched_and_drawn() {
    let moto = Moto::start().await;
    moto.check_signatures().await;
    let gateway = moto.checked_gateway("aws_cloudwatch", "monitoring").await;
    records_values(&gateway).await;
    raises_alarms(&gateway).await;
    draws_dashboards(&gateway).await;
    let reason = "moto keeps no history of alarms";
    gateway
        .every_tool_succeeded(&[("aws_cloudwatch_list_alarm_history", reason)])
        .await;
}
