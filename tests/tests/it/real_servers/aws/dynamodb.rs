//! DynamoDB: items of a table with an index, and what is set for a table.

use serde_json::{Value, json};

use super::super::calls::{ServiceGateway, answer, refused, run};
use super::{Moto, run_each};

/// Two tables: `orders` with an index of customers, and `sessions`.
async fn tables(gateway: &ServiceGateway) {
    let key = |name: &str| json!([{ "AttributeName": name, "KeyType": "HASH" }]);
    let text = |name: &str| json!({ "AttributeName": name, "AttributeType": "S" });
    let orders = json!({
        "TableName": "orders", "AttributeDefinitions": [text("id"), text("customer")], "KeySchema": key("id"),
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [{
            "IndexName": "by_customer", "KeySchema": key("customer"), "Projection": { "ProjectionType": "ALL" },
        }],
    });
    let sessions = json!({
        "TableName": "sessions", "AttributeDefinitions": [text("id")], "KeySchema": key("id"),
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": { "ReadCapacityUnits": 1, "WriteCapacityUnits": 1 },
    });
    run_each(
        gateway,
        &[
            (
                "aws_dynamodb_create_table",
                orders,
                "/TableName",
                json!("orders"),
            ),
            (
                "aws_dynamodb_create_table",
                sessions,
                "/ProvisionedThroughput/ReadCapacityUnits",
                json!(1),
            ),
            (
                "aws_dynamodb_describe_table",
                json!({ "TableName": "orders" }),
                "/GlobalSecondaryIndexes/0/IndexName",
                json!("by_customer"),
            ),
        ],
    )
    .await;
    let first = answer(gateway, "aws_dynamodb_list_tables", json!({ "Limit": 1 })).await;
    assert_eq!(first["result"]["TableNames"], json!(["orders"]), "{first}");
    let rest = json!({ "Limit": 1, "cursor": first["next_cursor"] });
    let rest = answer(gateway, "aws_dynamodb_list_tables", rest).await;
    assert_eq!(rest["result"]["TableNames"], json!(["sessions"]), "{rest}");
    assert!(rest["next_cursor"].is_null(), "{rest}");
}

/// An order with a value of each kind that an order has.
fn order(id: &str, status: &str) -> Value {
    json!({
        "id": { "S": id }, "customer": { "S": "17" }, "status": { "S": status }, "amount": { "N": "59.90" },
        "paid": { "BOOL": false }, "labels": { "SS": ["gift"] }, "note": { "NULL": true },
        "lines": { "L": [{ "M": { "sku": { "S": "grün" } } }] },
    })
}

async fn writes_items(gateway: &ServiceGateway) {
    let put = json!({
        "TableName": "orders", "Item": order("o-1042", "open"), "ConditionExpression": "attribute_not_exists(id)",
    });
    run(gateway, "aws_dynamodb_put_item", put.clone()).await;
    let said = refused(gateway, "aws_dynamodb_put_item", put).await;
    assert!(said.contains("The conditional request failed"), "{said}");
    let write = json!({ "RequestItems": { "orders": [
        { "PutRequest": { "Item": order("o-1043", "open") } },
        { "DeleteRequest": { "Key": { "id": { "S": "o-1" } } } },
    ] } });
    let change = json!({
        "TableName": "orders", "Key": { "id": { "S": "o-1042" } },
        "UpdateExpression": "SET #s = :s, amount = amount + :d REMOVE note",
        "ExpressionAttributeNames": { "#s": "status" },
        "ExpressionAttributeValues": { ":s": { "S": "shipped" }, ":d": { "N": "0.1" } },
        "ReturnValues": "ALL_NEW",
    });
    run_each(
        gateway,
        &[
            (
                "aws_dynamodb_write_items",
                write,
                "/UnprocessedItems",
                json!({}),
            ),
            (
                "aws_dynamodb_update_item",
                change,
                "/Attributes/status/S",
                json!("shipped"),
            ),
        ],
    )
    .await;
}

