use serde_json::json;
use toolgate_catalog::manifest::{AuthKind, Effect};

use super::*;

const SCHEMA: &str = "
    type Query { issue(id: ID!): Issue  old: Int @deprecated  _service: String  issueClose: Int }
    type Mutation { issueClose(input: CloseInput!): Issue  issueDelete(id: ID!): Boolean! }
    type Subscription { issue: Issue }
    input CloseInput { id: ID!  note: String  at: Moment }
    scalar Moment
    type Issue { id: ID!  title: String! }";

fn input(endpoint: &str) -> GraphqlInput {
    GraphqlInput {
        name: "schema.graphql".to_owned(),
        text: SCHEMA.to_owned(),
        endpoint: GraphqlEndpoint::parse(endpoint, false).unwrap(),
        service: None,
        only: BTreeSet::new(),
        depth: DEPTH_DEFAULT,
        account: GraphqlAccount::Bearer,
        overlays: Vec::new(),
    }
}

#[test]
fn effects_rights_and_requests_are_in_the_manifest() {
    let made = describe(&input("https://api.linear.app/graphql")).unwrap();
    let manifest = &made.manifest;
    assert_eq!(manifest.service, "linear");
    assert_eq!(manifest.hosts, ["api.linear.app"]);
    let slot = &manifest.auth[0];
    assert_eq!(slot.kind, AuthKind::Bearer);
    let tools: Vec<(&str, Effect)> = manifest
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), tool.effect))
        .collect();
    assert_eq!(
        tools,
        [
            ("get_issue", Effect::Read),
            ("get_issue_close", Effect::Read),
            ("issue_close", Effect::Write),
            ("issue_delete", Effect::Destructive),
        ]
    );
    let tool = &manifest.tools[0];
    assert_eq!(tool.queries, ["GRAPHQL https://api.linear.app/graphql"]);
    let request = tool.request.as_ref().unwrap();
    assert_eq!(request.send, "POST https://api.linear.app/graphql");
    let document = "body graphql query issue($id: ID!) { issue(id: $id) { id title } }";
    assert_eq!(request.with, [document]);
    // The fields of the only input are arguments, and null clears a value.
    let arguments = manifest.tools[2].input.value();
    assert_eq!(arguments["required"], json!(["id"]));
    let note = &arguments["properties"]["note"];
    assert_eq!(note["type"], json!(["string", "null"]));
}

#[test]
fn what_is_left_out_is_noted() {
    let made = describe(&input("https://api.linear.app/graphql")).unwrap();
    let notes: Vec<&str> = made.notes.iter().map(|note| &*note.message).collect();
    for said in ["1 deprecated", "scalar `Moment`", "subscriptions"] {
        assert!(notes.iter().any(|note| note.contains(said)), "{notes:?}");
    }
}

#[test]
fn only_what_is_chosen_becomes_a_tool() {
    let mut chosen = input("https://api.linear.app/graphql");
    chosen.only = BTreeSet::from(["old".to_owned(), "_service".to_owned()]);
    let made = describe(&chosen).unwrap();
    let names = made.manifest.tools.iter().map(|tool| &*tool.name);
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["get_old", "get_service"]);
    assert!(made.manifest.tools[0].deprecated.is_some());
    chosen.only = BTreeSet::from(["issues".to_owned()]);
    let refused = describe(&chosen).unwrap_err().to_string();
    assert!(refused.contains("`issues` is neither"), "{refused}");
}

#[test]
fn a_private_server_is_a_setting_and_no_account_is_no_slot() {
    let mut private = input("http://10.0.0.5:4000/graphql");
    private.account = GraphqlAccount::None;
    private.service = Some("own".to_owned());
    let made = describe(&private).unwrap();
    assert_eq!(made.manifest.hosts, Vec::<String>::new());
    assert_eq!(made.manifest.config[0].key, "api_base");
    assert!(made.manifest.auth.is_empty());
    let queries = &made.manifest.tools[0].queries;
    assert_eq!(*queries, ["GRAPHQL {api_base}/graphql"]);
    let mut key = input("https://api.linear.app/graphql");
    key.account = GraphqlAccount::Header("X-Api-Key".to_owned());
    let made = describe(&key).unwrap();
    assert_eq!(made.manifest.auth[0].kind, AuthKind::ApiKey);
}

/// A wide schema in which every type leads to every other one.
#[test]
fn a_schema_that_leads_everywhere_is_bounded() {
    let mut text = "type Query { ".to_owned();
    for number in 0..40 {
        text.push_str(&format!("q{number}: T{number} "));
    }
    text.push_str("} ");
    for number in 0..40 {
        text.push_str(&format!("type T{number} {{ "));
        for field in 0..40 {
            text.push_str(&format!("name{field}: String f{field}: T{field} "));
        }
        text.push_str("} ");
    }
    let wide = GraphqlInput {
        text,
        depth: DEPTH_MAX,
        ..input("https://api.linear.app/graphql")
    };
    let made = describe(&wide).unwrap();
    assert_eq!(made.manifest.tools.len(), 40);
    for tool in &made.manifest.tools {
        let document = &tool.request.as_ref().unwrap().with[0];
        assert!(document.len() < 2_000 && !document.contains("SHA-256"));
    }
    assert!(
        made.notes
            .iter()
            .any(|note| note.message.contains("--depth"))
    );
}
