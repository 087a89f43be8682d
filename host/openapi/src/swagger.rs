//! Swagger 2.0 as OpenAPI 3.0: bodies, form fields, hosts and credentials move to their places in 3.0.
//! `definitions` are not moved, so that references to them stay valid.

mod body;

use body::request_body;
use serde_json::{Map, Value, json};

const METHODS: &[&str] = &["get", "put", "post", "delete", "options", "head", "patch"];

/// Whether a document is Swagger 2.0.
pub fn is_swagger(document: &Value) -> bool {
    match document.get("swagger") {
        Some(Value::String(version)) => version.starts_with('2'),
        Some(Value::Number(version)) => version.as_f64() == Some(2.0),
        _ => false,
    }
}

/// Rewrites a Swagger 2.0 document.
pub fn convert(document: Value) -> Value {
    let original = document.clone();
    let Value::Object(mut root) = document else {
        return document;
    };
    let consumes = media_types(original.get("consumes"));
    let produces = media_types(original.get("produces"));
    root.shift_remove("swagger");
    root.insert("openapi".to_owned(), json!("3.0.3"));
    if let Some(servers) = servers(&original) {
        root.insert("servers".to_owned(), servers);
    }
    if let Some(Value::Object(schemes)) = root.shift_remove("securityDefinitions") {
        let schemes: Map<String, Value> = schemes
            .into_iter()
            .map(|(name, scheme)| (name, security_scheme(scheme)))
            .collect();
        let components = root.entry("components").or_insert_with(|| json!({}));
        if let Some(components) = components.as_object_mut() {
            components.insert("securitySchemes".to_owned(), schemes.into());
        }
    }
    if let Some(Value::Object(paths)) = root.get_mut("paths") {
        for item in paths.values_mut().filter_map(Value::as_object_mut) {
            path_item(item, &original, &consumes, &produces);
        }
    }
    Value::Object(root)
}

fn media_types(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn servers(root: &Value) -> Option<Value> {
    let host = root.get("host").and_then(Value::as_str).unwrap_or_default();
    let base = root
        .get("basePath")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if host.is_empty() && base.is_empty() {
        return None;
    }
    let schemes = media_types(root.get("schemes"));
    let scheme = if schemes.is_empty() || schemes.iter().any(|s| s == "https") {
        "https"
    } else {
        "http"
    };
    let url = if host.is_empty() {
        base.to_owned()
    } else {
        format!("{scheme}://{host}{base}")
    };
    Some(json!([{"url": url}]))
}

fn security_scheme(scheme: Value) -> Value {
    let Value::Object(mut scheme) = scheme else {
        return scheme;
    };
    match scheme.get("type").and_then(Value::as_str) {
        Some("basic") => {
            scheme.insert("type".to_owned(), json!("http"));
            scheme.insert("scheme".to_owned(), json!("basic"));
        }
        Some("oauth2") => {
            let flow = match scheme.get("flow").and_then(Value::as_str) {
                Some("accessCode") => "authorizationCode",
                Some("application") => "clientCredentials",
                Some("password") => "password",
                _ => "implicit",
            };
            let mut inner = Map::new();
            for key in ["authorizationUrl", "tokenUrl", "scopes"] {
                if let Some(value) = scheme.shift_remove(key) {
                    inner.insert(key.to_owned(), value);
                }
            }
            scheme.insert("flows".to_owned(), json!({flow: inner}));
        }
        _ => {}
    }
    Value::Object(scheme)
}

fn path_item(
    item: &mut Map<String, Value>,
    root: &Value,
    consumes: &[String],
    produces: &[String],
) {
    let shared_body = take_body(item, root);
    for (_, operation) in item
        .iter_mut()
        .filter(|(key, _)| METHODS.contains(&key.as_str()))
    {
        let Some(operation) = operation.as_object_mut() else {
            continue;
        };
        let mut body = take_body(operation, root);
        // A parameter of the operation replaces that of the path with its name and its place.
        let place = |parameter: &Value| (parameter["in"].clone(), parameter["name"].clone());
        for shared in &shared_body {
            if !body.iter().any(|own| place(own) == place(shared)) {
                body.push(shared.clone());
            }
        }
        let types = own_media_types(operation, "consumes", consumes);
        if let Some(request) = request_body(&body, &types) {
            operation.insert("requestBody".to_owned(), request);
        }
        let types = own_media_types(operation, "produces", produces);
        if let Some(Value::Object(responses)) = operation.get_mut("responses") {
            for response in responses.values_mut() {
                // A shared response has the media types of the operation that refers to it.
                *response = resolved(response, root);
                response_content(response, &types);
            }
        }
    }
}

/// Takes the parameters of the body out of the `parameters` of a path or operation, and converts the others.
fn take_body(owner: &mut Map<String, Value>, root: &Value) -> Vec<Value> {
    let parameters: Vec<Value> = owner
        .get("parameters")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|parameter| resolved(parameter, root))
        .collect();
    let (body, others): (Vec<Value>, Vec<Value>) = parameters.into_iter().partition(is_body);
    if let Some(list) = owner.get_mut("parameters") {
        *list = others.into_iter().map(parameter).collect();
    }
    body
}

