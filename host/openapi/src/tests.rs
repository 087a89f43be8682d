//! Whole descriptions: where the parts of an operation are in the manifest and the table.

mod effects;
mod kinds;

use serde_json::{Value, json};
use toolgate_openapi_table::{Content, Encoding, Operation, Place, Source};

use super::{BuildInput, Described, describe};

/// A description of one operation, `POST path`.
fn described(path: &str, operation: &Value, parts: &Value) -> Described {
    let mut operation = operation.clone();
    operation["operationId"] = json!("send");
    if operation.get("responses").is_none() {
        operation["responses"] = json!({"200": {"description": "The answer."}});
    }
    let document = json!({
        "openapi": "3.1.0", "info": {"title": "Widgets", "version": "1.0.0"},
        "servers": [{"url": "https://api.widgets.io"}],
        "components": {"schemas": parts}, "paths": {path: {"post": operation}},
    });
    let folder = tempfile::tempdir().expect("a folder");
    let description = folder.path().join("openapi.json");
    std::fs::write(&description, document.to_string()).expect("written");
    describe(&BuildInput {
        description,
        ..BuildInput::default()
    })
    .expect("a plugin")
}

fn row(made: &Described) -> &Operation {
    &made.table.operations["send"]
}

fn body(media_type: &str, schema: Value) -> Value {
    json!({"requestBody": {"required": true, "content": {media_type: {"schema": schema}}}})
}

/// Names of the tool's arguments, and those of the body's fields; no fields where the body is one argument.
fn arguments(made: &Described) -> (Vec<String>, Option<Vec<String>>) {
    let schema = made.manifest.tools[0].input.value();
    let names = schema["properties"].as_object().expect("properties");
    let fields = match &row(made).body.as_ref().expect("a body").content {
        Content::Whole { .. } => None,
        Content::Fields { fields, .. } => {
            Some(fields.iter().map(|field| field.path.join(".")).collect())
        }
    };
    (names.keys().cloned().collect(), fields)
}

fn has_note(made: &Described, text: &str) -> bool {
    made.notes.iter().any(|note| note.message.contains(text))
}

#[test]
fn triggers_of_an_operation_are_those_of_its_tool() {
    let trigger = json!({
        "name": "new_widget", "title": "New widget", "description": "A widget was added.",
        "arguments": {"text": "new"}, "items": "/items", "id": ["/id"], "order": "newest_first",
    });
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let mut operation = body("application/json", schema);
    operation["x-toolgate"] = json!({"effect": "read", "triggers": [trigger]});
    let made = described("/widgets/search", &operation, &json!({}));
    assert_eq!(json!(made.manifest.tools[0].triggers), json!([trigger]));
}

#[test]
fn a_request_of_the_json_protocols_of_aws_is_json_under_its_own_media_type() {
    for (media_type, is_json) in [
        ("application/x-amz-json-1.0", true),
        ("application/x-amz-json-1.1", true),
        ("application/x-amz-cbor-1.1", false),
    ] {
        let schema = json!({"type": "object", "properties": {"QueueName": {"type": "string"}}});
        let mut operation = body(media_type, schema);
        operation["responses"] =
            json!({"200": {"description": "The answer.", "content": {media_type: {}}}});
        operation["x-toolgate"] = json!({"headers": {"X-Amz-Target": "AmazonSQS.GetQueueUrl"}});
        let made = described("/#get_queue_url", &operation, &json!({}));
        let fields = is_json.then(|| vec!["QueueName".to_owned()]);
        assert_eq!(arguments(&made).1, fields, "{media_type}");
        let row = row(&made);
        let sent = row.body.as_ref().expect("a body");
        assert_eq!(sent.media_type, media_type);
        assert_eq!(row.accept, media_type);
        assert_eq!(row.download, !is_json, "{media_type}");
        assert_eq!(made.manifest.request_headers, ["x-amz-target"]);
        if is_json {
            assert_eq!(made.manifest.response_types, [media_type]);
        }
    }
}

