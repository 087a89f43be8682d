//! SQS and SNS: messages that wait, fail and are published.

use serde_json::{Value, json};

use super::super::calls::{ServiceGateway, answer, refused, run};
use super::{Moto, element, run_each};

const REDRIVES: &[(&str, &str)] = &[
    ("aws_sqs_start_redrive", "moto moves no messages back"),
    ("aws_sqs_list_redrives", "moto moves no messages back"),
    ("aws_sqs_cancel_redrive", "moto moves no messages back"),
];

/// Address and ARN of two new queues; what fails in the first goes to the second.
async fn queues(sqs: &ServiceGateway) -> [(Value, Value); 2] {
    let mut made = Vec::new();
    for name in ["orders", "orders-failed"] {
        let create = json!({
            "QueueName": name, "Attributes": { "VisibilityTimeout": "60" }, "tags": { "team": "shop" },
        });
        let queue = run(sqs, "aws_sqs_create_queue", create).await["QueueUrl"].take();
        let which =
            json!({ "QueueUrl": queue, "AttributeNames": ["QueueArn", "VisibilityTimeout"] });
        let mut read = run(sqs, "aws_sqs_get_queue_attributes", which).await;
        assert_eq!(read["Attributes"]["VisibilityTimeout"], "60", "{read}");
        made.push((queue, read["Attributes"]["QueueArn"].take()));
    }
    let [orders, failed] = <[(Value, Value); 2]>::try_from(made).unwrap();
    let redrive = json!({ "deadLetterTargetArn": failed.1, "maxReceiveCount": "1" });
    let redrive = json!({
        "QueueUrl": orders.0, "Attributes": { "RedrivePolicy": redrive.to_string() },
    });
    run(sqs, "aws_sqs_set_queue_attributes", redrive).await;
    [orders, failed]
}

async fn finds_queues(sqs: &ServiceGateway, orders: &Value, failed: &Value) {
    let first = json!({ "QueueNamePrefix": "orders", "MaxResults": 1 });
    let first = answer(sqs, "aws_sqs_list_queues", first).await;
    assert_eq!(first["result"]["QueueUrls"], json!([orders]), "{first}");
    let rest = json!({
        "QueueNamePrefix": "orders", "MaxResults": 1, "cursor": first["next_cursor"],
    });
    run_each(
        sqs,
        &[
            ("aws_sqs_list_queues", rest, "/QueueUrls", json!([failed])),
            (
                "aws_sqs_get_queue_url",
                json!({ "QueueName": "orders" }),
                "/QueueUrl",
                orders.clone(),
            ),
            (
                "aws_sqs_list_dead_letter_sources",
                json!({ "QueueUrl": failed }),
                "/queueUrls",
                json!([orders]),
            ),
        ],
    )
    .await;
}

/// How many messages wait and are being worked on.
async fn counts(sqs: &ServiceGateway, queue: &Value) -> [Value; 2] {
    let names = [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesNotVisible",
    ];
    let which = json!({ "QueueUrl": queue, "AttributeNames": names });
    let read = run(sqs, "aws_sqs_get_queue_attributes", which).await;
    names.map(|name| read["Attributes"][name].clone())
}

/// Leaves one message in the queue of failed ones, and none in the other.
async fn works_on_messages(sqs: &ServiceGateway, orders: &Value, failed: &Value) {
    let order = json!({ "order": 1042 }).to_string();
    let send = json!({
        "QueueUrl": orders, "MessageBody": order,
        "MessageAttributes": { "shop": { "DataType": "String", "StringValue": "eu" } },
    });
    let sent = run(sqs, "aws_sqs_send_message", send).await;
    let two =
        json!([{ "Id": "a", "MessageBody": "grün & gelb" }, { "Id": "b", "MessageBody": "two" }]);
    let two = json!({ "QueueUrl": orders, "Entries": two });
    let both = run(sqs, "aws_sqs_send_messages", two).await;
    assert_eq!(both["Successful"][1]["Id"], "b", "{both}");

    let take = json!({
        "QueueUrl": orders, "MaxNumberOfMessages": 10, "MessageSystemAttributeNames": ["SentTimestamp"],
        "MessageAttributeNames": ["All"],
    });
    let taken = run(sqs, "aws_sqs_receive_messages", take.clone()).await;
    let messages = taken["Messages"].as_array().unwrap();
    let find = |body: &str| {
        let found = messages.iter().find(|message| message["Body"] == body);
        found.unwrap_or_else(|| panic!("{body}: {taken}"))
    };
    let first = find(&order);
    assert_eq!(first["MessageId"], sent["MessageId"], "{taken}");
    assert_eq!(
        first["MessageAttributes"]["shop"]["StringValue"], "eu",
        "{taken}"
    );
    assert!(first["Attributes"]["SentTimestamp"].is_string(), "{taken}");
    let done = json!({ "QueueUrl": orders, "ReceiptHandle": find("grün & gelb")["ReceiptHandle"] });
    run(sqs, "aws_sqs_delete_message", done).await;
    let back = json!({
        "QueueUrl": orders, "ReceiptHandle": first["ReceiptHandle"], "VisibilityTimeout": 0,
    });
    run(sqs, "aws_sqs_change_message_visibility", back).await;
    // It was received once, which is as often as it may be.
    let again = run(sqs, "aws_sqs_receive_messages", take).await;
    assert!(again["Messages"].is_null(), "{again}");
    assert_eq!(counts(sqs, orders).await, ["0", "1"]);
    assert_eq!(counts(sqs, failed).await, ["1", "0"]);
    run(sqs, "aws_sqs_purge_queue", json!({ "QueueUrl": orders })).await;
    assert_eq!(counts(sqs, orders).await, ["0", "0"]);
}