/// The operation's own media types under `key`, else those of the document.
fn own_media_types(operation: &Map<String, Value>, key: &str, document: &[String]) -> Vec<String> {
    match operation.get(key) {
        Some(own) => media_types(Some(own)),
        None => document.to_vec(),
    }
}

/// Moves the schema of a response below each media type.
fn response_content(response: &mut Value, types: &[String]) {
    let Some(response) = response.as_object_mut() else {
        return;
    };
    let Some(schema) = response.shift_remove("schema") else {
        return;
    };
    let json = ["application/json".to_owned()];
    let types = if types.is_empty() { &json } else { types };
    let content: Map<String, Value> = types
        .iter()
        .map(|media| (media.clone(), json!({"schema": schema})))
        .collect();
    response.insert("content".to_owned(), content.into());
}

fn resolved(value: &Value, root: &Value) -> Value {
    let target = value
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    target.unwrap_or(value).clone()
}

fn is_body(parameter: &Value) -> bool {
    matches!(
        parameter.get("in").and_then(Value::as_str),
        Some("body" | "formData")
    )
}

/// A parameter's type moves into `schema`, its `collectionFormat` becomes a style.
fn parameter(parameter: Value) -> Value {
    let Value::Object(mut map) = parameter else {
        return parameter;
    };
    if map.contains_key("schema") || map.contains_key("$ref") {
        return Value::Object(map);
    }
    let query = map.get("in").and_then(Value::as_str) == Some("query");
    let list = map.get("type").and_then(Value::as_str) == Some("array");
    let format = map.shift_remove("collectionFormat");
    if list && query {
        let (style, explode) = style(format.as_ref());
        map.insert("style".to_owned(), json!(style));
        map.insert("explode".to_owned(), json!(explode));
    }
    let schema = schema_of(&mut map);
    map.insert("schema".to_owned(), schema);
    Value::Object(map)
}

/// A `collectionFormat` as `style` and `explode`.
fn style(format: Option<&Value>) -> (&'static str, bool) {
    match format.and_then(Value::as_str) {
        Some("multi") => ("form", true),
        Some("ssv") => ("spaceDelimited", false),
        Some("tsv") => ("tabDelimited", false),
        Some("pipes") => ("pipeDelimited", false),
        _ => ("form", false),
    }
}

