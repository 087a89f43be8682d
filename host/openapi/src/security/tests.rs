//! Slots and scopes of security schemes.

use serde_json::{Value, json};

use super::Security;
use crate::document::Documents;
use crate::problem::Notes;
use toolgate_catalog::manifest::{AuthKind, BasicTemplate, Placement, Slot, ToolSpec};

fn slots(schemes: Value, security: Value) -> (Vec<String>, bool, Vec<Slot>) {
    let docs = Documents::from_value(
        "x",
        json!({"components": {"securitySchemes": schemes}, "op": {"security": security}}),
    );
    let mut made = Security::new(&docs, vec!["https://api.example.com".to_owned()], "Example");
    let needs = made
        .needs(
            docs.root().get("op").expect("there"),
            "/op",
            &mut Notes::default(),
        )
        .expect("needs");
    (needs.slots, needs.optional, made.slots(&[]))
}

#[test]
fn the_usual_schemes_become_slots() {
    let header = |header: &str, template: &str| Placement::Header {
        header: header.into(),
        template: template.into(),
    };
    for (scheme, kind, placement) in [
        (
            json!({"type": "http", "scheme": "Bearer"}),
            AuthKind::Bearer,
            header("authorization", "Bearer {secret}"),
        ),
        (
            json!({"type": "apiKey", "in": "header", "name": "X-Key"}),
            AuthKind::ApiKey,
            header("x-key", "{secret}"),
        ),
        (
            json!({"type": "apiKey", "in": "query", "name": "key"}),
            AuthKind::ApiKey,
            Placement::Query {
                query: "key".into(),
                template: "{secret}".into(),
            },
        ),
        (
            json!({"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {"a b": "", "r": "x"}}}}),
            AuthKind::Oauth2ClientCredentials,
            header("authorization", "Bearer {secret}"),
        ),
        (
            json!({"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://a.example.com"}}}),
            AuthKind::Bearer,
            header("authorization", "Bearer {secret}"),
        ),
        (
            json!({"type": "apiKey", "in": "query", "name": "x", "x-toolgate": {"placement": {"path": "/bot{secret}"}}}),
            AuthKind::ApiKey,
            Placement::Path {
                path: "/bot{secret}".into(),
            },
        ),
    ] {
        let (names, _, made) = slots(json!({"theKey": scheme}), json!([{"theKey": []}]));
        assert_eq!(names, ["the_key"]);
        assert_eq!(
            (made[0].kind, &made[0].placement[0]),
            (kind, &placement),
            "{scheme}"
        );
        assert_eq!(made[0].audience, ["https://api.example.com"]);
    }
}

#[test]
fn an_oauth_slot_has_its_addresses_and_what_x_toolgate_adds() {
    let (_, _, made) = slots(
        json!({"user": {"type": "oauth2", "description": "Account", "flows": {"authorizationCode": {
            "authorizationUrl": "https://example.com/auth", "tokenUrl": "https://example.com/token", "scopes": {"a": "", "b": ""}}},
            "x-toolgate": {"scope_separator": ",", "token_auth": "post", "pkce": false, "scopes": ["a"], "issuer": "https://id.example.com"}}}),
        json!([{"user": ["a"]}]),
    );
    assert_eq!(made[0].kind, AuthKind::Oauth2);
    assert_eq!(
        made[0].token_url.as_deref(),
        Some("https://example.com/token")
    );
    assert_eq!(made[0].issuer.as_deref(), Some("https://id.example.com"));
    assert_eq!(
        (made[0].title.as_str(), made[0].pkce, made[0].scopes.len()),
        ("Account", false, 1)
    );
}

#[test]
fn a_slot_asks_for_the_listed_scopes_that_no_tool_names() {
    let scheme = |own: Value| {
        json!({"type": "oauth2", "flows": {"authorizationCode": {
            "authorizationUrl": "https://example.com/auth", "tokenUrl": "https://example.com/token",
            "scopes": {"profile": "", "read": "", "write": ""}}}, "x-toolgate": own})
    };
    let tool: ToolSpec = serde_json::from_value(json!({
        "name": "list", "description": "Lists.", "input": {"type": "object"}, "effect": "read",
        "auth": ["user"], "scopes": ["read", "other"]
    }))
    .expect("a tool");
    for (own, tools, scopes) in [
        (json!({}), vec![tool.clone()], vec!["profile", "write"]),
        (json!({}), vec![], vec!["profile", "read", "write"]),
        (json!({"scopes": ["read"]}), vec![tool], vec!["read"]),
    ] {
        let docs = Documents::from_value(
            "x",
            json!({"components": {"securitySchemes": {"user": scheme(own)}}, "op": {"security": [{"user": ["read"]}]}}),
        );
        let mut made = Security::new(&docs, vec![], "Example");
        let operation = docs.root().get("op").expect("there");
        made.needs(operation, "/op", &mut Notes::default())
            .expect("needs");
        assert_eq!(made.slots(&tools)[0].scopes, scopes);
    }
}

#[test]
fn alternatives_options_and_pairs() {
    let schemes = json!({"a": {"type": "apiKey", "in": "header", "name": "A"}, "b": {"type": "apiKey", "in": "query", "name": "b"},
                         "c": {"type": "mutualTLS"}});
    assert_eq!(
        slots(schemes.clone(), json!([{}, {"b": []}, {"a": []}])).0,
        ["b", "a"]
    );
    assert!(slots(schemes.clone(), json!([{}, {"b": []}])).1);
    assert_eq!(
        slots(schemes.clone(), json!([{"c": []}])).0,
        Vec::<String>::new()
    );
    assert_eq!(slots(schemes.clone(), json!([])).0, Vec::<String>::new());
    let (names, _, made) = slots(schemes, json!([{"b": [], "a": []}]));
    assert_eq!(names, ["a_b"]);
    let keys: Vec<&str> = made[0]
        .fields
        .iter()
        .map(|field| field.key.as_str())
        .collect();
    assert_eq!(keys, ["a", "b"]);
    assert_eq!(
        made[0].placement[1],
        Placement::Query {
            query: "b".into(),
            template: "{b}".into()
        }
    );
}

