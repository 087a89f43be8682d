//! CloudWatch Logs: events of a stream, and queries over them.

use serde_json::{Value, json};
use toolgate_core::clock::Clock;

use super::super::calls::{ServiceGateway, answer, refused, run};
use super::{Moto, run_each};

const GROUP: &str = "/shop/import";
const MISSING: &[(&str, &str)] = &[
    (
        "aws_cloudwatch_logs_list_log_fields",
        "moto looks into no event",
    ),
    (
        "aws_cloudwatch_logs_stop_query",
        "a query of moto has ended at once",
    ),
];

/// Makes the group with a stream of two events, the last of them at this time in milliseconds.
async fn writes_events(gateway: &ServiceGateway, now: i64) {
    let group = json!({ "logGroupName": GROUP });
    let stream = json!({ "logGroupName": GROUP, "logStreamName": "agent [1]" });
    let mut events = stream.clone();
    events["logEvents"] = json!([
        { "timestamp": now - 1_000, "message": "Import begins" },
        { "timestamp": now, "message": "ERROR order 1042 has no address" },
    ]);
    let retention = "/logGroups/0/retentionInDays";
    let named = json!({ "logGroupNamePrefix": "/shop/", "limit": 1 });
    run_each(
        gateway,
        &[
            (
                "aws_cloudwatch_logs_create_log_group",
                json!({ "logGroupName": GROUP, "tags": { "team": "shop" } }),
                "/ok",
                json!(true),
            ),
            (
                "aws_cloudwatch_logs_create_log_stream",
                stream,
                "/ok",
                json!(true),
            ),
            (
                "aws_cloudwatch_logs_put_log_events",
                events,
                "/nextSequenceToken",
                Value::Null,
            ),
            (
                "aws_cloudwatch_logs_set_retention",
                json!({ "logGroupName": GROUP, "retentionInDays": 30 }),
                "/ok",
                json!(true),
            ),
            (
                "aws_cloudwatch_logs_list_log_groups",
                named.clone(),
                retention,
                json!(30),
            ),
            (
                "aws_cloudwatch_logs_keep_logs_forever",
                group,
                "/ok",
                json!(true),
            ),
        ],
    )
    .await;
    let kept = run(gateway, "aws_cloudwatch_logs_list_log_groups", named).await;
    assert_eq!(kept["logGroups"][0]["logGroupName"], GROUP, "{kept}");
    assert!(kept.pointer(retention).is_none(), "{kept}");
}

async fn reads_events(gateway: &ServiceGateway, now: i64) {
    let search = json!({
        "logGroupName": GROUP, "filterPattern": "ERROR", "startTime": now - 60_000, "limit": 100,
    });
    let found = run(gateway, "aws_cloudwatch_logs_search_log_events", search).await;
    let events = found["events"].as_array().map(Vec::len);
    assert_eq!(events, Some(1), "{found}");
    assert_eq!(found["events"][0]["logStreamName"], "agent [1]", "{found}");
    assert!(found["searchedLogStreams"].is_null(), "{found}");

    let mut page = json!({ "logGroupName": GROUP, "logStreamName": "agent [1]", "limit": 1 });
    for message in ["ERROR order 1042 has no address", "Import begins"] {
        let read = answer(gateway, "aws_cloudwatch_logs_get_log_events", page.clone()).await;
        assert_eq!(read["result"]["events"][0]["message"], message, "{read}");
        page["cursor"] = read["next_cursor"].clone();
    }
    run_each(
        gateway,
        &[
            (
                "aws_cloudwatch_logs_list_log_streams",
                json!({ "logGroupName": GROUP, "orderBy": "LastEventTime", "descending": true, "limit": 5 }),
                "/logStreams/0/lastEventTimestamp",
                json!(now),
            ),
            (
                "aws_cloudwatch_logs_list_metric_filters",
                json!({ "logGroupName": GROUP }),
                "/metricFilters",
                json!([]),
            ),
        ],
    )
    .await;
}

async fn queries_events(gateway: &ServiceGateway, now: i64) {
    let query = json!({
        "logGroupNames": [GROUP], "startTime": now / 1_000 - 3_600, "endTime": now / 1_000 + 60,
        "queryString": "fields @timestamp, @message | sort @timestamp desc",
    });
    let begun = run(gateway, "aws_cloudwatch_logs_query_logs", query).await;
    let id = &begun["queryId"];
    let results = json!({ "queryId": id });
    let results = run(gateway, "aws_cloudwatch_logs_get_query_results", results).await;
    assert_eq!(results["status"], "Complete", "{results}");
    let row = results["results"][0].as_array().unwrap();
    let message = json!({ "field": "@message", "value": "ERROR order 1042 has no address" });
    assert!(row.contains(&message), "{results}");
    let listed = json!({ "logGroupName": GROUP });
    let listed = run(gateway, "aws_cloudwatch_logs_list_queries", listed).await;
    assert_eq!(&listed["queries"][0]["queryId"], id, "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_moto_has_logged_are_found_read_and_deleted() {
    let moto = Moto::start().await;
    moto.check_signatures().await;
    let gateway = moto.checked_gateway("aws_cloudwatch_logs", "logs").await;
    let now = Clock::system().now_ms();
    writes_events(&gateway, now).await;
    reads_events(&gateway, now).await;
    queries_events(&gateway, now).await;
    let group = json!({ "logGroupName": GROUP });
    run(
        &gateway,
        "aws_cloudwatch_logs_delete_log_group",
        group.clone(),
    )
    .await;
    let said = refused(&gateway, "aws_cloudwatch_logs_list_log_streams", group).await;
    assert!(said.contains("log group does not exist"), "{said}");
    gateway.every_tool_succeeded(MISSING).await;
}