#[test]
fn the_page_of_a_post_goes_where_its_parameter_is_declared() {
    let page = json!({"paginated": {"style": "page", "param": "page", "items": "/items"}});
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}, "page": {"type": "string"}}});
    let mut operation = body("application/json", schema);
    operation["x-toolgate"] = page;
    let in_body = described("/search", &operation, &json!({}));
    let place = |made: &Described| row(made).pages.as_ref().expect("pages").param.clone();
    assert_eq!(place(&in_body), Some(Place::Body(vec!["page".to_owned()])));
    assert_eq!(arguments(&in_body).0, ["cursor", "text"]);

    operation["parameters"] =
        json!([{"name": "page", "in": "query", "schema": {"type": "integer"}}]);
    let in_query = described("/search", &operation, &json!({}));
    assert_eq!(place(&in_query), Some(Place::Query("page".to_owned())));
    // A field of the body with the same name is an argument like any other.
    assert_eq!(arguments(&in_query).0, ["cursor", "text", "page"]);
}

#[test]
fn the_fields_of_alternatives_beside_properties_are_optional_arguments() {
    let parts = json!({
        "Base": {"type": "object", "required": ["amount"], "properties": {"amount": {"type": "integer"}}},
        "Card": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"type": "object", "required": ["card_number"],
            "properties": {"card_number": {"type": "string"}, "note": {"type": "string", "description": "Of a card"}}}]},
        "Bank": {"type": "object", "properties": {"iban": {"type": "string"}, "note": {"type": "string"}}},
    });
    let base = json!({"$ref": "#/components/schemas/Base"});
    let choice =
        json!([{"$ref": "#/components/schemas/Card"}, {"$ref": "#/components/schemas/Bank"}]);
    for schema in [
        json!({"allOf": [base, {"oneOf": choice}]}),
        json!({"allOf": [base], "anyOf": choice}),
        json!({"type": "object", "required": ["amount"], "properties": {"amount": {"type": "integer"}}, "oneOf": choice}),
    ] {
        let made = described("/pay", &body("application/json", schema.clone()), &parts);
        let (names, fields) = arguments(&made);
        assert_eq!(names, ["amount", "card_number", "note", "iban"], "{schema}");
        assert_eq!(fields.as_ref(), Some(&names));
        assert_eq!(
            made.manifest.tools[0].input.value()["required"],
            json!(["amount"])
        );
        assert!(
            has_note(&made, "fields of all alternatives"),
            "{:?}",
            made.notes
        );
    }
}

#[test]
fn a_body_that_is_more_than_its_named_fields_stays_one_argument() {
    let kind =
        |kind: &str| json!({"properties": {"kind": {"const": kind}, "x": {"type": "string"}}});
    for schema in [
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
        json!({"allOf": [{"properties": {"a": {"type": "string"}}}, {"additionalProperties": {"type": "string"}}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "patternProperties": {"^x-": {"type": "string"}}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "oneOf": [kind("one"), kind("two")]}),
        json!({"oneOf": [kind("one"), kind("two")]}),
    ] {
        let made = described(
            "/put",
            &body("application/json", schema.clone()),
            &json!({}),
        );
        assert_eq!(
            arguments(&made),
            (vec!["body".to_owned()], None),
            "{schema}"
        );
    }
    // Where it cannot be one argument, or one argument would say no more, a note says what is lost.
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}});
    let form = "application/x-www-form-urlencoded";
    let made = described("/put", &body(form, open), &json!({}));
    assert_eq!(arguments(&made).0, ["a"]);
    assert!(has_note(&made, "fields of any name"), "{:?}", made.notes);
    let free = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true});
    let made = described("/put", &body("application/json", free), &json!({}));
    assert_eq!(arguments(&made).0, ["a"]);
    assert!(has_note(&made, "further fields"), "{:?}", made.notes);
    let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    let made = described("/put", &body("application/json", plain), &json!({}));
    assert!(made.notes.is_empty(), "{:?}", made.notes);
}

#[test]
fn the_query_of_a_path_is_kept_in_clear_with_its_repetitions() {
    let operation = json!({"x-toolgate": {"query": {"v": "own"}}});
    let made = described(
        "/x?q=a%20b&include=a&include=b&v=path&p={p}#two",
        &operation,
        &json!({}),
    );
    let query: Vec<(&str, &Source)> = row(&made)
        .query
        .iter()
        .map(|input| (input.name.as_str(), &input.source))
        .collect();
    let constant = |text: &str| Source::Constant(json!(text));
    assert_eq!(
        query,
        [
            ("include", &constant("a")),
            ("include", &constant("b")),
            ("q", &constant("a b")),
            ("v", &constant("own"))
        ]
    );
    assert!(has_note(&made, "`?p={p}` is not sent"), "{:?}", made.notes);
}

