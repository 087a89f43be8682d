//! SES: senders, mail and contacts. moto's check of signatures knows no request without a body.

use reqwest::Method;
use serde_json::json;

use super::super::calls::{ServiceGateway, refused, run};
use super::{JSON, Moto, run_each};

const TEMPLATES: &str = "moto has no templates in version 2 of the API";
const SUPPRESSION: &str = "moto has no list of suppressed addresses";
const MISSING: &[(&str, &str)] = &[
    ("aws_ses_get_account", "moto has no quota"),
    ("aws_ses_get_message_insights", "moto delivers no mail"),
    ("aws_ses_create_template", TEMPLATES),
    ("aws_ses_delete_template", TEMPLATES),
    ("aws_ses_get_template", TEMPLATES),
    ("aws_ses_list_templates", TEMPLATES),
    ("aws_ses_render_template", TEMPLATES),
    ("aws_ses_send_template_email", TEMPLATES),
    ("aws_ses_update_template", TEMPLATES),
    ("aws_ses_get_suppressed_address", SUPPRESSION),
    ("aws_ses_list_suppressed_addresses", SUPPRESSION),
    ("aws_ses_suppress_address", SUPPRESSION),
    ("aws_ses_unsuppress_address", SUPPRESSION),
];

async fn sends_mail(gateway: &ServiceGateway) {
    run_each(
        gateway,
        &[
            (
                "aws_ses_create_identity",
                json!({ "EmailIdentity": "shop@example.org" }),
                "/IdentityType",
                json!("EMAIL_ADDRESS"),
            ),
            (
                "aws_ses_create_identity",
                json!({ "EmailIdentity": "example.com" }),
                "/IdentityType",
                json!("DOMAIN"),
            ),
            (
                "aws_ses_list_identities",
                json!({ "PageSize": 50 }),
                "/EmailIdentities/1/IdentityName",
                json!("example.com"),
            ),
            (
                "aws_ses_get_identity",
                json!({ "EmailIdentity": "shop@example.org" }),
                "/IdentityType",
                json!("EMAIL_ADDRESS"),
            ),
        ],
    )
    .await;
    let mail = |from: &str| {
        json!({
            "FromEmailAddress": from, "Destination": { "ToAddresses": ["anna@example.net"] },
            "Content": { "Simple": {
                "Subject": { "Data": "Grüße", "Charset": "UTF-8" },
                "Body": { "Text": { "Data": "It is on its way." } },
            } },
        })
    };
    let sent = run(gateway, "aws_ses_send_email", mail("shop@example.org")).await;
    assert!(sent["MessageId"].is_string(), "{sent}");
    let said = refused(gateway, "aws_ses_send_email", mail("spam@example.org")).await;
    assert!(said.contains("not verified"), "{said}");
    let domain = json!({ "EmailIdentity": "example.com" });
    run(gateway, "aws_ses_delete_identity", domain.clone()).await;
    let said = refused(gateway, "aws_ses_get_identity", domain).await;
    assert!(said.contains("NotFoundException"), "{said}");
}

async fn keeps_contacts(gateway: &ServiceGateway) {
    let anna = json!({ "ContactListName": "newsletter", "EmailAddress": "anna+shop@example.net" });
    let (mut added, mut left) = (anna.clone(), anna.clone());
    added["TopicPreferences"] = json!([{ "TopicName": "offers", "SubscriptionStatus": "OPT_IN" }]);
    left["UnsubscribeAll"] = json!(true);
    let list = json!({ "ContactListName": "newsletter" });
    run_each(
        gateway,
        &[
            (
                "aws_ses_list_contact_lists",
                json!({}),
                "/ContactLists/0/ContactListName",
                json!("newsletter"),
            ),
            ("aws_ses_create_contact", added, "", json!({})),
            (
                "aws_ses_list_contacts",
                json!({ "ContactListName": "newsletter", "Filter": { "FilteredStatus": "OPT_IN" } }),
                "/Contacts/0/TopicPreferences/0/TopicName",
                json!("offers"),
            ),
            ("aws_ses_update_contact", left, "", json!({})),
            (
                "aws_ses_list_contacts",
                list.clone(),
                "/Contacts/0/UnsubscribeAll",
                json!(true),
            ),
            ("aws_ses_delete_contact", anna, "", json!({})),
            ("aws_ses_list_contacts", list, "/Contacts", json!([])),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_of_verified_senders_is_taken_and_contacts_are_kept_by_moto() {
    let moto = Moto::start().await;
    for (path, body) in [
        (
            "/v2/email/contact-lists",
            json!({
                "ContactListName": "newsletter",
                "Topics": [{
                    "TopicName": "offers", "DisplayName": "Offers", "DefaultSubscriptionStatus": "OPT_OUT",
                }],
            }),
        ),
        (
            "/v2/email/configuration-sets",
            json!({ "ConfigurationSetName": "tracking" }),
        ),
    ] {
        let body = body.to_string();
        moto.ask(Method::POST, "ses", path, (JSON, &body)).await;
    }
    let gateway = moto.gateway("aws_ses", "email").await;
    sends_mail(&gateway).await;
    keeps_contacts(&gateway).await;
    let sets = run(
        &gateway,
        "aws_ses_list_configuration_sets",
        json!({ "PageSize": 50 }),
    )
    .await;
    assert_eq!(sets["ConfigurationSets"], json!(["tracking"]), "{sets}");
    gateway.every_tool_succeeded(MISSING).await;
}