async fn reads_items(gateway: &ServiceGateway) {
    let (first, second) = (
        json!({ "id": { "S": "o-1042" } }),
        json!({ "id": { "S": "o-1043" } }),
    );
    let names = json!({ "#s": "status" });
    let one = json!({
        "TableName": "orders", "Key": first, "ProjectionExpression": "#s, amount",
        "ExpressionAttributeNames": names, "ConsistentRead": true,
    });
    let both = json!({ "RequestItems": { "orders": {
        "Keys": [first, second], "ProjectionExpression": "id",
    } } });
    let scan = json!({
        "TableName": "orders", "FilterExpression": "#s = :s AND amount > :a", "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": { ":s": { "S": "open" }, ":a": { "N": "59" } },
    });
    run_each(
        gateway,
        &[
            (
                "aws_dynamodb_get_item",
                one,
                "/Item",
                json!({ "status": { "S": "shipped" }, "amount": { "N": "60.00" } }),
            ),
            (
                "aws_dynamodb_get_items",
                both,
                "/Responses/orders",
                json!([first, second]),
            ),
            (
                "aws_dynamodb_scan_items",
                scan,
                "/Items",
                json!([order("o-1043", "open")]),
            ),
        ],
    )
    .await;
    let none = json!({ "TableName": "orders", "Key": { "id": { "S": "o-1" } } });
    let none = run(gateway, "aws_dynamodb_get_item", none).await;
    assert!(none["Item"].is_null(), "{none}");

    let mut query = json!({
        "TableName": "orders", "IndexName": "by_customer", "KeyConditionExpression": "customer = :c",
        "ExpressionAttributeValues": { ":c": { "S": "17" } }, "Limit": 1,
    });
    let mut found = Vec::new();
    for _ in 0..2 {
        let mut page = run(gateway, "aws_dynamodb_query_items", query.clone()).await;
        assert_eq!(page["Count"], 1, "{page}");
        found.push(page["Items"][0]["id"]["S"].take());
        query["ExclusiveStartKey"] = page["LastEvaluatedKey"].take();
    }
    assert_eq!(found, ["o-1042", "o-1043"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn items_of_a_table_that_moto_serves_are_written_found_and_backed_up() {
    let moto = Moto::start().await;
    moto.check_signatures().await;
    let gateway = moto.checked_gateway("aws_dynamodb", "dynamodb").await;
    tables(&gateway).await;
    writes_items(&gateway).await;
    reads_items(&gateway).await;
    let orders = json!({ "TableName": "orders" });
    let sessions = json!({ "TableName": "sessions" });
    run_each(
        &gateway,
        &[
            (
                "aws_dynamodb_create_backup",
                json!({ "TableName": "orders", "BackupName": "before-import" }),
                "/BackupStatus",
                json!("AVAILABLE"),
            ),
            (
                "aws_dynamodb_list_backups",
                orders,
                "/BackupSummaries/0/BackupName",
                json!("before-import"),
            ),
            (
                "aws_dynamodb_delete_item",
                json!({ "TableName": "orders", "Key": { "id": { "S": "o-1043" } }, "ReturnValues": "ALL_OLD" }),
                "/Attributes",
                order("o-1043", "open"),
            ),
            (
                "aws_dynamodb_update_time_to_live",
                json!({
                    "TableName": "sessions",
                    "TimeToLiveSpecification": { "Enabled": true, "AttributeName": "expires" },
                }),
                "/Enabled",
                json!(true),
            ),
            (
                "aws_dynamodb_describe_time_to_live",
                sessions.clone(),
                "/AttributeName",
                json!("expires"),
            ),
            (
                "aws_dynamodb_delete_table",
                sessions.clone(),
                "/TableName",
                json!("sessions"),
            ),
        ],
    )
    .await;
    let said = refused(&gateway, "aws_dynamodb_describe_table", sessions).await;
    assert!(said.contains("Requested resource not found"), "{said}");
    gateway.every_tool_succeeded(&[]).await;
}