#[test]
fn lists_in_a_form_have_the_separator_of_their_style() {
    let list = json!({"type": "array", "items": {"type": "string"}});
    let cases = [
        ("none", json!({}), None),
        ("form", json!({"style": "form"}), None),
        ("comma", json!({"explode": false}), Some(',')),
        (
            "space",
            json!({"style": "spaceDelimited", "explode": false}),
            Some(' '),
        ),
        ("pipe", json!({"style": "pipeDelimited"}), Some('|')),
        (
            "tab",
            json!({"style": "tabDelimited", "explode": false}),
            Some('\t'),
        ),
        (
            "apart",
            json!({"style": "pipeDelimited", "explode": true}),
            None,
        ),
        (
            "deep",
            json!({"style": "deepObject", "explode": false}),
            None,
        ),
    ];
    let mut schema = json!({"type": "object", "properties": {}});
    let mut encoding = json!({});
    for (name, how, _) in &cases {
        schema["properties"][name] = list.clone();
        encoding[name] = how.clone();
    }
    let media = "application/x-www-form-urlencoded";
    let mut operation = body(media, schema);
    operation["requestBody"]["content"][media]["encoding"] = encoding;
    let made = described("/form", &operation, &json!({}));
    let sent = row(&made).body.as_ref().expect("a body");
    assert_eq!(sent.encoding, Encoding::Form);
    let Content::Fields { fields, .. } = &sent.content else {
        panic!("no fields: {sent:?}");
    };
    for (field, (name, _, between)) in fields.iter().zip(&cases) {
        assert_eq!(
            (field.path.join("."), field.joined),
            ((*name).to_owned(), *between)
        );
    }
}

#[test]
fn every_property_at_each_depth_has_a_name_that_is_accepted_and_is_known_on_the_wire() {
    let nested = json!({"type": "object", "properties": {
        "@id": {"type": "string"}, "fields[]": {"type": "string"}, "größe": {"type": "integer"}
    }, "required": ["@id"]});
    let schema = json!({"type": "object", "properties": {
        "nested": nested, "list": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}
    }});
    let parts =
        json!({"Part": {"oneOf": [{"properties": {"a b": {}}}, {"properties": {"c/d": {}}}]}});
    let mut operation = body("application/json", schema);
    operation["x-toolgate"] = json!({"examples": [{"nested": {"@id": "x", "größe": 1}}]});
    let made = described("/n", &operation, &parts);
    let input = made.manifest.tools[0].input.value();
    let nested = &input["properties"]["nested"];
    let names: Vec<&String> = nested["properties"]
        .as_object()
        .expect("members")
        .keys()
        .collect();
    assert_eq!(names, ["id", "fields", "gr_e"]);
    assert_eq!(nested["required"], json!(["id"]));
    assert_eq!(
        made.manifest.tools[0].examples[0],
        json!({"nested": {"id": "x", "gr_e": 1}})
    );
    let wire = &row(&made).names;
    assert_eq!(
        wire["nested"].members["gr_e"].name.as_deref(),
        Some("größe")
    );
    let items = wire["list"].items.as_ref().expect("names of elements");
    assert_eq!(items.members["a_b"].name.as_deref(), Some("a b"));
    assert_eq!(items.members["c_d"].name.as_deref(), Some("c/d"));
}

#[test]
fn a_reference_that_leads_nowhere_is_noted_with_its_place() {
    let schema = json!({"type": "object", "properties": {
        "id": {"$ref": "#/components/schemas/Missing"},
        "deep": {"$ref": "#/components/schemas/Deep"},
        "example": {"type": "object", "example": {"$ref": "#/no/reference"}}
    }});
    let parts = json!({
        "Deep": {"type": "array", "items": {"anyOf": [{"$ref": "#/components/schemas/Gone"}, {"$ref": "#/components/schemas/Deep"}]}},
        "Unused": {"$ref": "#/components/schemas/Nobody"}
    });
    let made = described("/a", &body("application/json", schema), &parts);
    let places: Vec<&str> = made
        .notes
        .iter()
        .filter(|note| note.message.contains("leads nowhere"))
        .map(|note| note.pointer.as_str())
        .collect();
    assert_eq!(
        places,
        [
            "/paths/~1a/post/requestBody/content/application~1json/schema/properties/id/$ref",
            "/components/schemas/Deep/items/anyOf/0/$ref"
        ]
    );
}

