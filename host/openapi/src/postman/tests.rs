use super::*;

/// In the form of <https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html>.
fn collection() -> Value {
    json!({
        "info": {"name": "Notes", "description": {"content": "All notes."},
            "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "variable": [{"key": "base", "value": "https://{{host}}/v1"}, {"key": "host", "value": "api.example.com"},
            {"key": "api_token", "value": "https://PLANTED-0"}],
        "auth": {"type": "apikey", "apikey": [{"key": "key", "value": "X-Key"}, {"key": "value", "value": "PLANTED-1"}]},
        "item": [
            {"name": "Notes", "item": [
                {"name": "Get a note", "request": {"method": "GET", "description": "Reads one.",
                    "header": [{"key": "X-Key", "value": "PLANTED-2"}, {"key": "Api-Version", "value": "PLANTED-3"}],
                    "url": {"raw": "{{base}}/notes/:id?full=PLANTED-4", "host": ["{{base}}"], "path": ["notes", ":id"],
                        "query": [{"key": "full", "value": "true", "description": "With its history."}],
                        "variable": [{"key": "id", "value": "PLANTED-5", "description": "Which note."}]}}},
                {"name": "Add a note", "request": {"method": "POST", "auth": {"type": "bearer"}, "url": "{{base}}/notes",
                    "body": {"mode": "raw", "raw": "{\"text\": \"PLANTED-6\", \"folder\": {{folder}}}",
                        "options": {"raw": {"language": "json"}}}}}]},
            {"name": "Ask", "request": {"method": "POST", "url": {"raw": "https://gql.example.com/graphql"},
                "body": {"mode": "graphql", "graphql": {"query": "query($id: ID!) { note(id: $id) { text } }",
                    "variables": "{\"id\": \"PLANTED-7\"}"}}}},
            {"name": "Nothing", "request": {"method": "GET"}},
        ],
    })
}

#[test]
fn requests_of_folders_become_operations_without_values() {
    let mut notes = Notes::default();
    let made = convert(&collection(), &mut notes);
    assert!(!made.to_string().contains("PLANTED"), "{made}");
    assert_eq!(made["servers"], json!([{"url": "https://api.example.com"}]));
    let get = &made["paths"]["/v1/notes/{id}"]["get"];
    assert_eq!(get["operationId"], "Get a note");
    assert_eq!(get["security"], json!([{"x_key": []}]));
    let parameters = get["parameters"].as_array().unwrap();
    let names: Vec<&str> = parameters
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["id", "full", "Api-Version"]);
    assert_eq!(parameters[0]["description"], "Which note.");
    let post = &made["paths"]["/v1/notes"]["post"];
    assert_eq!(post["security"], json!([{"token": []}]));
    let fields = &post["requestBody"]["content"]["application/json"]["schema"]["properties"];
    assert_eq!(fields["text"], json!({"type": "string"}));
    let ask = &made["paths"]["/graphql"]["post"];
    assert!(
        ask["x-toolgate"]["graphql"]
            .as_str()
            .unwrap()
            .starts_with("query($id")
    );
    assert_eq!(ask["servers"], json!([{"url": "https://gql.example.com"}]));
    assert_eq!(notes.0.len(), 1, "{:?}", notes.0);
    assert!(notes.0[0].left_out && notes.0[0].message.contains("no address"));
}

#[test]
fn an_address_behind_an_unknown_variable_is_the_operators() {
    let mut document = collection();
    document["variable"] = json!([]);
    document["item"].as_array_mut().unwrap().truncate(1);
    let made = convert(&document, &mut Notes::default());
    assert_eq!(made.get("servers"), None);
    assert!(made["paths"]["/notes/{id}"]["get"].is_object());
}

#[test]
fn a_secret_in_an_address_or_a_document_is_not_kept() {
    let mut document = collection();
    document["variable"] = json!([{"key": "base", "value": "https://api.example.com"}, {"key": "jwt", "value": "PLANTED.a.b"}]);
    document["item"] = json!([
        {"name": "One", "request": {"method": "GET", "url": "{{base}}/{{jwt}}/one"}},
        {"name": "Two", "request": {"method": "GET", "url": "{{base}}/hooks/PLANTED00112233"}},
        {"name": "Three", "request": {"method": "POST", "url": "{{base}}/graphql",
            "body": {"mode": "graphql", "graphql": {"query": "mutation { login(word: \"PLANTED\") }"}}}},
    ]);
    let made = convert(&document, &mut Notes::default());
    assert!(!made.to_string().contains("PLANTED"), "{made}");
    let paths: Vec<&String> = made["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/{jwt}/one", "/hooks/{id}", "/graphql"]);
}

#[test]
fn variables_that_multiply_are_no_address() {
    let mut document = collection();
    let many = "{{base}}".repeat(400);
    document["variable"] = json!([{"key": "base", "value": many}]);
    let mut notes = Notes::default();
    convert(&document, &mut notes);
    assert!(
        notes
            .0
            .iter()
            .any(|note| note.message.contains("no address"))
    );
}

#[test]
fn folders_without_an_end_are_bounded() {
    let mut folder = json!({"name": "x", "item": []});
    for _ in 0..100 {
        folder = json!({"name": "x", "item": [folder]});
    }
    let mut notes = Notes::default();
    convert(&folder, &mut notes);
    assert!(notes.0.iter().any(|note| note.left_out));
}

#[test]
fn only_version_two_is_a_collection() {
    assert!(is_collection(&collection()));
    assert!(!is_collection(
        &json!({"info": {"schema": "https://json-schema.org/draft-07"}})
    ));
    assert!(is_old_collection(
        &json!({"id": "1", "requests": [], "order": []})
    ));
}

/// What one request repeats of the collection is short, or a small collection would be a large description.
#[test]
fn variables_and_accounts_do_not_multiply_a_collection() {
    let long = "{{c}}".repeat(799);
    let mut document = json!({
        "info": {"name": "A", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "variable": [{"key": "a", "value": "{{a1}}"}, {"key": "a1", "value": "{{a2}}"}, {"key": "a2", "value": "{{a3}}"},
            {"key": "a3", "value": long}, {"key": "c", "value": "c.".repeat(2_000)}],
        "auth": {"type": "apikey", "apikey": {"key": "k".repeat(100_000)}},
    });
    document["item"] = vec![json!({"request": "{{a}}/x"}); 20].into();
    let made = convert(&document, &mut Notes::default());
    assert!(
        made.to_string().len() < 100_000,
        "{}",
        made.to_string().len()
    );
    document["item"] = vec![json!({"request": "https://a.example.com/x"}); 20].into();
    let made = convert(&document, &mut Notes::default());
    assert!(
        made.to_string().len() < 100_000,
        "{}",
        made.to_string().len()
    );
}