/// Runs a tool of SNS, whose XML has these words.
async fn says(sns: &ServiceGateway, tool: &str, arguments: Value, words: &[&str]) -> String {
    let found = run(sns, tool, arguments).await;
    let xml = found.as_str().expect("XML as text").to_owned();
    for word in words {
        assert!(xml.contains(word), "{tool}: {word}: {xml}");
    }
    xml
}

/// A topic whose messages go to the queue as they are: its ARN and that of the subscription.
/// Texts have no space here: moto checks the signature of a form that it has written again, with `+` for a space.
async fn topic(sns: &ServiceGateway, queue_arn: &str) -> (String, String) {
    let made = says(
        sns,
        "aws_sns_create_topic",
        json!({ "Name": "on-call" }),
        &[],
    )
    .await;
    let topic = element(&made, "TopicArn");
    let name = json!({
        "TopicArn": topic, "AttributeName": "DisplayName", "AttributeValue": "On-call&more",
    });
    says(sns, "aws_sns_set_topic_attribute", name, &[]).await;
    let which = json!({ "TopicArn": topic });
    let words = ["<key>DisplayName</key><value>On-call&amp;more</value>"];
    says(sns, "aws_sns_get_topic_attributes", which.clone(), &words).await;
    says(sns, "aws_sns_list_topics", json!({}), &[topic]).await;
    let subscribe = json!({
        "TopicArn": topic, "Protocol": "sqs", "Endpoint": queue_arn, "ReturnSubscriptionArn": true,
    });
    let subscribed = says(sns, "aws_sns_subscribe", subscribe, &[]).await;
    let subscription = element(&subscribed, "SubscriptionArn");
    let raw = json!({
        "SubscriptionArn": subscription, "AttributeName": "RawMessageDelivery", "AttributeValue": "true",
    });
    says(sns, "aws_sns_set_subscription_attribute", raw, &[]).await;
    let which_one = json!({ "SubscriptionArn": subscription });
    let words = [
        "<key>RawMessageDelivery</key><value>true</value>",
        queue_arn,
    ];
    says(
        sns,
        "aws_sns_get_subscription_attributes",
        which_one,
        &words,
    )
    .await;
    let words = [subscription, queue_arn];
    says(sns, "aws_sns_list_subscriptions", json!({}), &words).await;
    says(sns, "aws_sns_list_topic_subscriptions", which, &words).await;
    (topic.to_owned(), subscription.to_owned())
}

/// For moto a number has opted out if it ends with 99.
async fn text_messages(sns: &ServiceGateway) {
    let (taken, refusing) = ("+4915112345678", "+4915112345699");
    let text = json!({ "PhoneNumber": taken, "Message": "Your-parcel-is-there." });
    says(sns, "aws_sns_send_sms", text, &["<MessageId>"]).await;
    for (number, word) in [
        (taken, "<isOptedOut>false</isOptedOut>"),
        (refusing, "<isOptedOut>true</isOptedOut>"),
    ] {
        let which = json!({ "phoneNumber": number });
        says(sns, "aws_sns_check_opted_out", which, &[word]).await;
    }
    let words = ["<phoneNumbers><member>+"];
    says(sns, "aws_sns_list_opted_out_numbers", json!({}), &words).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_go_through_queues_and_topics_of_moto() {
    let moto = Moto::start().await;
    moto.check_signatures().await;
    let sqs = moto.checked_gateway("aws_sqs", "sqs").await;
    let [(orders, orders_arn), (failed, _)] = queues(&sqs).await;
    finds_queues(&sqs, &orders, &failed).await;
    works_on_messages(&sqs, &orders, &failed).await;

    let sns = moto.checked_gateway("aws_sns", "sns").await;
    let (topic, subscription) = topic(&sns, orders_arn.as_str().unwrap()).await;
    let text = "The-shop-is-down&up-again+more";
    let publish = json!({ "TopicArn": topic, "Message": text, "Subject": "Shop" });
    says(&sns, "aws_sns_publish_message", publish, &["<MessageId>"]).await;
    let which = json!({ "QueueUrl": orders });
    let taken = run(&sqs, "aws_sqs_receive_messages", which.clone()).await;
    assert_eq!(taken["Messages"][0]["Body"], text, "{taken}");
    text_messages(&sns).await;
    let which_one = json!({ "SubscriptionArn": subscription });
    says(&sns, "aws_sns_unsubscribe", which_one, &[]).await;
    let which_topic = json!({ "TopicArn": topic });
    says(&sns, "aws_sns_delete_topic", which_topic.clone(), &[]).await;
    let said = refused(&sns, "aws_sns_get_topic_attributes", which_topic).await;
    assert!(said.contains("Topic does not exist"), "{said}");
    sns.every_tool_succeeded(&[]).await;

    run(&sqs, "aws_sqs_delete_queue", which).await;
    let name = json!({ "QueueName": "orders" });
    let said = refused(&sqs, "aws_sqs_get_queue_url", name).await;
    assert!(said.contains("queue does not exist"), "{said}");
    sqs.every_tool_succeeded(REDRIVES).await;
}