#[test]
fn a_time_says_which_field_has_its_zone() {
    let time = json!({"type": "string", "x-toolgate": {"zone": "timeZone"}});
    let when =
        json!({"type": "object", "properties": {"dateTime": time, "timeZone": {"type": "string"}}});
    let slots = json!({"type": "array", "items": when});
    let at = json!({"type": "string", "x-toolgate": {"zone": "time zone"}});
    let schema = json!({"type": "object", "properties": {
        "start": when, "slots": slots, "at": at, "time zone": {"type": "string"}
    }});
    let made = described("/e", &body("application/json", schema), &json!({}));
    let found: Vec<(&str, &str)> = row(&made)
        .local_times
        .iter()
        .map(|one| (one.time.as_str(), one.zone.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("/start/dateTime", "/start/timeZone"),
            ("/slots/*/dateTime", "/slots/*/timeZone"),
            ("/at", "/time_zone")
        ]
    );
}

#[test]
fn html_is_an_answer_only_where_it_is_declared() {
    let html = |content: Value, keys: Value| {
        let mut operation = body("application/json", json!({"type": "object"}));
        operation["x-toolgate"] = keys;
        let document = json!({
            "openapi": "3.1.0", "info": {"title": "Widgets", "version": "1.0.0"},
            "servers": [{"url": "https://api.widgets.io"}],
            "paths": {"/p": {"post": {
                "operationId": "send", "x-toolgate": operation["x-toolgate"],
                "responses": {"200": {"description": "ok", "content": content}}
            }}},
        });
        let folder = tempfile::tempdir().expect("a folder");
        let description = folder.path().join("openapi.json");
        std::fs::write(&description, document.to_string()).expect("written");
        let made = describe(&BuildInput {
            description,
            ..BuildInput::default()
        });
        row(&made.expect("a plugin")).html
    };
    for (content, keys, expected) in [
        (json!({}), json!({}), false),
        (json!({"application/json": {}}), json!({}), false),
        (
            json!({"application/json": {}, "text/html": {}}),
            json!({}),
            true,
        ),
        (json!({"text/html; charset=utf-8": {}}), json!({}), true),
        (json!({"text/plain": {}}), json!({}), false),
        (json!({"*/*": {}}), json!({}), true),
        (json!({"application/pdf": {}}), json!({}), false),
        (json!({"application/octet-stream": {}}), json!({}), true),
        (json!({}), json!({"download": true}), true),
    ] {
        assert_eq!(html(content.clone(), keys), expected, "{content}");
    }
}

#[test]
fn a_result_names_response_headers_that_a_plugin_may_read_and_no_other() {
    let describe_with = |headers: Value| {
        let document = json!({
            "openapi": "3.1.0", "info": {"title": "Widgets", "version": "1.0.0"},
            "servers": [{"url": "https://api.widgets.io"}],
            "paths": {"/widgets": {"get": {
                "operationId": "list", "responses": {"200": {"description": "The answer."}},
                "x-toolgate": {"answer_headers": headers},
            }}},
        });
        let folder = tempfile::tempdir().expect("a folder");
        let description = folder.path().join("openapi.json");
        std::fs::write(&description, document.to_string()).expect("written");
        describe(&BuildInput {
            description,
            ..BuildInput::default()
        })
    };
    let made = describe_with(json!({"digest": "Docker-Content-Digest", "tag": "ETag"}));
    let made = made.expect("a plugin");
    // The second is among the headers of every plugin.
    assert_eq!(made.manifest.response_headers, ["docker-content-digest"]);
    assert_eq!(made.table.operations["list"].answer_headers.len(), 2);
    for refused in ["Set-Cookie", "Authorization", "no header", ""] {
        let problem = describe_with(json!({"leak": refused})).expect_err(refused);
        assert!(problem.to_string().contains("answer_headers"), "{problem}");
    }
}