fn schema_of(map: &mut Map<String, Value>) -> Value {
    let own = [
        "name",
        "in",
        "required",
        "description",
        "x-toolgate",
        "style",
        "explode",
        "allowEmptyValue",
    ];
    let keys: Vec<String> = map
        .keys()
        .filter(|key| !own.contains(&key.as_str()))
        .cloned()
        .collect();
    keys.into_iter()
        .filter_map(|key| map.shift_remove(&key).map(|value| (key, value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{convert, is_swagger};

    #[test]
    fn bodies_parameters_and_credentials_move_to_their_places_in_3_0() {
        let old = json!({
            "swagger": "2.0", "host": "api.example.com", "basePath": "/v1", "schemes": ["http", "https"],
            "consumes": ["application/json"],
            "parameters": {"lang": {"name": "lang", "in": "query", "type": "string", "enum": ["en"]}},
            "securityDefinitions": {"o": {"type": "oauth2", "flow": "accessCode", "authorizationUrl": "https://a", "tokenUrl": "https://t", "scopes": {"r": "Read"}},
                                    "b": {"type": "basic"}},
            "paths": {"/a": {
                "post": {"parameters": [{"$ref": "#/parameters/lang"},
                                        {"name": "ids", "in": "query", "type": "array", "items": {"type": "integer"}, "collectionFormat": "multi"},
                                        {"name": "body", "in": "body", "required": true, "schema": {"$ref": "#/definitions/A"}}],
                         "responses": {"200": {"schema": {"type": "string"}}}},
                "put": {"consumes": ["multipart/form-data"], "parameters": [{"name": "f", "in": "formData", "type": "file", "required": true}]}
            }}
        });
        assert!(is_swagger(&old));
        let new = convert(old);
        assert_eq!(
            new["servers"],
            json!([{"url": "https://api.example.com/v1"}])
        );
        assert_eq!(
            new["components"]["securitySchemes"]["b"],
            json!({"type": "http", "scheme": "basic"})
        );
        assert_eq!(
            new["components"]["securitySchemes"]["o"]["flows"]["authorizationCode"]["tokenUrl"],
            json!("https://t")
        );
        let post = &new["paths"]["/a"]["post"];
        assert_eq!(
            post["parameters"][0]["schema"],
            json!({"type": "string", "enum": ["en"]})
        );
        assert_eq!(
            (
                &post["parameters"][1]["style"],
                &post["parameters"][1]["explode"]
            ),
            (&json!("form"), &json!(true))
        );
        assert_eq!(
            post["requestBody"]["content"]["application/json"]["schema"],
            json!({"$ref": "#/definitions/A"})
        );
        assert_eq!(
            post["responses"]["200"]["content"]["application/json"]["schema"],
            json!({"type": "string"})
        );
        let put =
            &new["paths"]["/a"]["put"]["requestBody"]["content"]["multipart/form-data"]["schema"];
        assert_eq!(put["properties"]["f"], json!({"type": "file"}));
        assert_eq!(put["required"], json!(["f"]));
    }

    #[test]
    fn lists_in_forms_keep_their_separator_and_the_operations_field_wins() {
        let list = |name: &str, format: &str| json!({"name": name, "in": "formData", "type": "array", "items": {"type": "string"}, "collectionFormat": format});
        let new = convert(json!({"swagger": "2.0", "paths": {"/a": {
            "parameters": [{"name": "kind", "in": "formData", "type": "string", "enum": ["shared"]},
                           {"name": "more", "in": "formData", "type": "string"}],
            "post": {"consumes": ["application/x-www-form-urlencoded"], "parameters": [
                {"name": "kind", "in": "formData", "type": "string", "enum": ["own"]},
                list("c", "csv"), list("s", "ssv"), list("t", "tsv"), list("p", "pipes"), list("m", "multi")]}
        }}}));
        let form = &new["paths"]["/a"]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"];
        let fields = &form["schema"]["properties"];
        assert_eq!(fields["kind"]["enum"], json!(["own"]));
        assert_eq!(fields["more"], json!({"type": "string"}));
        for (name, style, explode) in [
            ("c", "form", false),
            ("s", "spaceDelimited", false),
            ("t", "tabDelimited", false),
            ("p", "pipeDelimited", false),
            ("m", "form", true),
        ] {
            let expected = json!({"style": style, "explode": explode});
            assert_eq!(form["encoding"][name], expected, "{name}");
        }
    }

    #[test]
    fn a_shared_response_has_the_media_types_of_its_operation() {
        let new = convert(json!({"swagger": "2.0", "produces": ["application/json"],
            "responses": {"File": {"description": "A file.", "schema": {"type": "file"}}},
            "paths": {"/a": {"get": {"produces": ["application/pdf"], "responses": {"200": {"$ref": "#/responses/File"}}},
                             "put": {"responses": {"200": {"$ref": "#/responses/File"}}}}}}));
        let answer =
            |method: &str| new["paths"]["/a"][method]["responses"]["200"]["content"].clone();
        let file = json!({"schema": {"type": "file"}});
        assert_eq!(answer("get"), json!({"application/pdf": file}));
        assert_eq!(answer("put"), json!({"application/json": file}));
    }
}