#[test]
fn a_wrong_key_under_x_toolgate_is_named() {
    let docs = Documents::from_value(
        "f.yaml",
        json!({"components": {"securitySchemes": {"k": {"type": "http", "scheme": "bearer", "x-toolgate": {"scoops": []}}}},
                                              "op": {"security": [{"k": []}]}}),
    );
    let mut made = Security::new(&docs, vec![], "X");
    let refused = made
        .needs(
            docs.root().get("op").expect("there"),
            "/op",
            &mut Notes::default(),
        )
        .expect_err("refused");
    assert!(refused.to_string().contains("scoops"), "{refused}");
}

fn oauth() -> Value {
    json!({"type": "oauth2", "flows": {"authorizationCode": {
        "authorizationUrl": "https://example.com/auth", "tokenUrl": "https://example.com/token", "scopes": {}}}})
}

fn scopes(schemes: Value, security: Value) -> (Vec<String>, Notes) {
    let docs = Documents::from_value(
        "x",
        json!({"components": {"securitySchemes": schemes}, "op": {"security": security}}),
    );
    let mut notes = Notes::default();
    let needs = Security::new(&docs, vec![], "Example")
        .needs(docs.root().get("op").expect("there"), "/op", &mut notes)
        .expect("needs");
    (needs.scopes, notes)
}

#[test]
fn of_alternatives_the_first_says_which_scopes_a_tool_asks_for() {
    let schemes = json!({"o": oauth(), "key": {"type": "http", "scheme": "bearer"}, "no": {"type": "mutualTLS"}});
    for (security, expected) in [
        (
            json!([{"o": ["drive.readonly"]}, {"o": ["drive"]}]),
            vec!["drive.readonly"],
        ),
        (json!([{"o": ["a", "b", "a"]}]), vec!["a", "b"]),
        (json!([{"key": []}, {"o": ["a"]}]), vec!["a"]),
        (json!([{"key": ["k"]}, {"o": ["a"]}]), vec!["a"]),
        (json!([{"key": ["k"]}]), vec!["k"]),
        (json!([{"no": ["n"]}, {"o": ["a"]}]), vec!["a"]),
        (json!([{"o": ["a"], "key": ["k"]}]), vec!["a"]),
        (json!([{"unknown": ["u"]}, {}]), vec![]),
    ] {
        let (found, notes) = scopes(schemes.clone(), security.clone());
        assert_eq!(found, expected, "{security}");
        let others = notes.0.iter().any(|note| note.message.contains("others"));
        assert!(!others, "{security}: {:?}", notes.0);
    }
}

#[test]
fn the_scopes_of_another_sign_in_are_not_asked_for_and_a_note_says_so() {
    let schemes = json!({"user": oauth(), "app": oauth()});
    let (found, notes) = scopes(schemes, json!([{"user": ["repo"]}, {"app": ["admin"]}]));
    assert_eq!(found, ["repo"]);
    let noted = notes
        .0
        .iter()
        .any(|note| note.message.contains("`user`") && note.message.contains("`app`"));
    assert!(noted, "{:?}", notes.0);
}

#[test]
fn a_key_beside_another_keeps_all_its_places_with_every_field_filled() {
    let key = json!({"type": "apiKey", "in": "query", "name": "k"});
    let basic = |username: &str, password: &str| Placement::Basic {
        basic: BasicTemplate {
            username: username.to_owned(),
            password: password.to_owned(),
        },
    };
    let header = |template: &str| Placement::Header {
        header: "x-auth".to_owned(),
        template: template.to_owned(),
    };
    let field = |key: &str| json!({"key": key, "title": key, "secret": true});
    for (own, keys, place) in [
        (
            json!({"placement": {"basic": {}}, "type": "basic"}),
            vec!["b_username", "b_password"],
            basic("{b_username}", "{b_password}"),
        ),
        (
            json!({"placement": {"basic": {"username": "api", "password": "{secret}"}}, "type": "api_key"}),
            vec!["b"],
            basic("api", "{b}"),
        ),
        (
            json!({"placement": {"basic": {"username": "{email}/token", "password": "{secret}"}}, "type": "basic",
                   "fields": [field("email"), field("secret")]}),
            vec!["b_email", "b"],
            basic("{b_email}/token", "{b}"),
        ),
        (
            json!({"placement": {"header": "x-auth", "template": "{id}:{key}@{site}"}, "type": "api_key",
                   "fields": [field("id"), field("key")]}),
            vec!["b_id", "b_key"],
            header("{b_id}:{b_key}@{site}"),
        ),
        (
            json!({"placement": {"header": "x-auth", "template": "Key {secret}"}, "type": "api_key", "fields": [field("key")]}),
            vec!["b_key"],
            header("Key {b_key}"),
        ),
    ] {
        let scheme = json!({"type": "http", "scheme": "bearer", "x-toolgate": own});
        let (_, _, made) = slots(json!({"a": key, "b": scheme}), json!([{"a": [], "b": []}]));
        let found: Vec<&str> = made[0].fields[1..].iter().map(|f| f.key.as_str()).collect();
        assert_eq!(found, keys);
        assert_eq!(made[0].placement[1..], [place]);
    }
}
